//! Seldom used or wrong keywords of schemas, rules and columns in CRDs.

use super::mutate::{Rng, any_value, at, paths};
use serde_json::{Value, json};

/// Parts that are merged into a schema.
fn parts(rng: &mut Rng) -> Value {
    let any = any_value(rng);
    let scalar = || json!({"type": "string"});
    let item = |more: Value| {
        let mut item = json!({"type": "object", "properties": {"k": {"type": "string"}, "n": {"type": "integer", "default": 1}, "o": {"type": "object"}}, "required": ["k"]});
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    };
    let map_of = |keys: Value, item: Value| json!({"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys});
    let all = [
        json!({"$ref": "#/definitions/x"}),
        json!({"patternProperties": {"^a": scalar()}}),
        json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        json!({"additionalItems": {"type": "string"}}),
        json!({"additionalItems": false}),
        json!({"definitions": {"x": scalar()}}),
        json!({"externalDocs": {"description": "more", "url": "https://example.com"}, "example": any}),
        json!({"id": "x", "$schema": "http://json-schema.org/draft-04/schema#", "title": "t"}),
        json!({"type": "array", "items": [scalar(), {"type": "integer"}]}),
        json!({"type": "array"}),
        json!({"type": "array", "items": {}}),
        json!({"type": "object", "properties": null, "additionalProperties": {"type": "integer"}}),
        json!({"additionalProperties": false}),
        json!({"additionalProperties": true}),
        json!({"additionalProperties": {"type": "object", "properties": {"metadata": {"type": "object"}}}}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"kind": {"type": "integer"}, "metadata": {"type": "string"}, "apiVersion": {"type": "object"}}}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "additionalProperties": {"type": "string"}}),
        json!({"x-kubernetes-int-or-string": true, "x-kubernetes-embedded-resource": true}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"x": any}}}}),
        json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "default": "x"}, "labels": {"type": "object", "additionalProperties": scalar(), "default": {"a": any}}}}}}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "properties": {"generateName": {"type": "string", "default": any}, "annotations": {"type": "object", "additionalProperties": scalar(), "default": {"b c": "d"}}}}}}),
        json!({"x-kubernetes-list-type": "bag"}),
        json!({"type": "array", "items": {"type": "array", "items": scalar()}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": {"type": "array", "items": scalar(), "x-kubernetes-list-type": "atomic"}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": {"type": "object", "properties": {"a": scalar()}}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": scalar()}}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": {"type": "string", "nullable": true}, "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": scalar(), "x-kubernetes-list-type": "set", "default": ["a", "a", 1]}),
        map_of(json!(["k"]), item(json!({"nullable": true}))),
        map_of(json!(["k"]), item(json!({"default": {"k": "x"}}))),
        map_of(json!(["k", "k"]), item(json!({}))),
        map_of(json!(["k", "n"]), item(json!({}))),
        map_of(json!(["o"]), item(json!({"required": ["o"]}))),
        map_of(json!(["absent"]), item(json!({}))),
        map_of(json!([]), item(json!({}))),
        map_of(json!(["k"]), json!([item(json!({}))])),
        map_of(json!(["k"]), scalar()),
        map_of(json!(["k"]), item(json!({"required": []}))),
        map_of(json!(["k"]), item(json!({"properties": {"k": {"type": "string", "nullable": true}}}))),
        json!({"type": "array", "items": item(json!({})), "x-kubernetes-list-map-keys": ["k"]}),
        json!({"type": "array", "items": item(json!({})), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "n"], "default": [{"k": "a"}, {"k": "a"}, {"k": 1}]}),
        json!({"x-kubernetes-map-type": "loose"}),
        json!({"type": "string", "x-kubernetes-map-type": "atomic"}),
        json!({"pattern": "["}),
        json!({"type": "string", "pattern": "(?=a)", "minLength": 3, "maxLength": 1}),
        json!({"type": "string", "minLength": -1, "maxItems": -2, "maxProperties": -3}),
        json!({"type": "integer", "multipleOf": 0, "minimum": 5, "maximum": 1}),
        json!({"type": "number", "multipleOf": -1.5, "default": 7}),
        json!({"type": "string", "enum": ["a", "a", 1, null]}),
        json!({"enum": []}),
        json!({"type": "string", "format": any}),
        json!({"type": "null"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "object", "nullable": true, "default": null}),
        json!({"type": "string", "nullable": false, "default": null}),
        json!({"uniqueItems": true}),
        json!({"exclusiveMinimum": true}),
        json!({"required": ["a", "a", ""]}),
        json!({"anyOf": [{"type": "string", "default": "x", "nullable": true, "description": "d", "title": "t"}]}),
        json!({"oneOf": [{"properties": {"absent": {"type": "string"}}}, {"additionalProperties": {"minimum": 1}}]}),
        json!({"allOf": [{"items": {"maxLength": 2}, "x-kubernetes-list-type": "set", "x-kubernetes-preserve-unknown-fields": true}]}),
        json!({"not": {"anyOf": [{"x-kubernetes-validations": [{"rule": "true"}]}, {"x-kubernetes-int-or-string": true}]}}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
        json!({"type": "string", "x-kubernetes-preserve-unknown-fields": true}),
        json!({"x-kubernetes-int-or-string": true, "type": "integer", "anyOf": [{"type": "string"}]}),
        json!({"x-kubernetes-int-or-string": true, "default": any, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]}),
        json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string", "default": 5}}, "default": {"c": 1, "b": any}}}, "default": {"a": {}}}),
    ];
    rng.pick(&all).clone()
}

