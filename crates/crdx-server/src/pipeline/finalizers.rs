//! Warnings about finalizer names (`validateKubeFinalizerName` in
//! `apiextensions-apiserver/pkg/registry/customresource/validator.go`).

use super::metadata::Metadata;
use crdx_value::field::names;
use crdx_value::quote;
use crdx_value::release::{Release, V1_32};
use std::collections::BTreeSet;

/// Warnings about finalizers in `new` that are not in `old`, sorted by name.
pub fn warnings(new: Metadata<'_>, old: Option<Metadata<'_>>, release: Release) -> Vec<String> {
    let known: BTreeSet<&str> = old.into_iter().flat_map(Metadata::finalizers).collect();
    let added: BTreeSet<&str> = new.finalizers().filter(|f| !known.contains(f)).collect();
    let mut warnings = Vec::new();
    for name in added {
        let mut warn = |text: &str| warnings.push(format!("metadata.finalizers: {}: {text}", quote::go_quote(name)));
        for message in names::qualified_name(name, release) {
            warn(&message);
        }
        if name.contains('/') || names::is_standard_finalizer(name) {
            continue;
        }
        // This part of the message exists since 1.32.
        let path = if release.since(V1_32) && name.contains('.') { " including a path (/)" } else { "" };
        warn(&format!(
            "prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::json;

    #[test]
    fn new_unqualified_finalizers_cause_warnings() {
        let old = json(r#"{"metadata":{"finalizers":["old"]}}"#);
        let new = json(r#"{"metadata":{"finalizers":["old","orphan","plain","a.b","a.b/c"]}}"#);
        assert_eq!(
            warnings(Metadata::from_object(&new), Some(Metadata::from_object(&old)), Release::NEWEST),
            [
                r#"metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"#,
                r#"metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"#,
            ]
        );
    }
}
