//! Compiled schemas: properties indexed by name, patterns compiled on first use, supported formats determined, and a
//! record of which stages each subtree needs.
//!
//! The server derives two schemas from the CRD, a structural schema (for pruning, defaulting and list types) and a
//! kube-openapi schema (for validation); here both are one [`SchemaNode`].

use crate::schema::format;
use crate::schema::{Schema, SchemaOrBool};
use crdx_regexp::Regexp;
use crdx_value::Value;
use crdx_value::release::{Release, V1_36};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The conversion to kube-openapi that produced the schema for validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The schema of a stored CRD, for validating objects: unknown formats are ignored, and int-or-string is a type
    /// (`apiserver/validation.NewSchemaValidator`).
    Objects,
    /// A structural schema, for validating its defaults: formats and types are as written (`Structural.ToKubeOpenAPI`).
    Defaults,
}

/// A node of a compiled schema.
#[derive(Debug, Default)]
pub struct SchemaNode {
    /// `properties`, sorted by name.
    properties: Vec<(Box<str>, SchemaNode)>,
    /// The indexes of the properties, sorted by the length of the name and then by name, so that a lookup compares few
    /// texts.
    by_length: Box<[usize]>,
    /// The indexes of the properties with defaults, their own or below.
    defaulted: Box<[usize]>,
    /// The indexes of the properties with a list type, their own or below.
    with_unique: Box<[usize]>,
    /// `items`
    pub items: Option<Box<SchemaNode>>,
    /// `additionalProperties`
    pub additional: Option<Additional>,
    /// `x-kubernetes-preserve-unknown-fields`
    pub preserves: bool,
    /// `x-kubernetes-embedded-resource`
    pub embedded: bool,
    /// `nullable`
    pub nullable: bool,
    /// `default`
    pub default: Option<Value>,
    /// `x-kubernetes-list-type`, if it is `set` or `map`.
    pub unique: Option<Unique>,
    /// The number of `x-kubernetes-validations` of this node.
    pub rules: usize,
    /// The features used in this subtree.
    pub has: Contents,
    /// The value validation of this node.
    pub checks: Checks,
}

/// `additionalProperties`
#[derive(Debug)]
pub enum Additional {
    /// A schema for the values of additional properties.
    Schema(Box<SchemaNode>),
    /// True allows any additional property, false none.
    Bool(bool),
}

/// The uniqueness that a list type requires.
#[derive(Debug)]
pub enum Unique {
    /// `set`: items are unique.
    Set,
    /// `map`: the values of these keys are unique.
    Map(Vec<String>),
}

/// The features used in a subtree, so that stages can skip subtrees. Branches of allOf, anyOf, oneOf and not are not
/// included, because only validation reads them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contents {
    /// `default`
    pub defaults: bool,
    /// `default` below this node.
    pub inner_defaults: bool,
    /// `x-kubernetes-embedded-resource`
    pub embedded: bool,
    /// `x-kubernetes-list-type` `set` or `map`
    pub unique: bool,
    /// `x-kubernetes-validations`
    pub rules: bool,
}

/// The value validation of a node, in the form that kube-openapi uses.
#[derive(Debug, Default)]
pub struct Checks {
    /// The allowed types; empty for any type.
    pub types: Types,
    /// The format that is enforced; empty if none.
    pub format: String,
    /// True if `format` applies to strings.
    pub string_format: bool,
    /// True if numbers must be in the range of their type and format, since 1.36 (kube-openapi `validate/schema.go`).
    pub number_ranges: bool,
    /// `maximum`
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`
    pub exclusive_maximum: bool,
    /// `minimum`
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`
    pub exclusive_minimum: bool,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
    /// `maxLength`
    pub max_length: Option<i64>,
    /// `minLength`
    pub min_length: Option<i64>,
    /// `pattern`
    pub pattern: Option<Pattern>,
    /// `maxItems`
    pub max_items: Option<i64>,
    /// `minItems`
    pub min_items: Option<i64>,
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// `minProperties`
    pub min_properties: Option<i64>,
    /// `required`
    pub required: Vec<String>,
    /// `enum`
    pub enum_: Vec<Value>,
    /// The members of a long `enum` that has only strings.
    pub enum_texts: Option<HashSet<Box<str>>>,
    /// `allOf`
    pub all_of: Vec<SchemaNode>,
    /// `anyOf`
    pub any_of: Vec<SchemaNode>,
    /// `oneOf`
    pub one_of: Vec<SchemaNode>,
    /// `not`
    pub not: Option<Box<SchemaNode>>,
    /// True if there is an `allOf`, `anyOf`, `oneOf` or `not`.
    pub has_branches: bool,
}

