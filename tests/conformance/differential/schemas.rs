//! Random CRDs: structural schemas with all keywords, rules, printer columns, subresources and several versions, with
//! objects that mostly fit them.

use super::mutate::{Rng, any_value};
use super::{Pair, Subject};
use serde_json::{Map, Value, json};

const FORMATS: [&str; 26] = [
    "byte",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "uri",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "password",
    "k8s-short-name",
    "nonsense",
];

const TEXTS: [&str; 30] = [
    "",
    "a",
    "abc",
    "a-b",
    "Zebra",
    "2024-02-29",
    "2024-02-29T12:30:00Z",
    "1h5m",
    "3 days",
    "a@b.example",
    "host.example.com",
    "10.0.0.1",
    "010.0.0.1",
    "fe80::1",
    "::ffff:10.0.0.1",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "01:23:45:67:89:ab",
    "3d813cbb-47fb-32ba-91df-831e1593ac29",
    "57b73598-8764-4ad0-a76a-679bb6640eb1",
    "https://example.com/x?y=z",
    "978-3-16-148410-0",
    "4111111111111111",
    "123-45-6789",
    "#fff",
    "rgb(1, 2, 3)",
    "aGVsbG8=",
    "é",
    "5",
    "100Mi",
];

const PATTERNS: [&str; 8] =
    ["^[a-z]*$", "^a", "[0-9]+", "^(a|b|c)$", "\\d{2,4}", "^[a-z]([-a-z0-9]*[a-z0-9])?$", "(?i)ABC", "^\\p{L}+$"];

/// A subject of one or two versions, and objects of each.
pub fn subject(rng: &mut Rng, number: u64) -> Subject {
    let (plural, kind) = (format!("things{number}"), format!("Thing{number}"));
    // A group of its own, because a group is discovered until the last of its CRDs is gone.
    let group = format!("group{number}.example.com");
    let spec = object_schema(rng, 3);
    let status = object_schema(rng, 1);
    let mut names = vec!["v1"];
    if rng.chance(2) {
        names.push("v2beta1");
    }
    let storage = rng.below(names.len());
    let mut schemas = Vec::new();
    let versions: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let spec = if index > 0 && rng.chance(2) { object_schema(rng, 2) } else { spec.clone() };
            schemas.push(spec.clone());
            version(rng, name, index == storage, &spec, &status)
        })
        .collect();
    let scope = if rng.chance(4) { "Cluster" } else { "Namespaced" };
    let mut crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": scope, "names": {"plural": plural, "kind": kind}, "versions": versions}
    });
    if rng.chance(4) {
        crd["spec"]["names"]["shortNames"] = json!([format!("t{number}")]);
        crd["spec"]["names"]["categories"] = json!(["all", "random"]);
    }
    if rng.chance(6) {
        crd["spec"]["preserveUnknownFields"] = json!(false);
    }
    let objects = (0..8)
        .map(|_| {
            let index = rng.below(names.len());
            let mut object = json!({"apiVersion": format!("{group}/{}", names[index]), "kind": kind,
                "metadata": {"name": "x", "labels": {"team": rng.pick(&["red", "blue"])}}, "spec": instance(&schemas[index], rng)});
            if rng.chance(2) {
                object["status"] = instance(&status, rng);
            }
            object
        })
        .collect();
    Subject { crd, objects }
}

