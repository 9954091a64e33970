//! The namespace of the current context, read with our own reader: it is wanted offline, too, and costs no connection.

use super::Target;
use crate::text::yaml;
use crate::value::Value;
use std::path::PathBuf;

/// The namespace of the context that `target` names; `None` where no kubeconfig says one. A kubeconfig that is missing or
/// cannot be read says nothing here; who connects is told of it.
pub fn namespace(target: &Target) -> Option<String> {
    let documents: Vec<Value> = files(target)
        .iter()
        .filter_map(|file| std::fs::read(file).ok())
        .filter_map(|text| yaml::read(&text).ok())
        .collect();
    of_context(&documents, target.context.as_deref())
}

/// The files that kubectl would merge, the first to say something winning.
fn files(target: &Target) -> Vec<PathBuf> {
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
    use crate::value::object;

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
