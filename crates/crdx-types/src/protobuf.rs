//! Decodes objects from Protobuf, which typed Go clients send (`generated.proto` of each API group).
//!
//! - `fields` has the types of the fields of a message.
//! - `wire` reads the fields of a message, as the generated Go code does.
//! - `values` converts them to the JSON value of the object. Go encodes fields with zero values that JSON omits; they are
//!   omitted here too, except for pointers.

mod fields;
mod values;
mod wire;

use super::types::{TypeId, Types};
use crdx_text::malformed::MalformedStrings;
use crdx_text::protobuf as wire_format;
use crdx_value::Value;
use fields::FieldType;
use values::Converter;

/// An object that cannot be decoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The bytes are malformed.
    #[error(transparent)]
    Wire(#[from] wire_format::Error),
    /// A text that should be JSON is not.
    #[error(transparent)]
    Json(#[from] crdx_text::Error),
}

/// A decoded message.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// The value of the object. Its numbers may be NaN or infinite.
    pub value: Value,
    /// The strings that are not UTF-8.
    pub malformed: MalformedStrings,
}

/// Decodes a message into an object of a struct type.
///
/// # Errors
/// Returns an error for malformed bytes.
pub fn read(types: &'static Types, id: TypeId, message: &[u8]) -> Result<Message, Error> {
    let mut converter = Converter { types, malformed: MalformedStrings::default() };
    let fields = wire::read(types, FieldType::Message(id), message)?;
    let value = Value::Object(converter.object(FieldType::Message(id), &fields)?);
    Ok(Message { value, malformed: converter.malformed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    #[test]
    fn messages_are_decoded_by_their_field_numbers() {
        let types = Types::for_release(37);
        let read = |name: &str, bytes: &[u8]| read(types, types.id(name).unwrap(), bytes).map(|message| message.value);
        // name, an empty image, a port, and a volume mount
        let container = b"\x0a\x01a\x12\x00\x32\x0b\x0a\x00\x10\x00\x18\x50\x22\x03TCP\x4a\x05\x0a\x01v\x10\x01";
        assert_eq!(
            to_string(&read("core/v1.Container", container).unwrap()),
            r#"{"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}],"volumeMounts":[{"name":"v","readOnly":true}]}"#
        );
        // An embedded struct: a volume with an empty directory
        let volume = b"\x0a\x01v\x12\x04\x12\x02\x0a\x00";
        assert_eq!(to_string(&read("core/v1.Volume", volume).unwrap()), r#"{"emptyDir":{},"name":"v"}"#);
        // A map of quantities
        let resources = b"\x0a\x0a\x0a\x03cpu\x12\x03\x0a\x011";
        assert_eq!(to_string(&read("core/v1.ResourceRequirements", resources).unwrap()), r#"{"limits":{"cpu":"1"}}"#);
        assert!(read("core/v1.Container", b"\x0a\x05a").is_err());
    }

    #[test]
    fn map_entries_are_read_as_by_the_generated_code() {
        let types = Types::for_release(37);
        let read = |bytes: &[u8]| read(types, types.id("core/v1.Secret").unwrap(), bytes).map(|message| message.value);
        // `data` has a key with the wire type of a number, an unknown group and no value.
        let object = read(b"\x12\x05\x08\x01k\x1b\x1c").unwrap();
        assert_eq!(to_string(&object), r#"{"data":{"k":null}}"#);
        // The value ends after the entry. Its bytes are read again: they are the type.
        let object = read(b"\x12\x05\x0a\x01k\x12\x03\x1a\x01t").unwrap();
        assert_eq!(to_string(&object), r#"{"data":{"k":"GgF0"},"type":"t"}"#);
    }

    #[test]
    fn wrong_wire_types_are_refused_and_unknown_fields_are_skipped() {
        let types = Types::for_release(37);
        let read = |bytes: &[u8]| read(types, types.id("core/v1.Secret").unwrap(), bytes).map(|message| message.value);
        assert_eq!(read(b"\x18\x01").unwrap_err().to_string(), "proto: wrong wireType = 0 for field Type");
        assert_eq!(read(b"\x04").unwrap_err().to_string(), "proto: Secret: wiretype end group for non-group");
        assert_eq!(to_string(&read(b"\xfb\x01\x08\x01\xfc\x01\x1a\x01t").unwrap()), r#"{"type":"t"}"#);
    }
}
