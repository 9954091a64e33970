use crate::validation::tests::{created, created_with, updated};

const API: &str = "resource.k8s.io/v1";

fn class(spec: &str) -> String {
    format!(r#"{{"metadata":{{"name":"c"}},"spec":{spec}}}"#)
}

fn create_class(spec: &str, release: &str) -> Vec<String> {
    created(API, "DeviceClass", &class(spec), release)
}

fn claim(devices: &str) -> String {
    format!(r#"{{"metadata":{{"name":"c","namespace":"default"}},"spec":{{"devices":{devices}}}}}"#)
}

fn create_claim(devices: &str) -> Vec<String> {
    created(API, "ResourceClaim", &claim(devices), "1.37")
}

const POOL: &str = r#""driver":"a.b","pool":{"name":"p","resourceSliceCount":1}"#;

fn slice_at(release: &str, spec: &str) -> Vec<String> {
    let object = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{{POOL},{spec}}}}}"#);
    created(API, "ResourceSlice", &object, release)
}

const FRACTIONS: &str = "DRAFractionalCapacityRange";

fn slice_with_fractions(spec: &str) -> Vec<String> {
    let object = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{{POOL},{spec}}}}}"#);
    created_with(FRACTIONS, true, (API, "ResourceSlice"), &object, "1.37")
}

fn slice(spec: &str) -> Vec<String> {
    slice_at("1.37", spec)
}

