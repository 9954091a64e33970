//! Nodes (`ValidateNode` and `ValidateNodeUpdate` in `pkg/apis/core/validation`).

use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable, network};
use crdx_text::json;
use crdx_value::GoError;
use crdx_value::field::{
    BadValue, ErrorType, FieldError, ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{V1_33, V1_34, V1_35, V1_37, V1_38};
use crdx_value::{Value, json as write};
use std::collections::{BTreeMap, HashSet};

const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOID_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];
const ONE_PER_FAMILY: &str = "may specify no more than one CIDR for each IP family";
const CIDR_IS_FIXED: &str = "node updates may not change podCIDR except from \"\" to valid";

/// `ValidateNode`, and for updates `ValidateNodeUpdate`, too
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (metadata, spec, status) = (object.child("metadata"), object.child("spec"), object.child("status"));
    let checks = if old.is_some() { 2 } else { 1 };
    for _ in 0..checks {
        always(errors, object);
    }
    let swap = status.value.at(&["nodeInfo", "swap", "capacity"]);
    if errors.release.since(V1_33) && swap.and_then(Value::as_int).is_some() {
        let path = metadata.path.child("nodeSwapStatus");
        errors.positive(&FieldValue::new(swap, path.child("capacity")));
    }
    pod_cidrs(errors, &spec.child("podCIDRs"));
    // A gate that is disabled by default forbids the field.
    errors.forbid_if_set(&spec.child("podPreemptionPolicy"), "");
    if let Some(old) = old {
        update(errors, &spec, &status, old);
    }
}

/// `ValidateNodeUpdate`, which validates a write of the status, too
pub(crate) fn status(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    always(errors, object);
    update(errors, &object.child("spec"), &object.child("status"), old.value);
}

/// The checks that `ValidateNode` and `ValidateNodeUpdate` share
fn always(errors: &mut Errors, object: &FieldValue<'_, '_>) {
    let (metadata, spec, status) = (object.child("metadata"), object.child("spec"), object.child("status"));
    annotations(errors, &metadata.child("annotations"));
    taints(errors, &FieldValue { path: metadata.path.child("taints"), ..spec.child("taints") });
    for list in ["capacity", "allocatable"].map(|name| status.child(name)) {
        for (name, quantity) in list.value.as_object().into_iter().flatten() {
            let path = list.path.child(name);
            resources::quantity_of(errors, &FieldValue::new(Some(quantity), path), name);
        }
    }
    declared_features(errors, &status.child("declaredFeatures"));
}

/// `ValidateNodeUpdate`, without what `ValidateNode` validates as well
fn update(errors: &mut Errors, spec: &FieldValue<'_, '_>, status: &FieldValue<'_, '_>, old: &Value) {
    let mut seen = HashSet::new();
    for address in status.child("addresses").items() {
        let fields = ["type", "address"].map(|name| address.value.str_at(&[name]).unwrap_or_default());
        if !seen.insert(fields) {
            let shown = errors.typed(&address, "core.NodeAddress");
            errors.list.push(FieldError::duplicate(&address.path, shown));
        }
    }
    let old = FieldValue::new(old.get("spec"), ROOT);
    let (cidrs, old_cidrs) = (spec.child("podCIDRs"), old.child("podCIDRs"));
    if old_cidrs.len() > 0 && errors.release.since(V1_38) {
        if cidrs.len() == 0 {
            errors.invalid_value(&cidrs.path, BadValue::Value(Value::Null), "field cannot be cleared once set");
        } else if !immutable::is_equal(cidrs.value, old_cidrs.value) {
            errors.forbidden(&cidrs, CIDR_IS_FIXED);
        }
    } else if old_cidrs.len() > 0 && cidrs.len() != old_cidrs.len() {
        errors.forbidden(&cidrs, CIDR_IS_FIXED);
    } else {
        let changed = old_cidrs.texts().zip(cidrs.texts()).filter(|(old, new)| old != new).count();
        (0..changed).for_each(|_| errors.forbidden(&cidrs, CIDR_IS_FIXED));
    }
    provider_id(errors, &spec.child("providerID"), old.child("providerID").text());
    if old.child("configSource").is_set() {
        config_source(errors, &spec.child("configSource"));
    }
    let external = spec.child("externalID");
    if external.text() != old.child("externalID").text() {
        errors.forbidden(&external, "may not be updated");
    }
}

