//! Encodes a CRD as in the server's responses: always `apiextensions.k8s.io/v1`, with the shared fields repeated in
//! every version.

use super::{
    Column, Condition, Conversion, CrdVersion, CustomResourceDefinition, Names, Scale, Spec, Status, Subresources,
};
use crdx_value::base64::Encoding;
use crdx_value::{Map, Value, object};
use std::sync::Arc;

impl CustomResourceDefinition {
    /// Encodes the CRD.
    pub fn to_value(&self) -> Value {
        object([
            ("apiVersion", Value::from("apiextensions.k8s.io/v1")),
            ("kind", Value::from("CustomResourceDefinition")),
            ("metadata", Value::Object(self.metadata.clone())),
            ("spec", self.spec.to_value()),
            ("status", self.status.to_value()),
        ])
    }
}

impl Spec {
    /// Encodes `spec`.
    pub fn to_value(&self) -> Value {
        let mut versions = self.versions.clone();
        for v in &mut versions {
            if self.subresources.is_some() {
                v.subresources.clone_from(&self.subresources);
            }
            if self.validation.is_some() {
                v.schema.clone_from(&self.validation);
            }
            if !self.columns.is_empty() {
                v.columns.clone_from(&self.columns);
            }
            if !self.selectable_fields.is_empty() {
                v.selectable_fields.clone_from(&self.selectable_fields);
            }
        }
        let mut spec = Map::new();
        spec.insert("group".to_owned(), Value::from(self.group.as_str()));
        spec.insert("names".to_owned(), self.names.to_value());
        spec.insert("scope".to_owned(), Value::from(self.scope.as_str()));
        let versions = encode_versions(&versions);
        // Go encodes an absent list as null, which the message about its storage version then shows.
        let is_absent = versions.is_empty() && !self.versions_empty;
        spec.insert("versions".to_owned(), if is_absent { Value::Null } else { Value::Array(versions) });
        if let Some(c) = &self.conversion {
            spec.insert("conversion".to_owned(), conversion(c));
        }
        if self.preserves_unknown_fields() {
            spec.insert("preserveUnknownFields".to_owned(), Value::Bool(true));
        }
        Value::Object(spec)
    }
}

impl Names {
    /// Encodes `names`.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("plural".to_owned(), Value::from(self.plural.as_str()));
        text(&mut out, "singular", &self.singular);
        list(&mut out, "shortNames", &self.short_names);
        out.insert("kind".to_owned(), Value::from(self.kind.as_str()));
        text(&mut out, "listKind", &self.list_kind);
        list(&mut out, "categories", &self.categories);
        Value::Object(out)
    }
}

impl Status {
    /// Encodes `status`.
    pub fn to_value(&self) -> Value {
        let conditions =
            self.conditions.as_ref().map_or(Value::Null, |c| Value::Array(c.iter().map(condition).collect()));
        let stored = match self.stored_versions.as_slice() {
            [] => Value::Null,
            versions => texts(versions),
        };
        let mut out = Map::from([
            ("conditions".to_owned(), conditions),
            ("acceptedNames".to_owned(), self.accepted_names.to_value()),
            ("storedVersions".to_owned(), stored),
        ]);
        if self.observed_generation != 0 {
            out.insert("observedGeneration".to_owned(), Value::Int(self.observed_generation));
        }
        Value::Object(out)
    }
}

fn text(out: &mut Map, key: &str, text: &str) {
    if !text.is_empty() {
        out.insert(key.to_owned(), Value::from(text));
    }
}

fn texts(items: &[String]) -> Value {
    Value::Array(items.iter().map(|s| Value::from(s.as_str())).collect())
}

fn list(out: &mut Map, key: &str, items: &[String]) {
    if !items.is_empty() {
        out.insert(key.to_owned(), texts(items));
    }
}

/// Encodes the versions. One that shares the schema of the version before it gets a copy of what is written there.
fn encode_versions(versions: &[CrdVersion]) -> Vec<Value> {
    let schema = |v: &CrdVersion| v.schema.as_ref().and_then(|validation| validation.schema.clone());
    let mut written: Vec<Value> = Vec::with_capacity(versions.len());
    let mut before = None;
    for v in versions {
        let own = schema(v);
        let encoded = own.as_ref().map(|schema| match (&before, written.last()) {
            (Some(before), Some(last)) if Arc::ptr_eq(before, schema) => {
                last.at(&["schema", "openAPIV3Schema"]).cloned().unwrap_or_default()
            }
            _ => schema.to_value(),
        });
        written.push(version(v, encoded));
        before = own;
    }
    written
}

