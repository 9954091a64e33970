//! The limits that would make the rules of a CRD cheap enough, as `lint` prints them.

use crate::lint::bounds::Bound;
use crate::lint::costs::{ExpressionCost, SchemaCost};

/// Limits that the server's cost estimate needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The text.
    pub message: String,
    /// The path of the expression, or of the schema if all its rules together cost too much.
    pub crd_field: String,
    /// The versions with this schema.
    pub versions: Vec<String>,
    /// The limits; empty if none makes the rules cheap enough.
    pub bounds: Vec<Bound>,
}

/// The advice for a schema; `several`: the CRD has other schemas with rules.
pub fn advice(schema: &SchemaCost, several: bool) -> Vec<Advice> {
    let new = |crd_field: String, what: &str, are: &str, none: &str, bounds: &[Bound]| Advice {
        message: words(what, are, none, bounds),
        crd_field,
        versions: schema.versions.clone(),
        bounds: bounds.to_vec(),
    };
    let expensive = schema.expressions.iter().filter(|cost| cost.too_high());
    let mut all: Vec<Advice> = expensive
        .map(|cost| {
            let what = format!("`{}` on {}", name(cost), cost.path);
            let none = none(cost.is_unsearched, "no limit makes it cheap enough: simplify it");
            new(cost.crd_field.clone(), &what, "is", none, &cost.bounds)
        })
        .collect();
    if schema.too_high() {
        let of = if several { format!(" in {}", schema.versions.join(", ")) } else { String::new() };
        let none = none(schema.is_unsearched, "no limits make them cheap enough: simplify the most expensive one");
        let crd_field = schema.expressions.first().map_or("", |cost| cost.crd_field.as_str());
        let end = crd_field.find(".openAPIV3Schema").map_or(0, |at| at + ".openAPIV3Schema".len());
        let crd_field = crd_field.get(..end).unwrap_or_default().to_owned();
        all.push(new(crd_field, &format!("all rules together{of}"), "are", none, &schema.bounds));
    }
    all
}

/// The advice if there is no limit.
fn none(is_unsearched: bool, otherwise: &'static str) -> &'static str {
    if is_unsearched {
        "limits were not searched for, because the rules are too many or too large: simplify it"
    } else {
        otherwise
    }
}

fn words(what: &str, are: &str, none: &str, bounds: &[Bound]) -> String {
    let bounds: Vec<String> = bounds.iter().map(|b| format!("{}: {} on {}", b.keyword, b.limit, b.path())).collect();
    match bounds.as_slice() {
        [] => format!("{what}: {none}"),
        bounds => format!("{what} {are} cheap enough with {}", bounds.join(" and ")),
    }
}

/// The name of an expression in a report.
pub fn name(cost: &ExpressionCost) -> String {
    let text = shortened(cost.text.trim());
    if cost.message { format!("messageExpression: {text}") } else { text }
}

/// Returns the beginning of a rule, shortened to fit on a line.
pub fn shortened(rule: &str) -> String {
    const MAX_CHARS: usize = 60;
    let line = rule.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_CHARS { line } else { line.chars().take(MAX_CHARS - 3).collect::<String>() + "..." }
}
