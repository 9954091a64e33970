//! The identity of an object, and the source locations of its fields.

use crate::output::excerpt::SourceLocation;
use crate::output::report::Identity;
use crate::value::Value;

/// Finds the place of a field in the text an object was read from.
pub trait FieldLocator {
    /// The location of the object.
    fn start(&self) -> SourceLocation;
    /// The location of the field at `path` (as the server prints it), or of its nearest existing ancestor.
    fn field(&self, path: &str) -> SourceLocation;
    /// As [`FieldLocator::field`], but its name rather than its value.
    fn name(&self, path: &str) -> SourceLocation;
    /// The object, read from its text once more; `None` if there is no text.
    fn object(&self) -> Option<Value> {
        None
    }
}

/// The identity of an object.
pub fn identity(object: &Value, namespace: Namespace<'_>) -> Identity {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
    let name = match (text(&["metadata", "name"]), text(&["metadata", "generateName"])) {
        ("", "") => String::new(),
        ("", prefix) => format!("{prefix}*"),
        (name, _) => name.to_owned(),
    };
    let own = Some(text(&["metadata", "namespace"])).filter(|ns| !ns.is_empty());
    let namespace = match namespace {
        Namespace::Own => own,
        Namespace::Or(default) => own.or(Some(default)),
        Namespace::None => None,
    };
    Identity {
        api_version: text(&["apiVersion"]).to_owned(),
        kind: text(&["kind"]).to_owned(),
        namespace: namespace.map(str::to_owned),
        name,
    }
}

/// The namespace of an object.
#[derive(Clone, Copy, Debug)]
pub enum Namespace<'a> {
    /// Its own, if it names one: nothing is known of its kind.
    Own,
    /// Its own, or else this one.
    Or(&'a str),
    /// Objects of its kind are in none.
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_generated() {
        let metadata = crate::value::object([("generateName", "red-")]);
        let object = crate::value::object([("kind", Value::from("Kite")), ("metadata", metadata)]);
        assert_eq!(identity(&object, Namespace::Or("ns")).full_name(), "ns/red-*");
        assert_eq!(identity(&object, Namespace::None).full_name(), "red-*");
    }
}
