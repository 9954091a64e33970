//! The expressions of a policy. A stored expression may use all functions of the server; a new one only those of the
//! previous release.

use super::values::{list, present, text};
use crate::policies::environment::{Declarations, Environments, Mode};
use crate::policies::expression::{CompileError, compile};
use crdx_cel::types::Type;
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::release::Release;
use std::collections::HashSet;

/// The expressions of the stored policy, by purpose (`preexistingExpressions`).
#[derive(Debug, Default)]
pub struct StoredExpressions<'v> {
    /// Match conditions.
    pub match_conditions: HashSet<&'v str>,
    /// Validations. The server also compares variables with them.
    pub validations: HashSet<&'v str>,
    /// Message expressions.
    pub messages: HashSet<&'v str>,
    /// Values of audit annotations.
    pub audit_annotations: HashSet<&'v str>,
    /// Apply configurations. The server also compares JSON patches with them.
    pub apply_configurations: HashSet<&'v str>,
}

impl<'v> StoredExpressions<'v> {
    /// Collects the expressions of a stored spec.
    pub(crate) fn from_spec(spec: Option<&'v Value>) -> Self {
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

/// The parameters for compiling one expression.
pub struct ExpressionParameters<'a> {
    /// The expression to compile.
    pub source: &'a str,
    /// The expression in errors.
    pub shown: &'a str,
    /// True if the expression is stored.
    pub stored: bool,
    /// The variables that it may use.
    pub declarations: Declarations,
    /// The types that it may have; an empty list allows any type.
    pub types: &'a [Type],
}

/// Compiles the expressions of one policy.
pub(crate) struct Compiler {
    /// The environments with the variables declared so far, if the policy has any.
    pub environments: Environments,
    /// The environments of match conditions, which cannot use variables.
    pub of_conditions: Environments,
    /// True if there are params.
    pub params: bool,
}

impl Compiler {
    /// Creates a compiler for a policy. `composed` is true if expressions may use `variables`.
    pub fn new(composed: bool, params: bool, release: Release) -> Self {
        let of_conditions = Environments::without_composition(release);
        let environments = if composed { Environments::new(release) } else { of_conditions.clone() };
        Self { environments, of_conditions, params }
    }

    /// Returns the variables of most expressions.
    pub fn declarations(&self) -> Declarations {
        Declarations { params: self.params, authorizer: true, patch_types: false }
    }
}

/// Compiles an expression. Returns its type, or adds an error.
pub fn check(
    environments: &Environments,
    path: &FieldPath<'_>,
    expression: &ExpressionParameters<'_>,
    errors: &mut ErrorList,
) -> Option<Type> {
    let mode = if expression.stored { Mode::Stored } else { Mode::New };
    let env = environments.env_in(mode, expression.declarations, expression.source);
    match compile(expression.source, &env, expression.types) {
        Ok((_, checked)) => Some(checked.result_type().clone()),
        Err(CompileError::Invalid(detail)) => {
            errors.push(FieldError::invalid(path, expression.shown, detail));
            None
        }
        Err(CompileError::Internal(detail)) => {
            errors.push(FieldError::internal(path, detail));
            None
        }
    }
}
