//! Changes to an object that may remove or cause an error at a field.

use super::generate::{self, ExampleFields};
use super::strings;
use super::vocabulary::Vocabulary;
use crdx_regexp::Regexp;
use crdx_server::rules::node::step;
use crdx_server::schema::Schema;
use crdx_value::{Map, Value};

/// The maximum number of levels below a node that the rules of the node change.
const LEVELS: usize = 3;

/// Sets a value (`Some`) or removes it (`None`).
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The property names and list indices of the path.
    pub path: Vec<String>,
    /// The new value.
    pub value: Option<Value>,
}

/// Changes that are made together.
pub type Changes = Vec<Change>;

/// Returns the object with all changes applied.
pub fn changed(object: &Value, changes: &[Change]) -> Value {
    let mut object = object.clone();
    for change in changes {
        apply(&mut object, &change.path, change.value.clone());
    }
    object
}

/// Sets the value at `path`, or removes it. Missing objects on the path are created.
fn apply(at: &mut Value, path: &[String], value: Option<Value>) {
    let Some((first, rest)) = path.split_first() else {
        if let Some(value) = value {
            *at = value;
        }
        return;
    };
    match at {
        Value::Array(items) => {
            let Ok(index) = first.parse::<usize>() else { return };
            if rest.is_empty() && value.is_none() && index < items.len() {
                items.remove(index);
            } else if let Some(item) = items.get_mut(index) {
                apply(item, rest, value);
            } else if let Some(value) = value.filter(|_| rest.is_empty()) {
                items.push(value);
            }
        }
        Value::Object(members) => match (rest, value) {
            ([], None) => {
                members.remove(first);
            }
            (_, value) => {
                let below = members.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
                apply(below, rest, value);
            }
        },
        _ => {}
    }
}

/// Returns the schema at a path, and true if its parent requires the field.
pub(crate) fn schema_at<'s>(schema: &'s Schema, path: &[String]) -> Option<(&'s Schema, bool)> {
    path.iter().try_fold((schema, true), |(schema, _), name| {
        let required = schema.required.contains(name);
        let below = schema.property(name).or_else(|| schema.additional_properties_schema());
        below.or_else(|| schema.items_schema()).map(|below| (below, required))
    })
}

/// Returns the changes for an error at `path`: first of the node itself, then of its ancestors, then the removals.
pub(crate) fn of_error(root: &Schema, object: &Value, path: &[String]) -> Vec<Changes> {
    first_of_error(root, object, path, usize::MAX)
}

/// Returns the first `most` changes of [`of_error`]; the values of the others are not generated.
pub(crate) fn first_of_error(root: &Schema, object: &Value, path: &[String], most: usize) -> Vec<Changes> {
    let mut all = Vec::new();
    let mut removals = Vec::new();
    for length in (0..=path.len()).rev() {
        if all.len() >= most {
            break;
        }
        let here = path.get(..length).unwrap_or_default();
        let Some((schema, required)) = schema_at(root, here) else { continue };
        match here.iter().try_fold(object, |value, name| step(value, name)) {
            // The value is required and missing.
            None => all.push(vec![Change { path: here.to_vec(), value: Some(minimal(schema)) }]),
            Some(value) => {
                let words = Vocabulary::from_schema(schema);
                if here.is_empty() {
                    name(&words, &mut all);
                }
                Collector { words: &words, most, all: &mut all }.node(schema, value, here, LEVELS);
                if !required && !here.is_empty() {
                    removals.push(vec![Change { path: here.to_vec(), value: None }]);
                }
            }
        }
    }
    all.extend(removals);
    all.truncate(most);
    all
}

fn minimal(schema: &Schema) -> Value {
    generate::value(schema, ExampleFields::Minimal, 0)
}

/// Adds changes of `metadata.name`, which rules of the object may use although the schema does not declare it.
fn name(words: &Vocabulary, all: &mut Vec<Changes>) {
    if words.names.contains("metadata") {
        let path = || vec!["metadata".to_owned(), "name".to_owned()];
        let texts = texts(words, &Schema::default());
        all.extend(texts.into_iter().map(|text| vec![Change { path: path(), value: Some(text.into()) }]));
    }
}

/// Collects the changes of a node.
pub(crate) struct Collector<'c> {
    /// The words of the rules.
    pub words: &'c Vocabulary,
    /// The number of changes after which no more are added.
    pub most: usize,
    /// The changes so far.
    pub all: &'c mut Vec<Changes>,
}

