//! Decodes Protobuf bodies of CRDs, namespaces, the kinds of admission and delete options, which typed Go clients send
//! (`runtime/serializer/protobuf`, `generated.proto` of `apiextensions/v1`, `meta/v1` and `core/v1`).
//!
//! The result is the JSON value of the object. Go encodes fields with zero values that JSON omits; they are omitted
//! here too, except for pointers.

mod admission;

use crate::server::http::body::unreadable::Unreadable;
use crate::text;
use crate::text::protobuf::{Reader, Wire};
use crate::value::base64::Encoding;
use crate::value::number;
use crate::value::time::{self, Timestamp};
use crate::value::{Map, Value};

/// The magic number at the start of every body.
const PREFIX: &[u8] = b"k8s\0";
/// The maximum depth of nested messages, as for JSON values.
const DEPTH: usize = 10_000;

/// A message of `generated.proto`.
struct Message {
    /// The name in Go; empty if no error can contain it.
    name: &'static str,
    /// The numbers, names in JSON and types of the fields.
    fields: &'static [(u64, &'static str, Kind)],
}

const fn named(name: &'static str, fields: &'static [(u64, &'static str, Kind)]) -> Message {
    Message { name, fields }
}

const fn unnamed(fields: &'static [(u64, &'static str, Kind)]) -> Message {
    named("", fields)
}

