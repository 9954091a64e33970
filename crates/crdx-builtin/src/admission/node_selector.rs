//! `PodNodeSelector` (`plugin/pkg/admission/podnodeselector`).

use crdx_value::field::names;
use crdx_value::release::Release;
use crdx_value::{GoError, Value, quote};
use std::collections::BTreeMap;

/// The annotation of a namespace with the selector of its Pods.
const ANNOTATION: &str = "scheduler.alpha.kubernetes.io/node-selector";
/// The key of the selector for namespaces without the annotation, among the names of namespaces.
const DEFAULT: &str = "clusterDefaultNodeSelector";

type Labels = BTreeMap<String, String>;

/// The configuration: the default selector, and the selectors that the Pods of each namespace may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSelectors(pub BTreeMap<String, String>);

/// The reason to refuse a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The Pod is forbidden.
    Forbidden(&'static str),
    /// A selector cannot be read.
    Unreadable(GoError),
}

impl From<GoError> for Refused {
    fn from(error: GoError) -> Self {
        Self::Unreadable(error)
    }
}

impl NodeSelectors {
    /// Adds the selector of its namespace to a Pod. Returns true if that changes the Pod.
    ///
    /// # Errors
    /// Returns the reason to refuse the Pod.
    pub fn admit(&self, pod: &mut Value, namespace: &Value, release: Release) -> Result<bool, Refused> {
        let selector = self.of_namespace(namespace, release)?;
        let own = labels_of(pod);
        if conflicts(&selector, &own) {
            return Err(Refused::Forbidden("pod node label selector conflicts with its namespace node label selector"));
        }
        let changes = selector.keys().any(|key| !own.contains_key(key));
        for (key, value) in &selector {
            pod.insert_at(&["spec", "nodeSelector", key], value.as_str().into());
        }
        self.validate(pod, namespace, release)?;
        Ok(changes)
    }

    /// Validates the selector of a Pod.
    ///
    /// # Errors
    /// Returns the reason to refuse the Pod.
    pub fn validate(&self, pod: &Value, namespace: &Value, release: Release) -> Result<(), Refused> {
        let own = labels_of(pod);
        if conflicts(&self.of_namespace(namespace, release)?, &own) {
            return Err(Refused::Forbidden("pod node label selector conflicts with its namespace node label selector"));
        }
        let name = namespace.str_at(&["metadata", "name"]).unwrap_or_default();
        let allowed = read(self.0.get(name).map_or("", String::as_str), release)?;
        if !allowed.is_empty() && own.iter().any(|(key, value)| allowed.get(key) != Some(value)) {
            return Err(Refused::Forbidden("pod node label selector labels conflict with its namespace whitelist"));
        }
        Ok(())
    }

    fn of_namespace(&self, namespace: &Value, release: Release) -> Result<Labels, GoError> {
        let annotation = namespace.str_at(&["metadata", "annotations", ANNOTATION]);
        read(annotation.or_else(|| self.0.get(DEFAULT).map(String::as_str)).unwrap_or_default(), release)
    }
}

fn labels_of(pod: &Value) -> Labels {
    let members = pod.at(&["spec", "nodeSelector"]).and_then(Value::as_object);
    let members = members.into_iter().flat_map(|members| members.iter());
    members.map(|(key, value)| (key.to_owned(), value.as_str().unwrap_or_default().to_owned())).collect()
}

fn conflicts(first: &Labels, second: &Labels) -> bool {
    first.iter().any(|(key, value)| second.get(key).is_some_and(|other| other != value))
}

/// `ConvertSelectorToLabelsMap`
fn read(selector: &str, release: Release) -> Result<Labels, GoError> {
    let mut labels = Labels::new();
    for label in selector.split(',').filter(|_| !selector.is_empty()) {
        let parts: Vec<&str> = label.split('=').collect();
        let [key, value] = parts.as_slice() else {
            return Err(format!("invalid selector: [{}]", parts.join(" ")).into());
        };
        let (key, value) = (key.trim(), value.trim());
        let invalid = |path: String, bad: &str, messages: Vec<String>| {
            format!("{path}: Invalid value: {}: {}", quote::go_quote(bad), messages.join("; "))
        };
        let of_key = names::qualified_name(key, release);
        if !of_key.is_empty() {
            return Err(invalid("<nil>".to_owned(), key, of_key).into());
        }
        let of_value = names::label_value(value, release);
        if !of_value.is_empty() {
            return Err(invalid(format!("[{key}]"), value, of_value).into());
        }
        labels.insert(key.to_owned(), value.to_owned());
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn admitted(config: &[(&str, &str)], annotations: &str, own: &str) -> Result<String, Refused> {
        let config = config.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let value = |text: String| json::read(text.as_bytes()).unwrap();
        let namespace = value(format!(r#"{{"metadata":{{"name":"n","annotations":{annotations}}}}}"#));
        let mut pod = value(format!(r#"{{"spec":{{"nodeSelector":{own}}}}}"#));
        NodeSelectors(config).admit(&mut pod, &namespace, Release::NEWEST)?;
        Ok(crdx_value::json::to_string(pod.at(&["spec", "nodeSelector"]).unwrap()))
    }

    #[test]
    fn the_selector_of_the_namespace_is_added() {
        let annotation = r#"{"scheduler.alpha.kubernetes.io/node-selector":"a=b"}"#;
        assert_eq!(admitted(&[], annotation, r#"{"c":"d"}"#).unwrap(), r#"{"a":"b","c":"d"}"#);
        assert_eq!(admitted(&[(DEFAULT, "e=f")], "{}", "{}").unwrap(), r#"{"e":"f"}"#);
        assert_eq!(admitted(&[(DEFAULT, "e=f")], annotation, "{}").unwrap(), r#"{"a":"b"}"#);
        let refused = admitted(&[], annotation, r#"{"a":"c"}"#).unwrap_err();
        assert_eq!(
            refused,
            Refused::Forbidden("pod node label selector conflicts with its namespace node label selector")
        );
    }

    #[test]
    fn a_namespace_limits_the_selectors() {
        assert_eq!(admitted(&[("n", "a=b,c=d")], "{}", r#"{"a":"b"}"#).unwrap(), r#"{"a":"b"}"#);
        let refused = admitted(&[("n", "a=b")], "{}", r#"{"c":"d"}"#).unwrap_err();
        assert_eq!(refused, Refused::Forbidden("pod node label selector labels conflict with its namespace whitelist"));
    }

    #[test]
    fn a_selector_that_cannot_be_read_is_an_error() {
        let error = |text: &str| match admitted(&[(DEFAULT, text)], "{}", "{}") {
            Err(Refused::Unreadable(error)) => error.to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(error("a=b=c"), "invalid selector: [a b c]");
        assert!(error("a b=c").starts_with("<nil>: Invalid value: \"a b\": name part must consist of"));
    }
}
