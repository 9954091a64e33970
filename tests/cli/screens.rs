//! Compares whole screens: the output and exit code of each command in `cli/*.txt`.
//!
//! A file has commands after `$ `, each followed by its standard output, then a line `[stderr]` with its standard
//! error, and a line `[exit N]`. Commands run in a directory with copies of `examples` and `cli/input` and the files
//! created by [`made`]. After `stty cols N; ` a command writes both outputs to a terminal of N columns. `UPDATE_SNAPSHOTS=1 cargo test cli` rewrites the files; read the difference before you commit
//! it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Creates a directory to run commands in.
pub fn place(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    copy(&root.join("examples"), &dir.join("examples"));
    copy(&root.join("tests/cli/input"), &dir.join("input"));
    made(&dir.join("made"));
    dir
}

/// A command line without a cluster in a directory.
pub fn command(dir: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.args(line.split_whitespace()).current_dir(dir).env("KUBECONFIG", "/nonexistent/kubeconfig");
    command
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Creates input files that are too large for the repository, or that editors and Git would change.
fn made(dir: &Path) {
    fs::create_dir_all(dir.join("without-matches")).unwrap();
    fs::create_dir_all(dir.join("without-object")).unwrap();
    fs::create_dir_all(dir.join("size")).unwrap();
    let object = "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata:\n  name: x\nspec:\n  image: a\n";
    let nested = |depth: usize| {
        let head = object.lines().take(3).collect::<Vec<_>>().join("\n");
        format!("{head}\n  name: x\nspec: {}1{}\n", "{a: ".repeat(depth), "}".repeat(depth))
    };
    let bomb: String = "bcdefghi".chars().zip("abcdefgh".chars()).fold(
        format!("a: &a [{}]\n", ["x"; 9].join(",")),
        |mut text, (name, of)| {
            let _ = writeln!(text, "{name}: &{name} [{}]", vec![format!("*{of}"); 9].join(","));
            text
        },
    );
    let large = |name: &str, length: usize| {
        let named = object.replace("name: x", &format!("name: {name}"));
        named.replace("image: a", &format!("image: {}", "a".repeat(length))).into_bytes()
    };
    let deployment = |length: usize| {
        let text = "-".repeat(length);
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\n  annotations:\n    text: \"{text}\"\n")
            .into_bytes()
    };
    let files: &[(&str, Vec<u8>)] = &[
        ("size/annotation.yaml", large("annotation", 300_000)),
        ("size/etcd.yaml", large("etcd", 1_600_000)),
        ("size/client.yaml", large("client", 2_200_000)),
        ("size/body.yaml", large("body", 3 << 20)),
        ("size/deployment.yaml", deployment(1_600_000)),
        ("binary.yaml", (0..=255).collect()),
        ("gzip.yaml", b"\x1f\x8b\x08\x00\x00\x00\x00\x00".to_vec()),
        ("empty.yaml", Vec::new()),
        ("crlf.yaml", object.replace('\n', "\r\n").into_bytes()),
        ("bom.yaml", format!("\u{feff}{object}").into_bytes()),
        ("tabs.yaml", object.replace("  name", "\tname").into_bytes()),
        ("not-utf8.yaml", [object.as_bytes(), b"  cronSpec: \"\xff\xfe\"\n"].concat()),
        (
            "not-utf8-twice.yaml",
            [object.as_bytes(), b"  cronSpec: \"\xef\xbf\xbd \xff\"\n  concurrency: \xe9t\xe9\n"].concat(),
        ),
        ("alias-bomb.yaml", bomb.into_bytes()),
        ("deep.yaml", nested(9990).into_bytes()),
        ("too-deep.yaml", nested(10_010).into_bytes()),
        ("without-matches/readme.txt", b"nothing to read here\n".to_vec()),
        ("without-object/list.yaml", b"apiVersion: v1\nkind: List\nitems: []\n".to_vec()),
        ("without-object/values.yaml", b"image: a\n".to_vec()),
    ];
    for (name, bytes) in files {
        fs::write(dir.join(name), bytes).unwrap();
    }
}

/// Runs a command line in a terminal of the given width.
fn terminal_screen(line: &str, columns: &str, dir: &Path) -> String {
    let words = line.strip_prefix("kubectl-crdx ").unwrap();
    let command = format!("stty cols {columns} rows 50; exec '{}' {words}", env!("CARGO_BIN_EXE_kubectl-crdx"));
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(dir)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .env("NO_COLOR", "1")
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    format!("$ stty cols {columns}; {line}\n{text}[exit {}]\n", output.status.code().unwrap())
}

