//! Decodes Protobuf bodies of CRDs, namespaces, the kinds of admission and delete options, which typed Go clients send
//! (`runtime/serializer/protobuf`, `generated.proto` of `apiextensions/v1`, `meta/v1` and `core/v1`).
//!
//! - [`wire`] reads the fields of a message, as the generated Go code does.
//! - [`json`] converts them to the JSON value of the object. Go encodes fields with zero values that JSON omits; they are
//!   omitted here too, except for pointers.

mod admission;
mod json;
mod messages;
mod wire;

use crate::server::http::body::unreadable::Unreadable;
use crdx_text::malformed::MalformedStrings;
use crdx_text::protobuf::Error;
use crdx_value::group_version;
use crdx_value::{Map, Value};
use json::Converter;
use wire::Node;

/// The magic number at the start of every body.
const PREFIX: &[u8] = b"k8s\0";

/// A message of `generated.proto`.
struct Message {
    /// The name in Go.
    name: &'static str,
    /// The numbers, names in JSON and types of the fields.
    fields: &'static [(u64, &'static str, Kind)],
}

const fn message(name: &'static str, fields: &'static [(u64, &'static str, Kind)]) -> Message {
    Message { name, fields }
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
    Int32,
    /// `*int32`: 0 is kept.
    Int32Pointer,
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

/// The message type of a kind; `DeleteOptions` exist in every version.
fn message_of(api_version: &str, kind: &str) -> Option<&'static Message> {
    match (api_version, kind) {
        (_, "DeleteOptions") => Some(&messages::DELETE_OPTIONS),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => Some(&messages::DEFINITION),
        ("v1", "Namespace") => Some(&messages::NAMESPACE),
        ("v1", "ConfigMap") => Some(&admission::CONFIG_MAP),
        ("autoscaling/v1", "Scale") => Some(&messages::AUTOSCALING),
        (api_version, kind) => admission::message_of(api_version, kind),
    }
}

/// The type that the path of a request implies.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct DefaultType<'a> {
    /// The group and version.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
}

/// The envelope of an object (`runtime.Unknown`).
pub(in crate::server) struct Envelope<'b> {
    /// The group and version of the object.
    pub api_version: String,
    /// The kind of the object.
    pub kind: String,
    /// The encoded object.
    pub raw: &'b [u8],
    /// The group and version, the version and the kind, if they are not UTF-8.
    malformed: MalformedStrings,
}

impl Envelope<'_> {
    /// The apiVersion and the kind as members of an object.
    pub fn types(self) -> Map {
        Map::from([("apiVersion".to_owned(), self.api_version.into()), ("kind".to_owned(), self.kind.into())])
    }
}

/// A decoded body.
#[derive(Debug)]
pub(in crate::server) struct Object {
    /// The object. Its numbers may be NaN or infinite.
    pub value: Value,
    /// The strings of the object that are not UTF-8.
    pub malformed: MalformedStrings,
}

/// Decodes a body. For an unknown type only its apiVersion and kind are returned, which the error response needs.
pub(in crate::server) fn read(body: &[u8], default: DefaultType<'_>) -> Result<Object, Unreadable> {
    let envelope = open(body, default).map_err(Unreadable::Early)?;
    let mut converter = Converter { malformed: envelope.malformed.clone() };
    let mut object = match message_of(&envelope.api_version, &envelope.kind) {
        Some(type_) => converted(&mut converter, type_, envelope.raw).map_err(|e| Unreadable::Late(e.to_string()))?,
        None => Map::new(),
    };
    object.append(&mut envelope.types());
    Ok(Object { value: Value::Object(object), malformed: converter.malformed })
}

fn converted(converter: &mut Converter, type_: &'static Message, raw: &[u8]) -> Result<Map, json::Error> {
    converter.object(type_, &wire::fields(type_, raw)?)
}

