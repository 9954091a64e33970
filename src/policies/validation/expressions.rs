//! The expressions of a policy. One that is stored already may use all that the server has; a new one only what the previous
//! release has, too.

use super::values::{list, present, text};
use crate::cel::types::Type;
use crate::field::{ErrorList, FieldError, FieldPath};
use crate::policies::environment::{Declarations, Environments, Mode};
use crate::policies::expression::{CompileError, compile};
use crate::release::Release;
use crate::value::Value;
use std::collections::HashSet;

/// The expressions of the stored policy, by what they are for (`preexistingExpressions`).
#[derive(Debug, Default)]
pub struct Stored<'v> {
    /// Match conditions.
    pub match_conditions: HashSet<&'v str>,
    /// Validations; variables are looked for among them, too.
    pub validations: HashSet<&'v str>,
    /// Message expressions.
    pub messages: HashSet<&'v str>,
    /// Values of audit annotations.
    pub audit_annotations: HashSet<&'v str>,
    /// Apply configurations; JSON patches are looked for among them, too.
    pub apply_configurations: HashSet<&'v str>,
}

impl<'v> Stored<'v> {
    /// The expressions of a stored spec.
    pub fn of(spec: Option<&'v Value>) -> Self {
        let Some(spec) = spec else { return Self::default() };
        let all = |items: &str, key: &str| list(spec, items).iter().map(|item| text(item, key)).collect();
        let applied = |mutation| present(mutation, "applyConfiguration").map(|part| text(part, "expression"));
        Self {
            match_conditions: all("matchConditions", "expression"),
            validations: all("validations", "expression"),
            messages: all("validations", "messageExpression"),
            audit_annotations: all("auditAnnotations", "valueExpression"),
            apply_configurations: list(spec, "mutations").iter().filter_map(applied).collect(),
        }
    }
}

/// How one expression is compiled.
pub struct Expression<'a> {
    /// The expression as it is compiled.
    pub source: &'a str,
    /// The expression as errors show it.
    pub shown: &'a str,
    /// Whether it is stored.
    pub stored: bool,
    /// The variables it may name.
    pub declarations: Declarations,
    /// The types it may have; none allow any.
    pub types: &'a [Type],
}

/// Compiles the expressions of one policy.
pub struct Compiler {
    /// With the variables so far, if the policy has any.
    pub environments: Environments,
    /// For match conditions, which cannot use variables.
    pub of_conditions: Environments,
    /// Whether there are params.
    pub params: bool,
}

impl Compiler {
    /// For a policy; `composed`: expressions may name `variables`.
    pub fn new(composed: bool, params: bool, release: Release) -> Self {
        let of_conditions = Environments::without_composition(release);
        let environments = if composed { Environments::new(release) } else { of_conditions.clone() };
        Self { environments, of_conditions, params }
    }

    /// The variables of most expressions.
    pub fn declarations(&self) -> Declarations {
        Declarations { params: self.params, authorizer: true, patch_types: false }
    }
}

/// Compiles an expression and gives its type, or adds its error.
pub fn check(
    environments: &Environments,
    path: &FieldPath<'_>,
    expression: &Expression<'_>,
    errors: &mut ErrorList,
) -> Option<Type> {
    let mode = if expression.stored { Mode::Stored } else { Mode::New };
    let env = environments.env_in(mode, expression.declarations);
    match compile(expression.source, &env, expression.types) {
        Ok((_, checked)) => Some(checked.result_type().clone()),
        Err(CompileError::Invalid(why)) => {
            errors.push(FieldError::invalid(path, expression.shown, why));
            None
        }
        Err(CompileError::Internal(why)) => {
            errors.push(FieldError::internal(path, why));
            None
        }
    }
}