/// Runs a command line and formats all its output.
fn screen(line: &str, dir: &Path) -> String {
    if let Some((columns, line)) = line.strip_prefix("stty cols ").and_then(|rest| rest.split_once("; ")) {
        return terminal_screen(line, columns, dir);
    }
    let (command, stdin) = line.split_once(" < ").map_or((line, None), |(command, file)| (command, Some(file)));
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("kubectl-crdx"), "{line}");
    let stdin = stdin.map_or(Stdio::null(), |file| Stdio::from(fs::File::open(dir.join(file)).unwrap()));
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(words)
        .current_dir(dir)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .env_remove("NO_COLOR")
        .env_remove("FORCE_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(stdin)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut screen = format!("$ {line}\n{}", text(&output.stdout));
    if !output.stderr.is_empty() {
        let _ = write!(screen, "[stderr]\n{}", text(&output.stderr));
    }
    let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
    let _ = writeln!(screen, "[exit {code}]");
    screen
}

#[test]
fn screens() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let place = place("screens");
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut wrong = Vec::new();
    let mut commands = 0;
    let mut files: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    // `script` of other systems has other options.
    let has_terminals = cfg!(target_os = "linux");
    files.retain(|f| f.extension().is_some_and(|e| e == "txt") && (has_terminals || !f.ends_with("narrow.txt")));
    files.sort();
    for file in files {
        let kept = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = kept.lines().filter_map(|l| l.strip_prefix("$ ")).collect();
        commands += lines.len();
        let screens: Vec<String> = lines.iter().map(|line| screen(line, &place)).collect();
        let now = screens.join("\n");
        if now != kept {
            if update {
                fs::write(&file, &now).unwrap();
            } else {
                wrong.push(format!("{}:\n{}", file.display(), difference(&kept, &now)));
            }
        }
    }
    assert!(commands > 20, "the commands were not found");
    assert!(wrong.is_empty(), "{}\nUPDATE_SNAPSHOTS=1 writes them anew", wrong.join("\n"));
}

/// The first lines that differ.
fn difference(kept: &str, now: &str) -> String {
    let mut text = String::new();
    let (kept, now): (Vec<_>, Vec<_>) = (kept.lines().collect(), now.lines().collect());
    let differ = (0..kept.len().max(now.len())).filter(|i| kept.get(*i) != now.get(*i));
    for i in differ.take(10) {
        let show = |lines: &[&str]| lines.get(i).map_or("(nothing)".to_owned(), |l| (*l).to_owned());
        let _ = write!(text, "{}:\n- {}\n+ {}\n", i + 1, show(&kept), show(&now));
    }
    text
}