/// Decodes the envelope of a body. A missing kind, and a missing or malformed apiVersion, are those of `default`
/// (`copyKindDefaults` in `runtime/serializer/protobuf`).
pub(in crate::server) fn open<'b>(body: &'b [u8], default: DefaultType<'_>) -> Result<Envelope<'b>, String> {
    if body.is_empty() {
        return Err("empty data".to_owned());
    }
    let Some(envelope) = body.strip_prefix(PREFIX) else {
        return Err("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]".to_owned());
    };
    if envelope.is_empty() {
        return Err("empty body".to_owned());
    }
    let fields = wire::fields(&messages::ENVELOPE, envelope).map_err(|error| error.to_string())?;
    let bytes = |fields: &wire::Fields<'b>, number: u64| match fields.get(&number) {
        Some(Node::Bytes(bytes)) => *bytes,
        _ => &[],
    };
    let mut malformed = MalformedStrings::default();
    let (api_version, kind) = match fields.get(&1) {
        Some(Node::Message(types)) => {
            let api_version = bytes(types, 1);
            // Some messages show only the version.
            api_version.split(|byte| *byte == b'/').for_each(|part| drop(malformed.decode(part)));
            (malformed.decode(api_version), malformed.decode(bytes(types, 2)))
        }
        _ => Default::default(),
    };
    let kind = if kind.is_empty() { default.kind.to_owned() } else { kind };
    let api_version = match group_version::parse(&api_version) {
        Err(_) | Ok((_, "")) => default.api_version.to_owned(),
        Ok((group, version)) => group_version::api_version(group, version),
    };
    Ok(Envelope { api_version, kind, raw: bytes(&fields, 2), malformed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    const TYPE: DefaultType<'_> = DefaultType { api_version: "v1", kind: "Namespace" };

    /// Encodes a bytes field.
    fn f(number: u8, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let bytes = bytes.as_ref();
        [&[number << 3 | 2, bytes.len() as u8][..], bytes].concat()
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        [PREFIX, &f(1, [f(1, api_version), f(2, kind)].concat()), &f(2, raw)].concat()
    }

    fn shown(api_version: &str, kind: &str, raw: &[u8]) -> String {
        to_string(&read(&body(api_version, kind, raw), TYPE).unwrap().value)
    }

    /// Decodes a CRD with a schema of its first version.
    fn of_schema(schema: impl AsRef<[u8]>) -> Result<Object, Unreadable> {
        let raw = f(2, f(7, f(4, f(1, schema))));
        read(&body("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw), TYPE)
    }

    /// The decoded schema of the first version of a CRD.
    fn schema(schema: impl AsRef<[u8]>) -> Value {
        let read = of_schema(schema).unwrap().value;
        read.at(&["spec", "versions"]).unwrap().as_array().unwrap()[0]
            .at(&["schema", "openAPIV3Schema"])
            .unwrap()
            .clone()
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
    fn infinities_and_nan_are_kept() {
        let maximum = |number: f64| schema([&[73][..], &number.to_le_bytes()].concat()).get("maximum").cloned();
        assert!(matches!(maximum(f64::NAN), Some(Value::Float(number)) if number.is_nan()));
        assert_eq!(maximum(f64::NEG_INFINITY), Some(Value::Float(f64::NEG_INFINITY)));
    }

    #[test]
    fn items_without_a_schema_are_a_list() {
        assert_eq!(to_string(&schema([24 << 3 & 0x7f | 2 | 0x80, 1, 0])), r#"{"items":[]}"#);
    }

    #[test]
    fn strings_that_are_not_utf8_are_kept() {
        let read = of_schema(f(15, b"^\xc3(")).unwrap();
        assert!(to_string(&read.value).contains("{\"pattern\":\"^\u{fffd}(\"}"));
        assert_eq!(read.malformed.get("^\u{fffd}("), Some(&b"^\xc3("[..]));
        // A map key, the version and the kind; JSON texts are decoded like any JSON.
        let labels = f(11, [f(1, b"\xff"), f(2, "")].concat());
        let namespace = read_bytes(b"g/v\xfe", b"\xfd", &[]);
        assert_eq!(
            ["g/v\u{fffd}", "v\u{fffd}", "\u{fffd}"].map(|text| namespace.malformed.quote(text)),
            [r#""g/v\xfe""#, r#""v\xfe""#, r#""\xfd""#]
        );
        assert_eq!(read_bytes(b"v1", b"Namespace", &f(1, labels)).malformed.quote("\u{fffd}"), r#""\xff""#);
        assert!(of_schema(f(8, f(1, b"\"\xff\""))).unwrap().malformed.is_empty());
    }

    fn read_bytes(api_version: &[u8], kind: &[u8], raw: &[u8]) -> Object {
        let type_ = [f(1, api_version), f(2, kind)].concat();
        read(&[PREFIX, &f(1, type_), &f(2, raw)].concat(), TYPE).unwrap()
    }

    #[test]
    fn undecodable_objects_are_reported() {
        let text = |bytes: &[u8]| read(bytes, TYPE).unwrap_err().into_text();
        assert_eq!(text(b""), "empty data");
        assert_eq!(text(b"k8s\0"), "empty body");
        assert!(text(b"{}").starts_with("provided data does not appear to be a protobuf message"));
        let whole = body("v1", "Namespace", &f(1, f(1, "x")));
        assert_eq!(text(whole.get(..whole.len() - 1).unwrap()), "unexpected EOF");
        assert_eq!(text(&[PREFIX, &[0xff; 12]].concat()), "proto: integer overflow");
    }

    /// Encodes a namespace in an envelope with this type.
    fn typed(type_: &[u8]) -> Result<Object, Unreadable> {
        read(&[PREFIX, type_, &f(2, f(1, f(1, "x")))].concat(), TYPE)
    }

    #[test]
    fn a_type_that_is_missing_or_malformed_is_that_of_the_path() {
        let missing = [
            vec![],
            f(1, f(1, "v1")),
            f(1, f(2, "Namespace")),
            f(1, [f(1, "a/b/c"), f(2, "Namespace")].concat()),
            f(1, [f(1, "a/"), f(2, "Namespace")].concat()),
            f(1, f(1, "/v1")),
            // A second type is merged with the first.
            [f(1, f(1, "v1")), f(1, f(2, "Namespace"))].concat(),
        ];
        for type_ in missing {
            let read = typed(&type_).unwrap();
            assert_eq!(
                to_string(&read.value),
                r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x"}}"#,
                "{type_:?}"
            );
        }
    }

    #[test]
    fn an_object_of_an_unknown_type_is_not_decoded() {
        let read = read(&body("v1", "Thing", &[0xff]), TYPE).unwrap();
        assert_eq!(to_string(&read.value), r#"{"apiVersion":"v1","kind":"Thing"}"#);
    }

    #[test]
    fn messages_that_occur_twice_are_merged() {
        let raw = [f(1, [f(1, "x"), f(2, "g")].concat()), f(1, [f(1, "y"), f(14, "f")].concat())].concat();
        assert_eq!(
            shown("v1", "Namespace", &raw),
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"finalizers":["f"],"generateName":"g","name":"y"}}"#
        );
    }

    #[test]
    fn integers_are_cut_to_the_size_of_their_type() {
        let priority = [&[5 << 3][..], &[0x81, 0x80, 0x80, 0x80, 0x10]].concat();
        let raw = f(2, f(7, f(6, priority)));
        assert_eq!(
            shown("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw),
            r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"versions":[{"additionalPrinterColumns":[{"priority":1}]}]}}"#
        );
    }

    #[test]
    fn json_is_parsed_after_the_whole_message() {
        let default = |text: &str| f(8, f(1, text));
        // Only the last text counts, and malformed bytes are reported first.
        assert!(of_schema([default("{"), default("1")].concat()).is_ok());
        let error = of_schema([&default("{")[..], &[15 << 3]].concat()).unwrap_err();
        assert_eq!(error.into_text(), "proto: wrong wireType = 0 for field Pattern");
    }
}