fn version(rng: &mut Rng, name: &str, storage: bool, spec: &Value, status: &Value) -> Value {
    let mut schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    if rng.chance(4) {
        schema["required"] = json!(["spec"]);
    }
    if rng.chance(6) {
        schema["properties"]["metadata"] =
            json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 4}}});
    }
    if rng.chance(6) {
        let rule = *rng.pick(&[
            "self.metadata.name != 'n1'",
            "self.kind != 'X' || has(self.spec)",
            "!has(self.metadata.generateName)",
        ]);
        schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
    }
    let mut version = json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}});
    let mut leaves = Vec::new();
    scalars(spec, ".spec", &mut leaves);
    if rng.chance(2) {
        let columns: Vec<Value> = (0..=rng.below(4)).map(|i| column(rng, i, &leaves)).collect();
        version["additionalPrinterColumns"] = json!(columns);
    }
    if rng.chance(3) && !leaves.is_empty() {
        version["selectableFields"] = json!([{"jsonPath": rng.pick(&leaves).0}]);
    }
    let mut subresources = Map::new();
    if rng.chance(2) {
        subresources.insert("status".to_owned(), json!({}));
    }
    if rng.chance(3) {
        let path = leaves.iter().find(|leaf| leaf.1 == "integer").map_or(".spec.replicas", |leaf| leaf.0.as_str());
        let mut scale = json!({"specReplicasPath": path, "statusReplicasPath": ".status.replicas"});
        if rng.chance(2) {
            scale["labelSelectorPath"] = json!(".status.selector");
        }
        subresources.insert("scale".to_owned(), scale);
    }
    if !subresources.is_empty() {
        version["subresources"] = subresources.into();
    }
    if rng.chance(8) {
        version["deprecated"] = json!(true);
        if rng.chance(2) {
            version["deprecationWarning"] = json!("use another version");
        }
    }
    version
}

fn column(rng: &mut Rng, index: usize, leaves: &[(String, String)]) -> Value {
    let others = [
        ".metadata.creationTimestamp",
        ".metadata.labels.team",
        ".spec",
        ".status.conditions[?(@.type=='Ready')].status",
        ".metadata.labels['team']",
        ".spec..name",
        ".spec.list[*]",
    ];
    let (path, kind) = if leaves.is_empty() || rng.chance(3) {
        ((*rng.pick(&others)).to_owned(), "string".to_owned())
    } else {
        rng.pick(leaves).clone()
    };
    let kind =
        if rng.chance(4) { *rng.pick(&["string", "integer", "number", "boolean", "date"]) } else { kind.as_str() };
    let mut column = json!({"name": format!("C{index}"), "type": kind, "jsonPath": path});
    if rng.chance(4) {
        column["priority"] = json!(rng.below(2));
    }
    if rng.chance(6) {
        column["format"] = json!(rng.pick(&["int32", "date-time", "byte", "password", "double"]));
    }
    if rng.chance(6) {
        column["description"] = json!("a column");
    }
    column
}

/// The paths and types of fields outside of lists and maps.
fn scalars(schema: &Value, at: &str, out: &mut Vec<(String, String)>) {
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{at}.{name}");
        match child["type"].as_str() {
            Some(kind @ ("string" | "integer" | "boolean" | "number")) => out.push((path, kind.to_owned())),
            _ => scalars(child, &path, out),
        }
    }
}

const FIELDS: [&str; 14] = [
    "name",
    "replicas",
    "list",
    "set",
    "byKey",
    "map",
    "inner",
    "mode",
    "port",
    "enabled",
    "ratio",
    "template",
    "x-y",
    "namespace",
];

