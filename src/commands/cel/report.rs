//! The report about one expression: its value, type and cost, as text or JSON.

use super::args::Environment;
use crdx_cel::value::Value as Cel;
use crdx_output::Paint;
use crdx_output::report::json::{API_VERSION, releases};
use crdx_value::release::Release;
use crdx_value::steps::{Spent, Steps};
use crdx_value::{Map, Value, json, object};
use std::fmt::Write as _;

/// The steps for a value: here a step is a byte of memory.
const VALUE: u64 = 64;

/// The result for one expression.
#[derive(Debug)]
pub struct Report {
    pub expression: String,
    /// The place of the expression.
    pub environment: Environment,
    /// The path of the node for `self`, if one was given.
    pub at: Option<String>,
    /// The release that was simulated.
    pub release: Release,
    /// The result of compiling and evaluating the expression.
    pub outcome: Result<Checked, CompileFailure>,
}

/// The server's error for an expression that does not compile.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CompileFailure {
    pub message: String,
    /// The line, column and text of each problem that has a position.
    pub problems: Vec<(i32, i32, String)>,
}

/// The reason why an expression is not valid in its place; all but the last are messages of the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Its result is not a boolean.
    #[error("cel expression must evaluate to a bool")]
    NoBool,
    /// It uses `oldSelf` where old and new values are not correlated.
    #[error("oldSelf cannot be used on the uncorrelatable portion of the schema")]
    Uncorrelatable,
    /// Its result has another type.
    #[error("{0}")]
    WrongType(String),
    /// Its cost is too high.
    #[error("its estimated cost exceeds the limit")]
    TooExpensive,
}

/// An expression that compiles.
#[derive(Debug)]
pub struct Checked {
    /// The type of the expression.
    pub type_: String,
    /// The estimated cost, minimum and maximum.
    pub estimate: (u64, u64),
    /// The cost as a rule, if the schema limits the number of evaluations.
    pub rule: Option<RuleCost>,
    /// `Ok` if the expression is valid in its place, or the reason why it is not.
    pub valid: Result<(), Invalid>,
    /// The result of the evaluation.
    pub run: Run,
    /// The cost limit of one evaluation.
    pub run_limit: u64,
}

/// The cost of an expression as a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleCost {
    /// The maximum number of evaluations per object.
    pub times: u64,
    /// The maximum total cost.
    pub total: u64,
    pub limit: u64,
}

/// The result of an evaluation.
#[derive(Debug)]
pub enum Run {
    /// A value, as CEL and as JSON, and the cost.
    Value(String, Value, u64),
    /// An error, and the cost.
    Error(String, u64),
    /// The evaluation, or the conversion of its result to JSON, needs too many steps.
    Unfinished(Spent),
    /// The reason why the server does not evaluate the expression.
    Not(String),
    /// The input that is missing.
    Missing(String),
}

/// Converts a value to JSON: types that JSON lacks become text, an optional becomes its value or null.
///
/// # Errors
/// Returns an error if the value is too large: lists and maps may share elements, and JSON does not.
pub fn to_json(value: &Cel<'_>, steps: &Steps) -> Result<Value, Spent> {
    steps.take(VALUE)?;
    Ok(match value {
        Cel::Null | Cel::Optional(None) => Value::Null,
        Cel::Bool(b) => Value::Bool(*b),
        Cel::Int(i) => Value::Int(*i),
        Cel::Uint(u) if i64::try_from(*u).is_ok() => Value::Int(*u as i64),
        Cel::Double(d) if d.is_finite() => Value::Float(*d),
        Cel::String(text) => {
            steps.take(text.len() as u64)?;
            Value::from(&**text)
        }
        Cel::Timestamp(time) => time.to_utc_text().into(),
        Cel::Optional(Some(inner)) => to_json(inner, steps)?,
        Cel::List(list) => {
            let item = |item: Result<Cel<'_>, _>| item.map_or(Ok(Value::Null), |item| to_json(&item, steps));
            list.iter().map(item).collect::<Result<Vec<_>, _>>()?.into()
        }
        Cel::Map(map) => {
            let entry = |key: &Cel<'_>| match map.find(key) {
                Some(Ok(value)) => Ok((key.plain(), to_json(&value, steps)?)),
                _ => Ok((key.plain(), Value::Null)),
            };
            Value::Object(map.keys().iter().map(entry).collect::<Result<Map, _>>()?)
        }
        other => other.plain().into(),
    })
}

