use super::*;
use crate::fixture::kites;
use crdx_server::crd;

fn found(spec: &str) -> Vec<String> {
    found_with(spec, &BTreeMap::new())
}

fn found_with(spec: &str, expensive: &BTreeMap<&str, u64>) -> Vec<String> {
    let crd = kites(&format!("        {{type: object, properties: {{spec: {spec}}}}}"));
    let crd = crd::decode(&crd).unwrap().crd;
    let faults = faults(&crd, Release::NEWEST, FaultEffort::DEFAULT, expensive);
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
fn rules_between_fields_are_proved() {
    let fields = "least: {type: integer, minimum: 0, maximum: 10}, most: {type: integer, minimum: 20}, limit: {type: integer, minimum: 20}, names: {type: array, maxItems: 5, items: {type: string}}, first: {type: string, maxLength: 8}, second: {type: string, minLength: 9, maxLength: 12}, part: {type: object, properties: {size: {type: integer, minimum: 3}}}";
    for (rules, fault) in [
        (
            &["!has(self.least) || !has(self.most) || self.least < self.most"][..],
            "DeadRule .x-kubernetes-validations[0].rule",
        ),
        (
            &["has(self.least) && has(self.most) && self.least == self.most"],
            "UnsatisfiableRule .x-kubernetes-validations[0].rule",
        ),
        (
            &["!has(self.names) || !has(self.most) || size(self.names) <= self.most"],
            "DeadRule .x-kubernetes-validations[0].rule",
        ),
        (
            &["!has(self.first) || !has(self.second) || self.first != self.second"],
            "DeadRule .x-kubernetes-validations[0].rule",
        ),
        (
            &[
                "has(self.most) && has(self.limit) && self.most < self.limit",
                "has(self.most) && has(self.limit) && self.most <= self.limit",
            ],
            "ImpliedRule .x-kubernetes-validations[1].rule",
        ),
        (
            &["has(self.most) && has(self.limit)", "self.most < self.limit", "self.limit < self.most"],
            "Unsatisfiable .x-kubernetes-validations",
        ),
        // Below an optional object.
        (
            &["!has(self.part) || !has(self.part.size) || self.part.size > 2"],
            "DeadRule .x-kubernetes-validations[0].rule",
        ),
        (&["has(self.part.size) && self.part.size < 3"], "UnsatisfiableRule .x-kubernetes-validations[0].rule"),
        (&["!has(self.part)", "!has(self.most) || self.most > 20"], "ImpossibleValue .x-kubernetes-validations"),
    ] {
        assert!(
            found(&with_rules(fields, rules)).iter().any(|one| one == fault),
            "{rules:?} {:?}",
            found(&with_rules(fields, rules))
        );
    }
}

#[test]
fn rules_between_fields_that_reject_something_are_no_fault() {
    let fields = "low: {type: integer, minimum: 0, maximum: 10}, high: {type: integer, minimum: 10}, limit: {type: integer}, names: {type: array, maxItems: 5, items: {type: string}}, first: {type: string, maxLength: 8}, second: {type: string, minLength: 8, maxLength: 12}, part: {type: object, properties: {size: {type: integer, minimum: 3}}}, weight: {type: number}, other: {type: number}";
    for rule in [
        "!has(self.low) || !has(self.high) || self.low < self.high",
        "!has(self.names) || !has(self.limit) || size(self.names) <= self.limit",
        "!has(self.first) || !has(self.second) || self.first != self.second",
        "!has(self.part) || !has(self.part.size) || self.part.size > 3",
        "!has(self.part) || self.part.size > 2",
        "!has(self.weight) || !has(self.other) || self.weight <= self.other",
    ] {
        assert_eq!(found(&with_rules(fields, &[rule])), [""; 0], "{rule}");
    }
}

#[test]
fn an_object_within_the_limits_exceeds_the_cost_of_a_rule() {
    let of = |items: &str| {
        format!(
            "{{type: object, properties: {{l: {{type: array, maxItems: {items}, items: {{type: string, maxLength: 20}}, x-kubernetes-validations: [{{rule: 'self.all(x, self.exists_one(y, y == x))'}}]}}}}}}"
        )
    };
    let rule =
        "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[l].x-kubernetes-validations[0].rule";
    let found = |items: &str| found_with(&of(items), &BTreeMap::from([(rule, u64::MAX)]));
    assert_eq!(found("900"), ["ExcessiveCost .properties[l].x-kubernetes-validations[0].rule"]);
    assert_eq!(found("100"), [""; 0]);
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

/// Faults like those in published CRDs, deeper in a schema and beside rules without a fault.
#[test]
fn planted_faults_are_found() {
    for (spec, fault) in [
        // Branches.
        (
            "{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}, {required: [a]}]}",
            "ImpossibleBranch .oneOf[0]",
        ),
        (
            "{type: object, required: [kind], properties: {kind: {type: string, enum: [A, B]}, b: {type: string}}, anyOf: [{properties: {kind: {enum: [A]}}}, {properties: {kind: {enum: [C]}}, required: [b]}]}",
            "ImpossibleBranch .anyOf[1]",
        ),
        // Rules below lists and maps.
        (
            "{type: object, properties: {l: {type: array, maxItems: 9, items: {type: object, required: [port], properties: {port: {type: integer, minimum: 1, maximum: 65535}}, x-kubernetes-validations: [{rule: self.port > 0}]}}}}",
            "DeadRule .properties[l].items.x-kubernetes-validations[0].rule",
        ),
        (
            "{type: object, properties: {m: {type: object, maxProperties: 5, additionalProperties: {type: string, enum: [always, never, auto], x-kubernetes-validations: [{rule: \"self.endsWith('x')\"}]}}}}",
            "UnsatisfiableRule .properties[m].additionalProperties.x-kubernetes-validations[0].rule",
        ),
        (
            "{type: object, properties: {l: {type: array, minItems: 1, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: size(self) > 0}]}}}",
            "DeadRule .properties[l].x-kubernetes-validations[0].rule",
        ),
        (
            "{type: object, properties: {f: {type: boolean, x-kubernetes-validations: [{rule: self || !self}]}}}",
            "DeadRule .properties[f].x-kubernetes-validations[0].rule",
        ),
        (
            "{type: object, properties: {weight: {type: number, minimum: 1, x-kubernetes-validations: [{rule: self >= 0}]}}}",
            "DeadRule .properties[weight].x-kubernetes-validations[0].rule",
        ),
        (
            "{type: object, properties: {s: {type: string, minLength: 3, maxLength: 9, x-kubernetes-validations: [{rule: \"self != '' && size(self) != 2\"}]}}}",
            "DeadRule .properties[s].x-kubernetes-validations[0].rule",
        ),
        (
            "{type: object, properties: {s: {type: string, maxLength: 3, x-kubernetes-validations: [{rule: \"self == 'Always'\"}]}}}",
            "UnsatisfiableRule .properties[s].x-kubernetes-validations[0].rule",
        ),
        // Values that rules exclude.
        (
            "{type: object, required: [mode], properties: {mode: {type: string, enum: [a, b]}, x: {type: integer}}, x-kubernetes-validations: [{rule: \"self.mode == 'a' || has(self.x)\"}, {rule: \"self.mode == 'a' || !has(self.x)\"}]}",
            "ImpossibleValue .x-kubernetes-validations",
        ),
        (
            "{type: object, properties: {x: {type: integer, nullable: true}, z: {type: boolean}}, x-kubernetes-validations: [{rule: '!has(self.x)'}, {rule: '!has(self.x) || !has(self.z)'}]}",
            "ImpliedRule .x-kubernetes-validations[1].rule",
        ),
        (
            "{type: object, properties: {x: {type: integer, minimum: 0}}, x-kubernetes-validations: [{rule: '!has(self.x) || self.x > 5'}, {rule: '!has(self.x) || self.x < 6'}]}",
            "ImpossibleValue .x-kubernetes-validations",
        ),
        (
            "{type: object, required: [x], properties: {x: {type: integer}}, x-kubernetes-validations: [{rule: self.x > 5}, {rule: self.x < 6}]}",
            "Unsatisfiable .x-kubernetes-validations",
        ),
        (
            "{type: object, properties: {x: {type: string, enum: ['1', '22'], maxLength: 1}}}",
            "ImpossibleValue .properties[x].enum",
        ),
        (
            "{type: object, properties: {l: {type: array, minItems: 3, maxItems: 2, items: {type: string}}}}",
            "Unsatisfiable .properties[l].minItems",
        ),
        // Objects.
        (
            "{type: object, properties: {p: {type: object, properties: {min: {type: integer, default: 3}, max: {type: integer, default: 2}}, x-kubernetes-validations: [{rule: self.min <= self.max}]}}}",
            "DefaultViolatesRule .properties[p].properties[max].default",
        ),
        (
            "{type: object, properties: {p: {type: object, properties: {id: {type: integer, x-kubernetes-validations: [{rule: self == oldSelf}]}}}}}",
            "AvoidableTransition .properties[p].properties[id].x-kubernetes-validations",
        ),
        (
            "{type: object, properties: {generation: {type: integer, x-kubernetes-validations: [{rule: self > oldSelf}]}}}",
            "UnchangedUpdate .properties[generation].x-kubernetes-validations",
        ),
        (
            "{type: object, properties: {l: {type: array, maxItems: 5, items: {type: string, maxLength: 5}, x-kubernetes-validations: [{rule: 'size(self) > 1', messageExpression: \"'second is ' + self[1]\"}]}}}",
            "FailingMessage .properties[l].x-kubernetes-validations[0].messageExpression",
        ),
        (
            "{type: object, required: [a], properties: {a: {type: string, maxLength: 9}}, x-kubernetes-validations: [{rule: \"self.a == 'ok'\", messageExpression: \"string(int(self.a))\"}]}",
            "FailingMessage .x-kubernetes-validations[0].messageExpression",
        ),
    ] {
        assert!(found(spec).iter().any(|one| one == fault), "{fault} {:?} {spec}", found(spec));
    }
}

/// Faults of kinds that depend on an object, on forms of rules that published CRDs have.
#[test]
fn more_planted_faults_are_shown_by_objects() {
    for (spec, fault) in [
        // Defaults.
        (
            "{type: object, properties: {tls: {type: object, default: {}, properties: {mode: {type: string, enum: [Auto, Manual], default: Manual}, secretName: {type: string, maxLength: 63}}}}, x-kubernetes-validations: [{rule: \"self.tls.mode != 'Manual' || has(self.tls.secretName)\"}]}",
            "DefaultViolatesRule .properties[tls].properties[mode].default",
        ),
        (
            "{type: object, properties: {strategy: {type: string, enum: [Recreate, Rolling], default: Rolling}, maxSurge: {type: integer}}, x-kubernetes-validations: [{rule: \"self.strategy == 'Recreate' || has(self.maxSurge)\"}]}",
            "DefaultViolatesRule .properties[strategy].default",
        ),
        // Transition rules.
        (
            "{type: object, properties: {source: {type: object, required: [kind, name], properties: {kind: {type: string, maxLength: 63}, name: {type: string, maxLength: 253}}, x-kubernetes-validations: [{rule: self == oldSelf, message: the source is immutable}]}}}",
            "AvoidableTransition .properties[source].x-kubernetes-validations",
        ),
        (
            "{type: object, properties: {storage: {type: object, properties: {gibibytes: {type: integer, minimum: 1, x-kubernetes-validations: [{rule: self >= oldSelf, message: storage cannot shrink}]}}}}}",
            "AvoidableTransition .properties[storage].properties[gibibytes].x-kubernetes-validations",
        ),
        (
            "{type: object, required: [revision], properties: {revision: {type: integer, minimum: 0, x-kubernetes-validations: [{rule: self == oldSelf + 1}]}}}",
            "UnchangedUpdate .properties[revision].x-kubernetes-validations",
        ),
        (
            "{type: object, properties: {lease: {type: object, properties: {locked: {type: boolean}, holder: {type: string, maxLength: 63}}, x-kubernetes-validations: [{rule: '!has(oldSelf.locked) || !oldSelf.locked', message: the lease is locked}]}}}",
            "UnchangedUpdate .properties[lease].x-kubernetes-validations",
        ),
        // Messages.
        (
            "{type: object, properties: {labels: {type: object, maxProperties: 5, additionalProperties: {type: string, maxLength: 63}}, replicas: {type: integer}}, x-kubernetes-validations: [{rule: '!has(self.replicas) || self.replicas < 3', messageExpression: \"'too many for ' + self.labels['owner']\"}]}",
            "FailingMessage .x-kubernetes-validations[0].messageExpression",
        ),
        (
            "{type: object, required: [cpu, nodes], properties: {cpu: {type: integer}, nodes: {type: integer}}, x-kubernetes-validations: [{rule: self.nodes > 0, messageExpression: \"'each node would have ' + string(self.cpu / self.nodes)\"}]}",
            "FailingMessage .x-kubernetes-validations[0].messageExpression",
        ),
    ] {
        assert!(found(spec).iter().any(|one| one == fault), "{fault} {:?} {spec}", found(spec));
    }
    for spec in [
        "{type: object, properties: {strategy: {type: string, enum: [Recreate, Rolling], default: Recreate}, maxSurge: {type: integer}}, x-kubernetes-validations: [{rule: \"self.strategy == 'Recreate' || has(self.maxSurge)\"}]}",
        "{type: object, required: [source], properties: {source: {type: object, required: [kind], properties: {kind: {type: string, maxLength: 63}}, x-kubernetes-validations: [{rule: self == oldSelf}]}}}",
        "{type: object, required: [cpu, nodes], properties: {cpu: {type: integer}, nodes: {type: integer, minimum: 1}}, x-kubernetes-validations: [{rule: self.nodes < self.cpu, messageExpression: \"'each node would have ' + string(self.cpu / self.nodes)\"}]}",
    ] {
        assert_eq!(found(spec), [""; 0], "{spec}");
    }
}

#[test]
fn an_object_exceeds_the_cost_of_a_rule_about_a_map_or_texts() {
    let rule =
        "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[m].x-kubernetes-validations[0].rule";
    let fault = "ExcessiveCost .properties[m].x-kubernetes-validations[0].rule";
    let map = |members: &str| {
        format!(
            "{{type: object, properties: {{m: {{type: object, maxProperties: {members}, additionalProperties: {{type: string, maxLength: 20}}, x-kubernetes-validations: [{{rule: 'self.all(x, self.exists_one(y, self[y] == self[x]))'}}]}}}}}}"
        )
    };
    let texts = |items: &str| {
        format!(
            "{{type: object, properties: {{m: {{type: array, maxItems: {items}, items: {{type: string, maxLength: 100}}, x-kubernetes-validations: [{{rule: \"self.all(x, x.matches('^([a-z]+[.])*[a-z]+$') && x.matches('^[a-z.]{{1,200}}$') && x.matches('^[^.].*[^.]$') && x.matches('^[a-z]+([.][a-z]+[.][a-z]+)*$'))\"}}]}}}}}}"
        )
    };
    for (large, small) in [(map("700"), map("50")), (texts("8000"), texts("10"))] {
        assert_eq!(found_with(&large, &BTreeMap::from([(rule, u64::MAX)])), [fault], "{large}");
        assert_eq!(found_with(&small, &BTreeMap::from([(rule, u64::MAX)])), [""; 0], "{small}");
    }
}

#[test]
fn a_misspelled_branch_and_a_rule_between_disjoint_limits_are_proved() {
    for (spec, fault) in [
        (
            "{type: object, properties: {ref: {type: object, properties: {secretRef: {type: string}, configMapRef: {type: string}}, anyOf: [{required: [secretRef]}, {required: [configmapRef]}]}}}",
            "ImpossibleBranch .properties[ref].anyOf[1]",
        ),
        (
            "{type: object, required: [low, high], properties: {low: {type: integer, maximum: 5}, high: {type: integer, minimum: 10}}, x-kubernetes-validations: [{rule: self.low > self.high}]}",
            "UnsatisfiableRule .x-kubernetes-validations[0].rule",
        ),
    ] {
        assert_eq!(found(spec), [fault], "{spec}");
    }
}
