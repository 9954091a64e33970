//! A CRD with one version only, in which no object is converted.

use crdx_value::Value;

/// Returns the CRD with `version` only, served and stored. `None` if it has no such version.
pub fn single_version(mut crd: Value, version: &str) -> Option<Value> {
    let Some(Value::Array(versions)) = crd.get_mut("spec").and_then(|spec| spec.get_mut("versions")) else {
        return None;
    };
    versions.retain(|one| one.str_at(&["name"]) == Some(version));
    for one in &mut *versions {
        if let Some(members) = one.as_object_mut() {
            members.insert("served".to_owned(), true.into());
            members.insert("storage".to_owned(), true.into());
        }
    }
    let is_empty = versions.is_empty();
    (!is_empty).then_some(crd)
}