fn provider_id(errors: &mut Errors, id: &FieldValue<'_, '_>, old: &str) {
    if old.is_empty() || id.text() == old {
        return;
    }
    if !errors.release.since(V1_37) {
        return errors.forbidden(id, "node updates may not change providerID except from \"\" to valid");
    }
    let detail =
        if id.text().is_empty() { "field cannot be cleared once set" } else { "field cannot be modified once set" };
    errors.invalid_value(&id.path, BadValue::Value(Value::Null), detail);
}

/// `ValidateNodeSpecificAnnotations`
fn annotations(errors: &mut Errors, annotations: &FieldValue<'_, '_>) {
    let text = |name: &str| annotations.value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(text) = text(TAINTS) {
        match list_of(text, "core.Taint") {
            Ok(list) => taints(errors, &FieldValue::new(Some(&list), annotations.path.child(TAINTS))),
            Err(reason) => errors.invalid_value(&annotations.path, TAINTS, reason),
        }
    }
    if let Some(text) = text(AVOID_PODS) {
        avoided_pods(errors, annotations, text);
    }
}

/// A list in JSON, with the messages of Go's decoder.
fn list_of(text: &str, type_: &str) -> Result<Value, GoError> {
    match json::read(text.as_bytes()) {
        Ok(list @ (Value::Array(_) | Value::Null)) => Ok(list),
        Ok(other) => {
            Err(format!("json: cannot unmarshal {} into Go value of type []{type_}", write::go_kind(&other)).into())
        }
        Err(error) => Err(error.message.into()),
    }
}

/// `ValidateAvoidPodsInNodeAnnotations`
fn avoided_pods(errors: &mut Errors, annotations: &FieldValue<'_, '_>, text: &str) {
    let path = annotations.path.child("AvoidPods");
    let avoided = match json::read(text.as_bytes()) {
        Ok(avoided @ (Value::Object(_) | Value::Null)) => avoided,
        Ok(other) => {
            let kind = write::go_kind(&other);
            let reason = format!("json: cannot unmarshal {kind} into Go value of type v1.AvoidPods");
            return errors.invalid_value(&path, AVOID_PODS, reason);
        }
        Err(error) => return errors.invalid_value(&path, AVOID_PODS, error.message),
    };
    let path = annotations.path.child(AVOID_PODS);
    let entries = FieldValue::new(avoided.get("preferAvoidPods"), path);
    for entry in entries.items() {
        let signature = FieldValue::new(entry.value.get("podSignature"), entry.path.child("PodSignature"));
        let controller = FieldValue::new(signature.value.get("podController"), signature.path.child("PodController"));
        if !controller.is_set() {
            errors.required(&signature, "");
        } else if !controller.child("controller").bool() {
            errors.invalid_value(&controller.path.child("Controller"), false, "must point to a controller");
        }
    }
}

/// `validateNodeTaints`
fn taints(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    let mut seen: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for taint in list.items() {
        let (key, value, effect) = (taint.child("key"), taint.child("value"), taint.child("effect"));
        formats::qualified_name(errors, &key);
        let messages = names::label_value(value.text(), errors.release);
        if !messages.is_empty() {
            errors.invalid_value(&value.path, value.text(), messages.join(";"));
        }
        errors.one_of(&effect, EFFECTS);
        if !seen.entry(effect.text()).or_default().insert(key.text()) {
            let shown = errors.typed(&taint, "core.Taint");
            let detail = "taints must be unique by key and effect pair";
            errors.list.push(FieldError::new(ErrorType::Duplicate, &taint.path, shown, detail));
        }
    }
}

/// `validateNodeDeclaredFeatures`
fn declared_features(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    if !errors.release.since(V1_35) {
        return;
    }
    let mut last: Option<&str> = None;
    for feature in list.items() {
        let name = feature.text();
        if name.len() > 253 {
            let detail = format!("invalid feature name {name:?}: must be no more than 253 characters");
            errors.invalid(&feature, detail);
        } else if !is_feature_name(name) {
            let rule = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
            let quoted = crdx_value::quote::go_quote(name);
            errors.invalid(&feature, format!("invalid feature name {quoted}: {rule}"));
        }
        match last {
            Some(last) if last == name => errors.duplicate(&feature),
            Some(last) if last > name => errors.invalid(&feature, "list must be sorted alphabetically"),
            _ => {}
        }
        last = Some(name);
    }
}

/// `^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$`
fn is_feature_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.split('/').all(|segment| {
            segment.starts_with(|first: char| first.is_ascii_alphabetic())
                && segment.bytes().all(|b| b.is_ascii_alphanumeric())
        })
}

