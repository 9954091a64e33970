use super::*;
use crate::crd;
use crdx_text as text;

fn types(yaml: &str) -> Vec<KnownType> {
    let definition = text::yaml::read(yaml.as_bytes()).unwrap();
    KnownType::of_definition(&crd::decode(&definition).unwrap().crd)
}

fn orders() -> Vec<KnownType> {
    types(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: orders.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: orders, singular: order, kind: Order}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer}
              when: {type: string, format: date-time}
              port: {x-kubernetes-int-or-string: true}
              notes: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {count: {type: integer}}}}}}
  - name: v3
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
",
    )
}

fn policy(rule: &str, rest: &str) -> Policy {
    let text =
        format!("{{kind: ValidatingAdmissionPolicy, spec: {{matchConstraints: {{resourceRules: [{rule}]}}, {rest}}}}}");
    Policy::read(&text::yaml::read(text.as_bytes()).unwrap(), Release::NEWEST)
}

const V1: &str = "{apiGroups: [shop.example.com], apiVersions: [v1], resources: [orders]}";

fn warnings(rule: &str, expressions: &[&str]) -> Vec<String> {
    let validations: Vec<String> = expressions.iter().map(|e| format!("{{expression: \"{e}\"}}")).collect();
    let policy = policy(rule, &format!("validations: [{}]", validations.join(", ")));
    let warnings = check(&policy, &orders(), Release::NEWEST);
    warnings.iter().map(|warning| format!("{}: {}", warning.field_ref, warning.warning())).collect()
}

#[test]
fn fields_that_do_not_exist_are_found() {
    assert_eq!(
        warnings(V1, &["object.spec.replicas > 1", "object.spec.replica > 1"]),
        [
            "spec.validations[1].expression: shop.example.com/v1, Kind=Order: ERROR: <input>:1:12: undefined field 'replica'\n \
          | object.spec.replica > 1\n | ...........^\n"
        ]
    );
}

#[test]
fn every_matched_version_is_checked_in_order() {
    let both = "{apiGroups: [shop.example.com], apiVersions: [v2, v1], resources: [orders, orders/status]}";
    let found = warnings(both, &["oldObject.spec.bogus == 1"]);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    let (first, second) = (one.find("/v1, Kind=Order: ").unwrap(), one.find("/v2, Kind=Order: ").unwrap());
    assert!(first < second, "{one}");
    assert!(one.contains("^\n\nshop.example.com/v2"), "{one}");
}

#[test]
fn fields_have_the_types_of_the_published_schema() {
    let fine = [
        "object.metadata.labels['a'] == 'b'",
        "object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z')",
        "object.spec.when > timestamp('2026-01-01T00:00:00Z')",
        "object.spec.port == 1 || object.spec.port == '1'",
        "object.metadata.ownerReferences.all(o, o.kind == 'X')",
        "request.operation == 'CREATE'",
    ];
    assert_eq!(warnings(V1, &fine), [""; 0]);
    let wrong = [
        "object.spec.replicas == 'a'",
        "object.spec.notes.any == 1",
        "authorizer.requestResource.check('get').allowed()",
    ];
    assert_eq!(warnings(V1, &wrong).len(), 3);
}

#[test]
fn wildcards_and_unknown_resources_are_not_checked() {
    for rule in [
        "{apiGroups: ['*'], apiVersions: [v1], resources: [orders]}",
        "{apiGroups: [shop.example.com], apiVersions: ['*'], resources: [orders]}",
        "{apiGroups: [shop.example.com], apiVersions: [v1], resources: ['*', orders/status]}",
        "{apiGroups: [shop.example.com], apiVersions: [v3], resources: [orders]}",
        "{apiGroups: [apps], apiVersions: [v1beta9], resources: [deployments]}",
        "{apiGroups: [apps], apiVersions: ['*'], resources: [deployments]}",
    ] {
        assert_eq!(warnings(rule, &["object.bogus"]), [""; 0], "{rule}");
    }
    let rule = "{apiGroups: [apps], apiVersions: [v1beta9], resources: [deployments]}";
    assert_eq!(matched(&policy(rule, ""), &orders(), Release::NEWEST).unknown, ["apps/v1beta9/deployments"]);
    assert_eq!(warnings("{apiGroups: [''], apiVersions: [v1], resources: [Order]}", &["object.bogus"]).len(), 1);
}

