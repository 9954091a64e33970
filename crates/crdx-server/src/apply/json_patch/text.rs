//! The text of a patched document, in which everything that the patch did not read is as it was written.
//!
//! The library reads a value only when a path leads through it or `test` compares it (`lazyNode`), and encodes only what
//! it has read. So errors of the server quote the values of a patch with their own numbers, order and duplicate keys.

use super::{index, unescape};
use crdx_text::json::cursor::Cursor;
use crdx_text::lossy;
use crdx_value::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A patch and the document to which it is applied, as compact JSON.
pub struct Sources {
    patch: String,
    document: String,
}

impl Sources {
    /// Takes the source text of a patch, and the document as the server encodes it.
    pub fn new(patch: &[u8], document: &Value) -> Self {
        Self { patch: compact(patch), document: json::to_string(document) }
    }

    /// Starts a patch.
    pub fn start(&self) -> Texts<'_> {
        let document = JsonText { is_read: true, ..JsonText::parse(&self.document) };
        let operations = match JsonText::parse(&self.patch).contents {
            Array(operations) => operations,
            _ => Vec::new(),
        };
        Texts { document, operations: operations.into_iter() }
    }
}

/// The text of a document while a patch is applied.
pub struct Texts<'t> {
    document: JsonText<'t>,
    operations: std::vec::IntoIter<JsonText<'t>>,
}

impl Texts<'_> {
    /// Applies the next operation. Returns false if it does not apply.
    pub fn step(&mut self) -> bool {
        self.operations.next().is_some_and(|operation| operation.apply_to(&mut self.document).is_some())
    }
}

/// Applies a patch that can be applied, given as its source text. Returns the text of the patched document.
pub fn patched(patch: &[u8], document: &Value) -> String {
    let sources = Sources::new(patch, document);
    let mut texts = sources.start();
    for _ in 0..texts.operations.len() {
        texts.step();
    }
    let mut text = String::new();
    texts.document.write(&mut text);
    text
}

/// A value with its compact JSON.
#[derive(Clone)]
struct JsonText<'t> {
    text: &'t str,
    /// True if the library has read the value, so that it encodes what it contains.
    is_read: bool,
    contents: Contents<'t>,
}

