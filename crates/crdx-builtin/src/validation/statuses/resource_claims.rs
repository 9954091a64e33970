//! Statuses of `ResourceClaim`s (`pkg/apis/resource/validation`), which servers store by default since 1.34. Fields that a
//! release does not know are dropped before.

mod ids;

use super::conditions;
use crate::validation::core::pod_spec::affinity;
use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource;
use crate::validation::resource::names::{declared_pool_name, keys, pool_name, qualified_name};
use crate::validation::resource::resource_claim::RequestNames;
use crate::validation::resource::resource_slice::{MAX_KEY, binding_conditions};
use crate::validation::resource::{AlreadyStored, fits, resource_claim};
use crate::validation::selectors::LabelValues;
use crate::validation::{driver_names, formats, immutable, network, versioned};
use crdx_value::field::{BadValue, FieldError};
use crdx_value::release::{V1_35, V1_37, V1_38};
use ids::DeviceId;
use std::collections::HashSet;

const MAX_CONSUMERS: usize = 256;
const MAX_RESULTS: usize = 32;
/// The configurations of the classes and of the claim
const MAX_CONFIGURATIONS: usize = 64;
const MAX_CONDITIONS: usize = 8;
const MAX_INTERFACE_NAME: usize = 256;
const MAX_HARDWARE_ADDRESS: usize = 128;
const MAX_ADDRESSES: usize = 16;
const ALLOCATION: &str = "*resource.AllocationResult";

/// `ValidateResourceClaimStatusUpdate`
pub(super) fn claim(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (status, old_status) = (object.child("status"), old.child("status"));
    let (allocation, old_allocation) = (status.child("allocation"), old_status.child("allocation"));
    let is_deleted = object.child("metadata").child("deletionTimestamp").is_set();
    consumers(errors, &status.child("reservedFor"));
    allocated_devices(errors, &status);
    reservations(errors, &status, &old_status, is_deleted);
    if !allocation.is_set() {
        return;
    }
    if !old_allocation.is_set() {
        let names = resource_claim::request_names(&object.child("spec").child("devices").child("requests"));
        return allocation_result(errors, &allocation, &names);
    }
    if immutable::is_equal(allocation.value, old_allocation.value) {
        return;
    }
    // Since 1.37, the type declares the rule.
    if errors.release.since(V1_37) {
        let null = BadValue::Raw("null".to_owned());
        errors.invalid_value(&allocation.path, null, "field cannot be modified once set");
    } else {
        errors.invalid_typed(&allocation, ALLOCATION, immutable::IMMUTABLE);
    }
}

/// `validateResourceClaimUserReference` for each consumer
fn consumers(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    if fits(errors, list, MAX_CONSUMERS) {
        for consumer in list.items() {
            for name in ["resource", "name", "uid"] {
                errors.require_text(&consumer.child(name));
            }
        }
        resource::unique(errors, list, ("uid", "resource/v1.ResourceClaimConsumerReference"));
    }
}

/// Consumers need an allocation, and none are added to a claim that is deleted.
fn reservations(errors: &mut Errors, status: &FieldValue<'_, '_>, old_status: &FieldValue<'_, '_>, is_deleted: bool) {
    let (list, old) = (status.child("reservedFor"), old_status.child("reservedFor"));
    if list.len() == 0 {
        return;
    }
    let is_new = |one: FieldValue<'_, '_>| !old.items().any(|old| immutable::is_equal(old.value, one.value));
    if !status.child("allocation").is_set() {
        errors.forbidden(&list, "may not be specified when `allocated` is not set");
    } else if is_deleted && list.items().any(is_new) {
        let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        errors.forbidden(&list, detail);
    }
}

/// `validateAllocationResult`, for a new result
fn allocation_result(errors: &mut Errors, allocation: &FieldValue<'_, '_>, names: &RequestNames<'_>) {
    let devices = allocation.child("devices");
    let (results, configurations) = (devices.child("results"), devices.child("config"));
    if fits(errors, &results, MAX_RESULTS) {
        for result in results.items() {
            request_result(errors, &result, names);
        }
    }
    if fits(errors, &configurations, MAX_CONFIGURATIONS) {
        for configuration in configurations.items() {
            errors.one_of(&configuration.child("source"), &["FromClaim", "FromClass"]);
            resource_claim::references(errors, &configuration.child("requests"), names);
            resource::opaque(errors, &configuration, AlreadyStored::No);
        }
    }
    let selector = allocation.child("nodeSelector");
    if selector.is_set() {
        affinity::node_selector(errors, &selector, LabelValues::Validate);
    }
}