#[test]
fn variables_and_params_have_types_too() {
    let text = "paramKind: {apiVersion: shop.example.com/v2, kind: Order}, variables: [{name: total, expression: object.spec.replicas}], \
                validations: [{expression: variables.total > params.spec.count}, {expression: params.spec.bogus == variables.m, \
                messageExpression: 'variables.total + 1'}, {expression: \"variables.total == 'a'\", messageExpression: 'string(variables.o)'}]";
    let found = check(&policy(V1, text), &orders(), Release::NEWEST);
    let fields: Vec<&str> = found.iter().map(|warning| warning.field_ref.as_str()).collect();
    assert_eq!(
        fields,
        ["spec.validations[1].expression", "spec.validations[2].expression", "spec.validations[2].messageExpression"]
    );
}

#[test]
fn at_most_ten_types_of_a_rule_are_checked() {
    let names: Vec<String> = (0..12).map(|i| format!("a{i:02}")).collect();
    let mut types = orders();
    types.truncate(1);
    let all: Vec<KnownType> = names
        .iter()
        .map(|name| KnownType {
            kind: Kind { kind: name.clone(), ..types[0].kind.clone() },
            resources: [name.clone(), name.clone()],
            ..types[0].clone()
        })
        .collect();
    let rule = format!("{{apiGroups: [shop.example.com], apiVersions: [v1], resources: [{}]}}", names.join(", "));
    let matched = matched(&policy(&rule, ""), &all, Release::NEWEST);
    assert!(matched.truncated);
    assert_eq!(matched.kinds.iter().map(|kind| kind.kind.as_str()).collect::<Vec<_>>(), names[..10]);
}

const DEPLOYMENTS: &str = "{apiGroups: [apps], apiVersions: [v1], resources: [deployments]}";

#[test]
fn built_in_kinds_have_the_types_of_the_release() {
    assert_eq!(
        warnings(DEPLOYMENTS, &["object.spec.replicas > 1", "object.spec.replica > 1"]),
        ["spec.validations[1].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'\n \
          | object.spec.replica > 1\n | ...........^\n"]
    );
    let since_35 = |release| {
        let rule = "{apiGroups: [''], apiVersions: [v1], resources: [pods]}";
        let policy = policy(rule, "validations: [{expression: has(object.spec.workloadRef)}]");
        check(&policy, &[], Release::new(release).unwrap()).len()
    };
    assert_eq!((since_35(34), since_35(35)), (1, 0));
}

#[test]
fn quantities_have_no_type_in_published_schemas() {
    let pods = "{apiGroups: [''], apiVersions: [v1], resources: [pods]}";
    let fine = [
        "object.spec.containers.all(c, c.ports.all(p, p.containerPort > 1) && c.image != '')",
        "object.spec.containers[0].livenessProbe.httpGet.port == 'web' || object.spec.containers[0].livenessProbe.httpGet.port == 1",
        "object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z')",
    ];
    assert_eq!(warnings(pods, &fine), [""; 0]);
    let found = warnings(pods, &["object.spec.containers.all(c, has(c.resources.limits))"]);
    assert!(found.len() == 1 && found[0].contains("undefined field 'limits'"), "{found:?}");
}

#[test]
fn a_rule_of_the_core_group_matches_all_groups() {
    let policy = policy("{apiGroups: [''], apiVersions: [v1], resources: [events, bindings]}", "");
    let matched = matched(&policy, &[], Release::NEWEST);
    let kinds: Vec<String> = matched.kinds.iter().map(Kind::text).collect();
    assert_eq!(kinds, ["/v1, Kind=Binding", "/v1, Kind=Event", "events.k8s.io/v1, Kind=Event"]);
}

#[test]
fn params_of_a_built_in_kind_have_its_type() {
    let with_param = |expression: &str| {
        let rest =
            format!("paramKind: {{apiVersion: v1, kind: ConfigMap}}, validations: [{{expression: \"{expression}\"}}]");
        check(&policy(DEPLOYMENTS, &rest), &[], Release::NEWEST).len()
    };
    assert_eq!((with_param("params.data['a'] == 'b'"), with_param("params.datum['a'] == 'b'")), (0, 1));
}

#[test]
fn rules_with_a_wildcard_name_built_in_kinds_by_their_resources() {
    let wildcard = |rule: &str| matched(&policy(rule, ""), &orders(), Release::NEWEST).by_wildcard.len();
    assert_eq!(wildcard("{apiGroups: [autoscaling], apiVersions: ['*'], resources: [horizontalpodautoscalers]}"), 2);
    assert_eq!(wildcard("{apiGroups: [apps], apiVersions: ['*'], resources: ['*']}"), 0);
    assert_eq!(wildcard("{apiGroups: [shop.example.com], apiVersions: ['*'], resources: ['*']}"), 2);
}
