//! The identity of an object, and the source locations of its fields.

use crate::report::{Identity, SourceLocation};
use crdx_text::Syntax;
use crdx_value::Value;

/// Finds the location of a field in the source text of an object.
pub trait FieldLocator {
    /// Returns the location of the object.
    fn start(&self) -> SourceLocation;
    /// Returns the location of the field at `path` (in the server's notation), or of its nearest existing ancestor.
    fn field(&self, path: &str) -> SourceLocation;
    /// As [`FieldLocator::field`], but returns the location of the name instead of the value.
    fn name(&self, path: &str) -> SourceLocation;
    /// Parses the object from its source text again; `None` if there is no text.
    fn object(&self) -> Option<Value> {
        None
    }
    /// The source text of the object alone; `None` if the object is an item of a list.
    fn text(&self) -> Option<(&[u8], Syntax)> {
        None
    }
}

/// Returns the identity of an object.
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

/// The namespace of an object's identity.
#[derive(Clone, Copy, Debug)]
pub enum Namespace<'a> {
    /// The namespace in the object, if any: the scope of its kind is unknown.
    Own,
    /// The namespace in the object, or else this one.
    Or(&'a str),
    /// None, because the kind is cluster-scoped.
    None,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_generated() {
        let metadata = crdx_value::object([("generateName", "red-")]);
        let object = crdx_value::object([("kind", Value::from("Kite")), ("metadata", metadata)]);
        assert_eq!(identity(&object, Namespace::Or("ns")).full_name(), "ns/red-*");
        assert_eq!(identity(&object, Namespace::None).full_name(), "red-*");
    }
}
