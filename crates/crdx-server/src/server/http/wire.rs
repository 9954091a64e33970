//! Writes response bodies, JSON with the server's member order: fields of Go types in declaration order, custom resources
//! sorted by key.
//!
//! No client should depend on that order, but `kubectl get --raw` shows it. Fields missing from the tables below come
//! last, sorted.

use crate::crd::openapi::protobuf;
use crate::server::http::response::{Format, ResponseBody};
use crate::server::metadata;
use crdx_text::yaml;
use crdx_value::{Map, Value, json};

/// The content type of OpenAPI v2 documents in Protobuf, the only form that client-go requests.
pub(in crate::server) const OPENAPI_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// The member order of a value.
#[derive(Debug)]
enum Order {
    /// Sorted by key at every level: maps, and values without a Go type.
    Sorted,
    /// In declaration order; the second list has the orders of nested Go types.
    Declared(&'static [&'static str], &'static [(&'static str, &'static Order)]),
    /// An array whose items have this order.
    Each(&'static Order),
    /// A map sorted by key, whose values have this order.
    Map(&'static Order),
    /// Determined by the value's own `kind` and `apiVersion`.
    Kind,
}
use Order::{Declared, Each, Kind, Map as MapOf, Sorted};

static LIST: Order =
    Declared(&["kind", "apiVersion", "metadata", "items"], &[("metadata", &LIST_META), ("items", &Each(&Kind))]);
static LIST_META: Order = Declared(&["selfLink", "resourceVersion", "continue", "remainingItemCount"], &[]);
static OBJECT_META: Order = Declared(
    &metadata::MEMBERS,
    &[
        (
            "ownerReferences",
            &Each(&Declared(&["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"], &[])),
        ),
        (
            "managedFields",
            &Each(&Declared(
                &["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"],
                &[],
            )),
        ),
    ],
);
static OBJECT: Order = Declared(&["kind", "apiVersion", "metadata", "spec", "status"], &[("metadata", &OBJECT_META)]);
static STATUS: Order = Declared(
    &["kind", "apiVersion", "metadata", "status", "message", "reason", "details", "code"],
    &[
        ("metadata", &LIST_META),
        (
            "details",
            &Declared(
                &["name", "group", "kind", "uid", "causes", "retryAfterSeconds"],
                &[("causes", &Each(&Declared(&["reason", "message", "field"], &[])))],
            ),
        ),
    ],
);
static TABLE: Order = Declared(
    &["kind", "apiVersion", "metadata", "columnDefinitions", "rows"],
    &[
        ("metadata", &LIST_META),
        ("columnDefinitions", &Each(&Declared(&["name", "type", "format", "description", "priority"], &[]))),
        ("rows", &Each(&Declared(&["cells", "conditions", "object"], &[("object", &Kind)]))),
    ],
);
static API_VERSIONS: Order = Declared(&["kind", "versions", "serverAddressByClientCIDRs"], &[]);
static GROUP_VERSION: Order = Declared(&["groupVersion", "version"], &[]);
static GROUP: Order = Declared(
    &["kind", "apiVersion", "name", "versions", "preferredVersion"],
    &[("versions", &Each(&GROUP_VERSION)), ("preferredVersion", &GROUP_VERSION)],
);
static GROUP_LIST: Order = Declared(&["kind", "apiVersion", "groups"], &[("groups", &Each(&GROUP))]);
static RESOURCE_LIST: Order = Declared(
    &["kind", "apiVersion", "groupVersion", "resources"],
    &[(
        "resources",
        &Each(&Declared(
            &[
                "name",
                "singularName",
                "namespaced",
                "group",
                "version",
                "kind",
                "verbs",
                "shortNames",
                "categories",
                "storageVersionHash",
            ],
            &[],
        )),
    )],
);
static GROUP_VERSION_KIND: Order = Declared(&["group", "version", "kind"], &[]);
static GROUP_DISCOVERY_LIST: Order = Declared(
    &["kind", "apiVersion", "metadata", "items"],
    &[(
        "items",
        &Each(&Declared(
            &["metadata", "versions"],
            &[(
                "versions",
                &Each(&Declared(&["version", "resources", "freshness"], &[("resources", &Each(&RESOURCE_DISCOVERY))])),
            )],
        )),
    )],
);
static RESOURCE_DISCOVERY: Order = Declared(
    &["resource", "responseKind", "scope", "singularResource", "verbs", "shortNames", "categories", "subresources"],
    &[
        ("responseKind", &GROUP_VERSION_KIND),
        (
            "subresources",
            &Each(&Declared(&["subresource", "responseKind", "verbs"], &[("responseKind", &GROUP_VERSION_KIND)])),
        ),
    ],
);
static DEFINITION_LIST: Order =
    Declared(&["kind", "apiVersion", "metadata", "items"], &[("metadata", &LIST_META), ("items", &Each(&DEFINITION))]);
static DEFINITION: Order = Declared(
    &["kind", "apiVersion", "metadata", "spec", "status"],
    &[
        ("metadata", &OBJECT_META),
        (
            "spec",
            &Declared(
                &["group", "names", "scope", "versions", "conversion", "preserveUnknownFields"],
                &[("names", &NAMES), ("versions", &Each(&VERSION)), ("conversion", &CONVERSION)],
            ),
        ),
        (
            "status",
            &Declared(
                &["conditions", "acceptedNames", "storedVersions", "observedGeneration"],
                &[
                    (
                        "conditions",
                        &Each(&Declared(
                            &["type", "status", "lastTransitionTime", "reason", "message", "observedGeneration"],
                            &[],
                        )),
                    ),
                    ("acceptedNames", &NAMES),
                ],
            ),
        ),
    ],
);
static NAMES: Order = Declared(&["plural", "singular", "shortNames", "kind", "listKind", "categories"], &[]);
static CONVERSION: Order = Declared(
    &["strategy", "webhook"],
    &[(
        "webhook",
        &Declared(
            &["clientConfig", "conversionReviewVersions"],
            &[(
                "clientConfig",
                &Declared(
                    &["url", "service", "caBundle"],
                    &[("service", &Declared(&["namespace", "name", "path", "port"], &[]))],
                ),
            )],
        ),
    )],
);
static VERSION: Order = Declared(
    &[
        "name",
        "served",
        "storage",
        "deprecated",
        "deprecationWarning",
        "schema",
        "subresources",
        "additionalPrinterColumns",
        "selectableFields",
    ],
    &[
        ("schema", &MAP_OF_SCHEMAS),
        (
            "subresources",
            &Declared(
                &["status", "scale"],
                &[("scale", &Declared(&["specReplicasPath", "statusReplicasPath", "labelSelectorPath"], &[]))],
            ),
        ),
        (
            "additionalPrinterColumns",
            &Each(&Declared(&["name", "type", "format", "description", "priority", "jsonPath"], &[])),
        ),
    ],
);
static MAP_OF_SCHEMAS: Order = MapOf(&SCHEMA);
static SCHEMAS: Order = Each(&SCHEMA);
static SCHEMA: Order = Declared(
    &[
        "id",
        "$schema",
        "$ref",
        "description",
        "type",
        "format",
        "title",
        "default",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "enum",
        "maxProperties",
        "minProperties",
        "required",
        "items",
        "allOf",
        "oneOf",
        "anyOf",
        "not",
        "properties",
        "additionalProperties",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
        "externalDocs",
        "example",
        "nullable",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-validations",
    ],
    &[
        ("items", &SCHEMA),
        ("allOf", &SCHEMAS),
        ("oneOf", &SCHEMAS),
        ("anyOf", &SCHEMAS),
        ("not", &SCHEMA),
        ("properties", &MAP_OF_SCHEMAS),
        ("additionalProperties", &SCHEMA),
        (
            "x-kubernetes-validations",
            &Each(&Declared(&["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"], &[])),
        ),
    ],
);

/// The member order of a value with `kind` and `apiVersion`.
fn of_kind(value: &Value) -> &'static Order {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    match (text("apiVersion"), text("kind")) {
        ("v1", "Status") => &STATUS,
        ("v1", "APIGroup") => &GROUP,
        ("v1", "APIGroupList") => &GROUP_LIST,
        ("v1", "APIResourceList") => &RESOURCE_LIST,
        ("", "APIVersions") => &API_VERSIONS,
        ("apidiscovery.k8s.io/v2", _) => &GROUP_DISCOVERY_LIST,
        ("meta.k8s.io/v1" | "meta.k8s.io/v1beta1", "Table") => &TABLE,
        ("meta.k8s.io/v1" | "meta.k8s.io/v1beta1", "PartialObjectMetadataList") | ("v1", "NamespaceList") => &LIST,
        ("meta.k8s.io/v1" | "meta.k8s.io/v1beta1", _) | ("autoscaling/v1", "Scale") | ("v1", "Namespace") => &OBJECT,
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => &DEFINITION,
        ("apiextensions.k8s.io/v1", "CustomResourceDefinitionList") => &DEFINITION_LIST,
        _ => &Sorted,
    }
}

