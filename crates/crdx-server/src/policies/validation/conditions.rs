//! `matchConditions` and `variables` (`validateMatchConditions`, `validateVariable`).

use super::expressions::{Compiler, ExpressionParameters, StoredExpressions, check};
use super::values::{Spec, list, present, text};
use crdx_cel::types::Type;
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, names};
use crdx_value::release::V1_35;
use std::collections::HashSet;

const MAX_CONDITIONS: usize = 64;

/// The reserved words of CEL.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Validates match conditions. They are not validated if neither they nor the kind of params changed.
pub(crate) fn validate_conditions(
    spec: Spec<'_>,
    old: Option<&Value>,
    compiler: &Compiler,
    stored: &StoredExpressions<'_>,
    errors: &mut ErrorList,
) {
    let conditions = list(spec.value, "matchConditions");
    let is_same = |old: &Value| {
        present(old, "paramKind") == present(spec.value, "paramKind") && list(old, "matchConditions") == conditions
    };
    if old.is_some_and(is_same) {
        return;
    }
    let path = spec.path.child("matchConditions");
    if conditions.len() > MAX_CONDITIONS {
        errors.push(FieldError::too_many(&path, conditions.len() as i64, MAX_CONDITIONS as i64, spec.release));
    }
    let mut seen = HashSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let expression = text(condition, "expression").trim();
        let expression_path = path.child("expression");
        if expression.is_empty() {
            errors.push(FieldError::required(&expression_path, ""));
        } else {
            let expression = ExpressionParameters {
                source: expression,
                shown: expression,
                stored: stored.match_conditions.contains(expression),
                declarations: compiler.declarations(),
                types: &[Type::Bool],
            };
            check(&compiler.of_conditions, &expression_path, &expression, errors);
        }
        let name = text(condition, "name");
        let name_path = path.child("name");
        if name.is_empty() {
            errors.push(FieldError::required(&name_path, ""));
            continue;
        }
        let problems = names::qualified_name(name, spec.release);
        errors.extend(problems.into_iter().map(|detail| FieldError::invalid(&name_path, name, detail)));
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(&name_path, name));
        }
    }
}

/// Validates variables. `compiler` declares them for later expressions.
pub(crate) fn validate_variables(
    spec: Spec<'_>,
    compiler: &mut Compiler,
    stored: &StoredExpressions<'_>,
    errors: &mut ErrorList,
) {
    let path = spec.path.child("variables");
    for (index, variable) in list(spec.value, "variables").iter().enumerate() {
        let path = path.index(index);
        let name = text(variable, "name");
        if name.trim().is_empty() {
            errors.push(FieldError::required(&path.child("name"), "name is not specified"));
        } else if !is_identifier(name) {
            let new = spec.release.since(V1_35);
            let detail = if new { "must be a valid CEL identifier" } else { "name is not a valid CEL identifier" };
            errors.push(FieldError::invalid(&path.child("name"), name, detail));
        }
        let path = path.child("expression");
        let source = text(variable, "expression");
        if source.trim().is_empty() {
            errors.push(FieldError::required(&path, "expression is not specified"));
            continue;
        }
        let expression = ExpressionParameters {
            source,
            shown: source,
            stored: stored.validations.contains(source),
            declarations: compiler.declarations(),
            types: &[],
        };
        let type_ = check(&compiler.environments, &path, &expression, errors);
        compiler.environments.add_variable(name, type_.as_ref());
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic());
    begins && characters.all(|c| c == '_' || c.is_ascii_alphanumeric()) && !RESERVED.contains(&name)
}
