//! `PriorityLevelConfiguration`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::flowcontrol::{conditions, is_fixed};
use crdx_value::Value;
use crdx_value::release::{V1_34, V1_37};

const MAX_QUEUES: i64 = 10_000_000;
/// The bits of a hash value that shuffle sharding may use.
const MAX_HASH_BITS: i64 = 60;
const PRESERVES_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const CATCH_ALL_LEVEL: &str = r#"{"type":"Limited","limited":{"nominalConcurrencyShares":5,"lendablePercent":0,
    "limitResponse":{"type":"Reject"}}}"#;

/// `ValidatePriorityLevelConfiguration`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    let name = metadata.child("name");
    let annotations = metadata.child("annotations");
    // An older version has the annotation, and its conversion removes it.
    let is_current = object.child("apiVersion").text() != "flowcontrol.apiserver.k8s.io/v1beta3";
    if is_current && annotations.value.get(PRESERVES_ZERO).is_some() {
        errors.forbidden(&annotations, &format!("annotation '{PRESERVES_ZERO}' is forbidden"));
    }
    level_spec(errors, &spec, name.text());
    let is_exempt = || spec.child("type").text() == "Exempt" && !spec.child("limited").is_set();
    match name.text() {
        // The field `exempt` may have any value.
        "exempt" if !is_exempt() => {
            let detail = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value";
            errors.invalid_typed(&spec, "flowcontrol.PriorityLevelConfigurationSpec", detail);
        }
        "catch-all" if !is_fixed(spec.value, CATCH_ALL_LEVEL) => {
            let detail = "spec of 'catch-all' must equal the fixed value";
            errors.invalid_typed(&spec, "flowcontrol.PriorityLevelConfigurationSpec", detail);
        }
        _ => {}
    }
    conditions(errors, object);
}

