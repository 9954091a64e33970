//! Writes the server's answers into the text of a suite: expected objects, messages and warnings. The rest of the text
//! does not change.

mod edit;

use super::compare::comparable;
use super::outcome::{CaseOutcome, CaseRequest, Failure};
use super::suite::{Action, Case, Suite};
use super::yaml_text::{block, quoted};
use crdx_value::Value;
use crdx_value::field::FieldError;
use edit::Editor;

/// The maximum length of an error that is expected completely.
const MAX_ERROR_LENGTH: usize = 300;

/// The new value of a field of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// An object.
    Object(&'static str, Value),
    /// A text.
    Text(&'static str, String),
    /// A list of texts.
    Texts(&'static str, Vec<String>),
    /// Removes the field.
    Remove(&'static str),
}

/// The reason why a failing case is not updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUpdated {
    /// The failure does not determine a new expectation.
    #[error("its failure is not about what it expects")]
    NoAnswer,
    /// The case is a document of a folder.
    #[error("it is a document below valid/ or invalid/")]
    Document,
    /// Several servers or CRDs give different answers.
    #[error("its outcome differs between CRDs or Kubernetes versions")]
    Disagreement,
    /// The case is not in block style with one field per line.
    #[error("it is not written in block style with one field per line")]
    Style,
}

/// Returns the edits that make a case expect its outcome; empty if the case passes.
///
/// # Errors
/// Returns an error if the failure cannot be made the expectation.
pub fn edits(case: &Case, outcome: &CaseOutcome) -> Result<Vec<Edit>, NotUpdated> {
    let Some(failure) = &outcome.failure else { return Ok(Vec::new()) };
    if matches!(case.action, Action::Valid | Action::Invalid | Action::RoundTrip(_)) {
        return Err(NotUpdated::Document);
    }
    let write = outcome.writes.last();
    let message = |step: CaseRequest, message: &str| {
        let error = write.and_then(|write| write.errors.first());
        Edit::Text(error_field(step), error.map_or_else(|| without_name(message), part_of_message))
    };
    let under_test = match case.action {
        Action::Create => CaseRequest::Initial,
        Action::Apply => CaseRequest::Apply,
        Action::Delete => CaseRequest::Delete,
        Action::Update | Action::Valid | Action::Invalid | Action::RoundTrip(_) => CaseRequest::Update,
    };
    match failure {
        Failure::Differs { stored, .. } if !stored.is_null() => Ok(vec![Edit::Object("expected", stored.clone())]),
        Failure::Rejected(step, text) if *step == under_test || *step == CaseRequest::UpdateStatus => {
            let removed = case.expected.is_some().then_some(Edit::Remove("expected"));
            Ok([message(*step, text)].into_iter().chain(removed).collect())
        }
        Failure::OtherError { step, message: text, .. } => Ok(vec![message(*step, text)]),
        Failure::Accepted(step, Some(_)) => {
            let stored = write.and_then(|write| write.answer.as_ref().ok());
            let expected = stored.filter(|_| case.expected.is_none() && *step != CaseRequest::Delete);
            let expected = expected.map(|stored| Edit::Object("expected", comparable(Value::clone(stored))));
            Ok([Edit::Remove(error_field(*step))].into_iter().chain(expected).collect())
        }
        Failure::Warnings { warnings, .. } => Ok(vec![Edit::Texts("expectedWarnings", warnings.clone())]),
        _ => Err(NotUpdated::NoAnswer),
    }
}

fn error_field(step: CaseRequest) -> &'static str {
    if step == CaseRequest::UpdateStatus { "expectedStatusError" } else { "expectedError" }
}

/// Returns the part of the server's message that a case expects for a field error.
pub(crate) fn part_of_message(error: &FieldError) -> String {
    let whole = error.to_string();
    let is_short = !error.is_at_nil_path() && whole.len() <= MAX_ERROR_LENGTH && !whole.contains('\n');
    if is_short || error.detail.is_empty() { whole } else { error.detail.clone() }
}

/// Returns the message after the generated name of the object.
fn without_name(message: &str) -> String {
    let tail = message.split_once("\"test-").and_then(|(_, tail)| tail.split_once("\" "));
    tail.map_or(message, |(_, tail)| tail).to_owned()
}

/// Returns the text of a suite with edits applied (by index of the case), and the cases whose edits are not possible.
pub fn updated(suite: &Suite, edits: &[(usize, Vec<Edit>)]) -> (String, Vec<usize>) {
    let mut editor = Editor::new(&suite.text);
    let mut failed = Vec::new();
    for (index, edits) in edits {
        let Some(case) = suite.cases.get(*index) else { continue };
        let before = editor.clone();
        let done = edits.iter().all(|edit| match edit {
            Edit::Object(key, object) => {
                editor.set(suite, case, key, |indent| (" |".to_owned(), block(object, indent)))
            }
            Edit::Text(key, text) => editor.set(suite, case, key, |_| (format!(" {}", quoted(text)), String::new())),
            Edit::Texts(key, texts) if texts.is_empty() => {
                editor.set(suite, case, key, |_| (" []".to_owned(), String::new()))
            }
            Edit::Texts(key, texts) => {
                let item = |text: &String, indent| format!("{:indent$}- {}", "", quoted(text));
                let items = |indent| texts.iter().map(|text| item(text, indent)).collect::<Vec<_>>().join("\n") + "\n";
                editor.set(suite, case, key, |indent| (String::new(), items(indent)))
            }
            Edit::Remove(key) => editor.remove(suite, case, key),
        });
        if !done {
            editor = before;
            failed.push(*index);
        }
    }
    (editor.finish(), failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    const SUITE: &str = "# Kites
name: Kite
crdName: kites.example.com
tests:
  onCreate:
    # The first.
    - name: a   # a name
      initial: |   # what is sent
        kind: Kite
      expected: |- # stored

        kind: Kite

        spec: {}

    - name: b
      initial: 'kind: Kite'
      expectedError: \"no\" # why
    # The end.
    - {name: c, initial: 'kind: Kite', expectedError: x}
";

    fn update(edits: &[(usize, Vec<Edit>)]) -> (String, Vec<usize>) {
        let suite = Suite::read("s.yaml", SUITE.as_bytes()).unwrap();
        let (text, failed) = updated(&suite, edits);
        assert!(Suite::read("s.yaml", text.as_bytes()).is_ok(), "{text}");
        (text, failed)
    }

    #[test]
    fn only_expectations_change() {
        let object = yaml::read(b"{kind: Kite, spec: {tail: 1}}").unwrap();
        let (text, failed) = update(&[
            (0, vec![Edit::Object("expected", object.clone())]),
            (1, vec![Edit::Text("expectedError", "it's".to_owned())]),
            (2, vec![Edit::Text("expectedError", "y".to_owned())]),
        ]);
        let want = SUITE
            .replace(
                "\n\n        kind: Kite\n\n        spec: {}\n",
                "\n        kind: Kite\n        spec:\n          tail: 1\n",
            )
            .replace("\"no\" # why", "'it''s' # why");
        assert_eq!((text, failed), (want, vec![2]));
        let (text, failed) = update(&[
            (0, vec![Edit::Text("expectedError", "no".to_owned()), Edit::Remove("expected")]),
            (1, vec![Edit::Remove("expectedError"), Edit::Object("expected", object)]),
        ]);
        let want = SUITE
            .replace(
                "      expected: |- # stored\n\n        kind: Kite\n\n        spec: {}\n",
                "      expectedError: 'no'\n",
            )
            .replace(
                "      expectedError: \"no\" # why\n",
                "      expected: |\n        kind: Kite\n        spec:\n          tail: 1\n",
            );
        assert_eq!((text, failed), (want, vec![]));
    }

    #[test]
    fn a_message_is_expected_without_the_generated_name() {
        assert_eq!(without_name("kites \"test-ab1cd\" is forbidden: no"), "is forbidden: no");
        assert_eq!(without_name("no name"), "no name");
    }
}
