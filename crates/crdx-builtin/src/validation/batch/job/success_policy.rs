//! Success policies (`validateSuccessPolicy`), and lists of indexes.

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::GoError;
use crdx_value::quote::go_quote;
use crdx_value::release::Gate;

const MAX_RULES: usize = 20;
const MAX_INDEXES: usize = 64 << 10;

/// Validates the policy, if there is one. Before 1.31, the server drops it.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let policy = spec.child("successPolicy");
    if !policy.is_set() || !errors.release.enables(Gate::JobSuccessPolicy) {
        return;
    }
    if spec.child("completionMode").text() != "Indexed" {
        return errors.invalid_typed(&policy, "batch.SuccessPolicy", "requires indexed completion mode");
    }
    let rules = policy.child("rules");
    if rules.len() == 0 {
        errors.required(&rules, "at least one rules must be specified when the successPolicy is specified");
    }
    if rules.len() > MAX_RULES {
        errors.too_many(&rules, rules.len(), MAX_RULES as i64);
    }
    // Without completions, the server fails; the missing field is reported elsewhere.
    if let Some(completions) = spec.child("completions").int() {
        for rule in rules.items() {
            validate_rule(errors, &rule, completions);
        }
    }
}

fn validate_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>, completions: i64) {
    let (count, indexes) = (rule.child("succeededCount"), rule.child("succeededIndexes"));
    if !count.is_set() && !indexes.is_set() {
        errors.required(rule, "at least one of succeededCount or succeededIndexes must be specified");
    }
    let mut total = 0;
    if indexes.is_set() {
        if indexes.text().len() > MAX_INDEXES {
            errors.too_long(&indexes, MAX_INDEXES as i64);
        }
        match count_indexes(indexes.text(), completions) {
            Ok(found) => total = found,
            Err(reason) => errors.invalid(&indexes, format!("error parsing succeededIndexes: {reason}")),
        }
    }
    let Some(succeeded) = count.int() else { return };
    errors.nonnegative(&count);
    if succeeded > completions {
        let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
        errors.invalid(&count, detail);
    }
    if indexes.is_set() && succeeded > total {
        let what = "the number of indexes in the specified succeededIndexes field";
        errors.invalid(&count, format!("must be less than or equal to {total} ({what})"));
    }
}

/// The number of indexes in a list such as `1,3-5` (`validateIndexesFormat`).
fn count_indexes(text: &str, completions: i64) -> Result<i64, GoError> {
    if text.is_empty() {
        return Ok(0);
    }
    let (mut total, mut last) = (0, None);
    for interval in text.split(',') {
        let (first, end) = parse_interval(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!("non-increasing order, previous: {last}, current: {first}").into());
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// `parseIndexInterval`
fn parse_interval(interval: &str, completions: i64) -> Result<(i64, i64), GoError> {
    let parse = |text: &str| {
        let index: i64 =
            text.parse().map_err(|_| format!("cannot convert string to integer for index: {}", go_quote(text)))?;
        if index >= completions { Err(format!("too large index: {}", go_quote(text)).into()) } else { Ok(index) }
    };
    match interval.split('-').collect::<Vec<_>>().as_slice() {
        [only] => parse(only).map(|index| (index, index)),
        [first, last] => {
            let (first, last) = (parse(first)?, parse(last)?);
            if first >= last {
                return Err(format!("non-increasing order, previous: {first}, current: {last}").into());
            }
            Ok((first, last))
        }
        _ => Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            go_quote(interval)
        ).into()),
    }
}
