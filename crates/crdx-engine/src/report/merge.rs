//! Merges the items of several releases for one object: each finding occurs once, with the releases that report it.

use super::{Diagnostic, Difference, ObjectReport, PrunedField, ReleaseAnswer, Verdict};
use crdx_value::Value;
use crdx_value::release::{Release, ReleaseSet};
use std::collections::HashMap;

/// Merges the items of several releases, oldest first; `None` if there are none.
///
/// The verdict, its reason and the server's response are the worst ones, from the newest release that has them. The
/// object and its defaulted fields are those of the newest release with the best verdict. A single item is returned
/// unchanged.
pub fn merged(mut answers: Vec<(Release, ObjectReport)>) -> Option<ObjectReport> {
    if answers.len() < 2 {
        return answers.pop().map(|(_, item)| item);
    }
    let releases = answers.iter().map(|(release, item)| ReleaseAnswer {
        release: *release,
        verdict: item.verdict,
        reason: item.reason.clone(),
        answer: item.answer.clone(),
    });
    let releases = releases.collect();
    let mut taken = |part: fn(&mut ObjectReport) -> &mut Vec<Diagnostic>| {
        let lists = answers.iter_mut().map(|(release, item)| (*release, std::mem::take(part(item)))).collect();
        problems(lists)
    };
    let errors = taken(|item| &mut item.errors);
    let hidden = taken(|item| &mut item.hidden);
    let warnings = taken(|item| &mut item.warnings);
    let pruned = pruned(answers.iter_mut().map(|(release, item)| (*release, std::mem::take(&mut item.pruned))));
    let release_difference = release_difference(&answers);
    // For equal verdicts, `max_by_key` returns the last one, which is the newest.
    let worst = answers.iter().max_by_key(|(_, item)| severity(item.verdict)).map(|(_, item)| item)?;
    let (verdict, is_unsent) = (worst.verdict, worst.is_unsent);
    let (reason, help, answer) = (worst.reason.clone(), worst.help.clone(), worst.answer.clone());
    let best = answers.into_iter().max_by_key(|(_, item)| std::cmp::Reverse(severity(item.verdict)))?.1;
    Some(ObjectReport {
        verdict,
        releases,
        reason,
        help,
        answer,
        is_unsent,
        errors,
        hidden,
        warnings,
        pruned,
        release_difference,
        ..best
    })
}

/// Compares what the oldest and the newest release store. The API server writes metadata anew in each request.
fn release_difference(answers: &[(Release, ObjectReport)]) -> Option<Box<Difference>> {
    fn stored((_, item): &(Release, ObjectReport)) -> Option<&Value> {
        item.object.as_ref().filter(|_| item.verdict == Verdict::Accepted)
    }
    let (old, new) = (stored(answers.first()?)?, stored(answers.last()?)?);
    let members = |object| Some(Value::as_object(object)?.iter().filter(|(name, _)| *name != "metadata"));
    if members(old)?.eq(members(new)?) {
        return None;
    }
    let without_metadata = |object: &Value| {
        let mut object = object.clone();
        object.as_object_mut()?.remove("metadata");
        Some(object)
    };
    let (old, new) = (without_metadata(old)?, without_metadata(new)?);
    if old == new {
        return None;
    }
    let mut difference = Difference::between(&old, &new, &Value::Null);
    // Some releases write `creationTimestamp: null` in templates, and others omit it.
    difference.lost.retain(|(_, value)| !value.is_null());
    (!difference.is_empty()).then(|| Box::new(difference))
}

/// Returns the rank of a verdict, in the order of exit codes.
fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Accepted => 0,
        Verdict::Decodes => 1,
        Verdict::Skipped => 2,
        Verdict::Rejected => 3,
        Verdict::CannotTell => 4,
    }
}

/// The key that identifies a problem across releases: type, field, message, line and column, and the number of equal
/// problems before it. The message is the detail of a field error, if there is one.
type ProblemKey = (String, Option<String>, String, (usize, usize), usize);

/// Merges the problems of all releases; those of the newest release come first. Each has the releases that report it
/// and the text of the newest of them.
fn problems(lists: Vec<(Release, Vec<Diagnostic>)>) -> Vec<Diagnostic> {
    let mut found: Vec<(Diagnostic, Vec<Release>)> = Vec::new();
    let mut indices: HashMap<ProblemKey, usize> = HashMap::new();
    for (release, list) in lists.into_iter().rev() {
        let mut seen: HashMap<ProblemKey, usize> = HashMap::new();
        for problem in list {
            let text = problem.detail.as_ref().unwrap_or(&problem.message).clone();
            let position = problem.location.as_ref().map_or((0, 0), |location| (location.line, location.column));
            let mut key = (problem.kind.clone(), problem.field.clone(), text, position, 0);
            let count = seen.entry(key.clone()).or_default();
            key.4 = *count;
            *count += 1;
            if let Some((_, releases)) = indices.get(&key).and_then(|at| found.get_mut(*at)) {
                releases.push(release);
            } else {
                indices.insert(key, found.len());
                found.push((problem, vec![release]));
            }
        }
    }
    found
        .into_iter()
        .map(|(problem, releases)| Diagnostic { releases: ReleaseSet::from_releases(releases), ..problem })
        .collect()
}

