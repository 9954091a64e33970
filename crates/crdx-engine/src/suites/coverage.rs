//! Measures which constraints of a CRD's schema the cases of its suites exercise: CEL rules, enums, patterns, bounds,
//! required fields and unions.
//!
//! A write that the server accepted passes every constraint that holds for its object. A rejected write fails the
//! constraints that do not hold. Rules fail only if the server evaluates them, that is, if the schema itself is not
//! violated.

mod tree;

use super::outcome::{CaseRequest, CaseWrite};
use crdx_server::crd;
use crdx_server::pipeline::compiled::{Dialect, SchemaNode as Compiled};
use crdx_server::pipeline::{self, Facts, ObjectOrigin, ResourceVersion};
use crdx_server::rules::Rules;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::Release;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tree::ConstraintNode;

/// The kind of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConstraintKind {
    /// `x-kubernetes-validations`
    Rule,
    /// `enum`
    Enum,
    /// `pattern`
    Pattern,
    /// `minimum`, `maxLength` or another bound.
    Bound,
    /// An entry of `required`.
    Required,
    /// `oneOf`, `anyOf`, `allOf` or `not`.
    Union,
}

impl ConstraintKind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 6] = [Self::Rule, Self::Enum, Self::Pattern, Self::Bound, Self::Required, Self::Union];

    /// Returns the plural for texts.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Rule => "rules",
            Self::Enum => "enums",
            Self::Pattern => "patterns",
            Self::Bound => "bounds",
            Self::Required => "required fields",
            Self::Union => "unions",
        }
    }

    /// Returns the name of the kind in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Enum => "enum",
            Self::Pattern => "pattern",
            Self::Bound => "bound",
            Self::Required => "required",
            Self::Union => "union",
        }
    }
}

/// A constraint, and the number of writes that passed and that failed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The field (`spec.ports[*].name`), empty for the object itself.
    pub path: String,
    /// The keyword, as a path below the schema of the version (`properties.spec.required`).
    pub keyword_path: String,
    /// The kind of constraint.
    pub kind: ConstraintKind,
    /// The keyword and its value, or the message of a rule.
    pub text: String,
    /// The number of accepted writes for which the constraint holds.
    pub passed: usize,
    /// The number of rejected writes for which the constraint does not hold.
    pub failed: usize,
}

impl Constraint {
    /// Returns true if at least one write passed and at least one write failed the constraint.
    pub(crate) fn is_covered(&self) -> bool {
        self.passed > 0 && self.failed > 0
    }
}

/// The coverage of one version of a CRD.
#[derive(Debug)]
pub struct Coverage {
    /// `metadata.name` of the CRD.
    pub crd: String,
    /// The version.
    pub version: String,
    /// The constraints, in the order of the schema.
    pub constraints: Vec<Constraint>,
    root: ConstraintNode,
    schema: Compiled,
    rules: Option<Rules>,
    /// The constraint of each rule, by the path of its node and its index in the node.
    rule_indices: HashMap<(String, usize), usize>,
    stages: ResourceVersion,
}

impl Coverage {
    /// Returns the constraints of a version of a CRD, with no writes counted. `None` if the version or its schema is
    /// missing.
    pub fn new(definition: &Value, version: &str, release: Release) -> Option<Self> {
        let crd = crd::decode(definition).ok()?.crd;
        let schema = Arc::clone(crd.spec.schema(version)?);
        let facts = Facts {
            group: crd.spec.group.clone(),
            version: version.to_owned(),
            kind: crd.spec.names.kind.clone(),
            resource: crd.spec.names.plural.clone(),
            namespaced: crd.spec.namespaced(),
            preserve_unknown_fields: crd.spec.preserves_unknown_fields(),
            status_subresource: crd.spec.subresources(version).is_some_and(|s| s.status),
            scale: None,
            schema: Some(Arc::clone(&schema)),
        };
        let mut constraints = Vec::new();
        let mut rule_indices = HashMap::new();
        let root = tree::build(&schema, release, &mut constraints, &mut rule_indices);
        Some(Self {
            crd: crd.name().to_owned(),
            version: version.to_owned(),
            constraints,
            root,
            schema: Compiled::compile(&schema, Dialect::Objects, release),
            rules: Rules::new(&schema, release),
            rule_indices,
            stages: ResourceVersion::new(facts, release),
        })
    }

    /// Counts a write.
    pub fn observe(&mut self, write: &CaseWrite) {
        match &write.answer {
            Ok(_) if write.step == CaseRequest::Delete => {}
            Ok(stored) => {
                self.count(stored, write.old.as_deref(), true);
            }
            Err(_) if write.errors.is_empty() => {}
            Err(_) => {
                if let Some(object) = self.validated(write) {
                    self.count(&object, write.old.as_deref(), false);
                }
            }
        }
    }

