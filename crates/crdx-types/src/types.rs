//! The Go types of one release, built from the table on demand.

use super::custom::Custom;
use super::merge::TypeRef;
use super::releases::Releases;
use super::table::{FieldRow, Table, definitions, table};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::release::{Minor, Release};
use crdx_value::short;
use std::fmt;
use std::sync::OnceLock;

/// The maximum depth of embedded structs.
const MAX_DEPTH: usize = 64;

/// The largest minor version with a place of its own.
const MAX_MINOR: usize = 64;

type ByRelease = [OnceLock<Types>; MAX_MINOR];

/// The types of a release.
#[derive(Debug)]
pub struct Types {
    release: u32,
    table: &'static Table,
    /// The definitions built so far, by index in the table.
    made: Vec<OnceLock<TypeDefinition>>,
    /// The merge types built so far, by index in the table.
    merge_types: Vec<OnceLock<TypeRef>>,
}

/// A reference to a named type: its index in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(usize);

impl TypeId {
    /// The index in the table, which is the same in every release.
    pub(super) fn index(self) -> usize {
        self.0
    }
}

/// The definition of a named type.
#[derive(Debug)]
pub(super) enum TypeDefinition {
    Struct(Struct),
    /// A type with its own `UnmarshalJSON`.
    Custom(Custom),
    /// A type defined by another type.
    Named {
        of: Type,
        /// The enum in the published schema; empty if every value is allowed.
        constants: Vec<&'static str>,
    },
}

/// A struct with its JSON fields.
#[derive(Debug)]
pub(super) struct Struct {
    /// The Go name without package.
    pub name: &'static str,
    /// The fields sorted by name, including those of embedded structs.
    pub fields: Vec<Field>,
    names: Names,
    /// The positions of [`Self::always_present`].
    present: Vec<usize>,
    /// The positions of [`Self::defaulted`].
    with_default: Vec<usize>,
    /// True if the struct is merged as a single value.
    pub atomic: bool,
    /// The fields and embedded structs that have a number in Protobuf messages, sorted by it.
    numbered: OnceLock<Vec<Numbered>>,
}

/// A field or an embedded struct in Protobuf messages.
#[derive(Debug)]
pub(super) struct Numbered {
    number: u64,
    /// The name in JSON, or that of the embedded struct in Go.
    pub name: &'static str,
    pub is_embedded: bool,
    pub type_: Type,
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: &'static str,
    /// The Go names of the embedded structs on the path to the field.
    pub embedded: Vec<&'static str>,
    pub type_: Type,
    /// True if the published schema requires the field.
    pub required: bool,
    /// The position in the Go source, which is the order in which missing fields are reported.
    pub order: usize,
    /// True for `omitempty`.
    pub omit_empty: bool,
    /// True for `omitzero`.
    pub omit_zero: bool,
    /// True if the field is omitted when its value is absent.
    pub absent_if_missing: bool,
    pub merging: Merging,
    /// `+default`
    pub default: Option<Value>,
}

impl Field {
    /// Returns true if Go leaves out a zero value.
    pub fn omits_zero(&self) -> bool {
        self.omit_empty || self.omit_zero
    }
}

/// The number of a field, and how patches and applies merge it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Merging {
    /// The number of the field in Protobuf messages; 0 for none.
    pub number: u64,
    /// `patchStrategy`, such as `merge,retainKeys`; empty for none.
    pub patch_strategy: &'static str,
    /// `patchMergeKey`; empty for none.
    pub patch_merge_key: &'static str,
    /// `+listType`
    pub list_type: Option<&'static str>,
    /// `+listMapKey`, separated by commas.
    pub list_map_keys: &'static str,
    /// True for `+mapType=atomic` and `+structType=atomic`, false for `granular`.
    pub atomic: Option<bool>,
}

impl Merging {
    /// Reads the words of a field. Returns its default, too.
    fn read(mut words: &'static str) -> (Self, Option<Value>) {
        let mut out = Self::default();
        while !words.is_empty() {
            // The default is the rest of the line.
            if let Some(default) = words.strip_prefix("d=") {
                return (out, json::read(default.as_bytes()).ok());
            }
            let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
            words = rest;
            match word.split_once('=') {
                Some(("n", value)) => out.number = value.parse().unwrap_or_default(),
                Some(("ps", value)) => out.patch_strategy = value,
                Some(("pk", value)) => out.patch_merge_key = value,
                Some(("lt", value)) => out.list_type = Some(value),
                Some(("lk", value)) => out.list_map_keys = value,
                Some(("mt", value)) => out.atomic = Some(value == "atomic"),
                _ => {}
            }
        }
        (out, None)
    }
}

