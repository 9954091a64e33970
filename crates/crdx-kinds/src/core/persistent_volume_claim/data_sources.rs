//! The data sources of `PersistentVolumeClaim`s (`pkg/api/persistentvolumeclaim/util.go`).

use crdx_value::release::{Gate, Release};
use crdx_value::{Map, Value, object};

const SOURCE: &str = "dataSource";
const REFERENCE: &str = "dataSourceRef";

/// Drops the sources that the server ignores, and copies the one that is left to the other field.
pub(super) fn prepare(new: &mut Value, old: Option<&Value>, release: Release) {
    let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let had = |field| old.is_some_and(|old| old.at(&["spec", field]).is_some());
    let in_namespace = |reference: &Value| reference.str_at(&["namespace"]).is_some_and(|name| !name.is_empty());
    let allows_namespaces = release.enables(Gate::CrossNamespaceVolumeDataSource);
    if !allows_namespaces && spec.get(REFERENCE).is_some_and(in_namespace) && !had(REFERENCE) {
        spec.remove(REFERENCE);
    }
    // `EnforceDataSourceBackwardsCompatibility`
    let is_used = had(SOURCE) || had(REFERENCE) || spec.contains_key(REFERENCE);
    if !is_used && !spec.get(SOURCE).is_some_and(is_claim_or_snapshot) {
        spec.remove(SOURCE);
    }
    normalize(spec, &in_namespace);
}

/// `dataSourceIsPvcOrSnapshot`
fn is_claim_or_snapshot(source: &Value) -> bool {
    let group = source.str_at(&["apiGroup"]).unwrap_or_default();
    matches!(
        (group, source.str_at(&["kind"])),
        ("", Some("PersistentVolumeClaim")) | ("snapshot.storage.k8s.io", Some("VolumeSnapshot"))
    )
}

/// `NormalizeDataSources`
fn normalize(spec: &mut Map, in_namespace: &dyn Fn(&Value) -> bool) {
    let (from, to) = match (spec.get(SOURCE), spec.get(REFERENCE)) {
        (Some(source), None) => (source, REFERENCE),
        (None, Some(reference)) if !in_namespace(reference) => (reference, SOURCE),
        _ => return,
    };
    let field = |name| from.get(name).cloned().unwrap_or_default();
    let copied = object(["apiGroup", "kind", "name"].map(|name| (name, field(name))));
    spec.insert(to.to_owned(), copied);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::release::FeatureGates;

    fn prepared(spec: &str, old: Option<&str>) -> Value {
        prepared_on(Release::NEWEST, spec, old)
    }

    fn prepared_on(release: Release, spec: &str, old: Option<&str>) -> Value {
        let claim = |spec: &str| json::read(format!(r#"{{"spec":{spec}}}"#).as_bytes()).unwrap();
        let mut new = claim(spec);
        prepare(&mut new, old.map(claim).as_ref(), release);
        new.get("spec").cloned().unwrap()
    }

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    const CLAIM: &str = r#"{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"a"}"#;
    const OTHER: &str = r#"{"apiGroup":"example.com","kind":"Populator","name":"a"}"#;

    #[test]
    fn a_source_is_copied_to_the_other_field() {
        let both = |source: &str| read(&format!(r#"{{"dataSource":{source},"dataSourceRef":{source}}}"#));
        assert_eq!(prepared(&format!(r#"{{"dataSource":{CLAIM}}}"#), None), both(CLAIM));
        assert_eq!(prepared(&format!(r#"{{"dataSourceRef":{OTHER}}}"#), None), both(OTHER));
    }

    #[test]
    fn a_source_of_another_kind_is_dropped_unless_the_claim_had_one() {
        let spec = format!(r#"{{"dataSource":{OTHER}}}"#);
        assert_eq!(prepared(&spec, None), read("{}"));
        assert_eq!(prepared(&spec, Some("{}")), read("{}"));
        let both = read(&format!(r#"{{"dataSource":{OTHER},"dataSourceRef":{OTHER}}}"#));
        assert_eq!(prepared(&spec, Some(&spec)), both);
    }

    #[test]
    fn a_reference_to_another_namespace_is_dropped() {
        let spec = r#"{"dataSourceRef":{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"a","namespace":"b"}}"#;
        assert_eq!(prepared(spec, None), read("{}"));
        assert_eq!(prepared(spec, Some(spec)), read(spec), "it is not copied");
        let mut gates = FeatureGates::default();
        gates.set("CrossNamespaceVolumeDataSource", true);
        assert_eq!(prepared_on(Release::NEWEST.with_gates(&gates).unwrap(), spec, None), read(spec));
    }
}
