//! The fields that are lost between the served versions of a CRD whose objects are converted without a webhook: the server sets
//! only `apiVersion`, and prunes what the schema of the version does not have.

use crate::schema_steps::{SchemaStep, schema_path, value_path};
use crate::search::round_trip::pruned::missing;
use crdx_server::crd::Spec;

/// A field that one version has and the other one prunes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostField {
    /// The path of the field in the CRD.
    pub crd_field: String,
    /// A description.
    pub message: String,
}

/// Returns the fields of each served version that are lost when its objects are stored, and those of the storage version that are
/// lost when a client reads an object in another version and writes it back.
pub fn lost_fields(spec: &Spec) -> Vec<LostField> {
    let mut found = Vec::new();
    let Some(storage) = spec.versions.iter().position(|version| version.storage) else { return found };
    let name = |index: usize| spec.versions.get(index).map(|version| version.name.as_str()).unwrap_or_default();
    let Some(stored) = spec.schema(name(storage)) else { return found };
    if spec.converts_by_webhook() || spec.preserves_unknown_fields() {
        return found;
    }
    let served = spec.versions.iter().enumerate().filter(|(_, version)| version.served && !version.storage);
    for (index, version) in served {
        let Some(own) = spec.schema(&version.name) else { continue };
        let mut add = |index: usize, steps: &[SchemaStep], what: String| {
            let crd_field = format!("spec.versions[{index}].schema.openAPIV3Schema{}", schema_path(steps));
            found.push(LostField { crd_field, message: format!("{}: {what}", value_path(steps)) });
        };
        let (stored_as, read_as) = (name(storage), &version.name);
        for steps in missing(own, stored) {
            add(
                index,
                &steps,
                format!("is lost when an object of {read_as} is stored as {stored_as}, which does not have it"),
            );
        }
        for steps in missing(stored, own) {
            let what = format!(
                "is lost when a client reads an object as {read_as}, which does not have it, and writes it back"
            );
            add(storage, &steps, what);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::kites;
    use crdx_server::crd;
    use crdx_value::Value;

    fn crd(first: &str, second: &str) -> Value {
        let version = |name: &str, storage: bool, spec: &str| {
            format!(
                "{{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}}}"
            )
        };
        let mut crd = kites("        {type: object}");
        let versions = format!("[{}, {}]", version("v1", true, first), version("v1beta1", false, second));
        let versions = crdx_text::yaml::read(versions.as_bytes()).unwrap();
        crd.get_mut("spec").unwrap().as_object_mut().unwrap().insert("versions".to_owned(), versions);
        crd
    }

    fn lost(first: &str, second: &str) -> Vec<String> {
        let found = lost_fields(&crd::decode(&crd(first, second)).unwrap().crd.spec);
        found.into_iter().map(|one| one.crd_field.replace("schema.openAPIV3Schema.properties[spec]", "")).collect()
    }

    #[test]
    fn fields_of_one_version_only_are_lost() {
        let first = "{type: object, properties: {a: {type: string}, list: {type: array, items: {type: object, properties: {own: {type: string}}}}}}";
        let second = "{type: object, properties: {b: {type: string}, list: {type: array, items: {type: object, properties: {other: {type: string}}}}}}";
        assert_eq!(
            lost(first, second),
            [
                "spec.versions[1]..properties[b]",
                "spec.versions[1]..properties[list].items.properties[other]",
                "spec.versions[0]..properties[a]",
                "spec.versions[0]..properties[list].items.properties[own]",
            ]
        );
        assert_eq!(lost(first, first), [""; 0]);
    }

    #[test]
    fn preserved_fields_are_not_lost() {
        let open = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
        assert_eq!(
            lost(open, "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string}}}"),
            [""; 0]
        );
    }

    #[test]
    fn a_webhook_may_keep_every_field() {
        let mut crd = crd("{type: object}", "{type: object, properties: {b: {type: string}}}");
        assert_eq!(lost_fields(&crd::decode(&crd).unwrap().crd.spec).len(), 1);
        let conversion =
            "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a'}}}";
        let conversion = crdx_text::yaml::read(conversion.as_bytes()).unwrap();
        crd.get_mut("spec").unwrap().as_object_mut().unwrap().insert("conversion".to_owned(), conversion);
        assert_eq!(lost_fields(&crd::decode(&crd).unwrap().crd.spec), []);
    }
}