impl Struct {
    /// The fields that are encoded even if the value has none of them.
    pub(crate) fn always_present(&self) -> impl Iterator<Item = &Field> {
        self.present.iter().filter_map(|at| self.fields.get(*at))
    }

    /// The fields with a default.
    pub fn defaulted(&self) -> impl Iterator<Item = (&Field, &Value)> {
        let fields = self.with_default.iter().filter_map(|at| self.fields.get(*at));
        fields.filter_map(|field| Some((field, field.default.as_ref()?)))
    }

    /// The maximum number of fields that encoding and defaults add to a value.
    pub(crate) fn most_added(&self) -> usize {
        self.present.len() + self.with_default.len()
    }

    /// The field with a name, and its position.
    pub fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let at = self.names.position(name)?;
        Some((at, self.fields.get(at)?))
    }
}

/// The names of the fields of a struct. Few of them have the same length.
#[derive(Debug)]
struct Names {
    /// The names with the positions of their fields, sorted by length.
    sorted: Vec<(&'static str, usize)>,
    /// The number of shorter names, by length.
    shorter: Vec<usize>,
}

impl Names {
    fn new(names: impl Iterator<Item = &'static str>) -> Self {
        let mut sorted: Vec<_> = names.enumerate().map(|(at, name)| (name, at)).collect();
        sorted.sort_by_key(|(name, _)| name.len());
        let longest = sorted.last().map_or(0, |(name, _)| name.len());
        let shorter = (0..=longest + 1).map(|length| sorted.partition_point(|(name, _)| name.len() < length));
        let shorter = shorter.collect();
        Self { sorted, shorter }
    }

    /// The position of the field with a name.
    fn position(&self, name: &str) -> Option<usize> {
        let range = *self.shorter.get(name.len())?..*self.shorter.get(name.len() + 1)?;
        let mut same_length = self.sorted.get(range)?.iter();
        same_length.find(|(known, _)| short::equal(known, name)).map(|(_, at)| *at)
    }
}

/// A Go type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Bool,
    String,
    /// An integer of this size in bits.
    Int(u32),
    Uint(u32),
    Float(u32),
    List(Box<Type>),
    /// A map with its key type and value type.
    Map(Box<Type>, Box<Type>),
    Pointer(Box<Type>),
    Named(TypeId),
}