fn pod_cidrs(errors: &mut Errors, cidrs: &FieldValue<'_, '_>) {
    for cidr in cidrs.items() {
        network::legacy_cidr(errors, &cidr);
    }
    if cidrs.len() < 2 {
        return;
    }
    let parsed: Vec<_> = cidrs.texts().map(network::parse_cidr).collect();
    if let Some(at) = parsed.iter().position(Option::is_none) {
        let text = cidrs.texts().nth(at).unwrap_or_default();
        let detail = format!(
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{at}]: <nil> (invalid CIDR address: {text})"
        );
        errors.list.push(FieldError::internal(&cidrs.path, detail));
    }
    let is_ipv4 = |cidr: &Option<(std::net::IpAddr, u8)>| cidr.is_some_and(|(address, _)| network::is_ipv4(address));
    let is_dual = parsed.iter().all(Option::is_some) && parsed.iter().any(is_ipv4) && !parsed.iter().all(is_ipv4);
    if !is_dual || cidrs.len() > 2 {
        errors.invalid_typed(cidrs, "[]string", ONE_PER_FAMILY);
    }
    let mut seen = HashSet::new();
    // Until 1.32, a repeated CIDR was also an error of its own.
    for cidr in cidrs.items().filter(|_| !errors.release.since(V1_33)).collect::<Vec<_>>() {
        if !seen.insert(cidr.text()) {
            errors.duplicate(&cidr);
        }
    }
}

/// `validateNodeConfigSourceSpec`
fn config_source(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    if !source.is_set() {
        return;
    }
    let map = source.child("configMap");
    if !map.is_set() {
        return errors.invalid_typed(
            source,
            "*core.NodeConfigSource",
            "exactly one reference subfield must be non-nil",
        );
    }
    for (name, detail) in
        [("uid", "uid must not be set in spec"), ("resourceVersion", "resourceVersion must not be set in spec")]
    {
        let field = map.child(name);
        if !field.text().is_empty() {
            errors.forbidden(&field, detail);
        }
    }
    let (namespace, name, key) = (map.child("namespace"), map.child("name"), map.child("kubeletConfigKey"));
    if require_member(errors, &namespace, "namespace") {
        errors.messages(&namespace, names::name_is_label(namespace.text(), NameForm::Whole));
    }
    if require_member(errors, &name, "name") {
        formats::object_name(errors, &name);
    }
    if require_member(errors, &key, "kubeletConfigKey") {
        errors.messages(&key, formats::config_map_key(key.text()));
    }
}