fn selector(expression: &str) -> Vec<String> {
    let expression = crdx_value::json::to_string(&expression.into());
    create_class(&format!(r#"{{"selectors":[{{"cel":{{"expression":{expression}}}}}]}}"#), "1.37")
}

#[test]
fn expressions_select_devices() {
    for expression in [
        r#"device.driver == "a.b" && device.attributes["a.b"].model.startsWith("x")"#,
        r#"device.attributes["a.b"].flag"#,
        r#"device.capacity["a.b"].memory.compareTo(quantity("1Gi")) >= 0"#,
        "device.allowMultipleAllocations",
    ] {
        assert_eq!(selector(expression), [""; 0], "{expression}");
    }
    assert_eq!(
        selector("1"),
        [r#"spec.selectors[0].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int"#]
    );
    assert!(selector("device.other")[0].contains("compilation failed: ERROR: <input>:1:7: undefined field 'other'"));
    assert_eq!(create_class(r#"{"selectors":[{}]}"#, "1.34"), ["spec.selectors[0].cel: Required value"]);
}

#[test]
fn expressions_may_bind_variables() {
    for expression in
        ["cel.bind(d, device.driver, d == '')", "cel.bind(a, device.attributes['a.b'], a.x && a.y == 'z')"]
    {
        assert_eq!(selector(expression), [""; 0], "{expression}");
    }
    let error = "cel.bind() variable names must be simple identifiers";
    assert!(selector("cel.bind(d.e, 1, true)")[0].contains(error));
    assert!(selector("device.bind(d, 1, true)")[0].contains("undeclared reference to 'bind'"));
}

#[test]
fn expressions_must_not_be_too_costly() {
    let sum = "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, a + b == c)))";
    assert_eq!(selector(sum), [""; 0]);
    let costly = format!("device.attributes.all(d, {sum})");
    assert_eq!(selector(&costly), ["spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit"]);
}

#[test]
fn stored_expressions_are_not_compiled_again() {
    let spec = class(r#"{"selectors":[{"cel":{"expression":"1"}}]}"#);
    assert_eq!(updated(API, "DeviceClass", &spec, &spec, "1.37"), [""; 0]);
    let other = spec.replace("\"1\"", "\"2\"");
    assert_eq!(updated(API, "DeviceClass", &spec, &other, "1.37").len(), 1);
}

#[test]
fn configurations_have_a_driver_and_an_object() {
    let config = |config: &str| create_class(&format!(r#"{{"config":[{config}]}}"#), "1.37");
    assert_eq!(config(r#"{"opaque":{"driver":"a.b","parameters":{"a":1}}}"#), [""; 0]);
    assert_eq!(config("{}"), ["spec.config[0].opaque: Required value"]);
    assert_eq!(
        config(r#"{"opaque":{"driver":"","parameters":[]}}"#),
        [
            "spec.config[0].opaque.driver: Required value",
            r#"spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object"#,
        ]
    );
    let many = vec![r#"{"opaque":{"driver":"a","parameters":{}}}"#; 33].join(",");
    assert_eq!(config(&many), ["spec.config: Too many: 33: must have at most 32 items"]);
}

#[test]
fn a_request_is_exact_or_has_alternatives() {
    assert_eq!(create_claim(r#"{"requests":[{"name":"a","exactly":{"deviceClassName":"c"}}]}"#), [""; 0]);
    assert_eq!(
        create_claim(r#"{"requests":[{"name":"a"}]}"#),
        ["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"]
    );
    assert_eq!(
        create_claim(
            r#"{"requests":[{"name":"a","exactly":{"deviceClassName":"c"},"firstAvailable":[{"name":"b","deviceClassName":"c"}]}]}"#
        ),
        [
            "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        ]
    );
    assert_eq!(
        create_claim(
            r#"{"requests":[{"name":"a","exactly":{"deviceClassName":"","allocationMode":"All","count":1}},
            {"name":"b","exactly":{"deviceClassName":"c","allocationMode":"x"}},{"name":"c","exactly":{"deviceClassName":"c","count":-1}}]}"#
        ),
        [
            "spec.devices.requests[0].exactly.deviceClassName: Required value",
            "spec.devices.requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'",
            r#"spec.devices.requests[1].exactly.allocationMode: Unsupported value: "x": supported values: "All", "ExactCount""#,
            "spec.devices.requests[2].exactly.count: Invalid value: -1: must be greater than zero",
        ]
    );
}

#[test]
fn tolerations_of_requests_are_validated() {
    let tolerations = |list: &str| {
        create_claim(&format!(
            r#"{{"requests":[{{"name":"a","exactly":{{"deviceClassName":"c","tolerations":[{list}]}}}}]}}"#
        ))
    };
    assert_eq!(tolerations(r#"{"key":"a","operator":"Exists"}"#), [""; 0]);
    let found = tolerations(r#"{"operator":"Exists","value":"x","effect":"y"},{"operator":"z"}"#);
    assert!(found[0].ends_with(r#"[0].value: Invalid value: "x": must be empty for operator `Exists`"#), "{found:?}");
    assert!(
        found[1]
            .ends_with(r#"[0].effect: Unsupported value: "y": supported values: "NoExecute", "NoSchedule", "None""#)
    );
    assert!(found[2].ends_with(r#"[1].operator: Unsupported value: "z": supported values: "Equal", "Exists""#));
}

#[test]
fn constraints_and_configurations_name_requests() {
    let requests = r#""requests":[{"name":"a","exactly":{"deviceClassName":"c"}},{"name":"b","firstAvailable":[{"name":"x","deviceClassName":"c"}]}]"#;
    let constraint = |constraint: &str| create_claim(&format!(r#"{{{requests},"constraints":[{constraint}]}}"#));
    assert_eq!(constraint(r#"{"requests":["a","b/x"],"matchAttribute":"a.b/c"}"#), [""; 0]);
    let unknown =
        "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
    assert_eq!(
        constraint(r#"{"requests":["c","b/y","a/b/c"],"distinctAttribute":"c"}"#),
        [
            format!(r#"spec.devices.constraints[0].requests[0]: Invalid value: "c": {unknown}"#),
            format!(r#"spec.devices.constraints[0].requests[1]: Invalid value: "b/y": {unknown}"#),
            format!(r#"spec.devices.constraints[0].requests[2]: Invalid value: "a/b/c": {unknown}"#),
            r#"spec.devices.constraints[0].distinctAttribute: Invalid value: "c": a fully qualified name must be a domain and a name separated by a slash"#.to_owned(),
        ]
    );
    assert_eq!(
        constraint("{}"),
        [
            r#"spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set"#
        ]
    );
}

#[test]
fn specifications_of_claims_are_immutable() {
    let with = |name: &str| {
        let devices = format!(r#"{{"requests":[{{"name":"{name}","exactly":{{"deviceClassName":"c"}}}}]}}"#);
        claim(&devices)
    };
    let found = updated(API, "ResourceClaim", &with("a"), &with("b"), "1.37");
    assert_eq!(found, ["spec: Invalid value: null: field is immutable"]);
    let template = |name: &str| {
        format!(
            r#"{{"metadata":{{"name":"c"}},"spec":{{"spec":{{"devices":{{"requests":[{{"name":"{name}","exactly":{{"deviceClassName":"c"}}}}]}}}}}}}}"#
        )
    };
    assert_eq!(created(API, "ResourceClaimTemplate", &template("a"), "1.34"), [""; 0]);
    let shown = r#"{"Devices":{"Requests":[{"Name":"b","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"ExactCount","Count":1,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}"#;
    let found = updated(API, "ResourceClaim", &with("a"), &with("b"), "1.34");
    assert_eq!(found, [format!("spec: Invalid value: {shown}: field is immutable")]);
    let found = updated(API, "ResourceClaimTemplate", &template("a"), &template("b"), "1.34");
    assert_eq!(found, [format!(r#"spec: Invalid value: {{"Spec":{shown}}}: field is immutable"#)]);
    let found = updated(API, "ResourceClaimTemplate", &template("a"), &template("!"), "1.37");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[1].starts_with(r#"spec.spec.devices.requests[0].name: Invalid value: "!": a lowercase"#),
        "{found:?}"
    );
}

#[test]
fn an_attribute_has_one_value() {
    let found = |attribute: &str, release: &str| {
        let pool = r#""driver":"a.b","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n""#;
        let devices = format!(r#"[{{"name":"d","attributes":{{"a":{attribute}}}}}]"#);
        let object = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{{pool},"devices":{devices}}}}}"#);
        created(API, "ResourceSlice", &object, release)
    };
    let detail = "exactly one value must be specified";
    assert_eq!(found("{}", "1.34"), [format!("spec.devices[0].attributes[a]: Required value: {detail}")]);
    assert_eq!(found("{}", "1.35"), [format!(r#"spec.devices[0].attributes[a]: Invalid value: "": {detail}"#)]);
    let both = r#"{"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null}"#;
    assert_eq!(
        found(r#"{"int":1,"bool":true}"#, "1.34"),
        [format!("spec.devices[0].attributes[a]: Invalid value: {both}: {detail}")]
    );
}

#[test]
fn a_slice_selects_its_nodes_in_one_way() {
    assert_eq!(slice(r#""nodeName":"n","devices":[{"name":"d"}]"#), [""; 0]);
    let detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    assert_eq!(slice(r#""devices":[]"#), [format!("spec: Required value: {detail}")]);
    assert_eq!(
        slice(r#""nodeName":"n","allNodes":true"#),
        [format!(r#"spec: Invalid value: "{{`nodeName`, `allNodes`}}": {detail}, but multiple fields are set"#)]
    );
    assert_eq!(
        slice(r#""nodeName":"n","allNodes":false"#),
        ["spec.allNodes: Invalid value: false: must be either unset or set to true"]
    );
}

#[test]
fn devices_have_attributes_with_one_value() {
    let device = |device: &str| slice(&format!(r#""nodeName":"n","devices":[{{"name":"d",{device}}}]"#));
    assert_eq!(
        device(r#""attributes":{"a":{"int":1},"b.c/d":{"version":"1.2.3"}},"capacity":{"m":{"value":"1Gi"}}"#),
        [""; 0]
    );
    assert_eq!(
        device(r#""attributes":{"a":{"version":"1.2"},"b/":{"string":"x"}}"#),
        [
            r#"spec.devices[0].attributes: Invalid value: "": the name must not be empty"#,
            r#"spec.devices[0].attributes[a].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0"#,
        ]
    );
    assert_eq!(
        device(r#""capacity":{"m":{"value":"1","requestPolicy":{}}}"#),
        ["spec.devices[0].capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must be true"]
    );
    assert_eq!(
        device(r#""bindingConditions":["a"]"#),
        [
            "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions"
        ]
    );
}

#[test]
fn policies_of_capacities_are_consistent() {
    let policy = |policy: &str| {
        let found = slice(&format!(
            r#""nodeName":"n","devices":[{{"name":"d","allowMultipleAllocations":true,"capacity":{{"m":{{"value":"10","requestPolicy":{policy}}}}}}}]"#
        ));
        let prefix = "spec.devices[0].capacity[m].requestPolicy";
        found.iter().map(|error| error.trim_start_matches(prefix).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(policy(r#"{"default":"2","validValues":["1","2"]}"#), [""; 0]);
    assert_eq!(policy(r#"{"default":"3","validRange":{"min":"1","max":"9","step":"2"}}"#), [""; 0]);
    assert_eq!(policy(r#"{"validValues":["1"]}"#), [".default: Required value: required when validValues is defined"]);
    assert_eq!(
        policy(r#"{"default":"3","validValues":["2","1","11"]}"#),
        [
            r#".validValues[1]: Invalid value: "1": values must be sorted in ascending order"#,
            r#".validValues[2]: Invalid value: "11": option is larger than capacity value: 10"#,
            r#".validValues: Invalid value: "3": default value is not valid according to the requestPolicy"#,
        ]
    );
    assert_eq!(
        policy(r#"{"default":"2","validRange":{"min":"1","max":"9","step":"3"}}"#),
        [
            r#".validRange.step: Invalid value: "2": value is not a multiple of a given step (3) from (1)"#,
            r#".validRange.step: Invalid value: "9": value is not a multiple of a given step (3) from (1)"#,
        ]
    );
}

/// `validateRequestPolicyRange` and `validateRequestPolicyValidValues`, with the gate `DRAFractionalCapacityRange`, which is enabled since 1.38
#[test]
fn policies_of_capacities_have_fractions_with_the_gate() {
    let policy = |release: &str, policy: &str| {
        let spec = format!(
            r#""nodeName":"n","devices":[{{"name":"d","allowMultipleAllocations":true,"capacity":{{"m":{{"value":"10","requestPolicy":{policy}}}}}}}]"#
        );
        let found = if release == "1.37" { slice_with_fractions(&spec) } else { slice_at(release, &spec) };
        let prefix = "spec.devices[0].capacity[m].requestPolicy";
        found.iter().map(|error| error.trim_start_matches(prefix).to_owned()).collect::<Vec<_>>()
    };
    let halves = r#"{"default":"1.5","validRange":{"min":"500m","max":"9500m","step":"500m"}}"#;
    assert_eq!(policy("1.36", halves), [""; 0]);
    assert_eq!(policy("1.37", halves), [""; 0]);
    let rounded = r#"{"default":"1700m","validRange":{"min":"1","step":"1"}}"#;
    assert_eq!(policy("1.36", rounded), [""; 0]);
    assert_eq!(
        policy("1.37", rounded),
        [r#".validRange.step: Invalid value: "1700m": value is not a multiple of a given step (1) from (1)"#]
    );
    assert_eq!(
        policy("1.37", r#"{"default":"1","validRange":{"min":"1u"}}"#),
        [r#".validRange.min: Invalid value: "1u": value cannot be represented as a milli value"#]
    );
    let negative = r#"{"default":"1","validRange":{"min":"-1","step":"1"}}"#;
    assert_eq!(policy("1.36", negative), [""; 0]);
    assert_eq!(
        policy("1.37", negative),
        [r#".validRange.min: Invalid value: "-1": must be greater than or equal to 0"#]
    );
    assert_eq!(
        policy("1.37", r#"{"default":"1","validRange":{"min":"1","step":"-1"}}"#),
        [r#".validRange.step: Invalid value: "-1": must be greater than zero"#]
    );
    let close = r#"{"default":"1","validValues":["1","1.2"]}"#;
    assert_eq!(
        policy("1.36", r#"{"default":"1","validValues":["1","1.2","1.4"]}"#),
        [r#".validValues[2]: Duplicate value: "2""#]
    );
    assert_eq!(policy("1.37", close), [""; 0]);
    let same = r#"{"default":"1200m","validValues":["1200m","1200m"]}"#;
    assert_eq!(policy("1.37", same), [r#".validValues[1]: Duplicate value: "1.200""#]);
}

/// Answers of kube-apiserver 1.37 and 1.38.
#[test]
fn policies_of_capacities_have_fractions_with_the_gate_only() {
    let slice = r#"{"metadata":{"name":"s"},"spec":{"driver":"a.b","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n","devices":[{
        "name":"d","allowMultipleAllocations":true,"capacity":{"m":{"value":"10","requestPolicy":{"default":"1700m","validRange":{"min":"1","step":"1"}}}}}]}}"#;
    let with = |enabled| created_with(FRACTIONS, enabled, (API, "ResourceSlice"), slice, "1.37").len();
    assert_eq!((with(false), with(true)), (0, 1));
    let created = |release| created(API, "ResourceSlice", slice, release).len();
    assert_eq!((created("1.37"), created("1.38")), (0, 1));
}

#[test]
fn taints_of_rules_have_an_effect() {
    let rule = |spec: &str| {
        let object = format!(r#"{{"metadata":{{"name":"r"}},"spec":{spec}}}"#);
        created(API, "DeviceTaintRule", &object, "1.37")
    };
    assert_eq!(
        rule(r#"{"deviceSelector":{"driver":"a.b","pool":"p/q"},"taint":{"key":"k","effect":"None"}}"#),
        [""; 0]
    );
    let found = rule(r#"{"deviceSelector":{"driver":"","pool":""},"taint":{"key":"k"}}"#);
    assert_eq!(
        found,
        [
            "spec.deviceSelector.driver: Required value",
            "spec.deviceSelector.pool: Required value",
            "spec.taint.effect: Required value",
        ]
    );
}

/// The errors of a request of a claim.
fn errors_of_request(request: &str, release: &str) -> Vec<String> {
    let object = format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"devices":{{"requests":[{request}]}}}}}}"#);
    created(API, "ResourceClaim", &object, release)
}

#[test]
fn declared_rules_apply_to_a_request_with_too_many_fields() {
    let request = r#"{"name":"r","exactly":{"deviceClassName":"A","allocationMode":"x"},
        "firstAvailable":[{"name":"s","deviceClassName":"","allocationMode":"All","count":1}]}"#;
    let found = errors_of_request(request, "1.37");
    assert!(found[0].ends_with("but multiple fields are set"), "{found:?}");
    let rest = ["exactly.allocationMode: Unsupported value", "firstAvailable[0].deviceClassName: Required value"];
    for (found, rest) in found.iter().skip(1).zip(rest) {
        assert!(found.starts_with(&format!("spec.devices.requests[0].{rest}")), "{found}");
    }
    assert_eq!(found.len(), 3, "{found:?}");
    // Later releases validate neither field, and earlier ones both.
    assert_eq!(errors_of_request(request, "1.36").len(), 1);
    assert_eq!(errors_of_request(request, "1.34").len(), 5, "{:?}", errors_of_request(request, "1.34"));
}

#[test]
fn attributes_of_constraints_have_a_domain() {
    let errors = |constraint: &str, release| {
        let request = r#"{"name":"r","exactly":{"deviceClassName":"a","allocationMode":"All"}}"#;
        let devices = format!(r#"{{"requests":[{request}],"constraints":[{constraint}]}}"#);
        created(
            API,
            "ResourceClaim",
            &format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"devices":{devices}}}}}"#),
            release,
        )
    };
    let name = r#"{"matchAttribute":"x"}"#;
    assert!(errors(name, "1.37")[0].ends_with("must be a domain and a name separated by a slash"));
    assert!(errors(name, "1.34")[0].ends_with("must include a domain"));
    let distinct = r#"{"distinctAttribute":"x"}"#;
    assert!(errors(distinct, "1.34")[0].starts_with("spec.devices.constraints[0].distinctAttribute: Invalid value"));
    let empty = r#"{"matchAttribute":""}"#;
    assert_eq!(errors(empty, "1.34"), ["spec.devices.constraints[0].matchAttribute: Required value: name required"]);
    let both = r#"{"matchAttribute":"a.b/x","distinctAttribute":"y"}"#;
    assert_eq!((errors(both, "1.37").len(), errors(both, "1.36").len()), (1, 0));
}

#[test]
fn several_values_of_an_attribute_are_named() {
    let slice = r#"{"metadata":{"name":"s"},"spec":{"driver":"d.e","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1},
        "devices":[{"name":"d","attributes":{"m":{"string":"x","int":1}}}]}}"#;
    let found = created(API, "ResourceSlice", slice, "1.37");
    assert!(found[0].contains(r#"Invalid value: "{int, string}": must specify exactly one of: `int`"#), "{found:?}");
}

#[test]
fn metadata_of_templates_are_labels_and_annotations() {
    let template =
        r#"{"metadata":{"name":"t"},"spec":{"metadata":{"uid":"u","labels":{"a":"b"}},"spec":{"devices":{}}}}"#;
    let found = created(API, "ResourceClaimTemplate", template, "1.37");
    assert_eq!(found, ["spec.metadata.uID: Forbidden: cannot be set"]);
}

#[test]
fn errors_about_keys_are_at_their_map_since_1_36() {
    let slice = r#"{"metadata":{"name":"s"},"spec":{"driver":"d.e","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1},
        "devices":[{"name":"d","capacity":{"a-b":{"value":"1"}}}]}}"#;
    let is_at = |path: &str, release| {
        let start = format!("spec.devices[0].{path}: Invalid value: \"a-b\": a valid C identifier");
        created(API, "ResourceSlice", slice, release).iter().any(|error| error.starts_with(&start))
    };
    assert!(is_at("capacity[a-b]", "1.35") && is_at("capacity", "1.36"));
}

#[test]
fn expressions_of_a_changed_claim_are_compiled_before_1_35() {
    let with = |expression: &str| {
        let exactly = format!(
            r#"{{"deviceClassName":"a","allocationMode":"ExactCount","count":1,"selectors":[{{"cel":{{"expression":"{expression}"}}}}]}}"#
        );
        claim(&format!(r#"{{"requests":[{{"name":"r","exactly":{exactly}}}]}}"#))
    };
    let fields = |release: &str| {
        let found = updated(API, "ResourceClaim", &with("true"), &with("model"), release);
        found.iter().filter_map(|error| error.split_once(": ")).map(|(field, _)| field.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(fields("1.34"), ["spec", "spec.devices.requests[0].exactly.selectors[0].cel.expression"]);
    assert_eq!(fields("1.35"), ["spec"]);
}
