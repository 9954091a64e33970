use super::*;
use crate::fixture::kites;
use crate::report::severity::SeverityOf;
use crdx_server::crd;

/// The conventions that a schema does not follow, apart from descriptions and limits, and the paths.
fn found(schema: &str) -> Vec<String> {
    let spec = crd::decode(&kites(&format!("        {schema}"))).unwrap().crd.spec;
    let left_out = [Convention::MissingDescription, Convention::Unbounded];
    let departures = departures(&spec).into_iter().filter(|one| !left_out.contains(&one.convention));
    departures.map(|one| format!("{} {}", one.convention.as_str(), one.message.split(':').next().unwrap())).collect()
}

fn of_spec(field: &str) -> Vec<String> {
    found(&format!("{{type: object, properties: {{spec: {{type: object, properties: {{{field}}}}}}}}}"))
}

#[test]
fn fields_that_depart_from_a_convention() {
    for (field, want) in [
        ("enabled: {type: boolean}", &["BooleanField spec.enabled"][..]),
        ("weight: {type: number}", &["FloatField spec.weight"]),
        ("size: {type: integer}", &["IntegerFormat spec.size"]),
        ("size: {type: integer, format: int32}", &[]),
        ("Size: {type: string}", &["FieldName spec.Size"]),
        ("mode: {type: string, enum: [Always, on-failure]}", &["EnumValueName spec.mode"]),
        ("names: {type: array, items: {type: string}}", &["ListTypeMissing spec.names"]),
        ("parts: {type: object, additionalProperties: {type: object}}", &["MapOfObjects spec.parts"]),
        ("labels: {type: object, additionalProperties: {type: string}}", &[]),
        ("note: {type: string, nullable: true}", &["NullableField spec.note"]),
        ("startTimeout: {type: string}", &["DurationField spec.startTimeout"]),
        ("timeout: {type: integer, format: int32}", &["DurationField spec.timeout"]),
        ("timeoutSeconds: {type: integer, format: int32}", &[]),
        ("maxAge: {type: string}", &["DurationField spec.maxAge"]),
        ("image: {type: string}", &[]),
        ("expiry: {type: string, format: date-time}", &["TimeName spec.expiry"]),
        ("expiryTime: {type: string, format: date-time}", &[]),
        (
            "secretReference: {type: object, properties: {name: {type: string}}}",
            &["ReferenceName spec.secretReference"],
        ),
        (
            "targetRef: {type: object, properties: {kind: {type: string}, name: {type: string}}}",
            &["ReferenceGroup spec.targetRef"],
        ),
        ("targetRef: {type: object, properties: {kind: {type: string}, group: {type: string}}}", &[]),
    ] {
        assert_eq!(of_spec(field), want, "{field}");
    }
}

#[test]
fn statuses_that_depart_from_a_convention() {
    let of =
        |status: &str| found(&format!("{{type: object, properties: {{spec: {{type: object}}, status: {status}}}}}"));
    let missing = "StatusSubresource self";
    assert_eq!(of("{type: object, properties: {phase: {type: string}}}"), [missing, "PhaseField status.phase"]);
    assert_eq!(
        of("{type: object, required: [ready], properties: {ready: {type: string}}}"),
        [missing, "RequiredStatus self"]
    );
    let both = found(
        "{type: object, required: [status], properties: {spec: {type: object}, status: {type: object, required: [ready], properties: {ready: {type: string}}}}}",
    );
    assert_eq!(both, [missing, "RequiredStatus self", "RequiredStatus self"], "one for each list of required fields");
    let item = "{type: object, required: [type, status, lastTransitionTime, reason, message], properties: {type: {type: string}}}";
    let map = "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type]";
    let conditions = |rest: &str| format!("{{type: object, properties: {{conditions: {{type: array, {rest}}}}}}}");
    assert_eq!(of(&conditions(&format!("{map}, items: {item}"))), [missing]);
    assert_eq!(
        of(&conditions(&format!("x-kubernetes-list-type: atomic, items: {item}"))),
        [missing, "ConditionsList status.conditions"]
    );
    assert_eq!(
        of(&conditions(&format!("{map}, items: {}", item.replace(", message", "")))),
        [missing, "ConditionsList status.conditions"]
    );
}

#[test]
fn defaults_of_required_fields_and_missing_specs() {
    let schema = "{type: object, required: [mode], properties: {mode: {type: string, default: a}}}";
    assert_eq!(of_spec(&format!("inner: {schema}")), ["RequiredDefault spec.inner.mode"]);
    assert_eq!(found("{type: object, properties: {data: {type: object}}}"), ["MissingSpec self"]);
}

#[test]
fn versions_are_compared_with_the_stored_one() {
    let version = |name: &str, storage: bool, type_: &str| {
        format!(
            "{{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{size: {{type: {type_}}}}}}}}}}}}}}}"
        )
    };
    let mut crd = kites("        {type: object}");
    let versions = format!("[{}, {}]", version("v1", true, "string"), version("v1beta1", false, "integer"));
    let versions = crdx_text::yaml::read(versions.as_bytes()).unwrap();
    crd.get_mut("spec").unwrap().as_object_mut().unwrap().insert("versions".to_owned(), versions);
    let found = departures(&crd::decode(&crd).unwrap().crd.spec);
    let last = found.last().unwrap();
    assert_eq!(last.convention, Convention::VersionDifference);
    assert_eq!(last.crd_field, "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[size]");
    // Both have no description, which is reported once.
    let missing = found.iter().filter(|one| one.convention == Convention::MissingDescription);
    assert_eq!(missing.count(), 1);
}

#[test]
fn every_convention_has_a_severity_and_a_reason() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conventions.md");
    let page = std::fs::read_to_string(page).unwrap();
    for convention in Convention::ALL {
        let name = convention.as_str();
        assert!(format!("{name}=off").parse::<SeverityOf>().is_ok(), "{name}");
        assert!(page.contains(&format!("\n## {name}\n")), "{name}");
    }
}