/// `validateDeviceRequestAllocationResult`
fn request_result(errors: &mut Errors, result: &FieldValue<'_, '_>, names: &RequestNames<'_>) {
    resource_claim::reference(errors, &result.child("request"), names);
    driver_names::declared(errors, &result.child("driver"));
    declared_pool_name(errors, &result.child("pool"));
    formats::label(errors, &result.child("device"));
    binding_conditions(errors, result);
    if errors.release.since(V1_37) {
        for toleration in result.child("tolerations").items() {
            resource_claim::validate_toleration(errors, &toleration);
        }
    }
    ids::share(errors, &result.child("shareID"));
    let consumed = result.child("consumedCapacity");
    if errors.release.since(V1_38) {
        keys(errors, &consumed, MAX_KEY, qualified_name);
        if fits(errors, &consumed, MAX_RESULTS) {
            for (_, quantity) in consumed.entries() {
                resources::nonnegative_quantity(errors, &quantity);
            }
        }
    }
}

/// The devices that their drivers report
fn allocated_devices(errors: &mut Errors, status: &FieldValue<'_, '_>) {
    let allocation = status.child("allocation");
    let allocated_to = allocation.child("devices");
    let results = allocated_to.child("results");
    let allocated: HashSet<DeviceId<'_>> = results.items().map(|result| DeviceId::new(result.value)).collect();
    let list = status.child("devices");
    for device in list.items() {
        device_status(errors, &device, &allocated);
    }
    let mut seen = HashSet::new();
    for device in list.items() {
        let id = DeviceId::new(device.value);
        if seen.insert(id) {
            continue;
        }
        // Since 1.37, the type declares the rule; its errors show the item.
        let shown = if errors.release.since(V1_37) {
            versioned::bad_value("resource/v1.AllocatedDeviceStatus", device.value, errors.release)
        } else {
            BadValue::Raw(id.shown(errors.release))
        };
        let path = if errors.release.since(V1_35) { device.path } else { device.path.child("deviceID") };
        errors.list.push(FieldError::duplicate(&path, shown));
    }
}

/// `validateDeviceStatus`
fn device_status(errors: &mut Errors, device: &FieldValue<'_, '_>, allocated: &HashSet<DeviceId<'_>>) {
    driver_names::validate(errors, &device.child("driver"));
    pool_name(errors, &device.child("pool"));
    formats::label(errors, &device.child("device"));
    ids::share(errors, &device.child("shareID"));
    let id = DeviceId::new(device.value);
    if !allocated.contains(&id) {
        errors.invalid_value(
            &device.path,
            BadValue::Raw(id.shown(errors.release)),
            "must be an allocated device in the claim",
        );
    }
    let (conditions, data) = (device.child("conditions"), device.child("data"));
    if conditions.len() > MAX_CONDITIONS {
        errors.too_many(&conditions, conditions.len(), MAX_CONDITIONS as i64);
    }
    conditions::conditions(errors, &conditions);
    if data.is_set() {
        resource::any_object(errors, &data, AlreadyStored::No);
    }
    network_data(errors, &device.child("networkData"));
}

/// `validateNetworkDeviceData`
fn network_data(errors: &mut Errors, data: &FieldValue<'_, '_>) {
    for (name, max) in [("interfaceName", MAX_INTERFACE_NAME), ("hardwareAddress", MAX_HARDWARE_ADDRESS)] {
        let field = data.child(name);
        if field.text().len() > max {
            errors.too_long(&field, max as i64);
        }
    }
    let addresses = data.child("ips");
    if fits(errors, &addresses, MAX_ADDRESSES) {
        for address in addresses.items() {
            network::interface_address(errors, &address);
        }
        resource::unique(errors, &addresses, resource::TEXTS);
    }
}

#[cfg(test)]
mod tests;
