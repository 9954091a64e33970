//! Prints objects that a search found.

use super::terminal::output_limit;
use crdx_engine::search::Counterexample;
use crdx_text::yaml::write::to_string_within;
use crdx_value::{Map, Value};

/// Returns the object as YAML, and the one that replaces it if there is one, indented.
pub fn text(found: &Counterexample, indent: usize) -> String {
    let yaml = |value: &Value| to_string_within(value, output_limit()).unwrap_or_default();
    let mut lines = yaml(&found.object);
    if let Some(updated) = &found.updated {
        lines.push_str("# updated to\n");
        lines.push_str(&yaml(updated));
    }
    lines.lines().fold(String::new(), |text, line| text + &" ".repeat(indent) + line + "\n")
}

/// Returns the members of the JSON reports.
pub fn members(found: &Counterexample) -> Map {
    let details: Vec<Value> = found.details.iter().map(|detail| Value::from(detail.as_str())).collect();
    let mut members = Map::from([("object".to_owned(), found.object.clone()), ("details".to_owned(), details.into())]);
    members.extend(found.updated.clone().map(|updated| ("updated".to_owned(), updated)));
    members
}
