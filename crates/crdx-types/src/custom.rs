//! The types with their own `UnmarshalJSON`.

use crdx_text::json::cursor::{Cursor, JsonType};
use crdx_text::lossy;
use crdx_value::GoError;
use crdx_value::quantity::Quantity;
use crdx_value::release::Minor;
use crdx_value::time;

/// A type with its own `UnmarshalJSON`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Custom {
    /// `resource.Quantity`
    Quantity,
    /// `metav1.Time`
    Time,
    /// `metav1.MicroTime`
    MicroTime,
    /// `intstr.IntOrString`
    IntOrString,
    /// `metav1.Duration`
    Duration,
    /// `metav1.FieldsV1`
    FieldsV1,
    /// `runtime.RawExtension`
    RawExtension,
    /// `apiextensions.JSON`
    Json,
    /// `apiextensions.JSONSchemaPropsOrArray`
    SchemaOrList,
    /// `apiextensions.JSONSchemaPropsOrBool`
    SchemaOrBool,
    /// `apiextensions.JSONSchemaPropsOrStringArray`
    SchemaOrNames,
}

/// The reason why a value is rejected.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueError {
    /// `json.UnmarshalTypeError`: a description of the value, and the Go type that does not accept it. The reader adds
    /// the field.
    Type(String, &'static str),
    /// Any other error, with its message.
    Text(GoError),
}

impl Custom {
    /// The type with this name in the table. The generator of the table rejects names that are missing here.
    pub(super) fn named(name: &str) -> Self {
        match name.rsplit_once('.').map_or(name, |(_, bare)| bare) {
            "Quantity" => Self::Quantity,
            "Time" => Self::Time,
            "MicroTime" => Self::MicroTime,
            "IntOrString" => Self::IntOrString,
            "Duration" => Self::Duration,
            "FieldsV1" => Self::FieldsV1,
            "RawExtension" => Self::RawExtension,
            "JSONSchemaPropsOrArray" => Self::SchemaOrList,
            "JSONSchemaPropsOrBool" => Self::SchemaOrBool,
            "JSONSchemaPropsOrStringArray" => Self::SchemaOrNames,
            _ => Self::Json,
        }
    }

    /// Checks the text of a JSON value.
    ///
    /// # Errors
    /// Returns the reason why the type does not accept it.
    pub(super) fn read(self, literal: &[u8], release: Minor) -> Result<(), ValueError> {
        let mut cursor = Cursor::new(literal);
        let kind = cursor.kind();
        if kind == JsonType::Null {
            return Ok(());
        }
        match self {
            Self::Quantity => quantity(literal, release),
            Self::Time | Self::MicroTime if kind != JsonType::String => {
                Err(ValueError::Type(kind.name().to_owned(), "string"))
            }
            Self::Time => time::parse(&cursor.string()).map(drop).map_err(ValueError::Text),
            Self::MicroTime => time::parse_micro(&cursor.string()).map(drop).map_err(ValueError::Text),
            Self::IntOrString if kind == JsonType::String => Ok(()),
            Self::IntOrString if kind == JsonType::Number => {
                let number = lossy(literal);
                let fits = number.parse::<i32>().is_ok();
                if fits { Ok(()) } else { Err(ValueError::Type(format!("number {number}"), "int32")) }
            }
            Self::IntOrString => Err(ValueError::Type(kind.name().to_owned(), "int32")),
            // Any JSON is accepted unchanged. CRDs are decoded elsewhere.
            Self::Duration
            | Self::FieldsV1
            | Self::RawExtension
            | Self::Json
            | Self::SchemaOrList
            | Self::SchemaOrBool
            | Self::SchemaOrNames => Ok(()),
        }
    }
}

/// Checks a quantity, given as a string or number. Escape sequences of the string are not decoded.
fn quantity(literal: &[u8], release: Minor) -> Result<(), ValueError> {
    let inner = literal.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    // `strings.TrimSpace` trims Unicode white space, as `trim` does.
    Quantity::parse(lossy(inner.unwrap_or(literal)).trim(), release).map(drop).map_err(ValueError::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::release::V1_37;

    #[test]
    fn huge_quantities_are_fast() {
        let start = std::time::Instant::now();
        for text in ["\"1e2147483648\"", "1e2147483647", "\"-1e-2147483648\"", "\"1e9223372036854775807\""] {
            assert_eq!(Custom::Quantity.read(text.as_bytes(), V1_37), Ok(()), "{text}");
        }
        let digits = format!("\"{}Ei\"", "9".repeat(1 << 20));
        assert_eq!(Custom::Quantity.read(digits.as_bytes(), V1_37), Ok(()));
        assert!(start.elapsed().as_secs() < 5);
    }

    #[test]
    fn values_of_wrong_types_are_refused() {
        let fault = |custom: Custom, text: &str| custom.read(text.as_bytes(), V1_37).unwrap_err();
        assert_eq!(fault(Custom::Time, "5"), ValueError::Type("number".to_owned(), "string"));
        assert_eq!(fault(Custom::IntOrString, "1.5"), ValueError::Type("number 1.5".to_owned(), "int32"));
        assert_eq!(fault(Custom::IntOrString, "2147483648"), ValueError::Type("number 2147483648".to_owned(), "int32"));
        assert_eq!(fault(Custom::IntOrString, "{}"), ValueError::Type("object".to_owned(), "int32"));
        assert!(
            matches!(fault(Custom::Quantity, "{}"), ValueError::Text(text) if text.as_str().starts_with("quantities must match"))
        );
        for (custom, text) in [
            (Custom::IntOrString, "\"a\""),
            (Custom::IntOrString, "-0"),
            (Custom::Quantity, "\" 1 \""),
            (Custom::RawExtension, "[1]"),
            (Custom::Time, "null"),
        ] {
            assert_eq!(custom.read(text.as_bytes(), V1_37), Ok(()), "{text}");
        }
    }
}
