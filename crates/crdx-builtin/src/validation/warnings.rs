//! Warnings about objects of built-in kinds (`WarningsOnCreate` and `WarningsOnUpdate` of the strategies in `pkg/registry`).
//!
//! The server reports the entries of a map in random order; these warnings are in the order of the keys.

mod addresses;
mod app_armor;
mod node_labels;
mod objects;
mod overlaps;
mod pods;
mod ports;
mod removed_plugins;
mod secrets;
mod statuses;
mod workloads;

use crate::validation::field_value::FieldValue;
use crdx_cel::value::Quantity;
use crdx_value::Value;
use crdx_value::field::{FieldPath, ROOT, names};
use crdx_value::quote::go_quote;
use crdx_value::release::{Release, V1_38};
use std::fmt::Display;

pub use app_armor::app_armor_warnings;
pub use statuses::status_warnings;

/// The number of characters that a response has of all warnings (`filters/warning.go`), and so the largest number of warnings.
const MAX_WARNINGS: usize = 4096;

/// Collects the warnings about one object.
#[derive(Debug)]
struct Warnings {
    release: Release,
    list: Vec<String>,
}

impl Warnings {
    /// Adds a warning about the field at a path.
    fn at(&mut self, path: &FieldPath<'_>, text: impl Display) {
        self.add(format!("{path}: {text}"));
    }

    /// Adds a warning that names no field.
    fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        // A response has every text once.
        if !self.is_full() && self.list.last() != Some(&text) {
            self.list.push(text);
        }
    }

    /// Returns true if no response shows another warning.
    fn is_full(&self) -> bool {
        self.list.len() > MAX_WARNINGS
    }

    /// Warns about an annotation, if the object or template has it.
    fn annotation(&mut self, metadata: &FieldValue<'_, '_>, key: &str, text: &str) {
        let annotations = metadata.child("annotations");
        if annotations.value.get(key).is_some() {
            self.at(&annotations.path.key(key), text);
        }
    }

    /// Warns about a name that is no DNS label.
    fn name(&mut self, object: &FieldValue<'_, '_>, used: &str) {
        let name = object.value.str_at(&["metadata", "name"]).unwrap_or_default();
        let messages = names::dns1123_label(name.as_bytes());
        if !messages.is_empty() {
            let messages = messages.join(" ");
            self.add(format!(
                "metadata.name: {used}, which can result in surprising behavior; a DNS label is recommended: [{messages}]"
            ));
        }
    }

    /// `GetWarningsForPersistentVolumeClaimSpec`
    fn claim_amounts(&mut self, spec: &FieldValue<'_, '_>) {
        let resources = spec.child("resources");
        for amounts in ["requests", "limits"].map(|list| resources.child(list)) {
            self.fractional(&amounts, "storage");
        }
    }

    /// Warns about an amount of bytes that is no integer.
    fn fractional(&mut self, amounts: &FieldValue<'_, '_>, name: &str) {
        let amount = FieldValue::new(amounts.value.get(name), amounts.path.key(name));
        // Before 1.38, smaller fractions are rounded up, and thousandths that do not fit in 64 bits wrap.
        let is_fractional = |quantity: &Quantity| match self.release.since(V1_38) {
            true => !quantity.is_whole(),
            false => quantity.milli_value() % 1000 != 0,
        };
        if amount.quantity(self.release).as_ref().is_some_and(is_fractional) {
            let text = format!("fractional byte value {} is invalid, must be an integer", go_quote(amount.text()));
            self.at(&amount.path, text);
        }
    }
}

/// Returns the warnings about an object, as its Go type encodes it; `old` is the existing object of an update.
pub fn warnings((group, kind): (&str, &str), object: &Value, old: Option<&Value>, release: Release) -> Vec<String> {
    let mut warnings = Warnings { release, list: Vec::new() };
    let root = FieldValue::new(Some(object), ROOT);
    let collect: fn(&mut Warnings, &FieldValue<'_, '_>, Option<&Value>) = match (group, kind) {
        ("", "Pod") => pods::pod,
        ("", "PodTemplate") => workloads::pod_template,
        ("apps", "Deployment" | "ReplicaSet") => workloads::named_workload,
        ("", "ReplicationController") => workloads::replication_controller,
        ("apps", "DaemonSet") => workloads::daemon_set,
        ("apps", "StatefulSet") => workloads::stateful_set,
        ("batch", "Job") => workloads::job,
        ("batch", "CronJob") => workloads::cron_job,
        ("", "Endpoints") => addresses::endpoints,
        ("", "Node") => objects::node,
        ("", "PersistentVolume") => objects::persistent_volume,
        ("", "PersistentVolumeClaim") => objects::persistent_volume_claim,
        ("", "ResourceQuota") => objects::resource_quota,
        ("", "Secret") => secrets::secret,
        ("", "Service") => objects::service,
        ("", "ServiceAccount") => objects::service_account,
        ("discovery.k8s.io", "EndpointSlice") => addresses::endpoint_slice,
        ("networking.k8s.io", "Ingress") => objects::ingress,
        ("networking.k8s.io", "NetworkPolicy") => addresses::network_policy,
        ("node.k8s.io", "RuntimeClass") => node_labels::runtime_class,
        ("resource.k8s.io", "DeviceTaintRule") => objects::device_taint_rule,
        ("resource.k8s.io", "ResourceSlice") => objects::resource_slice,
        ("storage.k8s.io", "CSIDriver") => objects::csi_driver,
        ("storage.k8s.io", "CSIStorageCapacity") => node_labels::storage_capacity,
        ("storage.k8s.io", "StorageClass") => node_labels::storage_class,
        _ => return Vec::new(),
    };
    collect(&mut warnings, &root, old);
    warnings.list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    /// The warnings about a new object in JSON.
    pub fn created(group: &str, kind: &str, object: &str, release: &str) -> Vec<String> {
        let object = json::read(object.as_bytes()).unwrap();
        warnings((group, kind), &object, None, release.parse().unwrap())
    }

    #[test]
    fn amounts_of_bytes_are_integers() {
        let claim = |amount: &str| {
            let object = format!(r#"{{"spec":{{"resources":{{"requests":{{"storage":"{amount}"}}}}}}}}"#);
            created("", "PersistentVolumeClaim", &object, "1.37")
        };
        assert_eq!(
            claim("1500m"),
            [r#"spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer"#]
        );
        assert_eq!(claim("1Gi"), [""; 0]);
        assert_eq!(claim("999999u"), [""; 0], "rounded up");
        assert_eq!(claim("1u").len(), 1);
    }
}
