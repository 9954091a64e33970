//! `cel`: evaluates an expression, estimates its cost and checks whether it could be a validation rule, an expression of an
//! admission policy or a selector of devices. The expression may use all functions that the server allows in new ones.

pub mod args;
mod device;
mod policy;
mod report;
mod self_value;

use super::terminal::{self, Content};
use crate::commands::exit::Exit;
use crate::commands::flags;
use args::Environment;
use crdx_cel::{
    ast::{CheckedAst, ExprKind},
    cost,
    decl::DeclType,
    env::{BaseEnv, Env},
    eval::{Outcome, PER_CALL_LIMIT, Program},
    issues::Issues,
    syntax,
    types::Type,
    value::{Error, Value as Cel},
};
use crdx_output::printable::complain;
use crdx_server::crd::validation::rules::EXPRESSION_COST_LIMIT;
use crdx_server::rules::compile::{max_cardinality, names_old_self};
use crdx_server::rules::decl::ROOT;
use crdx_server::rules::node::{self, TypedNode};
use crdx_value::release::Release;
use crdx_value::steps::{Spent, Steps};
use report::{self as output, CheckedExpression, CompileFailure, Invalid, Report, RuleCost, Run};
use self_value::{InputError, SelfValue};
use std::io::Write;

/// Runs the command.
pub fn run(args: &args::Cel, color: flags::Color) -> Result<Exit, super::error::Error> {
    let out = terminal::Stream::stdout(color, Content::json_if(args.output.is_some()));
    let mut write = out.write;
    let report = match report(args) {
        Ok(report) => report,
        Err(wrong) => {
            complain!("error: {}", wrong.message);
            if let Some(help) = wrong.help {
                complain!("help: {help}");
            }
            return Ok(Exit::CannotTell);
        }
    };
    let text = match args.output {
        Some(flags::OnlyJson::Json) => output::to_text_of_json(&report),
        None => output::text(&report, out.color),
    };
    let exit = match &report.outcome {
        Ok(CheckedExpression { run: Run::Unfinished(_) | Run::Missing(_), .. }) => Exit::CannotTell,
        Err(_) | Ok(CheckedExpression { run: Run::Error(..), .. }) => Exit::Rejected,
        Ok(_) => Exit::Accepted,
    };
    write.write_all(text.as_bytes())?;
    write.flush()?;
    Ok(exit)
}

fn report(args: &args::Cel) -> Result<Report, InputError> {
    let release = args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
    let environment = args.environment();
    let outcome = match environment {
        Environment::Rule => rule(args, release)?,
        Environment::Device => device::outcome(args, release)?,
        Environment::Policy | Environment::MatchCondition | Environment::Mutation => policy::outcome(args, release)?,
    };
    Ok(Report { expression: args.expression.clone(), environment, at: args.at.clone(), release, outcome })
}

/// Evaluates a rule of a CRD.
fn rule(args: &args::Cel, release: Release) -> Result<Result<CheckedExpression, CompileFailure>, InputError> {
    args.policies.require_none()?;
    let expression = args.expression.as_str();
    let base = BaseEnv::for_new(release);
    let self_value = self_value::read(args, release, uses(&["self", "oldSelf"], expression, &base))?;
    let steps = match &args.at {
        Some(path) => node::steps(path).map_err(|error| InputError::new(error.to_string()))?,
        None => Vec::new(),
    };
    Ok(match &self_value {
        SelfValue::Nothing => evaluate(expression, &Env::new(base), None, Vec::new()),
        SelfValue::Untyped { new, old } => {
            let at = |object| steps.iter().try_fold(object, |value, step| node::step(value, step));
            let path = args.at.as_deref().unwrap_or_default();
            let new = at(new).ok_or_else(|| InputError::new(format!("the object has no value at {path}")))?;
            let old = old.as_ref().and_then(at).map(|old| Ok(Cel::untyped(old)));
            let env = Env::new(base).with_variable("self", Type::Dyn).with_variable("oldSelf", Type::Dyn);
            evaluate(expression, &env, None, vec![Some(Ok(Cel::untyped(new))), old])
        }
        SelfValue::Typed { schema, new, old, is_example } => {
            let node = node::find(schema, &steps, new, old.as_ref(), release);
            let node = node.map_err(|error| InputError::new(error.to_string()))?;
            let Some(decl) = node.cel_type.decl.as_deref() else {
                return Err(InputError::new("CEL cannot see this node"));
            };
            let env = node.cel_type.env(&base, &decl.cel_type, false);
            let old = node.old.map(|old| Cel::from_json(old, decl));
            let values = vec![Some(Cel::from_json(node.value, decl)), old];
            let checked = evaluate(expression, &env, Some((&node, decl)), values);
            let not_run = || Run::Not("no object is given with -f, so the expression is only checked".to_owned());
            checked.map(|checked| if *is_example { CheckedExpression { run: not_run(), ..checked } } else { checked })
        }
    })
}