/// A JSON type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `object`
    Object,
    /// `array`
    Array,
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `number`
    Number,
    /// `boolean`
    Boolean,
    /// `null`
    Null,
}

impl Type {
    /// The name of the type in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
        }
    }
    fn bit(self) -> u8 {
        1 << self as u8
    }
    fn of_name(name: &str) -> Option<Self> {
        [Self::Object, Self::Array, Self::String, Self::Integer, Self::Number, Self::Boolean, Self::Null]
            .into_iter()
            .find(|t| t.name() == name)
    }
}

/// A set of JSON types; empty for any type.
#[derive(Clone, Debug, Default)]
pub struct Types {
    names: Vec<String>,
    known: u8,
}

impl Types {
    fn new(names: Vec<String>) -> Self {
        let known = names.iter().filter_map(|n| Type::of_name(n)).fold(0, |bits, t| bits | t.bit());
        Self { names, known }
    }
    /// Returns true if any type is allowed.
    pub(crate) fn is_any(&self) -> bool {
        self.names.is_empty()
    }
    /// Returns true if `t` is in the set.
    pub fn contains(&self, t: Type) -> bool {
        self.known & t.bit() != 0
    }
    /// Returns true if `t` is the only type in the set.
    pub(crate) fn is_just(&self, t: Type) -> bool {
        self.known == t.bit() && self.names.len() == 1
    }
    /// The names of the types, as in `integer,string`.
    pub fn joined(&self) -> String {
        self.names.join(",")
    }
}

/// A pattern, compiled on first use: large CRDs have thousands of patterns, and objects use few of them.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    compiled: OnceLock<Result<Regexp, crdx_regexp::Error>>,
}

impl Pattern {
    /// The source of the pattern.
    pub fn source(&self) -> &str {
        &self.source
    }
    /// The compiled pattern.
    ///
    /// # Errors
    /// The pattern is invalid, or parsing it needs too many steps.
    pub fn regexp(&self) -> Result<&Regexp, &crdx_regexp::Error> {
        self.compiled.get_or_init(|| Regexp::new(&self.source)).as_ref()
    }
}

impl SchemaNode {
    /// Compiles a schema. The recursion is bounded by the depth of the schema, which the decoder limits.
    pub fn compile(s: &Schema, dialect: Dialect, release: Release) -> Self {
        let properties: Vec<_> =
            s.properties.iter().map(|(name, p)| (name.as_str().into(), Self::compile(p, dialect, release))).collect();
        let items = s.items_schema().map(|i| Box::new(Self::compile(i, dialect, release)));
        let additional = s.additional_properties.as_ref().map(|a| match a {
            SchemaOrBool::Schema(a) => Additional::Schema(Box::new(Self::compile(a, dialect, release))),
            SchemaOrBool::Bool(b) => Additional::Bool(*b),
        });
        let unique = match s.x_list_type.as_deref() {
            Some("set") => Some(Unique::Set),
            Some("map") => Some(Unique::Map(s.x_list_map_keys.clone())),
            _ => None,
        };
        let mut sorted: Vec<(usize, &str)> =
            properties.iter().map(|(n, _): &(Box<str>, Self)| &**n).enumerate().collect();
        sorted.sort_unstable_by(|(_, a), (_, b)| by_length(a, b));
        let by_length = sorted.into_iter().map(|(i, _)| i).collect();
        let mut node = Self {
            properties,
            by_length,
            defaulted: Box::default(),
            with_unique: Box::default(),
            items,
            additional,
            preserves: s.preserves_unknown_fields(),
            embedded: s.x_embedded_resource,
            nullable: s.nullable,
            default: s.default.clone(),
            unique,
            rules: s.x_validations.len(),
            has: Contents::default(),
            checks: Checks::compile(s, dialect, release),
        };
        let mut has = Contents {
            defaults: node.default.is_some(),
            inner_defaults: false,
            embedded: node.embedded,
            unique: node.unique.is_some(),
            rules: node.rules > 0,
        };
        let additional = node.additional_schema();
        for child in node.properties.iter().map(|(_, p)| p).chain(node.items.as_deref()).chain(additional) {
            has.defaults |= child.has.defaults;
            has.inner_defaults |= child.has.defaults;
            has.embedded |= child.has.embedded;
            has.unique |= child.has.unique;
            has.rules |= child.has.rules;
        }
        node.has = has;
        node.defaulted = node.indexes(|has| has.defaults);
        node.with_unique = node.indexes(|has| has.unique);
        node
    }
    /// The indexes of the properties whose contents match.
    fn indexes(&self, matches: impl Fn(&Contents) -> bool) -> Box<[usize]> {
        self.properties.iter().enumerate().filter(|(_, (_, p))| matches(&p.has)).map(|(i, _)| i).collect()
    }
    /// The schema of the property `name`.
    pub fn property(&self, name: &str) -> Option<&Self> {
        self.properties.get(self.index_of(name)?).map(|(_, p)| p)
    }
    /// As [`Self::property`], to change it.
    pub(crate) fn property_mut(&mut self, name: &str) -> Option<&mut Self> {
        let index = self.index_of(name)?;
        self.properties.get_mut(index).map(|(_, p)| p)
    }
    /// The index of the property `name`.
    fn index_of(&self, name: &str) -> Option<usize> {
        let order = |i: &usize| self.properties.get(*i).map_or(Ordering::Less, |(n, _)| by_length(n, name));
        let at = self.by_length.binary_search_by(order).ok()?;
        self.by_length.get(at).copied()
    }
    /// All properties, sorted by name.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.properties.iter().map(|(n, p)| (n.as_ref(), p))
    }
    /// The properties for a walk over the members of an object, which are sorted, too.
    pub(crate) fn properties_in_order(&self) -> PropertiesInOrder<'_> {
        PropertiesInOrder { node: self, rest: &self.properties }
    }
    /// The properties with defaults, their own or below, sorted by name.
    pub(crate) fn defaulted_properties(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.at(&self.defaulted)
    }
    /// The number of properties with a list type, their own or below.
    pub(crate) fn unique_count(&self) -> usize {
        self.with_unique.len()
    }
    /// The properties with a list type, their own or below, sorted by name.
    pub(crate) fn unique_properties(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.at(&self.with_unique)
    }
    fn at(&self, indexes: &[usize]) -> impl Iterator<Item = (&str, &Self)> {
        indexes.iter().filter_map(|i| self.properties.get(*i)).map(|(n, p)| (n.as_ref(), p))
    }
    /// The schema of additional properties, if there is one.
    pub(crate) fn additional_schema(&self) -> Option<&Self> {
        if let Some(Additional::Schema(a)) = &self.additional { Some(a) } else { None }
    }
    /// The schema of the member `name`: that of the property or, if there is none, that of additional properties.
    pub fn member(&self, name: &str) -> Option<&Self> {
        self.property(name).or_else(|| self.additional_schema())
    }
}

