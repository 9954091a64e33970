//! An object for each breaking change.

use super::{BreakingChange, ChangeKind};
use crate::report::{KnownFinding, SourceLocation};
use crate::search::upgrade::{self, GoalEffect};
use crate::search::{Counterexample, Effort};
use crdx_server::server::Timestamp;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The effort of the search for all changes of a version.
pub const EFFORT: Effort = Effort { objects: 600, seed: 0 };

/// The maximum number of changes for which an object is searched.
const MAX_SEARCHED: usize = 64;

/// A breaking change with its location in the new CRD and an object.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedChange {
    /// The change.
    pub change: BreakingChange,
    /// The source location of the changed field.
    pub location: SourceLocation,
    /// The result of a search for an object.
    pub evidence: Evidence,
    /// The entry of the baseline that accepts the change.
    pub known: Option<Arc<KnownFinding>>,
}

impl LocatedChange {
    /// Returns the help: whether ratcheting applies, and the entry of the baseline.
    pub fn help_text(&self) -> String {
        let known = self.known.as_ref().map(|known| format!("; {}", known.text()));
        self.change.ratcheting.text() + &known.unwrap_or_default()
    }
}

/// The result of a search for an object that a change breaks.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Evidence {
    /// There was no search.
    #[default]
    NotSearched,
    /// The smallest object that was found.
    Object(Box<Counterexample>),
    /// None of this number of objects and updates shows the change.
    NoneFound(usize),
}

/// Searches for an object for each change of a schema.
pub fn search(
    (old, new): (&Value, &Value),
    changes: &mut [LocatedChange],
    (release, now): (Release, Timestamp),
    effort: Effort,
) {
    let mut by_version: BTreeMap<String, Vec<&mut LocatedChange>> = BTreeMap::new();
    for located in changes.iter_mut().filter(|located| is_of_schema(&located.change)).take(MAX_SEARCHED) {
        let Some(version) = located.change.versions.first() else { continue };
        by_version.entry(version.clone()).or_default().push(located);
    }
    for (version, mut changes) in by_version {
        let goal = |located: &&mut LocatedChange| (located.change.path.clone(), effect(located.change.kind));
        let goals: Vec<(String, GoalEffect)> = changes.iter().map(goal).collect();
        let found = upgrade::witnesses((old, new), (&version, &goals), release, now, effort);
        let Ok(found) = found else { continue };
        for (located, object) in changes.iter_mut().zip(found.objects) {
            located.evidence = match object {
                Some(object) => Evidence::Object(Box::new(object)),
                None if found.accepted == 0 => Evidence::NotSearched,
                None => Evidence::NoneFound(found.accepted),
            };
        }
    }
}

/// Returns what shows a change of this kind.
fn effect(kind: ChangeKind) -> GoalEffect {
    match kind {
        ChangeKind::Required => GoalEffect::Missing,
        ChangeKind::Removed => GoalEffect::Pruned,
        ChangeKind::Default => GoalEffect::Defaulted,
        ChangeKind::Type
        | ChangeKind::Enum
        | ChangeKind::Tightened
        | ChangeKind::ListType
        | ChangeKind::VersionRemoved
        | ChangeKind::Renamed
        | ChangeKind::Subresource => GoalEffect::Invalid,
    }
}

/// Returns false for changes whose effect is not at a path of an object.
fn is_of_schema(change: &BreakingChange) -> bool {
    !matches!(change.kind, ChangeKind::VersionRemoved | ChangeKind::Renamed | ChangeKind::Subresource)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::kites;
    use crate::lint::breaking::changes;
    use crdx_server::crd;
    use crdx_value::json;

    #[test]
    fn each_change_has_its_own_object() {
        let crd = |spec: &str| kites(&format!("        {{type: object, properties: {{spec: {spec}}}}}"));
        let old = crd(
            "{type: object, properties: {a: {type: string}, b: {type: array, items: {type: integer}}, c: {type: string}, d: {type: string, default: p}}}",
        );
        let new = crd(
            "{type: object, required: [a], properties: {a: {type: string, maxLength: 3}, b: {type: array, items: {type: integer, maximum: 9}}, d: {type: string, default: q}}}",
        );
        let spec = |crd: &Value| crd::decode(crd).unwrap().crd.spec;
        let location = SourceLocation::source(&"crd.yaml".into());
        let mut located: Vec<LocatedChange> = changes(&spec(&old), &spec(&new))
            .into_iter()
            .map(|change| LocatedChange {
                change,
                location: location.clone(),
                evidence: Evidence::NotSearched,
                known: None,
            })
            .collect();
        search((&old, &new), &mut located, (Release::NEWEST, Timestamp::default()), EFFORT);
        let texts: Vec<String> = located
            .iter()
            .map(|one| match &one.evidence {
                Evidence::Object(found) => {
                    format!(
                        "{}: {}",
                        one.change.path,
                        json::to_string(found.object.get("spec").unwrap_or(&Value::Null))
                    )
                }
                other => format!("{}: {other:?}", one.change.path),
            })
            .collect();
        let want = [
            "spec.a: {}",
            // Without `a`, the object would be rejected for another reason.
            r#"spec.c: {"a":"","c":""}"#,
            "spec.a: {\"a\":\"exam\"}",
            "spec.b[*]: {\"b\":[10]}",
            r#"spec.d: {"a":""}"#,
        ];
        assert_eq!(texts, want);
    }
}
