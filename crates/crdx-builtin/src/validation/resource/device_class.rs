//! `DeviceClass`es.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crate::validation::resource::names::extended_resource_name;
use crate::validation::resource::{AlreadyStored, MAX_LIST, fits, opaque, selectors};
use crdx_value::Value;
use crdx_value::field::ROOT;

/// `ValidateDeviceClass` and `ValidateDeviceClassUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let old = FieldValue::new(old.and_then(|old| old.get("spec")), ROOT);
    let stored = |name: &str| {
        let is_same = old.is_set() && immutable::is_equal(spec.child(name).value, old.child(name).value);
        if is_same { AlreadyStored::Yes } else { AlreadyStored::No }
    };
    selectors::validate(errors, &spec.child("selectors"), stored("selectors"));
    let configurations = spec.child("config");
    if fits(errors, &configurations, MAX_LIST) {
        for configuration in configurations.items() {
            opaque(errors, &configuration, stored("config"));
        }
    }
    let name = spec.child("extendedResourceName");
    if name.is_set() {
        extended_resource_name(errors, &name);
    }
}