impl Collector<'_> {
    fn is_full(&self) -> bool {
        self.all.len() >= self.most
    }

    /// Adds the change of one value.
    pub(crate) fn set(&mut self, path: &[String], value: impl FnOnce() -> Value) {
        if !self.is_full() {
            self.all.push(vec![Change { path: path.to_vec(), value: Some(value()) }]);
        }
    }

    fn remove(&mut self, path: &[String]) {
        if !self.is_full() {
            self.all.push(vec![Change { path: path.to_vec(), value: None }]);
        }
    }

    /// Adds the changes of one node and of the fields that its rules use.
    pub(crate) fn node(&mut self, schema: &Schema, value: &Value, path: &[String], levels: usize) {
        if self.is_full() {
            return;
        }
        if !schema.enum_.is_empty() {
            for one in schema.enum_.iter().filter(|one| *one != value) {
                self.set(path, || one.clone());
            }
            return;
        }
        match value {
            Value::Bool(flag) => self.set(path, || Value::Bool(!flag)),
            Value::String(now) => {
                for text in texts(self.words, schema).into_iter().filter(|text| text != now) {
                    self.set(path, || text.into());
                }
            }
            Value::Int(_) | Value::Float(_) => {
                for number in self.numbers(schema).into_iter().filter(|number| number != value) {
                    self.set(path, || number);
                }
                if schema.x_int_or_string {
                    self.set(path, || "10%".into());
                }
            }
            Value::Null => self.set(path, || minimal(schema)),
            Value::Array(items) => self.items(schema, items, path, levels),
            Value::Object(members) => self.members(schema, members, path, levels),
        }
    }

    fn numbers(&self, schema: &Schema) -> Vec<Value> {
        #[expect(clippy::cast_possible_truncation, reason = "a bound beyond the range is tried at its end")]
        let bounds = [schema.minimum, schema.maximum].into_iter().flatten().map(|x| x as i64);
        let of_rules = self.words.numbers.iter().copied();
        let around = of_rules.chain(bounds).flat_map(|n| [n, n.saturating_add(1), n.saturating_sub(1)]);
        let mut tried = Vec::new();
        for n in around.chain([0, 1, 2, 10, 100, 1000, 100_000]) {
            if !tried.contains(&Value::Int(n)) {
                tried.push(Value::Int(n));
            }
        }
        tried
    }

    fn items(&mut self, schema: &Schema, items: &[Value], path: &[String], levels: usize) {
        let Some(item) = schema.items_schema() else { return };
        if let Some((_, fewer)) = items.split_last() {
            self.set(path, || fewer.to_vec().into());
        }
        let added = |fields: ExampleFields, count: usize| {
            let more = (items.len()..items.len() + count).map(|number| generate::value(item, fields, number));
            items.iter().cloned().chain(more).collect::<Vec<_>>()
        };
        self.set(path, || added(ExampleFields::Minimal, 1).into());
        self.set(path, || added(ExampleFields::Full, 1).into());
        for length in self.words.lengths() {
            let missing = length.saturating_sub(items.len());
            if missing > 1 {
                self.set(path, || added(ExampleFields::Minimal, missing).into());
            }
        }
        if levels > 0 {
            for (index, value) in items.iter().enumerate().take(4) {
                self.node(item, value, &below(path, &index.to_string()), levels - 1);
            }
        }
    }

    fn members(&mut self, schema: &Schema, members: &Map, path: &[String], levels: usize) {
        let words = self.words;
        let named = |name: &&String| words.names.contains(*name) || words.texts.contains(name);
        let mut names: Vec<&String> = schema.properties.keys().filter(named).collect();
        if names.is_empty() && schema.properties.len() <= 8 {
            names = schema.properties.keys().collect();
        }
        let properties = || names.iter().filter_map(|name| Some((*name, schema.property(name)?, members.get(name))));
        for (name, property, value) in properties() {
            match value {
                Some(_) if schema.required.contains(name) => {}
                Some(_) => self.remove(&below(path, name)),
                None => self.set(&below(path, name), || minimal(property)),
            }
        }
        for (name, property, value) in properties() {
            let here = below(path, name);
            match value {
                Some(value) if levels > 0 => self.node(property, value, &here, levels - 1),
                None if !self.is_full() => {
                    let made = minimal(property);
                    self.node(property, &made, &here, 1);
                    self.set(&here, || generate::value(property, ExampleFields::Full, 0));
                }
                _ => {}
            }
        }
        if let Some(values) = schema.additional_properties_schema() {
            let named = self.words.texts.iter().filter(|text| !members.contains_key(text)).cloned();
            let keys: Vec<String> = named.chain([strings::numbered("example", members.len())]).collect();
            for key in keys {
                self.set(&below(path, &key), || minimal(values));
            }
            for (key, value) in members.iter().take(2) {
                self.remove(&below(path, key));
                if levels > 0 {
                    self.node(values, value, &below(path, key), levels - 1);
                }
            }
        }
    }
}

