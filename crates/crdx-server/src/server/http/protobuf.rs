//! Decodes Protobuf bodies of CRDs, namespaces, the kinds of admission and delete options, which typed Go clients send
//! (`runtime/serializer/protobuf`), by their Go types.

use crate::server::http::body::unreadable::Unreadable;
use crdx_text::malformed::MalformedStrings;
use crdx_text::protobuf::{Error, MessageReader, Wire};
use crdx_types::protobuf;
use crdx_types::types::{TypeId, Types};
use crdx_value::GoError;
use crdx_value::group_version;
use crdx_value::release::Release;
use crdx_value::{Map, Value};

/// The magic number at the start of every body.
const PREFIX: &[u8] = b"k8s\0";

/// The groups of admission and of reviews, whose kinds are decoded in version v1.
const ADMISSION: [&str; 3] = ["admissionregistration.k8s.io", "authorization.k8s.io", "authentication.k8s.io"];

fn of_kind(release: Release, api_version: &str, kind: &str) -> Option<(&'static Types, TypeId)> {
    let types = Types::for_release(release.minor().number().into());
    Some((types, types.of_kind(api_version, kind)?))
}

/// The Go type of a kind; `DeleteOptions` exist in every version.
fn type_of(release: Release, api_version: &str, kind: &str) -> Option<(&'static Types, TypeId)> {
    let name = match (api_version, kind) {
        (_, "DeleteOptions") => "meta/v1.DeleteOptions",
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => "apiextensions/v1.CustomResourceDefinition",
        ("autoscaling/v1", "Scale") => "autoscaling/v1.Scale",
        ("v1", "Namespace" | "ConfigMap") => return of_kind(release, api_version, kind),
        (api_version, kind) => {
            let group = api_version.strip_suffix("/v1").filter(|group| ADMISSION.contains(group));
            return group.and_then(|_| of_kind(release, api_version, kind));
        }
    };
    let types = Types::of_definitions(release);
    Some((types, types.id(name)?))
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
pub(in crate::server) fn read(body: &[u8], default: DefaultType<'_>, release: Release) -> Result<Object, Unreadable> {
    let envelope = open(body, default).map_err(|error| Unreadable::Early(error.into()))?;
    let mut malformed = envelope.malformed.clone();
    let mut object = Map::new();
    if let Some((types, id)) = type_of(release, &envelope.api_version, &envelope.kind) {
        let message = protobuf::read(types, id, envelope.raw).map_err(|error| Unreadable::Late(error.to_string()))?;
        malformed.append(message.malformed);
        if let Value::Object(members) = message.value {
            object = members;
        }
    }
    object.append(&mut envelope.types());
    Ok(Object { value: Value::Object(object), malformed })
}

/// Decodes the envelope of a body. A missing kind, and a missing or malformed apiVersion, are those of `default`
/// (`copyKindDefaults` in `runtime/serializer/protobuf`).
pub(in crate::server) fn open<'b>(body: &'b [u8], default: DefaultType<'_>) -> Result<Envelope<'b>, GoError> {
    if body.is_empty() {
        return Err("empty data".into());
    }
    let Some(envelope) = body.strip_prefix(PREFIX) else {
        return Err("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]".into());
    };
    if envelope.is_empty() {
        return Err("empty body".into());
    }
    let parts = Parts::read(envelope).map_err(|error| GoError::from(error.to_string()))?;
    let mut malformed = MalformedStrings::default();
    // Some messages show only the version.
    parts.api_version.split(|byte| *byte == b'/').for_each(|part| drop(malformed.decode(part)));
    let (api_version, kind) = (malformed.decode(parts.api_version), malformed.decode(parts.kind));
    let kind = if kind.is_empty() { default.kind.to_owned() } else { kind };
    let api_version = match group_version::parse(&api_version) {
        Err(_) | Ok((_, "")) => default.api_version.to_owned(),
        Ok((group, version)) => group_version::api_version(group, version),
    };
    Ok(Envelope { api_version, kind, raw: parts.raw, malformed })
}

/// The parts of an envelope (`runtime.Unknown`).
#[derive(Default)]
struct Parts<'b> {
    api_version: &'b [u8],
    kind: &'b [u8],
    raw: &'b [u8],
}

impl<'b> Parts<'b> {
    fn read(envelope: &'b [u8]) -> Result<Self, Error> {
        let texts = |names: &'static [&'static str]| {
            move |number: u64, wire| match usize::try_from(number).ok().and_then(|at| names.get(at.checked_sub(1)?)) {
                None => Ok(false),
                Some(_) if wire == 2 => Ok(true),
                Some(field) => Err(Error::WrongWireType { wire, field: (*field).to_owned() }),
            }
        };
        let mut parts = Self::default();
        let mut reader = MessageReader::new(envelope);
        let fields = texts(&["TypeMeta", "Raw", "ContentEncoding", "ContentType"]);
        while let Some((number, value)) = reader.known("Unknown", fields)? {
            match (number, value) {
                // A second type is merged with the first.
                (1, Wire::Bytes(bytes)) => {
                    let mut reader = MessageReader::new(bytes);
                    while let Some((number, value)) = reader.known("TypeMeta", texts(&["APIVersion", "Kind"]))? {
                        match (number, value) {
                            (1, Wire::Bytes(bytes)) => parts.api_version = bytes,
                            (_, Wire::Bytes(bytes)) => parts.kind = bytes,
                            _ => {}
                        }
                    }
                }
                (2, Wire::Bytes(bytes)) => parts.raw = bytes,
                _ => {}
            }
        }
        Ok(parts)
    }
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
        to_string(&read(&body(api_version, kind, raw), TYPE, Release::NEWEST).unwrap().value)
    }

    /// Decodes a CRD with a schema of its first version.
    fn of_schema(schema: impl AsRef<[u8]>) -> Result<Object, Unreadable> {
        let raw = f(2, f(7, f(4, f(1, schema))));
        read(&body("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw), TYPE, Release::NEWEST)
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
        read(&[PREFIX, &f(1, type_), &f(2, raw)].concat(), TYPE, Release::NEWEST).unwrap()
    }

    #[test]
    fn undecodable_objects_are_reported() {
        let text = |bytes: &[u8]| read(bytes, TYPE, Release::NEWEST).unwrap_err().into_text();
        assert_eq!(text(b""), "empty data");
        assert_eq!(text(b"k8s\0"), "empty body");
        assert!(text(b"{}").starts_with("provided data does not appear to be a protobuf message"));
        let whole = body("v1", "Namespace", &f(1, f(1, "x")));
        assert_eq!(text(whole.get(..whole.len() - 1).unwrap()), "unexpected EOF");
        assert_eq!(text(&[PREFIX, &[0xff; 12]].concat()), "proto: integer overflow");
    }

    /// Encodes a namespace in an envelope with this type.
    fn typed(type_: &[u8]) -> Result<Object, Unreadable> {
        read(&[PREFIX, type_, &f(2, f(1, f(1, "x")))].concat(), TYPE, Release::NEWEST)
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
        let read = read(&body("v1", "Thing", &[0xff]), TYPE, Release::NEWEST).unwrap();
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
