use super::*;
use crdx_engine::report::{Diagnostic, SourceLocation};

fn rejected(name: &str, messages: &[&str]) -> ObjectReport {
    let mut item = ObjectReport::new(SourceLocation::line(&"a.yaml".into(), 1), Verdict::Rejected, "");
    item.identity.api_version = "example.com/v1".to_owned();
    (item.identity.kind, item.identity.name) = ("Kite".to_owned(), name.to_owned());
    let error =
        |message: &&str| Diagnostic { kind: "T".to_owned(), message: (*message).to_owned(), ..Diagnostic::default() };
    item.errors = messages.iter().map(error).collect();
    item
}

fn written(items: &mut [ObjectReport], path: &Path) -> Vec<RunNote> {
    let mut baseline = Baseline::open_to_write(path, "2026-01-02".to_owned()).unwrap();
    for item in &mut *items {
        baseline.accept(item);
    }
    baseline.finish().unwrap()
}

fn notes(items: &mut [ObjectReport], path: &Path) -> Vec<String> {
    let mut baseline = Baseline::open(path).unwrap();
    for item in &mut *items {
        baseline.accept(item);
    }
    baseline.finish().unwrap().into_iter().map(|note| note.message).collect()
}

#[test]
fn written_findings_are_known_and_others_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("baseline.yaml");
    let notes_of = written(&mut [rejected("a", &["one", "two"])], &path);
    assert!(notes_of[0].message.ends_with("was written: 2 findings"), "{notes_of:?}");
    let mut items = [rejected("a", &["one", "two"]), rejected("a", &["one", "three"]), rejected("b", &["one"])];
    assert_eq!(notes(&mut items, &path), Vec::<String>::new());
    assert_eq!(items.each_ref().map(ObjectReport::is_known), [true, false, false]);
    let known = items[0].errors[0].known.as_ref().unwrap();
    assert_eq!(known.text(), "in the baseline since 2026-01-02: found when the baseline was written");
}

#[test]
fn entries_without_a_finding_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("baseline.yaml");
    written(&mut [rejected("a", &["one", "two"]), rejected("b", &["one"])], &path);
    let notes = notes(&mut [rejected("a", &["one"])], &path);
    assert!(notes[0].contains("1 entry of") && notes[0].ends_with("Kite.example.com a (T)"), "{notes:?}");
    assert!(notes[1].ends_with("is about objects that are not in this run: Kite.example.com b (T)"), "{notes:?}");
}

#[test]
fn a_reason_is_kept_when_the_file_is_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("baseline.yaml");
    written(&mut [rejected("a", &["one", "two"])], &path);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(FIRST_REASON, "see issue 7")).unwrap();
    let notes = written(&mut [rejected("a", &["one", "new"])], &path);
    assert!(notes[0].message.ends_with("2 findings; 1 entry without a finding removed"), "{notes:?}");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!((text.matches("see issue 7").count(), text.matches(FIRST_REASON).count()), (1, 1), "{text}");
}

#[test]
fn a_long_message_is_told_by_its_hash() {
    let long = "ü".repeat(MAX_MESSAGE);
    assert_ne!(shortened(&long), shortened(&(long.clone() + "x")));
    assert!(shortened(&long).len() < MAX_MESSAGE + 100);
    assert_eq!(shortened("short"), "short");
}

#[test]
fn a_missing_verdict_is_never_known() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("baseline.yaml");
    let mut item = rejected("a", &["one"]);
    item.verdict = Verdict::CannotTell;
    let notes = written(&mut [item], &path);
    assert!(notes[0].message.ends_with("was written: 0 findings"), "{notes:?}");
}