/// The bytes of a response body and its `Content-Type`.
pub fn encode(body: ResponseBody, format: Format) -> (&'static str, Vec<u8>) {
    match (body, format) {
        (ResponseBody::Text(text), _) => ("text/plain; charset=utf-8", text.into_bytes()),
        (ResponseBody::Json(value), Format::Json) => ("application/json", (compact(&value) + "\n").into_bytes()),
        (ResponseBody::Json(value), Format::PrettyJson) => ("application/json", pretty(&value).into_bytes()),
        (ResponseBody::Json(value), Format::Yaml) => ("application/yaml", yaml::write::to_string(&value).into_bytes()),
        (ResponseBody::Json(value), Format::Protobuf) => (OPENAPI_PROTOBUF, protobuf::encode(&value)),
    }
}

/// Compact JSON.
pub fn compact(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, of_kind(value), None);
    out
}

/// The JSON of a group list before its apiVersion and kind are set.
pub(in crate::server) fn group_discovery(list: &Value) -> String {
    let mut out = String::new();
    write(&mut out, list, &GROUP_DISCOVERY_LIST, None);
    out
}

/// JSON indented by two spaces, for `?pretty=1`.
fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, of_kind(value), Some(0));
    out
}

/// Writes a value; if `level` is set, indented with line breaks.
fn write(out: &mut String, value: &Value, order: &'static Order, level: Option<usize>) {
    let order = if matches!(order, Kind) { of_kind(value) } else { order };
    match value {
        Value::Object(_) | Value::Array(_) if matches!(order, Sorted) && level.is_none() => {
            json::write_compact(out, value);
        }
        Value::Array(items) if !items.is_empty() => {
            let inner = if let Each(inner) = order { inner } else { &Sorted };
            for (i, item) in items.iter().enumerate() {
                out.push(if i == 0 { '[' } else { ',' });
                break_line(out, level.map(|l| l + 1));
                write(out, item, inner, level.map(|l| l + 1));
            }
            break_line(out, level);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            for (i, (key, value, order)) in ordered(members, order).enumerate() {
                out.push(if i == 0 { '{' } else { ',' });
                break_line(out, level.map(|l| l + 1));
                json::write_string(out, key);
                out.push_str(if level.is_some() { ": " } else { ":" });
                write(out, value, order, level.map(|l| l + 1));
            }
            break_line(out, level);
            out.push('}');
        }
        value => json::write_compact(out, value),
    }
}

