//! The types of the fields of a message.

use crate::custom::Custom;
use crate::types::{Type, TypeDefinition, TypeId, Types};

/// The type of a value in a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldType {
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
    /// A type with its own encoding.
    Custom(Custom, TypeId),
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageField {
    pub name: &'static str,
    pub type_: FieldType,
}

impl FieldType {
    /// The type of a field. Fields whose type is a name for a list or a map are encoded like a list or a map.
    pub(crate) fn of_field(types: &'static Types, type_: &'static Type) -> Self {
        match named(type_).and_then(|id| types.definition(id)) {
            Some(TypeDefinition::Named { of: of @ (Type::List(_) | Type::Map(..)), .. }) => Self::new(types, of),
            _ => Self::new(types, type_),
        }
    }

    /// The type of an item of a list or a value of a map.
    pub fn new(types: &'static Types, type_: &'static Type) -> Self {
        match type_.target() {
            Type::List(item) if **item == Type::Uint(8) => Self::Bytes,
            Type::List(item) => Self::Repeated(item),
            Type::Map(_, of) => Self::Map(of),
            Type::Named(id) => match types.definition(*id) {
                Some(TypeDefinition::Named { of: Type::List(item), .. }) if **item != Type::Uint(8) => {
                    Self::Items(*id, item)
                }
                Some(TypeDefinition::Named { of, .. }) if matches!(type_, Type::Pointer(_)) => {
                    Self::pointer(Self::new(types, of))
                }
                Some(TypeDefinition::Named { of, .. }) => Self::new(types, of),
                Some(TypeDefinition::Custom(custom)) => Self::Custom(*custom, *id),
                Some(TypeDefinition::Struct(_)) | None => Self::Message(*id),
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

    /// The wire type of the values, for a list that of its elements.
    pub fn wire(self, types: &'static Types) -> u64 {
        match self {
            Self::Repeated(item) => Self::new(types, item).wire(types),
            Self::Basic { type_: Type::Bool | Type::Int(_) | Type::Uint(_), .. } => 0,
            Self::Basic { type_: Type::Float(64), .. } => 1,
            Self::Basic { type_: Type::Float(_), .. } => 5,
            _ => 2,
        }
    }

    /// The name of a message in Go, without its package.
    pub fn message_name(self, types: &'static Types) -> Option<&'static str> {
        let id = match self {
            Self::Message(id) | Self::Inline(id) | Self::Items(id, _) => id,
            Self::Custom(custom, id) if has_fields(custom) => id,
            _ => return None,
        };
        let name = types.name(id);
        Some(name.rsplit_once('.').map_or(name, |(_, bare)| bare))
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
            Self::Custom(Custom::Json | Custom::FieldsV1 | Custom::RawExtension, _) if number == 1 => {
                field("raw", Self::Bytes)
            }
            Self::Custom(custom, _) => {
                let (name, like) = match (custom, number) {
                    (Custom::SchemaOrList | Custom::SchemaOrNames, 1) | (Custom::SchemaOrBool, 2) => ("schema", "not"),
                    (Custom::SchemaOrList, 2) => ("jSONSchemas", "allOf"),
                    (Custom::SchemaOrBool, 1) => ("allows", "nullable"),
                    (Custom::SchemaOrNames, 2) => ("property", "required"),
                    _ => return None,
                };
                field(name, Self::of_field(types, types.schema_field(like)?))
            }
            _ => None,
        }
    }
}

/// Returns true if the fields of a type with its own encoding are those of a message.
fn has_fields(custom: Custom) -> bool {
    match custom {
        Custom::Quantity | Custom::Time | Custom::MicroTime | Custom::IntOrString | Custom::Duration => false,
        Custom::FieldsV1
        | Custom::RawExtension
        | Custom::Json
        | Custom::SchemaOrList
        | Custom::SchemaOrBool
        | Custom::SchemaOrNames => true,
    }
}

fn named(type_: &Type) -> Option<TypeId> {
    match type_.target() {
        Type::Named(id) => Some(*id),
        _ => None,
    }
}
