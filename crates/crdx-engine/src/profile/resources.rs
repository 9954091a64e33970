//! The objects of a profile, and what it has of each: nothing secret, no address, and nothing that changes without an effect on
//! verdicts.

use crdx_value::{Map, Value, object};

/// A resource whose objects a profile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedResource {
    pub group: &'static str,
    pub plural: &'static str,
    /// The folder of its files.
    pub folder: &'static str,
    /// True if each object has a file of its own.
    pub is_separate: bool,
    /// True if it is saved only if asked for.
    pub is_optional: bool,
}

const ADMISSION: &str = "admissionregistration.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The placeholder for the Service or the URL of a webhook.
const WITHHELD: &str = "withheld";
const WITHHELD_URL: &str = "https://withheld.invalid";

const fn separate(group: &'static str, plural: &'static str, folder: &'static str) -> SavedResource {
    SavedResource { group, plural, folder, is_separate: true, is_optional: false }
}

const fn together(group: &'static str, plural: &'static str) -> SavedResource {
    SavedResource { group, plural, folder: "cluster", is_separate: false, is_optional: false }
}

const fn permissions(plural: &'static str) -> SavedResource {
    SavedResource { group: RBAC, plural, folder: "rbac", is_separate: false, is_optional: true }
}

impl SavedResource {
    /// All of them, in the order in which they are read.
    pub const ALL: [Self; 22] = [
        separate("apiextensions.k8s.io", "customresourcedefinitions", "crds"),
        separate(ADMISSION, "mutatingadmissionpolicies", "policies"),
        separate(ADMISSION, "mutatingadmissionpolicybindings", "policies"),
        separate(ADMISSION, "validatingadmissionpolicies", "policies"),
        separate(ADMISSION, "validatingadmissionpolicybindings", "policies"),
        separate(ADMISSION, "mutatingwebhookconfigurations", "webhooks"),
        separate(ADMISSION, "validatingwebhookconfigurations", "webhooks"),
        together("", "namespaces"),
        together("", "limitranges"),
        together("", "resourcequotas"),
        together("", "serviceaccounts"),
        together("networking.k8s.io", "ingressclasses"),
        together("networking.k8s.io", "servicecidrs"),
        together("node.k8s.io", "runtimeclasses"),
        together("resource.k8s.io", "deviceclasses"),
        together("scheduling.k8s.io", "priorityclasses"),
        together("storage.k8s.io", "storageclasses"),
        together("storage.k8s.io", "volumeattributesclasses"),
        permissions("clusterroles"),
        permissions("clusterrolebindings"),
        permissions("roles"),
        permissions("rolebindings"),
    ];

    /// The resource of a group, if a profile has it.
    pub fn find(group: &str, plural: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.group == group && own.plural == plural)
    }

    /// The plural name with the group.
    pub fn qualified(self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }
}

/// Returns what a profile has of a param of policies: everything that they can read, except fields that the server generates.
pub fn saved_param(mut object: Value) -> Value {
    let metadata = object.get_mut("metadata").map(std::mem::take).unwrap_or_default();
    object.insert_at(&["metadata"], saved_metadata(&metadata));
    object
}

/// Returns what a profile has of an object.
pub fn saved_form(resource: SavedResource, mut object: Value) -> Value {
    let metadata = object.get_mut("metadata").map(std::mem::take).unwrap_or_default();
    if resource.plural == "serviceaccounts" {
        let kept = ["name", "namespace"].map(|key| (key, metadata.get(key).cloned().unwrap_or_default()));
        return crdx_value::object([
            ("apiVersion", Value::from("v1")),
            ("kind", "ServiceAccount".into()),
            ("metadata", crdx_value::object(kept)),
        ]);
    }
    object.insert_at(&["metadata"], saved_metadata(&metadata));
    let status = object.get_mut("status").map(std::mem::take).unwrap_or_default();
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    let kept: Map = kept_status(resource.plural)
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), status.get(key).filter(|value| !value.is_null())?.clone())))
        .collect();
    if !kept.is_empty() {
        object.insert_at(&["status"], Value::Object(kept));
    }
    if let Some(Value::Array(webhooks)) = object.get_mut("webhooks") {
        webhooks.iter_mut().for_each(withhold_address);
    }
    if let Some(webhook) = object
        .get_mut("spec")
        .and_then(|spec| spec.get_mut("conversion"))
        .and_then(|conversion| conversion.get_mut("webhook"))
    {
        withhold_address(webhook);
    }
    object
}

