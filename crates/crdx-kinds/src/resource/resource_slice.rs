//! `ResourceSlice`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::resource::device_taint_rule::default_time_added;
use crdx_server::server::{Behaviour, KindStrategy};
use crdx_value::Value;
use crdx_value::release::{Gate, Minor};
use crdx_value::time::Timestamp;

/// The strategy.
#[derive(Debug)]
pub(crate) struct ResourceSlice;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        returns_deleted: true,
        relaxes_prefix_since: Minor::ALWAYS,
        compares_before_preparation: true,
        ..Behaviour::GENERATION
    },
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for ResourceSlice {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    /// `SetDefaults_DeviceTaint`
    fn default_times(&self, object: &mut Value, now: Timestamp) {
        let devices = object.get_mut("spec").and_then(|spec| spec.get_mut("devices"));
        for device in devices.map(each).into_iter().flatten() {
            for taint in device.get_mut("taints").map(each).into_iter().flatten() {
                default_time_added(taint, now);
            }
        }
    }
}

/// The items of a list.
fn each(list: &mut Value) -> impl Iterator<Item = &mut Value> {
    let items = if let Value::Array(items) = list { Some(items) } else { None };
    items.into_iter().flatten()
}

const FEATURES: &[Feature] = &[
    feature(&[Gate::DRADeviceTaints], &[&["spec", "devices", "*", "taints"]]),
    feature(
        &[Gate::DRAPartitionableDevices],
        &[
            &["spec", "sharedCounters|perDeviceNodeSelection"],
            &["spec", "devices", "*", "consumesCounters|nodeName|nodeSelector|allNodes"],
        ],
    ),
    feature(
        &[Gate::DRADeviceBindingConditions],
        &[&["spec", "devices", "*", "bindingConditions|bindingFailureConditions|bindsToNode"]],
    ),
    feature(
        &[Gate::DRAConsumableCapacity],
        &[
            &["spec", "devices", "*", "allowMultipleAllocations"],
            &["spec", "devices", "*", "capacity", "*", "requestPolicy"],
        ],
    ),
    feature(
        &[Gate::DRADeviceCompatibilityGroups],
        &[&["spec", "devices", "*", "consumesCounters", "*", "compatibilityGroups"]],
    ),
    feature(&[Gate::DRANodeAllocatableResources], &[&["spec", "devices", "*", "nodeAllocatableResources"]]),
    // Only 1.36 has the field.
    feature(&[Gate::DRANodeAllocatableResources], &[&["spec", "devices", "*", "nodeAllocatableResourceMappings"]]),
    feature(
        &[Gate::DRAListTypeAttributes],
        &[&["spec", "devices", "*", "attributes", "*", "bools|ints|strings|versions"]],
    ),
    feature(&[Gate::DRAPartitionableDevicesType], &[&["spec", "partitionTypeAttribute"]]),
    feature(&[Gate::DRAOptionalNodeOperations], &[&["spec", "skipNodeOperations"]]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn the_mappings_of_a_device_are_dropped() {
        let given = br#"{"spec":{"devices":[{"name":"d","nodeAllocatableResourceMappings":{"cpu":{}}}]}}"#;
        let mut slice = read(given).unwrap();
        FACTS.features.drop_disabled(&mut slice, None, "1.36".parse().unwrap());
        assert_eq!(slice, read(br#"{"spec":{"devices":[{"name":"d"}]}}"#).unwrap());
    }
}