    /// Returns the object that the server validated: the sent object after pruning, defaulting and the strategy's
    /// preparation.
    fn validated(&self, write: &CaseWrite) -> Option<Value> {
        let mut object = pipeline::decode(&self.stages, write.sent.clone(), ObjectOrigin::Request).ok()?.object;
        pipeline::default(&self.stages, &mut object).ok()?;
        match (write.step, &write.old) {
            (CaseRequest::InitialStatus | CaseRequest::UpdateStatus, Some(old)) => {
                pipeline::prepare_status_update(&mut object, old);
            }
            (_, Some(old)) => pipeline::prepare_update(&self.stages, &mut object, old),
            (_, None) => pipeline::prepare_create(&self.stages, &mut object),
        }
        Some(object)
    }

    fn count(&mut self, object: &Value, old: Option<&Value>, accepted: bool) {
        for (index, holds) in self.results(object, old, accepted) {
            if let Some(constraint) = self.constraints.get_mut(index) {
                constraint.passed += usize::from(accepted && holds);
                constraint.failed += usize::from(!accepted && !holds);
            }
        }
    }

    /// Evaluates the constraints that apply to an object: by index, true if the constraint holds.
    fn results(&self, object: &Value, old: Option<&Value>, accepted: bool) -> HashMap<usize, bool> {
        let mut results: HashMap<usize, bool> = HashMap::new();
        self.root.check(object, self.stages.release, &mut results);
        let runs_rules =
            accepted || pipeline::validate::validate(object, &self.schema, &ROOT, self.stages.release).is_empty();
        if let Some(rules) = self.rules.as_ref().filter(|_| runs_rules) {
            for one in rules.evaluations(object, old) {
                if let Some(index) = self.rule_indices.get(&(one.path, one.rule)) {
                    *results.entry(*index).or_insert(true) &= one.holds;
                }
            }
        }
        results
    }

    /// Returns the indices of the constraints that the object of a rejected write violates, in order.
    pub fn violated(&self, write: &CaseWrite) -> Vec<usize> {
        let Some(object) = self.validated(write) else { return Vec::new() };
        let results = self.results(&object, write.old.as_deref(), false);
        let violated: BTreeSet<usize> =
            results.into_iter().filter(|(_, holds)| !holds).map(|(index, _)| index).collect();
        violated.into_iter().collect()
    }

    /// Returns the number of covered constraints and the number of all constraints.
    pub fn covered(&self) -> (usize, usize) {
        (self.constraints.iter().filter(|one| one.is_covered()).count(), self.constraints.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::kites;
    use crdx_text::yaml;

    const SCHEMA: &str = "
        type: object
        properties:
          spec:
            type: object
            required: [m]
            x-kubernetes-validations:
            - {rule: self.m != 5, message: not five}
            - {rule: self.m >= oldSelf.m}
            oneOf: [{required: [a]}, {required: [b]}]
            properties:
              m: {type: integer, maximum: 9}
              a: {type: string, default: x, pattern: x}
              b: {type: array, items: {type: string, enum: [p, q]}}
";

    fn write(sent: &str, old: Option<&str>, accepted: bool) -> CaseWrite {
        let read = |text: &str| {
            let text = format!("{{apiVersion: example.com/v1, kind: Kite, metadata: {{name: k}}, spec: {text}}}");
            yaml::read(text.as_bytes()).unwrap()
        };
        let sent = read(sent);
        CaseWrite {
            step: if old.is_some() { CaseRequest::Update } else { CaseRequest::Initial },
            answer: if accepted { Ok(Arc::new(sent.clone())) } else { Err("no".into()) },
            errors: if accepted { Vec::new() } else { vec![crdx_value::field::FieldError::required(&ROOT, "")] },
            old: old.map(|old| Arc::new(read(old))),
            sent,
            warnings: Vec::new(),
        }
    }

    fn counts(writes: &[CaseWrite]) -> Vec<(String, usize, usize)> {
        let crd = kites(SCHEMA);
        let mut coverage = Coverage::new(&crd, "v1", Release::NEWEST).unwrap();
        for write in writes {
            coverage.observe(write);
        }
        coverage.constraints.iter().map(|c| (format!("{} {}", c.path, c.text), c.passed, c.failed)).collect()
    }

    #[test]
    fn constraints_are_counted_where_they_hold_or_not() {
        let counts = counts(&[
            write("{m: 1, b: [p]}", None, true),
            write("{m: 2, a: x}", Some("{m: 1, a: x}"), true),
            // One element violates the enum, so rules are not evaluated.
            write("{m: 5, b: [p, w]}", None, false),
            write("{a: z, m: 10}", None, false),
            write("{m: 5, a: x}", Some("{m: 6, a: x}"), false),
        ]);
        let want = [
            ("spec not five", 2, 1),
            ("spec self.m >= oldSelf.m", 1, 1),
            ("spec required m", 2, 0),
            ("spec oneOf", 2, 1),
            ("spec.a pattern x", 1, 1),
            ("spec.b[*] enum p, q", 1, 1),
            ("spec.m maximum 9", 2, 1),
        ];
        assert_eq!(counts, want.map(|(text, passed, failed)| (text.to_owned(), passed, failed)));
    }
}
