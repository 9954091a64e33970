//! The second pass over a body: decodes it into a Go type like `sigs.k8s.io/json`.
//!
//! An error of a type with its own `UnmarshalJSON` ends decoding and replaces earlier errors; of other type mismatches
//! the first one is kept while decoding continues. Strict errors are reported only if there is neither. Values of
//! unknown keys are not checked.

use super::custom::{Custom, ValueError};
use super::types::{Struct, Type, TypeDefinition, TypeId, Types};
use crdx_text::json::cursor::{Cursor, JsonType};
use crdx_text::strict::StrictError;
use crdx_value::base64::Encoding;
use std::collections::BTreeSet;
use std::fmt;

/// The maximum number of strict errors (`saveStrictError`).
const MAX_STRICT: usize = 100;

/// The maximum depth to which values are checked, because some types are recursive and the stack is limited.
const MAX_DEPTH: usize = 500;

/// Since this release, error messages name the embedded structs on the path to a field (newer `sigs.k8s.io/json`).
const NAMES_EMBEDDED_SINCE: u32 = 35;

/// A field that only strict validation rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strict {
    /// True for a duplicate field, false for an unknown field.
    pub duplicate: bool,
    /// The path of the field, such as `spec.containers[0].imagee`.
    pub path: String,
    /// The name of the field.
    pub field: String,
    /// The type that does not have the field.
    pub type_: Option<TypeId>,
}

impl Strict {
    /// The decoder's error.
    pub fn error(&self) -> StrictError {
        let path = self.path.clone();
        if self.duplicate { StrictError::DuplicateField(path) } else { StrictError::UnknownField(path) }
    }
}

/// The error that ended decoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// Go's error message.
    pub message: String,
    /// The path of the field, including indexes and map keys that Go's message may omit.
    pub path: String,
}

/// A violation of the published schema that decoding does not report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A required field is missing.
    Field {
        /// The path of the object without the field; empty for the root.
        object: String,
        /// The name of the field.
        field: &'static str,
    },
    /// A value that is not in the enum.
    Value {
        /// The path of the field.
        path: String,
        /// The value found.
        value: String,
        /// The values of the enum.
        allowed: Vec<&'static str>,
    },
}

/// The findings in a body that do not make decoding fail.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub strict: Vec<Strict>,
    pub missing: Vec<Missing>,
}

/// Decodes `body` into a struct. The body must be a syntactically valid object or `null`.
pub(super) fn read(types: &'static Types, root: TypeId, body: &[u8]) -> Result<Findings, DecodeError> {
    let mut reader = TypedReader {
        types,
        cursor: Cursor::new(body),
        struct_: "",
        fields: Vec::new(),
        path: StrictPath::default(),
        seen: BTreeSet::new(),
        error: None,
        found: Findings::default(),
    };
    if let (Some(TypeDefinition::Struct(s)), JsonType::Object) = (types.definition(root), reader.cursor.kind()) {
        reader.object(root, s)?;
    }
    reader.error.map_or(Ok(reader.found), Err)
}

struct TypedReader<'a> {
    types: &'static Types,
    cursor: Cursor<'a>,
    /// The struct and the path for type mismatch errors.
    struct_: &'static str,
    fields: Vec<&'static str>,
    path: StrictPath,
    /// The strict errors so far, for removing duplicates.
    seen: BTreeSet<(bool, String)>,
    error: Option<DecodeError>,
    found: Findings,
}

/// A path in strict errors, in which empty keys are included.
#[derive(Debug, Default)]
struct StrictPath {
    text: String,
    depth: usize,
}

impl StrictPath {
    fn mark(&self) -> (usize, usize) {
        (self.text.len(), self.depth)
    }

    fn reset(&mut self, (length, depth): (usize, usize)) {
        self.text.truncate(length);
        self.depth = depth;
    }

    fn key(&mut self, key: &str) {
        if self.depth > 0 {
            self.text.push('.');
        }
        self.text.push_str(key);
        self.depth += 1;
    }

    fn index(&mut self, index: usize) {
        use fmt::Write as _;
        let _ = write!(self.text, "[{index}]");
        self.depth += 1;
    }

    fn with(&self, key: &str) -> String {
        if self.depth > 0 { format!("{}.{key}", self.text) } else { key.to_owned() }
    }
}