/// Formats the result as text.
pub fn text(report: &Report, color: bool) -> String {
    let red = |text: &str| Paint::Red.when(color, text);
    let checked = match &report.outcome {
        Ok(checked) => checked,
        Err(failure) => return format!("{}\n\n{} {}\n", report.expression, red("error:"), failure.message),
    };
    let mut out = String::new();
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(out, "{} {text}", Paint::Bold.when(color, &format!("{label:<12}")));
    };
    let cost = match &checked.run {
        Run::Value(text, _, cost) => {
            line("value:", text);
            Some(*cost)
        }
        Run::Error(error, cost) => {
            line("error:", &red(error));
            Some(*cost)
        }
        Run::Unfinished(spent) => {
            line("value:", &format!("cannot tell: {spent}"));
            None
        }
        Run::Not(reason) | Run::Missing(reason) => {
            line("value:", &format!("none: {reason}"));
            None
        }
    };
    line("type:", &checked.type_);
    if let Some(cost) = cost {
        line(
            "cost:",
            &format!("{cost}, {} of the limit of {} for one call", share(cost, checked.run_limit), checked.run_limit),
        );
    }
    let (min, max) = checked.estimate;
    line("estimated:", &if min == max { format!("{max}") } else { format!("{min} to {max}") });
    if let Some(RuleCost { times, total, limit }) = checked.rule {
        let share = share(total, limit);
        line("as a rule:", &format!("at most {max} x {times} = {total}, {share} of the limit of {limit} for a rule"));
    }
    let is_rule = report.environment == Environment::Rule;
    line(
        if is_rule { "valid rule:" } else { "valid:" },
        &match &checked.valid {
            Ok(()) if is_rule && checked.rule.is_none() => {
                "yes, if limits in the schema keep it cheap enough".to_owned()
            }
            Ok(()) => "yes".to_owned(),
            Err(reason) => format!("no: {reason}"),
        },
    );
    out
}

/// Formats a share as `12.3 %`, or as the factor by which the limit is exceeded.
fn share(cost: u64, limit: u64) -> String {
    let part = cost as f64 / limit.max(1) as f64;
    match part {
        0.0 => "0 %".to_owned(),
        _ if part < 0.0001 => "less than 0.01 %".to_owned(),
        _ if part > 100.0 => "more than 100x".to_owned(),
        _ if part > 1.0 => format!("{part:.1}x"),
        _ => format!("{:.2} %", part * 100.0),
    }
}

/// Formats the result as one JSON document, described in `docs/output.md`.
pub fn to_text_of_json(report: &Report) -> String {
    let number = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let text = |text: &str| Value::from(text);
    let mut members = Map::new();
    let mut put = |key: &str, value: Value| members.insert(key.to_owned(), value);
    put("apiVersion", text(API_VERSION));
    put("kind", text("CelReport"));
    put("expression", text(&report.expression));
    put("kubernetesVersions", releases([report.release]));
    if report.environment != Environment::Rule {
        put("environment", text(report.environment.name()));
    }
    if let Some(at) = &report.at {
        put("at", text(at));
    }
    match &report.outcome {
        Err(failure) => {
            put("compileError", text(&failure.message));
            let problem = |(line, column, message): &(i32, i32, String)| {
                let (line, column) = (i64::from(*line), i64::from(*column));
                object([("line", Value::Int(line)), ("column", Value::Int(column)), ("message", text(message))])
            };
            put("problems", failure.problems.iter().map(problem).collect::<Vec<_>>().into());
        }
        Ok(checked) => {
            put("type", text(&checked.type_));
            let (min, max) = checked.estimate;
            put("estimatedCost", object([("min", number(min)), ("max", number(max))]));
            if let Some(RuleCost { times, total, limit }) = checked.rule {
                let cost = [("times", times), ("total", total), ("limit", limit)];
                put("ruleCost", object(cost.map(|(key, n)| (key, number(n)))));
            }
            let (valid, reason) = if report.environment == Environment::Rule {
                ("couldBeRule", "notARule")
            } else {
                ("valid", "notValid")
            };
            put(valid, Value::Bool(checked.valid.is_ok()));
            if let Err(invalid) = &checked.valid {
                put(reason, text(&invalid.to_string()));
            }
            match &checked.run {
                Run::Value(shown, value, _) => {
                    put("value", value.clone());
                    put("text", text(shown));
                }
                Run::Error(error, _) => {
                    put("error", text(error));
                }
                Run::Unfinished(spent) => {
                    put("notRun", text(&spent.to_string()));
                }
                Run::Not(reason) | Run::Missing(reason) => {
                    put("notRun", text(reason));
                }
            }
            if let Run::Value(_, _, cost) | Run::Error(_, cost) = checked.run {
                put("cost", object([("total", number(cost)), ("limit", number(checked.run_limit))]));
            }
        }
    }
    format!("{}\n", json::to_string(&Value::Object(members)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_short() {
        assert_eq!(share(0, 10), "0 %");
        assert_eq!(share(1, 1_000_000), "less than 0.01 %");
        assert_eq!(share(5, 1000), "0.50 %");
        assert_eq!(share(15, 10), "1.5x");
        assert_eq!(share(u64::MAX, 10), "more than 100x");
    }

    #[test]
    fn values_without_a_json_type_are_text() {
        let json = |value: Cel<'_>| to_json(&value, &Steps::of_request()).unwrap();
        assert_eq!(json(Cel::Uint(u64::MAX)), Value::from("18446744073709551615"));
        assert_eq!(json(Cel::Double(f64::NAN)), Value::from("NaN"));
        assert_eq!(json(Cel::Int(1).some()), Value::Int(1));
        let twins = (0..26).fold(Cel::Int(1), |inner, _| Cel::list(vec![inner.clone(), inner]));
        assert_eq!(to_json(&twins, &Steps::of_request()), Err(Spent));
    }
}
