//! Devices of a `ResourceClaim` that are no longer allocated.

use crdx_value::Value;
use std::collections::HashSet;

/// The fields that identify a device or a share of it
const ID: [&str; 4] = ["driver", "pool", "device", "shareID"];

/// Drops the statuses of devices that the write deallocates (`dropDeallocatedStatusDevices`).
pub(super) fn drop_deallocated(new: &mut Value, old: &Value) {
    let mut deallocated = results(old);
    for device in results(new) {
        deallocated.remove(&device);
    }
    let Some(Value::Object(status)) = new.get_mut("status") else { return };
    let Some(Value::Array(devices)) = status.get_mut("devices") else { return };
    devices.retain(|device| !deallocated.contains(&id(device)));
    if devices.is_empty() {
        status.remove("devices");
    }
}

/// The devices that a claim allocates
fn results(claim: &Value) -> HashSet<[String; 4]> {
    let results = claim.at(&["status", "allocation", "devices", "results"]).and_then(Value::as_array);
    results.unwrap_or_default().iter().map(id).collect()
}

fn id(device: &Value) -> [String; 4] {
    ID.map(|name| device.str_at(&[name]).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn claim(results: &[&str], devices: &[&str]) -> Value {
        let list = |names: &[&str]| {
            let items = names.iter().map(|name| format!(r#"{{"driver":"d","pool":"p","device":"{name}"}}"#));
            items.collect::<Vec<_>>().join(",")
        };
        let (results, devices) = (list(results), list(devices));
        let text =
            format!(r#"{{"status":{{"allocation":{{"devices":{{"results":[{results}]}}}},"devices":[{devices}]}}}}"#);
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn devices_leave_with_their_allocation() {
        let mut new = claim(&["a"], &["a", "b", "c"]);
        drop_deallocated(&mut new, &claim(&["a", "b"], &[]));
        assert_eq!(new, claim(&["a"], &["a", "c"]), "the third one was never allocated");
        let mut last = claim(&[], &["b"]);
        drop_deallocated(&mut last, &claim(&["b"], &["b"]));
        assert_eq!(last.at(&["status", "devices"]), None);
    }
}
