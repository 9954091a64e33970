//! CustomResourceDefinitions: decoding, defaulting, validation, conditions and published OpenAPI.
//!
//! ```text
//! Value --decode (types, unknown fields, defaults, hoisting)--> CustomResourceDefinition --encode--> Value (always v1)
//!           strategy (status, generation, warnings) · validation · conditions · openapi
//! ```
//!
//! [`CustomResourceDefinition`] is the server's internal form: fields that are the same in all versions are in the spec
//! instead of the versions ([`Spec::hoist`]). Error paths follow this form, so errors in a schema are usually under
//! `spec.validation`. [`Spec::schema`] and similar methods return the fields that apply to a version.

mod aggregate;
mod approval;
pub mod conditions;
mod decode;
mod default;
mod encode;
pub mod names_in_use;
pub mod openapi;
pub mod strategy;
pub mod validation;

pub use decode::{
    DecodeError, Decoded, NoSource, SourceText, Unknown, decode, decode_text, restore, unknown_fields,
    webhook_client_config,
};

use crate::pipeline::prune_defaults;
use crate::schema::Schema;
use crdx_text::malformed::MalformedStrings;
use crdx_value::{Map, Value};
use std::sync::Arc;

/// The API group of CRDs.
pub const GROUP: &str = "apiextensions.k8s.io";
/// The finalizer with which the server removes the objects of a deleted CRD before the CRD.
pub(crate) const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
/// The annotation required for CRDs in groups under `k8s.io` and `kubernetes.io`.
pub(crate) const API_APPROVED_ANNOTATION: &str = "api-approved.kubernetes.io";

/// A CRD in the server's internal form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CustomResourceDefinition {
    /// `metadata`, as encoded from a typed ObjectMeta.
    pub metadata: Map,
    /// `spec`
    pub spec: Spec,
    /// `status`
    pub status: Status,
    /// The strings that are not UTF-8, if the CRD was read from Protobuf.
    pub malformed: MalformedStrings,
}

/// `spec`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// `group`
    pub group: String,
    /// The name of the first version.
    pub version: String,
    /// `names`
    pub names: Names,
    /// `scope`: `Cluster` or `Namespaced`; any other value is reported by validation.
    pub scope: String,
    /// The schema, if all versions have the same.
    pub validation: Option<Validation>,
    /// The subresources, if all versions have the same.
    pub subresources: Option<Subresources>,
    /// `versions`
    pub versions: Vec<CrdVersion>,
    /// True if `versions` is present and empty; one error message distinguishes this from an absent list.
    pub versions_empty: bool,
    /// The printer columns, if all versions have the same.
    pub columns: Vec<Column>,
    /// The selectable fields (JSONPath expressions), if all versions have the same.
    pub selectable_fields: Vec<String>,
    /// `conversion`
    pub conversion: Option<Conversion>,
    /// `preserveUnknownFields`
    pub preserve_unknown_fields: Option<bool>,
}

/// `names` in spec, and `acceptedNames` in status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// `plural`
    pub plural: String,
    /// `singular`
    pub singular: String,
    /// `shortNames`
    pub short_names: Vec<String>,
    /// `kind`
    pub kind: String,
    /// `listKind`
    pub list_kind: String,
    /// `categories`
    pub categories: Vec<String>,
}

/// An entry of `versions`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrdVersion {
    /// `name`
    pub name: String,
    /// `served`
    pub served: bool,
    /// `storage`
    pub storage: bool,
    /// `deprecated`
    pub deprecated: bool,
    /// `deprecationWarning`
    pub deprecation_warning: Option<String>,
    /// `schema`, unless all versions have the same.
    pub schema: Option<Validation>,
    /// `subresources`, unless all versions have the same.
    pub subresources: Option<Subresources>,
    /// `additionalPrinterColumns`, unless all versions have the same.
    pub columns: Vec<Column>,
    /// `selectableFields` (JSONPath expressions), unless all versions have the same.
    pub selectable_fields: Vec<String>,
}

