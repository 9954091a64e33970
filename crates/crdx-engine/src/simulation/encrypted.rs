//! The report about an object with encrypted fields: what their values decide is not known.

use crate::documents::encrypted::EncryptedField;
use crate::report::{Diagnostic, Identity, ObjectReport, Remark, Verdict};
use crdx_value::Value;

/// The relation between the field of an error and encrypted fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// It has none.
    Other,
    /// It has encrypted fields, so that other values may decide, too.
    Above,
    /// It is encrypted, so that its value may be valid.
    Within,
}

/// Removes errors and warnings about encrypted values from the report of the server's answer, and puts the encrypted values into
/// the object that would be stored. `has_rules` is true if the server evaluates rules only without other errors.
pub(super) fn complete(item: &mut ObjectReport, fields: &[EncryptedField], has_rules: bool) {
    if is_sealed_secret(&item.identity) {
        item.remarks.push(Remark::EncryptedFields);
    }
    if fields.is_empty() {
        return;
    }
    item.remarks.push(Remark::EncryptedFields);
    let paths: Vec<String> = fields.iter().map(|field| field.path.join(".")).collect();
    let ObjectReport { warnings, pruned, object, .. } = &mut *item;
    // A warning that names neither a field of the object nor an unknown one is about a value, such as a certificate.
    let is_about_field = |warning: &Diagnostic| {
        let Some(field) = warning.field.as_deref().filter(|_| warning.kind == "Warning") else { return true };
        let first = field.split(['.', '[']).next().unwrap_or_default();
        pruned.iter().any(|unknown| unknown.path == field)
            || object.as_ref().is_some_and(|object| object.get(first).is_some())
    };
    warnings.retain(|warning| relation(warning, &paths) == Relation::Other && is_about_field(warning));
    item.hidden.retain(|error| relation(error, &paths) == Relation::Other);
    if item.verdict == Verdict::Rejected && !item.is_unsent {
        let is_other = |error: &Diagnostic| relation(error, &paths) == Relation::Other;
        let is_within = item.errors.iter().all(|error| relation(error, &paths) == Relation::Within);
        if item.errors.iter().any(is_other) {
            item.errors.retain(is_other);
        } else if is_within && !has_rules && !item.errors.is_empty() {
            item.errors.clear();
            item.answer = None;
            item.verdict = Verdict::Accepted;
        } else {
            let names = item.errors.iter().filter_map(|error| error.field.as_deref()).collect::<Vec<_>>().join(", ");
            item.reason = format!("the answer depends on encrypted values: {names}");
            item.help = Some(
                "decrypt the file and validate the result: sops decrypt FILE | kubectl crdx validate -".to_owned(),
            );
            item.verdict = Verdict::CannotTell;
            item.errors.clear();
            item.answer = None;
        }
    }
    let before = item.before.clone();
    if let Some(object) = &mut item.object {
        for field in fields {
            restore(object, field, before.as_deref());
        }
    }
}

/// A `SealedSecret` has the encrypted values of a Secret, which its controller decrypts.
fn is_sealed_secret(identity: &Identity) -> bool {
    identity.kind == "SealedSecret" && identity.group() == "bitnami.com"
}

fn relation(error: &Diagnostic, paths: &[String]) -> Relation {
    let field = error.field.as_deref().map(dotted).unwrap_or_default();
    let starts = |path: &str, start: &str| {
        start.is_empty() || path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    // `stringData` of a Secret becomes `data`.
    let forms = |path: &String| {
        [path.clone(), path.strip_prefix("stringData.").map_or_else(|| path.clone(), |key| format!("data.{key}"))]
    };
    let mut relation = Relation::Other;
    for path in paths.iter().flat_map(forms) {
        if starts(&field, &path) {
            return Relation::Within;
        }
        if starts(&path, &field) {
            relation = Relation::Above;
        }
    }
    relation
}

/// The path of a field of the server, with a dot before every name and index.
fn dotted(field: &str) -> String {
    field.replace('[', ".").replace(']', "")
}

/// Puts the stored value, or the encrypted one, in the place of the one with which the object was simulated.
fn restore(object: &mut Value, field: &EncryptedField, before: Option<&Value>) {
    let mut path: Vec<&str> = field.path.iter().map(String::as_str).collect();
    let mut text = Value::String(field.text.clone());
    if let [first @ "stringData", _] = path.as_mut_slice() {
        *first = "data";
    }
    if let Some(stored) = before.and_then(|before| child(before, &path)) {
        text = stored.clone();
    }
    let mut at = object;
    for name in path {
        let next = match at {
            Value::Object(members) => members.get_mut(name),
            Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            _ => None,
        };
        let Some(next) = next else { return };
        at = next;
    }
    *at = text;
}

fn child<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, name| match at {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SourceLocation;

    fn field(path: &[&str]) -> EncryptedField {
        EncryptedField { path: path.iter().map(ToString::to_string).collect(), text: "ENC[x]".to_owned() }
    }

    fn completed(errors: &[&str], has_rules: bool) -> ObjectReport {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Rejected, "");
        let error = |name: &&str| Diagnostic { field: Some((*name).to_owned()), ..Diagnostic::default() };
        item.errors = errors.iter().map(error).collect();
        complete(&mut item, &[field(&["spec", "a", "0"]), field(&["stringData", "tls.key"])], has_rules);
        item
    }

    #[test]
    fn an_encrypted_value_may_be_valid() {
        for errors in [&["spec.a[0]"][..], &["spec.a[0].b"], &["data[tls.key]"]] {
            assert_eq!(completed(errors, false).verdict, Verdict::Accepted, "{errors:?}");
            let item = completed(errors, true);
            assert_eq!(item.verdict, Verdict::CannotTell, "rules may not have been evaluated: {errors:?}");
            assert!(item.reason.contains(errors[0]), "{}", item.reason);
        }
    }

    #[test]
    fn an_error_above_encrypted_values_is_not_decided() {
        assert_eq!(completed(&["spec.a"], false).verdict, Verdict::CannotTell);
        assert_eq!(completed(&["data"], false).verdict, Verdict::CannotTell);
    }

    #[test]
    fn other_errors_reject() {
        let item = completed(&["spec.a[0]", "spec.b", "spec.a[01]"], false);
        let fields: Vec<_> = item.errors.iter().filter_map(|error| error.field.as_deref()).collect();
        assert_eq!((item.verdict, fields), (Verdict::Rejected, vec!["spec.b", "spec.a[01]"]));
    }

    #[test]
    fn the_stored_object_has_the_encrypted_value() {
        let mut object = crdx_text::json::read(br#"{"data":{"tls.key":""},"spec":{"a":[""]}}"#).unwrap();
        let before = crdx_text::json::read(br#"{"data":{"tls.key":"eA=="}}"#).unwrap();
        restore(&mut object, &field(&["stringData", "tls.key"]), Some(&before));
        restore(&mut object, &field(&["spec", "a", "0"]), Some(&before));
        restore(&mut object, &field(&["spec", "b"]), None);
        let expected = r#"{"data":{"tls.key":"eA=="},"spec":{"a":["ENC[x]"]}}"#;
        assert_eq!(crdx_value::json::to_string(&object), expected);
    }
}
