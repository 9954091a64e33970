//! The changes that the server makes to an object of a built-in kind: defaults, fields that it drops, and values that differ
//! between clusters.

use crdx_value::{Map, Value};

/// The labels with which a Job selects its Pods.
const JOB_LABELS: &[&str] =
    &["batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"];

/// Removes values that the server generates: addresses and ports of Services, selectors of Jobs.
pub(crate) fn remove_generated(kind: &str, object: &mut Value, sent: &Value) {
    let remove = |object: &mut Value, parents: &[&str], names: &[&str]| {
        let sent = sent.at(parents);
        let Some(members) = at_mut(object, parents).and_then(Value::as_object_mut) else { return };
        for name in names {
            if sent.and_then(|sent| sent.get(name)).is_none_or(is_empty) {
                members.remove(name);
            }
        }
    };
    match kind {
        "Service" => {
            let is_given = |name: &str| sent.at(&["spec", name]).is_some_and(|value| !is_empty(value));
            // The server completes one from the other.
            if !["clusterIP", "clusterIPs"].into_iter().any(is_given) {
                remove(object, &["spec"], &["clusterIP", "clusterIPs"]);
            }
            remove(object, &["spec"], &["healthCheckNodePort"]);
            let sent = sent.at(&["spec", "ports"]).and_then(Value::as_array).unwrap_or_default();
            let Some(Value::Array(ports)) = at_mut(object, &["spec", "ports"]) else { return };
            for (at, port) in ports.iter_mut().enumerate() {
                let own = sent.get(at).and_then(|port| port.get("nodePort")).and_then(Value::as_int);
                if let Some(members) = port.as_object_mut().filter(|_| own.unwrap_or_default() == 0) {
                    members.remove("nodePort");
                }
            }
        }
        "Job" => {
            remove(object, &["spec"], &["selector"]);
            remove(object, &["metadata", "labels"], JOB_LABELS);
            remove(object, &["spec", "template", "metadata", "labels"], JOB_LABELS);
            for parents in [&["metadata"][..], &["spec", "template", "metadata"]] {
                if at_mut(object, parents).and_then(|metadata| metadata.get("labels")).is_some_and(is_empty) {
                    remove(object, parents, &["labels"]);
                }
            }
        }
        _ => {}
    }
}

fn at_mut<'a>(value: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, name| value.get_mut(name))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// The differences between an object that was sent and the stored one.
#[derive(Debug, Default, PartialEq)]
pub struct Changes {
    /// The fields that were not sent, with their paths and values.
    pub defaulted: Vec<(String, Value)>,
    /// The paths of fields that were sent and are not stored, except zero values and empty lists and maps.
    pub dropped: Vec<String>,
}

/// Compares a stored object with the one that was sent. Metadata and status are left out.
pub fn compare(stored: &Value, sent: &Value) -> Changes {
    let mut comparison = Comparison::default();
    // The server writes the member `stringData` of a Secret to `data`.
    let is_data = |name: &str| matches!(name, "data" | "stringData") && sent.get("stringData").is_some();
    let is_content = |name: &str| !matches!(name, "apiVersion" | "kind" | "metadata" | "status") && !is_data(name);
    if let (Some(stored), Some(sent)) = (stored.as_object(), sent.as_object()) {
        comparison.members(stored, sent, is_content);
    }
    comparison.changes
}

/// Returns true for a value that Go may omit.
fn is_zero(value: &Value) -> bool {
    is_empty(value) || matches!(value, Value::Bool(false) | Value::Int(0))
}

/// Collects changes. One buffer has the path of the current value, because most values do not change.
#[derive(Default)]
struct Comparison {
    path: String,
    changes: Changes,
}

impl Comparison {
    /// Compares one value. The recursion is bounded by the depth of the object, which the decoder bounds.
    fn value(&mut self, stored: &Value, sent: Option<&Value>) {
        match (stored, sent) {
            (stored, None | Some(Value::Null)) if !is_empty(stored) => {
                self.changes.defaulted.push((self.path.clone(), stored.clone()));
            }
            (Value::Object(members), Some(Value::Object(sent))) => self.members(members, sent, |_| true),
            (Value::Array(items), Some(Value::Array(sent))) if items.len() == sent.len() => {
                let length = self.path.len();
                for (at, (item, sent)) in items.iter().zip(sent).enumerate() {
                    if matches!(item, Value::Array(_) | Value::Object(_)) || sent.is_null() {
                        self.push_index(at);
                        self.value(item, Some(sent));
                        self.path.truncate(length);
                    }
                }
            }
            _ => {}
        }
    }

