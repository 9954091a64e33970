//! CRD specs with the errors of a real server (sorted, because the server's order is random).

use super::{super::strategy, validate_create};
use crate::crd::{CustomResourceDefinition, decode};
use crdx_text::json;
use crdx_text::malformed::MalformedStrings;

fn definition(spec: &str) -> CustomResourceDefinition {
    let text = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"gizmos.lab.example.io"}},"spec":{spec}}}"#
    );
    decode(&json::read(text.as_bytes()).unwrap()).unwrap().crd
}

fn created(spec: &str) -> Vec<String> {
    created_errors(definition(spec))
}

fn created_errors(mut crd: CustomResourceDefinition) -> Vec<String> {
    strategy::prepare_create(&mut crd, crdx_value::release::Release::NEWEST);
    let mut errors: Vec<String> =
        validate_create(&crd, crdx_value::release::Release::NEWEST).iter().map(ToString::to_string).collect();
    errors.sort();
    errors
}

#[test]
fn errors_that_need_too_much_memory_are_not_collected() {
    // Each of the errors has the path of its node, so they are much longer than the schema.
    let nested = |levels: usize, fields: usize| {
        let fields: Vec<String> = (0..fields).map(|i| format!(r#""p{i}":{{"type":"strin"}}"#)).collect();
        let leaf = format!(r#"{{"type":"object","properties":{{{}}}}}"#, fields.join(","));
        let name = "n".repeat(300);
        let schema =
            (0..levels).fold(leaf, |schema, _| format!(r#"{{"type":"object","properties":{{"{name}":{schema}}}}}"#));
        format!(
            r#"{{"group":"lab.example.io","names":{{"kind":"Gizmo","plural":"gizmos"}},"scope":"Namespaced","versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{schema}}}}}]}}"#
        )
    };
    let errors = created(&nested(10, 300));
    assert_eq!(errors.len(), 300);
    let errors = created(&nested(100, 1000));
    assert!(matches!(&*errors, [only] if only.contains(crdx_value::field::UNFINISHED)), "{} errors", errors.len());
}

#[test]
fn errors_have_the_servers_messages() {
    for (spec, errors) in CASES {
        assert_eq!(created(spec), *errors, "{spec}");
    }
}

#[test]
fn older_releases_convert_other_keywords_in_a_junctor() {
    let spec = |any_of: &str| {
        format!(
            r#"{{"group":"lab.example.io","names":{{"kind":"Gizmo","plural":"gizmos"}},"scope":"Namespaced","versions":[{{"name":"v1","schema":{{"openAPIV3Schema":{{"properties":{{"a":{{"anyOf":{any_of},"x-kubernetes-int-or-string":true}}}},"type":"object"}}}},"served":true,"storage":true}}]}}"#
        )
    };
    let errors = |any_of: &str, release: &str| {
        let mut crd = definition(&spec(any_of));
        let release = release.parse().unwrap();
        strategy::prepare_create(&mut crd, release);
        let mut errors: Vec<String> = validate_create(&crd, release).iter().map(ToString::to_string).collect();
        errors.sort();
        errors
    };
    let a = "spec.validation.openAPIV3Schema.properties[a]";
    let with_false = r#"[{"additionalProperties":false,"type":"integer"},{"type":"string"}]"#;
    assert_eq!(
        errors(with_false, "1.30"),
        [
            format!("{a}.anyOf[0].additionalProperties: Forbidden: must be undefined to be structural"),
            format!("{a}.anyOf[0].type: Forbidden: must be empty to be structural"),
            format!("{a}.anyOf[1].type: Forbidden: must be empty to be structural"),
        ]
    );
    assert_eq!(errors(with_false, "1.31"), [""; 0]);
    let with_example = r#"[{"example":"5%","externalDocs":{"url":"https://a"},"type":"integer"},{"type":"string"}]"#;
    assert_eq!(["1.30", "1.35", "1.36", "1.37"].map(|release| errors(with_example, release).len()), [0, 0, 2, 2]);
}

#[test]
fn strings_that_are_not_utf8_are_shown_like_in_go() {
    let mut malformed = MalformedStrings::default();
    let mut text = |bytes: &[u8]| malformed.decode(bytes);
    let (scope, pattern, warning, rule) =
        (text(b"Nam\x80spaced"), text(b"^[\xc3]"), text(b"\xff\x7f\xfe"), text(b"self.\xe9"));
    let a = format!(
        r#"{{"type":"string","pattern":"{pattern}","x-kubernetes-validations":[{{"rule":"{rule}","reason":"{rule}"}}]}}"#
    );
    let version = format!(
        r#"{{"name":"v1","deprecated":true,"deprecationWarning":"{warning}","schema":{{"openAPIV3Schema":{{"type":"object","properties":{{"a":{a}}}}}}},"served":true,"storage":true}}"#
    );
    let spec = format!(
        r#"{{"group":"lab.example.io","names":{{"kind":"Gizmo","plural":"gizmos"}},"scope":"{scope}","versions":[{version}]}}"#
    );
    let crd = CustomResourceDefinition { malformed, ..definition(&spec) };
    assert_eq!(
        created_errors(crd),
        [
            r#"spec.scope: Unsupported value: "Nam\x80spaced": supported values: "Cluster", "Namespaced""#,
            "spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: \"^[\\xc3]\": must be a valid regular expression, but isn't: error parsing regexp: invalid UTF-8: `\u{fffd}]`",
            r#"spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].reason: Unsupported value: "self.\ufffd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired""#,
            "spec.versions[0].deprecationWarning: Invalid value: \"\\ufffd\u{7f}\\ufffd\": must only contain printable UTF-8 characters",
            "spec.versions[0].deprecationWarning: Invalid value: \"\\ufffd\u{7f}\\ufffd\": must only contain printable UTF-8 characters; non-printable character found at index 1",
        ]
    );
}

#[rustfmt::skip]
const CASES: &[(&str, &[&str])] = &[
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"Gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"metadata.name: Invalid value: "gizmos.lab.example.io": must be spec.names.plural+"."+spec.group"#,
            r#"spec.names.plural: Invalid value: "Gizmos": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Galaxy","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced""#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[]}"#,
        &["spec.versions: Invalid value: []: must have exactly one version marked as storage version",
            "status.storedVersions: Invalid value: null: must have at least one stored version"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":false}]}"#,
        &[r#"spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version"#,
            "status.storedVersions: Invalid value: null: must have at least one stored version"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"string"}},"served":true,"storage":true}]}"#,
        &[r#"spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root"#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true}]}"#,
        &[],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"properties":{"b":{"type":"string"}}}},"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"anyOf":[{"type":"string"}],"type":"string"}},"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.validation.openAPIV3Schema.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"default":5,"type":"string"}},"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"spec.validation.openAPIV3Schema.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer""#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"items":{"type":"object"},"type":"array","x-kubernetes-list-type":"set"}},"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.validation.openAPIV3Schema.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"items":{"properties":{"k":{"type":"string"}},"type":"object"},"type":"array","x-kubernetes-list-map-keys":["k"],"x-kubernetes-list-type":"map"}},"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.validation.openAPIV3Schema.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"additionalProperties":{"type":"string"},"properties":{"x":{"type":"string"}},"type":"object"}},"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.validation.openAPIV3Schema.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"metadata":{"properties":{"labels":{"type":"object"}},"type":"object"}},"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"type":"integer","x-kubernetes-validations":[{"message":" ","rule":"self > 1"}]}},"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].message: Invalid value: " ": must be non-empty if specified"#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"additionalPrinterColumns":[{"jsonPath":"spec","name":"","type":"text"}],"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with ."#,
            "spec.additionalPrinterColumns[0].name: Required value",
            r#"spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string"#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true,"subresources":{"scale":{"specReplicasPath":".x","statusReplicasPath":".spec.x"}}}]}"#,
        &[r#"spec.subresources.scale.specReplicasPath: Invalid value: ".x": should be a json path under .spec"#,
            r#"spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.x": should be a json path under .status"#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"selectableFields":[{"jsonPath":".spec.none"}],"served":true,"storage":true}]}"#,
        &[r#"spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field"#],
    ),
    (
        r#"{"conversion":{"strategy":"Webhook"},"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.conversion.conversionReviewVersions: Required value",
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook"],
    ),
    (
        r#"{"group":"nodots","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"metadata.name: Invalid value: "gizmos.lab.example.io": must be spec.names.plural+"."+spec.group"#,
            r#"spec.group: Invalid value: "nodots": should be a domain with at least one dot"#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"pattern":"(","type":"string"}},"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`"#],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"preserveUnknownFields":true,"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}},"served":true,"storage":true}]}"#,
        &["spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"],
    ),
    (
        r#"{"group":"lab.example.io","names":{"kind":"Gizmo","plural":"gizmos"},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"type":"integer","x-kubernetes-validations":[{"reason":"<x>","rule":"self > 1"}]}},"type":"object"}},"served":true,"storage":true}]}"#,
        &[r#"spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].reason: Unsupported value: "\u003cx\u003e": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired""#],
    ),
];