/// Finds the properties of a schema by names in ascending order, faster than [`SchemaNode::property`].
#[derive(Debug)]
pub(crate) struct PropertiesInOrder<'n> {
    node: &'n SchemaNode,
    /// The properties that were not found or skipped yet.
    rest: &'n [(Box<str>, SchemaNode)],
}

impl<'n> PropertiesInOrder<'n> {
    /// The schema of the property `name`, which must be greater than all names that were looked up before.
    #[inline]
    pub fn find(&mut self, name: &str) -> Option<&'n SchemaNode> {
        self.take(name).or_else(|| {
            self.skip_less(name);
            self.take(name)
        })
    }

    /// Takes the next property if it has this name.
    #[inline]
    fn take(&mut self, name: &str) -> Option<&'n SchemaNode> {
        let ((property, node), rest) = self.rest.split_first()?;
        (**property == *name).then(|| {
            self.rest = rest;
            node
        })
    }

    /// Skips the properties with lesser names. Objects may have few of many properties, so the steps grow until one goes
    /// too far.
    fn skip_less(&mut self, name: &str) {
        let is_less = |(property, _): &(Box<str>, SchemaNode)| name_order(property, name).is_lt();
        let mut step = 1;
        while self.rest.get(step - 1).is_some_and(is_less) {
            step *= 2;
        }
        let (less, limit) = (step / 2, (step - 1).min(self.rest.len()));
        let unknown = self.rest.get(less..limit).unwrap_or_default();
        let skipped = less + unknown.partition_point(is_less);
        self.rest = self.rest.get(skipped..).unwrap_or_default();
    }

    /// The schema of the member `name`, like [`SchemaNode::member`].
    pub fn member(&mut self, name: &str) -> Option<&'n SchemaNode> {
        self.find(name).or_else(|| self.node.additional_schema())
    }
}

/// Compares names, most of which differ in their first byte.
fn name_order(a: &str, b: &str) -> Ordering {
    a.as_bytes().first().cmp(&b.as_bytes().first()).then_with(|| a.cmp(b))
}

