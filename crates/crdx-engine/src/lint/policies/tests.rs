use super::*;
use crate::fixture::kites;
use crdx_server::crd;
use crdx_text as text;

fn types() -> Vec<KnownType> {
    let definition = kites(
        "        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer}
              tags: {type: array, maxItems: 10, items: {type: string, maxLength: 5}}
",
    );
    KnownType::of_definition(&crd::decode(&definition).unwrap().crd)
}

fn found(rest: &str) -> PolicyFindings {
    let rule = "{apiGroups: [example.com], apiVersions: [v1], resources: [kites]}";
    let text =
        format!("{{kind: ValidatingAdmissionPolicy, spec: {{matchConstraints: {{resourceRules: [{rule}]}}, {rest}}}}}");
    findings(&text::yaml::read(text.as_bytes()).unwrap(), &types(), Release::NEWEST)
}

#[test]
fn a_misspelt_field_has_a_suggestion() {
    let found =
        found("validations: [{expression: 'object.spec.replica > 1'}], variables: [{name: a, expression: object.spc}]");
    let help = |warnings: &[Warning]| -> Vec<(String, Option<String>)> {
        warnings.iter().map(|warning| (warning.field.clone(), warning.help.clone())).collect()
    };
    assert_eq!(
        help(&found.warnings),
        [("spec.validations[0].expression".to_owned(), Some("did you mean `replicas`?".to_owned()))]
    );
    assert_eq!(
        help(&found.own_warnings),
        [("spec.variables[0].expression".to_owned(), Some("did you mean `spec`?".to_owned()))]
    );
}

#[test]
fn costs_follow_the_sizes_of_the_schema() {
    let found = found(
        "validations: [{expression: 'object.spec.tags.all(t, t.startsWith(\"a\"))'}, {expression: 'object.spec.tags.all('}]",
    );
    let costs: Vec<Option<u64>> = found.expressions.iter().map(|cost| cost.cost).collect();
    let [Some(bounded), None] = costs.as_slice() else { panic!("{costs:?}") };
    assert!((30..1000).contains(bounded), "{bounded}");
}

#[test]
fn types_that_are_not_at_hand_are_named() {
    let notes = |rule: &str| {
        let text = format!(
            "{{spec: {{matchConstraints: {{resourceRules: [{rule}]}}, validations: [{{expression: object.bogus}}]}}}}"
        );
        let found = findings(&text::yaml::read(text.as_bytes()).unwrap(), &types(), Release::NEWEST);
        assert_eq!(found.warnings, []);
        found.notes
    };
    assert_eq!(
        notes("{apiGroups: [apps], apiVersions: [v1beta1], resources: [deployments]}"),
        ["types are not checked for apps/v1beta1/deployments: Kubernetes 1.37 does not serve it by default"]
    );
    assert_eq!(
        notes("{apiGroups: [other.example.com], apiVersions: [v1], resources: [jets]}"),
        ["types are not checked for other.example.com/v1/jets: no known CRD defines them; give it with --crds"]
    );
}

#[test]
fn the_types_of_built_in_kinds_are_known() {
    let text = "{kind: ValidatingAdmissionPolicy, spec: {matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], \
                resources: [deployments]}]}, validations: [{expression: object.spec.template.spec.hostNetwrok}]}}";
    let found = findings(&text::yaml::read(text.as_bytes()).unwrap(), &[], Release::NEWEST);
    assert_eq!(found.notes, [""; 0]);
    assert_eq!(found.warnings.len(), 1);
    assert_eq!(found.warnings[0].help.as_deref(), Some("did you mean `hostNetwork`?"));
}

#[test]
fn rules_with_a_wildcard_are_checked_against_the_crds_at_hand() {
    let text = "{kind: ValidatingAdmissionPolicy, spec: {matchConstraints: {resourceRules: [{apiGroups: [example.com], \
                apiVersions: ['*'], resources: [kites]}]}, validations: [{expression: object.spec.replica > 1}]}}";
    let found = findings(&text::yaml::read(text.as_bytes()).unwrap(), &types(), Release::NEWEST);
    assert_eq!((found.warnings.len(), found.own_warnings.len(), found.notes.len()), (0, 1, 0));
}

#[test]
fn bindings_refer_to_policies_and_params_of_the_input() {
    use super::references::Objects;
    let read = |text: &str| text::yaml::read(text.as_bytes()).unwrap();
    let api = "apiVersion: admissionregistration.k8s.io/v1";
    let mut objects = Objects::default();
    let mut add = |text: &str| objects.add(&read(text), Release::NEWEST);
    add(&format!("{{{api}, kind: ValidatingAdmissionPolicy, metadata: {{name: plain}}, spec: {{}}}}"));
    let kind = "paramKind: {apiVersion: v1, kind: ConfigMap}";
    add(&format!("{{{api}, kind: ValidatingAdmissionPolicy, metadata: {{name: limits}}, spec: {{{kind}}}}}"));
    add("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}");
    let check = |spec: &str| -> Vec<(&str, String)> {
        let binding = format!("{{{api}, kind: ValidatingAdmissionPolicyBinding, spec: {{{spec}}}}}");
        let found = objects.check(&read(&binding), Release::NEWEST);
        found.into_iter().map(|problem| (problem.kind, problem.message)).collect()
    };
    let one = |kind, message: &str| vec![(kind, message.to_owned())];
    assert_eq!(check("policyName: plain"), []);
    assert_eq!(check("policyName: limits, paramRef: {name: a, namespace: b}"), []);
    assert_eq!(check("policyName: limits, paramRef: {selector: {}}"), []);
    assert_eq!(
        check("policyName: other"),
        one("PolicyNotFound", "there is no ValidatingAdmissionPolicy \"other\" in the files")
    );
    assert_eq!(
        check("policyName: limits, paramRef: {name: a, namespace: c}"),
        one("ParamNotFound", "there is no ConfigMap \"a\" in namespace \"c\" in the files")
    );
    assert_eq!(
        check("policyName: limits"),
        one("ParamRef", "params is null in ValidatingAdmissionPolicy \"limits\", which has the paramKind ConfigMap")
    );
    assert_eq!(
        check("policyName: plain, paramRef: {name: a}"),
        one("ParamRef", "paramRef is ignored: ValidatingAdmissionPolicy \"plain\" has no paramKind")
    );
}

#[test]
fn quantities_are_unknown_to_the_server_only() {
    let text = "{kind: ValidatingAdmissionPolicy, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], \
                resources: [pods]}]}, variables: [{name: a, expression: 'object.spec.containers.all(c, has(c.resources.limits))'}], \
                validations: [{expression: 'object.spec.containers.all(c, has(c.resources.limits))'}]}}";
    let found = findings(&text::yaml::read(text.as_bytes()).unwrap(), &[], Release::NEWEST);
    assert_eq!((found.warnings.len(), found.own_warnings.len()), (1, 0));
    assert!(found.warnings[0].text.contains("undefined field 'limits'"), "{:?}", found.warnings);
}
