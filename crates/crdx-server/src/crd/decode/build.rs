//! Builds a typed CRD from an object whose types have been checked. Absent, null and unknown values become zero values.

use super::DecodeError;
use crate::crd::{
    Column, Condition, Conversion, CrdVersion, CustomResourceDefinition, Names, Scale, ServiceReference, Spec, Status,
    Subresources, Validation, WebhookClientConfig,
};
use crate::pipeline::object_meta;
use crate::schema::Schema;
use crdx_text::malformed::MalformedStrings;
use crdx_value::Value;
use crdx_value::base64::Encoding;
use std::sync::Arc;

const NULL: Value = Value::Null;

fn get<'a>(v: &'a Value, key: &str) -> &'a Value {
    v.get(key).unwrap_or(&NULL)
}

fn present<'a>(v: &'a Value, key: &str) -> Option<&'a Value> {
    v.get(key).filter(|v| !v.is_null())
}

fn text(v: &Value, key: &str) -> String {
    get(v, key).as_str().unwrap_or_default().to_owned()
}

fn optional_text(v: &Value, key: &str) -> Option<String> {
    get(v, key).as_str().map(str::to_owned)
}

fn flag(v: &Value, key: &str) -> bool {
    get(v, key).as_bool().unwrap_or_default()
}

fn integer(v: &Value, key: &str) -> i64 {
    get(v, key).as_int().unwrap_or_default()
}

fn small_integer(v: &Value, key: &str) -> Option<i32> {
    get(v, key).as_int().and_then(|i| i32::try_from(i).ok())
}

fn list<'a>(v: &'a Value, key: &str) -> &'a [Value] {
    get(v, key).as_array().unwrap_or_default()
}

fn texts(v: &Value, key: &str) -> Vec<String> {
    list(v, key).iter().map(|v| v.as_str().unwrap_or_default().to_owned()).collect()
}

/// Builds the CRD, before defaulting and conversion to the internal form.
pub fn crd(object: &Value, beta: bool) -> Result<CustomResourceDefinition, DecodeError> {
    Ok(CustomResourceDefinition {
        metadata: object_meta::normalize(get(object, "metadata").clone())?.metadata,
        spec: spec(get(object, "spec"), beta)?,
        status: status(get(object, "status")),
        malformed: MalformedStrings::default(),
    })
}

fn spec(v: &Value, beta: bool) -> Result<Spec, DecodeError> {
    let mut spec = Spec {
        group: text(v, "group"),
        names: names(get(v, "names")),
        scope: text(v, "scope"),
        versions: list(v, "versions").iter().map(|v| version(v, beta)).collect::<Result<_, _>>()?,
        versions_empty: get(v, "versions").as_array().is_some_and(<[Value]>::is_empty),
        conversion: present(v, "conversion").map(|v| conversion(v, beta)),
        ..Spec::default()
    };
    if beta {
        spec.version = text(v, "version");
        spec.validation = validation(v, "validation")?;
        spec.subresources = subresources(v);
        spec.columns = columns(v, beta);
        spec.selectable_fields = selectable_fields(v);
        spec.preserve_unknown_fields = get(v, "preserveUnknownFields").as_bool();
    } else {
        spec.preserve_unknown_fields = Some(flag(v, "preserveUnknownFields"));
    }
    Ok(spec)
}

fn names(v: &Value) -> Names {
    Names {
        plural: text(v, "plural"),
        singular: text(v, "singular"),
        short_names: texts(v, "shortNames"),
        kind: text(v, "kind"),
        list_kind: text(v, "listKind"),
        categories: texts(v, "categories"),
    }
}

fn version(v: &Value, beta: bool) -> Result<CrdVersion, DecodeError> {
    Ok(CrdVersion {
        name: text(v, "name"),
        served: flag(v, "served"),
        storage: flag(v, "storage"),
        deprecated: flag(v, "deprecated"),
        deprecation_warning: optional_text(v, "deprecationWarning"),
        schema: validation(v, "schema")?,
        subresources: subresources(v),
        columns: columns(v, beta),
        selectable_fields: selectable_fields(v),
    })
}

fn validation(v: &Value, key: &str) -> Result<Option<Validation>, DecodeError> {
    let Some(v) = present(v, key) else { return Ok(None) };
    let schema = present(v, "openAPIV3Schema").map(|v| Schema::from_value(v).map(Arc::new)).transpose()?;
    Ok(Some(Validation { schema }))
}

fn subresources(v: &Value) -> Option<Subresources> {
    let v = present(v, "subresources")?;
    Some(Subresources {
        status: present(v, "status").is_some(),
        scale: present(v, "scale").map(|v| Scale {
            spec_replicas_path: text(v, "specReplicasPath"),
            status_replicas_path: text(v, "statusReplicasPath"),
            label_selector_path: optional_text(v, "labelSelectorPath"),
        }),
    })
}

fn columns(v: &Value, beta: bool) -> Vec<Column> {
    let path_key = if beta { "JSONPath" } else { "jsonPath" };
    let column = |v: &Value| Column {
        name: text(v, "name"),
        type_: text(v, "type"),
        format: text(v, "format"),
        description: text(v, "description"),
        priority: small_integer(v, "priority").unwrap_or_default(),
        json_path: text(v, path_key),
    };
    list(v, "additionalPrinterColumns").iter().map(column).collect()
}

fn selectable_fields(v: &Value) -> Vec<String> {
    list(v, "selectableFields").iter().map(|v| text(v, "jsonPath")).collect()
}

/// Reads a `clientConfig`, which admission webhooks have, too.
pub fn webhook_client_config(v: &Value) -> WebhookClientConfig {
    WebhookClientConfig {
        url: optional_text(v, "url"),
        service: present(v, "service").map(|v| ServiceReference {
            namespace: text(v, "namespace"),
            name: text(v, "name"),
            path: optional_text(v, "path"),
            port: small_integer(v, "port"),
        }),
        ca_bundle: bytes(get(v, "caBundle")),
    }
}

/// Reads bytes, as base64 or as numbers.
fn bytes(v: &Value) -> Vec<u8> {
    match v {
        Value::String(text) => Encoding::Standard.decode(text).unwrap_or_default(),
        Value::Array(items) => {
            let byte = |item: &Value| item.as_int().and_then(|n| u8::try_from(n).ok()).unwrap_or_default();
            items.iter().map(byte).collect()
        }
        _ => Vec::new(),
    }
}

fn conversion(v: &Value, beta: bool) -> Conversion {
    let webhook = if beta { v } else { get(v, "webhook") };
    let config_key = if beta { "webhookClientConfig" } else { "clientConfig" };
    Conversion {
        strategy: text(v, "strategy"),
        client_config: present(webhook, config_key).map(webhook_client_config),
        review_versions: texts(webhook, "conversionReviewVersions"),
    }
}

fn status(v: &Value) -> Status {
    let condition = |v: &Value| Condition {
        type_: text(v, "type"),
        status: text(v, "status"),
        last_transition_time: text(v, "lastTransitionTime"),
        reason: text(v, "reason"),
        message: text(v, "message"),
        observed_generation: integer(v, "observedGeneration"),
    };
    Status {
        conditions: get(v, "conditions").as_array().map(|items| items.iter().map(condition).collect()),
        accepted_names: names(get(v, "acceptedNames")),
        stored_versions: texts(v, "storedVersions"),
        observed_generation: integer(v, "observedGeneration"),
    }
}
