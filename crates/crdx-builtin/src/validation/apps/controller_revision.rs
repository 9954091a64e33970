//! `ControllerRevision`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crdx_value::Value;
use crdx_value::release::V1_31;

/// `ValidateControllerRevisionCreate` and `ValidateControllerRevisionUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    errors.nonnegative(&object.child("revision"));
    let data = object.child("data");
    if let Some(old) = old {
        // The server compares bytes, so that a null or an empty list is a change.
        if data.value != old.get("data").unwrap_or(&Value::Null) {
            errors.invalid_typed(&data, "runtime.RawExtension", immutable::IMMUTABLE);
        }
        return;
    }
    if !data.is_set() {
        errors.required(&data, "data is mandatory");
    } else if data.value.as_object().is_none() && errors.release.since(V1_31) {
        errors.required(&data, "data must be a valid JSON object");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn object(members: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},{members}}}"#)
    }

    #[test]
    fn a_revision_has_data_that_do_not_change() {
        let create = |members: &str| created("apps/v1", "ControllerRevision", &object(members), "1.37");
        assert_eq!(create(r#""revision":1,"data":{"a":1}"#), [""; 0]);
        assert_eq!(
            create(r#""revision":-1"#),
            [
                "revision: Invalid value: -1: must be greater than or equal to 0",
                "data: Required value: data is mandatory",
            ]
        );
        assert_eq!(create(r#""revision":1,"data":[]"#), ["data: Required value: data must be a valid JSON object"]);
        let update = |new: &str| {
            let old = object(r#""revision":1,"data":{"a":1}"#);
            updated("apps/v1", "ControllerRevision", &old, &object(new), "1.37")
        };
        assert_eq!(update(r#""revision":2,"data":{"a":1}"#), [""; 0]);
        for data in [r#"{"a":2}"#, r#"{"a":1,"b":null}"#, r#"{"a":1,"b":[]}"#] {
            let errors = update(&format!(r#""revision":2,"data":{data}"#));
            assert!(errors[0].ends_with(": field is immutable"), "{data}");
        }
    }

    #[test]
    fn data_are_an_object_since_1_31() {
        let create = |release| created("apps/v1", "ControllerRevision", &object(r#""data":"x""#), release);
        assert_eq!(create("1.30"), [""; 0]);
        assert_eq!(create("1.31"), ["data: Required value: data must be a valid JSON object"]);
    }

    #[test]
    fn changed_data_are_shown_as_bytes_before_1_34() {
        let update = |new: &str, release| {
            let old = object(r#""data":{"a":1}"#);
            updated("apps/v1", "ControllerRevision", &old, &object(new), release)
        };
        assert_eq!(
            update(r#""data":{}"#, "1.33"),
            [
                "data: Invalid value: runtime.RawExtension{Raw:[]uint8{0x7b, 0x7d}, Object:runtime.Object(nil)}: field is immutable"
            ]
        );
        assert_eq!(
            update(r#""revision":1"#, "1.33"),
            [
                "data: Invalid value: runtime.RawExtension{Raw:[]uint8(nil), Object:runtime.Object(nil)}: field is immutable"
            ]
        );
        assert_eq!(update(r#""data":{"b":1}"#, "1.34"), [r#"data: Invalid value: {"b":1}: field is immutable"#]);
    }
}