fn below(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// Returns the texts to try for a node with its own rules.
pub(crate) fn texts_of(schema: &Schema) -> Vec<String> {
    texts(&Vocabulary::from_schema(schema), schema)
}

/// Returns the texts to try: constants of the rules, texts that match those constants as patterns, variations of both,
/// and common texts.
fn texts(words: &Vocabulary, schema: &Schema) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in &words.texts {
        all.push(text.clone());
        all.extend(strings::neighbours(text));
        if let Ok(pattern) = Regexp::new(text) {
            let shortest = pattern.sample(0, 0);
            let longer = shortest.as_ref().and_then(|text| pattern.sample(text.chars().count() + 1, 1));
            all.extend([shortest, longer, pattern.sample(4, 0)].into_iter().flatten());
        }
        all.push(format!("{text}example"));
        all.push(format!("example{text}"));
        all.push(format!("example{text}example"));
    }
    all.extend(words.lengths().map(|length| "a".repeat(length)));
    all.extend((0..2).map(|number| strings::text(schema, number)));
    all.extend(strings::COMMON.iter().map(|text| (*text).to_owned()));
    all.extend(words.numbers.iter().map(i64::to_string));
    let mut seen = std::collections::HashSet::new();
    all.retain(|text| seen.insert(text.clone()));
    all
}

/// Returns changes that make each union accept each of its branches.
pub(crate) fn of_unions(schema: &Schema, value: &Value) -> Vec<Changes> {
    let mut all = Vec::new();
    unions(schema, value, &mut Vec::new(), &mut all);
    all
}

fn unions(schema: &Schema, value: &Value, path: &mut Vec<String>, all: &mut Vec<Changes>) {
    match value {
        Value::Object(members) => {
            let parts = schema.all_of.iter().flat_map(|part| [&part.one_of, &part.any_of]);
            for union in [&schema.one_of, &schema.any_of, &schema.all_of].into_iter().chain(parts) {
                branches(schema, union, members, path, all);
            }
            for (name, value) in members {
                if let Some(child) = schema.property(name).or_else(|| schema.additional_properties_schema()) {
                    path.push(name.clone());
                    unions(child, value, path, all);
                    path.pop();
                }
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let Some(item) = schema.items_schema() else { return };
                path.push(index.to_string());
                unions(item, value, path, all);
                path.pop();
            }
        }
        _ => {}
    }
}

fn branches(schema: &Schema, union: &[Schema], members: &Map, path: &[String], all: &mut Vec<Changes>) {
    for branch in union {
        let others = union.iter().flat_map(|other| &other.required).filter(|name| !branch.required.contains(name));
        let removed = others.filter(|name| members.contains_key(name) && !schema.required.contains(name));
        let mut changes: Changes = removed.map(|name| Change { path: below(path, name), value: None }).collect();
        for name in branch.required.iter().filter(|name| !members.contains_key(name)) {
            let made = schema.property(name).map_or_else(|| Value::Object(Map::new()), minimal);
            changes.push(Change { path: below(path, name), value: Some(made) });
        }
        for (name, property) in &branch.properties {
            if let Some(narrow) = narrowed(schema.property(name), property) {
                changes.push(Change { path: below(path, name), value: Some(minimal(&narrow)) });
            }
        }
        if let Some(not) = &branch.not {
            let removed = not.required.iter().chain(not.any_of.iter().flat_map(|one| &one.required));
            let removed = removed.filter(|name| members.contains_key(name) && !schema.required.contains(name));
            changes.extend(removed.map(|name| Change { path: below(path, name), value: None }));
        }
        if !changes.is_empty() {
            all.push(changes);
        }
    }
}

/// Returns the schema of a property with the bounds that a branch adds; `None` if it adds none.
fn narrowed(property: Option<&Schema>, branch: &Schema) -> Option<Schema> {
    let mut narrow = property.cloned().unwrap_or_default();
    narrow.default = None;
    if !branch.enum_.is_empty() {
        narrow.enum_.clone_from(&branch.enum_);
    }
    if !branch.pattern.is_empty() {
        narrow.pattern.clone_from(&branch.pattern);
    }
    narrow.minimum = branch.minimum.or(narrow.minimum);
    narrow.maximum = branch.maximum.or(narrow.maximum);
    narrow.min_length = branch.min_length.or(narrow.min_length);
    narrow.max_length = branch.max_length.or(narrow.max_length);
    narrow.min_items = branch.min_items.or(narrow.min_items);
    narrow.required.extend(branch.required.iter().cloned());
    let adds = !branch.enum_.is_empty()
        || !branch.pattern.is_empty()
        || !branch.required.is_empty()
        || branch.minimum.or(branch.maximum).is_some()
        || branch.min_length.or(branch.max_length).or(branch.min_items).is_some();
    adds.then_some(narrow)
}
