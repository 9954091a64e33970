use super::*;
use crate::fixture::kites;

fn found(spec: &str) -> Vec<String> {
    let crd = kites(&format!("        {{type: object, properties: {{spec: {spec}}}}}"));
    let faults = faults(&crd, Release::NEWEST, FaultEffort::DEFAULT);
    faults
        .iter()
        .map(|fault| {
            format!(
                "{} {}",
                fault.kind.as_str(),
                fault.crd_field.replace("spec.versions[0].schema.openAPIV3Schema.properties[spec]", "")
            )
        })
        .collect()
}

fn with_rules(properties: &str, rules: &[&str]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| format!("{{rule: \"{rule}\"}}")).collect();
    format!("{{type: object, properties: {{{properties}}}, x-kubernetes-validations: [{}]}}", rules.join(", "))
}

const MODE: &str = "mode: {type: string, enum: [one, two]}, size: {type: integer, minimum: 1, maximum: 9}, name: {type: string, maxLength: 20}";

#[test]
fn rules_that_are_always_or_never_true_are_proved() {
    for (rule, kind) in [
        ("!has(self.size) || self.size >= 1", "DeadRule"),
        ("!has(self.size) || self.size < 10", "DeadRule"),
        ("!has(self.mode) || self.mode in ['one', 'two', 'three']", "DeadRule"),
        ("!has(self.name) || size(self.name) <= 20", "DeadRule"),
        ("has(self.size) && self.size > 9", "UnsatisfiableRule"),
        ("has(self.mode) && self.mode == 'three'", "UnsatisfiableRule"),
    ] {
        assert_eq!(found(&with_rules(MODE, &[rule])), [format!("{kind} .x-kubernetes-validations[0].rule")], "{rule}");
    }
}

#[test]
fn rules_that_reject_something_are_no_fault() {
    for rule in [
        "!has(self.size) || self.size >= 2",
        "!has(self.size) || self.size < 9",
        "!has(self.mode) || self.mode.startsWith('o')|| !has(self.size)",
        "!has(self.name) || size(self.name) <= 19",
        "!has(self.name) || self.name != 'x'",
        "has(self.mode) || has(self.name)",
        "!has(self.name) || self.name.startsWith('a')",
    ] {
        assert_eq!(found(&with_rules(MODE, &[rule])), [""; 0], "{rule}");
    }
}

#[test]
fn implied_rules_and_impossible_values_are_proved() {
    let rules = ["!has(self.size) || self.size >= 3", "!has(self.size) || self.size >= 2"];
    assert_eq!(found(&with_rules(MODE, &rules)), ["ImpliedRule .x-kubernetes-validations[1].rule"]);
    let rules = [
        "!has(self.mode) || self.mode != 'two' || has(self.size)",
        "!has(self.mode) || self.mode != 'two' || !has(self.size)",
    ];
    assert_eq!(found(&with_rules(MODE, &rules)), ["ImpossibleValue .x-kubernetes-validations"]);
    let rules = ["has(self.size)", "!has(self.size)"];
    assert_eq!(found(&with_rules(MODE, &rules)), ["Unsatisfiable .x-kubernetes-validations"]);
}

#[test]
fn contradictions_in_the_schema_are_proved() {
    let of = |field: &str| format!("{{type: object, properties: {{a: {field}}}}}");
    for (field, fault) in [
        ("{type: integer, minimum: 5, maximum: 4}", "Unsatisfiable .properties[a].minimum"),
        ("{type: string, minLength: 5, maxLength: 4}", "Unsatisfiable .properties[a].minLength"),
        ("{type: string, enum: [abc, d], minLength: 2}", "ImpossibleValue .properties[a].enum"),
        ("{type: string, enum: [abc, d], pattern: '^x'}", "Unsatisfiable .properties[a].enum"),
        (
            "{type: object, properties: {b: {type: string}}, oneOf: [{required: [b]}, {required: [c]}]}",
            "ImpossibleBranch .properties[a].oneOf[1]",
        ),
    ] {
        assert_eq!(found(&of(field)), [fault], "{field}");
    }
}

#[test]
fn an_object_shows_a_default_that_a_rule_rejects() {
    let spec = with_rules("a: {type: integer, default: 0}, b: {type: integer}", &["self.a > 0"]);
    assert_eq!(found(&spec), ["DefaultViolatesRule .properties[a].default"]);
    assert_eq!(found(&spec.replace("default: 0", "default: 1")), [""; 0]);
}

#[test]
fn objects_show_how_a_transition_rule_is_avoided() {
    let of = |rule: &str, required: &str| {
        format!(
            "{{type: object{required}, properties: {{a: {{type: string, maxLength: 9, x-kubernetes-validations: [{{rule: {rule}}}]}}}}}}"
        )
    };
    assert_eq!(found(&of("self == oldSelf", "")), ["AvoidableTransition .properties[a].x-kubernetes-validations"]);
    assert_eq!(found(&of("self == oldSelf", ", required: [a]")), [""; 0]);
    assert_eq!(found(&of("self != oldSelf", "")), ["UnchangedUpdate .properties[a].x-kubernetes-validations"]);
}

#[test]
fn an_object_shows_a_message_that_fails() {
    let of = |message: &str| {
        format!(
            "{{type: object, properties: {{a: {{type: integer}}, b: {{type: string, maxLength: 9}}}}, x-kubernetes-validations: [{{rule: '!has(self.a) || self.a < 3', messageExpression: \"{message}\"}}]}}"
        )
    };
    assert_eq!(found(&of("'b is ' + self.b")), ["FailingMessage .x-kubernetes-validations[0].messageExpression"]);
    assert_eq!(found(&of("'a is ' + string(self.a)")), [""; 0]);
}
