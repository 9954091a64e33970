//! Selects the CRDs with which a suite is run: files may contain variants of one CRD, for example for feature sets.

use super::suite::Suite;
use crate::single_version::single_version;
use crdx_value::Value;
use std::sync::Arc;

/// The annotation with the feature sets of a CRD, separated by commas.
const FEATURE_SET: &str = "release.openshift.io/feature-set";
/// The feature set that enables every feature gate.
const EVERY_GATE: &str = "CustomNoUpgrade";
/// Annotations with this prefix and the value `true` name the cluster profiles that include the CRD.
const CLUSTER_PROFILE: &str = "include.release.openshift.io/";

/// A CRD and its file.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The path of the file.
    pub source: Arc<str>,
    /// The CRD.
    pub definition: Arc<Value>,
}

impl Variant {
    /// `metadata.name`
    pub fn name(&self) -> &str {
        self.definition.str_at(&["metadata", "name"]).unwrap_or_default()
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.definition.str_at(&["metadata", "annotations", key])
    }

    /// Returns true if an annotation is `value`, or a list separated by commas that contains it.
    pub fn is_annotated(&self, key: &str, value: &str) -> bool {
        self.annotation(key).is_some_and(|text| text == value || text.split(',').any(|item| item.trim() == value))
    }

    /// Returns true if a suite with these feature gates runs on this variant (`tests/crd_filter.go`). The gates of
    /// feature sets other than [`EVERY_GATE`] are defined in files of a release payload, which are not read: such a
    /// variant is skipped.
    pub fn has_gates(&self, gates: &[String]) -> bool {
        if gates.is_empty() {
            return true;
        }
        if self.is_annotated(FEATURE_SET, EVERY_GATE) {
            return !gates.iter().any(|gate| gate.starts_with('-'));
        }
        let annotations = self.definition.at(&["metadata", "annotations"]).and_then(Value::as_object);
        let profiles = annotations.into_iter().flatten().filter(|(key, _)| key.starts_with(CLUSTER_PROFILE));
        self.annotation(FEATURE_SET).is_none() && !profiles.into_iter().any(|(_, value)| value.as_str() == Some("true"))
    }

    /// Returns the version of a CRD that has only one.
    pub(crate) fn only_version(&self) -> Option<String> {
        let versions = self.definition.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
        if let [only] = versions { only.str_at(&["name"]).map(str::to_owned) } else { None }
    }

    /// Returns `Kind.group` of the objects.
    pub fn kind(&self) -> String {
        let text = |path: &[&str]| self.definition.str_at(path).unwrap_or_default();
        format!("{}.{}", text(&["spec", "names", "kind"]), text(&["spec", "group"]))
    }

    /// Returns the CRD with `version` only, served and stored (`loadVersionedCRD`).
    pub fn reduced(&self, version: &str) -> Option<Value> {
        single_version(self.installable(), version)
    }

    /// Returns the CRD without the fields that a server writes: the file may be an export from a cluster.
    pub fn installable(&self) -> Value {
        let mut crd = Value::clone(&self.definition);
        if let Some(members) = crd.as_object_mut() {
            members.remove("status");
        }
        if let Some(metadata) = crd.get_mut("metadata").and_then(Value::as_object_mut) {
            for key in ["creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"] {
                metadata.remove(key);
            }
        }
        crd
    }
}

/// The reason why the version to test is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The suite names none, and the CRD has several.
    #[error("the CRD has several versions: name one of them with `version` in the suite")]
    Several,
    /// There is no CRD.
    #[error("there is no CRD")]
    NoCrd,
}

/// Returns the version that a suite tests: its own, or the only one of all variants (`getSuiteSpecTestVersion`).
///
/// # Errors
/// Returns an error if the variants have several versions and the suite names none.
pub fn version(suite: &Suite, variants: &[&Variant]) -> Result<String, VersionError> {
    if let Some(version) = &suite.version {
        return Ok(version.clone());
    }
    let mut version = None;
    for variant in variants {
        let found = variant.only_version().filter(|only| version.as_ref().is_none_or(|seen| seen == only));
        version = Some(found.ok_or(VersionError::Several)?);
    }
    version.ok_or(VersionError::NoCrd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    fn variant(annotations: &str) -> Variant {
        let text = format!(
            "metadata: {{name: a.b, annotations: {annotations}}}\nspec: {{versions: [{{name: v1, storage: true}}, {{name: v2, served: false}}]}}\nstatus: {{}}"
        );
        Variant { source: "x".into(), definition: Arc::new(yaml::read(text.as_bytes()).unwrap()) }
    }

    #[test]
    fn feature_gates_select_variants() {
        let gates = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let custom = variant(
            "{release.openshift.io/feature-set: 'DevPreviewNoUpgrade,CustomNoUpgrade', include.release.openshift.io/x: 'true'}",
        );
        assert_eq!(
            [custom.has_gates(&[]), custom.has_gates(&gates("A B")), custom.has_gates(&gates("A -B"))],
            [true, true, false]
        );
        let default = variant("{release.openshift.io/feature-set: Default, include.release.openshift.io/x: 'true'}");
        assert_eq!([default.has_gates(&[]), default.has_gates(&gates("A"))], [true, false]);
        assert!(variant("{a: b}").has_gates(&gates("A")), "a CRD of no payload runs with every suite");
        assert!(
            custom.is_annotated(FEATURE_SET, "DevPreviewNoUpgrade") && !custom.is_annotated(FEATURE_SET, "Default")
        );
    }

    #[test]
    fn a_crd_is_reduced_to_a_version() {
        let crd = variant("{}").reduced("v2").unwrap();
        let want = yaml::read(
            b"metadata: {name: a.b, annotations: {}}\nspec: {versions: [{name: v2, served: true, storage: true}]}",
        )
        .unwrap();
        assert_eq!(crd, want);
        assert_eq!((variant("{}").reduced("v3"), variant("{}").only_version()), (None, None));
    }
}
