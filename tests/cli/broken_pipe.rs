//! A command whose reader closed the pipe (`kubectl crdx … | head`) stops without a message.

use std::process::{Command, Stdio};

#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let dir = crate::cli::screens::place("broken-pipe");
    for line in [
        "validate examples/objects/accepted.yaml --crds examples/crds --offline",
        "validate examples/objects/accepted.yaml --crds examples/crds --offline -o json",
        "diff examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline",
        "diff examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline -o json",
        "get -f examples/objects/accepted.yaml --crds examples/crds --offline",
        "get -f examples/objects/accepted.yaml --crds examples/crds --offline -o yaml",
        "rehearse examples/upgrade/new-crd.yaml --old examples/upgrade/old-crd.yaml -f examples/upgrade/stored.yaml --offline",
        "lint examples/crds/crontab.yaml",
        "cel 1+1",
        "openapi examples/crds/crontab.yaml",
        "rbac crontabs.stable.example.com",
        "scale crontab/nightly --replicas 1 -f examples/objects --crds examples/crds --offline -o json",
        "serve --port 0",
        "completion bash",
        "version",
        "help",
        "diff --help",
        "__complete va",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(line.split(' '))
            .current_dir(&dir)
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {messages}");
        for word in ["pipe", "panicked"] {
            assert!(!messages.contains(word), "{line}: {messages}");
        }
    }
}
