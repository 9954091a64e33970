//! Expressions for programs that use this crate alone.

use crate::ast::Expr;
use crate::check::check;
use crate::cost::{Interval, declared_size, estimate_with_sizes};
use crate::decl::{DeclType, Shape};
use crate::env::{BaseEnv, Env, Objects};
use crate::eval::{Outcome, PER_CALL_LIMIT, Program};
use crate::issues::{Issue, Issues};
use crate::syntax::parse;
use crate::types::Type;
use crate::value::{Error, Value};
use crdx_value::GoError;
use crdx_value::release::Release;
use crdx_value::steps::Steps;
use crdx_value::{NoThread, Value as Json, on_large_stack};
use std::sync::Arc;

/// The number of levels that values of variables may nest.
pub const MAX_DEPTH: usize = 250;
/// Expressions and values that nest at most this many levels need little of a stack of 2 MiB, also in a debug build; others
/// are processed on a thread with a larger one.
const SHALLOW: usize = 50;

/// The variables of expressions, and the functions, types and macros of a release of Kubernetes.
///
/// ```
/// use crdx_cel::{DeclField, DeclType, Environment, Release};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let names = DeclType::list(DeclType::string().with_max(63)).with_max(10);
/// let spec = DeclType::object("Spec", [DeclField::optional("names", names), DeclField::required("replicas", DeclType::int())]);
/// let environment = Environment::new(Release::NEWEST).with("self", spec);
///
/// let rule = environment.compile("self.names.all(n, n.startsWith('a')) && self.replicas < 5")?;
/// assert_eq!(rule.result_type().to_string(), "bool");
/// // At most ten names of at most 63 characters.
/// assert_eq!((rule.cost().min, rule.cost().max), (3, 56));
///
/// let error = environment.compile("self.replicas + 'a' == 1").unwrap_err();
/// let issue = &error.issues()[0];
/// assert_eq!((issue.location.line, issue.location.column), (1, 14));
/// assert_eq!(issue.message, "found no matching overload for '_+_' applied to '(int, string)'");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Environment {
    env: Env,
    /// The declared types of the variables, in their order; `None` for one whose type is known at run time only.
    declared: Vec<Option<Arc<DeclType>>>,
}

impl Environment {
    /// The environment in which a server compiles expressions of objects that it creates: it has the functions that the
    /// previous release has, too.
    pub fn new(release: Release) -> Self {
        Self { env: Env::new(BaseEnv::for_new(release)), declared: Vec::new() }
    }

    /// The environment in which a server compiles expressions of objects that are stored: it has all functions of the release.
    pub fn for_stored(release: Release) -> Self {
        Self { env: Env::new(BaseEnv::for_stored(release)), declared: Vec::new() }
    }

    /// Adds a variable of a declared type. Expressions are checked against it, and its bounds determine their costs.
    #[must_use]
    pub fn with(mut self, name: &str, type_: impl Into<Arc<DeclType>>) -> Self {
        let type_ = type_.into();
        declare(Arc::make_mut(&mut self.env.objects), &type_);
        self.env = self.env.with_variable(name, type_.cel_type.clone());
        self.declared.push(Some(type_));
        self
    }

    /// Adds a variable of any type (`dyn`): its fields and functions are known at run time only, and its size is not known to
    /// the estimate.
    #[must_use]
    pub fn with_any(mut self, name: &str) -> Self {
        self.env = self.env.with_variable(name, Type::Dyn);
        self.declared.push(None);
        self
    }

    /// Parses, checks and plans an expression, and estimates its cost.
    ///
    /// # Errors
    /// Returns the errors with their places: of the syntax, or else of names and types. At last the server computes constants
    /// and compiles constant patterns, whose errors have no place.
    pub fn compile(&self, source: &str) -> Result<Expression, CompileError> {
        if nesting(source) <= SHALLOW {
            return self.compile_here(source);
        }
        on_large_stack(|| self.compile_here(source)).unwrap_or_else(|error| Err(error.into()))
    }

    fn compile_here(&self, source: &str) -> Result<Expression, CompileError> {
        let parsed = parse(source, self.env.parse_options()).map_err(CompileError::Syntax)?;
        let checked = check(&self.env, parsed).map_err(CompileError::Check)?;
        let program = Program::plan(&checked, &self.env).map_err(CompileError::Plan)?;
        let declared = |name: &str| self.declared.get(self.position(name)?)?.as_deref();
        let size_at = |path: &[&str]| declared_size(declared(path.first()?), path);
        let cost = estimate_with_sizes(&checked, &size_at);
        let result_type = checked.result_type().clone();
        let is_shallow = !is_deeper(&checked.ast.expr, SHALLOW);
        Ok(Expression { program, result_type, cost, environment: self.clone(), is_shallow })
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.env.variables.iter().position(|variable| *variable.name == *name)
    }
}

