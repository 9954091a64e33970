//! Objects that show an effect at a given place, such as `spec.list[*].name`.

use crate::search::Counterexample;
use crate::search::probe::Effects;
use crdx_server::rules::node::steps;
use crdx_value::Value;

/// A place and the object that shows an effect there.
#[derive(Debug)]
pub struct Place {
    /// The names on the path; `*` is any name or index.
    pattern: Vec<String>,
    /// The first object that was found.
    pub found: Option<Counterexample>,
}

impl Place {
    /// Creates a place from the path of values, as `lint` prints it.
    pub fn new(path: &str) -> Self {
        let pattern = if path == "self" { Vec::new() } else { steps(path).unwrap_or_default() };
        Self { pattern, found: None }
    }

    /// Returns the details that are about this place: the path of each precedes `: `.
    pub fn details(&self, details: &[String]) -> Vec<String> {
        details.iter().filter(|detail| self.is_at(detail)).cloned().collect()
    }

    fn is_at(&self, detail: &str) -> bool {
        let path = detail.split_once(": ").map_or(detail, |(path, _)| path);
        let Ok(path) = steps(if path == "<nil>" { "" } else { path }) else { return false };
        path.len() >= self.pattern.len() && self.pattern.iter().zip(&path).all(|(one, other)| one == "*" || one == other)
            // A place that is the whole object has only errors about it.
            && (!self.pattern.is_empty() || path.is_empty())
    }

    /// Keeps the object if it shows an effect here and none was found before.
    pub fn note(&mut self, object: &Value, updated: Option<&Value>, effects: &Effects) {
        if self.found.is_some() {
            return;
        }
        let details: Vec<String> = effects.iter().flat_map(|(_, details)| self.details(details)).collect();
        if !details.is_empty() {
            self.found = Some(Counterexample { object: object.clone(), updated: updated.cloned(), details });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_members_match() {
        for (pattern, detail, is_there) in [
            ("spec.list[*].name", "spec.list[3].name: Required value", true),
            ("spec.list[*].name", "spec.list[3].names: Required value", false),
            ("spec.map.*", "spec.map.x: Invalid value: 3", true),
            ("spec.map.*", "spec.map: Invalid value: 3", false),
            ("spec.a", "spec.a.b", true),
            ("self", "<nil>: Invalid value: \"object\": failed rule", true),
            ("self", "spec.a: Invalid value", false),
        ] {
            assert_eq!(Place::new(pattern).is_at(detail), is_there, "{pattern} {detail}");
        }
    }
}
