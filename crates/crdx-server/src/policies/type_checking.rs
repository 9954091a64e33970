//! The warnings that the server writes to `status.typeChecking` of a `ValidatingAdmissionPolicy`
//! (`admission/plugin/policy/validating/typechecking.go`): it checks validations and message expressions with `object`,
//! `oldObject` and `params` of the types that the policy matches. The warnings do not affect the evaluation.
//!
//! The known types are those of CRDs and of built-in kinds. On the server, the names of types in messages end in a random number; here the
//! number is 0, and 1 for params.

mod known;
mod matching;
mod subject;

pub use known::KnownType;
pub use matching::{Matched, matched};
pub use subject::{TypeCheckingSubject, Untyped, params};

use super::model::Policy;
use super::request::Kind;
use crdx_cel::env::Env;
use crdx_cel::issues::Issues;
use crdx_value::release::Release;
use std::collections::{BTreeMap, BTreeSet};

/// `ExpressionWarning`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionWarning {
    /// The expression: `spec.validations[0].expression`.
    pub field_ref: String,
    /// An error, and the type for which it occurs.
    pub results: Vec<(Kind, Issues)>,
}

impl ExpressionWarning {
    /// `warning`
    pub fn warning(&self) -> String {
        let texts: Vec<String> =
            self.results.iter().map(|(kind, issues)| format!("{}: {}\n", kind.text(), issues.display())).collect();
        texts.join("\n")
    }
}

/// Returns the warnings of a policy for the types that it matches.
pub fn check(policy: &Policy, types: &[KnownType], release: Release) -> Vec<ExpressionWarning> {
    let kinds = matched(policy, types, release).kinds;
    let subjects = subjects(policy, &kinds, types, release, Untyped::Hidden);
    let mut warnings = Vec::new();
    for (index, validation) in policy.validations.iter().enumerate() {
        let fields = [("expression", &validation.expression), ("messageExpression", &validation.message_expression)];
        for (field, source) in fields {
            if field == "messageExpression" && source.is_empty() {
                continue;
            }
            let field_ref = format!("spec.validations[{index}].{field}");
            warnings.extend(check_expression(&field_ref, source, &subjects, TypeCheckingSubject::server_env));
        }
    }
    warnings
}

/// Returns the types of these kinds, with the policy's variables, in the order of group, version and kind.
pub fn subjects(
    policy: &Policy,
    kinds: &BTreeSet<Kind>,
    types: &[KnownType],
    release: Release,
    untyped: Untyped,
) -> Vec<TypeCheckingSubject> {
    let params = params(policy, types, release);
    let all: BTreeMap<Kind, KnownType> =
        types.iter().cloned().chain(KnownType::built_in(release)).map(|known| (known.kind.clone(), known)).collect();
    kinds
        .iter()
        .filter_map(|kind| all.get(kind))
        .map(|known| {
            let mut subject =
                TypeCheckingSubject::new(known, (params.as_ref(), policy.param_kind.is_some()), release, untyped);
            subject.add_variables(policy);
            subject
        })
        .collect()
}

/// Returns the warning of one expression, which is checked in the environment that `env` returns for each type.
pub fn check_expression(
    field_ref: &str,
    source: &str,
    subjects: &[TypeCheckingSubject],
    env: impl Fn(&TypeCheckingSubject) -> Env,
) -> Option<ExpressionWarning> {
    let check = |subject: &TypeCheckingSubject| {
        let issues = env(subject).compile(source).err()?;
        Some((subject.kind.clone(), issues))
    };
    let results: Vec<(Kind, Issues)> = subjects.iter().filter_map(check).collect();
    (!results.is_empty()).then(|| ExpressionWarning { field_ref: field_ref.to_owned(), results })
}

#[cfg(test)]
mod tests;
