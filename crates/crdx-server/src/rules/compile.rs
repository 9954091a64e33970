//! Compiles the rules of one schema node (`schema/cel/compilation.go`).

use super::{decl::MAX_REQUEST, field_path};
use crate::schema::{Schema, ValidationRule};
use crdx_cel::{
    ast::{CheckedAst, Expr, ExprKind},
    cost,
    decl::{DeclType, Shape},
    env::{BaseEnv, Env, Objects},
    eval::Program,
    types::Type,
};
use crdx_value::GoError;
use crdx_value::release::Release;
use std::sync::Arc;

/// The type name of `self` in messages. On the server the number varies.
const SELF_TYPE: &str = "selfType0";
/// The message for a node that has rules but no CEL type.
pub(crate) const NO_TYPE: &str = "failed to convert to declType for CEL validation rules";

/// The CEL type of a schema node.
#[derive(Clone, Debug)]
pub struct NodeType {
    /// The release for which the type is declared.
    pub release: Release,
    /// The declared type; `None` if the node has no CEL type.
    pub decl: Option<Arc<DeclType>>,
    /// The object types that the declared type refers to.
    pub objects: Arc<Objects>,
    /// The prefix of type names.
    pub path: String,
}

impl NodeType {
    /// The type of a property, by its escaped name; `None` if it has no type.
    pub fn property(&self, escaped: &str) -> Option<Self> {
        let Shape::Object(fields) = &self.decl.as_ref()?.shape else { return None };
        let decl = Arc::clone(&fields.get(escaped)?.type_);
        let path = format!("{}.{escaped}", self.path);
        Some(Self { release: self.release, decl: Some(decl), objects: Arc::clone(&self.objects), path })
    }

    /// The type of the items of a list or the values of a map.
    pub fn elements(&self) -> Self {
        let (decl, part) = match self.decl.as_ref().map(|decl| &decl.shape) {
            Some(Shape::List { items, .. }) => (Some(Arc::clone(items)), "@idx"),
            Some(Shape::Map(values)) => (Some(Arc::clone(values)), "@elem"),
            _ => (None, "@elem"),
        };
        let path = format!("{}.{part}", self.path);
        Self { release: self.release, decl, objects: Arc::clone(&self.objects), path }
    }

    /// An environment with the variables `self` and `oldSelf` of this type.
    pub fn env(&self, base: &Arc<BaseEnv>, type_: &Type, optional_old_self: bool) -> Env {
        let old = if optional_old_self { Type::optional(type_.clone()) } else { type_.clone() };
        let mut env = Env::new(Arc::clone(base)).with_variable("self", type_.clone()).with_variable("oldSelf", old);
        env.objects = Arc::clone(&self.objects);
        env.rename = Some((self.path.as_str().into(), SELF_TYPE));
        env
    }
}

/// A compiled rule, or its compilation errors.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The program of the rule; `None` for an empty or invalid rule.
    pub program: Option<Program>,
    /// The compilation error of the rule.
    pub error: Option<String>,
    /// True if the rule refers to `oldSelf`.
    pub uses_old_self: bool,
    /// The estimated maximum cost of one evaluation.
    pub max_cost: u64,
    /// The maximum number of evaluations for one object, limited only by the size of requests.
    pub max_cardinality: u64,
    /// The message expression.
    pub message: Option<Program>,
    /// The compilation error of the message expression.
    pub message_error: Option<String>,
    /// The estimated maximum cost of one evaluation of the message expression.
    pub message_max_cost: u64,
    /// The path of the field that errors refer to, relative to the node and formatted as a field path.
    pub field_path: Option<String>,
}

/// Compiles a rule of a node. The two environments are for the rule and its message expression.
pub fn compile(
    rule: &ValidationRule,
    schema: &Schema,
    cel_type: &NodeType,
    (base, message_base): (&Arc<BaseEnv>, &Arc<BaseEnv>),
) -> Compiled {
    let mut compiled = Compiled::default();
    let Some(decl) = cel_type.decl.as_deref().filter(|_| !rule.rule.trim().is_empty()) else { return compiled };
    let optional_old_self = rule.optional_old_self == Some(true);
    let env = cel_type.env(base, &decl.cel_type, optional_old_self);
    let checked = match env.compile(&rule.rule) {
        Ok(checked) => checked,
        Err(issues) => {
            compiled.error = Some(format!("compilation failed: {}", issues.display()));
            return compiled;
        }
    };
    if *checked.result_type() != Type::Bool {
        compiled.error = Some("cel expression must evaluate to a bool".to_owned());
        return compiled;
    }
    compiled.uses_old_self = names_old_self(&checked.ast.expr);
    match plan(&checked, &env, decl) {
        Ok((program, cost)) => {
            compiled.max_cost = cost;
            compiled.max_cardinality = max_cardinality(decl);
            compiled.program = Some(program);
        }
        Err(error) => {
            compiled.error = Some(format!("program instantiation failed: {error}"));
            return compiled;
        }
    }
    if !rule.message_expression.is_empty() {
        let env = cel_type.env(message_base, &decl.cel_type, optional_old_self);
        match compile_message(&rule.message_expression, &env, decl) {
            Ok((program, cost)) => {
                compiled.message = Some(program);
                compiled.message_max_cost = cost;
            }
            Err(error) => {
                compiled.message_error = Some(error.into());
                return compiled;
            }
        }
    }
    if !rule.field_path.is_empty() {
        compiled.field_path = field_path::follow(&rule.field_path, schema, true).ok().map(|found| found.path);
    }
    compiled
}

fn compile_message(source: &str, env: &Env, decl: &DeclType) -> Result<(Program, u64), GoError> {
    let checked =
        env.compile(source).map_err(|issues| format!("messageExpression compilation failed: {}", issues.display()))?;
    if *checked.result_type() != Type::String {
        return Err("messageExpression must evaluate to a string".into());
    }
    plan(&checked, env, decl).map_err(|error| format!("messageExpression instantiation failed: {error}").into())
}

fn plan(checked: &CheckedAst, env: &Env, decl: &DeclType) -> Result<(Program, u64), GoError> {
    let program = Program::plan(checked, env)?;
    Ok((program, cost::estimate(checked, Some(decl)).max))
}

/// Returns true if an expression contains the identifier `oldSelf`, including as a loop variable.
pub fn names_old_self(expr: &Expr) -> bool {
    expr.any(&|expr| matches!(&expr.kind, ExprKind::Ident(name) if name == "oldSelf"))
}

/// The maximum number of values of this type in a request.
pub fn max_cardinality(decl: &DeclType) -> u64 {
    (MAX_REQUEST / (decl.min_serialized_size as i64).wrapping_add(1).max(1)) as u64
}
