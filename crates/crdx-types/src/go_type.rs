//! A Go type of the table, for decoders that follow it value by value.

pub use super::custom::Custom;
use super::releases::Releases;
use super::types::{Field, Struct, Type, TypeDefinition, TypeId, Types};

/// A Go type. Pointers are followed: errors of Go's decoders name the type that a pointer points to.
#[derive(Clone, Copy, Debug)]
pub struct GoType {
    types: &'static Types,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Type(&'static Type),
    Named(TypeId),
}

/// The structure of a Go type.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A boolean.
    Bool,
    String,
    /// An integer of this size in bits.
    Int(u32),
    /// An unsigned integer of this size in bits.
    Uint(u32),
    Float,
    /// `[]byte`
    Bytes,
    /// A list of items of a type.
    List(GoType),
    /// A map with string keys to values of a type.
    Map(GoType),
    Struct(GoStruct),
    /// A type with its own `UnmarshalJSON`.
    Custom(Custom),
}

#[derive(Clone, Copy, Debug)]
pub struct GoStruct {
    types: &'static Types,
    id: TypeId,
    definition: &'static Struct,
}

/// A field of a struct, with those of embedded structs.
#[derive(Clone, Copy, Debug)]
pub struct GoField {
    types: &'static Types,
    field: &'static Field,
}

impl GoType {
    /// The type with a name in the table (`apiextensions/v1.JSONSchemaProps`), if the table has it.
    pub fn named(types: &'static Types, name: &str) -> Option<Self> {
        Some(Self { types, of: Of::Named(types.id(name)?) })
    }

    /// The type of a schema in a CRD.
    pub fn schema(types: &'static Types) -> Option<Self> {
        Self::named(types, "apiextensions/v1.JSONSchemaProps")
    }

    /// The type of a field of a schema in a CRD.
    pub fn of_schema_field(types: &'static Types, name: &str) -> Option<Self> {
        Some(Self { types, of: Of::Type(types.schema_field(name)?) })
    }

    /// The type as Go prints it: `[]v1.JSONSchemaProps`.
    pub fn name(self) -> String {
        match self.of {
            Of::Type(type_) => self.types.display(type_.target()).to_string(),
            Of::Named(id) => self.types.go_name(id).to_owned(),
        }
    }

    /// The structure of the type.
    pub fn shape(self) -> Shape {
        let Self { types, of } = self;
        let inner = |type_: &'static Type| Self { types, of: Of::Type(type_) };
        match of {
            Of::Named(id) => self.of_definition(id),
            Of::Type(type_) => match type_.target() {
                Type::Bool => Shape::Bool,
                Type::String => Shape::String,
                Type::Int(bits) => Shape::Int(*bits),
                Type::Uint(bits) => Shape::Uint(*bits),
                Type::Float(_) => Shape::Float,
                Type::List(item) if **item == Type::Uint(8) => Shape::Bytes,
                Type::List(item) => Shape::List(inner(item)),
                Type::Map(_, of) => Shape::Map(inner(of)),
                // `target` follows pointers.
                Type::Pointer(target) => inner(target).shape(),
                Type::Named(id) => self.of_definition(*id),
            },
        }
    }

    fn of_definition(self, id: TypeId) -> Shape {
        let types = self.types;
        match types.definition(id) {
            Some(TypeDefinition::Struct(definition)) => Shape::Struct(GoStruct { types, id, definition }),
            Some(TypeDefinition::Named { of, .. }) => Self { types, of: Of::Type(of) }.shape(),
            Some(TypeDefinition::Custom(custom)) => Shape::Custom(*custom),
            None => Shape::Custom(Custom::Json),
        }
    }
}

impl GoStruct {
    /// The name without the package.
    pub fn name(self) -> &'static str {
        self.definition.name
    }

    pub fn field(self, name: &str) -> Option<GoField> {
        let (_, field) = self.definition.field(name)?;
        Some(GoField { types: self.types, field })
    }

    /// The releases in which the struct has a field ([`Types::releases_with`]).
    pub fn releases_with(self, name: &str) -> Option<Releases> {
        self.types.releases_with(self.id, name)
    }

    /// The fields in the order of the Go source.
    pub fn fields(self) -> Vec<GoField> {
        let mut fields: Vec<&'static Field> = self.definition.fields.iter().collect();
        fields.sort_unstable_by_key(|field| field.order);
        fields.into_iter().map(|field| GoField { types: self.types, field }).collect()
    }
}

impl GoField {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        self.field.name
    }

    pub fn type_(self) -> GoType {
        GoType { types: self.types, of: Of::Type(&self.field.type_) }
    }

    /// The names of the embedded structs on the path to the field.
    pub fn embedded(self) -> &'static [&'static str] {
        &self.field.embedded
    }
}
