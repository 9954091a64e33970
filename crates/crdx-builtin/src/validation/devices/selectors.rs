//! Expressions that select devices (`k8s.io/dynamic-resource-allocation/cel`).

use super::super::field_value::{Errors, FieldValue};
use super::{MAX_LIST, Stored, fits};
use crdx_cel::cost;
use crdx_cel::decl::{DeclField, DeclType, Shape};
use crdx_cel::env::{BaseEnv, Env, Objects};
use crdx_cel::eval::Program;
use crdx_cel::syntax::Macro;
use crdx_cel::types::Type;
use crdx_value::field::FieldError;
use crdx_value::release::{Release, V1_36};
use std::sync::Arc;

const DEVICE: &str = "kubernetes.DRADevice";
const MAX_EXPRESSION: usize = 10 << 10;
/// `CELSelectorExpressionMaxCost`
const MAX_COST: u64 = 1_000_000;

/// `validateSelectorSlice`
pub fn validate(errors: &mut Errors, list: &FieldValue<'_, '_>, stored: Stored) {
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
fn expression(errors: &mut Errors, expression: &FieldValue<'_, '_>, stored: Stored) {
    if stored == Stored::Yes {
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

/// The maximum size of the value at a path below `device` (`EstimateSize`).
fn size_at(path: &[&str]) -> Option<u64> {
    const PER_DEVICE: u64 = 32;
    const DOMAIN: u64 = 63;
    const ID: u64 = 32;
    const ATTRIBUTE: u64 = 64;
    const DRIVER: u64 = 63;
    let ["device", path @ ..] = path else { return None };
    Some(match path {
        [] | ["capacity", "@items" | "@values", "@items" | "@values"] => 0,
        ["driver"] => DRIVER,
        ["allowMultipleAllocations"] => 1,
        ["attributes" | "capacity"] | ["attributes" | "capacity", "@items" | "@values"] => PER_DEVICE,
        ["attributes" | "capacity", "@keys"] => DOMAIN,
        ["attributes" | "capacity", "@items" | "@values", "@keys"] => ID,
        // The name of an attribute, or its index.
        ["attributes", "@items" | "@values", _] => ATTRIBUTE,
        _ => return None,
    })
}

/// The environment with the variable `device`.
fn environment(release: Release) -> Env {
    let attributes = Type::map(Type::String, Type::map(Type::String, Type::Any));
    let quantity = Type::Object("kubernetes.Quantity".into());
    let capacity = Type::map(Type::String, Type::map(Type::String, quantity));
    let mut fields = vec![("driver", Type::String), ("attributes", attributes), ("capacity", capacity)];
    if release.since(V1_36) {
        fields.push(("allowMultipleAllocations", Type::Bool));
    }
    let fields = fields.into_iter().map(|(name, type_)| {
        let field = DeclField { json_name: name.to_owned(), required: true, type_: Arc::new(scalar(type_)) };
        (name.to_owned(), field)
    });
    let device = Type::Object(DEVICE.into());
    let declared = DeclType { shape: Shape::Object(fields.collect()), ..scalar(device.clone()) };
    let mut objects = Objects::new();
    objects.insert(DEVICE.into(), Arc::new(declared));
    let mut environment = Env::new(BaseEnv::for_new(release)).with_variable("device", device).with_macro(Macro::Bind);
    environment.objects = Arc::new(objects);
    environment
}

/// The sizes are not set, because only the types are used.
fn scalar(cel_type: Type) -> DeclType {
    DeclType::scalar(cel_type, 0, 0)
}
