//! Random CRDs with unusual names, versions, conversions, columns and subresources, created and updated with dry run.

use super::Pair;
use super::mutate::{Rng, any_value};
use super::schemas;
use serde_json::{Map, Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const JSON: &str = "application/json";

/// A certificate, as PEM in Base64.
const AUTHORITY: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJlRENDQVIyZ0F3SUJBZ0lCQURBS0JnZ3Foa2pPUFFRREFqQWpNU0V3SHdZRFZRUUREQmhyTTNNdGMyVnkKZG1WeUxXTmhRREUzTURBd01EQXdNREF3SGhjTk1qTXhNVEUwTWpJeE16SXdXaGNOTXpNeE1URXhNakl4TXpJdwpXakFqTVNFd0h3WURWUVFEREJock0zTXRjMlZ5ZG1WeUxXTmhRREUzTURBd01EQXdNREF3V1RBVEJnY3Foa2pPClBRSUJCZ2dxaGtqT1BRTUJCd05DQUFRCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";

pub fn compare(pair: &mut Pair, rng: &mut Rng, seed: u64, rounds: u64) {
    for round in 0..rounds {
        if pair.is_over() {
            break;
        }
        let number = seed * 1_000_000 + round;
        let base = definition(rng, number);
        let mut crd = base.clone();
        for _ in 0..rng.below(4) {
            unusual(&mut crd, rng);
        }
        let query = format!("?dryRun=All&fieldValidation={}", rng.pick(&["Strict", "Strict", "Warn", "Ignore"]));
        pair.ask("POST", &format!("{DEFINITIONS}{query}"), Some(&crd), JSON, JSON);
        if !rng.chance(6) {
            continue;
        }
        let stored = if rng.chance(2) { &crd } else { &base };
        let answer = pair.ask("POST", DEFINITIONS, Some(stored), JSON, JSON);
        if answer["kind"] != "CustomResourceDefinition" {
            continue;
        }
        let name = stored["metadata"]["name"].as_str().unwrap();
        let path = format!("{DEFINITIONS}/{name}");
        pair.settle(&path, r#""status":"True","type":"Established""#, 20);
        for _ in 0..12 {
            let mut changed = pair.stored(&path);
            changed["metadata"].as_object_mut().unwrap().remove("managedFields");
            changed["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
            changed["metadata"]["uid"] = json!("{{uid}}");
            for _ in 0..=rng.below(2) {
                unusual(&mut changed, rng);
            }
            match rng.below(6) {
                0 => {
                    let statuses = [
                        json!({"storedVersions": ["v1"]}),
                        json!({"storedVersions": ["v9"]}),
                        json!({"acceptedNames": {"plural": "x", "kind": "X"}, "conditions": null}),
                        json!({"conditions": [{"type": "Established", "status": "False"}]}),
                        json!({}),
                    ];
                    changed["status"] = rng.pick(&statuses).clone();
                    pair.ask("PUT", &format!("{path}/status{query}"), Some(&changed), JSON, JSON);
                }
                1 => {
                    let patch = json!({"spec": changed["spec"], "metadata": {"annotations": {"a": any_value(rng)}}});
                    pair.ask("PATCH", &format!("{path}{query}"), Some(&patch), "application/merge-patch+json", JSON);
                }
                2 => {
                    let applied = json!({"apiVersion": changed["apiVersion"], "kind": changed["kind"], "metadata": {"name": name}, "spec": changed["spec"]});
                    let force = rng.pick(&["", "&force=true"]);
                    let path = format!("{path}{query}&fieldManager=one{force}");
                    pair.ask("PATCH", &path, Some(&applied), "application/apply-patch+yaml", JSON);
                }
                _ => drop(pair.ask("PUT", &format!("{path}{query}"), Some(&changed), JSON, JSON)),
            }
        }
        pair.remove(stored);
    }
}

fn definition(rng: &mut Rng, number: u64) -> Value {
    let (plural, group) = (format!("plurals{number}"), "definitions.example.com");
    let versions: Vec<Value> = (0..=rng.below(3))
        .map(|index| {
            let name = ["v1", "v1beta1", "v2"][index];
            let mut schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "replicas": {"type": "integer"}, "text": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}},
                "flag": {"type": "boolean"}}}, "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}}}});
            if rng.chance(3) {
                schema["properties"]["spec"] = schemas::object_schema(rng, 2);
            }
            json!({"name": name, "served": index == 0 || rng.chance(2), "storage": index == 0, "schema": {"openAPIV3Schema": schema}})
        })
        .collect();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": format!("Kind{number}")}, "versions": versions}})
}

