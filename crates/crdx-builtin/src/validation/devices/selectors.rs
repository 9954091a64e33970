//! Expressions that select devices (`k8s.io/dynamic-resource-allocation/cel`). Their costs are not estimated.

use super::super::field_value::{Errors, FieldValue};
use super::{MAX_LIST, Stored, fits};
use crdx_cel::decl::{DeclField, DeclType, Shape};
use crdx_cel::env::{BaseEnv, Env, Objects};
use crdx_cel::types::Type;
use crdx_value::field::FieldError;
use crdx_value::release::{Release, V1_36};
use std::sync::Arc;

const DEVICE: &str = "kubernetes.DRADevice";
const MAX_EXPRESSION: usize = 10 << 10;

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
    if source.contains("cel.bind") {
        // The macro is not implemented.
        return errors.list.push(FieldError::unfinished(&expression.path));
    }
    let environment = environment(errors.release);
    let detail = match environment.compile(source) {
        Err(issues) => format!("compilation failed: {}", issues.display()),
        Ok(checked) => match checked.result_type() {
            Type::Bool | Type::Any => return,
            found => {
                format!("must evaluate to bool or the unknown type, not {}", environment.type_name(found))
            }
        },
    };
    errors.invalid_value(&expression.path, source, detail);
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
    let mut environment = Env::new(BaseEnv::for_new(release)).with_variable("device", device);
    environment.objects = Arc::new(objects);
    environment
}

/// The sizes are not set, because only the types are used.
fn scalar(cel_type: Type) -> DeclType {
    DeclType::scalar(cel_type, 0, 0)
}
