//! The conventions of one field.

use super::{CheckedField, Convention, Walk};
use crdx_server::schema::Schema;
use crdx_value::Value;

/// The last words of the names of durations.
const DURATIONS: [&str; 8] = ["timeout", "interval", "period", "delay", "duration", "ttl", "age", "deadline"];
/// The fields that every condition has.
const OF_CONDITION: [&str; 5] = ["type", "status", "lastTransitionTime", "reason", "message"];

/// Checks a node, whether it is a field or the items of a list.
pub fn check_node(schema: &Schema, walk: &mut Walk<'_>) {
    types(schema, walk);
    limits(schema, walk);
    if schema.nullable {
        let message = "is nullable: null and absent mean the same to most clients, and some cannot send null";
        walk.add(Convention::NullableField, "nullable", message);
    }
    let is_pascal_case = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase()) && is_alphanumeric(text);
    let odd = schema.enum_.iter().filter_map(Value::as_str).find(|text| !text.is_empty() && !is_pascal_case(text));
    if let Some(odd) = odd {
        let message = format!("the value {odd:?} of the enum is not in PascalCase");
        walk.add(Convention::EnumValueName, "enum", &message);
    }
    if schema.type_ == "array" && schema.x_list_type.is_none() {
        let message = "has no x-kubernetes-list-type: server-side apply replaces the whole list";
        walk.add(Convention::ListTypeMissing, "", message);
    }
    if schema.additional_properties_schema().is_some_and(|values| values.type_ == "object") {
        let message = "is a map of objects: use a list with x-kubernetes-list-type: map, whose items have a name";
        walk.add(Convention::MapOfObjects, "additionalProperties", message);
    }
}

fn types(schema: &Schema, walk: &mut Walk<'_>) {
    match schema.type_.as_str() {
        "boolean" => {
            let message = "is a boolean: an enum can have a third value later";
            walk.add(Convention::BooleanField, "type", message);
        }
        "number" => {
            let message = "is a floating-point number: clients round it differently; use an integer of a smaller unit, or a quantity";
            walk.add(Convention::FloatField, "type", message);
        }
        "integer" if !schema.x_int_or_string && !matches!(schema.format.as_str(), "int32" | "int64") => {
            let message = "is an integer that is neither int32 nor int64: clients choose a type of their own";
            walk.add(Convention::IntegerFormat, "type", message);
        }
        _ => {}
    }
}

fn limits(schema: &Schema, walk: &mut Walk<'_>) {
    let is_free_text = schema.enum_.is_empty() && schema.format.is_empty() && !schema.x_int_or_string;
    let missing = match schema.type_.as_str() {
        "string" if is_free_text && schema.max_length.is_none() => "maxLength",
        "array" if schema.max_items.is_none() => "maxItems",
        "object" if schema.additional_properties_schema().is_some() && schema.max_properties.is_none() => {
            "maxProperties"
        }
        _ => return,
    };
    let message =
        format!("has no {missing}: rules are estimated for the largest request, and objects may grow without limit");
    walk.add(Convention::Unbounded, "", &message);
}

/// Checks a field.
pub fn check(field: &CheckedField<'_>, walk: &mut Walk<'_>) {
    let CheckedField { name, schema, parent, is_in_status } = *field;
    if schema.description.is_empty() {
        walk.add(Convention::MissingDescription, "", "has no description, which kubectl explain and editors show");
    }
    if !(name.starts_with(|c: char| c.is_ascii_lowercase()) && is_alphanumeric(name)) {
        walk.add(Convention::FieldName, "", "the name is not in camelCase");
    }
    if schema.default.is_some() && parent.required.iter().any(|required| required == name) {
        let message = "is required and has a default: the default makes it optional";
        walk.add(Convention::RequiredDefault, "default", message);
    }
    if name == "phase" && is_in_status {
        let message = "is a phase: clients compare it with all known phases; use conditions";
        walk.add(Convention::PhaseField, "", message);
    }
    times(name, schema, walk);
    references(name, schema, walk);
    if name == "conditions" && schema.items_schema().is_some_and(|item| item.property("type").is_some()) {
        conditions(schema, walk);
    }
}

fn times(name: &str, schema: &Schema, walk: &mut Walk<'_>) {
    let lower = name.to_ascii_lowercase();
    // The last word of the name: `maxAge` is a duration, `image` is not.
    let ends_in = |word: &str| {
        let rest = lower.strip_suffix(word);
        rest.is_some_and(|rest| {
            rest.is_empty()
                || name.get(rest.len()..).is_some_and(|last| last.starts_with(|c: char| c.is_ascii_uppercase()))
        })
    };
    let is_duration = DURATIONS.iter().any(|word| ends_in(word));
    if schema.format == "duration" || (schema.type_ == "string" && schema.enum_.is_empty() && is_duration) {
        let message = "is a duration as text, which every client must parse; use an integer whose name ends in the unit, such as Seconds";
        walk.add(Convention::DurationField, "", message);
    } else if schema.type_ == "integer" && is_duration {
        walk.add(Convention::DurationField, "", "the name has no unit, such as Seconds");
    }
    let is_time = schema.format == "date-time";
    if (is_time && !lower.ends_with("time")) || lower.ends_with("timestamp") {
        walk.add(Convention::TimeName, "", "the name of a time ends in Time, such as creationTime");
    }
}

fn references(name: &str, schema: &Schema, walk: &mut Walk<'_>) {
    let object = schema.items_schema().unwrap_or(schema);
    if object.type_ != "object" {
        return;
    }
    let singular = name.strip_suffix('s').unwrap_or(name);
    if singular.ends_with("Reference") {
        walk.add(Convention::ReferenceName, "", "the name of a reference ends in Ref");
    }
    let is_reference = singular.ends_with("Ref") || singular.ends_with("Reference");
    let has = |field: &str| object.property(field).is_some();
    if is_reference && has("kind") && !has("group") && !has("apiGroup") {
        let message = if has("apiVersion") {
            "names an apiVersion: a version may no longer be served; use the group"
        } else {
            "has a kind without a group: kinds of several groups have the same name"
        };
        walk.add(Convention::ReferenceGroup, "", message);
    }
}

fn conditions(schema: &Schema, walk: &mut Walk<'_>) {
    if schema.x_list_type.as_deref() != Some("map") || schema.x_list_map_keys != ["type"] {
        let message = "is not a map by type (x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type])";
        walk.add(Convention::ConditionsList, "", message);
    }
    let Some(item) = schema.items_schema() else { return };
    let missing: Vec<&str> =
        OF_CONDITION.into_iter().filter(|name| !item.required.iter().any(|required| required == name)).collect();
    if !missing.is_empty() {
        let message = format!("conditions do not require {}", missing.join(", "));
        walk.add(Convention::ConditionsList, "items", &message);
    }
}

fn is_alphanumeric(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric())
}
