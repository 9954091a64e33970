use super::*;
use crate::documents;
use crate::fixture::kites;
use crate::simulation::admission::{AdmissionOptions, Objects};
use crate::simulation::object;

const EFFORT: Effort = Effort { objects: 1000, seed: 0 };

/// Returns a validating policy for creates of a resource, with its binding.
fn policy(name: &str, resource: (&str, &str), action: &str, expressions: &[&str]) -> String {
    policy_for("CREATE", name, resource, action, expressions)
}

fn policy_for(
    operation: &str,
    name: &str,
    (group, resource): (&str, &str),
    action: &str,
    expressions: &[&str],
) -> String {
    let validations: Vec<String> =
        expressions.iter().map(|expression| format!("{{expression: \"{expression}\"}}")).collect();
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: ['{group}'], apiVersions: ['*'], resources: [{resource}], operations: [{operation}]}}]
  validations: [{}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}, validationActions: [{action}]}}
---
",
        validations.join(", ")
    )
}

fn admission(policies: &str) -> Admission {
    let mut objects = Objects::default();
    for entry in documents::read("policies.yaml", policies) {
        let (object, kind) = object::read_with_kind(entry, &mut |item| panic!("{item:?}")).unwrap();
        objects.add_document(object, &kind, "default");
    }
    Admission::new(&objects, &AdmissionOptions::default(), None, Release::NEWEST, &mut Vec::new()).unwrap()
}

const KITES: (&str, &str) = ("example.com", "kites");

fn searched(old: Option<&str>, new: &str) -> Vec<KindPolicies> {
    let schema = "        {type: object, properties: {spec: {type: object, properties: {lines: {type: integer, minimum: 0}, colour: {type: string}, tails: {type: array, maxItems: 5, items: {type: object, properties: {length: {type: integer}}}}}}}}";
    let old = old.map(admission);
    let new = admission(new);
    let definitions = [kites(schema)];
    let upgrade = PolicyUpgrade {
        old: old.as_ref(),
        new: &new,
        definitions: &definitions,
        release: Release::NEWEST,
        now: Timestamp::default(),
    };
    upgrade.search(EFFORT)
}

/// Returns the specs of the objects that the policies of the only kind deny.
fn denied(kinds: &[KindPolicies]) -> Vec<Option<String>> {
    let [kind] = kinds else { panic!("{kinds:?}") };
    let spec = |answer: &Answer| match answer {
        Answer::Found(found) => Some(json::to_string(found.object.get("spec").unwrap_or(&Value::Null))),
        _ => None,
    };
    kind.policies.iter().map(|policy| spec(&policy.answer)).collect()
}

