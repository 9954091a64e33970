//! Drift: the fields whose value in a manifest differs from the stored object after every apply. Tools that compare the two, such as
//! Argo CD, report them permanently as out of sync.

use crdx_value::{Map, Value};

/// The comparison of lists of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListComparison {
    /// As a whole, as in custom resources: a default in an item is a difference.
    Whole,
    /// Item by item, as for built-in kinds.
    Items,
}

/// A field with another value.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftedField {
    /// The path, such as `spec.ports[0].name`.
    pub path: String,
    /// The names and indexes of the path.
    steps: Vec<String>,
    pub change: DriftKind,
}

/// The difference between the manifest and the stored object.
#[derive(Clone, Debug, PartialEq)]
pub enum DriftKind {
    /// It is not stored.
    Dropped,
    /// Another value is stored.
    Changed { from: Value, to: Value },
    /// It is added to an item of a list that is compared as a whole.
    Added(Value),
}

impl DriftedField {
    /// Returns the JSON pointer, as `ignoreDifferences` of Argo CD takes it.
    pub fn pointer(&self) -> String {
        let escaped: Vec<String> = self.steps.iter().map(|step| step.replace('~', "~0").replace('/', "~1")).collect();
        format!("/{}", escaped.join("/"))
    }
}

impl DriftKind {
    /// Returns the name in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Changed { .. } => "changed",
            Self::Added(_) => "added",
        }
    }
}

/// Returns the fields of a manifest that differ from the stored object, and the manifest that would not differ from it.
pub fn drift(manifest: &Value, stored: &Value, lists: ListComparison) -> (Vec<DriftedField>, Value) {
    let mut found = Drift { lists, steps: Vec::new(), fields: Vec::new() };
    let mut canonical = manifest.clone();
    let members = canonical.as_object_mut().into_iter().flatten();
    for (name, value) in members.filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata")) {
        found.steps.push(name.clone());
        match stored.get(name) {
            Some(stored) => found.correct(value, stored),
            None => found.drop(value),
        }
        found.steps.pop();
    }
    if let Some(members) = canonical.as_object_mut() {
        members.retain(|name, value| !value.is_null() || manifest.get(name).is_none_or(Value::is_null));
    }
    (found.fields, canonical)
}

struct Drift {
    lists: ListComparison,
    steps: Vec<String>,
    fields: Vec<DriftedField>,
}

impl Drift {
    /// Gives a value of the manifest the stored value, as far as they are compared.
    fn correct(&mut self, value: &mut Value, stored: &Value) {
        match (&mut *value, stored) {
            (Value::Object(own), Value::Object(stored)) => self.correct_members(own, stored),
            (Value::Array(own), Value::Array(stored)) if own.len() == stored.len() => {
                for (index, (own, stored)) in own.iter_mut().zip(stored).enumerate() {
                    self.steps.push(index.to_string());
                    self.correct(own, stored);
                    if let (Value::Object(own), Value::Object(stored), ListComparison::Whole) =
                        (own, stored, self.lists)
                    {
                        self.add_members(own, stored);
                    }
                    self.steps.pop();
                }
            }
            (own, stored) if *own != *stored => {
                let from = std::mem::replace(value, stored.clone());
                self.push(DriftKind::Changed { from, to: stored.clone() });
            }
            _ => {}
        }
    }

    fn correct_members(&mut self, own: &mut Map, stored: &Map) {
        for (name, value) in own.iter_mut() {
            self.steps.push(name.clone());
            match stored.get(name) {
                Some(stored) => self.correct(value, stored),
                None => self.drop(value),
            }
            self.steps.pop();
        }
        own.retain(|name, value| !value.is_null() || stored.contains_key(name));
    }

    /// Adds the members that an item of a list gets.
    fn add_members(&mut self, own: &mut Map, stored: &Map) {
        for (name, value) in stored.iter().filter(|(name, _)| !own.contains_key(name.as_str())).collect::<Vec<_>>() {
            self.steps.push(name.clone());
            self.push(DriftKind::Added(value.clone()));
            self.steps.pop();
            own.insert(name.clone(), value.clone());
        }
    }

    /// Removes a value that is not stored. Nulls and empty values are not reported, because no tool shows them.
    fn drop(&mut self, value: &mut Value) {
        let is_reported = match value {
            Value::Null => false,
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        };
        *value = Value::Null;
        if is_reported {
            self.push(DriftKind::Dropped);
        }
    }

    fn push(&mut self, change: DriftKind) {
        let mut path = String::new();
        for step in &self.steps {
            if step.bytes().all(|byte| byte.is_ascii_digit()) {
                path.extend(["[", step, "]"]);
            } else {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(step);
            }
        }
        self.fields.push(DriftedField { path, steps: self.steps.clone(), change });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        crdx_text::json::read(text.as_bytes()).unwrap()
    }

    fn found(manifest: &str, stored: &str, lists: ListComparison) -> (Vec<String>, Value) {
        let (fields, canonical) = drift(&json(manifest), &json(stored), lists);
        (fields.iter().map(|field| format!("{} {}", field.path, field.change.as_str())).collect(), canonical)
    }

    #[test]
    fn fields_that_are_stored_otherwise_are_found() {
        let manifest = r#"{"kind":"A","spec":{"cpu":"1000m","gone":1,"same":[1],"null":null},"status":{"a":1}}"#;
        let stored = r#"{"kind":"A","spec":{"cpu":"1","same":[1],"default":true}}"#;
        let (fields, canonical) = found(manifest, stored, ListComparison::Whole);
        assert_eq!(fields, ["spec.cpu changed", "spec.gone dropped", "status dropped"]);
        assert_eq!(canonical, json(r#"{"kind":"A","spec":{"cpu":"1","same":[1]}}"#));
        let (fields, _) = found(&crdx_value::json::to_string(&canonical), stored, ListComparison::Whole);
        assert_eq!(fields, Vec::<String>::new(), "the canonical manifest does not drift");
    }

    #[test]
    fn a_default_in_a_list_counts_if_lists_are_compared_as_a_whole() {
        let (manifest, stored) = (r#"{"spec":{"l":[{"a":1}]}}"#, r#"{"spec":{"l":[{"a":1,"b":2}]}}"#);
        let (fields, canonical) = found(manifest, stored, ListComparison::Whole);
        assert_eq!((fields, canonical), (vec!["spec.l[0].b added".to_owned()], json(stored)));
        assert_eq!(found(manifest, stored, ListComparison::Items).0, Vec::<String>::new());
        let (fields, canonical) = found(r#"{"spec":{"l":[1]}}"#, r#"{"spec":{"l":[1,2]}}"#, ListComparison::Items);
        assert_eq!((fields, canonical), (vec!["spec.l changed".to_owned()], json(r#"{"spec":{"l":[1,2]}}"#)));
    }

    #[test]
    fn a_pointer_has_escaped_names() {
        let (fields, _) =
            drift(&json(r#"{"data":{"a/b~c":[{"x":1}]}}"#), &json(r#"{"data":{"a/b~c":[{}]}}"#), ListComparison::Items);
        assert_eq!(fields[0].pointer(), "/data/a~1b~0c/0/x");
    }
}