/// Encodes a version with its encoded schema.
fn version(v: &CrdVersion, schema: Option<Value>) -> Value {
    let mut out = Map::from([
        ("name".to_owned(), Value::from(v.name.as_str())),
        ("served".to_owned(), Value::Bool(v.served)),
        ("storage".to_owned(), Value::Bool(v.storage)),
    ]);
    if v.deprecated {
        out.insert("deprecated".to_owned(), Value::Bool(true));
    }
    if let Some(warning) = &v.deprecation_warning {
        out.insert("deprecationWarning".to_owned(), Value::from(warning.as_str()));
    }
    if v.schema.is_some() {
        let validation = schema.map(|schema| ("openAPIV3Schema".to_owned(), schema));
        out.insert("schema".to_owned(), Value::Object(validation.into_iter().collect()));
    }
    if let Some(s) = &v.subresources {
        out.insert("subresources".to_owned(), subresources(s));
    }
    if !v.columns.is_empty() {
        out.insert("additionalPrinterColumns".to_owned(), Value::Array(v.columns.iter().map(column).collect()));
    }
    if !v.selectable_fields.is_empty() {
        let field = |path: &String| object([("jsonPath", path.as_str())]);
        out.insert("selectableFields".to_owned(), Value::Array(v.selectable_fields.iter().map(field).collect()));
    }
    Value::Object(out)
}

fn subresources(s: &Subresources) -> Value {
    let mut out = Map::new();
    if s.status {
        out.insert("status".to_owned(), Value::Object(Map::new()));
    }
    if let Some(Scale { spec_replicas_path, status_replicas_path, label_selector_path }) = &s.scale {
        let mut scale = Map::from([
            ("specReplicasPath".to_owned(), Value::from(spec_replicas_path.as_str())),
            ("statusReplicasPath".to_owned(), Value::from(status_replicas_path.as_str())),
        ]);
        if let Some(path) = label_selector_path {
            scale.insert("labelSelectorPath".to_owned(), Value::from(path.as_str()));
        }
        out.insert("scale".to_owned(), Value::Object(scale));
    }
    Value::Object(out)
}

fn column(c: &Column) -> Value {
    let mut out = Map::from([
        ("name".to_owned(), Value::from(c.name.as_str())),
        ("type".to_owned(), Value::from(c.type_.as_str())),
        ("jsonPath".to_owned(), Value::from(c.json_path.as_str())),
    ]);
    text(&mut out, "format", &c.format);
    text(&mut out, "description", &c.description);
    if c.priority != 0 {
        out.insert("priority".to_owned(), Value::Int(c.priority.into()));
    }
    Value::Object(out)
}

fn conversion(c: &Conversion) -> Value {
    let mut out = Map::from([("strategy".to_owned(), Value::from(c.strategy.as_str()))]);
    if c.client_config.is_some() || !c.review_versions.is_empty() {
        let versions = if c.review_versions.is_empty() { Value::Null } else { texts(&c.review_versions) };
        let mut webhook = Map::from([("conversionReviewVersions".to_owned(), versions)]);
        if let Some(config) = &c.client_config {
            let mut client = Map::new();
            if let Some(url) = &config.url {
                client.insert("url".to_owned(), Value::from(url.as_str()));
            }
            if let Some(s) = &config.service {
                let mut service = Map::from([
                    ("namespace".to_owned(), Value::from(s.namespace.as_str())),
                    ("name".to_owned(), Value::from(s.name.as_str())),
                ]);
                if let Some(path) = &s.path {
                    service.insert("path".to_owned(), Value::from(path.as_str()));
                }
                if let Some(port) = s.port {
                    service.insert("port".to_owned(), Value::Int(port.into()));
                }
                client.insert("service".to_owned(), Value::Object(service));
            }
            text(&mut client, "caBundle", &Encoding::Standard.encode(&config.ca_bundle));
            webhook.insert("clientConfig".to_owned(), Value::Object(client));
        }
        out.insert("webhook".to_owned(), Value::Object(webhook));
    }
    Value::Object(out)
}

fn condition(c: &Condition) -> Value {
    let time =
        if c.last_transition_time.is_empty() { Value::Null } else { Value::from(c.last_transition_time.as_str()) };
    let mut out = Map::from([
        ("type".to_owned(), Value::from(c.type_.as_str())),
        ("status".to_owned(), Value::from(c.status.as_str())),
        ("lastTransitionTime".to_owned(), time),
    ]);
    text(&mut out, "reason", &c.reason);
    text(&mut out, "message", &c.message);
    if c.observed_generation != 0 {
        out.insert("observedGeneration".to_owned(), Value::Int(c.observed_generation));
    }
    Value::Object(out)
}