impl Types {
    /// The types of Kubernetes 1.`release`, or of the nearest release in the table.
    pub fn for_release(release: u32) -> &'static Self {
        static TYPES: ByRelease = [const { OnceLock::new() }; MAX_MINOR];
        Self::from_table(&TYPES, table(), release)
    }

    /// Those of CRDs in v1 and of metadata alone, which are found faster.
    pub fn of_definitions(release: Release) -> &'static Self {
        static TYPES: ByRelease = [const { OnceLock::new() }; MAX_MINOR];
        Self::from_table(&TYPES, definitions(), release.minor().number().into())
    }

    fn from_table(by_release: &'static ByRelease, table: &'static Table, release: u32) -> &'static Self {
        static FIRST: OnceLock<Types> = OnceLock::new();
        let release = release.clamp(*table.releases().start(), *table.releases().end());
        let make = || Types {
            release,
            table,
            made: std::iter::repeat_with(OnceLock::new).take(table.types().len()).collect(),
            merge_types: std::iter::repeat_with(OnceLock::new).take(table.types().len()).collect(),
        };
        by_release.get(release as usize).unwrap_or(&FIRST).get_or_init(make)
    }

    pub fn release(&self) -> u32 {
        self.release
    }

    /// The release as a [`Minor`].
    pub(super) fn minor(&self) -> Minor {
        Minor(u16::try_from(self.release).unwrap_or(Minor::NEVER.number()))
    }

    /// The type of a served kind.
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        self.id(self.table.kind(api_version, kind, self.release).filter(|row| row.served)?.type_name)
    }

    /// The type with this name in the table.
    pub fn id(&self, name: &str) -> Option<TypeId> {
        self.table.type_id(name).map(TypeId)
    }

    pub(super) fn definition(&self, id: TypeId) -> Option<&TypeDefinition> {
        Some(self.made.get(id.0)?.get_or_init(|| self.make(id)))
    }

    /// The merge type of a type, if it has been built.
    pub(super) fn merge_type(&self, id: TypeId) -> Option<&OnceLock<TypeRef>> {
        self.merge_types.get(id.0)
    }

    /// The field names of a struct in this release.
    pub fn field_names(&self, id: TypeId) -> impl Iterator<Item = &'static str> {
        let fields = match self.definition(id) {
            Some(TypeDefinition::Struct(s)) => s.fields.as_slice(),
            _ => &[],
        };
        fields.iter().map(|field| field.name)
    }

    /// The releases in which a struct has a field, for hints about fields that this release does not have. If there are
    /// several ranges, the latest.
    pub fn releases_with(&self, id: TypeId, field: &str) -> Option<Releases> {
        let mut found: Option<Releases> = None;
        for release in self.table.releases() {
            if self.has_field(id, field, release, 0) {
                found = Some(match found {
                    Some(known) if *known.end() + 1 == release => *known.start()..=release,
                    _ => release..=release,
                });
            }
        }
        found
    }

    fn has_field(&self, id: TypeId, name: &str, release: u32, depth: usize) -> bool {
        let rows = self.rows(id).filter(|row| row.releases.contains(&release));
        rows.into_iter().any(|row| {
            if !row.is_embedded() {
                return row.name == name;
            }
            let embedded = self.parse(row.type_name, self.package(id));
            depth < MAX_DEPTH && embedded.named().is_some_and(|id| self.has_field(id, name, release, depth + 1))
        })
    }

    fn rows(&self, id: TypeId) -> impl Iterator<Item = FieldRow> {
        self.table.types().get(id.0).into_iter().flat_map(|row| Table::fields(*row))
    }

    /// The field of a struct, or the embedded struct, that has a number in Protobuf messages.
    pub(super) fn numbered(&self, id: TypeId, number: u64) -> Option<&Numbered> {
        let Some(TypeDefinition::Struct(s)) = self.definition(id) else { return None };
        let numbered = s.numbered.get_or_init(|| self.numbers(id));
        numbered.get(numbered.binary_search_by_key(&number, |field| field.number).ok()?)
    }

    /// The type of a field of a schema in a CRD.
    pub(super) fn schema_field(&self, name: &str) -> Option<&Type> {
        match self.definition(self.id("apiextensions/v1.JSONSchemaProps")?) {
            Some(TypeDefinition::Struct(schema)) => Some(&schema.field(name)?.1.type_),
            _ => None,
        }
    }

    /// The name of a type in the table: `core/v1.Pod`.
    pub(super) fn name(&self, id: TypeId) -> &'static str {
        self.table.types().get(id.0).map_or("", |row| row.name)
    }

    /// The package of a type: `core/v1` of `core/v1.Pod`.
    fn package(&self, id: TypeId) -> &'static str {
        self.name(id).rsplit_once('.').map_or("", |(package, _)| package)
    }

    fn make(&self, id: TypeId) -> TypeDefinition {
        let bare = self.name(id).rsplit_once('.').map_or("", |(_, name)| name);
        let head = self.table.types().get(id.0).map_or("", |row| row.head);
        match head {
            "struct" => {
                let mut fields = Vec::new();
                self.flatten(id, &[], &mut fields);
                for (order, field) in fields.iter_mut().enumerate() {
                    field.order = order;
                }
                fields.sort_by_key(|field| field.name);
                let names = Names::new(fields.iter().map(|field| field.name));
                let atomic = self.table.types().get(id.0).is_some_and(|row| Table::is_atomic(*row, self.release));
                let positions = |is: fn(&Field) -> bool| {
                    let found = fields.iter().enumerate().filter(|(_, field)| is(field));
                    found.map(|(at, _)| at).collect()
                };
                let present = positions(|field| !field.absent_if_missing);
                let with_default = positions(|field| field.default.is_some());
                TypeDefinition::Struct(Struct {
                    name: bare,
                    fields,
                    names,
                    present,
                    with_default,
                    atomic,
                    numbered: OnceLock::new(),
                })
            }
            "custom" => TypeDefinition::Custom(Custom::named(self.name(id))),
            head => {
                let rows = self.table.types().get(id.0).into_iter().flat_map(|row| Table::constants(*row));
                let constants = rows.filter(|(_, releases)| releases.contains(&self.release)).map(|(name, _)| name);
                TypeDefinition::Named { of: self.parse(head, self.package(id)), constants: constants.collect() }
            }
        }
    }

    fn numbers(&self, id: TypeId) -> Vec<Numbered> {
        let rows = self.rows(id).filter(|row| row.releases.contains(&self.release));
        let field = |row: FieldRow| Numbered {
            number: Merging::read(row.words).0.number,
            name: row.name,
            is_embedded: row.is_embedded(),
            type_: self.parse(row.type_name, self.package(id)),
        };
        let mut numbered: Vec<Numbered> = rows.map(field).filter(|field| field.number > 0).collect();
        numbered.sort_unstable_by_key(|field| field.number);
        numbered
    }

    /// Adds the fields of a struct and of its embedded structs.
    fn flatten(&self, id: TypeId, embedded: &[&'static str], fields: &mut Vec<Field>) {
        for row in self.rows(id).filter(|row| row.releases.contains(&self.release)) {
            let type_ = self.parse(row.type_name, self.package(id));
            if !row.is_embedded() {
                let (omit_empty, omit_zero) = (row.flags.contains('e'), row.flags.contains('z'));
                let (merging, default) = Merging::read(row.words);
                fields.push(Field {
                    name: row.name,
                    embedded: embedded.to_vec(),
                    absent_if_missing: omit_zero || omit_empty && !self.is_never_empty(&type_),
                    type_,
                    required: row.is_required(),
                    order: 0,
                    omit_empty,
                    omit_zero,
                    merging,
                    default,
                });
            } else if let Some(inner) = type_.named()
                && embedded.len() < MAX_DEPTH
            {
                self.flatten(inner, &[embedded, &[row.name]].concat(), fields);
            }
        }
    }

    /// Returns true for a struct or a type with its own encoding, which `omitempty` never omits.
    fn is_never_empty(&self, type_: &Type) -> bool {
        let Type::Named(id) = type_ else { return false };
        self.table.types().get(id.0).is_some_and(|row| matches!(row.head, "struct" | "custom"))
    }

    /// Parses a type expression of the table; `.Name` refers to a type in `package`.
    fn parse(&self, text: &str, package: &str) -> Type {
        let inner = |text: &str| Box::new(self.parse(text, package));
        if let Some(rest) = text.strip_prefix('*') {
            return Type::Pointer(inner(rest));
        }
        if let Some(rest) = text.strip_prefix("[]") {
            return Type::List(inner(rest));
        }
        if let Some((key, value)) = text.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            return Type::Map(inner(key), inner(value));
        }
        match text {
            "bool" => Type::Bool,
            "string" => Type::String,
            "int8" => Type::Int(8),
            "int16" => Type::Int(16),
            "int32" => Type::Int(32),
            "int" | "int64" => Type::Int(64),
            "uint8" => Type::Uint(8),
            "uint16" => Type::Uint(16),
            "uint32" => Type::Uint(32),
            "uint" | "uint64" => Type::Uint(64),
            "float32" => Type::Float(32),
            "float64" => Type::Float(64),
            _ if text.starts_with('.') => self.named(&format!("{package}{text}")),
            _ => self.named(text),
        }
    }

    fn named(&self, name: &str) -> Type {
        // A missing name would be a bug in the table's generator, which a test checks.
        self.id(name).map_or(Type::Bool, Type::Named)
    }

    /// Formats a type like Go (`%v` of a `reflect.Type`): `[]v1.Container`.
    pub(super) fn display<'a>(&'a self, type_: &'a Type) -> impl fmt::Display + 'a {
        Display { types: self, type_ }
    }

    /// The Go name of a named type: `v1.Pod`.
    pub(super) fn go_name(&self, id: TypeId) -> &'static str {
        let name = self.name(id);
        name.rsplit_once('/').map_or(name, |(_, name)| name)
    }
}

