//! CRDs whose objects keep the status that a create sends.

use crate::kubectl::request::{remove_cluster_state, remove_server_metadata};
use crdx_value::Value;

/// Returns the CRD without what a server writes, and without status subresources: a create and an update then keep
/// the status that is sent.
pub fn with_status_in_objects(mut definition: Value) -> Value {
    remove_cluster_state(&mut definition);
    remove_server_metadata(&mut definition);
    let versions = definition.get_mut("spec").and_then(|spec| spec.get_mut("versions"));
    if let Some(Value::Array(versions)) = versions {
        for version in versions {
            if let Some(subresources) = version.get_mut("subresources").and_then(Value::as_object_mut) {
                subresources.remove("status");
            }
        }
    }
    definition
}
