//! Manager identifiers, and messages that contain managers (`managedfields/internal/{managedfields,conflict}.go`).

use super::{path::path_text, updater::Conflict};
use crdx_value::{Value, json, quote::go_quote};

/// A manager identifier.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The name of the field manager.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// The version of the object that was written; empty for applies.
    pub api_version: String,
    /// `status`, `scale` or empty for the object itself.
    pub subresource: String,
}

impl Identity {
    /// The identifier as JSON text; managers are sorted by this text.
    pub fn id(&self) -> String {
        let mut text = "{".to_owned();
        let fields = [
            ("manager", &self.manager),
            ("operation", &self.operation),
            ("apiVersion", &self.api_version),
            ("subresource", &self.subresource),
        ];
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            if text.len() > 1 {
                text.push(',');
            }
            json::write_string(&mut text, name);
            text.push(':');
            json::write_string(&mut text, value);
        }
        text.push('}');
        text
    }

    /// Parses the result of [`Self::id`].
    pub fn parse(id: &str) -> Self {
        let read = crdx_text::json::read(id.as_bytes()).unwrap_or_default();
        let get = |name: &str| read.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            manager: get("manager"),
            operation: get("operation"),
            api_version: get("apiVersion"),
            subresource: get("subresource"),
        }
    }
}

/// Formats a manager for conflict messages.
pub(crate) fn manager_text(id: &str) -> String {
    let identity = Identity::parse(id);
    let mut text = go_quote(&identity.manager);
    if !identity.subresource.is_empty() {
        text = format!("{text} with subresource {}", go_quote(&identity.subresource));
    }
    if identity.operation == "Update" {
        text = format!("{text} using {}", identity.api_version);
    }
    text
}

/// The error message of an apply with conflicts.
pub(crate) fn conflict_message(conflicts: &[Conflict]) -> String {
    if let [one] = conflicts {
        let path = path_text(&one.path);
        return format!("Apply failed with 1 conflict: conflict with {}: {path}", manager_text(&one.manager));
    }
    let mut lines = Vec::new();
    let mut last = None;
    for conflict in conflicts {
        if last != Some(&conflict.manager) {
            lines.push(format!("conflicts with {}:", manager_text(&conflict.manager)));
            last = Some(&conflict.manager);
        }
        lines.push(format!("- {}", path_text(&conflict.path)));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}
