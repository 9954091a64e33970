//! Completion: the scripts of `completion` run in real shells.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Creates a directory with files to complete, a kubeconfig, and the scripts for the PATH.
#[cfg(unix)]
fn place(name: &str) -> PathBuf {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("crds")).unwrap();
    fs::create_dir_all(dir.join("bin")).unwrap();
    fs::write(dir.join("crd.yaml"), "").unwrap();
    fs::write(dir.join("object.yaml"), "").unwrap();
    let config =
        "contexts:\n- name: admin@one\n- name: admin@two\n- name: other\nusers:\n- name: me\nclusters:\n- name: c1\n";
    fs::write(dir.join("config"), config).unwrap();
    symlink(env!("CARGO_BIN_EXE_kubectl-crdx"), dir.join("bin/kubectl-crdx")).unwrap();
    let script = dir.join("bin/kubectl_complete-crdx");
    fs::write(&script, run(&dir, "kubectl-crdx", &["completion", "kubectl"]).stdout).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn run(dir: &Path, program: &str, words: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new(program)
        .args(words)
        .current_dir(dir)
        .env("PATH", format!("{}:{path}", dir.join("bin").display()))
        .env("KUBECONFIG", dir.join("config"))
        .env("HOME", dir)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

fn lines(output: &Output) -> Vec<String> {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Divides a command line as bash does: at spaces, and at `=`, `:` and `@`, which are words of their own.
fn words_of_bash(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for word in line.split(' ') {
        for piece in word.split_inclusive(['=', ':', '@']) {
            let (text, stop) = piece.split_at(piece.len() - usize::from(piece.ends_with(['=', ':', '@'])));
            words.extend([text, stop].into_iter().filter(|text| !text.is_empty()).map(str::to_owned));
        }
        if word.is_empty() {
            words.push(String::new());
        }
    }
    words.split_off(1)
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_flags_files_versions_and_contexts() {
    let dir = place("completion-bash");
    let complete = |line: &str| {
        let script = r#"source <(kubectl-crdx completion bash)
            function=$(complete -p kubectl-crdx); function=${function#* -F }; function=${function%% *}
            COMP_LINE=$1 COMP_POINT=${#1}; shift
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            $function kubectl-crdx "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\n' "${COMPREPLY[@]}""#;
        let words = words_of_bash(line);
        let words = words.iter().map(String::as_str);
        let arguments: Vec<&str> =
            ["--norc", "--noprofile", "-c", script, "bash", line].into_iter().chain(words).collect();
        let mut found = lines(&run(&dir, "bash", &arguments));
        found.retain(|candidate| !candidate.is_empty());
        found.sort();
        found.join(" ")
    };
    for (line, expected) in [
        ("kubectl-crdx vali", "validate"),
        ("kubectl-crdx get --show-l", "--show-labels"),
        ("kubectl-crdx get -o jso", "json jsonpath-as-json= jsonpath-file= jsonpath="),
        ("kubectl-crdx validate -f crd", "crd.yaml crds"),
        ("kubectl-crdx validate --crds=ob", "object.yaml"),
        ("kubectl-crdx validate --crds=", "bin config crd.yaml crds object.yaml"),
        ("kubectl-crdx lint c", "config crd.yaml crds"),
        ("kubectl-crdx validate -k c", "crds"),
        ("kubectl-crdx lint --kubernetes-version 1.3", "1.30 1.31 1.32 1.33 1.34 1.35 1.36 1.37 1.38"),
        ("kubectl-crdx lint --kubernetes-version=1.36", "1.36"),
        ("kubectl-crdx get --context ", "admin@one admin@two other"),
        ("kubectl-crdx get --context admin@t", "two"),
        ("kubectl-crdx get --context=admin@", "one two"),
        ("kubectl-crdx --user m", "me"),
        ("kubectl-crdx get --offline cron", ""),
        ("kubectl-crdx version x", ""),
    ] {
        assert_eq!(complete(line), expected, "{line}");
    }
    let commands = complete("kubectl-crdx ");
    assert!(commands.starts_with("cel completion config diff ") && !commands.contains('_'), "{commands}");
}

#[cfg(unix)]
#[test]
fn kubectl_finds_the_candidates_of_the_plugin() {
    let dir = place("completion-kubectl");
    let complete = |words: &[&str]| lines(&run(&dir, "kubectl_complete-crdx", words));
    assert_eq!(complete(&["lint", "--kubernetes-version", "1.37"]), ["1.37", ":4"]);
    assert_eq!(complete(&["lint", ""]), [":0"]);
    assert_eq!(complete(&["validate", "-k", ""]), [":16"]);
    assert_eq!(complete(&["get", "--context", "admin@t"]), ["admin@two", ":4"]);
    assert_eq!(complete(&["get", "-o", "jsonpath-f"]), ["jsonpath-file=", ":6"]);
    let shipped =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin-manifest/kubectl_complete-crdx")).unwrap();
    assert_eq!(fs::read(dir.join("bin/kubectl_complete-crdx")).unwrap(), shipped);
}

#[cfg(unix)]
#[test]
#[ignore = "needs zsh, fish, elvish and kubectl"]
fn other_shells_complete() {
    let dir = place("completion-shells");
    let fish = |line: &str| {
        let script = format!("kubectl-crdx completion fish | source; complete --do-complete '{line}'");
        let mut found = lines(&run(&dir, "fish", &["--no-config", "-c", &script]));
        for line in &mut found {
            line.truncate(line.find('\t').unwrap_or(line.len()));
        }
        found.sort();
        found.join(" ")
    };
    for (line, expected) in [
        ("kubectl-crdx vali", "validate"),
        ("kubectl-crdx lint --kubernetes-version 1.36", "1.36"),
        ("kubectl-crdx get --context admin@t", "admin@two"),
        ("kubectl-crdx validate -f crd", "crd.yaml crds/"),
        ("kubectl-crdx validate -k c", "crds/"),
        ("kubectl-crdx version x", ""),
    ] {
        assert_eq!(fish(line), expected, "fish: {line}");
    }
    // A terminal is needed to complete in zsh.
    let zsh = run(
        &dir,
        "zsh",
        &["-f", "-n", "-c", &String::from_utf8(run(&dir, "kubectl-crdx", &["completion", "zsh"]).stdout).unwrap()],
    );
    assert!(zsh.status.success(), "{}", String::from_utf8_lossy(&zsh.stderr));
    let elvish = run(
        &dir,
        "elvish",
        &[
            "-norc",
            "-c",
            "eval (kubectl-crdx completion elvish | slurp); put $edit:completion:arg-completer[kubectl-crdx]",
        ],
    );
    println!("{elvish:?}");
    let kubectl = std::env::var("CRDX_KUBECTL").unwrap_or_else(|_| "kubectl".to_owned());
    let complete = run(&dir, &kubectl, &["__complete", "crdx", "lint", "--kubernetes-version", "1.3"]);
    let text = String::from_utf8(complete.stdout).unwrap();
    assert!(text.starts_with("1.30\n1.31\n") && text.ends_with(":4\n"), "{text}");
}