/// The members of the status on which answers depend.
fn kept_status(plural: &str) -> &'static [&'static str] {
    match plural {
        "customresourcedefinitions" => &["storedVersions"],
        "namespaces" => &["phase"],
        "resourcequotas" => &["hard", "used"],
        _ => &[],
    }
}

fn saved_metadata(metadata: &Value) -> Value {
    let kept = ["name", "namespace", "labels", "annotations", "deletionTimestamp"];
    let kept = kept.into_iter().filter_map(|key| Some((key, metadata.get(key)?.clone())));
    let mut kept = object(kept.filter(|(_, value)| !value.is_null()));
    if let Some(annotations) = kept.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
        if annotations.is_empty()
            && let Some(members) = kept.as_object_mut()
        {
            members.remove("annotations");
        }
    }
    kept
}

/// Replaces the client configuration of a webhook by whether it is a Service or a URL.
fn withhold_address(webhook: &mut Value) {
    let Some(config) = webhook.get("clientConfig") else { return };
    let is_url = config.str_at(&["url"]).is_some();
    let kept = if is_url {
        object([("url", Value::from(WITHHELD_URL))])
    } else {
        object([("service", object([("name", WITHHELD), ("namespace", WITHHELD)]))])
    };
    webhook.insert_at(&["clientConfig"], kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_value::json;

    fn saved(group: &str, plural: &str, object: &str) -> String {
        json::to_string(&saved_form(SavedResource::find(group, plural).unwrap(), read(object.as_bytes()).unwrap()))
    }

    #[test]
    fn nothing_that_is_secret_is_saved() {
        let account = r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a","namespace":"n","annotations":{"x":"canary"}},
            "secrets":[{"name":"canary"}],"imagePullSecrets":[{"name":"canary"}]}"#;
        let text = saved("", "serviceaccounts", account);
        assert_eq!(text, r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a","namespace":"n"}}"#);
        let namespace = r#"{"metadata":{"name":"a","uid":"canary","managedFields":[{"manager":"canary"}],"resourceVersion":"7",
            "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"canary"}},"status":{"phase":"Active","conditions":["canary"]}}"#;
        assert_eq!(saved("", "namespaces", namespace), r#"{"metadata":{"name":"a"},"status":{"phase":"Active"}}"#);
    }

    #[test]
    fn a_webhook_has_no_address() {
        let webhooks = r#"{"metadata":{"name":"w"},"webhooks":[{"name":"a","clientConfig":{"url":"https://canary","caBundle":"canary"}},
            {"name":"b","clientConfig":{"service":{"name":"canary","namespace":"canary","path":"/canary"},"caBundle":"canary"}}]}"#;
        let text = saved("admissionregistration.k8s.io", "validatingwebhookconfigurations", webhooks);
        assert!(!text.contains("canary") && text.contains(WITHHELD_URL) && text.contains("service"), "{text}");
        let crd = r#"{"metadata":{"name":"c"},"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"canary"},"caBundle":"canary"}}}},
            "status":{"storedVersions":["v1"],"acceptedNames":{"kind":"canary"}}}"#;
        let text = saved("apiextensions.k8s.io", "customresourcedefinitions", crd);
        assert!(!text.contains("canary") && text.contains(r#""storedVersions":["v1"]"#), "{text}");
    }
}
