//! Evaluates templates.

use super::Item;
use super::compare;
use super::node::{JsonPathNode, Param};
use super::print;
use crate::GoError;
use crate::Value;

/// The maximum number of values that a template may visit or return, because nested `..` and `range` multiply.
const MAX_STEPS: usize = 20_000_000;
/// The maximum nesting of `range`.
const MAX_RANGES: i64 = 200;

/// The results, or the results found before an error together with the error. Filters need them: like the server, they
/// treat `[5]` out of range as a match.
type Results<'a> = Result<Vec<Item<'a>>, (Vec<Item<'a>>, GoError)>;

/// The state of an evaluation, in particular of `range` loops.
pub struct Evaluator<'a> {
    root: &'a [JsonPathNode],
    allow_missing_keys: bool,
    begin: i64,
    inside: i64,
    end: i64,
    last_end: Option<usize>,
    steps: usize,
}

impl<'a> Evaluator<'a> {
    /// Prepares an evaluation.
    pub fn new(root: &'a [JsonPathNode], allow_missing_keys: bool) -> Self {
        Self { root, allow_missing_keys, begin: 0, inside: 0, end: 0, last_end: None, steps: 0 }
    }

    /// The results of each top-level node from index `from`. The body of a loop is evaluated by calling this function
    /// again for each item.
    pub fn find(&mut self, data: Item<'a>, from: usize) -> Result<Vec<Vec<Item<'a>>>, GoError> {
        let root = self.root;
        let mut all = Vec::new();
        let mut at = from;
        while let Some(node) = root.get(at) {
            let results = self.node(vec![data], node).map_err(|(_, error)| error)?;
            if self.end > 0 && self.end <= self.inside {
                self.end -= 1;
                self.last_end = Some(at);
                break;
            }
            if self.begin > 0 {
                self.begin -= 1;
                self.inside += 1;
                if self.inside > MAX_RANGES {
                    return Err("ranges nest too deeply".into());
                }
                if results.is_empty() {
                    // The body must be skipped up to its `end`.
                    self.find(Item::Missing, at + 1)?;
                }
                for item in results {
                    let item = match item {
                        Item::Value(Value::Null) => Item::Missing,
                        Item::Missing => return Err("cannot range over nothing".into()),
                        item => item,
                    };
                    all.append(&mut self.find(item, at + 1)?);
                }
                self.inside -= 1;
                if let Some(end) = self.last_end.filter(|end| *end > at) {
                    at = end;
                }
                at += 1;
                continue;
            }
            all.push(results);
            at += 1;
        }
        Ok(all)
    }

    fn step(&mut self, count: usize) -> Result<(), (Vec<Item<'a>>, GoError)> {
        self.steps += count;
        if self.steps > MAX_STEPS { Err((Vec::new(), "too many results".into())) } else { Ok(()) }
    }

    fn list(&mut self, input: Vec<Item<'a>>, nodes: &'a [JsonPathNode]) -> Results<'a> {
        nodes.iter().try_fold(input, |items, node| self.node(items, node))
    }