pub fn object_schema(rng: &mut Rng, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..=1 + rng.below(5) {
        properties.insert((*rng.pick(&FIELDS)).to_owned(), schema(rng, depth.saturating_sub(1)));
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    let mut out = json!({"type": "object", "properties": properties});
    if rng.chance(3) {
        out["required"] = json!([rng.pick(&names)]);
    }
    if rng.chance(8) {
        out["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    if rng.chance(8) {
        out["x-kubernetes-map-type"] = json!(rng.pick(&["granular", "atomic"]));
    }
    if rng.chance(10) {
        out["minProperties"] = json!(rng.below(3));
    }
    if rng.chance(10) {
        out["maxProperties"] = json!(1 + rng.below(4));
    }
    junctors(&mut out, rng);
    if rng.chance(3) {
        let name = rng.pick(&names).clone();
        let field = if name.contains('-') { name.replace('-', "__dash__") } else { name.clone() };
        let field = if field == "namespace" { "__namespace__".to_owned() } else { field };
        let mut rule = match rng.below(5) {
            0 => json!({"rule": format!("!has(oldSelf.{field}) || has(self.{field})")}),
            1 => {
                json!({"rule": format!("has(self.{field}) == (!oldSelf.hasValue() || has(oldSelf.value().{field}))"), "optionalOldSelf": true})
            }
            2 => json!({"rule": format!("!has(self.{field}) || self.{field} == self.{field}")}),
            3 => json!({"rule": format!("has(self.{field})"), "fieldPath": format!(".{name}")}),
            _ => json!({"rule": "self == oldSelf"}),
        };
        decorate(&mut rule, rng);
        out["x-kubernetes-validations"] = json!([rule]);
    }
    if rng.chance(5) {
        let value = instance(&out, rng);
        out["default"] = value;
    }
    if rng.chance(12) {
        out["nullable"] = json!(true);
    }
    out
}

/// Adds a message, a reason or a path to a rule.
fn decorate(rule: &mut Value, rng: &mut Rng) {
    if rng.chance(3) {
        rule["message"] = json!(rng.pick(&["must hold", " spaced ", "two\nlines", "é"]));
    }
    if rng.chance(4) {
        rule["messageExpression"] =
            json!(rng.pick(&["'got ' + string(self)", "'static'", "''", "'  '", "1", "dyn(self)"]));
    }
    if rng.chance(4) {
        let reasons =
            ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate", "Other"];
        rule["reason"] = json!(rng.pick(&reasons));
    }
}

/// Adds value validations that are combined by junctors.
fn junctors(out: &mut Value, rng: &mut Rng) {
    if !rng.chance(8) {
        return;
    }
    let part = |rng: &mut Rng, kind: &str| match kind {
        "string" => rng
            .pick(&[
                json!({"maxLength": 3}),
                json!({"pattern": "^a"}),
                json!({"enum": ["a", "b"]}),
                json!({"format": "ipv4"}),
                json!({"minLength": 2}),
            ])
            .clone(),
        "integer" | "number" => rng
            .pick(&[
                json!({"minimum": 2}),
                json!({"maximum": 7}),
                json!({"multipleOf": 2}),
                json!({"enum": [1, 2, 3]}),
                json!({"minimum": 0, "exclusiveMinimum": true}),
            ])
            .clone(),
        "array" => rng.pick(&[json!({"minItems": 1}), json!({"maxItems": 2})]).clone(),
        _ => rng
            .pick(&[
                json!({"required": ["name"]}),
                json!({"required": ["mode"]}),
                json!({"minProperties": 2}),
                json!({"maxProperties": 1}),
                json!({"properties": {"name": {"minLength": 1}}}),
            ])
            .clone(),
    };
    let kind = out["type"].as_str().unwrap_or("object").to_owned();
    match rng.below(4) {
        0 => out["anyOf"] = json!([part(rng, &kind), part(rng, &kind)]),
        1 => out["oneOf"] = json!([part(rng, &kind), part(rng, &kind)]),
        2 => out["allOf"] = json!([part(rng, &kind), part(rng, &kind)]),
        _ => out["not"] = part(rng, &kind),
    }
}

fn schema(rng: &mut Rng, depth: usize) -> Value {
    let mut out = match if depth == 0 { rng.below(9) } else { rng.below(18) } {
        0..=3 => string(rng),
        4 | 5 => integer(rng),
        6 => number(rng),
        7 => json!({"type": "boolean"}),
        8 => int_or_string(rng),
        9 => json!({"type": "array", "items": schema(rng, depth - 1), "maxItems": 1 + rng.below(5)}),
        10 => {
            let items =
                if rng.chance(2) { json!({"type": "string", "maxLength": 20}) } else { json!({"type": "integer"}) };
            json!({"type": "array", "items": items, "maxItems": 5, "x-kubernetes-list-type": "set"})
        }
        11 => keyed_list(rng, depth),
        12 => {
            json!({"type": "object", "additionalProperties": schema(rng, depth - 1), "maxProperties": 1 + rng.below(5)})
        }
        13 => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        14 if rng.chance(2) => json!({"x-kubernetes-preserve-unknown-fields": true}),
        14 => embedded(rng),
        _ => return object_schema(rng, depth),
    };
    junctors(&mut out, rng);
    if rng.chance(5) {
        rules(&mut out, rng);
    }
    if rng.chance(5) {
        let value = instance(&out, rng);
        out["default"] = value;
    }
    if rng.chance(8) {
        out["nullable"] = json!(true);
    }
    if rng.chance(10) {
        out["description"] = json!("a field");
    }
    out
}

fn string(rng: &mut Rng) -> Value {
    let mut out = json!({"type": "string", "maxLength": 30});
    match rng.below(7) {
        0 | 1 => out["format"] = json!(rng.pick(&FORMATS)),
        2 => out["pattern"] = json!(rng.pick(&PATTERNS)),
        3 => out["enum"] = json!(["a", "abc", ""]),
        4 => out["minLength"] = json!(rng.below(4)),
        _ => {}
    }
    if rng.chance(5) {
        out["maxLength"] = json!(rng.below(6));
    }
    out
}

fn integer(rng: &mut Rng) -> Value {
    let mut out = json!({"type": "integer"});
    if rng.chance(3) {
        out["format"] = json!(rng.pick(&["int32", "int64", "uint32"]));
    }
    if rng.chance(3) {
        out["minimum"] = json!(rng.below(4));
        if rng.chance(3) {
            out["exclusiveMinimum"] = json!(true);
        }
    }
    if rng.chance(3) {
        out["maximum"] = json!(3 + rng.below(100));
        if rng.chance(3) {
            out["exclusiveMaximum"] = json!(true);
        }
    }
    if rng.chance(8) {
        out["multipleOf"] = json!(1 + rng.below(4));
    }
    if rng.chance(8) {
        out["enum"] = json!([1, 2, 5]);
    }
    out
}

fn number(rng: &mut Rng) -> Value {
    let mut out = json!({"type": "number"});
    if rng.chance(3) {
        out["format"] = json!(rng.pick(&["float", "double"]));
    }
    if rng.chance(3) {
        out["minimum"] = json!(0.5);
    }
    if rng.chance(4) {
        out["multipleOf"] = json!(rng.pick(&[0.5, 0.1, 2.0]));
    }
    out
}

fn int_or_string(rng: &mut Rng) -> Value {
    let mut out = json!({"x-kubernetes-int-or-string": true});
    if rng.chance(2) {
        out["anyOf"] = json!([{"type": "integer"}, {"type": "string"}]);
    }
    if rng.chance(3) {
        out["pattern"] = json!("^[0-9]+%?$");
    }
    if rng.chance(4) {
        out["maxLength"] = json!(5);
    }
    out
}

fn keyed_list(rng: &mut Rng, depth: usize) -> Value {
    let mut item = object_schema(rng, depth - 1);
    for keyword in ["default", "nullable", "x-kubernetes-map-type", "minProperties", "maxProperties"] {
        item.as_object_mut().unwrap().remove(keyword);
    }
    item["properties"]["name"] = json!({"type": "string", "maxLength": 20});
    let mut keys = vec!["name"];
    item["required"] = json!(["name"]);
    if rng.chance(2) {
        item["properties"]["port"] = json!({"type": "integer"});
        if rng.chance(2) {
            item["properties"]["port"]["default"] = json!(80);
        } else {
            item["required"] = json!(["name", "port"]);
        }
        keys.push("port");
    }
    json!({"type": "array", "items": item, "maxItems": 6, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys})
}

fn embedded(rng: &mut Rng) -> Value {
    let mut out =
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    if rng.chance(2) {
        out["properties"] = json!({"spec": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}});
        if rng.chance(2) {
            out.as_object_mut().unwrap().remove("x-kubernetes-preserve-unknown-fields");
        }
    }
    out
}

/// Adds rules that fit the type.
fn rules(out: &mut Value, rng: &mut Rng) {
    let of: &[&str] = match (out["type"].as_str(), out["x-kubernetes-list-type"].as_str(), out["format"].as_str()) {
        (Some("string"), _, Some("date-time")) => &["self > timestamp('2000-01-01T00:00:00Z')", "self == oldSelf"],
        (Some("string"), _, Some("duration")) => {
            &["self < duration('10h')", "self.getMinutes() >= oldSelf.getMinutes()"]
        }
        (Some("string"), _, Some("byte")) => &["size(self) < 20", "string(self) != 'hello'"],
        (Some("string"), ..) => &[
            "self == oldSelf",
            "self.size() > 1",
            "self.startsWith(oldSelf)",
            "!self.contains('-')",
            "self.matches('^[a-z0-9.-]*$')",
            "self in ['a', 'abc', '10.0.0.1']",
            "isIP(self) || self == ''",
            "!isURL(self) || url(self).getHost() == 'example.com'",
            "isQuantity(self) ? quantity(self).isGreaterThan(quantity('1')) : true",
            "self.split('.').all(part, size(part) < 5)",
            "!format.dns1123Label().validate(self).hasValue()",
            "self.lowerAscii() == self",
            "self.find('[0-9]+') != '5'",
            "self.charAt(9) == 'x'",
        ],
        (Some("integer"), ..) => {
            &["self >= oldSelf", "self % 2 == 0", "self < 50", "10 / self > 1", "self * 9223372036854775807 > 0"]
        }
        (Some("number"), ..) => &["self < 3.5", "self == oldSelf", "int(self) > 0", "self > 1"],
        (Some("boolean"), ..) => &["self", "!(oldSelf && !self)"],
        (Some("array"), Some("map"), _) => &[
            "self.all(e, e.name != '')",
            "self.exists_one(e, e.name == 'a')",
            "oldSelf.all(o, self.exists(n, n.name == o.name))",
            "self.map(e, e.name).join(',') != 'a,b'",
        ],
        (Some("array"), Some("set"), _) => &["self.size() < 3", "oldSelf.all(o, o in self)", "self == oldSelf"],
        (Some("array"), ..) => &[
            "self.size() >= oldSelf.size()",
            "self.all(e, e == e)",
            "self.size() < 2",
            "self.all(a, self.exists_one(b, a == b))",
        ],
        (Some("object"), ..) => {
            &["self == oldSelf", "self.all(k, k != 'a')", "size(self) < 3", "'a' in self", "has(self.metadata)"]
        }
        _ => &["type(self) == int", "self == oldSelf", "self == 5 || self == '5%'"],
    };
    let made = (0..=rng.below(2)).map(|_| {
        let mut rule = json!({"rule": rng.pick(of)});
        decorate(&mut rule, rng);
        rule
    });
    out["x-kubernetes-validations"] = made.collect();
}

/// A value that mostly fits the schema.
pub fn instance(schema: &Value, rng: &mut Rng) -> Value {
    if rng.chance(60) {
        return any_value(rng);
    }
    if schema["nullable"] == true && rng.chance(4) {
        return Value::Null;
    }
    if let Some(values) = schema["enum"].as_array()
        && !rng.chance(10)
    {
        return rng.pick(values).clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!(rng.pick(&TEXTS)),
        Some("integer") => {
            json!(rng.pick(&[0, 1, 2, 3, 4, 6, 12, 40, 80, -1, 2_147_483_648_i64, i64::MAX]))
        }
        Some("number") => {
            rng.pick(&[json!(0), json!(1), json!(0.5), json!(2.25), json!(-3.5), json!(1e21), json!(1e-7)]).clone()
        }
        Some("boolean") => json!(rng.chance(2)),
        Some("array") => (0..rng.below(4)).map(|_| instance(&schema["items"], rng)).collect(),
        Some("object") if schema["x-kubernetes-embedded-resource"] == true => {
            let name = *rng.pick(&["a", "UPPER", ""]);
            let mut made = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"a": "b"}}, "spec": {"a": 1}});
            if rng.chance(6) {
                let key = *rng.pick(&["apiVersion", "kind", "metadata"]);
                made[key] = any_value(rng);
            }
            made
        }
        Some("object") if schema["additionalProperties"].is_object() => {
            let keys = ["a", "b", "x/y", "é"];
            (0..rng.below(4))
                .map(|_| ((*rng.pick(&keys)).to_owned(), instance(&schema["additionalProperties"], rng)))
                .collect()
        }
        Some("object") if schema["properties"].is_object() => {
            let mut made = Map::new();
            for (name, child) in schema["properties"].as_object().unwrap() {
                let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                if if required { !rng.chance(12) } else { rng.chance(2) } {
                    made.insert(name.clone(), instance(child, rng));
                }
            }
            if rng.chance(12) {
                made.insert("unknown".to_owned(), any_value(rng));
            }
            made.into()
        }
        _ if schema["x-kubernetes-int-or-string"] == true => {
            rng.pick(&[json!(5), json!("5%"), json!("x"), json!(80), json!("http")]).clone()
        }
        _ => any_value(rng),
    }
}