/// The screens are the same for any number of threads and in every run.
#[test]
fn the_output_does_not_depend_on_the_number_of_threads() {
    let place = place("threads");
    let run = |jobs: &str| {
        let line = format!(
            "kubectl-crdx validate -f examples/crds examples/mixed.yaml examples/objects --offline -o json --jobs {jobs}"
        );
        screen(&line, &place).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let one = run("1");
    assert!(one.len() > 8);
    assert_eq!(one, run("4"));
    assert_eq!(one, run("4"));
}

/// An unreadable file is reported, and the other files are validated. Skipped for users who can read every file.
#[cfg(unix)]
#[test]
fn unreadable_files_are_reported() {
    use std::os::unix::fs::PermissionsExt;
    let place = place("unreadable");
    let file = place.join("unreadable.yaml");
    fs::write(&file, "a: 1\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).unwrap();
    let readable = fs::read(&file).is_ok();
    let line = "kubectl-crdx validate -f unreadable.yaml examples/objects/builtin.yaml --offline";
    let text = screen(line, &place);
    fs::remove_file(&file).unwrap();
    if !readable {
        assert!(text.contains("cannot be read: permission denied"), "{text}");
        assert!(text.contains("[exit 2]"), "{text}");
    }
    assert!(text.contains("1 accepted"), "{text}");
}

/// An object whose name occurred before is an update of the earlier object. If that one is lost, the verdict is unknown.
#[cfg(unix)]
#[test]
fn repeated_names_need_the_temporary_file() {
    let place = place("temporary");
    let object = |n: usize, image: &str| {
        let name = format!("metadata:\n  name: tab-{n}\n");
        format!(
            "apiVersion: stable.example.com/v1\nkind: CronTab\n{name}spec:\n  cronSpec: '* * * * */5'\n  image: {image}\n---\n"
        )
    };
    let long = "x".repeat(64 << 10);
    let objects: String = (0..24).map(|n| object(n, &long)).collect();
    fs::write(place.join("dropped.yaml"), objects.replace("  image:", "  imag: a\n  image:")).unwrap();
    fs::write(place.join("objects.yaml"), objects + &object(23, "a") + &object(23, "b")).unwrap();
    let run = |line: &str, directory: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
        let output = command.args(line.split(' ')).current_dir(&place).env("TMPDIR", directory).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let line = "validate -f objects.yaml --crds examples/crds --offline --jobs 1 -q";
    assert_eq!(run(line, ".").0, Some(0));
    let (code, stdout, _) = run(line, "missing");
    assert_eq!(code, Some(2), "{stdout}");
    let reason = "the earlier object of the same name cannot be kept in a temporary file: entity not found";
    assert_eq!(stdout.matches(&format!("cannot tell   {reason}")).count(), 2, "{stdout}");
    assert!(stdout.contains("help: make room"), "{stdout}");
    // Objects before their CRD, and problems on an HTML page, are buffered.
    for line in [
        "validate -f objects.yaml -f examples/crds --offline",
        "validate -f dropped.yaml --crds examples/crds --offline --field-validation Ignore -o html",
    ] {
        let (code, _, stderr) = run(line, "missing");
        let message = "error: the temporary file cannot be written or read: No such file or directory (os error 2)";
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(message) && stderr.contains("help: make room"), "{line}: {stderr}");
    }
}

/// The documents are long, so only the parts about the CRD are checked. The other parts are the same for all CRDs
/// (`tests/conformance/differential/openapi.rs` compares whole documents with the real server's).
#[test]
fn the_openapi_documents_are_printed() {
    let place = place("openapi");
    let run = |line: &str| -> serde_json::Value {
        let screen = screen(line, &place);
        let text = screen.strip_prefix(&format!("$ {line}\n")).unwrap().strip_suffix("[exit 0]\n").unwrap();
        assert!(text.starts_with("{\n    \""), "{}", &text[..40]);
        serde_json::from_str(text).unwrap()
    };
    let paths = |document: &serde_json::Value| -> Vec<String> {
        document["paths"].as_object().unwrap().keys().cloned().collect()
    };
    let expected = [
        "/apis/stable.example.com/v1/crontabs",
        "/apis/stable.example.com/v1/namespaces/{namespace}/crontabs",
        "/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}",
        "/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}/scale",
        "/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}/status",
    ];
    let kind = serde_json::json!([{"group": "stable.example.com", "kind": "CronTab", "version": "v1"}]);

    let third = run("kubectl-crdx openapi examples/crds/crontab.yaml --version v1");
    assert_eq!((third["openapi"].as_str(), paths(&third)), (Some("3.0.0"), expected.map(str::to_owned).to_vec()));
    let schema = &third["components"]["schemas"]["com.example.stable.v1.CronTab"];
    assert_eq!(schema["x-kubernetes-group-version-kind"], kind);
    let spec = &schema["properties"]["spec"]["properties"];
    assert_eq!(spec["cronSpec"]["type"], "string");

    let second = run("kubectl-crdx openapi examples/crds/crontab.yaml --v2 --version v1");
    assert_eq!((second["swagger"].as_str(), paths(&second)), (Some("2.0"), expected.map(str::to_owned).to_vec()));
    let schema = &second["definitions"]["com.example.stable.v1.CronTab"];
    assert_eq!(schema["x-kubernetes-group-version-kind"], kind);
    assert_eq!(schema["properties"]["spec"]["properties"]["cronSpec"]["type"], "string");
    // Keywords that OpenAPI v2 does not have are omitted.
    let words = ["anyOf", "oneOf", "nullable", "x-kubernetes-validations"];
    assert!(!words.iter().any(|word| schema.to_string().contains(&format!("{word:?}:"))), "{schema}");
}

/// An external diff program receives the files that kubectl would pass to it.
#[cfg(unix)]
#[test]
fn an_external_diff_program_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let place = place("external");
    let program = place.join("compare");
    let text = "#!/bin/sh\necho \"$1\"\nfor side in \"$2\" \"$3\"; do\n  cd \"$side\" && ls && cat * 2>/dev/null\ndone\nexit $CODE\n";
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |code: &str, program: &str| {
        let line = "diff -f examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline --field-validation Ignore";
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(line.split(' '))
            .current_dir(&place)
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .env("KUBECTL_EXTERNAL_DIFF", program)
            .env("CODE", code)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr), output.status.code())
    };
    let (out, errors, _) = run("1", &format!("{} -u", program.display()));
    assert!(out.starts_with("-u\nstable.example.com.v1.CronTab.default."), "{out}{errors}");
    // One file for each object and side, and no output of the program itself.
    assert_eq!(out.matches("\nstable.example.com.v1.CronTab.default.nightly\n").count(), 2, "{out}");
    assert!(out.contains("image: backup:1.3") && out.contains("image: backup:1.4") && !out.contains("@@"), "{out}");
    let (_, _, broken) = run("3", &program.display().to_string());
    assert_eq!(broken, Some(2));
    let (_, errors, missing) = run("0", "./no-such-program");
    assert!(errors.contains("KUBECTL_EXTERNAL_DIFF") && missing == Some(2), "{errors}");
}
