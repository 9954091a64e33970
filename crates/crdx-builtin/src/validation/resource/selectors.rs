//! Expressions that select devices (`k8s.io/dynamic-resource-allocation/cel`).

use crate::device::{MAX_COST, environment, size_at};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource::{AlreadyStored, MAX_LIST, fits};
use crdx_cel::cost;
use crdx_cel::eval::Program;
use crdx_cel::types::Type;
use crdx_value::field::FieldError;

const MAX_EXPRESSION: usize = 10 << 10;

/// `validateSelectorSlice`
pub fn validate(errors: &mut Errors, list: &FieldValue<'_, '_>, stored: AlreadyStored) {
    if !fits(errors, list, MAX_LIST) {
        return;
    }
    for selector in list.items() {
        let cel = selector.child("cel");
        if cel.is_set() {
            expression(errors, &cel.child("expression"), stored);
        } else {
            errors.required(&cel, "");
        }
    }
}

/// `validateCELExpression`
fn expression(errors: &mut Errors, expression: &FieldValue<'_, '_>, stored: AlreadyStored) {
    if stored == AlreadyStored::Yes {
        return;
    }
    let source = expression.text();
    if source.len() > MAX_EXPRESSION {
        return errors.too_long(expression, MAX_EXPRESSION as i64);
    }
    let environment = environment(errors.release);
    let checked = match environment.compile(source) {
        Ok(checked) => checked,
        Err(issues) => {
            let detail = format!("compilation failed: {}", issues.display());
            return errors.invalid_value(&expression.path, source, detail);
        }
    };
    let found = checked.result_type();
    if !matches!(found, Type::Bool | Type::Any) {
        let detail = format!("must evaluate to bool or the unknown type, not {}", environment.type_name(found));
        return errors.invalid_value(&expression.path, source, detail);
    }
    if let Err(error) = Program::plan(&checked, &environment) {
        let detail = format!("program instantiation failed: {error}");
        return errors.list.push(FieldError::internal(&expression.path, detail));
    }
    if cost::estimate_with_sizes(&checked, &size_at).max > MAX_COST {
        errors.forbidden(expression, "too complex, exceeds cost limit");
    }
}
