//! CRDs of a cluster: `serve` in another process.

use super::editor::{Editor, uri};
use super::{CRD, KITE};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

struct Cluster(Child);

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a cluster with the CRD of kites and returns its URL.
fn cluster(folder: &Path) -> (Cluster, String) {
    let crd = folder.join("cluster.txt");
    fs::write(&crd, CRD.replace("minimum: 1", "minimum: 5")).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(["serve", "--port", "0", "--kubernetes-version", "1.34", "--load"])
        .arg(&crd)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (Cluster(server), url.trim().to_owned())
}

/// An editor whose current context is the cluster at `url`.
fn editor(folder: &Path, url: &str, options: &Value) -> Editor {
    let kubeconfig = folder.join("kubeconfig");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{{name: a, cluster: {{server: \"{url}\"}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\nusers: [{{name: a, user: {{}}}}]\n"
    );
    fs::write(&kubeconfig, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.arg("lsp").env("KUBECONFIG", kubeconfig).env("XDG_CACHE_HOME", folder.join("cache"));
    Editor::spawn(&mut command, folder, options)
}

#[test]
fn missing_crds_are_read_from_the_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let (_cluster, url) = cluster(folder.path());
    let uri = uri(folder.path(), "kite.yaml");
    let mut editor = editor(folder.path(), &url, &json!({}));
    editor.open(&uri, KITE);
    let unknown = editor.diagnostics(&uri);
    assert!(unknown[0].contains(" 3 no CRD for toys.example.com/v1 Kite"), "no cluster is asked: {unknown:?}");
    editor.notify("workspace/didChangeConfiguration", &json!({"settings": {"live": true}}));
    // The edit is answered before the cluster is.
    let mut found = editor.diagnostics(&uri);
    while found.iter().any(|found| found.contains("no CRD for")) {
        found = editor.diagnostics(&uri);
    }
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("should be greater than or equal to 5"), "{found:?}");
    // A CRD of the workspace comes first.
    fs::write(folder.path().join("crd.yaml"), CRD).unwrap();
    let file = format!("file://{}", folder.path().join("crd.yaml").display());
    editor.notify("textDocument/didSave", &json!({"textDocument": {"uri": file}}));
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
}

#[test]
fn a_cluster_that_cannot_be_reached_is_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let uri = uri(folder.path(), "kite.yaml");
    let mut editor = editor(folder.path(), "http://127.0.0.1:1", &json!({"live": true}));
    editor.open(&uri, KITE);
    assert!(editor.diagnostics(&uri)[0].contains("no CRD for"));
    let shown = editor.notified("window/showMessage");
    let text = shown["message"].as_str().unwrap();
    assert!(text.contains("cannot reach the cluster at http://127.0.0.1:1"), "{text}");
    editor.replace(&uri, (4, 10), (4, 11), "4");
    assert!(editor.diagnostics(&uri)[0].contains("no CRD for"));
}
