use super::*;
use crdx_text as text;
use crdx_value::object;

/// The test tables of Kubernetes.
#[test]
fn kubernetes_own_cases_agree() {
    let text = include_bytes!("../../../../../tests/facts/policy-validation.yaml");
    let data = text::yaml::read(text).unwrap();
    let cases = data.get("cases").and_then(Value::as_array).unwrap();
    let mut differing = Vec::new();
    for case in cases {
        let release = case.str_at(&["release"]).map_or(Release::NEWEST, |release| release.parse().unwrap());
        let name = case.str_at(&["objectName"]).unwrap_or("config");
        let kind = case.str_at(&["kind"]).unwrap();
        let of_spec = |spec: &Value| {
            object([
                ("apiVersion", Value::from("admissionregistration.k8s.io/v1")),
                ("kind", kind.into()),
                ("metadata", object([("name", name)])),
                ("spec", spec.clone()),
            ])
        };
        let old = case.get("old").map(of_spec);
        let errors = validate(&of_spec(case.get("spec").unwrap()), old.as_ref(), release);
        let errors = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let agrees = match case.str_at(&["error"]) {
            None => errors.is_empty(),
            Some(wanted) => errors.contains(wanted),
        };
        if !agrees {
            differing.push(format!("{kind}: {}: {errors}", case.str_at(&["name"]).unwrap()));
        }
    }
    println!("{} cases of Kubernetes' validation_test.go, {} agree", cases.len(), cases.len() - differing.len());
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(cases.len() >= 125, "{}", cases.len());
}

fn errors(text: &str, old: Option<&str>, release: Release) -> Vec<String> {
    let read = |text: &str| text::yaml::read(text.as_bytes()).unwrap();
    let errors = validate(&read(text), old.map(read).as_ref(), release);
    errors.iter().map(ToString::to_string).collect()
}

const MUTATING: &str = "kind: MutatingAdmissionPolicy
metadata: {name: m}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    matchPolicy: Exact
    namespaceSelector: {}
    objectSelector: {}
    resourceRules: [{operations: [CREATE], apiGroups: [a], apiVersions: [v1], resources: [b]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{spec: Object.spec{a: variables.x}}'}
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: \"remove\", path: \"/a\"}]'}
  variables: [{name: x, expression: '1'}]
";

#[test]
fn mutations_must_fit_their_patch_type() {
    let check = |from: &str, to: &str| {
        assert!(MUTATING.contains(from), "{from}");
        errors(&MUTATING.replace(from, to), None, Release::NEWEST)
    };
    assert_eq!(errors(MUTATING, None, Release::NEWEST), [""; 0]);
    assert_eq!(
        check("[JSONPatch{op: \"remove\", path: \"/a\"}]", "[]"),
        [
            "spec.mutations[1].jsonPatch.expression: Invalid value: \"[]\": must evaluate to list(JSONPatch) but got list(dyn)"
        ]
    );
    assert_eq!(
        check("patchType: JSONPatch", "patchType: ApplyConfiguration"),
        [
            "spec.mutations[1].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
            "spec.mutations[1].jsonPatch: Invalid value: \"{jsonPatch}\": must not be specified when patchType is \
             ApplyConfiguration",
        ]
    );
    assert_eq!(
        check("patchType: JSONPatch", "patchType: Merge"),
        [
            "spec.mutations[1].patchType: Unsupported value: \"Merge\": supported values: \"ApplyConfiguration\", \"JSONPatch\""
        ]
    );
    assert_eq!(
        check("operations: [CREATE]", "operations: [DELETE]"),
        ["spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported values: \"*\", \
             \"CONNECT\", \"CREATE\", \"UPDATE\""]
    );
    assert_eq!(check("  reinvocationPolicy: Never\n", ""), ["spec.reinvocationPolicy: Required value"]);
}

#[test]
fn selectors_are_validated_strictly() {
    let selector = "namespaceSelector: {matchLabels: {a: b c}, matchExpressions: [{key: a/b/c, operator: In}, {key: a, \
                    operator: Near}, {key: a, operator: Exists, values: [x]}]}";
    let found = errors(&MUTATING.replace("namespaceSelector: {}", selector), None, Release::NEWEST);
    let fields: Vec<&str> = found.iter().filter_map(|error| error.split(": ").next()).collect();
    let prefix = "spec.matchConstraints.namespaceSelector.";
    let fields: Vec<&str> = fields.iter().filter_map(|field| field.strip_prefix(prefix)).collect();
    assert_eq!(
        fields,
        [
            "matchLabels",
            "matchExpressions[0].values",
            "matchExpressions[0].key",
            "matchExpressions[1].operator",
            "matchExpressions[2].values",
        ],
        "{found:?}"
    );
}

#[test]
fn names_of_static_policies_are_reserved() {
    let named = MUTATING.replace("name: m", "name: m.static.k8s.io");
    let release = |minor| Release::new(minor).unwrap();
    assert_eq!(
        errors(&named, None, release(37)),
        [
            "metadata.name: Invalid value: \"m.static.k8s.io\": names ending with \".static.k8s.io\" are reserved for static \
             manifest-based configurations and cannot be managed via the API"
        ]
    );
    assert_eq!(errors(&named, Some(&named), release(37)), [""; 0]);
    let object = text::yaml::read(named.as_bytes()).unwrap();
    let warns = |old: Option<&Value>, minor| !warnings(&object, old, release(minor)).is_empty();
    assert_eq!(
        [warns(None, 35), warns(None, 36), warns(None, 37), warns(Some(&object), 37)],
        [false, true, false, true]
    );
}

#[test]
fn rules_about_reviews_have_no_effect_since_1_37() {
    let rule = |groups: &str| {
        let text = format!("webhooks: [{{rules: [{{apiGroups: {groups}, resources: [tokenreviews, tokenreviews]}}]}}]");
        text::yaml::read(text.as_bytes()).unwrap()
    };
    let found = |groups: &str, minor| warnings(&rule(groups), None, Release::new(minor).unwrap());
    assert_eq!(
        found("[authentication.k8s.io]", 37),
        [
            "webhooks[0].rules[0]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect"
        ]
    );
    assert_eq!(found("[authentication.k8s.io]", 36), [""; 0]);
    assert_eq!(found("['*']", 37), [""; 0]);
}

#[test]
fn too_many_annotations_are_shown_as_the_internal_type() {
    let annotations: Vec<String> = (0..21).map(|i| format!("{{key: k{i}, valueExpression: \"'v'\"}}")).collect();
    let policy = format!(
        "{{kind: ValidatingAdmissionPolicy, metadata: {{name: p}}, spec: {{auditAnnotations: [{}]}}}}",
        annotations.join(",")
    );
    let of = |minor| {
        let all = errors(&policy, None, Release::new(minor).unwrap());
        all.into_iter().find(|error| error.contains("must not have more than 20 auditAnnotations")).unwrap()
    };
    assert!(of(34).starts_with(r#"spec.auditAnnotations: Invalid value: [{"Key":"k0","ValueExpression":"'v'"},{"#));
    assert!(of(33).starts_with(
        r#"spec.auditAnnotations: Invalid value: []admissionregistration.AuditAnnotation{admissionregistration.AuditAnnotation{Key:"k0", ValueExpression:"'v'"}, "#
    ));
}