#[derive(Clone)]
enum Contents<'t> {
    Scalar,
    Array(Vec<JsonText<'t>>),
    /// The members; of duplicate keys, the last one.
    Object(BTreeMap<String, JsonText<'t>>),
}

use Contents::{Array, Object, Scalar};

impl<'t> JsonText<'t> {
    /// Parses compact JSON.
    fn parse(text: &'t str) -> Self {
        Self::first(text).0
    }

    /// The value at the start of a text, and the rest of it. The recursion is bounded, because an earlier decoder limits
    /// the depth to 10,000.
    fn first(text: &'t str) -> (Self, &'t str) {
        let (contents, rest) = match text.as_bytes().first() {
            Some(b'[') => {
                let (mut items, mut rest) = (Vec::new(), text);
                while let Some(next) = next(rest) {
                    let (item, after) = Self::first(next);
                    items.push(item);
                    rest = after;
                }
                (Array(items), after_end(rest))
            }
            Some(b'{') => {
                let (mut members, mut rest) = (BTreeMap::new(), text);
                while let Some(next) = next(rest) {
                    let (key, after) = next.split_at(scalar_length(next));
                    let (member, after) = Self::first(after.strip_prefix(':').unwrap_or_default());
                    members.insert(Cursor::new(key.as_bytes()).string().into_owned(), member);
                    rest = after;
                }
                (Object(members), after_end(rest))
            }
            _ => (Scalar, text.get(scalar_length(text)..).unwrap_or_default()),
        };
        let text = text.get(..text.len() - rest.len()).unwrap_or_default();
        (Self { text, is_read: false, contents }, rest)
    }

    fn null() -> Self {
        Self::parse("null")
    }

    /// Applies this operation; `None` if it does not apply.
    fn apply_to(&self, document: &mut JsonText<'t>) -> Option<()> {
        let string = |key: &str| {
            let text = self.get(key)?.text;
            text.starts_with('"').then(|| Cursor::new(text.as_bytes()).string().into_owned())
        };
        let value = || self.get("value").cloned().unwrap_or_else(Self::null);
        let path = string("path")?;
        match string("op")?.as_str() {
            "add" => document.add(&path, value()),
            "replace" if path.is_empty() => {
                let value = value();
                // A scalar does not replace the document.
                if !matches!(value.contents, Scalar) {
                    *document = Self { is_read: true, ..value };
                }
                Some(())
            }
            "replace" => document.replace(&path, value()),
            "remove" => document.remove(&path).map(drop),
            "move" => {
                let moved = document.remove(&string("from")?)?;
                document.add(&path, moved)
            }
            "copy" => {
                let (container, key) = document.find(&string("from")?)?;
                let copy = container.get(&key).cloned().unwrap_or_else(Self::null);
                document.add(&path, copy)
            }
            "test" => {
                let value = value();
                let tested = if path.is_empty() {
                    document
                } else {
                    let (container, key) = document.find(&path)?;
                    if matches!(&container.contents, Object(members) if !members.contains_key(&key)) {
                        return value.is_null().then_some(());
                    }
                    container.get_mut(&key)?
                };
                tested.read_all();
                ((tested.is_null() && value.is_null()) || tested.equals(&value)).then_some(())
            }
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.text == "null"
    }

    /// Compares the texts of scalars (`lazyNode.equal`). A null is equal to a null as a member only.
    fn equals(&self, other: &Self) -> bool {
        match (&self.contents, &other.contents) {
            (Scalar, Scalar) => self.text == other.text && !self.is_null(),
            (Array(own), Array(others)) => {
                own.len() == others.len() && own.iter().zip(others).all(|(item, other)| item.equals(other))
            }
            (Object(own), Object(others)) => {
                own.len() == others.len()
                    && own.iter().zip(others).all(|((key, member), (other_key, other))| {
                        key == other_key && ((member.is_null() && other.is_null()) || member.equals(other))
                    })
            }
            _ => false,
        }
    }

    fn read_all(&mut self) {
        self.is_read = true;
        match &mut self.contents {
            Scalar => {}
            Array(items) => items.iter_mut().for_each(Self::read_all),
            Object(members) => members.values_mut().for_each(Self::read_all),
        }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        match &self.contents {
            Scalar => None,
            Array(items) => items.get(index(key, items.len()).ok()?),
            Object(members) => members.get(key),
        }
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.contents {
            Scalar => None,
            Array(items) => {
                let at = index(key, items.len()).ok()?;
                items.get_mut(at)
            }
            Object(members) => members.get_mut(key),
        }
    }

    /// The container that a path leads to, and the last key.
    fn find(&mut self, path: &str) -> Option<(&mut Self, String)> {
        let mut parts: Vec<String> = path.split('/').skip(1).map(unescape).collect();
        let key = parts.pop()?;
        let mut at = self;
        for part in parts {
            at = at.get_mut(&part)?;
            at.is_read = true;
        }
        Some((at, key))
    }

    fn add(&mut self, path: &str, value: Self) -> Option<()> {
        let (container, key) = self.find(path)?;
        match &mut container.contents {
            Scalar => return None,
            Array(items) if key == "-" => items.push(value),
            Array(items) => items.insert(index(&key, items.len() + 1).ok()?, value),
            Object(members) => {
                members.insert(key, value);
            }
        }
        Some(())
    }

    fn replace(&mut self, path: &str, value: Self) -> Option<()> {
        let (container, key) = self.find(path)?;
        if let Object(members) = &mut container.contents {
            members.insert(key, value);
        } else {
            *container.get_mut(&key)? = value;
        }
        Some(())
    }

    fn remove(&mut self, path: &str) -> Option<Self> {
        let (container, key) = self.find(path)?;
        match &mut container.contents {
            Scalar => None,
            Array(items) => {
                let at = index(&key, items.len()).ok()?;
                Some(items.remove(at))
            }
            Object(members) => members.remove(&key),
        }
    }

    fn write(&self, out: &mut String) {
        let separate = |out: &mut String, i| {
            if i > 0 {
                out.push(',');
            }
        };
        match &self.contents {
            Array(items) if self.is_read => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    separate(out, i);
                    item.write(out);
                }
                out.push(']');
            }
            Object(members) if self.is_read => {
                out.push('{');
                for (i, (key, member)) in members.iter().enumerate() {
                    separate(out, i);
                    json::write_string(out, key);
                    out.push(':');
                    member.write(out);
                }
                out.push('}');
            }
            Array(_) | Object(_) | Scalar => write_escaped(out, self.text),
        }
    }
}

