//! The stored object as YAML. Fields that the server set or changed are marked, and the pruned ones are shown where they were.

use crate::documents::{self, Document, below};
use crdx::Response;
use crdx_text::Syntax;
use crdx_text::spans::{PathStep, Spans};
use crdx_text::yaml;
use crdx_value::{Value, object};

/// The stored object in an answer: `yaml` is the object, `shown` has the pruned fields, too, and `marks` refers to its lines.
pub fn answer(response: &Response, document: Option<&Document>) -> Value {
    let mut stored = response.object.clone();
    if let Some(metadata) = stored.get_mut("metadata").and_then(Value::as_object_mut) {
        // `kubectl get -o yaml` does not print them either.
        metadata.remove("managedFields");
    }
    let text = yaml::write::to_string(&stored);
    let pruned: Vec<String> = response.pruned.iter().map(|pruned| pruned.path.clone()).collect();
    let shown_pruned: Vec<&String> = pruned.iter().filter(|path| put_back(path, document, &mut stored)).collect();
    let shown = if shown_pruned.is_empty() { text.clone() } else { yaml::write::to_string(&stored) };
    let spans = Spans::new(shown.as_bytes(), Syntax::Yaml);
    let mark = |kind: &str, path: &str| {
        let found = spans.locate(path);
        let start = found.key.map_or(found.value.range.start, |key| key.range.start);
        let (first, last) = documents::lines(&shown, start..found.value.range.end);
        found.exact.then(|| {
            let lines = [("from", (first as i64).into()), ("to", (last as i64).into())];
            let members: [(&str, Value); 2] = [("kind", kind.into()), ("path", path.into())];
            object(members.into_iter().chain(lines))
        })
    };
    let defaulted: Vec<String> = response.defaulted.iter().map(|defaulted| defaulted.path.clone()).collect();
    let mutated: Vec<String> = response.mutated.iter().map(|mutated| mutated.path.clone()).collect();
    let marks = shown_pruned.iter().filter_map(|path| mark("pruned", path));
    let marks = marks.chain(defaulted.iter().filter_map(|path| mark("defaulted", path)));
    let marks = marks.chain(mutated.iter().filter_map(|path| mark("mutated", path)));
    let marks: Vec<Value> = marks.collect();
    object([
        ("yaml", text.into()),
        ("shown", shown.as_str().into()),
        ("marks", Value::Array(marks)),
        ("pruned", documents::texts(&pruned)),
        ("defaulted", documents::texts(&defaulted)),
        ("mutated", documents::texts(&mutated)),
    ])
}

/// Adds a pruned field to the object that is shown. Returns false if its parent is not stored either.
fn put_back(path: &str, document: Option<&Document>, stored: &mut Value) -> bool {
    let Some(document) = document else { return false };
    let Some(steps) = document.steps(path) else { return false };
    let Some((PathStep::Member(name), parents)) = steps.split_last() else { return false };
    let (mut given, mut parent) = (&document.value, stored);
    for step in parents {
        let (Some(below_given), Some(below)) = (below(given, step), below_mut(parent, step)) else { return false };
        (given, parent) = (below_given, below);
    }
    let (Some(value), Some(members)) = (given.get(name), parent.as_object_mut()) else { return false };
    if members.contains_key(name) {
        return false;
    }
    members.insert(name.clone(), value.clone());
    true
}

fn below_mut<'a>(value: &'a mut Value, step: &PathStep) -> Option<&'a mut Value> {
    match (step, value) {
        (PathStep::Member(name), value) => value.get_mut(name),
        (PathStep::Item(index), Value::Array(items)) => items.get_mut(*index),
        (PathStep::Item(_), _) => None,
    }
}
