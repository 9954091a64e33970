//! Runs the commands of the integrations: the GitHub Action, the pre-commit hooks, the workflows and the release
//! script.

use crate::cli::configuration::{git, project};
use crate::cli::screens::place;
use crdx_text::yaml;
use crdx_value::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> Value {
    yaml::read(&fs::read(root().join(file)).unwrap()).unwrap()
}

fn array<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    value.at(path).and_then(Value::as_array).unwrap()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// The names after `prefix` in a text, such as `files` in `inputs.files`.
fn named(text: &str, prefix: &str) -> BTreeSet<String> {
    let rest = text.split(prefix).skip(1);
    rest.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap().to_owned()).collect()
}

/// The platforms of the manifest, such as `linux-amd64`.
fn platforms() -> BTreeSet<String> {
    let manifest = read("plugin-manifest/crdx.yaml");
    let platforms = array(&manifest, &["spec", "platforms"]);
    let name = |p: &Value, key| p.str_at(&["selector", "matchLabels", key]).unwrap().to_owned();
    platforms.iter().map(|p| format!("{}-{}", name(p, "os"), name(p, "arch"))).collect()
}

#[test]
fn the_action_is_consistent() {
    let action = read("action.yml");
    for key in ["name", "description", "inputs", "runs"] {
        assert!(action.get(key).is_some(), "{key}");
    }
    assert_eq!(action.str_at(&["runs", "using"]), Some("composite"));
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    assert_eq!(named(&text, "inputs."), keys(action.get("inputs").unwrap()), "every input is used, and declared");
    for (name, input) in action.get("inputs").and_then(Value::as_object).unwrap() {
        assert!(input.str_at(&["description"]).is_some() && input.str_at(&["default"]).is_some(), "{name}");
    }
    for step in array(&action, &["runs", "steps"]) {
        if let Some(other) = step.str_at(&["uses"]) {
            let hash = other.split_once('@').unwrap().1;
            assert!(hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{other} is not pinned");
            continue;
        }
        assert_eq!(step.str_at(&["shell"]), Some("bash"), "a composite action must say its shell");
        // Inputs are passed as environment variables, never as part of the script.
        assert!(!step.str_at(&["run"]).unwrap().contains("${{"));
    }
    let install = array(&action, &["runs", "steps"])[0].str_at(&["run"]).unwrap();
    for platform in platforms() {
        let (os, arch) = platform.split_once('-').unwrap();
        assert!(install.contains(&format!("os={os} ")) || install.contains(&format!("os={os};")), "{os}");
        assert!(install.contains(&format!("arch={arch} ")), "{arch}");
    }
}

/// Runs a step with these environment variables, and the program and `tools` on the PATH. Returns the output and the content
/// of `GITHUB_OUTPUT` and `GITHUB_PATH`.
#[cfg(unix)]
fn run_step(id: &str, dir: &Path, variables: &[(&str, &str)], tools: Option<&Path>) -> (Output, String) {
    let action = read("action.yml");
    let steps = array(&action, &["runs", "steps"]);
    let is_it = |step: &&Value| [step.str_at(&["id"]), step.str_at(&["name"])].contains(&Some(id));
    let step = steps.iter().find(is_it).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_kubectl-crdx")).parent().unwrap();
    let outputs = dir.join("outputs");
    fs::write(&outputs, "").unwrap();
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step.str_at(&["run"]).unwrap()]);
    for name in step.get("env").unwrap().as_object().unwrap().keys() {
        command.env(name, "");
    }
    let tools = tools.map_or_else(String::new, |tools| format!("{}:", tools.display()));
    let path = format!("{tools}{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = command
        .env("PATH", path)
        .env("GITHUB_OUTPUT", &outputs)
        .env("GITHUB_PATH", &outputs)
        .env("GITHUB_STEP_SUMMARY", dir.join("summary.md"))
        .env("RUNNER_TEMP", dir)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .envs(variables.iter().copied())
        .current_dir(dir)
        .output();
    (output.unwrap(), fs::read_to_string(&outputs).unwrap())
}

/// Runs the step `Validate` with these environment variables.
#[cfg(unix)]
fn run_action(dir: &Path, variables: &[(&str, &str)]) -> (Output, String) {
    run_step("validate", dir, variables, None)
}

/// Runs the step that installs the program, with a `curl` that serves the files in `dir/releases`. Returns the exit code, the
/// output and the requested URLs.
#[cfg(target_os = "linux")]
fn install(dir: &Path, variables: &[(&str, &str)]) -> (Option<i32>, String, Vec<String>) {
    use std::os::unix::fs::PermissionsExt;
    let tools = dir.join("tools");
    fs::create_dir_all(&tools).unwrap();
    let curl = "#!/bin/bash\nfor url; do :; done\necho \"$url\" >>\"$LOG\"\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\nfile=$RELEASES/${url#*/releases/}\n[ -e \"$file\" ] && cp \"$file\" \"$out\" || exit 22\n";
    let cargo = "#!/bin/bash\necho \"cargo $*\" >>\"$LOG\"\n";
    for (name, text) in [("curl", curl), ("cargo", cargo)] {
        fs::write(tools.join(name), text).unwrap();
        fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (log, temp) = (dir.join("log"), dir.join("temp"));
    fs::write(&log, "").unwrap();
    let _ = fs::remove_dir_all(&temp);
    fs::create_dir(&temp).unwrap();
    let own = [
        ("LOG", log.to_str().unwrap()),
        ("RELEASES", dir.to_str().unwrap()),
        ("RUNNER_TEMP", temp.to_str().unwrap()),
        ("SERVER", "https://git.example"),
        ("OS", "Linux"),
        ("ARCH", "X64"),
    ];
    let (output, path) = run_step("Install kubectl-crdx", dir, &[&own, variables].concat(), Some(&tools));
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr) + &path;
    let urls = fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    (output.status.code(), text, urls)
}

