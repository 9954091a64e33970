use super::*;
use crate::fixture::kites;
use crdx_text::yaml;
use crdx_value::json;

const EFFORT: Effort = Effort { objects: 600, seed: 0 };

fn crd(spec: &str) -> Value {
    kites(&format!("        {{type: object, properties: {{spec: {spec}}}}}"))
}

fn compared(old: &Value, new: &Value) -> VersionUpgrade {
    let upgrade = upgrade(old, new, Releases::both(Release::NEWEST), Timestamp::default(), EFFORT).unwrap();
    upgrade.versions.into_iter().next().unwrap()
}

fn answers(old: &str, new: &str) -> VersionUpgrade {
    compared(&crd(old), &crd(new))
}

/// Returns `spec` of the object that answers a question, `none possible` or `none found`.
fn answer(version: &VersionUpgrade, question: Question) -> String {
    let spec = |object: &Value| json::to_string(object.get("spec").unwrap_or(&Value::Null));
    match version.answer(question).unwrap() {
        Answer::Found(found) => match &found.updated {
            None => spec(&found.object),
            Some(updated) => format!("{} -> {}", spec(&found.object), spec(updated)),
        },
        Answer::NonePossible => "none possible".to_owned(),
        Answer::NoneFound => "none found".to_owned(),
        Answer::CannotTell(unknown) => unknown.to_string(),
    }
}

fn created(old: &str, new: &str) -> String {
    answer(&answers(old, new), Question::CreateRejected)
}

