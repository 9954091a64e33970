//! The built-in kinds that admission needs: policies, their bindings, webhook configurations and config maps.
//!
//! Like namespaces, they are compiled from internal CRDs, so reads, writes, tables and watches work as for custom
//! resources. This module has the behaviour that is specific to these kinds.

use super::built_in::BuiltIn;
use super::custom_resource::serving::Serving;
use crate::crd;
use crate::field::ErrorList;
use crate::policies::validation;
use crate::release::Release;
use crate::server::Server;
use crate::server::registry::metadata;
use crate::server::registry::store::Collection;
use crate::text::json;
use crate::value::{Map, Value, object};
use std::sync::{Arc, PoisonError};

/// The API group of admission policies.
pub(in crate::server) const ADMISSION: &str = crate::policies::GROUP;

/// A built-in kind.
#[derive(Debug)]
struct Kind {
    group: &'static str,
    plural: &'static str,
    name: &'static str,
    scope: &'static str,
    short_names: &'static [&'static str],
    /// The properties other than metadata, as JSON; [`fill`] replaces upper-case names by the parts of the schemas.
    properties: &'static str,
    /// True to validate policies and bindings as a real API server does.
    validated: bool,
}

static KINDS: [Kind; 7] = kinds(false);
static VALIDATED_KINDS: [Kind; 7] = kinds(true);

const fn kinds(validated: bool) -> [Kind; 7] {
    [
        Kind {
            group: "",
            plural: "configmaps",
            name: "ConfigMap",
            scope: "Namespaced",
            short_names: &["cm"],
            properties: r#"{"data":TEXTS,"binaryData":TEXTS,"immutable":{"type":"boolean"}}"#,
            validated,
        },
        Kind {
            group: ADMISSION,
            plural: "validatingadmissionpolicies",
            name: "ValidatingAdmissionPolicy",
            scope: "Cluster",
            short_names: &[],
            properties: r#"{"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"spec":{"type":"object","properties":{
            POLICY,
            "validations":{"type":"array","items":{"type":"object","properties":{"expression":TEXT,"message":TEXT,"reason":TEXT,"messageExpression":TEXT}}},
            "auditAnnotations":{"type":"array","items":{"type":"object","properties":{"key":TEXT,"valueExpression":TEXT}}}}}}"#,
            validated,
        },
        Kind {
            group: ADMISSION,
            plural: "validatingadmissionpolicybindings",
            name: "ValidatingAdmissionPolicyBinding",
            scope: "Cluster",
            short_names: &[],
            properties: r#"{"spec":{"type":"object","properties":{BINDING,"validationActions":{"type":"array","items":TEXT}}}}"#,
            validated,
        },
        Kind {
            group: ADMISSION,
            plural: "mutatingadmissionpolicies",
            name: "MutatingAdmissionPolicy",
            scope: "Cluster",
            short_names: &[],
            properties: r#"{"spec":{"type":"object","properties":{
            POLICY,
            "mutations":{"type":"array","items":{"type":"object","properties":{"patchType":TEXT,"applyConfiguration":EXPRESSION,"jsonPatch":EXPRESSION}}},
            "reinvocationPolicy":TEXT}}}"#,
            validated,
        },
        Kind {
            group: ADMISSION,
            plural: "mutatingadmissionpolicybindings",
            name: "MutatingAdmissionPolicyBinding",
            scope: "Cluster",
            short_names: &[],
            properties: r#"{"spec":{"type":"object","properties":{BINDING}}}"#,
            validated,
        },
        Kind {
            group: ADMISSION,
            plural: "validatingwebhookconfigurations",
            name: "ValidatingWebhookConfiguration",
            scope: "Cluster",
            short_names: &[],
            properties: r#"{"webhooks":{"type":"array","items":{"type":"object","properties":{WEBHOOK}}}}"#,
            validated,
        },
        Kind {
            group: ADMISSION,
            plural: "mutatingwebhookconfigurations",
            name: "MutatingWebhookConfiguration",
            scope: "Cluster",
            short_names: &[],
            properties: r#"{"webhooks":{"type":"array","items":{"type":"object","properties":{WEBHOOK,
            "reinvocationPolicy":{"type":"string","default":"Never"}}}}}"#,
            validated,
        },
    ]
}

