//! Writes response bodies, JSON with the server's member order: fields of Go types in declaration order, custom resources
//! sorted by key.
//!
//! No client should depend on that order, but `kubectl get --raw` shows it. Fields missing from the tables below come
//! last, sorted.

use crate::crd::openapi::protobuf;
use crate::server::http::response::{Format, ResponseBody};
use crdx_text::yaml;
use crdx_types::go_type::{self, Custom, GoField, Shape};
use crdx_types::types::Types;
use crdx_value::release::Release;
use crdx_value::{Map, Value, json};

/// The content type of OpenAPI v2 documents in Protobuf, the only form that client-go requests.
pub(in crate::server) const OPENAPI_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// The member order of a value.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Sorted by key at every level: maps, and values without a Go type.
    Sorted,
    /// In declaration order; the second list has the orders of nested Go types.
    Declared(&'static [&'static str], &'static [(&'static str, &'static Order)]),
    /// An array whose items have this order.
    Each(&'static Order),
    /// That of a Go type, by its name in the table of types.
    GoType(&'static str),
    /// That of a Go type.
    Of(go_type::GoType),
    /// Determined by the value's own `kind` and `apiVersion`.
    Kind,
}
use Order::{Declared, Each, GoType, Kind, Sorted};

static LIST: Order =
    Declared(&["kind", "apiVersion", "metadata", "items"], &[("metadata", &LIST_META), ("items", &Each(&Kind))]);
static LIST_META: Order = Declared(&["selfLink", "resourceVersion", "continue", "remainingItemCount"], &[]);
static OBJECT: Order = Declared(&["kind", "apiVersion", "metadata", "spec", "status"], &[("metadata", &OBJECT_META)]);
static OBJECT_META: Order = GoType("meta/v1.ObjectMeta");
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
            &[
                ("metadata", &Declared(&["name", "creationTimestamp"], &[])),
                (
                    "versions",
                    &Each(&Declared(
                        &["version", "resources", "freshness"],
                        &[("resources", &Each(&RESOURCE_DISCOVERY))],
                    )),
                ),
            ],
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
static DEFINITION: Order = GoType("apiextensions/v1.CustomResourceDefinition");

const SCHEMA: Order = GoType("apiextensions/v1.JSONSchemaProps");

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
    write(&mut out, value, *of_kind(value), None);
    out
}

/// The JSON of a group list before its apiVersion and kind are set.
pub(in crate::server) fn group_discovery(list: &Value) -> String {
    let mut out = String::new();
    write(&mut out, list, GROUP_DISCOVERY_LIST, None);
    out
}

/// JSON indented by two spaces, for `?pretty=1`.
fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, *of_kind(value), Some(0));
    out
}

/// Writes a value; if `level` is set, indented with line breaks.
fn write(out: &mut String, value: &Value, order: Order, level: Option<usize>) {
    let order = order.resolve(value);
    match value {
        Value::Object(_) | Value::Array(_) if matches!(order, Sorted) && level.is_none() => {
            json::write_compact(out, value);
        }
        Value::Array(items) if !items.is_empty() => {
            let inner = order.items();
            for (i, item) in items.iter().enumerate() {
                out.push(if i == 0 { '[' } else { ',' });
                break_line(out, level.map(|l| l + 1));
                write(out, item, inner, level.map(|l| l + 1));
            }
            break_line(out, level);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            for (i, (key, value, order)) in ordered(members, order).into_iter().enumerate() {
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

impl Order {
    /// The order of this value.
    fn resolve(self, value: &Value) -> Self {
        match self {
            Kind => of_kind(value).resolved(),
            order => order.resolved(),
        }
    }

    fn resolved(self) -> Self {
        match self {
            GoType(name) => go_type::GoType::named(types(), name).map_or(Sorted, Self::Of),
            order => order,
        }
    }

    /// The order of the items of an array.
    fn items(self) -> Self {
        match self {
            Each(inner) => *inner,
            Self::Of(type_) => match type_.shape() {
                Shape::List(item) => Self::Of(item),
                Shape::Custom(Custom::SchemaOrList) => SCHEMA,
                _ => Sorted,
            },
            _ => Sorted,
        }
    }
}

/// The types do not differ in the order of their fields.
fn types() -> &'static Types {
    Types::of_definitions(Release::NEWEST)
}

fn break_line(out: &mut String, level: Option<usize>) {
    if let Some(level) = level {
        out.push('\n');
        (0..level).for_each(|_| out.push_str("  "));
    }
}

type Member<'m> = (&'m str, &'m Value, Order);

/// The members of an object in their order, each with the order of its value.
fn ordered(members: &Map, order: Order) -> Vec<Member<'_>> {
    let struct_ = match order {
        Order::Of(type_) => match type_.shape() {
            Shape::Struct(s) => Some(s),
            Shape::Custom(Custom::SchemaOrList | Custom::SchemaOrBool | Custom::SchemaOrNames) => {
                return ordered(members, SCHEMA.resolved());
            }
            Shape::Map(of) => return members.iter().map(|(key, value)| (key.as_str(), value, Order::Of(of))).collect(),
            _ => None,
        },
        _ => None,
    };
    let mut all: Vec<Member<'_>> = Vec::with_capacity(members.len());
    if let Some(s) = struct_ {
        let fields = s.fields().into_iter();
        let of = |field: GoField| {
            let (key, value) = members.get_key_value(field.name())?;
            Some((key.as_str(), value, Order::Of(field.type_())))
        };
        all.extend(fields.filter_map(of));
    }
    if let Declared(declared, inside) = order {
        let order = |key: &str| inside.iter().find(|(k, _)| *k == key).map_or(Sorted, |(_, order)| **order);
        let of = |key: &&str| members.get_key_value(key).map(|(key, value)| (key.as_str(), value, order(key)));
        all.extend(declared.iter().filter_map(of));
    }
    let is_declared = |key: &str| match (struct_, order) {
        (Some(s), _) => s.field(key).is_some(),
        (None, Declared(declared, _)) => declared.contains(&key),
        _ => false,
    };
    all.extend(members.iter().filter(|(key, _)| !is_declared(key)).map(|(key, value)| (key.as_str(), value, Sorted)));
    all
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