/// Returns true if an expression contains one of these names. Returns false if it cannot be parsed, because the result is
/// then the parse error.
fn uses(names: &[&str], expression: &str, base: &BaseEnv) -> bool {
    syntax::parse(expression, base.parse_options)
        .is_ok_and(|ast| ast.expr.any(&|expr| matches!(&expr.kind, ExprKind::Ident(name) if names.contains(&&**name))))
}

/// Compiles an expression.
fn compile(expression: &str, env: &Env) -> Result<(CheckedAst, Program), CompileFailure> {
    let ast = env.compile(expression).map_err(|issues| refused(&issues))?;
    let program = Program::plan(&ast, env).map_err(|error| CompileFailure {
        message: format!("program instantiation failed: {error}"),
        problems: Vec::new(),
    })?;
    Ok((ast, program))
}

/// Compiles, estimates and evaluates an expression. Variables of `env` without a value are unset.
fn evaluate(
    expression: &str,
    env: &Env,
    node: Option<(&TypedNode<'_>, &DeclType)>,
    values: Vec<Option<Result<Cel<'_>, Error>>>,
) -> Result<CheckedExpression, CompileFailure> {
    let (ast, program) = compile(expression, env)?;
    let cost = cost::estimate(&ast, node.map(|(_, decl)| decl));
    let uses_old = names_old_self(&ast.ast.expr);
    let rule = node.map(|(node, decl)| {
        let times = node.cardinality.unwrap_or_else(|| max_cardinality(decl));
        RuleCost { times, total: cost.max.saturating_mul(times), limit: EXPRESSION_COST_LIMIT }
    });
    let run = if uses_old && matches!(values.last(), Some(None)) {
        Run::Not("there is no old value to compare with, and the server skips such a rule".to_owned())
    } else {
        let absent = || Err(Error::new("no such attribute(s): oldSelf"));
        let values = values.into_iter().map(|value| value.unwrap_or_else(absent)).collect::<Vec<_>>();
        let steps = Steps::of_request();
        finished(program.run(&values, PER_CALL_LIMIT, &steps), &steps)
    };
    Ok(CheckedExpression {
        type_: type_name(&ast),
        estimate: (cost.min, cost.max),
        valid: could_be_rule(&ast, rule, node.is_some_and(|(node, _)| uses_old && !node.correlatable)),
        rule,
        run,
        run_limit: PER_CALL_LIMIT,
    })
}

/// Returns the result of an evaluation.
fn finished(outcome: Outcome<'_>, steps: &Steps) -> Run {
    match outcome.result {
        Ok(value) => match output::to_json(&value, steps) {
            Ok(json) => Run::Value(value.to_string(), json, outcome.cost),
            Err(spent) => Run::Unfinished(spent),
        },
        Err(Error::Interrupted) => Run::Unfinished(Spent),
        Err(error) => Run::Error(error.to_string(), outcome.cost),
    }
}

fn could_be_rule(ast: &CheckedAst, rule: Option<RuleCost>, without_pair: bool) -> Result<(), Invalid> {
    if *ast.result_type() != Type::Bool {
        return Err(Invalid::NoBool);
    }
    if without_pair {
        return Err(Invalid::Uncorrelatable);
    }
    match rule {
        Some(rule) if rule.total > rule.limit => Err(Invalid::TooExpensive),
        _ => Ok(()),
    }
}

/// Returns the name of a type; an object type of the schema is `object`.
fn type_name(ast: &CheckedAst) -> String {
    ast.result_type().in_messages(&|name| match name.strip_prefix(ROOT) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => "object".to_owned(),
        _ => name.to_owned(),
    })
}

fn refused(issues: &Issues) -> CompileFailure {
    let problem = |issue: &crdx_cel::issues::Issue| {
        (issue.location.line, issue.location.column.saturating_add(1), issue.message.clone())
    };
    CompileFailure {
        message: format!("compilation failed: {}", issues.display()),
        problems: issues.as_slice().iter().map(problem).collect(),
    }
}
