//! Facts from the kubeconfig that are needed without a connection; read with the reader in `text`, because kube would
//! be slow to start.

use super::ClusterFlags;
use crdx_text::yaml;
use crdx_value::Value;
use std::path::PathBuf;

/// The service account of a pod, with which it may use its own cluster.
#[derive(Clone, Debug)]
pub struct ServiceAccount {
    /// The directory with its token.
    pub dir: PathBuf,
    /// Host and port of the API server.
    pub address: Option<(String, String)>,
}

impl Default for ServiceAccount {
    /// The account of this process.
    fn default() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let address = set("KUBERNETES_SERVICE_HOST").zip(set("KUBERNETES_SERVICE_PORT"));
        Self { dir: PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount"), address }
    }
}

impl ServiceAccount {
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The URL of the pod's cluster; `None` outside a pod.
    pub fn server(&self) -> Option<String> {
        let (host, port) = self.address.as_ref().filter(|_| self.file("token").is_file())?;
        Some(if host.contains(':') { format!("https://[{host}]:{port}") } else { format!("https://{host}:{port}") })
    }
}

/// The namespace of objects that do not name one: `named`, that of the selected context, or `default`.
pub fn namespace_or_default(named: Option<&str>, target: &ClusterFlags) -> String {
    let of_context = || if target.profile.is_some() { None } else { namespace(target) };
    named.map(str::to_owned).or_else(of_context).unwrap_or_else(|| "default".to_owned())
}

/// The namespace of the selected context, or in a pod the pod's namespace, also with `--server`, as in client-go; `None` if
/// neither names one. Errors in the kubeconfig are reported when a connection is opened, not here.
fn namespace(target: &ClusterFlags) -> Option<String> {
    of_context(&documents(target), target.context.as_deref()).or_else(|| {
        let account = ServiceAccount::default();
        account.server()?;
        let own = std::env::var("POD_NAMESPACE").ok().filter(|n| !n.is_empty());
        let file = || std::fs::read_to_string(account.file("namespace")).ok();
        own.or_else(file).map(|n| n.trim().to_owned()).filter(|n| !n.is_empty())
    })
}

/// Returns true if a flag, a kubeconfig or a service account selects a cluster, or a profile is read in place of one.
pub fn is_configured(target: &ClusterFlags) -> bool {
    let ClusterFlags { profile, kubeconfig, context, cluster, server, .. } = target;
    profile.is_some()
        || kubeconfig.is_some()
        || context.is_some()
        || cluster.is_some()
        || server.is_some()
        || files(target).iter().any(|file| file.exists())
        || ServiceAccount::default().server().is_some()
}

/// The names of the entries in a list of the kubeconfig: `contexts`, `clusters` or `users`.
pub fn names(target: &ClusterFlags, list: &str) -> Vec<String> {
    let documents = documents(target);
    let entries = documents.iter().filter_map(|d| d.get(list)?.as_array()).flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.str_at(&["name"])).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// The kubeconfig files that exist.
fn documents(target: &ClusterFlags) -> Vec<Value> {
    let texts = files(target).into_iter().filter_map(|file| std::fs::read(file).ok());
    texts.filter_map(|text| yaml::read(&text).ok()).collect()
}

/// The files that kubectl merges; the first value for a key wins.
pub(super) fn files(target: &ClusterFlags) -> Vec<PathBuf> {
    if let Some(file) = &target.kubeconfig {
        return vec![file.clone()];
    }
    match std::env::var_os("KUBECONFIG").filter(|v| !v.is_empty()) {
        Some(list) => std::env::split_paths(&list).filter(|p| !p.as_os_str().is_empty()).collect(),
        None => std::env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect(),
    }
}

fn of_context(documents: &[Value], wanted: Option<&str>) -> Option<String> {
    let current = documents.iter().filter_map(|d| d.str_at(&["current-context"])).find(|c| !c.is_empty());
    let wanted = wanted.or(current)?;
    let contexts = documents.iter().filter_map(|d| d.get("contexts")?.as_array()).flatten();
    let context = contexts.into_iter().find(|c| c.str_at(&["name"]) == Some(wanted))?;
    context.str_at(&["context", "namespace"]).filter(|n| !n.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn the_current_context_gives_the_namespace() {
        let context = |name: &str, namespace: &str| {
            object([("name", Value::from(name)), ("context", object([("namespace", namespace)]))])
        };
        let first = object([("current-context", "b")]);
        let second = object([
            ("current-context", Value::from("a")),
            ("contexts", Value::Array(vec![context("a", "in-a"), context("b", "in-b")])),
        ]);
        let both = [first, second];
        assert_eq!(of_context(&both, None).as_deref(), Some("in-b"));
        assert_eq!(of_context(&both, Some("a")).as_deref(), Some("in-a"));
        assert_eq!(of_context(&both, Some("c")), None);
        assert_eq!(of_context(&[], None), None);
    }
}