/// A rule with seldom used or wrong members.
fn rule(rng: &mut Rng) -> Value {
    let rules = [
        "true",
        "",
        "self.all(x, x == x)",
        "has(self.a)",
        "self == oldSelf",
        "!oldSelf.hasValue() || self == oldSelf.value()",
        "self.",
        "size(self) > 0",
        "true ||\nfalse",
        "self.map(a, self.map(b, self.map(c, string(a) + string(b) + string(c)))).size() > 0",
        "1 > 0 ? self : self",
        "'a'.matches(self)",
        "quantity(self) > 1",
    ];
    let mut rule = json!({"rule": rng.pick(&rules)});
    if rng.chance(2) {
        let paths = [
            ".text",
            ".spec['text']",
            "['text']",
            ".list",
            ".absent",
            ".list[0]",
            "[0]",
            ".",
            "",
            "text",
            ".['a\\'b']",
            "['a",
            "['\\n\\t\\\\\\x']",
            ".text.x",
            "['']",
            ".a b",
            "['text'].x",
            "[text]",
            ".list['x']",
            ".\u{e9}",
            " .text",
            ".text\n",
            ".spec.text",
            "['a\\q']",
        ];
        rule["fieldPath"] = json!(rng.pick(&paths));
    }
    if rng.chance(3) {
        rule["message"] = json!(rng.pick(&["", " ", "two\nlines", "ok", "{{x}}"]));
    }
    if rng.chance(3) {
        let expressions = [
            "''",
            " ",
            "'a' + self",
            "string(self)",
            "self",
            "1 +",
            "'a\\nb'",
            "oldSelf",
            "[self].map(x, string(x)).join(',')",
            "'x'.split('').map(a, 'x'.split('').map(b, a + b)).flatten().join()",
        ];
        rule["messageExpression"] = json!(rng.pick(&expressions));
    }
    if rng.chance(3) {
        rule["reason"] = json!(rng.pick(&[
            "FieldValueInvalid",
            "FieldValueForbidden",
            "FieldValueRequired",
            "FieldValueDuplicate",
            "Other",
            ""
        ]));
    }
    if rng.chance(4) {
        rule["optionalOldSelf"] = json!(rng.chance(2));
    }
    if rng.chance(12) {
        let key = *rng.pick(&["rule", "message", "reason", "fieldPath", "optionalOldSelf", "unknown"]);
        rule[key] = any_value(rng);
    }
    rule
}

/// Merges a part into a random schema of the CRD, or adds rules to it.
pub fn add(crd: &mut Value, rng: &mut Rng) {
    let mut schemas: Vec<Vec<Value>> = paths(crd);
    schemas.retain(|path| path.last().is_some_and(|step| step != "items") || path.len() > 4);
    schemas.retain(|path| at(crd, path).get("type").is_some_and(Value::is_string));
    if schemas.is_empty() {
        return;
    }
    let path = rng.pick(&schemas).clone();
    let node = at(crd, &path);
    if rng.chance(3) {
        let rules: Vec<Value> = (0..=rng.below(2)).map(|_| rule(rng)).collect();
        node["x-kubernetes-validations"] = json!(rules);
        return;
    }
    for (key, value) in parts(rng).as_object().unwrap() {
        node[key] = value.clone();
    }
}