/// Merges the fields of all releases.
fn pruned(lists: impl DoubleEndedIterator<Item = (Release, Vec<PrunedField>)>) -> Vec<PrunedField> {
    let mut found: Vec<(PrunedField, Vec<Release>)> = Vec::new();
    let mut indices: HashMap<String, usize> = HashMap::new();
    for (release, list) in lists.rev() {
        for one in list {
            if let Some((_, releases)) = indices.get(&one.path).and_then(|at| found.get_mut(*at)) {
                releases.push(release);
            } else {
                indices.insert(one.path.clone(), found.len());
                found.push((one, vec![release]));
            }
        }
    }
    found
        .into_iter()
        .map(|(one, releases)| PrunedField { releases: ReleaseSet::from_releases(releases), ..one })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ServerResponse, SourceLocation};

    fn release(minor: u16) -> Release {
        Release::new(minor).unwrap()
    }

    fn error(field: &str, message: &str, detail: Option<&str>) -> Diagnostic {
        Diagnostic {
            kind: "FieldValueInvalid".to_owned(),
            field: Some(field.to_owned()),
            message: message.to_owned(),
            detail: detail.map(str::to_owned),
            ..Diagnostic::default()
        }
    }

    fn item(verdict: Verdict, errors: Vec<Diagnostic>) -> ObjectReport {
        let mut item = ObjectReport::new(SourceLocation::default(), verdict, "");
        item.errors = errors;
        item
    }

    #[test]
    fn each_finding_is_there_once_with_its_releases() {
        let mut refused = item(
            Verdict::Rejected,
            vec![
                error("spec.a", "spec.a: Invalid value: \"object\": no", Some("no")),
                error("spec.b", "only old", None),
            ],
        );
        refused.answer = Some(ServerResponse { code: 422, reason: "Invalid".to_owned(), message: "old".to_owned() });
        let newer = item(Verdict::Rejected, vec![error("spec.a", "spec.a: Invalid value: no", Some("no"))]);
        let fine = item(Verdict::Accepted, Vec::new());
        let merged = merged(vec![(release(31), refused), (release(35), newer), (release(37), fine)]).unwrap();
        assert_eq!(merged.verdict, Verdict::Rejected);
        let found: Vec<(&str, String)> =
            merged.errors.iter().map(|e| (e.message.as_str(), e.releases.as_ref().unwrap().to_string())).collect();
        assert_eq!(found, [("spec.a: Invalid value: no", "1.31, 1.35".to_owned()), ("only old", "1.31".to_owned())]);
        assert_eq!(merged.verdict_of(release(37)), Verdict::Accepted);
        assert_eq!(merged.releases_with(Verdict::Rejected).unwrap().to_string(), "1.31, 1.35");
        assert_eq!(merged.releases[0].answer.as_ref().map(|a| a.code), Some(422));
    }

    #[test]
    fn equal_findings_of_one_release_are_not_merged() {
        let twice = || item(Verdict::Rejected, vec![error("a", "x", None), error("a", "x", None)]);
        let once = item(Verdict::Rejected, vec![error("a", "x", None)]);
        let merged = merged(vec![(release(30), once), (release(31), twice()), (release(32), twice())]).unwrap();
        let releases: Vec<String> = merged.errors.iter().map(|e| e.releases.as_ref().unwrap().to_string()).collect();
        assert_eq!(releases, ["1.30..1.32", "1.31, 1.32"]);
    }

    #[test]
    fn the_newest_release_is_compared_with_the_oldest_if_both_accept() {
        let stored = |text: &str| {
            let object = crdx_text::yaml::read(text.as_bytes()).unwrap();
            ObjectReport { object: Some(object), ..item(Verdict::Accepted, Vec::new()) }
        };
        let old = stored("{metadata: {uid: a}, spec: {a: 1, b: 2, d: null}}");
        let new = stored("{metadata: {uid: b}, spec: {a: 1, c: 3}}");
        let both = merged(vec![(release(31), old.clone()), (release(32), old.clone()), (release(33), new)]).unwrap();
        let difference = both.release_difference.unwrap();
        assert_eq!(difference.lost, [("spec.b".to_owned(), Value::Int(2))]);
        assert_eq!(difference.defaulted, [("spec.c".to_owned(), Value::Int(3))]);
        let same = merged(vec![(release(31), old.clone()), (release(32), old.clone())]).unwrap();
        assert_eq!(same.release_difference, None);
        let refused = merged(vec![(release(31), old), (release(32), item(Verdict::Rejected, Vec::new()))]).unwrap();
        assert_eq!(refused.release_difference, None);
    }

    #[test]
    fn cannot_tell_in_one_release_is_the_verdict() {
        let mut unknown = item(Verdict::CannotTell, Vec::new());
        "no CRD".clone_into(&mut unknown.reason);
        let fine = item(Verdict::Accepted, Vec::new());
        let both = merged(vec![(release(30), unknown), (release(31), fine.clone())]).unwrap();
        assert_eq!((both.verdict, both.reason.as_str()), (Verdict::CannotTell, "no CRD"));
        // A single item is not changed.
        assert_eq!(merged(vec![(release(30), fine.clone())]), Some(fine));
        assert_eq!(merged(Vec::new()), None);
    }
}
