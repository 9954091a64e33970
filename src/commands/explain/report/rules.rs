//! Formats the section of `explain --rules`: the CEL rules of a field with their costs, and its other constraints.

use crdx_engine::lint::costs::ExpressionCost;
use crdx_output::cost::{count, percent};
use crdx_server::schema::Schema;
use crdx_value::{Value, json};
use std::fmt::Write as _;

/// Formats the rules and bounds of a schema node. `costs` are the estimates of its rules.
pub fn rules(schema: &Schema, costs: &[&ExpressionCost]) -> String {
    let mut out = String::from("RULES:\n");
    for (index, rule) in schema.x_validations.iter().enumerate() {
        let _ = writeln!(out, "    {}", rule.rule.trim().replace('\n', "\n    "));
        for (name, text) in [
            ("message", &rule.message),
            ("messageExpression", &rule.message_expression),
            ("fieldPath", &rule.field_path),
        ] {
            if !text.is_empty() {
                let _ = writeln!(out, "      {name}: {}", text.trim().replace('\n', "\n        "));
            }
        }
        if let Some(reason) = &rule.reason {
            let _ = writeln!(out, "      reason: {reason}");
        }
        if rule.optional_old_self == Some(true) {
            out.push_str("      optionalOldSelf: true\n");
        }
        let end = format!("x-kubernetes-validations[{index}].rule");
        if let Some(cost) = costs.iter().find(|cost| !cost.message && cost.crd_field.ends_with(&end)) {
            let _ = writeln!(out, "      cost: {}", estimate(cost));
        }
    }
    if schema.x_validations.is_empty() {
        out.push_str("    <none>\n");
    }
    out.push_str("BOUNDS:\n");
    let bounds = bounds(schema);
    for (name, text) in &bounds {
        let _ = writeln!(out, "    {name}: {text}");
    }
    if bounds.is_empty() {
        out.push_str("    <none>\n");
    }
    out
}

fn estimate(cost: &ExpressionCost) -> String {
    if let Some(error) = &cost.error {
        return format!("no estimate: {}", error.replace('\n', "\n        "));
    }
    let times = if cost.limited { count(cost.times) } else { format!("{} (not limited)", count(cost.times)) };
    let (each, total, share) = (count(cost.each), count(cost.total), percent(cost.percent()));
    format!("{each} x {times} = {total}, {share} of the limit")
}

/// Returns the constraints of a node except rules, by keyword.
fn bounds(schema: &Schema) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let number = |x: f64| json::to_string(&Value::Float(x));
    let exclusive = |x: f64, exclusive| if exclusive { format!("{} (exclusive)", number(x)) } else { number(x) };
    all.extend(schema.minimum.map(|x| ("minimum", exclusive(x, schema.exclusive_minimum))));
    all.extend(schema.maximum.map(|x| ("maximum", exclusive(x, schema.exclusive_maximum))));
    all.extend(schema.multiple_of.map(|x| ("multipleOf", number(x))));
    all.extend(schema.sizes().into_iter().filter_map(|(name, size)| Some((name, size?.to_string()))));
    let texts = [("pattern", &schema.pattern), ("format", &schema.format)];
    all.extend(texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name, text.clone())));
    if !schema.enum_.is_empty() {
        all.push(("enum", json::to_string(&schema.enum_.clone().into())));
    }
    if !schema.required.is_empty() {
        all.push(("required", schema.required.join(", ")));
    }
    all.extend(schema.default.as_ref().map(|value| ("default", json::to_string(value))));
    if schema.nullable {
        all.push(("nullable", "true".to_owned()));
    }
    all.extend(schema.x_list_type.as_ref().map(|type_| ("x-kubernetes-list-type", type_.clone())));
    if !schema.x_list_map_keys.is_empty() {
        all.push(("x-kubernetes-list-map-keys", schema.x_list_map_keys.join(", ")));
    }
    all.extend(schema.x_map_type.as_ref().map(|type_| ("x-kubernetes-map-type", type_.clone())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    #[test]
    fn rules_and_bounds_are_listed() {
        let schema = yaml::read(b"{type: string, maxLength: 9, enum: [a, b], default: a, x-kubernetes-validations: [{rule: self != 'c', message: not c}]}").unwrap();
        let schema = Schema::from_value(&schema).unwrap();
        let want = "RULES:\n    self != 'c'\n      message: not c\nBOUNDS:\n    maxLength: 9\n    enum: [\"a\",\"b\"]\n    default: \"a\"\n";
        assert_eq!(rules(&schema, &[]), want);
        assert_eq!(rules(&Schema::default(), &[]), "RULES:\n    <none>\nBOUNDS:\n    <none>\n");
    }
}
