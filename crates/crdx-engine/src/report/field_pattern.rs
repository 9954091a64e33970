//! Paths of fields that a comparison leaves out, such as `spec.replicas` or `spec.containers[*].image`.

use crdx_value::Value;
use std::str::FromStr;

/// The path of one field, or of that field in all items of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPattern(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Item(usize),
    /// All items of a list, or all fields.
    All,
}

/// The error for a text that is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write it as spec.replicas, spec.containers[*].image or metadata.annotations['example.com/a']")]
pub struct NoFieldPattern;

impl FromStr for FieldPattern {
    type Err = NoFieldPattern;

    fn from_str(text: &str) -> Result<Self, NoFieldPattern> {
        let mut steps = Vec::new();
        let mut rest = text.strip_prefix('.').unwrap_or(text);
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (step, after) = in_brackets(inner).ok_or(NoFieldPattern)?;
                steps.push(step);
                rest = after;
                // A name follows a dot.
                if let Some(name) = rest.strip_prefix('.') {
                    rest = if name.is_empty() { return Err(NoFieldPattern) } else { name };
                } else if !rest.is_empty() && !rest.starts_with('[') {
                    return Err(NoFieldPattern);
                }
                continue;
            }
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() || after == "." {
                return Err(NoFieldPattern);
            }
            steps.push(if name == "*" { Step::All } else { Step::Field(name.to_owned()) });
            rest = after.strip_prefix('.').unwrap_or(after);
        }
        if steps.is_empty() { Err(NoFieldPattern) } else { Ok(Self(steps)) }
    }
}

/// Returns the step in brackets, and the text after them.
fn in_brackets(inner: &str) -> Option<(Step, &str)> {
    for quote in ['\'', '"'] {
        if let Some(quoted) = inner.strip_prefix(quote) {
            let (name, after) = quoted.split_once(quote)?;
            return Some((Step::Field(name.to_owned()), after.strip_prefix(']')?));
        }
    }
    let (word, after) = inner.split_once(']')?;
    let step = if word == "*" { Step::All } else { Step::Item(word.parse().ok()?) };
    Some((step, after))
}

impl FieldPattern {
    /// Removes the fields from an object. An item of a list becomes null, so that the others keep their indexes.
    pub fn remove(&self, object: &mut Value) {
        remove(object, &self.0);
    }
}

fn remove(value: &mut Value, steps: &[Step]) {
    let Some((step, rest)) = steps.split_first() else { return };
    match (value, step) {
        (Value::Object(members), Step::Field(name)) if rest.is_empty() => {
            members.remove(name);
        }
        (Value::Object(members), Step::Field(name)) => {
            members.get_mut(name).into_iter().for_each(|one| remove(one, rest));
        }
        (Value::Object(members), Step::All) if rest.is_empty() => *members = crdx_value::Map::default(),
        (Value::Object(members), Step::All) => members.iter_mut().for_each(|(_, one)| remove(one, rest)),
        (Value::Array(items), Step::All) if rest.is_empty() => items.clear(),
        (Value::Array(items), Step::All) => items.iter_mut().for_each(|one| remove(one, rest)),
        (Value::Array(items), Step::Item(index)) => {
            if let Some(item) = items.get_mut(*index) {
                if rest.is_empty() { *item = Value::Null } else { remove(item, rest) }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_value::json::to_string;

    fn without(pattern: &str, object: &str) -> String {
        let mut object = read(object.as_bytes()).unwrap();
        pattern.parse::<FieldPattern>().unwrap().remove(&mut object);
        to_string(&object)
    }

    #[test]
    fn fields_and_items_are_removed() {
        assert_eq!(without(".spec.a", r#"{"spec":{"a":1,"b":2}}"#), r#"{"spec":{"b":2}}"#);
        assert_eq!(without("a[*].b", r#"{"a":[{"b":1},{"c":2},3]}"#), r#"{"a":[{},{"c":2},3]}"#);
        assert_eq!(without("a['x.y/z']", r#"{"a":{"x.y/z":1}}"#), r#"{"a":{}}"#);
        assert_eq!(without("a[1]", r#"{"a":[1,2,3]}"#), r#"{"a":[1,null,3]}"#);
        assert_eq!(without("a.*.b", r#"{"a":{"c":{"b":1},"d":2}}"#), r#"{"a":{"c":{},"d":2}}"#);
        for other in ["b", "a.b", "a[0].c[*]"] {
            assert_eq!(without(other, r#"{"a":[1]}"#), r#"{"a":[1]}"#, "{other}");
        }
    }

    #[test]
    fn other_texts_are_no_paths() {
        for text in ["", ".", "a.", "a..b", "a[", "a[x]", "a['b", "a[0]b", "a[0].", "/spec/a["] {
            assert_eq!(text.parse::<FieldPattern>(), Err(NoFieldPattern), "{text}");
        }
    }
}
