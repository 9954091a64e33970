//! The patch strategies of fields (`LookupPatchMetadataForStruct` and `LookupPatchMetadataForSlice`).

use super::PatchError;
use crate::types::{Field, Merging, Type, TypeDefinition, TypeId, Types};
use crdx_value::quote;

/// The type of a value in a patched object.
#[derive(Clone, Copy)]
pub(super) struct Schema {
    types: &'static Types,
    type_: Shape,
}

/// A Go type.
#[derive(Clone, Copy)]
enum Shape {
    Of(&'static Type),
    Root(TypeId),
    /// An object with `metadata` and without patch strategies.
    ObjectWithoutStrategies,
    WithoutStrategies,
}

impl Schema {
    /// The schema of an object of a struct type.
    pub fn new(types: &'static Types, id: TypeId) -> Self {
        Self { types, type_: Shape::Root(id) }
    }

    /// The schema of an object without patch strategies, except in its metadata.
    pub(crate) fn without_strategies(types: &'static Types) -> Self {
        Self { types, type_: Shape::ObjectWithoutStrategies }
    }

    /// The type and markers of a field.
    pub fn field(self, key: &str) -> Result<(Self, Merging), PatchError> {
        if let Some(found) = self.field_without_strategies(key) {
            return Ok(found);
        }
        let field = self.lookup(key)?;
        Ok((Self { type_: Shape::Of(&field.type_), ..self }, field.merging))
    }

    /// The item type and markers of a list field.
    pub fn item(self, key: &str) -> Result<(Self, Merging), PatchError> {
        if let Some(found) = self.field_without_strategies(key) {
            return Ok(found);
        }
        let field = self.lookup(key)?;
        let item = match (self.base(Shape::Of(&field.type_)), &field.type_) {
            (Some(Type::List(item)), Type::Pointer(_)) => &**item,
            (Some(Type::List(item)), _) if matches!(self.base(Shape::Of(item)), Some(Type::List(_))) => {
                return Err(PatchError::Other("unexpected slice of slice".to_owned()));
            }
            (Some(Type::List(item)), _) => &**item,
            (_, Type::Pointer(target)) => &**target,
            _ => {
                let text = format!("expected slice or array type, but got: {}", self.kind());
                return Err(PatchError::Other(text));
            }
        };
        Ok((Self { type_: Shape::Of(item), ..self }, field.merging))
    }

    fn field_without_strategies(self, key: &str) -> Option<(Self, Merging)> {
        let metadata = || self.types.id("meta/v1.ObjectMeta").map(Shape::Root);
        let type_ = match self.type_ {
            Shape::ObjectWithoutStrategies if key == "metadata" => metadata(),
            Shape::ObjectWithoutStrategies | Shape::WithoutStrategies => None,
            Shape::Of(_) | Shape::Root(_) => return None,
        };
        Some((Self { type_: type_.unwrap_or(Shape::WithoutStrategies), ..self }, Merging::default()))
    }

    fn lookup(self, key: &str) -> Result<&'static Field, PatchError> {
        let id = match self.type_ {
            Shape::Root(id) => Some(id),
            Shape::Of(type_) => match type_.target() {
                Type::Named(id) => Some(*id),
                _ => None,
            },
            Shape::ObjectWithoutStrategies | Shape::WithoutStrategies => None,
        };
        let missing = |name: &str| {
            let quoted = quote::go_quote(key);
            PatchError::Other(format!("unable to find api field in struct {name} for the json field {quoted}"))
        };
        match id.and_then(|id| Some((id, self.types.definition(id)?))) {
            Some((_, TypeDefinition::Struct(s))) => {
                let exact = s.field(key).map(|(_, field)| field);
                let folded = || s.fields.iter().find(|field| field.name.eq_ignore_ascii_case(key));
                exact.or_else(folded).ok_or_else(|| missing(s.name))
            }
            Some((id, TypeDefinition::Custom(_))) => {
                let name = self.types.name(id);
                Err(missing(name.rsplit_once('.').map_or(name, |(_, name)| name)))
            }
            _ => {
                let kind = self.kind();
                let text = format!("merging an object in json but data type is not struct, instead is: {kind}");
                Err(PatchError::Other(text))
            }
        }
    }

    /// The type below pointers and type names; `None` for a struct.
    fn base(self, shape: Shape) -> Option<&'static Type> {
        let type_ = match shape {
            Shape::Of(type_) => type_.target(),
            Shape::Root(_) | Shape::ObjectWithoutStrategies | Shape::WithoutStrategies => return None,
        };
        let Type::Named(id) = type_ else { return Some(type_) };
        match self.types.definition(*id)? {
            TypeDefinition::Named { of, .. } => Some(of),
            TypeDefinition::Struct(_) | TypeDefinition::Custom(_) => None,
        }
    }

    /// The kind of the type, as `reflect.Kind` names it.
    pub fn kind(self) -> &'static str {
        match self.base(self.type_) {
            None => "struct",
            Some(type_) => type_.kind(),
        }
    }
}