/// Named parts of the schemas; each may refer to parts after it.
const PARTS: [(&str, &str); 12] = [
    (
        "POLICY",
        r#""paramKind":{"type":"object","properties":{"apiVersion":TEXT,"kind":TEXT}},
        "matchConstraints":MATCH,
        "failurePolicy":{"type":"string","default":"Fail"},
        "matchConditions":{"type":"array","items":{"type":"object","properties":{"name":TEXT,"expression":TEXT}}},
        "variables":{"type":"array","items":{"type":"object","properties":{"name":TEXT,"expression":TEXT}}}"#,
    ),
    (
        "BINDING",
        r#""policyName":TEXT,
        "paramRef":{"type":"object","properties":{"name":TEXT,"namespace":TEXT,"selector":SELECTOR,"parameterNotFoundAction":TEXT}},
        "matchResources":MATCH"#,
    ),
    (
        "WEBHOOK",
        r#""name":TEXT,
        "clientConfig":{"type":"object","properties":{"url":TEXT,"caBundle":{"type":"string","format":"byte"},
        "service":{"type":"object","properties":{"namespace":TEXT,"name":TEXT,"path":TEXT,
        "port":{"type":"integer","format":"int32","default":443}}}}},
        "rules":{"type":"array","items":{"type":"object","properties":{"operations":LIST,"apiGroups":LIST,"apiVersions":LIST,
        "resources":LIST,"scope":{"type":"string","default":"*"}}}},
        "failurePolicy":{"type":"string","default":"Fail"},
        "matchPolicy":{"type":"string","default":"Equivalent"},
        "namespaceSelector":DEFAULT_SELECTOR,
        "objectSelector":DEFAULT_SELECTOR,
        "sideEffects":TEXT,
        "timeoutSeconds":{"type":"integer","format":"int32","default":10},
        "admissionReviewVersions":LIST,
        "matchConditions":{"type":"array","items":{"type":"object","properties":{"name":TEXT,"expression":TEXT}}}"#,
    ),
    (
        "MATCH",
        r#"{"type":"object","properties":{"namespaceSelector":DEFAULT_SELECTOR,"objectSelector":DEFAULT_SELECTOR,
        "resourceRules":RULES,"excludeResourceRules":RULES,"matchPolicy":{"type":"string","default":"Equivalent"}}}"#,
    ),
    (
        "RULES",
        r#"{"type":"array","items":{"type":"object","properties":{"resourceNames":LIST,"operations":LIST,"apiGroups":LIST,
        "apiVersions":LIST,"resources":LIST,"scope":{"type":"string","default":"*"}}}}"#,
    ),
    ("DEFAULT_SELECTOR", r#"{"type":"object","default":{},"properties":SELECTED}"#),
    ("SELECTOR", r#"{"type":"object","properties":SELECTED}"#),
    (
        "SELECTED",
        r#"{"matchLabels":TEXTS,"matchExpressions":{"type":"array","items":{"type":"object","properties":{"key":TEXT,
        "operator":TEXT,"values":LIST}}}}"#,
    ),
    ("EXPRESSION", r#"{"type":"object","properties":{"expression":TEXT}}"#),
    ("LIST", r#"{"type":"array","items":TEXT}"#),
    ("TEXTS", r#"{"type":"object","additionalProperties":TEXT}"#),
    ("TEXT", r#"{"type":"string"}"#),
];

fn fill(properties: &str) -> String {
    PARTS.iter().fold(properties.to_owned(), |text, (name, part)| text.replace(name, part))
}

impl Kind {
    fn full_name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    fn definition(&self) -> Option<crd::CustomResourceDefinition> {
        let properties = json::read(fill(self.properties).as_bytes()).ok()?;
        let short_names: Vec<Value> = self.short_names.iter().map(|name| Value::from(*name)).collect();
        let names = object([
            ("plural", Value::from(self.plural)),
            ("singular", self.name.to_lowercase().into()),
            ("kind", self.name.into()),
            ("listKind", format!("{}List", self.name).into()),
            ("shortNames", short_names.into()),
        ]);
        let condition = |type_: &str| object([("type", type_), ("status", "True")]);
        let schema = object([("type", Value::from("object")), ("properties", properties)]);
        let version = object([
            ("name", Value::from("v1")),
            ("served", true.into()),
            ("storage", true.into()),
            ("schema", object([("openAPIV3Schema", schema)])),
        ]);
        let spec = object([
            ("group", Value::from(self.group)),
            ("scope", self.scope.into()),
            ("names", names.clone()),
            ("versions", vec![version].into()),
        ]);
        let conditions = vec![condition("NamesAccepted"), condition("Established")];
        let status = object([("acceptedNames", names), ("conditions", conditions.into())]);
        let definition = object([
            ("apiVersion", Value::from("apiextensions.k8s.io/v1")),
            ("kind", "CustomResourceDefinition".into()),
            ("metadata", object([("name", self.full_name())])),
            ("spec", spec),
            ("status", status),
        ]);
        crd::decode(&definition).ok().map(|decoded| decoded.crd)
    }
}

impl Server {
    /// Adds policies, bindings and config maps to the served resources.
    pub(in crate::server) fn serve_admission_kinds(&mut self) {
        for kind in &KINDS {
            let Some(definition) = kind.definition() else { continue };
            let objects = Collection::new(&kind.full_name(), &self.storage_config, self.revision.current());
            let serving = Serving::compile(Arc::new(definition), Arc::new(objects), self.release()).built_in(kind);
            let all = self.serving.get_mut().unwrap_or_else(PoisonError::into_inner);
            all.insert(kind.full_name(), Arc::new(serving));
        }
    }
}

impl Server {
    /// Rejects policies and bindings that a real API server rejects, such as policies whose expressions do not compile;
    /// without this, the server stores them. Objects that are already stored are kept.
    #[must_use]
    pub fn validate_policies(mut self) -> Self {
        let all = self.serving.get_mut().unwrap_or_else(PoisonError::into_inner);
        for kind in &VALIDATED_KINDS {
            if let Some(serving) = all.get_mut(&kind.full_name()) {
                *serving = Arc::new(serving.with_definition(Arc::clone(&serving.crd)).built_in(kind));
            }
        }
        self
    }
}

/// Returns true for the group of policies and bindings, which policies do not apply to.
pub(in crate::server) fn is_admission(group: &str) -> bool {
    group == ADMISSION
}

/// Returns true if the real server has a Go type for the kind.
pub(in crate::server) fn is_typed(group: &str) -> bool {
    group.is_empty() || is_admission(group)
}

impl BuiltIn for Kind {
    fn prepare(&self, object: &mut Value) {
        if self.group.is_empty() {
            metadata::set(object, "generation", None);
        }
        let Some(members) = object.as_object_mut() else { return };
        if is_admission(self.group) {
            for key in ["spec", "webhooks"] {
                members.get_mut(key).into_iter().for_each(omit_empty);
            }
        }
        if self.name == "ValidatingAdmissionPolicy" {
            members.entry("status".to_owned()).or_insert_with(|| Map::new().into());
        }
        for key in ["data", "binaryData"] {
            if members.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
                members.remove(key);
            }
        }
    }

    fn validate(&self, object: &Value, old: Option<&Value>, release: Release) -> (ErrorList, Option<String>) {
        if !self.validated {
            return (ErrorList::new(), None);
        }
        (validation::validate(object, old, release), validation::warning(object, old, release))
    }

    fn accepts_protobuf(&self) -> bool {
        true
    }

    fn has_generation(&self) -> bool {
        !self.group.is_empty()
    }

    fn allows_unconditional_update(&self) -> bool {
        self.group.is_empty()
    }
}

/// The fields that are encoded even if empty: their Go types have no `omitempty`, or are pointers to strings.
const ENCODED_IF_EMPTY: [&str; 16] = [
    "name",
    "expression",
    "key",
    "valueExpression",
    "operator",
    "patchType",
    "failurePolicy",
    "matchPolicy",
    "scope",
    "reason",
    "parameterNotFoundAction",
    "url",
    "namespace",
    "path",
    "sideEffects",
    "reinvocationPolicy",
];

fn omit_empty(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(omit_empty),
        Value::Object(members) => {
            members.values_mut().for_each(omit_empty);
            members.retain(|key, value| match value {
                Value::String(text) => !text.is_empty() || ENCODED_IF_EMPTY.contains(&key.as_str()),
                Value::Array(items) => !items.is_empty(),
                Value::Object(labels) => !(key == "matchLabels" && labels.is_empty()),
                _ => true,
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_well_formed() {
        for kind in &KINDS {
            let definition = kind.definition().unwrap_or_else(|| panic!("{}", kind.name));
            assert_eq!(definition.name(), kind.full_name());
        }
    }
}
