//! URL paths of resources and objects, and percent-encoding: names may contain any character.

use std::fmt::Write as _;

/// The path of the CustomResourceDefinitions.
pub const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The usual length of a path.
const CAPACITY: usize = 128;

/// The path of the collection of a resource.
pub fn collection(group: &str, version: &str, plural: &str, namespace: Option<&str>) -> String {
    let mut path = String::with_capacity(CAPACITY);
    if group.is_empty() {
        path.push_str("/api");
    } else {
        path.push_str("/apis");
        push_segment(&mut path, group);
    }
    push_segment(&mut path, version);
    if let Some(namespace) = namespace {
        path.push_str("/namespaces");
        push_segment(&mut path, namespace);
    }
    push_segment(&mut path, plural);
    path
}

/// The path of one object.
pub fn object(collection: &str, name: &str) -> String {
    let mut path = collection.to_owned();
    push_segment(&mut path, name);
    path
}

/// Percent-encodes a path segment.
pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    push_encoded(&mut out, text);
    out
}

/// Appends `/` and a path segment.
fn push_segment(path: &mut String, text: &str) {
    path.push('/');
    push_encoded(path, text);
}

fn push_encoded(path: &mut String, text: &str) {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
    if text.bytes().all(is_plain) {
        return path.push_str(text);
    }
    for byte in text.bytes() {
        if is_plain(byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
}

/// Percent-decodes a text; in a query, `+` is a space. Returns `None` for a malformed escape. Bytes that are not UTF-8
/// become U+FFFD.
pub fn decoded(text: &str, query: bool) -> Option<String> {
    if !text.bytes().any(|b| matches!(b, b'%' | b'+')) {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        match b {
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                out.push((high * 16 + low) as u8);
            }
            b'+' if query => out.push(b' '),
            other => out.push(other),
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_paths_are_escaped() {
        assert_eq!(collection("g", "v1", "things", Some("a/b?")), "/apis/g/v1/namespaces/a%2Fb%3F/things");
        assert_eq!(object(&collection("g", "v1", "things", None), "ü"), "/apis/g/v1/things/%C3%BC");
    }

    #[test]
    fn text_is_decoded() {
        assert_eq!(decoded("a%2Fb+c", false).as_deref(), Some("a/b+c"));
        assert_eq!(decoded("a%2Fb+c", true).as_deref(), Some("a/b c"));
        assert_eq!(decoded("%zz", false), None);
    }
}
