//! Encodes an OpenAPI v2 document as Protobuf, the form that kubectl requests: the messages of
//! `gnostic-models/openapiv2/OpenAPIv2.proto`, limited to those that published documents use.

use crdx_text::yaml;
use crdx_value::{Map, Value};

/// The maximum depth of schemas; schemas of CRDs are far less deep.
const DEPTH: usize = 1000;

/// A message type: its fields by JSON name, and the field number for members that start with `x-`.
struct Message {
    fields: &'static [(&'static str, u32, FieldEncoding)],
    extensions: u32,
}

/// The encoding of a field.
#[derive(Clone, Copy)]
enum FieldEncoding {
    Text,
    Texts,
    Bool,
    Int,
    Double,
    /// Any JSON value, encoded as YAML.
    Any,
    Anys,
    One(&'static Message),
    Repeated(&'static Message),
    /// A map from names to messages: a message of its own, whose entries have this field number.
    Named(u32, &'static Message),
    /// Like `Named`, but each value is a `oneof` in which the message has this field number.
    NamedOneOf(u32, &'static Message),
    /// `type`: a string or a list of strings.
    Types,
    /// `items`: a schema or a list of schemas.
    Items,
    /// `additionalProperties`: a schema or a boolean.
    Additional,
    /// The schema of a response, which is a `oneof` with a file schema.
    ResponseSchema,
    Parameters,
    NamedParameters,
}

use FieldEncoding::{
    Additional, Any, Anys, Bool, Double, Int, Items, Named, NamedOneOf, NamedParameters, One, Parameters, Repeated,
    ResponseSchema, Text, Texts, Types,
};

static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, Text),
        ("info", 2, One(&INFO)),
        ("host", 3, Text),
        ("basePath", 4, Text),
        ("schemes", 5, Texts),
        ("consumes", 6, Texts),
        ("produces", 7, Texts),
        ("paths", 8, Named(2, &PATH)),
        ("definitions", 9, Named(1, &SCHEMA)),
        ("parameters", 10, NamedParameters),
    ],
    extensions: 16,
};
static INFO: Message =
    Message { fields: &[("title", 1, Text), ("version", 2, Text), ("description", 3, Text)], extensions: 7 };
static PATH: Message = Message {
    fields: &[
        ("get", 2, One(&OPERATION)),
        ("put", 3, One(&OPERATION)),
        ("post", 4, One(&OPERATION)),
        ("delete", 5, One(&OPERATION)),
        ("options", 6, One(&OPERATION)),
        ("head", 7, One(&OPERATION)),
        ("patch", 8, One(&OPERATION)),
        ("parameters", 9, Parameters),
    ],
    extensions: 10,
};
static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Texts),
        ("summary", 2, Text),
        ("description", 3, Text),
        ("operationId", 5, Text),
        ("produces", 6, Texts),
        ("consumes", 7, Texts),
        ("parameters", 8, Parameters),
        ("responses", 9, NamedOneOf(1, &RESPONSE)),
        ("schemes", 10, Texts),
        ("deprecated", 11, Bool),
    ],
    extensions: 13,
};
static RESPONSE: Message =
    Message { fields: &[("description", 1, Text), ("schema", 2, ResponseSchema)], extensions: 5 };
