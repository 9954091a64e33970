//! The types of the fields of a message.

use crate::custom::Custom;
use crate::types::{Definition, Type, TypeId, Types};

/// The type of a value in a message.
#[derive(Clone, Copy, Debug)]
pub enum FieldType {
    /// A basic type; of a `pointer`, a zero value is kept.
    Basic { type_: &'static Type, pointer: bool },
    /// `[]byte`
    Bytes,
    /// A struct.
    Message(TypeId),
    /// A struct whose members are members of the object itself in JSON.
    Inline(TypeId),
    /// A message with a list of these items, which is a list in JSON.
    Items(TypeId, &'static Type),
    /// A repeated field.
    Repeated(&'static Type),
    /// A map with string keys.
    Map(&'static Type),
    /// A message with the text of a JSON value.
    Json(TypeId),
    /// As `Json`, but the text is not parsed when the message is decoded. A text that is not JSON is kept as a string, which
    /// is not a valid set of fields either.
    FieldsV1(TypeId),
    /// A message that is a schema or something else.
    SchemaOr(SchemaOr),
    /// Another type with its own encoding.
    Custom(Custom, TypeId),
}

/// What a message may have instead of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaOr {
    List,
    Bool,
    Texts,
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageField {
    pub name: &'static str,
    pub type_: FieldType,
}

impl FieldType {
    /// The type of a field. Fields whose type is a name for a list or a map are encoded like a list or a map.
    pub fn of_field(types: &'static Types, type_: &'static Type) -> Self {
        match named(type_).and_then(|id| types.definition(id)) {
            Some(Definition::Named { of: of @ (Type::List(_) | Type::Map(..)), .. }) => Self::of(types, of),
            _ => Self::of(types, type_),
        }
    }

    /// The type of an item of a list or a value of a map.
    pub fn of(types: &'static Types, type_: &'static Type) -> Self {
        match type_.target() {
            Type::List(item) if **item == Type::Uint(8) => Self::Bytes,
            Type::List(item) => Self::Repeated(item),
            Type::Map(_, of) => Self::Map(of),
            Type::Named(id) => match types.definition(*id) {
                Some(Definition::Named { of: Type::List(item), .. }) if **item != Type::Uint(8) => {
                    Self::Items(*id, item)
                }
                Some(Definition::Named { of, .. }) if matches!(type_, Type::Pointer(_)) => {
                    Self::pointer(Self::of(types, of))
                }
                Some(Definition::Named { of, .. }) => Self::of(types, of),
                Some(Definition::Custom(Custom::Raw)) => Self::raw(types.name(*id), *id),
                Some(Definition::Custom(custom)) => Self::Custom(*custom, *id),
                Some(Definition::Struct(_)) | None => Self::Message(*id),
            },
            basic => Self::Basic { type_: basic, pointer: matches!(type_, Type::Pointer(_)) },
        }
    }

    fn pointer(self) -> Self {
        match self {
            Self::Basic { type_, .. } => Self::Basic { type_, pointer: true },
            other => other,
        }
    }

    fn raw(name: &str, id: TypeId) -> Self {
        match name.rsplit_once('.').map_or(name, |(_, name)| name) {
            "JSONSchemaPropsOrArray" => Self::SchemaOr(SchemaOr::List),
            "JSONSchemaPropsOrBool" => Self::SchemaOr(SchemaOr::Bool),
            "JSONSchemaPropsOrStringArray" => Self::SchemaOr(SchemaOr::Texts),
            "FieldsV1" => Self::FieldsV1(id),
            "Duration" => Self::Custom(Custom::Raw, id),
            _ => Self::Json(id),
        }
    }

    /// The wire type of the values, for a list that of its elements.
    pub fn wire(self, types: &'static Types) -> u64 {
        match self {
            Self::Repeated(item) => Self::of(types, item).wire(types),
            Self::Basic { type_: Type::Bool | Type::Int(_) | Type::Uint(_), .. } => 0,
            Self::Basic { type_: Type::Float(64), .. } => 1,
            Self::Basic { type_: Type::Float(_), .. } => 5,
            _ => 2,
        }
    }

    /// The name of a message in Go, without its package.
    pub fn message_name(self, types: &'static Types) -> Option<&'static str> {
        Some(match self {
            Self::Message(id) | Self::Inline(id) | Self::Items(id, _) | Self::Json(id) | Self::FieldsV1(id) => {
                let name = types.name(id);
                name.rsplit_once('.').map_or(name, |(_, bare)| bare)
            }
            Self::SchemaOr(SchemaOr::List) => "JSONSchemaPropsOrArray",
            Self::SchemaOr(SchemaOr::Bool) => "JSONSchemaPropsOrBool",
            Self::SchemaOr(SchemaOr::Texts) => "JSONSchemaPropsOrStringArray",
            _ => return None,
        })
    }

    /// The field of a message with a number.
    pub fn field(self, types: &'static Types, number: u64) -> Option<MessageField> {
        let field = |name, type_| Some(MessageField { name, type_ });
        match self {
            Self::Message(id) | Self::Inline(id) => {
                let found = types.numbered(id, number)?;
                match Self::of_field(types, &found.type_) {
                    Self::Message(inner) if found.is_embedded => field(found.name, Self::Inline(inner)),
                    type_ => field(found.name, type_),
                }
            }
            Self::Items(_, item) if number == 1 => field("items", Self::Repeated(item)),
            Self::Json(_) | Self::FieldsV1(_) if number == 1 => field("raw", Self::Bytes),
            Self::SchemaOr(what) => {
                let of_schema = |name, like| field(name, schema_field(types, like)?);
                match (what, number) {
                    (SchemaOr::List | SchemaOr::Texts, 1) | (SchemaOr::Bool, 2) => of_schema("schema", "not"),
                    (SchemaOr::List, 2) => of_schema("jSONSchemas", "allOf"),
                    (SchemaOr::Bool, 1) => of_schema("allows", "nullable"),
                    (SchemaOr::Texts, 2) => of_schema("property", "required"),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn named(type_: &Type) -> Option<TypeId> {
    match type_.target() {
        Type::Named(id) => Some(*id),
        _ => None,
    }
}

/// The type of a field of a schema.
fn schema_field(types: &'static Types, name: &str) -> Option<FieldType> {
    match types.definition(types.id("apiextensions/v1.JSONSchemaProps")?) {
        Some(Definition::Struct(schema)) => Some(FieldType::of_field(types, &schema.field(name)?.1.type_)),
        _ => None,
    }
}