/// The `schema` of a version.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// `openAPIV3Schema`
    pub schema: Option<Arc<Schema>>,
}

impl PartialEq for Validation {
    /// A copy shares its schema, which then need not be compared.
    fn eq(&self, other: &Self) -> bool {
        match (&self.schema, &other.schema) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

/// `subresources`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subresources {
    /// True if `status` is present.
    pub status: bool,
    /// `scale`
    pub scale: Option<Scale>,
}

/// `subresources.scale`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// `specReplicasPath`
    pub spec_replicas_path: String,
    /// `statusReplicasPath`
    pub status_replicas_path: String,
    /// `labelSelectorPath`
    pub label_selector_path: Option<String>,
}

/// An entry of `additionalPrinterColumns`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// `name`
    pub name: String,
    /// `type`
    pub type_: String,
    /// `format`
    pub format: String,
    /// `description`
    pub description: String,
    /// `priority`
    pub priority: i32,
    /// `jsonPath`
    pub json_path: String,
}

/// `conversion`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// `strategy`
    pub strategy: String,
    /// `webhook.clientConfig`
    pub client_config: Option<WebhookClientConfig>,
    /// `webhook.conversionReviewVersions`
    pub review_versions: Vec<String>,
}

/// `conversion.webhook.clientConfig`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookClientConfig {
    /// `url`
    pub url: Option<String>,
    /// `service`
    pub service: Option<ServiceReference>,
    /// `caBundle`, base64-decoded.
    pub ca_bundle: Vec<u8>,
}

/// `conversion.webhook.clientConfig.service`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceReference {
    /// `namespace`
    pub namespace: String,
    /// `name`
    pub name: String,
    /// `path`
    pub path: Option<String>,
    /// `port`
    pub port: Option<i32>,
}

/// `status`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// `conditions`; `None` stands for null.
    pub conditions: Option<Vec<Condition>>,
    /// `acceptedNames`
    pub accepted_names: Names,
    /// `storedVersions`
    pub stored_versions: Vec<String>,
    /// `observedGeneration`
    pub observed_generation: i64,
}

/// An entry of `status.conditions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// `type`
    pub type_: String,
    /// `status`: `True`, `False` or `Unknown`
    pub status: String,
    /// `lastTransitionTime` in RFC 3339 format; empty stands for null.
    pub last_transition_time: String,
    /// `reason`
    pub reason: String,
    /// `message`
    pub message: String,
    /// `observedGeneration`
    pub observed_generation: i64,
}

impl CustomResourceDefinition {
    /// `metadata.name`
    pub fn name(&self) -> &str {
        self.metadata.get("name").and_then(Value::as_str).unwrap_or_default()
    }
    /// `metadata.generation`
    pub fn generation(&self) -> i64 {
        self.metadata.get("generation").and_then(Value::as_int).unwrap_or_default()
    }
    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.get("annotations")?.str_at(&[key])
    }
    /// Returns true if the status of a condition is `True`.
    pub fn is_true(&self, condition: &str) -> bool {
        self.condition(condition).is_some_and(|c| c.status == "True")
    }
    /// The condition of a type.
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        self.status.conditions.as_deref()?.iter().find(|c| c.type_ == type_)
    }
    /// The name of the storage version.
    pub fn storage_version(&self) -> Option<&str> {
        self.spec.versions.iter().find(|v| v.storage).map(|v| v.name.as_str())
    }
}

