//! Compiles the expressions of a policy (`CompileCELExpression`, `validating/plugin.go`, `mutating/compilation.go`).
//!
//! An expression that does not compile is stored with its error; its evaluation fails.

use super::dependencies::{Dependencies, OfVariables};
use super::environment::{Declarations, Environments};
use super::model::{Mutation, Policy};
use crdx_cel::{
    eval::Program,
    types::Type,
    value::message::{JSON_PATCH, OBJECT},
};
use crdx_value::GoError;
use crdx_value::release::Release;
use std::collections::HashMap;

/// A compiled expression, or the compile error.
#[derive(Debug)]
pub struct CompiledExpression {
    /// The source.
    pub source: String,
    /// The program, or the server's error text.
    pub program: Result<Program, GoError>,
    /// The variables that its environment declares.
    pub declarations: Declarations,
    /// The unknown inputs that it may read; empty if it does not compile.
    pub dependencies: Dependencies,
}

/// A variable.
#[derive(Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The expression.
    pub expression: CompiledExpression,
}

/// Variables, in order.
#[derive(Debug, Default)]
pub struct Variables {
    list: Vec<Variable>,
    /// The index by name. If several variables have the same name, the server uses the last one.
    by_name: HashMap<String, usize>,
}

impl Variables {
    /// Adds a variable.
    pub(super) fn add(&mut self, variable: Variable) {
        self.by_name.insert(variable.name.clone(), self.list.len());
        self.list.push(variable);
    }

    /// The number of variables.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The variable with a name, and its index.
    pub fn get(&self, name: &str) -> Option<(usize, &Variable)> {
        let index = *self.by_name.get(name)?;
        Some((index, self.list.get(index)?))
    }
}

/// A patch.
#[derive(Debug)]
pub enum CompiledPatch {
    /// An apply configuration.
    Apply(CompiledExpression),
    /// A JSON patch.
    Json(CompiledExpression),
}

/// The compiled expressions of a policy.
#[derive(Debug)]
pub struct Compiled {
    /// The variables, in order.
    pub variables: Variables,
    /// The match conditions.
    pub match_conditions: Vec<CompiledExpression>,
    /// The validations.
    pub validations: Vec<CompiledExpression>,
    /// The message expressions, for validations that have one.
    pub messages: Vec<Option<CompiledExpression>>,
    /// The values of audit annotations.
    pub audit_annotations: Vec<CompiledExpression>,
    /// The mutations.
    pub mutations: Vec<CompiledPatch>,
}

/// Compiles a policy.
pub fn compile(policy: &Policy, release: Release) -> Compiled {
    let all = Declarations { params: policy.param_kind.is_some(), authorizer: true, patch_types: false };
    let mut environments = Environments::new(release);
    let mut variables = Variables::default();
    let mut dependencies = OfVariables::default();
    for variable in &policy.variables {
        let (expression, type_) = expression(&variable.expression, &environments, (all, &dependencies), &[]);
        environments.add_variable(&variable.name, type_.as_ref());
        dependencies.add(&variable.name, expression.dependencies);
        variables.add(Variable { name: variable.name.clone(), expression });
    }
    let of = |source: &str, types: &[Type]| expression(source, &environments, (all, &dependencies), types).0;
    let for_messages = Declarations { authorizer: false, ..all };
    let message = |source: &str| expression(source, &environments, (for_messages, &dependencies), &[Type::String]).0;
    let for_patches = Declarations { patch_types: true, ..all };
    let patch = |source: &str, type_| expression(source, &environments, (for_patches, &dependencies), &[type_]).0;
    let texts = [Type::String, Type::Null];
    Compiled {
        match_conditions: policy.match_conditions.iter().map(|source| of(source, &[Type::Bool])).collect(),
        validations: policy.validations.iter().map(|v| of(&v.expression, &[Type::Bool])).collect(),
        messages: policy
            .validations
            .iter()
            .map(|v| (!v.message_expression.is_empty()).then(|| message(&v.message_expression)))
            .collect(),
        audit_annotations: policy.audit_annotations.iter().map(|a| of(&a.value_expression, &texts)).collect(),
        mutations: policy
            .mutations
            .iter()
            .map(|mutation| match mutation {
                Mutation::ApplyConfiguration(source) => {
                    CompiledPatch::Apply(patch(source, Type::Object(OBJECT.into())))
                }
                Mutation::JsonPatch(source) => {
                    CompiledPatch::Json(patch(source, Type::list(Type::Object(JSON_PATCH.into()))))
                }
            })
            .collect(),
        variables,
    }
}

/// Compiles the match conditions of a webhook, which has neither params nor variables
/// (`webhook.GetCompiledMatcher`).
pub fn conditions(sources: &[String], release: Release) -> Vec<CompiledExpression> {
    let declarations = Declarations { params: false, authorizer: true, patch_types: false };
    let (environments, variables) = (Environments::without_composition(release), OfVariables::default());
    sources
        .iter()
        .map(|source| expression(source, &environments, (declarations, &variables), &[Type::Bool]).0)
        .collect()
}

/// Compiles an expression that must have one of these types (or any type, if `types` is empty). Also returns the type.
/// `variables` are the variables declared before it, with their dependencies.
pub(super) fn expression(
    source: &str,
    environments: &Environments,
    (declarations, variables): (Declarations, &OfVariables),
    types: &[Type],
) -> (CompiledExpression, Option<Type>) {
    let compiled = super::expression::compile(source, &environments.env_for(declarations, source), types);
    let checked = compiled.as_ref().ok().map(|(_, checked)| checked);
    let type_ = checked.map(|checked| checked.result_type().clone());
    let dependencies = checked.map_or_else(Dependencies::default, |checked| Dependencies::from_ast(checked, variables));
    let program = compiled.map(|(program, _)| program).map_err(|error| error.to_string().into());
    (CompiledExpression { source: source.to_owned(), program, declarations, dependencies }, type_)
}
