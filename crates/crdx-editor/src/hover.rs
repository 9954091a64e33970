//! Hover texts: the schema of a field as Markdown.

use super::schema;
use crdx_engine::lint::costs::{self, ExpressionCost};
use crdx_output::cost::{count, percent};
use crdx_server::crd;
use crdx_server::crd::validation::rules::EXPRESSION_COST_LIMIT;
use crdx_text::spans::PathStep;
use crdx_value::release::ReleaseSet;
use crdx_value::{Value, json};
use std::fmt::Write as _;

/// Keywords of a schema that bound a value.
const BOUNDS: &[&str] = &[
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
];

/// The estimated costs of the rules of the field at `path` of an object of `version`, whose schema is `root`.
pub fn costs(
    definition: &Value,
    version: &str,
    (root, path): (&Value, &[PathStep]),
    releases: &ReleaseSet,
) -> Vec<ExpressionCost> {
    let has_rules = schema::at(root, path).is_some_and(|field| field.get("x-kubernetes-validations").is_some());
    let (true, Some(path), Ok(decoded)) = (has_rules, schema::value_path(root, path), crd::decode(definition)) else {
        return Vec::new();
    };
    let schemas = costs::costs(&decoded.crd.spec, releases).into_iter();
    let own = schemas.filter(|schema| schema.versions.iter().any(|one| one == version));
    own.flat_map(|schema| schema.expressions).filter(|cost| cost.path == path && !cost.message).collect()
}

/// The text for a rule of a CRD with the cursor at `path`: its estimated cost, as `lint` prints it. `None` outside of rules.
pub fn rule(definition: &Value, path: &[PathStep], releases: &ReleaseSet) -> Option<String> {
    let (version, crd_field) = expression(path)?;
    let crd = crd::decode(definition).ok()?.crd;
    let name = &crd.spec.versions.get(version)?.name;
    let own = costs::costs(&crd.spec, releases).into_iter().find(|schema| schema.versions.contains(name))?;
    let cost = own.expressions.into_iter().find(|cost| {
        let of_version = cost.crd_field.strip_prefix("spec.versions[").and_then(|rest| rest.split_once(']'));
        of_version.is_some_and(|(_, rest)| rest == crd_field)
    })?;
    let kind = if cost.message { "messageExpression" } else { "rule" };
    let estimate = match &cost.error {
        Some(error) => error.clone(),
        None => format!(
            "cost {}, {} times: {} ({} of the limit of {})",
            count(cost.each),
            count(cost.times),
            count(cost.total),
            percent(cost.percent()),
            count(EXPRESSION_COST_LIMIT)
        ),
    };
    Some(format!("**{kind}** on `{}`\n\n{estimate}", cost.path))
}

/// The index of the version and the path in it of the expression at a path of a CRD.
fn expression(path: &[PathStep]) -> Option<(usize, String)> {
    let member = |step: &PathStep, name: &str| matches!(step, PathStep::Member(member) if member == name);
    let [spec, versions, PathStep::Item(version), schema, root, rest @ ..] = path else { return None };
    if !(member(spec, "spec") && member(versions, "versions") && member(schema, "schema")) {
        return None;
    }
    let mut crd_field = ".schema.openAPIV3Schema".to_owned();
    let mut steps = rest.iter().skip_while(|_| !member(root, "openAPIV3Schema"));
    loop {
        match (steps.next()?, &mut steps) {
            (PathStep::Member(name), steps) if name == "properties" => {
                let PathStep::Member(property) = steps.next()? else { return None };
                let _ = write!(crd_field, ".properties[{property}]");
            }
            (PathStep::Member(name), _) if name == "items" || name == "additionalProperties" => {
                let _ = write!(crd_field, ".{name}");
            }
            (PathStep::Member(name), steps) if name == "x-kubernetes-validations" => {
                let PathStep::Item(index) = steps.next()? else { return None };
                let field = match steps.next() {
                    Some(PathStep::Member(field)) if field == "messageExpression" => "messageExpression",
                    _ => "rule",
                };
                let _ = write!(crd_field, ".x-kubernetes-validations[{index}].{field}");
                return Some((*version, crd_field));
            }
            _ => return None,
        }
    }
}

/// The text for the field at `path` of an object whose schema is `root`; `None` if the schema does not have it. `costs` are
/// those of its rules, if they are known.
pub fn text(root: &Value, path: &[PathStep], costs: &[ExpressionCost]) -> Option<String> {
    let (last, above) = path.split_last()?;
    let parent = schema::at(root, above)?;
    let field = schema::at(root, path)?;
    let mut text = String::new();
    let name = match last {
        PathStep::Member(name) => name.clone(),
        PathStep::Item(index) => format!("[{index}]"),
    };
    // Writing to a String cannot fail.
    let _ = write!(text, "**{name}** `{}`", schema::type_name(field));
    if matches!(last, PathStep::Member(name) if schema::is_required(parent, name)) {
        text.push_str(" required");
    }
    if let Some(description) = field.str_at(&["description"]) {
        let _ = write!(text, "\n\n{description}");
    }
    let mut lines = Vec::new();
    let code = |value: &Value| format!("`{}`", json::to_string(value));
    if let Some(default) = field.get("default") {
        lines.push(format!("default: {}", code(default)));
    }
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        lines.push(format!("one of: {}", values.iter().map(code).collect::<Vec<_>>().join(", ")));
    }
    for keyword in BOUNDS {
        if let Some(value) = field.get(keyword) {
            lines.push(format!("{keyword}: {}", code(value)));
        }
    }
    for rule in field.get("x-kubernetes-validations").and_then(Value::as_array).unwrap_or_default() {
        let message = rule.str_at(&["message"]).map_or_else(String::new, |message| format!(" {message}"));
        let rule = rule.str_at(&["rule"]).unwrap_or_default();
        let cost = costs.iter().find(|cost| cost.text == rule && cost.error.is_none());
        let cost = cost.map_or_else(String::new, |cost| {
            let (each, times, share) = (count(cost.each), count(cost.times), percent(cost.percent()));
            format!(" (cost {each}, {times} times: {share} of the limit)")
        });
        lines.push(format!("rule: `{rule}`{message}{cost}"));
    }
    if !lines.is_empty() {
        let _ = write!(text, "\n\n- {}", lines.join("\n- "));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_described() {
        let schema = crdx_text::json::read(
            br#"{"type": "object", "properties": {"spec": {"type": "object", "required": ["size"], "properties": {
                "size": {"type": "integer", "minimum": 1, "default": 3, "description": "How many.",
                    "x-kubernetes-validations": [{"rule": "self % 2 == 1", "message": "must be odd"}]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}}}}}"#,
        )
        .unwrap();
        let member = |name: &str| PathStep::Member(name.to_owned());
        let size = text(&schema, &[member("spec"), member("size")], &[]).unwrap();
        assert_eq!(
            size,
            "**size** `integer` required\n\nHow many.\n\n- default: `3`\n- minimum: `1`\n- rule: `self % 2 == 1` must be odd"
        );
        let tag = text(&schema, &[member("spec"), member("tags"), PathStep::Item(0)], &[]).unwrap();
        assert_eq!(tag, "**[0]** `string`\n\n- one of: `\"a\"`, `\"b\"`");
        assert_eq!(text(&schema, &[member("spec"), member("other")], &[]), None);
    }
}