#[test]
fn an_update_adds_the_object_above_an_immutable_field() {
    let of = |rule: &str| {
        format!(
            "{{type: object, required: [a], properties: {{a: {{type: string, maxLength: 9, x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}}}}}"
        )
    };
    let version = answers(&of("self == oldSelf"), &of("!self.contains('.')"));
    let Some(Answer::Found(found)) = version.answer(Question::UpdateRejected) else { panic!("{version:?}") };
    assert_eq!(found.object.get("spec"), None);
    assert_eq!(json::to_string(found.updated.as_ref().unwrap().get("spec").unwrap()), r#"{"a":"."}"#);
}

#[test]
fn a_status_is_kept_although_it_has_a_default() {
    let crd = |items: &str| {
        let status = format!(
            "{{type: object, default: {{phase: new}}, properties: {{phase: {{type: string}}, features: {{type: array, {items}}}}}}}"
        );
        let mut crd = kites(&format!("        {{type: object, properties: {{status: {status}}}}}"));
        let Some(Value::Array(versions)) = crd.get_mut("spec").and_then(|spec| spec.get_mut("versions")) else {
            panic!()
        };
        versions[0].insert_at(&["subresources"], yaml::read(b"status: {}").unwrap());
        crd
    };
    let version = compared(
        &crd("items: {type: string, enum: [p, q]}"),
        &crd(
            "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}",
        ),
    );
    let Some(Answer::Found(found)) = version.answer(Question::UpdateRejected) else { panic!("{version:?}") };
    assert_eq!(json::to_string(found.object.get("status").unwrap()), r#"{"features":["p"]}"#);
}

#[test]
fn the_smallest_rejected_object_is_found() {
    let of = |node: &str| format!("{{type: object, properties: {{a: {node}, b: {{type: string}}}}}}");
    for (old, new, object) in [
        ("{type: string, enum: [p, q]}", "{type: string, enum: [p]}", r#"{"a":"q"}"#),
        ("{type: string, maxLength: 9}", "{type: string, maxLength: 2}", r#"{"a":"aaa"}"#),
        ("{type: integer}", "{type: integer, minimum: 5}", r#"{"a":0}"#),
        ("{type: integer, nullable: true}", "{type: integer, minimum: -3}", r#"{"a":-4}"#),
        ("{type: string}", "{type: string, pattern: '^b*$'}", r#"{"a":"!"}"#),
        (
            "{type: array, items: {type: string}}",
            "{type: array, maxItems: 1, items: {type: string}}",
            r#"{"a":["",""]}"#,
        ),
        ("{type: string}", "{type: integer}", r#"{"a":""}"#),
        (
            "{type: string, anyOf: [{pattern: ^a}, {pattern: b$}]}",
            "{type: string, anyOf: [{pattern: ^a}, {pattern: c$}]}",
            r#"{"a":"b"}"#,
        ),
        ("{type: number}", "{type: integer}", r#"{"a":1.5}"#),
        ("{type: number, minimum: 3, maximum: 4}", "{type: integer, minimum: 3, maximum: 4}", r#"{"a":3.5}"#),
        ("{type: integer}", "{type: integer, format: int32}", r#"{"a":2147483648}"#),
    ] {
        assert_eq!(created(&of(old), &of(new)), object, "{old} {new}");
    }
}

#[test]
fn a_limit_of_names_rejects_a_longer_name() {
    let of = |metadata: &str| kites(&format!("        {{type: object, properties: {{{metadata}}}}}"));
    let version = compared(&of(""), &of("metadata: {type: object, properties: {name: {type: string, maxLength: 20}}}"));
    let Some(Answer::Found(found)) = version.answer(Question::CreateRejected) else { panic!("{version:?}") };
    assert_eq!(found.object.str_at(&["metadata", "name"]).map(str::len), Some(21));
}

#[test]
fn a_new_rule_is_violated() {
    let with = |rules: &str| {
        format!(
            "{{type: object, properties: {{min: {{type: integer}}, max: {{type: integer}}}}, x-kubernetes-validations: [{rules}]}}"
        )
    };
    let (old, new) = (with(""), with("{rule: '!has(self.min) || !has(self.max) || self.min + 6 <= self.max'}"));
    assert_eq!(created(&old, &new), r#"{"max":1,"min":1}"#);
    let old = "{type: object, required: [a], properties: {a: {type: string}}}";
    let new = "{type: object, required: [a], properties: {a: {type: string, maxLength: 99}}, x-kubernetes-validations: [{rule: \"self.a != 'zebra'\"}]}";
    assert_eq!(created(old, &new.replace(", maxLength: 99", "")), r#"{"a":"zebra"}"#);
}

#[test]
fn ratcheting_is_counted() {
    let of = |limit: u8| format!("{{type: object, properties: {{a: {{type: string, maxLength: {limit}}}}}}}");
    let version = answers(&of(9), &of(2));
    assert_eq!(answer(&version, Question::UpdateRejected), r#"null -> {"a":"exa"}"#);
    let version = answers(
        "{type: object, properties: {a: {type: integer}}}",
        "{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: self > oldSelf}]}}}",
    );
    assert_eq!(answer(&version, Question::CreateRejected), "none found");
    assert_eq!(answer(&version, Question::UpdateRejected), r#"{"a":1}"#);
}

#[test]
fn lost_fields_and_other_defaults_are_found() {
    let version = answers(
        "{type: object, properties: {a: {type: string}, b: {type: integer}}}",
        "{type: object, properties: {a: {type: string, default: x}}}",
    );
    assert_eq!(answer(&version, Question::Pruned), r#"{"b":1}"#);
    assert_eq!(answer(&version, Question::Defaulted), "{}");
    assert_eq!(answer(&version, Question::Printed), "none found");
}

#[test]
fn a_wider_schema_is_proved() {
    let version = answers(
        "{type: object, properties: {a: {type: string, enum: [p]}}}",
        "{type: object, properties: {a: {type: string, enum: [p, q]}, b: {type: string}}}",
    );
    for question in Question::ALL {
        assert_eq!(answer(&version, question), "none possible");
    }
    assert_eq!(version.accepted, 0);
}

#[test]
fn the_same_seed_gives_the_same_answers() {
    let (old, new) = (
        "{type: object, properties: {a: {type: string}}}",
        "{type: object, properties: {a: {type: string, format: date}}}",
    );
    assert_eq!(answers(old, new), answers(old, new));
}

#[test]
fn a_list_of_two_different_items_is_tried() {
    let list = |more: &str| {
        format!(
            "{{type: object, properties: {{a: {{type: array, maxItems: 4, items: {{type: string, enum: [p, q]}}{more}}}}}}}"
        )
    };
    let rule = ", x-kubernetes-validations: [{rule: 'size(self) < 2 || self[0] == self[1]'}]";
    assert_eq!(created(&list(""), &list(rule)), r#"{"a":["p","q"]}"#);
}

/// The example with all fields is so large that the memory of the effort ends after a few of them.
#[test]
fn small_objects_of_a_large_schema_are_tried_first() {
    let texts: Vec<String> = (0..600).map(|n| format!("t{n}: {{type: string, minLength: 200}}")).collect();
    let large = format!("{{type: object, properties: {{{}}}}}", texts.join(", "));
    let spec = |nullable: &str, limit: &str| {
        let fields: Vec<String> = (0..24).map(|n| format!("f{n}: {{type: string{nullable}}}")).collect();
        format!(
            "{{type: object, properties: {{{}, large: {large}, other: {large}, z: {{type: string, maxLength: {limit}}}}}}}",
            fields.join(", ")
        )
    };
    let found = created(&spec("", "60"), &spec(", nullable: true", "59"));
    assert_eq!(found.len(), r#"{"z":""}"#.len() + 60, "{found}");
}