fn break_line(out: &mut String, level: Option<usize>) {
    if let Some(level) = level {
        out.push('\n');
        (0..level).for_each(|_| out.push_str("  "));
    }
}

type Member<'m> = (&'m str, &'m Value, &'static Order);

/// The members of an object in their order, each with the order of its value.
fn ordered<'m>(members: &'m Map, order: &'static Order) -> impl Iterator<Item = Member<'m>> {
    let (declared, inside): (&[&str], &[(&str, &Order)]) = match order {
        Declared(declared, inside) => (declared, inside),
        _ => (&[], &[]),
    };
    let first = declared.iter().filter_map(|key| members.get_key_value(key));
    let rest = members.iter().filter(|(key, _)| !declared.contains(&key.as_str()));
    first.chain(rest).map(move |(key, value)| {
        let own = match order {
            MapOf(inner) => inner,
            _ => inside.iter().find(|(k, _)| k == key).map_or(&Sorted, |(_, order)| *order),
        };
        (key.as_str(), value, own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn typed_answers_are_in_the_order_of_go_and_others_sorted() {
        let status =
            read(br#"{"apiVersion":"v1","code":404,"details":{"kind":"b","name":"a"},"kind":"Status","metadata":{}}"#)
                .unwrap();
        assert_eq!(
            compact(&status),
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"details":{"name":"a","kind":"b"},"code":404}"#
        );
        let table = read(
            br#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"object":{"kind":"Foo","apiVersion":"a/v1"},"cells":[]}]}"#,
        )
        .unwrap();
        assert_eq!(
            compact(&table),
            r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":[],"object":{"apiVersion":"a/v1","kind":"Foo"}}]}"#
        );
        let crd = read(
            br#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"versions":[{"name":"v1","schema":
            {"openAPIV3Schema":{"properties":{"type":{"nullable":true,"type":"string"},"a":{}},"type":"object"}}}],"group":"g"}}"#,
        )
        .unwrap();
        assert_eq!(
            compact(&crd),
            concat!(
                r#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","spec":{"group":"g","versions":[{"name":"v1","#,
                r#""schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{},"type":{"type":"string","nullable":true}}}}}]}}"#
            )
        );
    }

    #[test]
    fn pretty_json_is_indented() {
        let v = read(br#"{"kind":"Foo","a":[1,{}],"b":[]}"#).unwrap();
        assert_eq!(pretty(&v), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"kind\": \"Foo\"\n}");
    }
}