impl Spec {
    /// Returns true if the resource is namespaced.
    pub fn namespaced(&self) -> bool {
        self.scope == "Namespaced"
    }
    /// Returns true if `spec.preserveUnknownFields` is true.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }
    /// Returns true if a webhook converts objects between the versions.
    pub fn converts_by_webhook(&self) -> bool {
        self.conversion.as_ref().is_some_and(|conversion| conversion.strategy == "Webhook")
    }
    /// The version with this name.
    pub fn version(&self, name: &str) -> Option<&CrdVersion> {
        self.versions.iter().find(|v| v.name == name)
    }
    /// The `schema` field of a version.
    pub fn validation(&self, version: &str) -> Option<&Validation> {
        if self.versions.iter().any(|v| v.schema.is_some()) {
            self.version(version)?.schema.as_ref()
        } else {
            self.validation.as_ref()
        }
    }
    /// The schema of a version.
    pub fn schema(&self, version: &str) -> Option<&Arc<Schema>> {
        self.validation(version)?.schema.as_ref()
    }
    /// The subresources of a version.
    pub fn subresources(&self, version: &str) -> Option<&Subresources> {
        if self.versions.iter().any(|v| v.subresources.is_some()) {
            self.version(version)?.subresources.as_ref()
        } else {
            self.subresources.as_ref()
        }
    }
    /// The printer columns of a version; empty stands for the default columns.
    pub fn columns(&self, version: &str) -> &[Column] {
        if self.versions.iter().any(|v| !v.columns.is_empty()) {
            self.version(version).map_or(&[], |v| &v.columns)
        } else {
            &self.columns
        }
    }
    /// The selectable fields of a version.
    pub(crate) fn selectable_fields(&self, version: &str) -> &[String] {
        if self.versions.iter().any(|v| !v.selectable_fields.is_empty()) {
            self.version(version).map_or(&[], |v| &v.selectable_fields)
        } else {
            &self.selectable_fields
        }
    }

    /// The index of a version whose objects cannot be served although the CRD is accepted: a default is in `items` of
    /// the root of its schema, which no object can have. Then no version of the CRD is served (`PruneDefaults` in
    /// `pkg/apiserver/schema/defaulting/prune.go`).
    pub fn unservable_version(&self) -> Option<usize> {
        let is_unservable = |v: &CrdVersion| self.schema(&v.name).is_some_and(|s| prune_defaults::is_unservable(s));
        self.versions.iter().position(|v| !self.preserves_unknown_fields() && is_unservable(v))
    }

