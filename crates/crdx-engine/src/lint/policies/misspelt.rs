//! Suggests a field if an expression selects a field that its type does not have.

use crdx_cel::{
    ast::{Expr, ExprKind},
    decl::{DeclType, Shape},
    env::Env,
    syntax,
    types::Type,
};
use crdx_value::suggest;
use std::cell::OnceCell;
use std::sync::Arc;

/// Returns a suggestion for the first unknown field.
pub fn misspelt(source: &str, env: &Env) -> Option<String> {
    let ast = syntax::parse(source, env.base.parse_options).ok()?;
    let found = OnceCell::new();
    ast.expr.any(&|expr| suggestion(expr, env).is_some_and(|candidate| found.set(candidate).is_ok()));
    found.into_inner()
}

fn suggestion(expr: &Expr, env: &Env) -> Option<String> {
    let ExprKind::Select { operand, field, .. } = &expr.kind else { return None };
    let declared = declared(operand, env)?;
    let Shape::Object(fields) = &declared.shape else { return None };
    if fields.contains_key(field) {
        return None;
    }
    suggest::closest(field, fields.keys().map(String::as_str)).map(suggest::did_you_mean)
}

/// Returns the declared type of a variable, of a field or of a list item.
fn declared(expr: &Expr, env: &Env) -> Option<Arc<DeclType>> {
    match &expr.kind {
        ExprKind::Ident(name) => {
            let variable = env.variables.iter().find(|variable| *variable.name == **name)?;
            let Type::Object(name) = &variable.type_ else { return None };
            env.objects.get(name).map(Arc::clone)
        }
        ExprKind::Select { operand, field, .. } => match &declared(operand, env)?.shape {
            Shape::Object(fields) => fields.get(field).map(|field| Arc::clone(&field.type_)),
            Shape::Map(values) => Some(Arc::clone(values)),
            _ => None,
        },
        ExprKind::Call { function, args, .. } if function == "_[_]" => match &declared(args.first()?, env)?.shape {
            Shape::List { items, .. } => Some(Arc::clone(items)),
            Shape::Map(values) => Some(Arc::clone(values)),
            _ => None,
        },
        _ => None,
    }
}