#[cfg(target_os = "linux")]
#[test]
fn the_action_installs_a_release() {
    let dir = place("action-install");
    let archive = "kubectl-crdx-linux-amd64.tar.gz";
    for release in ["download/v1.2.3", "latest/download"] {
        let to = dir.join(release);
        fs::create_dir_all(&to).unwrap();
        let script = format!(
            "cd {} && echo x >kubectl-crdx && tar -czf {archive} kubectl-crdx && sha256sum {archive} >checksums.txt",
            to.display()
        );
        assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    }
    // A checkout of the action, whose Cargo.toml has a version that was released, and one that was not.
    for (reference, version) in [("v1.2.3", "9.9.9"), ("0123abcd", "1.2.3"), ("main", "1.2.4"), ("a/branch", "1.2.3")] {
        let source = dir.join("_actions/owner/crdx").join(reference);
        fs::create_dir_all(&source).unwrap();
        let text = format!("[package]\nname = \"x\"\nversion = \"{version}\"\n\n[dependencies]\nversion = \"0\"\n");
        fs::write(source.join("Cargo.toml"), text).unwrap();
    }
    let url = |release: &str| format!("https://git.example/owner/crdx/releases/{release}");
    let of = |reference: &str, version: &str| {
        let source = dir.join("_actions/owner/crdx").join(reference);
        // Inside another composite action these are the outer action's.
        let outer = [("REPOSITORY", "outer/action"), ("REF", "v7.7.7")];
        install(&dir, &[&outer[..], &[("SOURCE", source.to_str().unwrap()), ("VERSION", version)]].concat())
    };
    for (reference, version, release) in [
        ("v1.2.3", "", "download/v1.2.3"),
        ("0123abcd", "", "download/v1.2.3"),
        ("a/branch", "", "download/v1.2.3"),
        ("main", "v1.2.3", "download/v1.2.3"),
        ("main", "latest", "latest/download"),
    ] {
        let (code, text, urls) = of(reference, version);
        assert_eq!(code, Some(0), "{reference} {version}: {text}");
        assert_eq!(
            urls,
            [url(&format!("{release}/checksums.txt")), url(&format!("{release}/{archive}"))],
            "{reference}"
        );
        assert!(text.ends_with("/temp/kubectl-crdx\n") && !text.contains("::"), "{text}");
    }
    let (code, text, urls) = of("main", "");
    assert_eq!((code, urls.last()), (Some(0), Some(&url(&format!("latest/download/{archive}")))), "{text}");
    assert!(text.contains("::notice::v1.2.4 is not released: the newest release is used"), "{text}");
    let (code, text, urls) = of("main", "v0.0.9");
    assert!(
        code == Some(2)
            && text.contains("::error title=kubectl-crdx was not installed::owner/crdx has no release v0.0.9"),
        "{text} {urls:?}"
    );
    let (code, _, urls) = of("main", "source");
    assert!(code == Some(0) && urls[0].starts_with("cargo install --locked --path "), "{urls:?}");
    // Outside of `_actions`, for example in a test of a fork, GitHub's own values count.
    let source = dir.join("_actions/owner/crdx/0123abcd");
    fs::create_dir_all(dir.join("local")).unwrap();
    fs::copy(source.join("Cargo.toml"), dir.join("local/Cargo.toml")).unwrap();
    let local = dir.join("local");
    let (code, text, urls) = install(&dir, &[("SOURCE", local.to_str().unwrap()), ("REPOSITORY", "owner/crdx")]);
    assert_eq!((code, urls.len()), (Some(0), 2), "{text}");
    fs::write(dir.join("download/v1.2.3").join(archive), "other").unwrap();
    let (code, text, _) = of("v1.2.3", "");
    assert!(
        code == Some(2) && text.contains("::error title=kubectl-crdx was not installed::the checksum of"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn the_action_reports_findings() {
    let dir = place("action");
    let fine = [("FILES", "examples/objects/acc*.yaml"), ("CRDS", "examples/crds"), ("RECURSIVE", "true")];
    let (output, outputs) = run_action(&dir, &fine);
    assert_eq!((output.status.code(), outputs.as_str()), (Some(0), "exit-code=0\n"));
    let wrong = [("FILES", "examples/objects\nexamples/mixed.yaml"), ("CRDS", "examples/crds"), ("SARIF", "log.sarif")];
    let (output, outputs) = run_action(&dir, &wrong);
    assert_eq!((output.status.code(), outputs.as_str()), (Some(1), "exit-code=1\n"));
    assert!(String::from_utf8(output.stdout).unwrap().contains("::error file=examples/objects/rejected.yaml,line=8"));
    assert!(fs::read_to_string(dir.join("log.sarif")).unwrap().contains("\"version\":\"2.1.0\""));
    let (output, _) = run_action(&dir, &[("FILES", "$(touch-nothing) ; examples/objects/builtin.yaml")]);
    assert_eq!(output.status.code(), Some(2), "words are not run");
}

/// A pull request can commit links, through which nothing is written.
#[cfg(unix)]
#[test]
fn the_action_follows_no_link_of_the_checkout() {
    use std::os::unix::fs::symlink;
    let dir = place("action-links");
    let (outside, temp) = (dir.join("outside"), dir.join("temp"));
    let checkout = dir.join("examples");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(&temp).unwrap();
    fs::write(outside.join("profile"), "mine").unwrap();
    symlink(outside.join("profile"), checkout.join("log.sarif")).unwrap();
    symlink(outside.join("new"), checkout.join("dangling.sarif")).unwrap();
    symlink(&outside, checkout.join("reports")).unwrap();
    let absolute = |name: &str| checkout.join(name).display().to_string();
    let run = |sarif: &str| {
        let own = [("FILES", "objects/accepted.yaml"), ("CRDS", "crds"), ("SARIF", sarif)];
        let (output, _) = run_action(&checkout, &[&own[..], &[("RUNNER_TEMP", temp.to_str().unwrap())]].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (sarif, reason) in [
        ("log.sarif", "names a link"),
        ("dangling.sarif", "names a link"),
        ("reports/log.sarif", "outside of the checkout"),
        ("reports/profile", "outside of the checkout"),
        (&absolute("reports/log.sarif"), "outside of the checkout"),
        ("../log.sarif", "outside of the checkout"),
        ("crds", "or a directory"),
        ("none/log.sarif", "does not exist"),
    ] {
        let (code, text) = run(sarif);
        assert!(code == Some(2) && text.contains("::error::") && text.contains(reason), "{sarif}: {text}");
    }
    assert_eq!(fs::read_to_string(outside.join("profile")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    // An absolute path elsewhere is the choice of the workflow, and an old report is replaced.
    let elsewhere = outside.join("log.sarif").display().to_string();
    fs::hard_link(outside.join("profile"), checkout.join("hard.sarif")).unwrap();
    for sarif in ["new.sarif", "new.sarif", "objects/new.sarif", "hard.sarif", &elsewhere, &absolute("crds/new.sarif")]
    {
        assert_eq!(run(sarif).0, Some(0), "{sarif}: {}", run(sarif).1);
        assert!(fs::read_to_string(checkout.join(sarif)).unwrap().contains("\"version\":\"2.1.0\""), "{sarif}");
    }
    assert_eq!(fs::read_to_string(outside.join("profile")).unwrap(), "mine");
}

/// Creates a checkout with settings on `main` and other ones in the working tree, as in a pull request.
#[cfg(unix)]
fn checkout(name: &str) -> (PathBuf, String) {
    let dir = project(name, "crds: examples/crds\n");
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "a"]);
    fs::write(dir.join(".crdx.yaml"), "crds: examples/crds\nskip: [CronTab, Gate]\n").unwrap();
    let base = git(&dir, &["rev-parse", "HEAD"]);
    (dir, base)
}

#[cfg(unix)]
#[test]
fn the_action_can_use_the_settings_of_the_base_branch() {
    let (dir, base) = checkout("action-settings");
    let run = |config: &str, base: &str| {
        let (output, _) = run_action(&dir, &[("FILES", "examples/objects"), ("CONFIG", config), ("BASE", base)]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    };
    let (exit, text) = run("", &base);
    assert!(exit == Some(0) && text.contains(".crdx.yaml skips CronTab, Gate"), "{text}");
    let (exit, text) = run("base", &base);
    assert!(exit == Some(1) && !text.contains("skips"), "{text}");
    // Outside of a pull request there is no base.
    assert_eq!(run("base", "").0, Some(0));
    // Without settings there are no CRDs.
    assert_eq!(run("none", &base).0, Some(2));
    let (exit, text) = run("base", "0123456789012345678901234567890123456789");
    assert!(exit == Some(2) && text.contains("git finds no commit"), "{text}");
    // A shallow checkout of another commit fetches the base.
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "b"]);
    git(&dir, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let shallow = dir.join("shallow");
    let url = format!("file://{}", dir.display());
    git(&dir, &["clone", "-q", "--depth=1", &url, shallow.to_str().unwrap()]);
    let (output, _) = run_action(&shallow, &[("FILES", "examples/objects"), ("CONFIG", "base"), ("BASE", &base)]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The report is in the summary of the job, and in one comment, which later runs update.
#[cfg(target_os = "linux")]
#[test]
fn the_action_writes_a_summary_and_one_comment() {
    use std::os::unix::fs::PermissionsExt;
    let dir = place("action-comment");
    let files = [("FILES", "examples/objects"), ("CRDS", "examples/crds")];
    assert_eq!(run_action(&dir, &files).0.status.code(), Some(1));
    let summary = fs::read_to_string(dir.join("summary.md")).unwrap();
    assert!(summary.starts_with("### kubectl crdx validate\n") && summary.contains("| rejected | "), "{summary}");
    // A `gh` that keeps one comment.
    let tools = dir.join("tools");
    fs::create_dir(&tools).unwrap();
    let gh = "#!/bin/bash\n[ \"$GH_TOKEN\" = secret ] || exit 4\necho \"$*\" >>\"$LOG\"\ncase $* in\n  *--jq*) [ -e \"$LOG.comment\" ] && echo 17; exit 0 ;;\nesac\nfor word; do case $word in body=@*) cp \"${word#body=@}\" \"$LOG.comment\" ;; esac; done\n";
    fs::write(tools.join("gh"), gh).unwrap();
    fs::set_permissions(tools.join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    let log = dir.join("log");
    let comment = |token: &str| {
        let own = [
            ("LOG", log.to_str().unwrap()),
            ("GH_TOKEN", token),
            ("REPOSITORY", "owner/app"),
            ("NUMBER", "5"),
            ("JOB", "CI & \"x\" -->/check"),
        ];
        let (output, _) = run_step("Comment", &dir, &own, Some(&tools));
        let calls = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), calls)
    };
    let (code, _, calls) = comment("secret");
    assert!(code == Some(0) && calls.contains("--method POST repos/owner/app/issues/5/comments"), "{calls}");
    let body = fs::read_to_string(dir.join("log.comment")).unwrap();
    assert!(body.starts_with("<!-- kubectl-crdx CI____x_____/check -->\n### kubectl crdx validate\n"), "{body}");
    assert!(calls.contains("startswith(\"<!-- kubectl-crdx CI____x_____/check -->\")"), "{calls}");
    let (code, _, calls) = comment("secret");
    assert!(code == Some(0) && calls.contains("--method PATCH repos/owner/app/issues/comments/17"), "{calls}");
    let (code, text, _) = comment("other");
    assert!(code == Some(0) && text.contains("::notice::the comment cannot be written"), "{text}");
    fs::write(dir.join("kubectl-crdx-report.md"), "").unwrap();
    assert_eq!(comment("secret").2, "");
}

#[test]
fn the_hooks_use_the_settings_of_the_repository() {
    let dir = project("hook-settings", "crds: examples/crds\n");
    let run = || {
        let words = ["validate", "--offline", "--skip-non-objects", ".crdx.yaml", "examples/objects/rejected.yaml"];
        Command::new(env!("CARGO_BIN_EXE_kubectl-crdx")).args(words).current_dir(&dir).output().unwrap().status.code()
    };
    assert_eq!(run(), Some(1));
    fs::write(dir.join(".crdx.yaml"), "crd: examples/crds\n").unwrap();
    assert_eq!(run(), Some(2));
}

#[cfg(unix)]
#[test]
fn the_action_never_accepts_in_silence() {
    let dir = place("action-inputs");
    fs::create_dir(dir.join("a folder")).unwrap();
    fs::copy(dir.join("examples/objects/accepted.yaml"), dir.join("a folder/an object.yaml")).unwrap();
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    // The default inputs, in a directory with objects and without CRDs.
    let alone = dir.join("alone");
    fs::create_dir(&alone).unwrap();
    fs::copy(dir.join("examples/objects/accepted.yaml"), alone.join("a.yaml")).unwrap();
    let action = read("action.yml");
    let default = |name: &str| action.str_at(&["inputs", name, "default"]).unwrap().to_owned();
    let (files, ignore) = (default("files"), default("ignore-missing-crds"));
    let inputs = [("FILES", files.as_str()), ("RECURSIVE", "true"), ("IGNORE_MISSING", &ignore)];
    let (output, outputs) = run_action(&alone, &inputs);
    assert_eq!((output.status.code(), outputs.as_str()), (Some(2), "exit-code=2\n"));
    assert!(text(&output).contains("::error file=a.yaml,line=1"), "{}", text(&output));
    let (output, _) = run_action(&alone, &[("FILES", "."), ("IGNORE_MISSING", "true")]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output).contains("::notice title=skipped::CronTab: 1 object was skipped: no CRD for it\n"),
        "{}",
        text(&output)
    );
    // Lines are paths, with their spaces.
    let lines = "\n  a folder/an object.yaml  \n\nexamples/objects/acc*.yaml\n";
    for files in [lines, "examples/objects/acc*.yaml examples/objects/builtin.yaml"] {
        let (output, _) = run_action(&dir, &[("FILES", files), ("CRDS", "\nexamples/crds\n")]);
        assert_eq!(output.status.code(), Some(0), "{files}: {}", text(&output));
    }
    for files in ["", " \n "] {
        let (output, _) = run_action(&dir, &[("FILES", files)]);
        assert!(
            output.status.code() == Some(2) && text(&output).contains("::error title=the input files::it is empty")
        );
    }
}

#[cfg(unix)]
#[test]
fn the_action_has_a_mode_for_each_command() {
    let dir = place("action-modes");
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let (old, new) = (("OLD", "examples/upgrade/old-crd.yaml"), "examples/upgrade/new-crd.yaml");
    let (output, _) = run_action(&dir, &[("MODE", "lint"), ("FILES", new), old]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("title=CustomResourceDefinition lighthouses.coast.example.com"),
        "{}",
        text(&output)
    );
    let stored = ("ARGS", "-f examples/upgrade/stored.yaml");
    let (output, _) = run_action(&dir, &[("MODE", "rehearse"), ("FILES", new), old, stored]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("::error title=kubectl crdx rehearse::exit code 1"), "{}", text(&output));
    let objects = ("FILES", "examples/objects/accepted.yaml");
    let (output, outputs) = run_action(&dir, &[("MODE", "prove"), ("FILES", new), old]);
    assert!(text(&output).contains("create rejected") && outputs.contains("exit-code=1"), "{}", text(&output));
    let (output, _) = run_action(&dir, &[("MODE", "prove"), ("FILES", new)]);
    assert!(output.status.code() == Some(2) && text(&output).contains("one path"), "{}", text(&output));
    let (output, outputs) = run_action(&dir, &[("MODE", "prove"), ("FILES", new), ("OLD", "base")]);
    assert!(text(&output).contains("::notice") && outputs.contains("exit-code=0"), "{}", text(&output));
    let (output, _) = run_action(&dir, &[("MODE", "diff"), objects, ("CRDS", "examples/crds")]);
    assert!(output.status.code() == Some(1) && text(&output).contains("accepted.yaml,line=1"), "{}", text(&output));
    let (output, outputs) = run_action(&dir, &[("MODE", "test"), ("FILES", "examples/suites")]);
    assert!(outputs.starts_with("exit-code="), "{}", text(&output));
    let (output, _) = run_action(&dir, &[("MODE", "delete"), objects]);
    assert!(output.status.code() == Some(2) && text(&output).contains("delete is no mode"), "{}", text(&output));
}

#[cfg(unix)]
#[test]
fn the_action_shows_failures_of_its_set_up() {
    let dir = place("action-set-up");
    let run = |variables: &[(&str, &str)]| {
        let _ = fs::remove_file(dir.join("summary.md"));
        let (output, outputs) = run_action(&dir, &[&[("FILES", "examples/objects")], variables].concat());
        assert_eq!((output.status.code(), outputs.as_str()), (Some(2), "exit-code=2\n"));
        let log = String::from_utf8_lossy(&output.stdout).into_owned();
        (log, fs::read_to_string(dir.join("summary.md")).unwrap())
    };
    fs::write(dir.join(".crdx.yaml"), "crds: [http://127.0.0.1:1/crds.yaml]\n").unwrap();
    let (log, summary) = run(&[("FETCH", "true")]);
    assert!(log.contains("::error title=kubectl crdx fetch::"), "{log}");
    assert!(summary.starts_with("### kubectl crdx fetch\n") && summary.contains("127.0.0.1:1/crds.yaml"), "{summary}");
    fs::write(dir.join(".crdx.yaml"), "crdz: crds\n").unwrap();
    let (log, summary) = run(&[]);
    assert!(log.contains("::error title=kubectl crdx validate::error: ") && log.contains("%0A"), "{log}");
    assert!(summary.contains("crdz"), "{summary}");
}

#[cfg(unix)]
#[test]
fn annotations_of_a_stream_name_the_template() {
    use std::os::unix::fs::PermissionsExt;
    let dir = place("annotations");
    let rejected = fs::read_to_string(dir.join("examples/objects/rejected.yaml")).unwrap();
    fs::write(dir.join("stream"), format!("---\n# Source: app/templates/cron.yaml\n{rejected}")).unwrap();
    fs::create_dir_all(dir.join("overlay")).unwrap();
    fs::write(dir.join("overlay/kustomization.yaml"), "resources: [x.yaml]\n").unwrap();
    fs::create_dir_all(dir.join("bin")).unwrap();
    fs::write(dir.join("bin/kubectl"), "#!/bin/sh\ncat examples/objects/rejected.yaml\n").unwrap();
    fs::set_permissions(dir.join("bin/kubectl"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |line: &str| {
        let path = format!("{}:{}", dir.join("bin").display(), std::env::var("PATH").unwrap());
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(line.split(' '))
            .args(["--crds", "examples/crds", "--offline"])
            .current_dir(&dir)
            .env("PATH", path)
            .stdin(fs::File::open(dir.join("stream")).unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for (source, file) in [("-", "app/templates/cron.yaml"), ("-k overlay", "overlay/kustomization.yaml")] {
        let annotations = run(&format!("validate {source} -o github"));
        let first = annotations.lines().next().unwrap();
        assert!(first.starts_with(&format!("::error file={file},title=")), "{first}");
        let sarif: serde_json::Value = serde_json::from_str(&run(&format!("validate {source} -o sarif"))).unwrap();
        let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], file);
        assert!(location.get("region").is_none(), "the lines are of the stream");
    }
    // A file that was rendered is annotated itself.
    let annotations = run("validate stream -o github");
    assert!(annotations.starts_with("::error file=stream,line="), "{annotations}");
}

#[test]
fn the_hooks_run() {
    let dir = place("hooks");
    let hooks = read(".pre-commit-hooks.yaml");
    let hooks = hooks.as_array().unwrap();
    assert_eq!(hooks.len(), 2);
    for hook in hooks {
        for key in ["id", "name", "entry", "language"] {
            assert!(hook.str_at(&[key]).is_some(), "{key}");
        }
        assert_eq!(hook.get("require_serial"), Some(&Value::Bool(true)));
        let mut words = hook.str_at(&["entry"]).unwrap().split(' ');
        assert_eq!(words.next(), Some("kubectl-crdx"));
        let arguments = hook.get("args").and_then(Value::as_array).unwrap_or_default();
        // pre-commit appends the file names to the arguments.
        let run_with = |arguments: &[&str], files: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
                .args(words.clone())
                .args(arguments)
                .args(files)
                .current_dir(&dir)
                .output()
                .unwrap();
            output.status.code()
        };
        let own: Vec<&str> = arguments.iter().map(|word| word.as_str().unwrap()).collect();
        let run = |files: &[&str]| run_with(&own, files);
        match hook.str_at(&["id"]).unwrap() {
            "crdx-validate" => {
                assert_eq!(run(&["examples/crds/crontab.yaml", "examples/objects/builtin.yaml"]), Some(0));
                fs::write(dir.join("values.yaml"), "replicas: 1\n").unwrap();
                assert_eq!(run(&["values.yaml", "examples/crds/crontab.yaml"]), Some(0), "other files are skipped");
                assert_eq!(run(&["examples/objects/rejected.yaml", "examples/crds/crontab.yaml"]), Some(1));
                // The `args` of a configuration replace the hook's, as the guide shows.
                let guide = fs::read_to_string(root().join("docs/validate-in-ci.md")).unwrap();
                let shown = guide.split("- id: crdx-validate\n    args: [").nth(1).unwrap().split(']').next().unwrap();
                assert_eq!(shown, "--crds, crds");
                for arguments in [&["--crds", "examples/crds"][..], &["--offline", "--crds", "examples/crds"]] {
                    assert_eq!(run_with(arguments, &["values.yaml", "examples/objects/accepted.yaml"]), Some(0));
                }
            }
            "crdx-lint" => {
                assert_eq!(run(&["examples/crds/crontab.yaml", "examples/crds/gate.yaml"]), Some(0));
                assert_eq!(run(&["input/costly-crd.yaml"]), Some(1));
                fs::write(dir.join("kustomization.yaml"), "resources: [crontab.yaml]\n").unwrap();
                assert_eq!(run(&["kustomization.yaml", "examples/crds/gate.yaml"]), Some(0));
                assert_eq!(run_with(&["-o", "json"], &["kustomization.yaml", "examples/crds/gate.yaml"]), Some(0));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn the_workflows_build_every_platform() {
    let release = read(".github/workflows/release.yml");
    let matrix = array(&release, &["jobs", "build", "strategy", "matrix", "include"]);
    let built: BTreeSet<String> = matrix.iter().map(|m| m.str_at(&["platform"]).unwrap().to_owned()).collect();
    assert_eq!(built, platforms());
    for entry in matrix {
        let (platform, target) = (entry.str_at(&["platform"]).unwrap(), entry.str_at(&["target"]).unwrap());
        let (os, arch) = platform.split_once('-').unwrap();
        let arch = if arch == "amd64" { "x86_64" } else { "aarch64" };
        let system = match os {
            "linux" => "unknown-linux-musl",
            "darwin" => "apple-darwin",
            _ => "pc-windows-msvc",
        };
        assert_eq!(target, format!("{arch}-{system}"));
    }
    for file in ["ci.yml", "editors.yml", "packages.yml", "release.yml"] {
        let workflow = read(&format!(".github/workflows/{file}"));
        assert_eq!(workflow.str_at(&["permissions", "contents"]), Some("read"), "{file}");
        for (name, job) in workflow.get("jobs").and_then(Value::as_object).unwrap() {
            assert!(job.str_at(&["runs-on"]).is_some(), "{file}: {name}");
            for step in array(job, &["steps"]) {
                assert!(step.get("run").is_some() != step.get("uses").is_some(), "{file}: {name}: {step:?}");
            }
        }
    }
}

/// A job that may write, or that has the identity of the workflow, builds and installs nothing.
#[test]
fn jobs_with_permissions_install_no_tools() {
    for file in ["ci.yml", "editors.yml", "packages.yml", "playground.yml", "release.yml"] {
        let workflow = read(&format!(".github/workflows/{file}"));
        for (name, job) in workflow.get("jobs").and_then(Value::as_object).unwrap() {
            let permissions = job.get("permissions").or_else(|| workflow.get("permissions")).unwrap();
            let may_write = permissions.as_object().unwrap().values().any(|level| level.as_str() == Some("write"));
            for run in array(job, &["steps"]).iter().filter_map(|step| step.str_at(&["run"])).filter(|_| may_write) {
                let tools = ["cargo", "rustup", "npm", "npx", "pip", "go install", "release-check.sh", "release.sh"];
                assert!(!tools.iter().any(|tool| run.contains(tool)), "{file}: {name}: {run}");
            }
        }
    }
}

/// The lock files of npm name no host, so that every machine uses the registry of its own settings.
#[test]
fn npm_packages_are_locked() {
    for directory in ["editors/vscode", "playground"] {
        let lock = read(&format!("{directory}/package-lock.json"));
        let manifest = read(&format!("{directory}/package.json"));
        let packages = lock.get("packages").and_then(Value::as_object).unwrap();
        for key in ["dependencies", "devDependencies"] {
            assert_eq!(
                packages.get("").unwrap().get(key),
                manifest.get(key),
                "{directory}: run npm install --package-lock-only"
            );
        }
        for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
            assert!(package.get("integrity").is_some() && package.get("resolved").is_none(), "{directory}: {name}");
        }
    }
}

#[test]
fn the_compiler_is_the_same_everywhere() {
    let toml = |file: &str| -> toml::Table { fs::read_to_string(root().join(file)).unwrap().parse().unwrap() };
    let toolchain = toml("rust-toolchain.toml");
    let channel = toolchain["toolchain"]["channel"].as_str().unwrap();
    let oldest = toml("Cargo.toml");
    let oldest = oldest["workspace"]["package"]["rust-version"].as_str().unwrap();
    assert!(channel.starts_with(&format!("{oldest}.")), "{channel} is not {oldest}");
    let release = read(".github/workflows/release.yml");
    for job in ["build", "pack"] {
        assert_eq!(release.str_at(&["jobs", job, "env", "RUSTUP_TOOLCHAIN"]), Some(channel), "{job}");
    }
}

/// The install script of a packed release installs the program and its completion, and refuses a changed archive.
#[cfg(target_os = "linux")]
fn installs_and_refuses(dir: &Path) {
    let script = fs::read_to_string(dir.join("dist/install.sh")).unwrap();
    assert!(script.contains("repository=https://git.example/somebody/else\n"), "{script}");
    let run = |script: &str, release: Option<&str>, bin: &str| {
        let mut command = Command::new("sh");
        command.arg(script).current_dir(dir).env("CRDX_BIN", dir.join(bin)).env_remove("CRDX_RELEASE");
        if let Some(release) = release {
            command.env("CRDX_RELEASE", release);
        }
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (installed, text) = run("dist/install.sh", Some("dist"), "bin");
    assert!(installed && text.contains("add "), "{text}");
    for file in ["kubectl-crdx", "kubectl_complete-crdx"] {
        assert!(dir.join("bin").join(file).exists(), "{file}");
    }
    let (installed, text) = run("scripts/install.sh", None, "none");
    assert!(!installed && text.contains("names no repository"), "{text}");
    let (installed, text) = run("dist/install.sh", Some("http://git.example/release"), "none");
    assert!(!installed && text.contains("is not encrypted"), "{text}");
    let changed = dir.join("changed");
    fs::create_dir_all(&changed).unwrap();
    fs::copy(dir.join("dist/checksums.txt"), changed.join("checksums.txt")).unwrap();
    for arch in ["amd64", "arm64"] {
        fs::write(changed.join(format!("kubectl-crdx-linux-{arch}.tar.gz")), "changed").unwrap();
    }
    let (installed, text) = run("dist/install.sh", Some("changed"), "none");
    assert!(!installed && text.contains("is not that of checksums.txt") && !dir.join("none").exists(), "{text}");
}

/// The manifests for scoop and winget name the archives with their checksums.
#[cfg(target_os = "linux")]
fn windows_manifests_are_filled(dir: &Path, sums: &str) {
    let read = |file: &str| yaml::read(&fs::read(dir.join("dist").join(file)).unwrap()).unwrap();
    let is_listed = |url: &str, sum: &str| {
        let releases = concat!("https://git.example/somebody/else/releases/download/v", env!("CARGO_PKG_VERSION"), "/");
        let archive = url.strip_prefix(releases).unwrap();
        assert!(sums.lines().any(|known| known == format!("{sum}  {archive}")), "{archive} {sum} is not in\n{sums}");
    };
    let scoop = read("kubectl-crdx.json");
    assert_eq!(scoop.str_at(&["version"]), Some(env!("CARGO_PKG_VERSION")));
    for (_, archive) in scoop.get("architecture").and_then(Value::as_object).unwrap() {
        is_listed(archive.str_at(&["url"]).unwrap(), archive.str_at(&["hash"]).unwrap());
    }
    for kind in ["", ".installer", ".locale.en-US"] {
        let manifest = read(&format!("winget/somebody.kubectl-crdx{kind}.yaml"));
        assert_eq!(manifest.str_at(&["PackageIdentifier"]), Some("somebody.kubectl-crdx"));
        assert_eq!(manifest.str_at(&["PackageVersion"]), Some(env!("CARGO_PKG_VERSION")));
    }
    for installer in array(&read("winget/somebody.kubectl-crdx.installer.yaml"), &["Installers"]) {
        is_listed(installer.str_at(&["InstallerUrl"]).unwrap(), installer.str_at(&["InstallerSha256"]).unwrap());
    }
}

/// The image has the program, certificates and a directory for temporary files; the one for pipelines also a shell and tools. Both run
/// as a user without rights.
#[test]
fn the_image_has_only_the_program() {
    let file = fs::read_to_string(root().join("Dockerfile")).unwrap();
    let stages: Vec<&str> = file.split("\nFROM ").skip(1).collect();
    let [ci, minimal] = stages[..] else { panic!("{stages:?}") };
    assert!(ci.starts_with("debian:12-slim AS ci\n") && !ci.contains("ENTRYPOINT"), "jobs of GitLab need a shell");
    // The last stage is built unless another is named.
    assert!(minimal.starts_with("scratch AS minimal\n") && !minimal.contains("\nRUN"), "{minimal}");
    assert!(stages.iter().all(|stage| stage.contains("\nUSER 65532:65532\n")));
    let labels =
        ["title", "description", "licenses", "url", "source", "documentation", "version", "revision", "created"];
    for label in labels {
        assert!(stages.iter().all(|stage| stage.contains(&format!("org.opencontainers.image.{label}="))), "{label}");
    }
    for missing in ["credential plugins", "git", "helm"] {
        assert!(file.contains(missing), "{missing}");
    }
    let release = read(".github/workflows/release.yml");
    let steps = array(&release, &["jobs", "pack", "steps"]);
    assert!(steps.iter().any(|step| step.str_at(&["run"]).is_some_and(|run| run.contains("scripts/image.sh --ci"))));
    for job in ["publish", "image"] {
        let attested = array(&release, &["jobs", job, "steps"]).iter().any(|step| {
            step.str_at(&["uses"]).is_some_and(|action| action.starts_with("actions/attest-build-provenance@"))
        });
        assert!(attested, "{job} attests the provenance of what it publishes");
        assert_eq!(release.str_at(&["jobs", job, "permissions", "id-token"]), Some("write"));
    }
}

/// cargo-binstall finds an archive of the release for every target of the release workflow.
#[test]
fn binstall_takes_the_archives_of_the_release() {
    let cargo: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let overrides = cargo["package"]["metadata"]["binstall"]["overrides"].as_table().unwrap();
    let release = read(".github/workflows/release.yml");
    for entry in array(&release, &["jobs", "build", "strategy", "matrix", "include"]) {
        let (platform, target) = (entry.str_at(&["platform"]).unwrap(), entry.str_at(&["target"]).unwrap());
        let url = format!("{{ repo }}/releases/download/v{{ version }}/kubectl-crdx-{platform}.tar.gz");
        assert_eq!(overrides[target]["pkg-url"].as_str(), Some(url.as_str()));
    }
}

/// The release script packs placeholder binaries, and fills the manifest.
#[cfg(target_os = "linux")]
#[test]
fn the_release_is_packed() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("release");
    let _ = fs::remove_dir_all(&dir);
    for file in [
        "scripts/release.sh",
        "plugin-manifest/crdx.yaml",
        "scripts/install.sh",
        "plugin-manifest/kubectl-crdx.rb",
        "plugin-manifest/kubectl-crdx.json",
        "plugin-manifest/winget/OWNER.kubectl-crdx.yaml",
        "plugin-manifest/winget/OWNER.kubectl-crdx.installer.yaml",
        "plugin-manifest/winget/OWNER.kubectl-crdx.locale.en-US.yaml",
        "plugin-manifest/kubectl_complete-crdx",
        "plugin-manifest/kubectl_complete-crdx.cmd",
        "LICENSE",
        "Cargo.toml",
    ] {
        let to = dir.join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join(file), to).unwrap();
    }
    let cargo = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
    let with_owner = |url: &str| {
        let text = cargo
            .replace(&format!("repository = {:?}", env!("CARGO_PKG_REPOSITORY")), &format!("repository = {url:?}"));
        fs::write(dir.join("Cargo.toml"), text).unwrap();
    };
    let run = |program: &str, words: &[&str]| {
        Command::new(program).args(words).current_dir(&dir).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap()
    };
    let git = ["-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "x", "--allow-empty"];
    assert!(run("git", &["init", "-q"]).status.success() && run("git", &git).status.success());
    for platform in platforms() {
        let bin = dir.join("dist/bin").join(&platform);
        fs::create_dir_all(&bin).unwrap();
        let name = if platform.starts_with("windows") { "kubectl-crdx.exe" } else { "kubectl-crdx" };
        // The header of a static program.
        let mut program = b"\x7fELF\x02\x01\x01".to_vec();
        program.resize(16, 0);
        program.extend([2, 0, 0x3e, 0, 1, 0, 0, 0]);
        program.resize(52, 0);
        program.extend([64, 0, 56, 0, 0, 0, 64, 0, 0, 0, 0, 0]);
        program.extend(platform.bytes());
        fs::write(bin.join(name), program).unwrap();
    }
    // The man pages as written by scripts/man.sh.
    let man = dir.join("dist/man");
    fs::create_dir_all(&man).unwrap();
    fs::write(man.join("kubectl-crdx.1"), "page").unwrap();
    // The SBOM as written by scripts/sbom.sh.
    fs::write(dir.join("dist/kubectl-crdx.cdx.json"), "{}").unwrap();
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let refuses = |tag: &str, reason: &str| {
        let output = run("scripts/release.sh", &["--pack", tag]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && text.contains(reason), "{reason}: {text}");
    };
    with_owner("https://github.com/OWNER/kubectl-crdx");
    refuses(tag, "set the owner in Cargo.toml");
    with_owner("https://git.example/somebody/else");
    refuses("v99.0.0", "but Cargo.toml says");
    let darwin = dir.join("dist/bin/darwin-arm64");
    fs::rename(&darwin, dir.join("elsewhere")).unwrap();
    refuses(tag, "darwin-arm64 is missing");
    fs::rename(dir.join("elsewhere"), &darwin).unwrap();
    let limit: u64 = {
        let script = fs::read_to_string(dir.join("scripts/release.sh")).unwrap();
        script.lines().find_map(|line| line.strip_prefix("MOST_BYTES=")).unwrap().parse().unwrap()
    };
    let binary = darwin.join("kubectl-crdx");
    let bytes = fs::read(&binary).unwrap();
    fs::OpenOptions::new().write(true).open(&binary).unwrap().set_len(limit + 1).unwrap();
    refuses(tag, "is larger than");
    fs::write(&binary, bytes).unwrap();
    let packed = run("scripts/release.sh", &["--pack", tag]);
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let sums = fs::read_to_string(dir.join("dist/checksums.txt")).unwrap();
    // An archive for each platform, a second one for Windows, and the SBOM.
    assert_eq!(sums.lines().count(), platforms().len() + 2 + 1);
    assert!(sums.contains("  kubectl-crdx.cdx.json\n"), "{sums}");
    let manifest = yaml::read(&fs::read(dir.join("dist/crdx.yaml")).unwrap()).unwrap();
    assert_eq!(manifest.str_at(&["spec", "version"]), Some(tag));
    assert_eq!(manifest.str_at(&["spec", "homepage"]), Some("https://git.example/somebody/else"));
    for platform in array(&manifest, &["spec", "platforms"]) {
        let uri = platform.str_at(&["uri"]).unwrap();
        assert!(uri.starts_with(&format!("https://git.example/somebody/else/releases/download/{tag}/")), "{uri}");
        let archive = uri.rsplit('/').next().unwrap();
        let line = format!("{}  {archive}", platform.str_at(&["sha256"]).unwrap());
        assert!(sums.lines().any(|known| known == line), "{line} is not in\n{sums}");
    }
    let formula = fs::read_to_string(dir.join("dist/kubectl-crdx.rb")).unwrap();
    assert!(
        !formula.contains("OWNER") && formula.contains("homepage \"https://git.example/somebody/else\""),
        "{formula}"
    );
    let quoted = |word: &str| -> Vec<&str> {
        let lines = formula.lines().filter_map(|line| line.trim().strip_prefix(word));
        lines.map(|rest| rest.trim().trim_matches('"')).collect()
    };
    assert_eq!(quoted("version "), [env!("CARGO_PKG_VERSION")]);
    assert_eq!(quoted("url ").len(), 4);
    for (url, sum) in quoted("url ").into_iter().zip(quoted("sha256 ")) {
        let archive = url.strip_prefix(&format!("https://git.example/somebody/else/releases/download/{tag}/")).unwrap();
        assert!(sums.lines().any(|known| known == format!("{sum}  {archive}")), "{archive} {sum} is not in\n{sums}");
    }
    windows_manifests_are_filled(&dir, &sums);
    installs_and_refuses(&dir);
    let listed = run("tar", &["-tzf", "dist/kubectl-crdx-windows-amd64.tar.gz"]);
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(names.contains("kubectl-crdx.exe\nkubectl_complete-crdx.cmd\n"), "{names}");
    let listed = run("tar", &["-tzf", "dist/kubectl-crdx-linux-amd64.tar.gz"]);
    assert_eq!(
        String::from_utf8_lossy(&listed.stdout),
        "LICENSE\nkubectl-crdx\nkubectl_complete-crdx\nman/\nman/kubectl-crdx.1\n"
    );
    let listed = run("tar", &["-tvzf", "dist/kubectl-crdx-linux-amd64.tar.gz"]);
    let owners = String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.contains(" 0/0 ")).count();
    assert_eq!(owners, 5);
    // A second run produces the same bytes, with files of another time, owner and mode.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    for file in ["LICENSE", "dist/man/kubectl-crdx.1"] {
        assert!(run("touch", &[file]).status.success() && run("chmod", &["600", file]).status.success());
    }
    assert!(run("scripts/release.sh", &["--pack", tag]).status.success());
    assert_eq!(fs::read_to_string(dir.join("dist/checksums.txt")).unwrap(), sums);
}