impl Type {
    /// The type without pointers.
    pub fn target(&self) -> &Self {
        match self {
            Self::Pointer(inner) => inner.target(),
            _ => self,
        }
    }

    /// The kind of the type, as `reflect.Kind` names it; a type name is a struct here.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::String => "string",
            Self::Int(8) => "int8",
            Self::Int(16) => "int16",
            Self::Int(32) => "int32",
            Self::Int(_) => "int64",
            Self::Uint(8) => "uint8",
            Self::Uint(16) => "uint16",
            Self::Uint(32) => "uint32",
            Self::Uint(_) => "uint64",
            Self::Float(32) => "float32",
            Self::Float(_) => "float64",
            Self::List(_) => "slice",
            Self::Map(..) => "map",
            Self::Pointer(_) => "ptr",
            Self::Named(_) => "struct",
        }
    }

    fn named(&self) -> Option<TypeId> {
        match self.target() {
            Self::Named(id) => Some(*id),
            _ => None,
        }
    }
}

struct Display<'a> {
    types: &'a Types,
    type_: &'a Type,
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |type_| Display { types: self.types, type_ };
        match self.type_ {
            Type::Bool => f.write_str("bool"),
            Type::String => f.write_str("string"),
            Type::Int(bits) => write!(f, "int{bits}"),
            Type::Uint(bits) => write!(f, "uint{bits}"),
            Type::Float(bits) => write!(f, "float{bits}"),
            Type::List(item) => write!(f, "[]{}", inner(item)),
            Type::Map(key, value) => write!(f, "map[{}]{}", inner(key), inner(value)),
            Type::Pointer(target) => write!(f, "*{}", inner(target)),
            Type::Named(id) => f.write_str(self.types.go_name(*id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Visits every type reachable from a type.
    fn follow(types: &Types, type_: &Type, seen: &mut BTreeSet<TypeId>) {
        match type_ {
            Type::List(inner) | Type::Pointer(inner) => follow(types, inner, seen),
            Type::Map(key, value) => {
                assert!(
                    matches!(**key, Type::String)
                        || matches!(&**key, Type::Named(id) if matches!(types.definition(*id),
                            Some(TypeDefinition::Named { of: Type::String, .. }))),
                    "keys of {} are not strings",
                    types.display(type_)
                );
                follow(types, value, seen);
            }
            Type::Named(id) if seen.insert(*id) => match types.definition(*id).unwrap() {
                TypeDefinition::Struct(s) => {
                    assert!(s.fields.is_sorted_by(|a, b| a.name < b.name), "{}: a name twice", s.name);
                    s.fields.iter().for_each(|field| follow(types, &field.type_, seen));
                }
                TypeDefinition::Named { of, .. } => follow(types, of, seen),
                TypeDefinition::Custom(_) => {}
            },
            _ => {}
        }
    }

    #[test]
    fn every_release_has_complete_types() {
        for release in table().releases() {
            let types = Types::for_release(release);
            let mut seen = BTreeSet::new();
            for row in table().types() {
                let id = types.id(row.name).unwrap();
                for field in types.rows(id) {
                    let name = field.type_name.trim_start_matches(['*', '[', ']']);
                    if let Some(local) = name.strip_prefix('.') {
                        assert!(types.id(&format!("{}.{local}", types.package(id))).is_some(), "{name}");
                    } else if name.contains('.') && !name.starts_with("map[") {
                        assert!(types.id(name).is_some(), "{name}");
                    }
                }
                follow(types, &Type::Named(id), &mut seen);
            }
            assert!(seen.len() > 900, "1.{release}: {}", seen.len());
        }
    }

    #[test]
    fn types_are_formatted_like_go() {
        let types = Types::for_release(37);
        let id = types.id("core/v1.PodSpec").unwrap();
        let Some(TypeDefinition::Struct(spec)) = types.definition(id) else { panic!("not a struct") };
        let printed = |name: &str| types.display(&spec.field(name).unwrap().1.type_).to_string();
        assert_eq!(printed("containers"), "[]v1.Container");
        assert_eq!(printed("nodeSelector"), "map[string]string");
        assert_eq!(printed("overhead"), "v1.ResourceList");
        assert_eq!(printed("securityContext"), "*v1.PodSecurityContext");
    }

    #[test]
    fn fields_of_other_releases_are_known() {
        let types = Types::for_release(31);
        let container = types.id("core/v1.Container").unwrap();
        let newest = *table().releases().end();
        assert_eq!(types.releases_with(container, "restartPolicyRules"), Some(34..=newest));
        assert_eq!(types.releases_with(container, "image"), Some(30..=newest));
        assert_eq!(types.releases_with(container, "imagee"), None);
        assert!(types.field_names(container).all(|name| name != "restartPolicyRules"));
        let volume = types.id("core/v1.Volume").unwrap();
        assert_eq!(types.releases_with(volume, "hostPath"), Some(30..=newest));
    }
}
