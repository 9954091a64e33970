use crate::validation::statuses::tests::errors;

const CLAIM: (&str, &str) = ("resource.k8s.io", "ResourceClaim");
const SPEC: &str =
    r#""spec":{"devices":{"requests":[{"name":"r","exactly":{}},{"name":"s","firstAvailable":[{"name":"a"}]}]}}"#;
const RESULT: &str = r#"{"request":"r","driver":"d.example.com","pool":"p","device":"gpu-0"}"#;

fn object(status: &str) -> String {
    format!(r#"{{"metadata":{{"name":"c"}},{SPEC},"status":{status}}}"#)
}

fn written(old: &str, new: &str, release: &str) -> Vec<String> {
    errors(CLAIM, &object(old), &object(new), release)
}

fn allocation(results: &str, rest: &str) -> String {
    format!(r#"{{"allocation":{{"devices":{{"results":[{results}]{rest}}}}}}}"#)
}

fn device(members: &str) -> String {
    let allocation = allocation(RESULT, "");
    let allocation = allocation.strip_suffix('}').unwrap();
    format!(r#"{allocation},"devices":[{members}]}}"#)
}

#[test]
fn results_name_a_request_and_a_device() {
    let alternative = RESULT.replace(r#""r""#, r#""s/a""#);
    assert_eq!(written("{}", &allocation(&format!("{RESULT},{alternative}"), ""), "1.37"), [""; 0]);
    let found = written("{}", &allocation(r#"{"request":"x","driver":"","pool":"a//b","device":"d"}"#, ""), "1.37");
    let path = "status.allocation.devices.results[0]";
    assert_eq!(
        found,
        [
            format!(
                r#"{path}.request: Invalid value: "x": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"#
            ),
            format!("{path}.driver: Required value"),
            format!(r#"{path}.pool: Invalid value: "a//b": segment 1: must not be empty"#),
        ]
    );
}

/// `validateDeviceRequestAllocationResult`, and the declared limits of `consumedCapacity`
#[test]
fn consumed_capacities_are_validated_since_1_38() {
    let result = |capacity: &str| RESULT.replace('}', &format!(r#","consumedCapacity":{{{capacity}}}}}"#));
    let path = "status.allocation.devices.results[0].consumedCapacity";
    let (valid, wrong) = (result(r#""a.b/c":"1""#), result(r#""-":"1","a":"-1""#));
    assert_eq!(written("{}", &allocation(&valid, ""), "1.38"), [""; 0]);
    assert_eq!(written("{}", &allocation(&wrong, ""), "1.37"), [""; 0]);
    let found = written("{}", &allocation(&wrong, ""), "1.38");
    assert!(found[0].starts_with(&format!(r#"{path}: Invalid value: "-": a valid C identifier"#)), "{found:?}");
    assert_eq!(found[1..], [format!(r#"{path}[a]: Invalid value: "-1": must be greater than or equal to 0"#)]);
}

#[test]
fn configurations_have_a_source() {
    let configuration = |source: &str| {
        let opaque = r#""opaque":{"driver":"d.example.com","parameters":{}}"#;
        written("{}", &allocation(RESULT, &format!(r#","config":[{{"source":"{source}",{opaque}}}]"#)), "1.34")
    };
    assert_eq!(configuration("FromClaim"), [""; 0]);
    assert_eq!(
        configuration("Other"),
        [
            r#"status.allocation.devices.config[0].source: Unsupported value: "Other": supported values: "FromClaim", "FromClass""#
        ]
    );
}

#[test]
fn an_allocation_is_removed_before_another_one() {
    let (old, new) = (allocation(RESULT, ""), allocation("", ""));
    assert_eq!(written(&old, &old, "1.37"), [""; 0]);
    assert_eq!(written(&old, "{}", "1.37"), [""; 0]);
    assert_eq!(
        written(&old, &new, "1.37"),
        ["status.allocation: Invalid value: null: field cannot be modified once set"]
    );
    let older = written(&old, &new, "1.34");
    assert!(older.len() == 1 && older[0].ends_with(": field is immutable"), "{older:?}");
}

#[test]
fn consumers_are_unique_and_need_an_allocation() {
    let consumer = r#"{"resource":"pods","name":"a","uid":"1"}"#;
    let reserved = |list: &str| format!(r#"{{"reservedFor":[{list}]}}"#);
    assert_eq!(
        written("{}", &reserved(consumer), "1.37"),
        ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"]
    );
    let twice = reserved(&format!("{consumer},{consumer}"));
    let newest = format!("status.reservedFor[1]: Duplicate value: {consumer}");
    assert!(written("{}", &twice, "1.37").contains(&newest));
    for (release, path) in [("1.36", "status.reservedFor[1]"), ("1.34", "status.reservedFor[1].uid")] {
        assert!(written("{}", &twice, release).contains(&format!(r#"{path}: Duplicate value: "1""#)));
    }
}

#[test]
fn no_consumers_are_added_to_a_claim_that_is_deleted() {
    let status = |uid: &str| {
        let allocation = allocation(RESULT, "");
        let allocation = allocation.strip_suffix('}').unwrap();
        object(&format!(r#"{allocation},"reservedFor":[{{"resource":"pods","name":"a","uid":"{uid}"}}]}}"#))
            .replace(r#""name":"c""#, r#""deletionTimestamp":"2026-01-02T03:04:05Z""#)
    };
    assert_eq!(errors(CLAIM, &status("1"), &status("1"), "1.37"), [""; 0]);
    assert_eq!(
        errors(CLAIM, &status("1"), &status("2"), "1.37"),
        [
            "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        ]
    );
}

#[test]
fn drivers_report_allocated_devices() {
    let known = r#"{"driver":"d.example.com","pool":"p","device":"gpu-0"}"#;
    assert_eq!(written("{}", &device(known), "1.37"), [""; 0]);
    let other = known.replace("gpu-0", "gpu-1");
    let shown = r#"{"Driver":"d.example.com","Pool":"p","Device":"gpu-1","ShareID":""}"#;
    assert_eq!(
        written("{}", &device(&other), "1.37"),
        [format!("status.devices[0]: Invalid value: {shown}: must be an allocated device in the claim")]
    );
    let twice = device(&format!("{known},{known}"));
    let id = shown.replace("gpu-1", "gpu-0");
    for (release, error) in [
        ("1.37", format!("status.devices[1]: Duplicate value: {known}")),
        ("1.36", format!("status.devices[1]: Duplicate value: {id}")),
        (
            "1.34",
            format!(
                "status.devices[1].deviceID: Duplicate value: {}",
                r#"{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}"#
            ),
        ),
    ] {
        assert_eq!(written("{}", &twice, release), [error]);
    }
}

#[test]
fn the_network_of_a_device_has_canonical_addresses() {
    let data = |ips: &str| {
        let members = r#""driver":"d.example.com","pool":"p","device":"gpu-0""#;
        written("{}", &device(&format!(r#"{{{members},"data":{{}},"networkData":{{"ips":[{ips}]}}}}"#)), "1.37")
    };
    assert_eq!(data(r#""10.9.8.7/24","2001:db8::1/64""#), [""; 0]);
    let path = "status.devices[0].networkData.ips";
    assert_eq!(
        data(r#""10.9.8.07/24","x","10.9.8.7/24","10.9.8.7/24""#),
        [
            format!(r#"{path}[0]: Invalid value: "10.9.8.07/24": must be in canonical form ("10.9.8.7/24")"#),
            format!(
                r#"{path}[1]: Invalid value: "x": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"#
            ),
            format!(r#"{path}[3]: Duplicate value: "10.9.8.7/24""#),
        ]
    );
}

#[test]
fn shares_have_a_uuid() {
    let share = |id: &str, release: &str| {
        let found = written("{}", &allocation(&RESULT.replace('}', &format!(r#","shareID":"{id}"}}"#)), ""), release);
        let detail = |text: String| text.rsplit(r#""a": "#).next().unwrap().to_owned();
        found.into_iter().map(detail).collect::<Vec<_>>()
    };
    assert_eq!(share("123e4567-e89b-12d3-a456-426614174000", "1.37"), [""; 0]);
    assert_eq!(share("a", "1.37"), ["must be a lowercase UUID in 8-4-4-4-12 format"]);
    assert_eq!(share("a", "1.36"), ["error validating uid: invalid UUID length: 1"]);
}
