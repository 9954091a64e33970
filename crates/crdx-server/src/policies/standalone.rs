//! An expression outside of a stored policy, in the environment that it would have there, for programs that show its value.

use super::compile::{self, Variable, Variables};
use super::dependencies::{Dependencies, OfVariables};
use super::environment::{Declarations, Environments};
use super::evaluate::{Activation, Inputs};
use super::model::Policy;
use crdx_cel::ast::CheckedAst;
use crdx_cel::env::Env;
use crdx_cel::eval::{Outcome, Program};
use crdx_cel::types::Type;
use crdx_cel::value::message::{JSON_PATCH, OBJECT};
use crdx_value::release::Release;

/// The use of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A validation, a variable or an audit annotation of a policy.
    Policy,
    /// A match condition of a policy, or of a webhook if there is no policy.
    MatchCondition,
    /// A mutation of a policy.
    Mutation,
}

/// The environment of new expressions, with the variables of a policy.
#[derive(Debug)]
pub struct Standalone {
    role: Role,
    declarations: Declarations,
    environments: Environments,
    variables: Variables,
    dependencies: OfVariables,
}

impl Standalone {
    /// Creates the environment. `has_params` is true if `params` is declared although no policy has a kind of params.
    pub fn new(role: Role, policy: Option<&Policy>, has_params: bool, release: Release) -> Self {
        let params = has_params || policy.is_some_and(|policy| policy.param_kind.is_some());
        let all = Declarations { params, authorizer: true, patch_types: false };
        let is_of_webhook = role == Role::MatchCondition && policy.is_none();
        let mut environments =
            if is_of_webhook { Environments::without_composition(release) } else { Environments::new(release) };
        let (mut variables, mut dependencies) = (Variables::default(), OfVariables::default());
        for variable in policy.iter().flat_map(|policy| &policy.variables) {
            let declared = (all, &dependencies);
            let (expression, type_) = compile::expression(&variable.expression, &environments, declared, &[]);
            environments.add_variable(&variable.name, type_.as_ref());
            dependencies.add(&variable.name, expression.dependencies);
            variables.add(Variable { name: variable.name.clone(), expression });
        }
        let declarations = Declarations { patch_types: role == Role::Mutation, ..all };
        Self { role, declarations, environments, variables, dependencies }
    }

    /// Returns the environment.
    pub fn env(&self) -> Env {
        self.environments.env_of_new(self.declarations)
    }

    /// Returns the types that the expression may have.
    pub fn types(&self) -> Vec<Type> {
        match self.role {
            Role::Policy | Role::MatchCondition => vec![Type::Bool],
            Role::Mutation => vec![Type::Object(OBJECT.into()), Type::list(Type::Object(JSON_PATCH.into()))],
        }
    }

    /// Returns the inputs that a compiled expression may read, itself or through variables.
    pub fn dependencies(&self, checked: &CheckedAst) -> Dependencies {
        let dependencies = Dependencies::from_ast(checked, &self.dependencies);
        // `namespaceObject` is null in match conditions.
        Dependencies { namespace: dependencies.namespace && self.role != Role::MatchCondition, ..dependencies }
    }

    /// Evaluates an expression that was compiled in this environment.
    // The inputs of one run are not used again.
    #[allow(clippy::needless_pass_by_value)]
    pub fn run<'a>(&'a self, program: &'a Program, inputs: Inputs<'a>) -> Outcome<'a> {
        let namespace = inputs.namespace.filter(|_| self.role != Role::MatchCondition);
        Activation::new(Inputs { namespace, ..inputs }, &self.variables).outcome(program, self.declarations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::expression;
    use crdx_cel::eval::PER_CALL_LIMIT;
    use crdx_text::yaml;
    use crdx_value::GoError;
    use crdx_value::steps::Steps;

    fn policy() -> Policy {
        let text = "{kind: ValidatingAdmissionPolicy, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, variables: \
                    [{name: size, expression: object.spec.size}, {name: user, expression: request.userInfo.username}]}}";
        Policy::read(&yaml::read(text.as_bytes()).unwrap(), Release::NEWEST)
    }

    fn evaluate(scope: &Standalone, source: &str) -> Result<(String, u64), GoError> {
        let (program, _) =
            expression::compile(source, &scope.env(), &[]).map_err(|error| GoError::from(error.to_string()))?;
        let object = yaml::read(b"{kind: Kite, spec: {size: 3}}").unwrap();
        let request = yaml::read(b"{operation: CREATE}").unwrap();
        let steps = Steps::of_request();
        let inputs = Inputs {
            object: Some(&object),
            gaps: None,
            old_object: None,
            params: None,
            request: &request,
            namespace: None,
            authorizers: None,
            steps: &steps,
        };
        let outcome = scope.run(&program, inputs);
        assert!(outcome.cost <= PER_CALL_LIMIT);
        Ok((outcome.result.map_or_else(|error| error.to_string(), |value| value.to_string()), outcome.cost))
    }

    #[test]
    fn an_expression_reads_the_variables_of_a_policy() {
        let policy = policy();
        let scope = Standalone::new(Role::Policy, Some(&policy), false, Release::NEWEST);
        assert_eq!(evaluate(&scope, "variables.size > 2 && params == null && oldObject == null").unwrap().0, "true");
        let (_, alone) = evaluate(&scope, "3 > 2").unwrap();
        let (_, with_variable) = evaluate(&scope, "variables.size > 2").unwrap();
        assert!(with_variable > alone + 1, "{with_variable} {alone}");
        let checked = scope.env().compile("variables.user == 'a'").map_err(|issues| issues.display()).unwrap();
        assert!(scope.dependencies(&checked).user);
    }

    #[test]
    fn conditions_of_webhooks_have_neither_variables_nor_params() {
        let scope = Standalone::new(Role::MatchCondition, None, false, Release::NEWEST);
        assert_eq!(evaluate(&scope, "object.spec.size == 3").unwrap().0, "true");
        assert!(
            evaluate(&scope, "variables.size == 3")
                .unwrap_err()
                .as_str()
                .contains("undeclared reference to 'variables'")
        );
        assert!(evaluate(&scope, "params.a == 3").unwrap_err().as_str().contains("undeclared reference to 'params'"));
        let checked = scope.env().compile("namespaceObject == null").map_err(|issues| issues.display()).unwrap();
        assert!(!scope.dependencies(&checked).namespace);
    }

    #[test]
    fn mutations_have_the_types_of_patches() {
        let scope = Standalone::new(Role::Mutation, None, false, Release::NEWEST);
        let checked = scope.env().compile("Object{spec: Object.spec{size: object.spec.size + 1}}");
        let checked = checked.map_err(|issues| issues.display()).unwrap();
        assert!(scope.types().contains(checked.result_type()));
        assert!(Standalone::new(Role::Policy, None, false, Release::NEWEST).env().compile("Object{}").is_err());
    }
}