/// The type of a field.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// `*string`: an empty string is kept.
    TextPointer,
    Bool,
    /// `*bool`: false is kept.
    BoolPointer,
    Int,
    /// `*int64`: 0 is kept.
    IntPointer,
    /// `*float64`
    Double,
    /// Bytes, written as base64 in JSON.
    Bytes,
    Time,
    /// A message with one field that holds JSON text.
    Json,
    /// Like `Json`, but the text is not parsed when the message is decoded. A text that is not JSON is kept as a string, which is
    /// not a valid set of fields either.
    Fields,
    One(&'static Message),
    /// A message whose members are members of the object itself in JSON.
    Inline(&'static Message),
    /// A message that is a list of texts in JSON.
    Items,
    /// A repeated field.
    Repeated(&'static Kind),
    /// A map with string keys.
    Map(&'static Kind),
    SchemaOrList,
    SchemaOrBool,
    SchemaOrTexts,
}

impl Kind {
    /// The wire type.
    fn wire(self) -> u64 {
        match self {
            Bool | BoolPointer | Int | IntPointer => 0,
            Double => 1,
            Repeated(each) => each.wire(),
            _ => 2,
        }
    }
}

use Kind::{
    Bool, BoolPointer, Bytes, Double, Fields, Inline, Int, IntPointer, Items, Json, Map as MapOf, One, Repeated,
    SchemaOrBool, SchemaOrList, SchemaOrTexts, Text, TextPointer, Time,
};

static METADATA: Message = named(
    "ObjectMeta",
    &[
        (1, "name", Text),
        (2, "generateName", Text),
        (3, "namespace", Text),
        (4, "selfLink", Text),
        (5, "uid", Text),
        (6, "resourceVersion", Text),
        (7, "generation", Int),
        (8, "creationTimestamp", Time),
        (9, "deletionTimestamp", Time),
        (10, "deletionGracePeriodSeconds", IntPointer),
        (11, "labels", MapOf(&Text)),
        (12, "annotations", MapOf(&Text)),
        (13, "ownerReferences", Repeated(&One(&OWNER))),
        (14, "finalizers", Repeated(&Text)),
        (17, "managedFields", Repeated(&One(&MANAGED))),
    ],
);
static OWNER: Message = named(
    "OwnerReference",
    &[
        (5, "apiVersion", Text),
        (1, "kind", Text),
        (3, "name", Text),
        (4, "uid", Text),
        (6, "controller", BoolPointer),
        (7, "blockOwnerDeletion", BoolPointer),
    ],
);
static MANAGED: Message = named(
    "ManagedFieldsEntry",
    &[
        (1, "manager", Text),
        (2, "operation", Text),
        (3, "apiVersion", Text),
        (4, "time", Time),
        (6, "fieldsType", Text),
        (7, "fieldsV1", Fields),
        (8, "subresource", Text),
    ],
);
static DELETE_OPTIONS: Message = named(
    "DeleteOptions",
    &[
        (1, "gracePeriodSeconds", IntPointer),
        (
            2,
            "preconditions",
            One(&named("Preconditions", &[(1, "uid", TextPointer), (2, "resourceVersion", TextPointer)])),
        ),
        (3, "orphanDependents", BoolPointer),
        (4, "propagationPolicy", TextPointer),
        (5, "dryRun", Repeated(&Text)),
        (6, "ignoreStoreReadErrorWithClusterBreakingPotential", BoolPointer),
    ],
);
static NAMESPACE: Message = named(
    "Namespace",
    &[
        (1, "metadata", One(&METADATA)),
        (2, "spec", One(&unnamed(&[(1, "finalizers", Repeated(&Text))]))),
        (3, "status", One(&unnamed(&[(1, "phase", Text), (2, "conditions", Repeated(&One(&NAMESPACE_CONDITION)))]))),
    ],
);
static NAMESPACE_CONDITION: Message = named(
    "NamespaceCondition",
    &[
        (1, "type", Text),
        (2, "status", Text),
        (4, "lastTransitionTime", Time),
        (5, "reason", Text),
        (6, "message", Text),
    ],
);
static DEFINITION: Message = named(
    "CustomResourceDefinition",
    &[(1, "metadata", One(&METADATA)), (2, "spec", One(&SPEC)), (3, "status", One(&STATUS))],
);
static SPEC: Message = named(
    "CustomResourceDefinitionSpec",
    &[
        (1, "group", Text),
        (3, "names", One(&NAMES)),
        (4, "scope", Text),
        (7, "versions", Repeated(&One(&VERSION))),
        (9, "conversion", One(&CONVERSION)),
        (10, "preserveUnknownFields", Bool),
    ],
);
static NAMES: Message = named(
    "CustomResourceDefinitionNames",
    &[
        (1, "plural", Text),
        (2, "singular", Text),
        (3, "shortNames", Repeated(&Text)),
        (4, "kind", Text),
        (5, "listKind", Text),
        (6, "categories", Repeated(&Text)),
    ],
);
static STATUS: Message = named(
    "CustomResourceDefinitionStatus",
    &[
        (1, "conditions", Repeated(&One(&CONDITION))),
        (2, "acceptedNames", One(&NAMES)),
        (3, "storedVersions", Repeated(&Text)),
        (4, "observedGeneration", Int),
    ],
);
static CONDITION: Message = named(
    "CustomResourceDefinitionCondition",
    &[
        (1, "type", Text),
        (2, "status", Text),
        (3, "lastTransitionTime", Time),
        (4, "reason", Text),
        (5, "message", Text),
        (6, "observedGeneration", Int),
    ],
);
static VERSION: Message = named(
    "CustomResourceDefinitionVersion",
    &[
        (1, "name", Text),
        (2, "served", Bool),
        (3, "storage", Bool),
        (4, "schema", One(&named("CustomResourceValidation", &[(1, "openAPIV3Schema", One(&SCHEMA))]))),
        (
            5,
            "subresources",
            One(&named(
                "CustomResourceSubresources",
                &[(1, "status", One(&named("CustomResourceSubresourceStatus", &[]))), (2, "scale", One(&SCALE))],
            )),
        ),
        (6, "additionalPrinterColumns", Repeated(&One(&COLUMN))),
        (7, "deprecated", Bool),
        (8, "deprecationWarning", TextPointer),
        (9, "selectableFields", Repeated(&One(&named("SelectableField", &[(1, "jsonPath", Text)])))),
    ],
);
static SCALE: Message = named(
    "CustomResourceSubresourceScale",
    &[(1, "specReplicasPath", Text), (2, "statusReplicasPath", Text), (3, "labelSelectorPath", TextPointer)],
);
static COLUMN: Message = named(
    "CustomResourceColumnDefinition",
    &[
        (1, "name", Text),
        (2, "type", Text),
        (3, "format", Text),
        (4, "description", Text),
        (5, "priority", Int),
        (6, "jsonPath", Text),
    ],
);
static CONVERSION: Message = named("CustomResourceConversion", &[(1, "strategy", Text), (2, "webhook", One(&WEBHOOK))]);
static WEBHOOK: Message = named(
    "WebhookConversion",
    &[
        (
            2,
            "clientConfig",
            One(&named(
                "WebhookClientConfig",
                &[(3, "url", TextPointer), (1, "service", One(&SERVICE)), (2, "caBundle", Bytes)],
            )),
        ),
        (3, "conversionReviewVersions", Repeated(&Text)),
    ],
);
static SERVICE: Message = named(
    "ServiceReference",
    &[(1, "namespace", Text), (2, "name", Text), (3, "path", TextPointer), (4, "port", IntPointer)],
);
static SCHEMA: Message = named(
    "JSONSchemaProps",
    &[
        (1, "id", Text),
        (2, "$schema", Text),
        (3, "$ref", TextPointer),
        (4, "description", Text),
        (5, "type", Text),
        (6, "format", Text),
        (7, "title", Text),
        (8, "default", Json),
        (9, "maximum", Double),
        (10, "exclusiveMaximum", Bool),
        (11, "minimum", Double),
        (12, "exclusiveMinimum", Bool),
        (13, "maxLength", IntPointer),
        (14, "minLength", IntPointer),
        (15, "pattern", Text),
        (16, "maxItems", IntPointer),
        (17, "minItems", IntPointer),
        (18, "uniqueItems", Bool),
        (19, "multipleOf", Double),
        (20, "enum", Repeated(&Json)),
        (21, "maxProperties", IntPointer),
        (22, "minProperties", IntPointer),
        (23, "required", Repeated(&Text)),
        (24, "items", SchemaOrList),
        (25, "allOf", Repeated(&One(&SCHEMA))),
        (26, "oneOf", Repeated(&One(&SCHEMA))),
        (27, "anyOf", Repeated(&One(&SCHEMA))),
        (28, "not", One(&SCHEMA)),
        (29, "properties", MapOf(&One(&SCHEMA))),
        (30, "additionalProperties", SchemaOrBool),
        (31, "patternProperties", MapOf(&One(&SCHEMA))),
        (32, "dependencies", MapOf(&SchemaOrTexts)),
        (33, "additionalItems", SchemaOrBool),
        (34, "definitions", MapOf(&One(&SCHEMA))),
        (35, "externalDocs", One(&named("ExternalDocumentation", &[(1, "description", Text), (2, "url", Text)]))),
        (36, "example", Json),
        (37, "nullable", Bool),
        (38, "x-kubernetes-preserve-unknown-fields", BoolPointer),
        (39, "x-kubernetes-embedded-resource", Bool),
        (40, "x-kubernetes-int-or-string", Bool),
        (41, "x-kubernetes-list-map-keys", Repeated(&Text)),
        (42, "x-kubernetes-list-type", TextPointer),
        (43, "x-kubernetes-map-type", TextPointer),
        (44, "x-kubernetes-validations", Repeated(&One(&RULE))),
    ],
);
static RULE: Message = named(
    "ValidationRule",
    &[
        (1, "rule", Text),
        (2, "message", Text),
        (3, "messageExpression", Text),
        (4, "reason", TextPointer),
        (5, "fieldPath", Text),
        (6, "optionalOldSelf", BoolPointer),
    ],
);

/// The envelope and its type.
static ENVELOPE: Message = named(
    "Unknown",
    &[(1, "typeMeta", One(&TYPE)), (2, "raw", Bytes), (3, "contentEncoding", Text), (4, "contentType", Text)],
);
static TYPE: Message = named("TypeMeta", &[(1, "apiVersion", Text), (2, "kind", Text)]);
static TIMESTAMP: Message = named("Timestamp", &[(1, "seconds", Int), (2, "nanos", Int)]);
static RAW: Message = named("JSON", &[(1, "raw", Text)]);
static SCHEMA_OR_LIST: Message =
    named("JSONSchemaPropsOrArray", &[(1, "schema", One(&SCHEMA)), (2, "jSONSchemas", Repeated(&One(&SCHEMA)))]);
static SCHEMA_OR_BOOL: Message = named("JSONSchemaPropsOrBool", &[(1, "allows", Bool), (2, "schema", One(&SCHEMA))]);
static SCHEMA_OR_TEXTS: Message =
    named("JSONSchemaPropsOrStringArray", &[(1, "schema", One(&SCHEMA)), (2, "property", Repeated(&Text))]);

static AUTOSCALING: Message = named(
    "Scale",
    &[
        (1, "metadata", One(&METADATA)),
        (2, "spec", One(&unnamed(&[(1, "replicas", Int)]))),
        (3, "status", One(&unnamed(&[(1, "replicas", Int), (2, "selector", Text)]))),
    ],
);

/// The message of a list of texts.
static ITEMS: Message = unnamed(&[(1, "items", Repeated(&Text))]);
/// A message of an unknown kind.
static UNKNOWN_TYPE: Message = unnamed(&[]);

/// The message type of a kind; `DeleteOptions` exist in every version.
fn message_of(api_version: &str, kind: &str) -> Option<&'static Message> {
    match (api_version, kind) {
        (_, "DeleteOptions") => Some(&DELETE_OPTIONS),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => Some(&DEFINITION),
        ("v1", "Namespace") => Some(&NAMESPACE),
        ("v1", "ConfigMap") => Some(&admission::CONFIG_MAP),
        ("autoscaling/v1", "Scale") => Some(&AUTOSCALING),
        (api_version, kind) => admission::message_of(api_version, kind),
    }
}

/// Decodes a body. For an unknown type only its apiVersion and kind are returned, which the error response needs.
pub(in crate::server) fn read(body: &[u8]) -> Result<Value, Unreadable> {
    let (mut types, raw) = open(body).map_err(Unreadable::Early)?;
    let text = |key: &str| types.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("kind").is_empty() && !raw.is_empty() {
        // The real server would use the type that the path implies; every known client sends the type.
        let missing = r#"Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:""}'"#;
        return Err(Unreadable::Early(missing.to_owned()));
    }
    let type_ = message_of(text("apiVersion"), text("kind")).unwrap_or(&UNKNOWN_TYPE);
    let mut object = message(type_, raw, 0).map_err(Unreadable::Late)?;
    object.append(&mut types);
    Ok(Value::Object(object))
}

/// Decodes the envelope of a body (`runtime.Unknown`): its type and the encoded message.
pub(in crate::server) fn open(body: &[u8]) -> Result<(Map, &[u8]), String> {
    if body.is_empty() {
        return Err("empty data".to_owned());
    }
    let Some(envelope) = body.strip_prefix(PREFIX) else {
        return Err("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]".to_owned());
    };
    if envelope.is_empty() {
        return Err("empty body".to_owned());
    }
    let (mut types, mut raw) = (Map::new(), &[][..]);
    let mut fields = Reader::new(envelope);
    while let Some((number, wire)) = fields.known(ENVELOPE.name, |number, wire| has_field(&ENVELOPE, number, wire))? {
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => types = message(&TYPE, bytes, 0)?,
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    Ok((types, raw))
}

/// Returns true if a message has a field with this number, and an error if it has another wire type.
fn has_field(type_: &Message, number: u64, wire: u64) -> Result<bool, String> {
    match type_.fields.iter().find(|(n, _, _)| *n == number) {
        None => Ok(false),
        Some((_, _, kind)) if kind.wire() == wire => Ok(true),
        Some((_, name, _)) => Err(format!("proto: wrong wireType = {wire} for field {}", go_name(name))),
    }
}

/// The name of the Go field that has this name in JSON.
fn go_name(name: &str) -> String {
    let words = match name {
        "id" | "uid" | "url" => return name.to_uppercase(),
        "apiVersion" => return "APIVersion".to_owned(),
        "caBundle" => return "CABundle".to_owned(),
        "jsonPath" => return "JSONPath".to_owned(),
        "x-kubernetes-int-or-string" => return "XIntOrString".to_owned(),
        name => name.trim_start_matches('$').replace("x-kubernetes-", "x-"),
    };
    let upper = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    words.split('-').map(upper).collect()
}

fn message(type_: &Message, bytes: &[u8], depth: usize) -> Result<Map, String> {
    if depth > DEPTH {
        return Err("exceeded max depth".to_owned());
    }
    let mut object = Map::new();
    let mut reader = Reader::new(bytes);
    while let Some((number, wire)) = reader.known(type_.name, |number, wire| has_field(type_, number, wire))? {
        let Some((_, name, kind)) = type_.fields.iter().find(|(n, _, _)| *n == number) else { continue };
        match kind {
            Repeated(each) => {
                let item = value(**each, wire, depth)?.unwrap_or_else(|| zero(**each));
                match object.get_mut(*name) {
                    Some(Value::Array(items)) => items.push(item),
                    _ => drop(object.insert((*name).to_owned(), Value::Array(vec![item]))),
                }
            }
            MapOf(each) => {
                let Wire::Bytes(entry) = wire else { return Err(wrong_wire_type()) };
                let (key, item) = entry_of(**each, entry, depth)?;
                match object.get_mut(*name) {
                    Some(Value::Object(members)) => drop(members.insert(key, item)),
                    _ => drop(object.insert((*name).to_owned(), Value::Object(Map::from([(key, item)])))),
                }
            }
            Inline(type_) => {
                let Wire::Bytes(inner) = wire else { return Err(wrong_wire_type()) };
                object.append(&mut message(type_, inner, depth + 1)?);
            }
            kind => drop(match value(*kind, wire, depth)? {
                Some(value) => object.insert((*name).to_owned(), value),
                None => object.remove(*name),
            }),
        }
    }
    Ok(object)
}

/// Decodes a map entry.
fn entry_of(kind: Kind, bytes: &[u8], depth: usize) -> Result<(String, Value), String> {
    let (mut key, mut item) = (String::new(), None);
    let mut reader = Reader::new(bytes);
    while let Some((number, bytes)) = reader.entry()? {
        match number {
            1 => key = text::lossy(bytes),
            _ => item = value(kind, Wire::Bytes(bytes), depth)?,
        }
    }
    Ok((key, item.unwrap_or_else(|| zero(kind))))
}

/// The zero value of a kind. List items and map values are kept even if they are zero.
fn zero(kind: Kind) -> Value {
    match kind {
        Text => Value::from(""),
        One(&_) => Value::Object(Map::new()),
        _ => Value::Null,
    }
}

/// Decodes one value; `None` if JSON omits it.
fn value(kind: Kind, wire: Wire<'_>, depth: usize) -> Result<Option<Value>, String> {
    Ok(match (kind, wire) {
        (Text, Wire::Bytes(bytes)) => Some(bytes).filter(|b| !b.is_empty()).map(|b| Value::from(text::lossy(b))),
        (TextPointer, Wire::Bytes(bytes)) => Some(Value::from(text::lossy(bytes))),
        (Bytes, Wire::Bytes(bytes)) => {
            Some(bytes).filter(|b| !b.is_empty()).map(|b| Value::from(Encoding::Standard.encode(b)))
        }
        (Bool, Wire::Number(number)) => (number != 0).then_some(Value::Bool(true)),
        (BoolPointer, Wire::Number(number)) => Some(Value::Bool(number != 0)),
        (Int, Wire::Number(number)) => (number != 0).then_some(Value::Int(number as i64)),
        (IntPointer, Wire::Number(number)) => Some(Value::Int(number as i64)),
        (Double, Wire::Eight(bytes)) => {
            let number = f64::from_le_bytes(bytes);
            if !number.is_finite() {
                // JSON cannot represent NaN and infinities, and objects are stored as JSON.
                return Err(format!("json: unsupported value: {}", number::format_v(number)));
            }
            Some(number::to_value(number))
        }
        (Time, Wire::Bytes([])) => None,
        (Time, Wire::Bytes(bytes)) => {
            let seconds = message(&TIMESTAMP, bytes, depth + 1)?;
            let seconds = seconds.get("seconds").and_then(Value::as_int).unwrap_or_default();
            Some(time::format(Timestamp { seconds, nanos: 0 }).into())
        }
        (Json, Wire::Bytes(bytes)) => {
            let raw = message(&RAW, bytes, depth + 1)?;
            let raw = raw.get("raw").and_then(Value::as_str).unwrap_or("null");
            Some(text::json::read(raw.as_bytes()).map_err(|e| e.message)?)
        }
        (Fields, Wire::Bytes(bytes)) => {
            let raw = message(&RAW, bytes, depth + 1)?;
            let raw = raw.get("raw").and_then(Value::as_str).unwrap_or("null");
            Some(text::json::read(raw.as_bytes()).unwrap_or_else(|_| Value::from(raw)))
        }
        (Items, Wire::Bytes(bytes)) => {
            let mut list = message(&ITEMS, bytes, depth + 1)?;
            Some(list.remove("items").unwrap_or(Value::Null))
        }
        (One(type_), Wire::Bytes(bytes)) => Some(Value::Object(message(type_, bytes, depth + 1)?)),
        (SchemaOrList, Wire::Bytes(bytes)) => {
            let mut schema_or = message(&SCHEMA_OR_LIST, bytes, depth + 1)?;
            schema_or.remove("jSONSchemas").or_else(|| schema_or.remove("schema")).or(Some(Value::Null))
        }
        (SchemaOrBool, Wire::Bytes(bytes)) => {
            let mut schema_or = message(&SCHEMA_OR_BOOL, bytes, depth + 1)?;
            let allows = schema_or.contains_key("allows");
            schema_or.remove("schema").or(Some(Value::Bool(allows)))
        }
        (SchemaOrTexts, Wire::Bytes(bytes)) => {
            let mut schema_or = message(&SCHEMA_OR_TEXTS, bytes, depth + 1)?;
            schema_or.remove("property").or_else(|| schema_or.remove("schema")).or(Some(Value::Null))
        }
        _ => return Err(wrong_wire_type()),
    })
}

/// The error for a wire type that a message does not expect, where the name of the field is not known.
fn wrong_wire_type() -> String {
    "proto: wrong wireType".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json::to_string;

    /// Encodes a bytes field.
    fn f(number: u8, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let bytes = bytes.as_ref();
        [&[number << 3 | 2, bytes.len() as u8][..], bytes].concat()
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        [PREFIX, &f(1, [f(1, api_version), f(2, kind)].concat()), &f(2, raw)].concat()
    }

    fn shown(api_version: &str, kind: &str, raw: &[u8]) -> String {
        to_string(&read(&body(api_version, kind, raw)).unwrap())
    }

    #[test]
    fn options_become_those_of_json() {
        let raw = [&[8, 0][..], &f(2, f(1, "u")), &[24, 0], &f(4, ""), &f(5, "All"), &f(5, "")].concat();
        assert_eq!(
            shown("meta.k8s.io/v1", "DeleteOptions", &raw),
            r#"{"apiVersion":"meta.k8s.io/v1","dryRun":["All",""],"gracePeriodSeconds":0,"kind":"DeleteOptions","orphanDependents":false,"preconditions":{"uid":"u"},"propagationPolicy":""}"#
        );
    }

    #[test]
    fn zero_values_are_omitted_like_in_json() {
        let labels = f(11, [f(1, "a"), f(2, "")].concat());
        let metadata = [f(1, "x"), f(2, ""), vec![56, 0], f(8, ""), f(9, [8, 1]), labels].concat();
        assert_eq!(
            shown("v1", "Namespace", &f(1, metadata)),
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"deletionTimestamp":"1970-01-01T00:00:01Z","labels":{"a":""},"name":"x"}}"#
        );
    }

    #[test]
    fn unions_of_schemas_are_decoded() {
        let text = f(5, "string");
        let list = |number: u8| [&[number | 0x80, 1][..], &[text.len() as u8 + 2], &f(1, &text)].concat();
        let maximum = [&[73][..], &1.5f64.to_le_bytes()].concat();
        let default = f(8, f(1, r#"{"a":[1]}"#));
        // items, additionalProperties: a field number above 15 takes a tag of two bytes.
        let schema = [maximum, default, list(24 << 3 & 0x7f | 2), vec![0xf2, 1, 2, 8, 1]].concat();
        let version = f(7, f(4, f(1, schema)));
        assert_eq!(
            shown("apiextensions.k8s.io/v1", "CustomResourceDefinition", &f(2, version)),
            concat!(
                r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"versions":[{"schema":{"openAPIV3Schema":"#,
                r#"{"additionalProperties":true,"default":{"a":[1]},"items":{"type":"string"},"maximum":1.5}}}]}}"#
            )
        );
    }

    #[test]
    fn owned_fields_are_not_parsed() {
        let entry = [f(1, "m"), f(7, f(1, r#"{"f:spec"W{}}"#))].concat();
        assert_eq!(
            shown("v1", "Namespace", &f(1, [&[17 << 3 & 0x7f | 2 | 0x80, 1, entry.len() as u8][..], &entry].concat())),
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"managedFields":[{"fieldsV1":"{\"f:spec\"W{}}","manager":"m"}]}}"#
        );
    }

    #[test]
    fn wire_types_in_map_entries_are_ignored() {
        // The value has the wire type of a group; field 3 is unknown.
        let labels = f(11, [&f(1, "a")[..], &[2 << 3 | 3, 1, b'b'], &[3 << 3, 7]].concat());
        assert_eq!(
            shown("v1", "Namespace", &f(1, labels)),
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"labels":{"a":"b"}}}"#
        );
    }

    #[test]
    fn infinities_and_nan_are_refused() {
        let maximum = [&[73][..], &f64::NAN.to_le_bytes()].concat();
        let raw = f(2, f(7, f(4, f(1, maximum))));
        let error = read(&body("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw)).unwrap_err();
        assert_eq!(error.into_text(), "json: unsupported value: NaN");
    }

    #[test]
    fn undecodable_objects_are_reported() {
        let text = |bytes: &[u8]| read(bytes).unwrap_err().into_text();
        assert_eq!(text(b""), "empty data");
        assert_eq!(text(b"k8s\0"), "empty body");
        assert!(text(b"{}").starts_with("provided data does not appear to be a protobuf message"));
        let whole = body("v1", "Namespace", &f(1, f(1, "x")));
        assert_eq!(text(whole.get(..whole.len() - 1).unwrap()), "unexpected EOF");
        assert_eq!(text(&[PREFIX, &[0xff; 12]].concat()), "proto: integer overflow");
        // `not` in `not`
        let nested = [0xe2, 1, 3, 0xe2, 1, 0];
        assert!(message(&SCHEMA, &nested, DEPTH - 2).is_ok());
        assert_eq!(message(&SCHEMA, &nested, DEPTH - 1).unwrap_err(), "exceeded max depth");
    }
}
