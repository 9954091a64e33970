//! The merge types of Go types for server-side apply: list types, keys and atomic structs from the markers in the source,
//! as `kube-openapi/pkg/schemaconv` reads them from the published OpenAPI document.

use super::custom::Custom;
use super::types::{Merging, Struct, Type, TypeDefinition, TypeId, Types};
use crate::merge::{self, Field, ListRelation, ListType, MapType, Scalar, TypeRef};
use crdx_value::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The first release in which an item of a list needs a single key only.
const ONE_KEY: u32 = 34;

/// The merge type of a struct, built on first use.
pub fn merge_type(types: &'static Types, id: TypeId) -> &'static TypeRef {
    let Some(slot) = types.merge_type(id) else { return &TypeRef::Deduced };
    if let Some(built) = slot.get() {
        return built;
    }
    let all_keys = types.release() < ONE_KEY;
    let mut builder = MergeTypeBuilder { types, all_keys, built: HashMap::new(), in_progress: HashSet::new() };
    let built = builder.named(id);
    slot.get_or_init(|| built)
}

/// The merge type of the type with a name in the table: `meta/v1.ObjectMeta`.
pub fn merge_type_named(types: &'static Types, name: &str) -> &'static TypeRef {
    types.id(name).map_or(&TypeRef::Deduced, |id| merge_type(types, id))
}

struct MergeTypeBuilder {
    types: &'static Types,
    all_keys: bool,
    /// The structs built so far.
    built: HashMap<TypeId, TypeRef>,
    /// The structs that contain the one that is built now.
    in_progress: HashSet<TypeId>,
}

fn scalar(scalar: Scalar) -> TypeRef {
    TypeRef::Type(Arc::new(merge::Type { scalar: Some(scalar), ..merge::Type::default() }))
}

fn map(map: MapType) -> TypeRef {
    TypeRef::Type(Arc::new(merge::Type { map: Some(map), ..merge::Type::default() }))
}

impl MergeTypeBuilder {
    fn value(&mut self, type_: &Type, merging: Merging) -> TypeRef {
        match type_ {
            Type::Pointer(target) => self.value(target, merging),
            Type::Bool => scalar(Scalar::Boolean),
            Type::String => scalar(Scalar::String),
            Type::Int(_) | Type::Uint(_) | Type::Float(_) => scalar(Scalar::Numeric),
            Type::List(item) if **item == Type::Uint(8) => scalar(Scalar::String),
            Type::List(item) => {
                let items = self.value(item, Merging::default());
                let list = ListType { relation: relation(merging), items, all_keys: self.all_keys };
                TypeRef::Type(Arc::new(merge::Type { list: Some(list), ..merge::Type::default() }))
            }
            Type::Map(_, of) => {
                let other = Some(self.value(of, Merging::default()));
                map(MapType { atomic: merging.atomic.unwrap_or_default(), other, ..MapType::default() })
            }
            Type::Named(id) => match self.types.definition(*id) {
                Some(TypeDefinition::Named { of, .. }) => self.value(of, merging),
                Some(TypeDefinition::Struct(s)) => match merging.atomic.filter(|atomic| *atomic != s.atomic) {
                    Some(atomic) => self.fields(s, atomic),
                    None => self.named(*id),
                },
                _ => self.named(*id),
            },
        }
    }

    fn named(&mut self, id: TypeId) -> TypeRef {
        if let Some(built) = self.built.get(&id) {
            return built.clone();
        }
        if !self.in_progress.insert(id) {
            return self.types.merge_type(id).map_or(TypeRef::Deduced, TypeRef::Recursive);
        }
        let built = match self.types.definition(id) {
            Some(TypeDefinition::Struct(s)) => self.fields(s, s.atomic),
            Some(TypeDefinition::Custom(custom)) => of_custom(*custom),
            Some(TypeDefinition::Named { of, .. }) => self.value(of, Merging::default()),
            None => TypeRef::Deduced,
        };
        self.in_progress.remove(&id);
        if let Some(slot) = self.types.merge_type(id) {
            // Types that contain it refer to it there.
            let _ = slot.set(built.clone());
        }
        self.built.insert(id, built.clone());
        built
    }

    fn fields(&mut self, s: &Struct, atomic: bool) -> TypeRef {
        let mut fields = std::collections::BTreeMap::new();
        for field in &s.fields {
            let type_ = self.value(&field.type_, field.merging);
            let default = field.default.clone().or_else(|| zero(&type_).filter(|_| !field.omits_zero()));
            let default = default.filter(|_| !matches!(field.type_, Type::Pointer(_)) || field.default.is_some());
            fields.insert(field.name.to_owned(), Field { type_, default });
        }
        // A struct without fields is published as an object of any fields.
        let other = fields.is_empty().then_some(TypeRef::Deduced);
        map(MapType { atomic, fields, other })
    }
}

/// The merge type of a type with its own encoding.
fn of_custom(custom: Custom) -> TypeRef {
    match custom {
        Custom::Quantity | Custom::Time | Custom::MicroTime => scalar(Scalar::Untyped),
        Custom::Duration => scalar(Scalar::String),
        Custom::FieldsV1 => map(MapType { other: Some(TypeRef::Deduced), ..MapType::default() }),
        Custom::RawExtension => TypeRef::Untyped,
        // Their published schemas have no type. The decoder rejects an `IntOrString` that is neither.
        Custom::IntOrString | Custom::Json | Custom::SchemaOrList | Custom::SchemaOrBool | Custom::SchemaOrNames => {
            TypeRef::Deduced
        }
    }
}

/// The default of a required scalar: the zero value of its Go type.
fn zero(type_: &TypeRef) -> Option<Value> {
    match type_.resolve().scalar? {
        Scalar::Numeric => Some(Value::Int(0)),
        Scalar::String => Some(Value::from("")),
        Scalar::Boolean => Some(Value::Bool(false)),
        Scalar::Untyped => None,
    }
}

/// `getListElementRelationship`
fn relation(merging: Merging) -> ListRelation {
    let keyed = |keys: &str| ListRelation::Keyed(keys.split(',').map(str::to_owned).collect());
    match (merging.list_type, merging.patch_strategy) {
        (Some("set"), _) => ListRelation::Set,
        (Some("map"), _) => keyed(merging.list_map_keys),
        (None, "merge" | "merge,retainKeys") if merging.patch_merge_key.is_empty() => ListRelation::Set,
        (None, "merge" | "merge,retainKeys") => keyed(merging.patch_merge_key),
        _ => ListRelation::Atomic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_int_or_string_has_no_type_and_a_quantity_is_a_scalar() {
        let types = Types::for_release(37);
        let of = |name: &str, field: &str| {
            let type_ = merge_type_named(types, name).clone();
            type_.resolve().map.as_ref().unwrap().fields[field].type_.clone()
        };
        assert!(matches!(of("core/v1.ServicePort", "targetPort"), TypeRef::Deduced));
        let limits = of("core/v1.ResourceRequirements", "limits");
        let quantity = limits.resolve().map.as_ref().unwrap().other.as_ref().unwrap();
        assert!(quantity.resolve().map.is_none() && quantity.resolve().list.is_none());
    }

    #[test]
    fn markers_decide_how_lists_and_maps_are_merged() {
        let types = Types::for_release(37);
        let of = |name: &str| merge_type_named(types, name).clone();
        let container = of("core/v1.Container");
        let field = |type_: &TypeRef, name: &str| type_.resolve().map.as_ref().unwrap().fields[name].type_.clone();
        let ports = field(&container, "ports");
        let list = ports.resolve().list.as_ref().unwrap();
        assert_eq!(list.relation, ListRelation::Keyed(vec!["containerPort".to_owned(), "protocol".to_owned()]));
        let port = list.items.resolve().map.as_ref().unwrap();
        assert_eq!(port.fields["protocol"].default, Some(Value::from("TCP")));
        assert_eq!(port.fields["containerPort"].default, Some(Value::Int(0)));
        assert_eq!(field(&container, "args").resolve().list.as_ref().unwrap().relation, ListRelation::Atomic);
        assert!(of("meta/v1.LabelSelector").resolve().map.as_ref().unwrap().atomic);
        assert_eq!(
            field(&of("meta/v1.ObjectMeta"), "finalizers").resolve().list.as_ref().unwrap().relation,
            ListRelation::Set
        );
    }
}
