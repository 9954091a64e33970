//! The errors with which kubectl refuses a document before it sends a request (`StreamVisitor` in `k8s.io/cli-runtime/pkg/resource`,
//! `k8s.io/kubectl/pkg/validation`).

use crdx_value::{Value, group_version, json, quote};

const STOP_VALIDATING: &str = "if you choose to ignore these errors, turn validation off with --validate=false";

/// The group, version and kind of an object.
pub type GroupVersionKind = (String, String, String);

/// A wrong member of an object, and kubectl's message.
pub type MemberError = (&'static str, String);

/// Returns kubectl's name of a source.
pub(crate) fn name_of_source(source: &str) -> &str {
    if matches!(source, "-" | "<stdin>") { "STDIN" } else { source }
}

/// Returns the error for a text that cannot be parsed.
pub fn unparsable(source: &str, message: &str) -> String {
    format!("error parsing {}: {message}", name_of_source(source))
}

/// Returns the error for an object that is not valid.
pub fn invalid(source: &str, messages: &[&str]) -> String {
    let text = match messages {
        [one] => (*one).to_owned(),
        all => format!("[{}]", all.join(", ")),
    };
    let source = quote::go_quote(name_of_source(source));
    format!("error validating {source}: error validating data: {text}; {STOP_VALIDATING}")
}

/// Returns the error for an object that has no apiVersion or kind; `None` if it has both.
pub fn without_kind(source: &str, object: &Value) -> Option<String> {
    let errors = object_kind(object).err()?;
    let messages: Vec<&str> = errors.iter().map(|(_, message)| message.as_str()).collect();
    Some(invalid(source, &messages))
}

/// Returns the error for an object whose kind kubectl does not find in it; `None` if there is none.
pub fn of_object(source: &str, object: &Value) -> Option<String> {
    // The decoder, which follows the validation, needs a kind.
    let undecodable = || {
        let source = quote::go_quote(name_of_source(source));
        format!("unable to decode {source}: Object 'Kind' is missing in '{}'", json::to_string(object))
    };
    let has_empty_kind = object.str_at(&["kind"]) == Some("");
    without_kind(source, object).or_else(|| has_empty_kind.then(undecodable))
}

/// Returns the group, version and kind of an object (`getObjectKind`).
///
/// # Errors
/// Returns the errors of both members.
pub(crate) fn object_kind(object: &Value) -> Result<GroupVersionKind, Vec<MemberError>> {
    if object.as_object().is_none() {
        return Err(vec![("", "invalid object to validate".to_owned())]);
    }
    let text = |key: &'static str| match object.get(key) {
        None | Some(Value::Null) => Err(("", format!("{key} not set"))),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err((key, format!("{key} isn't string type"))),
    };
    let group_version = text("apiVersion").and_then(|text| match text.matches('/').count() {
        0 | 1 => Ok(group_version::split(text)),
        _ => Err(("apiVersion", format!("unexpected GroupVersion string: {text}"))),
    });
    match (group_version, text("kind")) {
        (Ok((group, version)), Ok(kind)) => Ok((group.to_owned(), version.to_owned(), kind.to_owned())),
        (group_version, kind) => Err(group_version.err().into_iter().chain(kind.err()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        without_kind("-", &crdx_text::yaml::read(text.as_bytes()).unwrap())
    }

    #[test]
    fn an_object_needs_an_api_version_and_a_kind() {
        let data =
            |text: &str| Some(format!("error validating \"STDIN\": error validating data: {text}; {STOP_VALIDATING}"));
        assert_eq!(refusal("{a: b}"), data("[apiVersion not set, kind not set]"));
        assert_eq!(refusal("{apiVersion: a/b/c, kind: A}"), data("unexpected GroupVersion string: a/b/c"));
        assert_eq!(refusal("{apiVersion: v1, kind: 1}"), data("kind isn't string type"));
        assert_eq!(refusal("text"), data("invalid object to validate"));
        assert_eq!(refusal("{apiVersion: v1, kind: A}"), None);
    }

    #[test]
    fn the_parser_does_not_quote_the_source() {
        assert_eq!(unparsable("a.yaml", "x"), "error parsing a.yaml: x");
    }
}