/// Removes what the real server refuses until it accepts the CRD; returns false if it does not.
pub fn accepted(pair: &mut Pair, subject: &mut Subject) -> bool {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict";
    for _ in 0..12 {
        let answer = pair.ask("POST", path, Some(&subject.crd), "application/json", "application/json");
        if answer["kind"] == "CustomResourceDefinition" {
            return true;
        }
        if !repair(&mut subject.crd, &answer) {
            break;
        }
    }
    false
}

/// Removes the parts of a CRD that the causes of a refusal name; returns false if there is nothing to remove.
fn repair(crd: &mut Value, refusal: &Value) -> bool {
    let mut removed = false;
    for cause in refusal["details"]["causes"].as_array().into_iter().flatten() {
        let field = cause["field"].as_str().unwrap_or_default().replace("spec.validation.", "spec.schema.");
        let steps: Vec<String> = field.replace('[', ".[").split('.').map(|step| step.replace(['[', ']'], "")).collect();
        let end = steps.iter().position(|step| step == "x-kubernetes-validations").map_or(steps.len(), |at| at + 1);
        // An error that all versions share is reported without a version.
        let (version, rest) = match &steps[..end] {
            [_, versions, index, rest @ ..] if versions == "versions" => (index.parse::<usize>().ok(), rest),
            [_, rest @ ..] => (None, rest),
            [] => continue,
        };
        for (index, one) in crd["spec"]["versions"].as_array_mut().unwrap().iter_mut().enumerate() {
            if version.is_none_or(|version| version == index) {
                removed |= remove(one, rest);
            }
        }
    }
    removed
}

/// Removes the deepest existing node of a path.
fn remove(node: &mut Value, steps: &[String]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return false };
    let index = || step.parse::<usize>().ok();
    let child = match &mut *node {
        Value::Object(members) => members.get_mut(step),
        Value::Array(items) => index().and_then(|index| items.get_mut(index)),
        _ => None,
    };
    let Some(child) = child else { return false };
    if remove(child, rest) {
        return true;
    }
    // A version keeps its schema.
    match node {
        Value::Object(members) if step != "schema" && step != "openAPIV3Schema" => members.remove(step).is_some(),
        Value::Array(items) => {
            items.remove(index().unwrap());
            true
        }
        _ => false,
    }
}