fn by_length(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The number of members up to which comparing with each is fast enough.
const FEW: usize = 32;

/// The members of a long enum that has only strings.
fn enum_texts(members: &[Value]) -> Option<HashSet<Box<str>>> {
    if members.len() <= FEW {
        return None;
    }
    members.iter().map(|member| member.as_str().map(Box::from)).collect()
}

impl Checks {
    fn compile(s: &Schema, dialect: Dialect, release: Release) -> Self {
        let types = if s.x_int_or_string && dialect == Dialect::Objects {
            vec!["integer".to_owned(), "string".to_owned()]
        } else if s.type_.is_empty() {
            Vec::new()
        } else {
            vec![s.type_.clone()]
        };
        let known = |at| format::known(&s.format, at);
        let enforced = match (dialect, types.as_slice()) {
            (Dialect::Defaults, _) => true,
            // Before 1.36 the type was ignored (`StripUnsupportedFormatsPostProcessorForVersion`).
            _ if !release.since(V1_36) => known(release.compatibility()),
            (_, [t]) if t == "integer" => matches!(s.format.as_str(), "int32" | "int64"),
            (_, [t]) if t == "number" => matches!(s.format.as_str(), "float" | "double"),
            (_, [t]) if t != "string" => false,
            _ => known(release.compatibility()),
        };
        let format = if enforced { s.format.clone() } else { String::new() };
        let all = |schemas: &[Schema]| schemas.iter().map(|b| SchemaNode::compile(b, dialect, release)).collect();
        Self {
            types: Types::new(types),
            number_ranges: release.since(V1_36),
            string_format: !format.is_empty() && known(release.minor()),
            format,
            maximum: s.maximum,
            exclusive_maximum: s.exclusive_maximum,
            minimum: s.minimum,
            exclusive_minimum: s.exclusive_minimum,
            multiple_of: s.multiple_of,
            max_length: s.max_length,
            min_length: s.min_length,
            pattern: (!s.pattern.is_empty()).then(|| Pattern { source: s.pattern.clone(), compiled: OnceLock::new() }),
            max_items: s.max_items,
            min_items: s.min_items,
            max_properties: s.max_properties,
            min_properties: s.min_properties,
            required: s.required.clone(),
            enum_: s.enum_.clone(),
            enum_texts: enum_texts(&s.enum_),
            all_of: all(&s.all_of),
            any_of: all(&s.any_of),
            one_of: all(&s.one_of),
            not: s.not.as_ref().map(|b| Box::new(SchemaNode::compile(b, dialect, release))),
            has_branches: !(s.all_of.is_empty() && s.any_of.is_empty() && s.one_of.is_empty() && s.not.is_none()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;
    use std::collections::BTreeSet;

    fn node(v: &Value) -> SchemaNode {
        SchemaNode::compile(&Schema::from_value(v).unwrap(), Dialect::Objects, Release::NEWEST)
    }

    #[test]
    fn subtrees_record_their_features() {
        let set = object([("x-kubernetes-list-type", "set")]);
        let n = node(&object([(
            "properties",
            object([("a", set), ("b", object([("default", 1)].map(|(k, v)| (k, Value::Int(v)))))]),
        )]));
        assert!(n.has.unique && n.has.defaults && !n.has.rules && !n.has.embedded);
        assert!(!n.property("a").unwrap().has.defaults);
    }

    #[test]
    fn properties_are_found_in_order() {
        let names: Vec<String> = (0..300).map(|i| format!("p{i:03}")).collect();
        let n = node(&object([(
            "properties",
            object(names.iter().map(|name| (name.as_str(), object([("type", "string")])))),
        )]));
        for step in [1, 2, 3, 7, 50, 299] {
            // Members that are properties, and others between, before and after them.
            let member = |i: usize| [format!("o{i:03}"), format!("p{i:03}"), format!("p{i:03}x"), format!("q{i:03}")];
            let members: BTreeSet<String> = (0..300).step_by(step).flat_map(member).collect();
            let mut properties = n.properties_in_order();
            for member in &members {
                let found = properties.find(member).map(std::ptr::from_ref);
                assert_eq!(found, n.property(member).map(std::ptr::from_ref), "{member}");
            }
        }
    }

    #[test]
    fn only_supported_formats_are_enforced() {
        let enforced = |t: &str, f: &str| !node(&object([("type", t), ("format", f)])).checks.format.is_empty();
        assert!(enforced("string", "date-time") && enforced("integer", "int32") && enforced("number", "double"));
        assert!(!enforced("string", "int32") && !enforced("integer", "date") && !enforced("object", "date"));
        let older = |t: &str, f: &str| {
            let schema = Schema::from_value(&object([("type", t), ("format", f)])).unwrap();
            !SchemaNode::compile(&schema, Dialect::Objects, Release::new(35).unwrap()).checks.format.is_empty()
        };
        assert!(!older("integer", "int32") && !older("number", "double") && older("integer", "date"));
    }
}
