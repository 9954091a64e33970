//! `--print-kubeconfig`: a kubeconfig for this server.

/// Returns a kubeconfig whose only context is the server at `url`.
pub(super) fn text(url: &str) -> String {
    // The official client for JavaScript refuses http without this setting, which has no effect there.
    let skips_verification = if url.starts_with("http://") { "\n    insecure-skip-tls-verify: true" } else { "" };
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: crdx
  cluster:
    server: {url}{skips_verification}
contexts:
- name: crdx
  context:
    cluster: crdx
    user: crdx
current-context: crdx
users:
- name: crdx
  user: {{}}
"
    )
}

#[cfg(test)]
mod tests {
    use crdx_text::yaml;

    #[test]
    fn it_is_a_kubeconfig() {
        let read = yaml::read(super::text("http://127.0.0.1:1").as_bytes()).unwrap();
        assert_eq!(read.str_at(&["current-context"]), Some("crdx"));
        let clusters = read.get("clusters").and_then(|c| c.as_array()).unwrap();
        assert_eq!(clusters.first().and_then(|c| c.str_at(&["cluster", "server"])), Some("http://127.0.0.1:1"));
        assert!(!super::text("https://127.0.0.1:1").contains("insecure"));
    }
}