/// Writes JSON with the characters that Go escapes for HTML (`json.Marshal` of a `RawMessage`).
fn write_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
}

/// The text behind the opening bracket or the comma; `None` at the end of a container.
fn next(text: &str) -> Option<&str> {
    let next = text.strip_prefix(['[', '{', ',']).filter(|next| !next.is_empty())?;
    (!next.starts_with([']', '}'])).then_some(next)
}

/// The text behind the closing bracket, before which there may be the opening one.
fn after_end(text: &str) -> &str {
    text.strip_prefix(['[', '{']).unwrap_or(text).get(1..).unwrap_or_default()
}

/// The length of the string, number or literal at the start of compact JSON.
fn scalar_length(text: &str) -> usize {
    let mut escaped = false;
    let is_string = text.starts_with('"');
    let is_end = |c: char| {
        if is_string {
            let end = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            end
        } else {
            matches!(c, ',' | ':' | ']' | '}')
        }
    };
    let start = usize::from(is_string);
    let length = text.get(start..).and_then(|rest| rest.find(is_end));
    length.map_or(text.len(), |length| 2 * start + length)
}

/// Removes white space outside of strings.
fn compact(text: &[u8]) -> String {
    let text = lossy(text);
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\r' | '\n' if !in_string => continue,
            c => out.push(c),
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn text(document: &str, patch: &str) -> String {
        patched(patch.as_bytes(), &read(document.as_bytes()).unwrap())
    }

    #[test]
    fn values_of_the_patch_are_as_written() {
        let value = r#"{"b": 1.0, "a": 1e+19, "b": "<"}"#;
        let add = format!(r#"[{{"op":"add","path":"/s","value":{value}}}]"#);
        assert_eq!(text(r#"{"x":1.5}"#, &add), r#"{"s":{"b":1.0,"a":1e+19,"b":"\u003c"},"x":1.5}"#);
    }

    #[test]
    fn values_that_a_path_or_a_test_reads_are_encoded() {
        let patch = |then: &str| {
            format!(r#"[{{"op":"add","path":"/s","value":{{"b":[1.0],"a":{{"d":1.50,"c":2}},"b":[3.0]}}}},{then}]"#)
        };
        let through = patch(r#"{"op":"add","path":"/s/b/-","value":4.0}"#);
        assert_eq!(text("{}", &through), r#"{"s":{"a":{"d":1.50,"c":2},"b":[3.0,4.0]}}"#);
        let tested = patch(r#"{"op":"test","path":"/s","value":{"b":[3.0],"a":{"d":1.50,"c":2}}}"#);
        assert_eq!(text("{}", &tested), r#"{"s":{"a":{"c":2,"d":1.50},"b":[3.0]}}"#);
        let copied = patch(r#"{"op":"copy","from":"/s/a","path":"/t"},{"op":"move","from":"/s/b/0","path":"/u"}"#);
        assert_eq!(text("{}", &copied), r#"{"s":{"a":{"d":1.50,"c":2},"b":[]},"t":{"d":1.50,"c":2},"u":3.0}"#);
    }

    #[test]
    fn the_document_is_replaced_by_containers_only() {
        let replace = |value: &str| text(r#"{"a":1}"#, &format!(r#"[{{"op":"replace","path":"","value":{value}}}]"#));
        assert_eq!(replace(r#"{"z":1,"b":{"y":1,"x":2}}"#), r#"{"b":{"y":1,"x":2},"z":1}"#);
        assert_eq!(replace("5"), r#"{"a":1}"#);
    }
}