/// Requires the text of a member, whose error has a detail before 1.34. Returns true if there is a text.
fn require_member(errors: &mut Errors, member: &FieldValue<'_, '_>, name: &str) -> bool {
    if errors.release.since(V1_34) {
        return errors.require_text(member);
    }
    errors.require_text_with(member, &format!("{name} must be set"))
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn create(members: &str) -> Vec<String> {
        created("v1", "Node", &format!(r#"{{"metadata":{{"name":"n"}},{members}}}"#), "1.37")
    }

    fn update(old: &str, new: &str, release: &str) -> Vec<String> {
        let node = |spec: &str| format!(r#"{{"metadata":{{"name":"n"}},"spec":{spec}}}"#);
        updated("v1", "Node", &node(old), &node(new), release)
    }

    #[test]
    fn a_plain_node_is_valid() {
        let members = r#""spec":{"podCIDRs":["10.0.0.0/24","2001:db8::/64"],"taints":[{"key":"a/b","effect":"NoExecute"}]},
            "status":{"capacity":{"cpu":"500m","pods":"110"},"declaredFeatures":["A/b","B"]}"#;
        assert_eq!(create(members), [""; 0]);
    }

    #[test]
    fn taints_have_a_key_and_an_effect_and_are_unique() {
        assert_eq!(
            create(
                r#""spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"},
                {"key":"a","value":"-","effect":"Exists"},{"key":"b"}]}"#
            ),
            [
                r#"metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair"#,
                r#"metadata.taints[2].value: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"#,
                r#"metadata.taints[2].effect: Unsupported value: "Exists": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute""#,
                "metadata.taints[3].effect: Required value",
            ]
        );
    }

    #[test]
    fn annotations_with_taints_and_avoided_pods_are_read() {
        let found = |annotation: &str| {
            let node = format!(r#"{{"metadata":{{"name":"n","annotations":{{{annotation}}}}}}}"#);
            created("v1", "Node", &node, "1.37")
        };
        assert_eq!(
            found(r#""scheduler.alpha.kubernetes.io/taints":"[{\"key\":\"a\"}]""#),
            ["metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value"]
        );
        assert_eq!(
            found(r#""scheduler.alpha.kubernetes.io/preferAvoidPods":"{\"preferAvoidPods\":[{}]}""#),
            ["metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value"]
        );
        assert_eq!(
            found(r#""scheduler.alpha.kubernetes.io/taints":"{}""#),
            [
                r#"metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": json: cannot unmarshal object into Go value of type []core.Taint"#
            ]
        );
    }

    #[test]
    fn pod_cidrs_are_a_pair_of_both_families() {
        assert_eq!(
            create(r#""spec":{"podCIDRs":["10.0.0.0/24","10.0.1.0/24"]}"#),
            [
                r#"spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family"#
            ]
        );
        assert_eq!(create(r#""spec":{"podCIDRs":["x"]}"#).len(), 1);
    }

    #[test]
    fn quantities_and_features_of_the_status_are_validated() {
        let status = r#""status":{"capacity":{"pods":"500m","cpu":"-1"},"declaredFeatures":["b","A","A"]}"#;
        assert_eq!(
            create(status),
            [
                r#"status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0"#,
                r#"status.capacity.pods: Invalid value: "500m": must be an integer"#,
                // The default is the capacity.
                r#"status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0"#,
                r#"status.allocatable.pods: Invalid value: "500m": must be an integer"#,
                r#"status.declaredFeatures[0]: Invalid value: "b": invalid feature name "b": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"#,
                r#"status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically"#,
                r#"status.declaredFeatures[2]: Duplicate value: "A""#,
            ]
        );
        assert_eq!(
            create(r#""status":{"nodeInfo":{"swap":{"capacity":0}}}"#),
            ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"]
        );
    }

    #[test]
    fn identifiers_cannot_be_changed_once_they_are_set() {
        assert_eq!(update("{}", r#"{"providerID":"a","podCIDRs":["10.0.0.0/24"]}"#, "1.37"), [""; 0]);
        assert_eq!(
            update(r#"{"podCIDRs":["10.0.0.0/24"]}"#, "{}", "1.37"),
            [r#"spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid"#]
        );
        assert_eq!(
            update(r#"{"podCIDRs":["10.0.0.0/24"]}"#, "{}", "1.38"),
            ["spec.podCIDRs: Invalid value: null: field cannot be cleared once set"]
        );
        assert_eq!(
            update(r#"{"providerID":"a"}"#, r#"{"providerID":"b"}"#, "1.37"),
            ["spec.providerID: Invalid value: null: field cannot be modified once set"]
        );
        assert_eq!(
            update(r#"{"providerID":"a"}"#, r#"{"providerID":""}"#, "1.36"),
            [r#"spec.providerID: Forbidden: node updates may not change providerID except from "" to valid"#]
        );
        assert_eq!(
            update(r#"{"externalID":"a"}"#, r#"{"externalID":"b"}"#, "1.30"),
            ["spec.externalID: Forbidden: may not be updated"]
        );
    }

    /// Since 1.38, `ValidateNodeUpdate` compares whole lists.
    #[test]
    fn changes_of_pod_cidrs_are_counted_before_1_38() {
        let (old, new) =
            (r#"{"podCIDRs":["10.0.0.0/24","2001:db8::/64"]}"#, r#"{"podCIDRs":["10.0.1.0/24","2001:db8:1::/64"]}"#);
        let error = r#"spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid"#;
        assert_eq!(update(old, new, "1.37"), [error; 2]);
        assert_eq!(update(old, new, "1.38"), [error]);
    }

    #[test]
    fn pod_cidrs_are_shown_as_strings_before_1_34() {
        let members = r#""spec":{"podCIDRs":["10.0.0.0/24","10.0.1.0/24"]}"#;
        let node = format!(r#"{{"metadata":{{"name":"n"}},{members}}}"#);
        assert_eq!(
            created("v1", "Node", &node, "1.33"),
            [
                r#"spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one CIDR for each IP family"#
            ]
        );
    }

    #[test]
    fn errors_about_missing_parts_of_a_configuration_have_details_before_1_34() {
        let node =
            |map: &str| format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"configSource":{{"configMap":{{{map}}}}}}}}}"#);
        let old = node(r#""namespace":"a","name":"b","kubeletConfigKey":"c""#);
        let error = "spec.configSource.configMap.namespace: Required value";
        let found = |release: &str| updated("v1", "Node", &old, &node(""), release)[0].clone();
        assert_eq!(found("1.33"), format!("{error}: namespace must be set"));
        assert_eq!(found("1.34"), error);
    }
}