static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, Text),
        ("format", 2, Text),
        ("title", 3, Text),
        ("description", 4, Text),
        ("default", 5, Any),
        ("multipleOf", 6, Double),
        ("maximum", 7, Double),
        ("exclusiveMaximum", 8, Bool),
        ("minimum", 9, Double),
        ("exclusiveMinimum", 10, Bool),
        ("maxLength", 11, Int),
        ("minLength", 12, Int),
        ("pattern", 13, Text),
        ("maxItems", 14, Int),
        ("minItems", 15, Int),
        ("uniqueItems", 16, Bool),
        ("maxProperties", 17, Int),
        ("minProperties", 18, Int),
        ("required", 19, Texts),
        ("enum", 20, Anys),
        ("additionalProperties", 21, Additional),
        ("type", 22, Types),
        ("items", 23, Items),
        ("allOf", 24, Repeated(&SCHEMA)),
        ("properties", 25, Named(1, &SCHEMA)),
        ("readOnly", 27, Bool),
        ("example", 30, Any),
    ],
    extensions: 31,
};
static BODY: Message = Message {
    fields: &[
        ("description", 1, Text),
        ("name", 2, Text),
        ("in", 3, Text),
        ("required", 4, Bool),
        ("schema", 5, One(&SCHEMA)),
    ],
    extensions: 6,
};
/// Header and path parameters have the same members with the same field numbers.
static IN_HEADER_OR_PATH: Message = Message {
    fields: &[
        ("required", 1, Bool),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 5, Text),
        ("format", 6, Text),
        ("uniqueItems", 19, Bool),
    ],
    extensions: 22,
};
static IN_QUERY: Message = Message {
    fields: &[
        ("required", 1, Bool),
        ("in", 2, Text),
        ("description", 3, Text),
        ("name", 4, Text),
        ("type", 6, Text),
        ("format", 7, Text),
        ("uniqueItems", 20, Bool),
    ],
    extensions: 23,
};
static REFERENCE: Message = Message { fields: &[("$ref", 1, Text), ("description", 2, Text)], extensions: 0 };

/// Encodes an OpenAPI v2 document.
pub fn encode(document: &Value) -> Vec<u8> {
    message(&DOCUMENT, document, 0)
}

fn message(message: &'static Message, value: &Value, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let Some(members) = value.as_object().filter(|_| depth < DEPTH) else { return out };
    for (name, number, kind) in message.fields {
        if let Some(value) = members.get(name) {
            field(&mut out, *number, *kind, value, depth + 1);
        }
    }
    if message.extensions > 0 {
        for (name, value) in members.iter().filter(|(name, _)| name.starts_with("x-")) {
            entry(&mut out, message.extensions, name, &any(value));
        }
    }
    out
}

fn field(out: &mut Vec<u8>, number: u32, kind: FieldEncoding, value: &Value, depth: usize) {
    let items = || value.as_array().unwrap_or_default();
    match kind {
        Text => bytes(out, number, value.as_str().unwrap_or_default().as_bytes()),
        Texts => items().iter().for_each(|v| bytes(out, number, v.as_str().unwrap_or_default().as_bytes())),
        Bool => varint_field(out, number, u64::from(value.as_bool() == Some(true))),
        Int => varint_field(out, number, value.as_int().unwrap_or_default() as u64),
        Double => double(out, number, value),
        Any => bytes(out, number, &any(value)),
        Anys => items().iter().for_each(|v| bytes(out, number, &any(v))),
        One(of) => bytes(out, number, &message(of, value, depth)),
        Repeated(of) => items().iter().for_each(|v| bytes(out, number, &message(of, v, depth))),
        Named(entries, of) => bytes(out, number, &named(value, entries, |v| message(of, v, depth))),
        NamedOneOf(entries, of) => {
            bytes(out, number, &named(value, entries, |v| wrapped(1, &message(of, v, depth))));
        }
        NamedParameters => bytes(out, number, &named(value, 1, |v| parameter(v, depth))),
        Types => {
            let mut types = Vec::new();
            let one = std::slice::from_ref(value);
            field(&mut types, 1, Texts, &Value::Array(value.as_array().unwrap_or(one).to_vec()), depth);
            bytes(out, number, &types);
        }
        Items => {
            let mut schemas = Vec::new();
            for schema in value.as_array().unwrap_or(std::slice::from_ref(value)) {
                bytes(&mut schemas, 1, &message(&SCHEMA, schema, depth));
            }
            bytes(out, number, &schemas);
        }
        Additional => {
            let mut schema_or = Vec::new();
            match value {
                Value::Bool(allowed) => varint_field(&mut schema_or, 2, u64::from(*allowed)),
                schema => bytes(&mut schema_or, 1, &message(&SCHEMA, schema, depth)),
            }
            bytes(out, number, &schema_or);
        }
        ResponseSchema => bytes(out, number, &wrapped(1, &message(&SCHEMA, value, depth))),
        Parameters => {
            for item in items() {
                let schema_or = match item.get("$ref") {
                    Some(_) => wrapped(2, &message(&REFERENCE, item, depth)),
                    None => wrapped(1, &parameter(item, depth)),
                };
                bytes(out, number, &schema_or);
            }
        }
    }
}