/// Adds the object types of a declared type.
fn declare(objects: &mut Objects, type_: &Arc<DeclType>) {
    match &type_.shape {
        Shape::Scalar => {}
        Shape::List { items, .. } => declare(objects, items),
        Shape::Map(values) => declare(objects, values),
        Shape::Object(fields) => {
            if let Type::Object(name) = &type_.cel_type {
                objects.insert(Arc::clone(name), Arc::clone(type_));
            }
            for field in fields.values() {
                declare(objects, &field.type_);
            }
        }
    }
}

/// An upper bound of the levels that the expression of a source nests: every level needs one of these characters.
fn nesting(source: &str) -> usize {
    source.bytes().filter(|byte| b"([{.?:!+-*/%<>=&|".contains(byte)).count() + source.matches("in").count()
}

/// Returns true if the syntax tree has more levels than `limit`.
fn is_deeper(expr: &Expr, limit: usize) -> bool {
    limit.checked_sub(1).is_none_or(|left| expr.children().any(|child| is_deeper(child, left)))
}

/// The reason why an expression does not compile.
///
/// The text is that of the server (`ERROR: <input>:1:15: …`, with the line of the source and a caret).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// Syntax errors, and errors of literals and macros. Without the feature `recovery`, the parser stops at the first syntax
    /// error and describes it in its own words; with it, it continues after errors and has the server's words.
    #[error(transparent)]
    Syntax(Issues),
    /// Names that are not declared, and types that do not match.
    #[error(transparent)]
    Check(Issues),
    /// A constant conversion fails, or a constant pattern is not valid.
    #[error("program instantiation failed: {0}")]
    Plan(GoError),
    /// The expression may be deeply nested, and there is no thread with a stack that is large enough.
    #[error(transparent)]
    NoThread(#[from] NoThread),
}

impl CompileError {
    /// The errors that have a place.
    pub fn issues(&self) -> &[Issue] {
        match self {
            Self::Syntax(issues) | Self::Check(issues) => issues.as_slice(),
            Self::Plan(_) | Self::NoThread(_) => &[],
        }
    }
}

/// A compiled expression, which any number of threads can evaluate at the same time.
///
/// ```
/// use crdx_cel::{DeclType, Environment, Json, Release};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let environment = Environment::new(Release::NEWEST).with("self", DeclType::string()).with_any("limit");
/// let expression = environment.compile("quantity(self).isLessThan(quantity(limit))")?;
/// let (memory, limit) = (Json::from("1.5Gi"), Json::from("2Gi"));
/// let outcome = expression.evaluate(&[("self", &memory), ("limit", &limit)]);
/// assert_eq!(outcome.cost, 5);
/// assert_eq!(outcome.result?.as_bool(), Some(true));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Expression {
    program: Program,
    result_type: Type,
    cost: Interval,
    environment: Environment,
    is_shallow: bool,
}

impl Expression {
    /// The type of the result.
    pub fn result_type(&self) -> &Type {
        &self.result_type
    }

    /// The estimated cost: the lowest and the highest cost of an evaluation with values within the bounds of their types. A
    /// server refuses a rule of a CRD whose highest cost, times the number of its evaluations, is more than 10,000,000.
    pub fn cost(&self) -> Interval {
        self.cost
    }