/// A name, often an invalid one.
fn name(rng: &mut Rng) -> Value {
    let names =
        ["a", "A", "a-b", "a.b", "", "a_b", "-a", "plurals", "Kind", "with space", "v1", "é", "aKind", "1a", "x/y"];
    match rng.below(18) {
        0 => any_value(rng),
        1 => json!("n".repeat(64)),
        _ => json!(rng.pick(&names)),
    }
}

fn text(rng: &mut Rng, texts: &[&str]) -> Value {
    if rng.chance(12) { any_value(rng) } else { json!(rng.pick(texts)) }
}

fn boolean(rng: &mut Rng) -> Value {
    if rng.chance(12) { any_value(rng) } else { json!(rng.chance(2)) }
}

/// Sets one member to an unusual value.
fn unusual(crd: &mut Value, rng: &mut Rng) {
    let at = rng.below(3);
    let count = crd["spec"]["versions"].as_array().map_or(0, Vec::len);
    if !crd["spec"].is_object() || count == 0 {
        return;
    }
    match rng.below(36) {
        0 => {
            crd["metadata"]["name"] =
                text(rng, &["other.definitions.example.com", "x", "plurals1.definitions.example.com"]);
        }
        1 => {
            crd["spec"]["group"] =
                text(rng, &["", "nodots", "UPPER.example.com", "x.k8s.io", "apps.kubernetes.io", "a..b"]);
        }
        2 => crd["spec"]["scope"] = text(rng, &["Cluster", "Namespaced", "Other", ""]),
        3..=5 => {
            let key = *rng.pick(&["plural", "singular", "kind", "listKind"]);
            let names = &mut crd["spec"]["names"];
            if names.is_object() {
                names[key] = name(rng);
            }
        }
        6 => {
            let names = &mut crd["spec"]["names"];
            if names.is_object() {
                let key = *rng.pick(&["shortNames", "categories"]);
                let some: Vec<Value> = (0..rng.below(4)).map(|_| name(rng)).collect();
                names[key] = json!(some);
            }
        }
        7 => crd["spec"]["preserveUnknownFields"] = boolean(rng),
        8..=11 => crd["spec"]["conversion"] = conversion(rng),
        12 => {
            crd["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": rng.pick(&["https://github.com/kubernetes/kubernetes/pull/1", "unapproved, testing", "", "bogus"])});
        }
        13 => {
            crd["spec"]["versions"] = rng.pick(&[json!([]), json!(null), json!([{}]), json!([{"name": "v1"}])]).clone();
        }
        26..=35 => super::keywords::add(crd, rng),
        14 => {
            let again = crd["spec"]["versions"][0].clone();
            crd["spec"]["versions"].as_array_mut().unwrap().push(again);
        }
        _ => {
            let version = &mut crd["spec"]["versions"][at.min(count - 1)];
            if version.is_object() {
                of_version(version, rng);
            }
        }
    }
}