    fn node(&mut self, input: Vec<Item<'a>>, node: &'a JsonPathNode) -> Results<'a> {
        self.step(input.len() + 1)?;
        match node {
            JsonPathNode::Text(text) => Ok(vec![Item::Value(text)]),
            JsonPathNode::List(nodes) => self.list(input, nodes),
            JsonPathNode::Field(name) => self.field(&input, name),
            JsonPathNode::Identifier(name) => self.identifier(input, name),
            JsonPathNode::Array(params) => array(input, *params),
            JsonPathNode::Exists(path) => self.exists(&input, path),
            JsonPathNode::Compare { left, operator, right } => self.compare(&input, left, operator, right),
            JsonPathNode::Int(i) => Ok(vec![Item::Int(*i); input.len()]),
            JsonPathNode::Float(value) | JsonPathNode::Bool(value) => Ok(vec![Item::Value(value); input.len()]),
            JsonPathNode::Wildcard => Ok(input.into_iter().flat_map(children).collect()),
            JsonPathNode::Recursive => self.recursive(input),
            JsonPathNode::Union(lists) => {
                let mut all = Vec::new();
                for list in lists {
                    match self.list(input.clone(), list) {
                        Ok(mut items) => all.append(&mut items),
                        Err((_, error)) => return Err((input, error)),
                    }
                }
                Ok(all)
            }
        }
    }

    fn field(&self, input: &[Item<'a>], name: &str) -> Results<'a> {
        let members =
            input.iter().filter_map(|item| if let Item::Value(value) = item { value.get(name) } else { None });
        let results: Vec<_> = members.map(Item::Value).collect();
        if results.is_empty() && !input.is_empty() && !self.allow_missing_keys {
            return Err((results, format!("{name} is not found").into()));
        }
        Ok(results)
    }

    fn identifier(&mut self, input: Vec<Item<'a>>, name: &str) -> Results<'a> {
        match name {
            "range" => {
                self.begin += 1;
                Ok(input)
            }
            "end" if self.inside > 0 => {
                self.end += 1;
                Ok(Vec::new())
            }
            "end" => Err((Vec::new(), "not in range, nothing to end".into())),
            _ => Err((input, format!("unrecognized identifier {name}").into())),
        }
    }

    /// All values with children, parents before children.
    fn recursive(&mut self, input: Vec<Item<'a>>) -> Results<'a> {
        let mut out = Vec::new();
        let mut open: Vec<Item<'a>> = input.into_iter().rev().collect();
        while let Some(item) = open.pop() {
            let parts = children(item);
            if parts.is_empty() {
                continue;
            }
            self.step(1 + parts.len())?;
            out.push(item);
            // The bytes of a string have no children.
            if !matches!(item, Item::Value(Value::String(_))) {
                open.extend(parts.into_iter().rev());
            }
        }
        Ok(out)
    }

    fn exists(&mut self, input: &[Item<'a>], path: &'a [JsonPathNode]) -> Results<'a> {
        let mut out = Vec::new();
        for item in input {
            let Some(elements) = elements(*item) else { return Err((input.to_vec(), not_filterable(*item).into())) };
            for element in elements {
                let element = Item::Value(element);
                let (Ok(found) | Err((found, _))) = self.list(vec![element], path);
                if !found.is_empty() {
                    out.push(element);
                }
            }
            self.step(out.len())?;
        }
        Ok(out)
    }

    fn compare(
        &mut self,
        input: &[Item<'a>],
        left: &'a [JsonPathNode],
        operator: &str,
        right: &'a [JsonPathNode],
    ) -> Results<'a> {
        let mut out = Vec::new();
        for item in input {
            let Some(elements) = elements(*item) else { return Err((input.to_vec(), not_filterable(*item).into())) };
            for element in elements {
                let element = Item::Value(element);
                let mut sides = [Item::Missing; 2];
                let mut missing = false;
                for (side, path) in sides.iter_mut().zip([left, right]) {
                    match self.list(vec![element], path) {
                        Err((_, error)) => return Err((input.to_vec(), error)),
                        Ok(found) => match found.as_slice() {
                            [] => missing = true,
                            [only] => *side = *only,
                            _ => return Err((input.to_vec(), "can only compare one element at a time".into())),
                        },
                    }
                    if missing {
                        break;
                    }
                }
                if missing {
                    continue;
                }
                let [left, right] = sides;
                match compare::evaluate(left, operator, right) {
                    Ok(true) => out.push(element),
                    Ok(false) => {}
                    Err(error) => return Err((out, error)),
                }
            }
        }
        Ok(out)
    }
}

fn not_filterable(item: Item<'_>) -> String {
    format!("{} is not array or slice and cannot be filtered", print::go_value(item))
}

fn elements(item: Item<'_>) -> Option<&[Value]> {
    if let Item::Value(value) = item { value.as_array() } else { None }
}

/// The members of an object, the items of an array, or the bytes of a string.
fn children(item: Item<'_>) -> Vec<Item<'_>> {
    match item {
        Item::Value(Value::Object(members)) => members.values().map(Item::Value).collect(),
        Item::Value(Value::Array(elements)) => elements.iter().map(Item::Value).collect(),
        Item::Value(Value::String(text)) => text.bytes().map(Item::Byte).collect(),
        _ => Vec::new(),
    }
}

fn array(input: Vec<Item<'_>>, [start, end, step]: [Param; 3]) -> Results<'_> {
    let mut out = Vec::new();
    for item in &input {
        if matches!(item, Item::Value(Value::Null)) {
            continue;
        }
        let Some(elements) = elements(*item) else {
            return Err((input.clone(), format!("{} is not array or slice", print::go_type(*item)).into()));
        };
        let length = elements.len() as i64;
        let from = if start.value < 0 { start.value + length } else { start.value };
        let to = match end {
            Param { known: false, .. } => length,
            Param { value, derived, .. } if value < 0 || (value == 0 && derived) => value.wrapping_add(length),
            Param { value, .. } => value,
        };
        if from == to {
            return Ok(out);
        }
        let out_of_bounds = |index: i64| format!("array index out of bounds: index {index}, length {length}");
        let error = if from >= length || from < 0 {
            Some(out_of_bounds(from))
        } else if to > length || to < 0 {
            Some(out_of_bounds(to.wrapping_sub(1)))
        } else if from > to {
            Some(format!("starting index {from} is greater than ending index {to}"))
        } else if step.known && step.value <= 0 {
            Some("step must be > 0".to_owned())
        } else {
            None
        };
        if let Some(error) = error {
            return Err((input, error.into()));
        }
        let step = if step.known { step.value as usize } else { 1 };
        let part = elements.get(from as usize..to as usize).unwrap_or(&[]);
        out.extend(part.iter().step_by(step).map(Item::Value));
    }
    Ok(out)
}