/// The detail of an error about a field of a union. Since 1.37, the rules are declared in the types, whose errors have none.
fn union_detail(errors: &Errors, detail: &'static str) -> &'static str {
    if errors.release.since(V1_37) { "" } else { detail }
}

/// `ValidatePriorityLevelConfigurationSpec`
fn level_spec(errors: &mut Errors, spec: &FieldValue<'_, '_>, name: &str) {
    let (type_, limited, exempt) = (spec.child("type"), spec.child("limited"), spec.child("exempt"));
    if (name == "exempt") != (type_.text() == "Exempt") {
        let detail = if errors.release.since(V1_34) {
            "must be 'Exempt' if and only if `name` is 'exempt'"
        } else {
            "type must be 'Exempt' if and only if name is 'exempt'"
        };
        errors.invalid_value(&type_.path, type_.text(), detail);
    }
    match type_.text() {
        "Exempt" => {
            let detail = union_detail(errors, "must be nil if the type is not Limited");
            errors.forbid_if_set(&limited, detail);
            shares(errors, &exempt);
        }
        "Limited" => {
            let detail = union_detail(errors, "must be nil if the type is Limited");
            errors.forbid_if_set(&exempt, detail);
            if limited.is_set() {
                limited_level(errors, &limited);
            } else {
                let detail = union_detail(errors, "must not be empty when type is Limited");
                errors.required(&limited, detail);
            }
        }
        _ => {
            enumeration(errors, &type_, &["Exempt", "Limited"]);
            if errors.release.since(V1_37) {
                errors.forbid_if_set(&exempt, "");
                errors.forbid_if_set(&limited, "");
            }
        }
    }
    // The declared rules apply to a forbidden field, too.
    if errors.release.since(V1_37) && type_.text() != "Limited" && limited.is_set() {
        declared_response(errors, &limited.child("limitResponse"));
    }
}

/// A value from a list; since 1.37, an empty one is missing.
fn enumeration(errors: &mut Errors, field: &FieldValue<'_, '_>, values: &[&str]) {
    if field.text().is_empty() && errors.release.since(V1_37) {
        errors.required(field, "");
    } else {
        errors.not_supported(field, values);
    }
}

/// `ValidateExemptPriorityLevelConfiguration`
fn shares(errors: &mut Errors, level: &FieldValue<'_, '_>) {
    let (shares, lendable) = (level.child("nominalConcurrencyShares"), level.child("lendablePercent"));
    if shares.int().is_some_and(|shares| shares < 0) {
        errors.invalid(&shares, "must be a non-negative integer");
    }
    if lendable.int().is_some_and(|percent| !(0..=100).contains(&percent)) {
        errors.invalid(&lendable, "must be between 0 and 100, inclusive");
    }
}

/// `ValidateLimitedPriorityLevelConfiguration`
fn limited_level(errors: &mut Errors, level: &FieldValue<'_, '_>) {
    shares(errors, level);
    let borrowing = level.child("borrowingLimitPercent");
    if borrowing.int().is_some_and(|percent| percent < 0) {
        errors.invalid(&borrowing, "if specified, must be a non-negative integer");
    }
    limit_response(errors, &level.child("limitResponse"));
}

/// `ValidateLimitResponse`
fn limit_response(errors: &mut Errors, response: &FieldValue<'_, '_>) {
    let (type_, queuing) = (response.child("type"), response.child("queuing"));
    match type_.text() {
        "Queue" if queuing.is_set() => validate_queuing(errors, &queuing),
        "Reject" | "Queue" => {}
        _ if type_.text().is_empty() && errors.release.since(V1_37) => {}
        _ => errors.not_supported(&type_, &["Queue", "Reject"]),
    }
    if errors.release.since(V1_37) {
        return declared_response(errors, response);
    }
    match type_.text() {
        "Reject" => errors.forbid_if_set(&queuing, "must be nil if limited.limitResponse.type is not Limited"),
        "Queue" if !queuing.is_set() => {
            errors.required(&queuing, "must not be empty if limited.limitResponse.type is Limited");
        }
        _ => {}
    }
}

/// The rules about a response that its type declares (`Validate_LimitResponse`).
fn declared_response(errors: &mut Errors, response: &FieldValue<'_, '_>) {
    let (type_, queuing) = (response.child("type"), response.child("queuing"));
    match type_.text() {
        "Queue" if !queuing.is_set() => errors.required(&queuing, ""),
        "Queue" => {}
        _ => errors.forbid_if_set(&queuing, ""),
    }
    errors.require_text(&type_);
}

/// `ValidatePriorityLevelQueuingConfiguration`
fn validate_queuing(errors: &mut Errors, queuing: &FieldValue<'_, '_>) {
    let (queues, hand) = (queuing.child("queues"), queuing.child("handSize"));
    for field in [&queuing.child("queueLengthLimit"), &queues, &hand] {
        let value = field.int().unwrap_or_default();
        if value <= 0 {
            errors.invalid_value(&field.path, value, "must be positive");
        }
    }
    let (deck, cards) = (queues.int().unwrap_or_default(), hand.int().unwrap_or_default());
    if deck > MAX_QUEUES {
        errors.invalid(&queues, format!("must not be greater than {MAX_QUEUES}"));
    }
    if cards <= 0 {
        return;
    }
    if cards > deck {
        return errors.invalid(&hand, format!("should not be greater than queues ({deck})"));
    }
    // `RequiredEntropyBits`
    let bits = ((deck as f64).log2() * cards as f64).ceil() as i64;
    if bits > MAX_HASH_BITS {
        let detail = format!(
            "required entropy bits of deckSize {deck} and handSize {cards} should not be greater than {MAX_HASH_BITS}"
        );
        errors.invalid(&hand, detail);
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    fn level(name: &str, spec: &str, release: &str) -> Vec<String> {
        let object = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#);
        created("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", &object, release)
    }

    #[test]
    fn a_level_is_limited_or_exempt() {
        let limited = r#"{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}"#;
        assert_eq!(level("a", limited, "1.37"), [""; 0]);
        assert_eq!(
            level("a", r#"{"type":"Limited","exempt":{}}"#, "1.37"),
            ["spec.exempt: Forbidden", "spec.limited: Required value",]
        );
        assert_eq!(
            level("a", r#"{"type":"Limited","exempt":{}}"#, "1.36"),
            [
                "spec.exempt: Forbidden: must be nil if the type is Limited",
                "spec.limited: Required value: must not be empty when type is Limited",
            ]
        );
        assert_eq!(level("a", "{}", "1.37"), ["spec.type: Required value"]);
        assert_eq!(
            level("a", "{}", "1.36"),
            [r#"spec.type: Unsupported value: "": supported values: "Exempt", "Limited""#]
        );
        assert_eq!(
            level("a", r#"{"type":"Exempt"}"#, "1.33"),
            [r#"spec.type: Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'"#]
        );
    }

    #[test]
    fn the_levels_of_the_server_have_a_fixed_specification() {
        assert_eq!(level("catch-all", super::CATCH_ALL_LEVEL, "1.37"), [""; 0]);
        assert_eq!(level("exempt", r#"{"type":"Exempt","exempt":{"nominalConcurrencyShares":7}}"#, "1.37"), [""; 0]);
    }

    #[test]
    fn the_annotation_of_an_older_version_is_forbidden() {
        let object = r#"{"metadata":{"name":"a","annotations":{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":""}},
            "spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}"#;
        let found = created("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", object, "1.31");
        assert_eq!(
            found,
            [
                "metadata.annotations: Forbidden: annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden"
            ]
        );
    }

    #[test]
    fn queues_and_hands_are_bounded() {
        let response = |response: &str| {
            let spec = format!(
                r#"{{"type":"Limited","limited":{{"lendablePercent":101,"borrowingLimitPercent":-1,"limitResponse":{response}}}}}"#
            );
            let found = level("a", &spec, "1.37");
            assert!(
                found[0].starts_with("spec.limited.lendablePercent: Invalid value: 101: must be between"),
                "{found:?}"
            );
            assert!(found[1].ends_with("-1: if specified, must be a non-negative integer"), "{found:?}");
            found[2..]
                .iter()
                .map(|error| error.trim_start_matches("spec.limited.limitResponse.").to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(response(r#"{"type":"Queue","queuing":{"queues":64,"handSize":8,"queueLengthLimit":50}}"#), [""; 0]);
        assert_eq!(response(r#"{"type":"Queue"}"#), ["queuing: Required value"]);
        assert_eq!(response(r#"{"type":"Reject","queuing":{}}"#), ["queuing: Forbidden"]);
        assert_eq!(
            response(r#"{"type":"Queue","queuing":{"queues":10000001,"handSize":6,"queueLengthLimit":-1}}"#),
            [
                "queuing.queueLengthLimit: Invalid value: -1: must be positive",
                "queuing.queues: Invalid value: 10000001: must not be greater than 10000000",
                "queuing.handSize: Invalid value: 6: required entropy bits of deckSize 10000001 and handSize 6 should not be greater than 60",
            ]
        );
        assert_eq!(
            response(r#"{"type":"Queue","queuing":{"queues":4,"handSize":6,"queueLengthLimit":1}}"#),
            ["queuing.handSize: Invalid value: 6: should not be greater than queues (4)"]
        );
    }
}