/// The kind of a type, without pointers and type names.
enum Base {
    Struct(TypeId, &'static Struct),
    Custom(Custom),
    /// A scalar, with the values of its enum in the published schema.
    Plain(&'static Type, &'static [&'static str]),
}

fn base(types: &'static Types, shown: &'static Type) -> Base {
    let Type::Named(id) = shown else { return Base::Plain(shown, &[]) };
    match types.definition(*id) {
        Some(TypeDefinition::Struct(s)) => Base::Struct(*id, s),
        Some(TypeDefinition::Custom(custom)) => Base::Custom(*custom),
        Some(TypeDefinition::Named { of, constants }) => Base::Plain(of, constants),
        None => Base::Plain(shown, &[]),
    }
}

impl TypedReader<'_> {
    /// Decodes the value at the cursor. The recursion is bounded by [`MAX_DEPTH`].
    fn value(&mut self, type_: &'static Type) -> Result<(), DecodeError> {
        let shown = type_.target();
        let kind = self.cursor.kind();
        match (base(self.types, shown), kind) {
            // A null sets a pointer to nil and leaves other values unchanged, and every type with its own
            // `UnmarshalJSON` accepts it.
            (_, JsonType::Null) | (Base::Plain(Type::Bool, _), JsonType::Bool) => {
                self.cursor.literal();
            }
            _ if self.path.depth > MAX_DEPTH => {
                self.cursor.literal();
            }
            (Base::Custom(custom), _) => {
                let literal = self.cursor.literal();
                return custom.read(literal, self.types.minor()).map_err(|fault| match fault {
                    ValueError::Type(value, type_) => self.mismatch(&value, &type_),
                    ValueError::Text(message) => self.error(message.into()),
                });
            }
            (Base::Struct(id, s), JsonType::Object) => return self.object(id, s),
            (Base::Plain(Type::Map(_, value), _), JsonType::Object) => return self.map(value),
            (Base::Plain(Type::List(item), _), JsonType::Array) => return self.list(item),
            (Base::Plain(Type::List(item), _), JsonType::String) if **item == Type::Uint(8) => {
                if let Err(at) = Encoding::Standard.decode(&self.cursor.string()) {
                    self.keep(self.error(format!("illegal base64 data at input byte {at}")));
                }
            }
            (Base::Plain(Type::String, []), JsonType::String) => {
                self.cursor.literal();
            }
            (Base::Plain(Type::String, constants), JsonType::String) => self.constant(constants),
            (Base::Plain(number, _), JsonType::Number) => {
                let literal = self.cursor.literal();
                let literal = std::str::from_utf8(literal).unwrap_or_default();
                match fits(number, literal) {
                    Some(true) => {}
                    Some(false) => self.keep(self.mismatch(&format!("number {literal}"), &self.types.display(shown))),
                    None => self.keep(self.mismatch("number", &self.types.display(shown))),
                }
            }
            _ => {
                self.cursor.literal();
                self.keep(self.mismatch(kind.name(), &self.types.display(shown)));
            }
        }
        Ok(())
    }

    fn list(&mut self, item: &'static Type) -> Result<(), DecodeError> {
        let mark = self.path.mark();
        let mut index = 0;
        self.cursor.enter();
        while self.cursor.next_item() {
            self.path.index(index);
            self.value(item)?;
            self.path.reset(mark);
            index += 1;
        }
        Ok(())
    }

    fn map(&mut self, value: &'static Type) -> Result<(), DecodeError> {
        let mark = self.path.mark();
        let mut keys = BTreeSet::new();
        self.cursor.enter();
        while let Some(key) = self.cursor.next_member() {
            if keys.contains(&key) {
                self.strict(true, &key, None);
            }
            self.path.key(&key);
            keys.insert(key);
            self.value(value)?;
            self.path.reset(mark);
        }
        Ok(())
    }

    fn object(&mut self, id: TypeId, s: &'static Struct) -> Result<(), DecodeError> {
        let mark = self.path.mark();
        let (outer, above) = (self.struct_, self.fields.len());
        let mut seen = vec![Seen::No; s.fields.len()];
        self.cursor.enter();
        while let Some(key) = self.cursor.next_member() {
            let Some((at, field)) = s.field(&key) else {
                self.strict(false, &key, Some(id));
                self.cursor.literal();
                continue;
            };
            if let Some(before) = seen.get_mut(at) {
                let twice = *before != Seen::No;
                let null = self.cursor.kind() == JsonType::Null;
                *before = if null { Seen::Null } else { Seen::Value };
                if twice {
                    self.strict(true, field.name, Some(id));
                }
            }
            if self.types.release() >= NAMES_EMBEDDED_SINCE {
                self.fields.extend(&field.embedded);
            }
            self.fields.push(field.name);
            self.struct_ = s.name;
            self.path.key(field.name);
            self.value(&field.type_)?;
            self.fields.truncate(above);
            self.struct_ = outer;
            self.path.reset(mark);
        }
        self.required(s, &seen);
        Ok(())
    }

    /// Records the missing fields that the published schema requires.
    fn required(&mut self, s: &'static Struct, seen: &[Seen]) {
        let fields = s.fields.iter().zip(seen).filter(|(field, seen)| field.required && **seen != Seen::Value);
        let mut absent: Vec<_> = fields.map(|(field, _)| (field.order, field.name)).collect();
        absent.sort_unstable();
        let object = &self.path.text;
        let missing = absent.into_iter().map(|(_, field)| Missing::Field { object: object.clone(), field });
        self.found.missing.extend(missing);
    }

    /// Decodes a string with an enum in the published schema; Go treats an empty string as absent.
    fn constant(&mut self, constants: &[&'static str]) {
        let text = self.cursor.string();
        if !text.is_empty() && !constants.contains(&&*text) {
            let (path, value) = (self.path.text.clone(), text.into_owned());
            self.found.missing.push(Missing::Value { path, value, allowed: constants.to_vec() });
        }
    }

    fn strict(&mut self, duplicate: bool, field: &str, type_: Option<TypeId>) {
        if self.found.strict.len() >= MAX_STRICT {
            return;
        }
        let path = self.path.with(field);
        if self.seen.insert((duplicate, path.clone())) {
            self.found.strict.push(Strict { duplicate, path, field: field.to_owned(), type_ });
        }
    }

    fn keep(&mut self, error: DecodeError) {
        self.error.get_or_insert(error);
    }

    fn error(&self, message: String) -> DecodeError {
        DecodeError { message, path: self.path.text.clone() }
    }

    /// `json.UnmarshalTypeError`
    fn mismatch(&self, value: &str, type_: &dyn fmt::Display) -> DecodeError {
        let (struct_, fields) = (self.struct_, self.fields.join("."));
        self.error(if struct_.is_empty() && fields.is_empty() {
            format!("json: cannot unmarshal {value} into Go value of type {type_}")
        } else {
            format!("json: cannot unmarshal {value} into Go struct field {struct_}.{fields} of type {type_}")
        })
    }
}

/// The presence of a field in an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    /// The field is null, which counts as absent.
    Null,
    Value,
}

/// Returns true if a JSON number is in the range of a Go type; `None` if the type is not numeric.
fn fits(type_: &Type, literal: &str) -> Option<bool> {
    let int = |most: i64| literal.parse::<i64>().is_ok_and(|n| (-most - 1..=most).contains(&n));
    let uint = |most: u64| literal.parse::<u64>().is_ok_and(|n| n <= most);
    Some(match type_ {
        Type::Int(8) => int(i8::MAX.into()),
        Type::Int(16) => int(i16::MAX.into()),
        Type::Int(32) => int(i32::MAX.into()),
        Type::Int(_) => int(i64::MAX),
        Type::Uint(8) => uint(u8::MAX.into()),
        Type::Uint(16) => uint(u16::MAX.into()),
        Type::Uint(32) => uint(u32::MAX.into()),
        Type::Uint(_) => uint(u64::MAX),
        Type::Float(32) => literal.parse::<f32>().is_ok_and(f32::is_finite),
        Type::Float(_) => literal.parse::<f64>().is_ok_and(f64::is_finite),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(type_: &str, release: u32, body: &str) -> Result<Findings, DecodeError> {
        let types = Types::for_release(release);
        read(types, types.id(type_).unwrap(), body.as_bytes())
    }

    fn message(type_: &str, release: u32, body: &str) -> String {
        read_as(type_, release, body).unwrap_err().message
    }

    #[test]
    fn embedded_structs_are_named_since_1_35() {
        let body = r#"{"volumes":[{"name":"a","hostPath":3}]}"#;
        let text = |path: &str| {
            format!("json: cannot unmarshal number into Go struct field {path} of type v1.HostPathVolumeSource")
        };
        assert_eq!(message("core/v1.PodSpec", 35, body), text("Volume.volumes.VolumeSource.hostPath"));
        assert_eq!(message("core/v1.PodSpec", 34, body), text("Volume.volumes.hostPath"));
    }

    #[test]
    fn an_error_of_a_custom_unmarshaler_replaces_earlier_errors() {
        let body = r#"{"name":1,"resources":{"limits":{"cpu":"x"}},"image":2}"#;
        let error = read_as("core/v1.Container", 37, body).unwrap_err();
        assert!(error.message.starts_with("quantities must match"), "{}", error.message);
        assert_eq!(error.path, "resources.limits.cpu");
        let first = read_as("core/v1.Container", 37, r#"{"image":2,"name":1}"#).unwrap_err();
        assert_eq!(first.message, "json: cannot unmarshal number into Go struct field Container.image of type string");
    }

    #[test]
    fn strict_errors_come_in_the_order_of_the_text() {
        let body = r#"{"zz":{"a":1,"a":2},"name":"a","ports":[{"x":1,"x":2}],"name":"b","name":"c"}"#;
        let found = read_as("core/v1.Container", 37, body).unwrap();
        let strict: Vec<_> = found.strict.iter().map(|strict| strict.error().to_string()).collect();
        assert_eq!(strict, [r#"unknown field "zz""#, r#"unknown field "ports[0].x""#, r#"duplicate field "name""#]);
        let many = format!("{{{}}}", (0..150).map(|n| format!("\"k{n}\":1")).collect::<Vec<_>>().join(","));
        assert_eq!(read_as("core/v1.Container", 37, &many).unwrap().strict.len(), MAX_STRICT);
    }

    #[test]
    fn recursive_types_end() {
        let nested = |levels| {
            let (open, close) = (r#"{"compositePodGroupTemplates":[{"zz":1},"#.repeat(levels), "]}".repeat(levels));
            format!("{open}{{}}{close}")
        };
        let found = read_as("scheduling/v1alpha3.CompositePodGroupTemplate", 37, &nested(3000)).unwrap();
        assert_eq!(found.strict.len(), MAX_STRICT);
    }

    #[test]
    fn integers_have_their_range_and_bytes_are_base64() {
        let port = |number: &str| read_as("core/v1.ContainerPort", 37, &format!(r#"{{"containerPort":{number}}}"#));
        assert!(port("2147483647").is_ok() && port("-0").is_ok());
        for wrong in ["2147483648", "1e3", "1.0"] {
            assert_eq!(
                port(wrong).unwrap_err().message,
                format!(
                    "json: cannot unmarshal number {wrong} into Go struct field ContainerPort.containerPort of type int32"
                )
            );
        }
        assert_eq!(message("core/v1.Secret", 37, r#"{"data":{"a":"YWI"}}"#), "illegal base64 data at input byte 0");
        assert!(read_as("core/v1.Secret", 37, r#"{"data":{"a":[104,105],"b":"YWI="}}"#).is_ok());
        assert_eq!(
            message("core/v1.Secret", 37, r#"{"data":{"a":[256]}}"#),
            "json: cannot unmarshal number 256 into Go struct field Secret.data of type uint8"
        );
    }

    #[test]
    fn violations_of_the_published_schema_are_reported() {
        let found = read_as("core/v1.Container", 37, r#"{"imagePullPolicy":"Sometimes","ports":[{}]}"#).unwrap();
        let policy = vec!["Always", "IfNotPresent", "Never"];
        assert_eq!(
            found.missing,
            [
                Missing::Value { path: "imagePullPolicy".to_owned(), value: "Sometimes".to_owned(), allowed: policy },
                Missing::Field { object: "ports[0]".to_owned(), field: "containerPort" },
                Missing::Field { object: String::new(), field: "name" },
            ]
        );
        assert!(read_as("core/v1.Container", 37, r#"{"name":"a","imagePullPolicy":""}"#).unwrap().missing.is_empty());
    }
}