    /// Compares the members for whose names `is_compared` returns true.
    fn members(&mut self, stored: &Map, sent: &Map, is_compared: impl Fn(&str) -> bool) {
        let length = self.path.len();
        let mut stored_of_sent = 0;
        for (name, value) in stored {
            let sent = sent.get(name);
            stored_of_sent += usize::from(sent.is_some());
            // A scalar that was sent is not defaulted.
            let may_differ = matches!(value, Value::Array(_) | Value::Object(_)) || sent.is_none_or(Value::is_null);
            if may_differ && is_compared(name) {
                self.push(name);
                self.value(value, sent);
                self.path.truncate(length);
            }
        }
        // Almost always, all fields that were sent are stored.
        if stored_of_sent < sent.len() {
            // Directives of patches, such as `$patch`, are no fields.
            let is_field = |name: &str| !name.starts_with('$') && is_compared(name);
            for (name, value) in sent {
                if is_field(name) && !is_zero(value) && !stored.contains_key(name) {
                    self.push(name);
                    self.changes.dropped.push(self.path.clone());
                    self.path.truncate(length);
                }
            }
        }
    }

    fn push_index(&mut self, index: usize) {
        self.path.push('[');
        // Most lists are short.
        match u8::try_from(index).ok().filter(|index| *index < 10) {
            Some(digit) => self.path.push(char::from(b'0' + digit)),
            None => self.path.push_str(&index.to_string()),
        }
        self.path.push(']');
    }

    fn push(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn defaults_are_fields_that_were_not_sent() {
        let sent = read(r#"{"kind":"D","spec":{"a":1,"list":[{"b":1}],"gone":null}}"#);
        let stored = read(
            r#"{"kind":"D","metadata":{"uid":"u"},"spec":{"a":2,"list":[{"b":1,"c":2}],"gone":3,"empty":{}},"status":{"x":1}}"#,
        );
        let paths: Vec<_> = compare(&stored, &sent).defaulted.into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["spec.gone", "spec.list[0].c"]);
    }

    #[test]
    fn fields_that_were_sent_and_are_not_stored_are_dropped() {
        let sent = read(
            r#"{"kind":"D","metadata":{"x":1},"spec":{"list":[{"b":1,"c":{"d":1}}],"zero":0,"off":false,"none":{},"$patch":"replace"},"rest":1,"stringData":{},"$patch":"replace"}"#,
        );
        let stored = read(r#"{"kind":"D","spec":{"list":[{"b":1}]},"data":{"a":"b"}}"#);
        assert_eq!(compare(&stored, &sent).dropped, ["spec.list[0].c", "rest"]);
        assert_eq!(compare(&stored, &sent).defaulted, []);
        assert_eq!(compare(&sent, &sent), Changes::default());
    }

    #[test]
    fn allocated_addresses_and_ports_are_removed() {
        let sent = read(r#"{"spec":{"ports":[{"port":1},{"port":2,"nodePort":30002}]}}"#);
        let mut stored = read(
            r#"{"spec":{"clusterIP":"10.96.0.7","clusterIPs":["10.96.0.7"],"type":"NodePort",
            "ports":[{"port":1,"nodePort":30001},{"port":2,"nodePort":30002}]}}"#,
        );
        remove_generated("Service", &mut stored, &sent);
        assert_eq!(stored, read(r#"{"spec":{"type":"NodePort","ports":[{"port":1},{"port":2,"nodePort":30002}]}}"#));
    }

    #[test]
    fn addresses_completed_from_a_given_one_are_kept() {
        let text = r#"{"spec":{"clusterIP":"None","clusterIPs":["None"]}}"#;
        let mut stored = read(text);
        remove_generated("Service", &mut stored, &read(r#"{"spec":{"clusterIP":"None"}}"#));
        assert_eq!(stored, read(text));
    }

    #[test]
    fn selectors_of_jobs_are_removed_unless_they_were_sent() {
        let text = r#"{"metadata":{"labels":{"controller-uid":"u"}},"spec":{"selector":{"matchLabels":{"controller-uid":"u"}},
            "template":{"metadata":{"labels":{"app":"a","job-name":"j"}}}}}"#;
        let mut stored = read(text);
        remove_generated("Job", &mut stored, &read(r#"{"spec":{}}"#));
        assert_eq!(stored, read(r#"{"metadata":{},"spec":{"template":{"metadata":{"labels":{"app":"a"}}}}}"#));
        let mut kept = read(text);
        remove_generated("Job", &mut kept, &read(text));
        assert_eq!(kept, read(text));
    }
}
