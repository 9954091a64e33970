//! Hides the values of Secrets. Reports are kept and shared, unlike the files that they are about.

use crdx_engine::report::admission::Admission;
use crdx_engine::report::{Diagnostic, Difference, Identity, ObjectReport, Remark, SourceLocation};
use crdx_text::documents::names_secret;
use crdx_value::{Map, Value};

const SAME: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

fn is_secret(identity: &Identity) -> bool {
    identity.api_version == "v1" && identity.kind == "Secret"
}

/// Removes the source lines of Secrets from a result; their positions stay. Hides the values that policies change in a Secret.
pub fn hide_lines(item: &mut ObjectReport) {
    let is_secret = is_secret(&item.identity);
    if is_secret {
        item.admission.iter_mut().for_each(|admission| hide_changes(admission));
    }
    let ObjectReport { location, errors, hidden, warnings, pruned, remarks, .. } = item;
    let found = errors.iter_mut().chain(hidden).chain(warnings);
    let found = found.filter_map(|Diagnostic { location, .. }| location.as_mut());
    let pruned = pruned.iter_mut().filter_map(|field| field.location.as_mut());
    let remarks = remarks.iter_mut().filter_map(Remark::location_mut);
    for SourceLocation { excerpt, rendered_line, .. } in found.chain(pruned).chain(remarks).chain([location]) {
        // Another object may be on the same line of a list.
        excerpt.take_if(|excerpt| is_secret || names_secret(excerpt.line.as_bytes()));
        rendered_line.take_if(|line| is_secret || names_secret(line.as_bytes()));
    }
}

/// Hides the values that policies change in the data of a Secret.
fn hide_changes(admission: &mut Admission) {
    for field in admission.mutated.iter_mut().flat_map(|change| &mut change.fields) {
        if field.path.starts_with("data") || field.path.starts_with("stringData") {
            let is_changed = field.before.is_some() && field.after.is_some();
            let [before, after] = if is_changed { [BEFORE, AFTER] } else { [SAME, SAME] };
            field.before.iter_mut().for_each(|value| *value = before.into());
            field.after.iter_mut().for_each(|value| *value = after.into());
        }
    }
}

/// Hides the values of a Secret: of the stored object before and after a request, and of the object in the request.
pub fn hide_values(
    identity: &Identity,
    (before, after): (Option<&mut Value>, Option<&mut Value>),
    sent: Option<&mut Value>,
) {
    if is_secret(identity) {
        mask(before, after);
        mask(None, sent);
    }
}

/// Hides the values of a Secret in a difference.
pub fn hide_difference(identity: &Identity, difference: &mut Difference) {
    if !is_secret(identity) {
        return;
    }
    let Difference { lost, appearing, defaulted, changed } = difference;
    let values = lost.iter_mut().chain(appearing).chain(defaulted);
    values.for_each(|(_, value)| *value = SAME.into());
    for (_, before, after) in changed {
        (*before, *after) = (BEFORE.into(), AFTER.into());
    }
}

/// Replaces the values in the data of a Secret as `kubectl diff` does (`Masker` in `k8s.io/kubectl/pkg/cmd/diff`). Values
/// that differ stay different.
fn mask(mut before: Option<&mut Value>, mut after: Option<&mut Value>) {
    for secret in [before.as_deref_mut(), after.as_deref_mut()].into_iter().flatten() {
        let texts = secret.get_mut("stringData").and_then(Value::as_object_mut);
        texts.into_iter().flatten().for_each(|(_, value)| *value = SAME.into());
    }
    let (mut none, mut no_more) = (Map::new(), Map::new());
    let from = before.and_then(data).unwrap_or(&mut none);
    let to = after.and_then(data).unwrap_or(&mut no_more);
    for (key, value) in from.iter_mut() {
        let (mut shown, mut shown_after) = (SAME, SAME);
        if let Some(new) = to.get_mut(key) {
            if value != new {
                (shown, shown_after) = (BEFORE, AFTER);
            }
            *new = shown_after.into();
        }
        *value = shown.into();
    }
    for (_, value) in to.iter_mut().filter(|(key, _)| !from.contains_key(key)) {
        *value = SAME.into();
    }
}

fn data(secret: &mut Value) -> Option<&mut Map> {
    secret.get_mut("data")?.as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::report::{Excerpt, Verdict};
    use crdx_text::json;
    use crdx_value::json::to_string;

    #[test]
    fn values_in_differences_of_secrets_are_hidden() {
        let shown = |kind: &str| {
            let own = || ("data.password".to_owned(), Value::from("hunter2"));
            let changed = vec![("type".to_owned(), Value::from("hunter2"), Value::from("hunter3"))];
            let mut difference =
                Difference { lost: vec![own()], defaulted: vec![own()], changed, ..Difference::default() };
            let identity = Identity { api_version: "v1".to_owned(), kind: kind.to_owned(), ..Identity::default() };
            hide_difference(&identity, &mut difference);
            format!("{difference:?}").matches("hunter").count()
        };
        assert_eq!((shown("Secret"), shown("ConfigMap")), (0, 4));
    }

    #[test]
    fn source_lines_of_secrets_are_hidden() {
        let at = |line: &str| SourceLocation {
            line: 3,
            excerpt: Some(Excerpt { line: line.to_owned(), part: 0..1 }),
            rendered_line: Some(line.into()),
            ..SourceLocation::default()
        };
        let hidden = |kind: &str, line: &str| {
            let mut item = ObjectReport::new(at(line), Verdict::Rejected, "");
            item.identity = Identity { api_version: "v1".to_owned(), kind: kind.to_owned(), ..Identity::default() };
            item.errors.push(Diagnostic { location: Some(at(line)), ..Diagnostic::default() });
            hide_lines(&mut item);
            assert_eq!(item.location.line, 3);
            item.location.excerpt.is_none()
                && item.location.rendered_line.is_none()
                && item.errors.iter().all(|e| e.location.as_ref().unwrap().excerpt.is_none())
        };
        assert!(hidden("Secret", "password: hunter2"));
        assert!(!hidden("ConfigMap", "password: hunter2"));
        assert!(hidden(
            "ConfigMap",
            r#"{"items":[{"kind": "Secret","data":{"a":"aHVudGVyMg=="}},{"kind":"ConfigMap"}]}"#
        ));
    }

    #[test]
    fn values_are_hidden_and_differences_are_shown() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let mut before = read(r#"{"data":{"a":"1","b":"2","gone":"3"},"kind":"Secret"}"#);
        let mut after = read(r#"{"data":{"a":"1","b":"5","new":"4"},"kind":"Secret"}"#);
        mask(Some(&mut before), Some(&mut after));
        assert_eq!(to_string(&before), r#"{"data":{"a":"***","b":"*** (before)","gone":"***"},"kind":"Secret"}"#);
        assert_eq!(to_string(&after), r#"{"data":{"a":"***","b":"*** (after)","new":"***"},"kind":"Secret"}"#);
        let mut new = read(r#"{"data":{"a":"1"}}"#);
        mask(None, Some(&mut new));
        assert_eq!(to_string(&new), r#"{"data":{"a":"***"}}"#);
        let mut sent = read(r#"{"stringData":{"a":"1"}}"#);
        mask(None, Some(&mut sent));
        assert_eq!(to_string(&sent), r#"{"stringData":{"a":"***"}}"#);
        mask(None, None);
    }
}