fn of_version(version: &mut Value, rng: &mut Rng) {
    match rng.below(13) {
        0 => version["name"] = text(rng, &["v1", "v2", "V1", "", "v1beta1", "1", "a-b", "v1.2"]),
        1 => version["served"] = boolean(rng),
        2 => version["storage"] = boolean(rng),
        3 => version["deprecated"] = boolean(rng),
        4 => {
            let long = "w".repeat(300);
            version["deprecationWarning"] = text(rng, &["use v2", "", "two\nlines", "caf\u{e9}\u{7}", &long]);
        }
        5 => {
            let key = *rng.pick(&["schema", "subresources", "selectableFields", "additionalPrinterColumns"]);
            version[key] = any_value(rng);
        }
        6 => {
            version["schema"] = rng
                .pick(&[
                    json!({}),
                    json!({"openAPIV3Schema": {}}),
                    json!({"openAPIV3Schema": {"type": "string"}}),
                    json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}),
                ])
                .clone();
        }
        7 | 8 => {
            let path = |rng: &mut Rng| {
                text(
                    rng,
                    &[
                        ".spec.replicas",
                        ".status.replicas",
                        "spec.replicas",
                        ".spec.list[0]",
                        ".metadata.x",
                        ".status.selector",
                        "",
                        ".spec",
                        ".spec.text",
                        ".spec['replicas']",
                    ],
                )
            };
            let mut scale = Map::new();
            for key in ["specReplicasPath", "statusReplicasPath", "labelSelectorPath"] {
                if !rng.chance(5) {
                    scale.insert(key.to_owned(), path(rng));
                }
            }
            version["subresources"] = json!({"scale": scale});
            if rng.chance(2) {
                version["subresources"]["status"] = if rng.chance(8) { any_value(rng) } else { json!({}) };
            }
        }
        9 | 10 => {
            let columns: Vec<Value> = (0..=rng.below(3))
                .map(|_| {
                    json!({"name": text(rng, &["A", "", "B"]), "type": text(rng, &["string", "integer", "date", "object", "", "number"]),
                        "jsonPath": text(rng, &[".spec.text", "spec.text", ".spec[", "", ".spec.list[?(@ == 'a')]", "{.spec}", ".spec..x", ".metadata.labels['a/b']"]),
                        "format": text(rng, &["", "int32", "password", "nothing"]), "priority": rng.below(3)})
                })
                .collect();
            version["additionalPrinterColumns"] = json!(columns);
        }
        11 => {
            let fields: Vec<Value> = (0..=rng.below(9))
                .map(|_| json!({"jsonPath": text(rng, &[".spec.text", ".spec.flag", ".spec.replicas", ".spec.list", ".spec", ".metadata.name", "", "spec.text", ".spec.absent", ".spec.list[0]"])}))
                .collect();
            version["selectableFields"] = json!(fields);
        }
        _ => super::crds::add_keyword(version, rng),
    }
}

fn conversion(rng: &mut Rng) -> Value {
    let mut conversion = json!({"strategy": text(rng, &["None", "Webhook", "Webhook", "Webhook", "Other", ""])});
    if rng.chance(4) {
        return conversion;
    }
    let mut client = Map::new();
    if rng.chance(2) {
        let urls = [
            "https://example.com/convert",
            "http://example.com",
            "https://",
            "https://u:p@example.com/",
            "https://example.com/?q=1",
            "https://example.com/#f",
            "::",
            "https://example.com:99999/x",
            "",
        ];
        client.insert("url".to_owned(), text(rng, &urls));
    }
    if rng.chance(2) {
        let mut service =
            json!({"namespace": text(rng, &["default", "", "Bad"]), "name": text(rng, &["hook", "", "Bad"])});
        if rng.chance(2) {
            service["path"] = text(rng, &["/convert", "convert", "/a//b", "/a/Bad?x", "/", "", "/a/"]);
        }
        if rng.chance(2) {
            service["port"] = rng.pick(&[json!(443), json!(0), json!(70000), json!(-1)]).clone();
        }
        client.insert("service".to_owned(), service);
    }
    if rng.chance(2) {
        client.insert(
            "caBundle".to_owned(),
            text(
                rng,
                &[
                    AUTHORITY,
                    "YQ==",
                    "%%%",
                    "",
                    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCllRPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
                ],
            ),
        );
    }
    let mut webhook = Map::new();
    if !rng.chance(8) {
        webhook.insert("clientConfig".to_owned(), client.into());
    }
    if !rng.chance(6) {
        let lists = [
            json!(["v1"]),
            json!(["v1", "v1beta1"]),
            json!([]),
            json!(["v9"]),
            json!(["v1", "v1"]),
            json!(["Bad Name"]),
            json!(null),
        ];
        webhook.insert("conversionReviewVersions".to_owned(), rng.pick(&lists).clone());
    }
    conversion["webhook"] = webhook.into();
    conversion
}