    /// Evaluates the expression with the values of its variables, in any order. The cost limit is that of a server for one
    /// expression, [`PER_CALL_LIMIT`].
    ///
    /// A variable without a value is an error where the expression needs it. A name that is not a variable, and a value that
    /// nests more than [`MAX_DEPTH`] levels, is an error in any case.
    pub fn evaluate<'a>(&'a self, variables: &[(&str, &'a Json)]) -> Outcome<'a> {
        self.evaluate_within(variables, PER_CALL_LIMIT)
    }

    /// Like [`Self::evaluate`], with another cost limit.
    pub fn evaluate_within<'a>(&'a self, variables: &[(&str, &'a Json)], limit: u64) -> Outcome<'a> {
        let Environment { env, declared } = &self.environment;
        let absent = |name: &str| Err(Error::new(format!("no such attribute(s): {name}")));
        let mut values: Vec<_> = env.variables.iter().map(|variable| absent(&variable.name)).collect();
        for (name, json) in variables {
            if json.is_deeper_than(MAX_DEPTH) {
                return Outcome::failed(format!("the value of {name} nests more than {MAX_DEPTH} levels"));
            }
            let position = self.environment.position(name);
            let (Some(value), Some(type_)) =
                (position.and_then(|at| values.get_mut(at)), position.and_then(|at| declared.get(at)))
            else {
                return Outcome::failed(format!("the environment has no variable {name}"));
            };
            *value = type_.as_deref().map_or_else(|| Ok(Value::untyped(json)), |type_| Value::from_json(json, type_));
        }
        let run = || self.program.run(&values, limit, &Steps::of_request());
        if self.is_shallow && !variables.iter().any(|(_, json)| json.is_deeper_than(SHALLOW)) {
            run()
        } else {
            on_large_stack(run).unwrap_or_else(|error| Outcome::failed(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_has_the_bounds_of_its_own_type() {
        let list = |max| DeclType::list(DeclType::int()).with_max(max);
        let environment = Environment::new(Release::NEWEST).with("few", list(3)).with("many", list(1000));
        let cost = |source: &str| environment.compile(source).unwrap().cost().max;
        assert!(cost("few.all(n, n > 0)") < 20);
        assert!(cost("many.all(n, n > 0)") > 2000);
    }

    #[test]
    fn errors_have_their_stage_and_place() {
        let environment = Environment::new(Release::NEWEST).with("self", DeclType::string());
        let error = |source: &str| environment.compile(source).unwrap_err();
        let place = |error: &CompileError| {
            error.issues().iter().map(|i| (i.location.line, i.location.column)).collect::<Vec<_>>()
        };
        let syntax = error("self ==\n  (1 +");
        assert!(matches!(syntax, CompileError::Syntax(_)));
        assert_eq!(place(&syntax), [(2, 6)]);
        let check = error("self == 1 || other");
        assert!(matches!(check, CompileError::Check(_)));
        assert_eq!(place(&check), [(1, 5), (1, 13)]);
        assert!(matches!(error("self.matches('(')"), CompileError::Check(_)));
        assert!(error("self == 1").to_string().starts_with("ERROR: <input>:1:6: found no matching overload"));
    }

    #[test]
    fn functions_are_those_of_the_release() {
        let compile = |minor, source: &str| Environment::new(Release::new(minor).unwrap()).compile(source);
        assert!(compile(30, "semver('1.2.3').major() == 1").is_err());
        assert!(compile(37, "semver('1.2.3').major() == 1").is_ok());
    }

    #[test]
    fn wrong_variables_are_errors() {
        let environment = Environment::new(Release::NEWEST).with("self", DeclType::int()).with_any("other");
        let expression = environment.compile("self > 1 || other > 1").unwrap();
        let run = |variables: &[(&str, &Json)]| {
            let outcome = expression.evaluate(variables);
            outcome.result.map_or_else(|error| error.to_string(), |value| value.to_string())
        };
        let (two, one, text) = (Json::Int(2), Json::Int(1), Json::from("a"));
        assert_eq!(run(&[("self", &two)]), "true");
        assert_eq!(run(&[("self", &one)]), "no such attribute(s): other");
        assert_eq!(run(&[("self", &two), ("another", &two)]), "the environment has no variable another");
        assert_eq!(run(&[("self", &text), ("other", &one)]), "invalid data, expected int, got string");
        assert_eq!(expression.evaluate_within(&[("self", &two)], 1).result.unwrap_err(), Error::CostLimitExceeded);
    }

    /// The threads of tests have 2 MiB.
    #[test]
    fn deep_expressions_and_values_need_no_large_stack() {
        let nested = |open: &str, inner: &str, close: &str, levels: usize| {
            format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
        };
        let environment = Environment::new(Release::NEWEST).with_any("self");
        let run = |source: &str| {
            let expression = environment.compile(source).map_err(|error| error.to_string())?;
            let value = Json::Int(1);
            expression
                .evaluate(&[("self", &value)])
                .result
                .map(|value| value.to_string())
                .map_err(|error| error.to_string())
        };
        // As deep as the server compiles them, just below the threshold of threads, and deeper than it compiles them.
        for levels in [SHALLOW / 2 - 1, SHALLOW - 1, 120, 240, 300, 3000] {
            for (open, inner, close) in [
                ("(", "1", ")"),
                ("[", "1", "]"),
                ("{1: ", "1", "}"),
                ("!(", "true", ")"),
                ("-(", "self", ")"),
                ("(1 + ", "self", ")"),
                ("true ? true : (", "true", ")"),
                ("[1].map(x, ", "x", ")"),
                ("[1].all(x, ", "x == 1", ")"),
                ("size([", "[1]", "]) == 1 ? [1] : [2]"),
                ("", "[1]", ".map(x, [x])"),
                ("", "self", "[0]"),
                ("", "self", ".a"),
                ("", "1", " + 1"),
                ("", "true", " && true"),
                ("dyn(", "1", ")"),
            ] {
                let _ = run(&nested(open, inner, close, levels));
            }
        }
        assert_eq!(run(&nested("(", "1", ")", 240)), Ok("1".to_owned()));
        assert!(run(&nested("(", "1", ")", 300)).is_err());

        let same =
            environment.compile("self == self && string(size([self])) == '1' && '%s'.format([self]) != ''").unwrap();
        for levels in [SHALLOW, SHALLOW + 1, MAX_DEPTH] {
            let deep = (1..levels).fold(Json::Array(Vec::new()), |deep, _| Json::Array(vec![deep]));
            assert_eq!(same.evaluate(&[("self", &deep)]).result.unwrap().as_bool(), Some(true));
        }
        let deep = (0..MAX_DEPTH).fold(Json::Array(Vec::new()), |deep, _| Json::Array(vec![deep]));
        assert!(same.evaluate(&[("self", &deep)]).result.is_err());
    }
}