#[test]
fn the_smallest_denied_object_is_found() {
    for (expression, spec) in [
        ("!has(object.spec) || !has(object.spec.lines) || object.spec.lines != 4711", r#"{"lines":4711}"#),
        (
            "!has(object.spec) || !has(object.spec.colour) || !object.spec.colour.startsWith('red-')",
            r#"{"colour":"red-"}"#,
        ),
        (
            "!has(object.spec) || !has(object.spec.tails) || object.spec.tails.all(t, !has(t.length) || t.length < 90)",
            r#"{"tails":[{"length":90}]}"#,
        ),
    ] {
        let found = searched(None, &policy("limit", KITES, "Deny", &[expression]));
        assert_eq!(denied(&found), [Some(spec.to_owned())], "{expression}");
        assert!(matches!(found[0].allowed, Answer::Found(_)), "{expression}");
    }
}

#[test]
fn an_object_that_the_old_policy_denies_is_not_news() {
    let with = |limit: &str| {
        let expression = format!("!has(object.spec) || !has(object.spec.lines) || object.spec.lines < {limit}");
        policy("limit", KITES, "Deny", &[&expression])
    };
    assert_eq!(denied(&searched(Some(&with("20")), &with("10"))), [Some(r#"{"lines":10}"#.to_owned())]);
    assert_eq!(denied(&searched(Some(&with("20")), &with("20"))), [None]);
}

#[test]
fn a_policy_that_denies_nothing_and_policies_that_allow_nothing_have_no_object() {
    let never =
        policy("never", KITES, "Deny", &["!has(object.spec) || !has(object.spec.lines) || object.spec.lines >= 0"]);
    assert_eq!(denied(&searched(None, &never)), [None]);
    let some = policy("some", KITES, "Deny", &["has(object.spec) && has(object.spec.lines)"]);
    let none = policy("none", KITES, "Deny", &["!has(object.spec) || !has(object.spec.lines)"]);
    let both = searched(None, &(some + &none));
    assert!(denied(&both).iter().all(Option::is_some), "{both:?}");
    assert_eq!(both[0].allowed, Answer::NoneFound);
}

#[test]
fn a_binding_that_only_warns_denies_nothing() {
    let found = searched(None, &policy("limit", KITES, "Warn", &["has(object.spec.lines)"]));
    assert_eq!(found[0].policies[0].failure, PolicyFailure::Warned);
    assert!(matches!(found[0].allowed, Answer::Found(_)));
}

#[test]
fn a_field_of_a_built_in_kind_is_found_below_its_example() {
    let expression = "!object.spec.template.spec.?hostNetwork.orValue(false)";
    let found = searched(None, &policy("pods", ("apps", "deployments"), "Deny", &[expression]));
    let [kind] = &found[..] else { panic!("{found:?}") };
    let Answer::Found(found) = &kind.policies[0].answer else { panic!("{kind:?}") };
    assert_eq!(found.object.at(&["spec", "template", "spec", "hostNetwork"]), Some(&Value::Bool(true)));
}

#[test]
fn a_denied_update_is_found() {
    let expression = "!has(oldObject.spec) || !has(oldObject.spec.lines) || oldObject.spec.lines < 2 || (has(object.spec) && has(object.spec.lines) && object.spec.lines >= oldObject.spec.lines)";
    let found = searched(None, &policy_for("UPDATE", "grows", KITES, "Deny", &[expression]));
    let Answer::Found(found) = &found[0].policies[0].answer else { panic!("{found:?}") };
    let lines = |object: &Value| object.at(&["spec", "lines"]).and_then(Value::as_int);
    let before = lines(&found.object).unwrap();
    assert!(before >= 2 && lines(found.updated.as_ref().unwrap()).is_none_or(|after| after < before), "{found:?}");
    let deletes = searched(None, &policy_for("DELETE", "kept", KITES, "Deny", &["false"]));
    assert_eq!(deletes[0].policies[0].answer, Answer::CannotTell(Unknown::NoWrite));
}

#[test]
fn an_update_keeps_the_name() {
    let expression = "object.metadata.name != 'pinned' || !has(oldObject.spec) || (has(object.spec) && object.spec == oldObject.spec)";
    let found = searched(None, &policy_for("UPDATE", "pinned", KITES, "Deny", &[expression]));
    let Answer::Found(found) = &found[0].policies[0].answer else { panic!("{found:?}") };
    let updated = found.updated.as_ref().unwrap();
    assert_eq!(found.object.str_at(&["metadata", "name"]), Some("pinned"));
    assert_eq!(updated.str_at(&["metadata", "name"]), Some("pinned"));
    assert_ne!(updated.get("spec"), found.object.get("spec"));
}

#[test]
fn an_update_of_a_built_in_kind_is_found() {
    let expression = "!has(object.immutable) || !object.immutable || has(oldObject.immutable)";
    let found = searched(None, &policy_for("UPDATE", "kept", ("", "configmaps"), "Deny", &[expression]));
    let [kind] = &found[..] else { panic!("{found:?}") };
    let Answer::Found(found) = &kind.policies[0].answer else { panic!("{kind:?}") };
    assert_eq!(found.object.get("immutable"), None);
    assert_eq!(found.updated.as_ref().unwrap().get("immutable"), Some(&Value::Bool(true)));
}
