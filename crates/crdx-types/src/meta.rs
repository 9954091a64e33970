//! The first pass over a body: Go's `encoding/json` decodes its kind and apiVersion (`SimpleMetaFactory.Interpret`).
//!
//! Keys are matched case-insensitively with Unicode folding (`Kind`, `KIND`, the Kelvin sign for `k`). Of several
//! matching keys the last one is used; `null` has no effect.

use crdx_text::json::cursor::{Cursor, JsonType};
use crdx_text::json::{self, jsontext};
use crdx_value::GoError;
use crdx_value::group_version::{self, GroupVersionKind};
use crdx_value::release::{Minor, V1_38};

/// Decodes the kind and apiVersion as a server of the release `minor` does; empty if absent.
///
/// # Errors
/// Returns Go's message.
pub fn read(body: &[u8], minor: Minor) -> Result<GroupVersionKind, GoError> {
    match json::check(body) {
        Ok(()) => read_valid(body, minor),
        Err(error) if minor < V1_38 => Err(invalid(&error.message)),
        Err(error) => Err(invalid(&jsontext::syntax_error(body).map_or(error.message, String::from))),
    }
}

/// True if `key` is another spelling of `kind` or `apiVersion` that the first pass reads, such as `Kind`.
pub fn is_other_spelling(key: &str) -> bool {
    !matches!(key, "kind" | "apiVersion") && (folds_to(key, "kind") || folds_to(key, "apiversion"))
}

fn invalid(error: &str) -> GoError {
    format!("couldn't get version/kind; json parse error: {error}").into()
}

/// Decodes the kind and apiVersion of a syntactically valid body.
///
/// # Errors
/// Returns Go's message.
pub(super) fn read_valid(body: &[u8], minor: Minor) -> Result<GroupVersionKind, GoError> {
    let mut cursor = Cursor::new(body);
    let (mut kind, mut api_version) = (String::new(), String::new());
    match cursor.kind() {
        JsonType::Null => {}
        JsonType::Object => {
            cursor.enter();
            let mut mismatch = None;
            while let Some(key) = cursor.next_member() {
                let (field, name) = if folds_to(&key, "kind") {
                    (&mut kind, "kind")
                } else if folds_to(&key, "apiversion") {
                    (&mut api_version, "apiVersion")
                } else {
                    cursor.literal();
                    continue;
                };
                match cursor.kind() {
                    JsonType::String => *field = cursor.string().into_owned(),
                    JsonType::Null => drop(cursor.literal()),
                    other => {
                        cursor.literal();
                        // Go 1.27 names the key as it is spelled.
                        let name = if minor < V1_38 { name.to_owned() } else { key.into_owned() };
                        mismatch.get_or_insert((other, name));
                    }
                }
            }
            if let Some((kind, field)) = mismatch {
                let kind = kind.name();
                return Err(invalid(&format!(
                    "json: cannot unmarshal {kind} into Go struct field .{field} of type string"
                )));
            }
        }
        other => {
            let other = other.name();
            return Err(invalid(&format!(
                "json: cannot unmarshal {other} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
            )));
        }
    }
    let (group, version) = group_version::parse(&api_version)?;
    Ok(GroupVersionKind { group: group.to_owned(), version: version.to_owned(), kind })
}

/// Compares a key with a name in lower case like Go (`foldName`), which folds ASCII letters and the two other characters that fold to
/// an ASCII letter.
fn folds_to(key: &str, name: &str) -> bool {
    let folded = key.chars().map(|c| match c {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        c => c.to_ascii_lowercase(),
    });
    folded.eq(name.chars())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::release::V1_37;

    #[test]
    fn the_last_key_matching_case_insensitively_is_used() {
        let kind = |text: &str| read(text.as_bytes(), V1_37).map(|gvk| (gvk.api_version(), gvk.kind));
        let found = |api_version: &str, kind: &str| Ok((api_version.to_owned(), kind.to_owned()));
        assert_eq!(kind(r#"{"kind":"A","apiVersion":"g/v1"}"#), found("g/v1", "A"));
        assert_eq!(
            kind("{\"kind\":\"A\",\"\u{212a}IND\":\"B\",\"apiVer\u{17f}ion\":\"v2\",\"Kind\":null}"),
            found("v2", "B")
        );
        assert_eq!(kind("null"), found("", ""));
        assert_eq!(
            kind(r#"{"Kind":1,"apiVersion":[]}"#),
            Err("couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string".into())
        );
        assert_eq!(kind(r#"{"apiVersion":"a/b/c"}"#), Err("unexpected GroupVersion string: a/b/c".into()));
    }

    #[test]
    fn since_1_38_errors_are_those_of_go_1_27() {
        let error = |text: &str| read(text.as_bytes(), V1_38).unwrap_err().to_string();
        let prefix = "couldn't get version/kind; json parse error: ";
        assert_eq!(
            error(r#"{"Kind":1}"#),
            format!("{prefix}json: cannot unmarshal number into Go struct field .Kind of type string")
        );
        assert_eq!(
            error("{\u{e9}"),
            format!("{prefix}invalid character '\u{e9}' looking for beginning of object key string")
        );
    }
}
