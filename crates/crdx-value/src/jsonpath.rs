//! JSONPath as in `k8s.io/client-go/util/jsonpath`, used for printer columns, selectable fields and kubectl's `-o
//! jsonpath`.
//!
//! A template is text with actions: `{.metadata.name}{"\n"}`, `{range .items[*]}…{end}`. client-go has some
//! peculiarities: the filter `[?(@.a[5])]` is true if the index is out of range, `..` also returns strings (whose
//! children are bytes), `{.}` is the key "", and an integer never equals a float. Go iterates over objects in random
//! order; here the order is that of the keys.

mod compare;
mod eval;
mod node;
mod parse;
mod print;

pub mod column;
pub mod duration;
pub mod selectable;

pub use print::{go_value, print};

use crate::GoError;
use crate::Value;

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    root: Vec<node::JsonPathNode>,
    allow_missing_keys: bool,
}

/// One result of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// A part of the data, or a constant of the template.
    Value(&'a Value),
    /// An integer literal of the template; it is a Go `int`, which integer columns do not show.
    Int(i64),
    /// A byte of a string.
    Byte(u8),
    /// No value, which `range` substitutes for a null.
    Missing,
}

impl JsonPath {
    /// Parses a template such as `{.metadata.name}`.
    ///
    /// # Errors
    /// Returns the server's message.
    pub fn parse(template: &str) -> Result<Self, GoError> {
        Ok(Self { root: parse::parse(template)?, allow_missing_keys: false })
    }

    /// If `allow` is true, a missing key gives no result, as in printer columns; otherwise it is the error `x is not
    /// found`.
    pub fn allow_missing_keys(self, allow: bool) -> Self {
        Self { allow_missing_keys: allow, ..self }
    }

    /// The results of each text and action of the template.
    ///
    /// # Errors
    /// Returns the server's message.
    pub fn find<'a>(&'a self, data: &'a Value) -> Result<Vec<Vec<Item<'a>>>, GoError> {
        let data = if data.is_null() { Item::Missing } else { Item::Value(data) };
        eval::Evaluator::new(&self.root, self.allow_missing_keys).find(data, 0)
    }

    /// Evaluates and formats the template.
    ///
    /// # Errors
    /// Returns the server's message.
    pub fn execute(&self, data: &Value) -> Result<String, GoError> {
        Ok(self.find(data)?.iter().map(|items| print(items)).collect())
    }

    /// The keys of a template that is a plain path such as `{.a.b}`, which most printer columns and selectable fields
    /// are, and the paths that `kubectl explain` takes.
    pub fn plain_path(&self) -> Option<Vec<&str>> {
        let [node::JsonPathNode::List(nodes)] = self.root.as_slice() else { return None };
        nodes
            .iter()
            .map(|node| if let node::JsonPathNode::Field(name) = node { Some(name.as_str()) } else { None })
            .collect()
    }
}

/// Converts kubectl's relaxed form: `.a.b`, `a.b`, `{.a.b}` and `{a.b}` all become `{.a.b}`.
///
/// # Errors
/// Returns kubectl's message for an invalid form.
pub fn relaxed(expression: &str) -> Result<String, GoError> {
    if expression.is_empty() {
        return Ok(String::new());
    }
    let inner = expression.strip_prefix('{').and_then(|e| e.strip_suffix('}')).unwrap_or(expression);
    let path = inner.strip_prefix('.').filter(|path| !path.is_empty()).unwrap_or(inner);
    if path.is_empty() || path.contains(['{', '}']) {
        return Err("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or \
                    '{.name1.name2}'"
            .into());
    }
    Ok(format!("{{.{path}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    fn data() -> Value {
        let item = |name: &str, n: i64| object([("name", Value::from(name)), ("n", Value::Int(n))]);
        object([
            ("kind", Value::from("List")),
            ("items", Value::from(vec![item("a", 1), item("b", 2), item("c", 3)])),
            ("labels", object([("a.b/c", "x"), ("plain", "y")])),
            ("empty", Value::Null),
            ("half", Value::Float(0.5)),
        ])
    }

    fn run(template: &str) -> Result<String, GoError> {
        JsonPath::parse(template)?.execute(&data())
    }

    #[test]
    fn templates_are_formatted_like_kubectl() {
        for (template, text) in [
            ("{.items[*].name}", "a b c"),
            ("{range .items[*]}{.name}={.n}{\"\\n\"}{end}{.kind}", "a=1\nb=2\nc=3\nList"),
            ("{.items[?(@.n>1)].name}", "b c"),
            ("{.items[?(@.name==\"b\")]}", r#"{"n":2,"name":"b"}"#),
            ("{.items[-1:].name} and {.items[0:3:2].n}", "c and 1 3"),
            ("{.items[0,2].name}", "a c"),
            ("{..name}", "a b c"),
            ("{.labels.a\\.b/c}{.labels['a\\.b/c']}", "xx"),
            ("{.empty}{.half}{true}{1}{1.5}{'x'}", "null0.5true11.5x"),
            ("no action", "no action"),
            ("{.items[?(@.tags[5])].name}{.items[?(@.name)].n}", "1 2 3"),
        ] {
            assert_eq!(run(template).as_deref(), Ok(text), "{template}");
        }
    }

    #[test]
    fn errors_are_the_servers() {
        for (template, error) in [
            ("{.a", "unclosed action"),
            ("{.a[}", "unterminated array"),
            ("{.a[x]}", "invalid array index x"),
            ("{.a[\"x\"]}", "invalid array index \"x\""),
            ("{.a | b}", "unrecognized character in action: U+007C '|'"),
            ("{....a}", "invalid multiple recursive descent"),
            ("{1.2.3}", "cannot parse number 1.2.3"),
            ("{[?(@.a]}", "unterminated filter"),
            ("{'a\\q'}", "unquote string 'a\\q' error invalid syntax"),
            ("{.nope}", "nope is not found"),
            ("{.items[5]}", "array index out of bounds: index 5, length 3"),
            ("{.kind[0]}", "string is not array or slice"),
            ("{nope}", "unrecognized identifier nope"),
            ("{end}", "not in range, nothing to end"),
            ("{.items[?(@.n==1.5)]}", "incompatible types for comparison"),
        ] {
            assert_eq!(run(template).as_ref().map_err(GoError::as_str), Err(error), "{template}");
        }
    }

    #[test]
    fn relaxed_paths_are_wrapped() {
        for path in [".a.b", "a.b", "{.a.b}", "{a.b}"] {
            assert_eq!(relaxed(path).as_deref(), Ok("{.a.b}"));
        }
        assert!(relaxed("{a}{b}").is_err());
        assert_eq!(relaxed(".").as_deref(), Ok("{..}"));
    }
}
