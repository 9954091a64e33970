//! The rules of a CRD in answers: their estimated costs, and the limits that would lower them.

use crate::documents::{Document, Severity};
use crdx::{ApiServer, RuleCost, SufficientLimit};
use crdx_value::{Value, object};

/// The rules of a CRD, in the order of its text.
pub fn answer(server: &ApiServer, document: &Document, text: &str) -> Vec<Value> {
    // A CRD that cannot be decoded has problems, but no rules.
    let costs = server.rule_costs(document.value.clone()).unwrap_or_default();
    costs.iter().map(|cost| rule(cost, document, text)).collect()
}

fn rule(cost: &RuleCost, document: &Document, text: &str) -> Value {
    let mut members: Vec<(&str, Value)> = vec![
        ("path", cost.path.as_str().into()),
        ("field", cost.field.as_str().into()),
        ("expression", cost.expression.as_str().into()),
        ("each", number(cost.each)),
        ("times", number(cost.times)),
        ("total", number(cost.total)),
        ("limit", number(RuleCost::LIMIT)),
        ("isTooHigh", cost.is_too_high().into()),
        ("sufficientLimits", Value::Array(cost.sufficient_limits.iter().map(limit).collect())),
    ];
    members.extend(cost.error.as_ref().map(|error| ("error", error.as_str().into())));
    if let Some((from, to)) = document.problem(text, Severity::Error, "", &cost.field).range {
        members.extend([("from", from.to_value()), ("to", to.to_value())]);
    }
    object(members)
}

fn limit(limit: &SufficientLimit) -> Value {
    let members: [(&str, Value); 3] =
        [("path", limit.path.as_str().into()), ("keyword", limit.keyword.into()), ("limit", limit.limit.into())];
    object(members)
}

/// A cost in an answer.
fn number(cost: u64) -> Value {
    Value::Int(i64::try_from(cost).unwrap_or(i64::MAX))
}