    /// Moves the schema, subresources, printer columns and selectable fields from the versions to the spec where all
    /// versions have the same, each independently, as the conversion from v1 does (`v1/conversion.go`).
    pub(crate) fn hoist(&mut self) {
        fn common<T: Clone + PartialEq + Default>(
            versions: &mut [CrdVersion],
            part: impl Fn(&mut CrdVersion) -> &mut T,
        ) -> Option<T> {
            let (first, rest) = versions.split_first_mut()?;
            let value = part(first);
            if !rest.iter_mut().all(|v| part(v) == value) {
                return None;
            }
            let value = std::mem::take(value);
            for v in rest {
                *part(v) = T::default();
            }
            Some(value)
        }
        let Some(first) = self.versions.first() else { return };
        self.version = first.name.clone();
        if let Some(value) = common(&mut self.versions, |v| &mut v.subresources) {
            self.subresources = value;
        }
        if let Some(value) = common(&mut self.versions, |v| &mut v.schema) {
            self.validation = value;
        }
        if let Some(value) = common(&mut self.versions, |v| &mut v.columns) {
            self.columns = value;
        }
        if let Some(value) = common(&mut self.versions, |v| &mut v.selectable_fields) {
            self.selectable_fields = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::names_in_use::NamesInUse;
    use super::*;
    use crdx_value::json;
    use crdx_value::release::Release;

    pub fn read(text: &str) -> Value {
        crdx_text::json::read(text.as_bytes()).unwrap()
    }

    const GIZMO: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gizmos.lab.example.io", "labels": {}, "annotations": null},
        "spec": {"group": "lab.example.io", "scope": "Namespaced", "names": {"plural": "gizmos", "kind": "Gizmo"},
          "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "items": 5}}},
            {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "items": 5}},
             "subresources": {"status": {}}}]}}"#;

    #[test]
    fn decoding_sets_defaults_and_hoists_shared_fields() {
        let decoded = decode(&read(GIZMO)).unwrap();
        assert_eq!(decoded.unknown, Vec::<String>::new());
        let spec = &decoded.crd.spec;
        assert!(spec.validation.is_some() && spec.versions.iter().all(|v| v.schema.is_none()));
        assert!(spec.subresources.is_none());
        assert!(spec.subresources("v1").is_none() && spec.subresources("v2").is_some_and(|s| s.status));
        assert!(spec.schema("v2").is_some());
        let written = decoded.crd.to_value();
        assert_eq!(
            json::to_string(&written),
            concat!(
                r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gizmos.lab.example.io"},"#,
                r#""spec":{"conversion":{"strategy":"None"},"group":"lab.example.io","names":{"kind":"Gizmo","listKind":"GizmoList","plural":"gizmos","singular":"gizmo"},"#,
                r#""scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true},"#,
                r#"{"name":"v2","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":false,"subresources":{"status":{}}}]},"#,
                r#""status":{"acceptedNames":{"kind":"","plural":""},"conditions":null,"storedVersions":["v1"]}}"#
            )
        );
    }

    #[test]
    fn wrong_types_have_gos_messages() {
        for (text, error) in [
            ("[]", "json: cannot unmarshal array into Go value of type v1.CustomResourceDefinition"),
            (
                r#"{"spec": {"versions": "v1"}}"#,
                "json: cannot unmarshal string into Go struct field CustomResourceDefinitionSpec.spec.versions of type []v1.CustomResourceDefinitionVersion",
            ),
            (
                r#"{"spec": {"versions": [{"schema": {"openAPIV3Schema": {"properties": {"a": {"maxLength": 1.5}}}}}]}}"#,
                "json: cannot unmarshal number 1.5 into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.maxLength of type int64",
            ),
            (
                r#"{"spec": {"versions": [{"schema": {"openAPIV3Schema": {"items": {"additionalProperties": {"type": 1}}}}}]}}"#,
                "json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.additionalProperties.type of type string",
            ),
            (
                r#"{"spec": {"versions": [{"schema": {"openAPIV3Schema": {"additionalProperties": 1, "title": 1}}}]}}"#,
                "boolean or JSON schema expected",
            ),
        ] {
            assert_eq!(decode(&read(text)).unwrap_err().message, error, "{text}");
        }
    }

    #[test]
    fn unknown_fields_are_reported_with_keys_and_indexes() {
        let text = r#"{"spec": {"foo": 1, "versions": [{"x": 1, "schema": {"openAPIV3Schema": {"properties": {"a.b": {"y": 1}}, "items": {"z": 1}}}}]}}"#;
        let unknown = decode(&read(text)).unwrap().unknown;
        let expected = ["spec.foo", "spec.versions[0].schema.openAPIV3Schema.properties.a.b.y", "spec.versions[0].x"];
        assert_eq!(unknown, expected);
        assert_eq!(unknown[0], "spec.foo");
    }

    const TAB: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.lab.example.io"},
        "spec": {"group": "lab.example.io", "version": "v1", "names": {"plural": "tabs", "kind": "Tab"},
          "subresources": {"status": {}},
          "additionalPrinterColumns": [{"name": "Spec", "type": "string", "JSONPath": ".spec.cronSpec"}],
          "validation": {"openAPIV3Schema": {"properties": {"spec": {"properties": {"cronSpec": {"type": "string"}}}}}}}}"#;

    #[test]
    fn v1beta1_is_converted_and_keeps_its_relaxations() {
        let decoded = decode(&read(TAB)).unwrap();
        assert_eq!(decoded.unknown, Vec::<String>::new());
        let mut crd = decoded.crd;
        assert!(crd.spec.preserves_unknown_fields() && crd.spec.namespaced());
        assert_eq!(crd.spec.columns("v1")[0].json_path, ".spec.cronSpec");
        assert_eq!(validation::validate_existing(&crd, crdx_value::release::Release::NEWEST), Vec::new());
        conditions::check_structure(&mut crd, crdx_value::release::Release::NEWEST, "2026-01-01T00:00:00Z");
        let condition = crd.condition("NonStructuralSchema").unwrap();
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("True", "Violations"));
        // `calculateCondition` in controller/nonstructuralschema
        assert_eq!(
            condition.message,
            "[spec.preserveUnknownFields: Invalid value: true: must be false, \
             spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields, \
             spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]"
        );
        let written = crd.to_value();
        let version = written.at(&["spec", "versions"]).and_then(Value::as_array).unwrap()[0].clone();
        assert!(version.at(&["schema", "openAPIV3Schema", "properties", "spec"]).is_some());
        assert!(version.at(&["subresources", "status"]).is_some());
        // Decoding an encoded CRD gives the same CRD.
        assert_eq!(decode(&written).map(|d| d.crd.to_value()), Ok(written));
    }

    #[test]
    fn an_invalid_ca_bundle_keeps_a_crd_from_being_served_since_1_31() {
        let conversion = r#"{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://a","caBundle":"YQ=="},
            "conversionReviewVersions":["v1"]}}"#;
        let mut value = read(GIZMO);
        value.insert_at(&["spec", "conversion"], read(conversion));
        let mut crd = decode(&value).unwrap().crd;
        conditions::accept_names(&mut crd, &NamesInUse::default(), "2026-01-01T00:00:00Z");
        for (minor, is_established) in [(30, true), (31, false), (37, false)] {
            let mut crd = crd.clone();
            conditions::establish(&mut crd, Release::new(minor).unwrap(), "2026-01-01T00:00:00Z");
            assert_eq!(crd.is_true("Established"), is_established, "{minor}");
        }
    }

    #[test]
    fn names_are_accepted_unless_another_crd_has_them() {
        let mut first = decode(&read(GIZMO)).unwrap().crd;
        conditions::accept_names(&mut first, &NamesInUse::default(), "2026-01-01T00:00:00Z");
        assert!(!first.is_true("Established") && first.is_true("NamesAccepted"));
        conditions::establish(&mut first, Release::NEWEST, "2026-01-01T00:00:00Z");
        assert!(first.is_true("Established") && first.is_true("NamesAccepted"));
        let before = first.status.clone();
        conditions::accept_names(&mut first, &NamesInUse::default(), "2026-01-02T00:00:00Z");
        conditions::establish(&mut first, Release::NEWEST, "2026-01-02T00:00:00Z");
        assert!(first.status == before);

        let in_use = |crd: &CustomResourceDefinition| {
            let mut names = NamesInUse::default();
            names.set(crd);
            names
        };
        let mut second = decode(&read(&GIZMO.replace("gizmos", "gizmoz"))).unwrap().crd;
        conditions::accept_names(&mut second, &in_use(&first), "2026-01-01T00:00:00Z");
        let naming = second.condition("NamesAccepted").unwrap();
        assert_eq!(
            (naming.reason.as_str(), naming.message.as_str()),
            ("ListKindConflict", "\"GizmoList\" is already in use")
        );
        assert_eq!(second.status.accepted_names.plural, "gizmoz");
        assert!(!second.is_true("Established"));

        // A CRD that has names already conflicts with itself.
        first.status.accepted_names.short_names = vec!["taken".to_owned()];
        let mut third = decode(&read(&GIZMO.replace("gizmos", "widgets").replace("Gizmo", "Widget"))).unwrap().crd;
        third.spec.names.short_names = vec!["widgets".to_owned(), "taken".to_owned()];
        conditions::accept_names(&mut third, &in_use(&first), "2026-01-01T00:00:00Z");
        let message = &third.condition("NamesAccepted").unwrap().message;
        assert_eq!(message, r#"["widgets" is already in use, "taken" is already in use]"#);
    }
}