/// Encodes a body parameter or a non-body parameter.
fn parameter(value: &Value, depth: usize) -> Vec<u8> {
    let (number, of) = match value.str_at(&["in"]) {
        Some("body") => return wrapped(1, &message(&BODY, value, depth)),
        Some("header") => (1, &IN_HEADER_OR_PATH),
        Some("query") => (3, &IN_QUERY),
        _ => (4, &IN_HEADER_OR_PATH),
    };
    wrapped(2, &wrapped(number, &message(of, value, depth)))
}

fn named(value: &Value, number: u32, mut write: impl FnMut(&Value) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    let none = Map::new();
    for (name, value) in value.as_object().unwrap_or(&none) {
        entry(&mut out, number, name, &write(value));
    }
    out
}

/// Encodes a `Named…` message: a name and a value.
fn entry(out: &mut Vec<u8>, number: u32, name: &str, value: &[u8]) {
    let mut pair = Vec::new();
    bytes(&mut pair, 1, name.as_bytes());
    bytes(&mut pair, 2, value);
    bytes(out, number, &pair);
}

/// Encodes an `Any` message, whose text is YAML.
fn any(value: &Value) -> Vec<u8> {
    wrapped(2, yaml::write::to_string(value).as_bytes())
}

fn wrapped(number: u32, inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len() + 6);
    bytes(&mut out, number, inner);
    out
}

fn bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    varint(out, u64::from(number) << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    varint(out, u64::from(number) << 3);
    varint(out, value);
}

fn double(out: &mut Vec<u8>, number: u32, value: &Value) {
    let number_value = match value {
        Value::Int(i) => *i as f64,
        Value::Float(x) => *x,
        _ => return,
    };
    varint(out, u64::from(number) << 3 | 1);
    out.extend_from_slice(&number_value.to_le_bytes());
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn messages_are_length_delimited() {
        let document = read(br#"{"swagger":"2.0","info":{"title":"t","x-a":1}}"#).unwrap();
        let info = b"\x0a\x01t\x3a\x0b\x0a\x03x-a\x12\x04\x12\x021\n";
        let mut expected = b"\x0a\x032.0\x12".to_vec();
        expected.push(info.len() as u8);
        expected.extend(info);
        assert_eq!(encode(&document), expected);
    }

    #[test]
    fn schemas_keep_their_shapes() {
        let schema = |text: &str| message(&SCHEMA, &read(text.as_bytes()).unwrap(), 0);
        assert_eq!(schema(r#"{"type":"object"}"#), b"\xb2\x01\x08\x0a\x06object");
        assert_eq!(schema(r#"{"additionalProperties":true}"#), b"\xaa\x01\x02\x10\x01");
        assert_eq!(schema(r#"{"maxLength":300}"#), b"\x58\xac\x02");
        assert_eq!(schema(r#"{"maximum":1}"#), [&[0x39][..], &1f64.to_le_bytes()].concat());
        assert_eq!(schema(r#"{"items":{"$ref":"a"}}"#), b"\xba\x01\x05\x0a\x03\x0a\x01a");
        assert_eq!(
            message(&PATH, &read(br#"{"parameters":[{"in":"query","name":"n","type":"string"}]}"#).unwrap(), 0),
            b"\x4a\x18\x0a\x16\x12\x14\x1a\x12\x12\x05query\x22\x01n\x32\x06string"
        );
    }
}
