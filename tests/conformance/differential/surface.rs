//! Random requests over the whole surface of custom resources: options, selectors, representations, encodings, patches,
//! subresources, deletions, discovery, and changes of the CRD between requests.

use super::mutate::{Rng, any_value, mutate};
use super::{Pair, Subject};
use serde_json::{Value, json};
use std::fmt::Write as _;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

struct Surface<'a> {
    subject: &'a Subject,
    crd: Value,
    group: String,
    plural: String,
    namespaced: bool,
    versions: Vec<String>,
}

pub fn compare(pair: &mut Pair, subject: &Subject, rng: &mut Rng, rounds: u64) {
    if !pair.install(&subject.crd) {
        return;
    }
    let spec = &subject.crd["spec"];
    let versions = spec["versions"].as_array().unwrap();
    let surface = Surface {
        subject,
        crd: subject.crd.clone(),
        group: spec["group"].as_str().unwrap().to_owned(),
        plural: spec["names"]["plural"].as_str().unwrap().to_owned(),
        namespaced: spec["scope"] == "Namespaced",
        versions: versions.iter().filter_map(|v| v["name"].as_str()).map(str::to_owned).collect(),
    };
    let change = rng.chance(3).then_some(rounds / 2);
    for round in 0..rounds {
        if change == Some(round) {
            surface.change_definition(pair, rng);
        }
        match if round < 8 { 0 } else { rng.below(42) } {
            0..=4 => surface.create(pair, rng),
            5 | 6 => surface.create_text(pair, rng),
            7..=9 => surface.update(pair, rng),
            10..=12 => surface.merge(pair, rng),
            13..=15 => surface.json_patch(pair, rng),
            16..=21 => surface.apply(pair, rng),
            22..=24 => surface.status(pair, rng),
            25 | 26 => surface.scale(pair, rng),
            27..=31 => surface.list(pair, rng),
            32 | 33 => surface.get(pair, rng),
            34..=36 => surface.delete(pair, rng),
            37 => surface.delete_collection(pair, rng),
            38 if rng.chance(2) => surface.text(pair, rng),
            38 => surface.odd(pair, rng),
            39 => surface.discover(pair, rng),
            _ => surface.definition(pair, rng),
        }
    }
    for namespace in ["default", "other"] {
        for name in names() {
            let path = surface.one(&surface.versions[0], namespace, name);
            pair.remove_finalizers(&path);
        }
        if !surface.namespaced {
            break;
        }
    }
    pair.remove(&subject.crd);
}

fn names() -> [&'static str; 4] {
    ["n0", "n1", "n2", "n-3.x"]
}

/// Joins parts with the separators of a query.
fn with(path: &str, query: &[String]) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, b| {
        if b.is_ascii_alphanumeric() || b"-._".contains(&b) {
            out.push(char::from(b));
        } else {
            let _ = write!(out, "%{b:02X}");
        }
        out
    })
}

impl Surface<'_> {
    fn base(&self, version: &str, namespace: &str) -> String {
        let within = if self.namespaced { format!("/namespaces/{namespace}") } else { String::new() };
        format!("/apis/{}/{version}{within}/{}", self.group, self.plural)
    }

    fn one(&self, version: &str, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.base(version, namespace))
    }

    fn version(&self, rng: &mut Rng) -> &str {
        &self.versions[rng.below(self.versions.len())]
    }

    fn namespace(rng: &mut Rng) -> &'static str {
        if rng.chance(6) { "other" } else { "default" }
    }

    /// A random object with the version of its apiVersion.
    fn object(&self, rng: &mut Rng, name: &str) -> (Value, String) {
        let mut object = rng.pick(&self.subject.objects).clone();
        object["metadata"].as_object_mut().map(|m| m.remove("namespace"));
        object["metadata"]["name"] = json!(name);
        let version = object["apiVersion"].as_str().unwrap().split_once('/').map_or("v1", |(_, v)| v).to_owned();
        if rng.chance(3) {
            mutate(&mut object, rng, |p| p[0] == "spec" || p[0] == "status", any_value);
        }
        if rng.chance(6) {
            self.metadata(&mut object, rng);
        }
        (object, version)
    }

    /// Sets a member of the metadata.
    fn metadata(&self, object: &mut Value, rng: &mut Rng) {
        let (key, values): (&str, Vec<Value>) = match rng.below(14) {
            0 => (
                "labels",
                vec![
                    json!({"a": "b"}),
                    json!({"a": "b c"}),
                    json!({"/": "x"}),
                    json!({"x".repeat(64): "y"}),
                    json!({"a": 1}),
                ],
            ),
            1 => (
                "annotations",
                vec![
                    json!({"a": "b"}),
                    json!({"A/b": "c"}),
                    json!({"a": null}),
                    json!([]),
                    json!({"k": "v".repeat(300)}),
                ],
            ),
            2 => (
                "finalizers",
                vec![
                    json!(["example.com/a"]),
                    json!(["bad"]),
                    json!(["orphan"]),
                    json!(["foregroundDeletion", "example.com/a"]),
                    json!(["a/b", "a/b"]),
                ],
            ),
            3 => {
                let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"});
                let mut controller = owner.clone();
                controller["controller"] = json!(true);
                (
                    "ownerReferences",
                    vec![
                        json!([owner]),
                        json!([controller, controller]),
                        json!([{}]),
                        json!([owner, owner]),
                        json!([{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}]),
                    ],
                )
            }
            4 => ("generation", vec![json!(7), json!(-1), json!("x")]),
            5 => ("uid", vec![json!("nobody"), json!("{{uid}}"), json!("")]),
            6 => ("resourceVersion", vec![json!("{{resourceVersion}}"), json!("1"), json!("x"), json!("0"), json!("")]),
            7 => ("creationTimestamp", vec![json!("2020-01-01T00:00:00Z"), json!("now"), json!(null)]),
            8 => ("deletionTimestamp", vec![json!("2020-01-01T00:00:00Z"), json!(null)]),
            9 => ("deletionGracePeriodSeconds", vec![json!(5), json!(-1)]),
            10 => (
                "managedFields",
                vec![
                    json!([]),
                    json!([{}]),
                    json!([{"manager": "m", "operation": "Update", "apiVersion": self.subject.objects[0]["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}]),
                    json!([{"manager": "m", "operation": "Other", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}]),
                    json!([{"manager": "m", "operation": "Apply", "apiVersion": "example.com/v9", "fieldsType": "FieldsV2", "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}}}]),
                    json!([{"manager": "x".repeat(200), "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"q:": 1}}]),
                ],
            ),
            11 => ("generateName", vec![json!("gen-"), json!("Gen_"), json!("")]),
            12 => ("namespace", vec![json!("default"), json!("other"), json!("")]),
            _ => ("unknown", vec![json!("x"), json!({})]),
        };
        object["metadata"][key] = rng.pick(&values).clone();
    }

    /// Query options of a write.
    fn options(rng: &mut Rng) -> Vec<String> {
        let mut query = Vec::new();
        if rng.chance(2) {
            query.push(format!("fieldValidation={}", rng.pick(&["Strict", "Strict", "Warn", "Ignore"])));
        }
        if rng.chance(4) {
            query.push("dryRun=All".to_owned());
        }
        if rng.chance(3) {
            query.push(format!("fieldManager={}", rng.pick(&["one", "two", "kubectl-edit"])));
        }
        if rng.chance(60) {
            query.push(
                (*rng.pick(&[
                    "dryRun=Some",
                    "dryRun=All&dryRun=All",
                    "fieldValidation=Loud",
                    "fieldManager=%00",
                    "fieldManager=%C3%A9",
                    "pretty=true",
                    "bogus=1",
                    "force=true",
                ]))
                .to_owned(),
            );
            if rng.chance(3) {
                query.push(format!("fieldManager={}", "m".repeat(129)));
            }
        }
        query
    }

    fn create(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let (mut object, mut version) = self.object(rng, name);
        let mut query = Self::options(rng);
        match rng.below(30) {
            0 => {
                // Stored objects with random names would be listed in a random order.
                object["metadata"] = json!({"generateName": "gen-"});
                query = vec!["dryRun=All".to_owned()];
            }
            1 => object["metadata"] = json!({}),
            2 => object["metadata"]["name"] = json!(*rng.pick(&["UPPER", "a b", "", "-x", "a/b", "..", "x%"])),
            3 => object["kind"] = json!(*rng.pick(&["Other", "", "List"])),
            4 => object["apiVersion"] = json!(*rng.pick(&["v1", "other.example.com/v1", "", "a/b/c"])),
            5 => self.version(rng).clone_into(&mut version),
            6 => {
                let key = *rng.pick(&["kind", "apiVersion", "metadata", "spec"]);
                object.as_object_mut().unwrap().remove(key);
            }
            7 => {
                let key = *rng.pick(&["kind", "apiVersion", "metadata"]);
                object[key] = any_value(rng);
            }
            _ => {}
        }
        let path = with(&self.base(&version, Self::namespace(rng)), &query);
        pair.ask("POST", &path, Some(&object), JSON, Self::accept(rng));
    }

    /// Creates or updates with a body whose text JSON encoders would not write.
    fn create_text(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let (mut object, version) = self.object(rng, name);
        let update = rng.chance(3);
        if update {
            object["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
        }
        let (mut text, mut kind) = (object.to_string(), JSON);
        match rng.below(12) {
            0 => text = text.replacen("\"spec\":", "\"spec\":{\"dup\":1},\"spec\":", 1),
            1 => text = text.replacen('{', "{\"kind\":\"Twice\",", 1),
            2 => text = text.replacen("\"name\":", "\"name\":\"first\",\"name\":", 1),
            3 => text = text.replacen(':', ":::", 1),
            4 => text.push_str(" trailing"),
            5 => text = text.chars().take(rng.below(text.len())).collect(),
            6 => text = text.replacen("\"spec\":{", "\"Spec\":{\"a\":1},\"spec\":{\"n\":1e400,", 1),
            7 => text = format!("\u{feff}{text}"),
            8 => text = text.replacen("\"labels\":", "\"labels\":{\"a\":\"b\",\"a\":\"c\"},\"unknown\":", 1),
            _ => {
                let value = crdx_text::json::read(text.as_bytes()).unwrap();
                text = crdx_text::yaml::write::to_string(&value);
                kind = YAML;
                match rng.below(7) {
                    0 => text.push_str("spec: {}\n"),
                    1 => text = text.replacen("spec:", "spec: &a\n  more: *a\nx:", 1),
                    2 => text = text.replacen("spec:", "? [a]\n: b\nspec:", 1),
                    3 => text.push_str("---\na: b\n"),
                    4 => text = text.replacen("name: ", "name: !!binary ", 1),
                    _ => {}
                }
            }
        }
        let kind = match rng.below(20) {
            0 => *rng.pick(&[
                "text/plain",
                "application/cbor",
                "application/json;charset=utf-8",
                "application/yaml; x=y",
                "*/*",
                "",
                "application/vnd.kubernetes.protobuf",
            ]),
            _ => kind,
        };
        let base = self.base(&version, "default");
        let (method, path) = if update { ("PUT", format!("{base}/{name}")) } else { ("POST", base) };
        pair.ask(method, &with(&path, &Self::options(rng)), Some(&Value::String(text)), kind, JSON);
    }

    fn update(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let (mut object, version) = self.object(rng, name);
        let path = self.one(&version, Self::namespace(rng), name);
        if !rng.chance(5) {
            object["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
        }
        if rng.chance(8) {
            object["metadata"]["name"] = json!("n1");
        }
        if rng.chance(3) {
            // The stored object with a change.
            let mut stored = pair.stored(&path);
            if stored["metadata"].is_object() {
                mutate(&mut stored, rng, |p| p[0] == "spec" || p[0] == "status", any_value);
                if rng.chance(4) {
                    self.metadata(&mut stored, rng);
                }
                if rng.chance(2) {
                    stored["metadata"]["managedFields"] = rng.pick(&[json!([]), json!([{}]), json!(null)]).clone();
                }
                stored["metadata"]["uid"] = json!("{{uid}}");
                stored["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
                object = stored;
            }
        }
        pair.ask("PUT", &with(&path, &Self::options(rng)), Some(&object), JSON, Self::accept(rng));
    }

    fn merge(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let (other, version) = self.object(rng, name);
        let mut patch = match rng.below(4) {
            0 => json!({}),
            1 => json!({"spec": any_value(rng)}),
            _ => json!({"spec": other["spec"]}),
        };
        if rng.chance(2) {
            if patch["metadata"].is_null() {
                patch["metadata"] = json!({});
            }
            self.metadata(&mut patch, rng);
        }
        if rng.chance(6) {
            patch["metadata"]["labels"] = json!({"team": rng.pick(&[json!("red"), json!("blue"), Value::Null])});
        }
        if rng.chance(20) {
            patch[*rng.pick(&["kind", "apiVersion", "status", "unknown"])] = any_value(rng);
        }
        if rng.chance(20) {
            patch = any_value(rng);
        }
        let path = with(&self.one(&version, Self::namespace(rng), name), &Self::options(rng));
        pair.ask("PATCH", &path, Some(&patch), MERGE, Self::accept(rng));
    }

    fn json_patch(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let (object, version) = self.object(rng, name);
        let mut pointers: Vec<String> = super::mutate::paths(&object)
            .into_iter()
            .map(|path| {
                path.iter().fold(String::new(), |mut out, step| {
                    out.push('/');
                    out += &step.as_str().map_or_else(|| step.to_string(), |t| t.replace('~', "~0").replace('/', "~1"));
                    out
                })
            })
            .collect();
        pointers.extend(
            [
                "/spec/list/-",
                "/spec/set/0",
                "/spec/byKey/-1",
                "",
                "/metadata/labels/a~1b",
                "/metadata/finalizers",
                "/nowhere/x",
                "spec",
                "/spec/list/99",
                "/metadata/name",
            ]
            .map(str::to_owned),
        );
        let operations: Vec<Value> = (0..=rng.below(3))
            .map(|_| {
                let (path, from) = (rng.pick(&pointers).clone(), rng.pick(&pointers).clone());
                let mut value = any_value(rng);
                if rng.chance(2)
                    && let Some(found) = object.pointer(&path)
                {
                    value = found.clone();
                }
                match rng.below(14) {
                    0..=3 => json!({"op": "add", "path": path, "value": value}),
                    4..=6 => json!({"op": "replace", "path": path, "value": value}),
                    7 | 8 => json!({"op": "remove", "path": path}),
                    9 => json!({"op": "test", "path": path, "value": value}),
                    10 => json!({"op": "copy", "from": from, "path": path}),
                    11 => json!({"op": "move", "from": from, "path": path}),
                    12 => json!({"op": "add", "path": path}),
                    _ => rng
                        .pick(&[
                            json!({"op": "delete", "path": path}),
                            json!({"path": path}),
                            json!({"op": "copy", "path": path}),
                            json!({"op": "test", "path": 1}),
                            json!(null),
                            json!({}),
                        ])
                        .clone(),
                }
            })
            .collect();
        let patch = if rng.chance(30) { any_value(rng) } else { json!(operations) };
        let path = with(&self.one(&version, "default", name), &Self::options(rng));
        pair.ask("PATCH", &path, Some(&patch), JSON_PATCH, JSON);
    }

    fn apply(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let (mut object, version) = self.object(rng, name);
        object.as_object_mut().unwrap().remove("status");
        if rng.chance(2) {
            object["spec"] = part(&object["spec"], rng);
        }
        match rng.below(24) {
            0 => object["metadata"] = json!({"name": "other"}),
            1 => object["metadata"] = json!({}),
            2 => self.metadata(&mut object, rng),
            3 => object["status"] = any_value(rng),
            4 => {
                let key = *rng.pick(&["kind", "apiVersion", "metadata", "spec"]);
                object.as_object_mut().unwrap().remove(key);
            }
            5 => object["apiVersion"] = json!(format!("{}/{}", self.group, self.version(rng))),
            _ => {}
        }
        let mut query = Self::options(rng);
        query.retain(|part| !part.starts_with("fieldManager"));
        if !rng.chance(30) {
            query.push(format!("fieldManager={}", rng.pick(&["one", "two", "three"])));
        }
        if rng.chance(3) {
            query.push(format!("force={}", rng.pick(&["true", "true", "false", "0"])));
        }
        let path = with(&self.one(&version, Self::namespace(rng), name), &query);
        let body = if rng.chance(4) {
            let value = crdx_text::json::read(object.to_string().as_bytes()).unwrap();
            let mut text = crdx_text::yaml::write::to_string(&value);
            if rng.chance(4) {
                text.push_str(rng.pick::<&str>(&[
                    "spec: {}\n",
                    "other: 1\n",
                    "---\n",
                    "  bad indent: [\n",
                    "kind: Again\n",
                ]));
            }
            Value::String(text)
        } else {
            object
        };
        pair.ask("PATCH", &path, Some(&body), APPLY, JSON);
    }

    fn status(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let (mut object, version) = self.object(rng, name);
        let path = format!("{}/status", self.one(&version, "default", name));
        if rng.chance(3) {
            object["status"] = any_value(rng);
        }
        match rng.below(5) {
            0 | 1 => {
                object["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
                pair.ask("PUT", &with(&path, &Self::options(rng)), Some(&object), JSON, JSON);
            }
            2 => {
                let patch =
                    json!({"status": object["status"], "spec": object["spec"], "metadata": {"labels": {"s": "t"}}});
                pair.ask("PATCH", &with(&path, &Self::options(rng)), Some(&patch), MERGE, JSON);
            }
            3 => {
                let force = if rng.chance(2) { "&force=true" } else { "" };
                let path = format!("{path}?fieldManager={}{force}", rng.pick(&["one", "reporter"]));
                if rng.chance(2) {
                    object.as_object_mut().unwrap().remove("spec");
                }
                pair.ask("PATCH", &path, Some(&object), APPLY, JSON);
            }
            _ => drop(pair.ask("GET", &path, None, JSON, Self::accept(rng))),
        }
    }

    fn scale(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&names());
        let version = self.version(rng).to_owned();
        let path = format!("{}/scale", self.one(&version, "default", name));
        let replicas = rng
            .pick(&[
                json!(0),
                json!(1),
                json!(3),
                json!(-1),
                json!("x"),
                json!(null),
                json!(2_147_483_648_i64),
                json!(12),
            ])
            .clone();
        let mut scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": replicas}});
        if self.namespaced {
            scale["metadata"]["namespace"] = json!("default");
        }
        match rng.below(6) {
            0 => drop(pair.ask("GET", &path, None, JSON, Self::accept(rng))),
            1 | 2 => {
                match rng.below(8) {
                    0 => scale["metadata"]["resourceVersion"] = json!("1"),
                    1 => scale["metadata"]["uid"] = json!("nobody"),
                    2 => scale["metadata"]["name"] = json!("n1"),
                    3 => scale["spec"]["unknown"] = json!(1),
                    4 => scale["kind"] = json!("Other"),
                    _ => scale["metadata"]["resourceVersion"] = json!("{{resourceVersion}}"),
                }
                pair.ask("PUT", &with(&path, &Self::options(rng)), Some(&scale), JSON, JSON);
            }
            3 => {
                let patch = json!({"spec": {"replicas": replicas}, "metadata": {"labels": {"x": "y"}}});
                pair.ask("PATCH", &with(&path, &Self::options(rng)), Some(&patch), MERGE, JSON);
            }
            4 => {
                let patch =
                    json!([{"op": rng.pick(&["add", "replace", "test"]), "path": "/spec/replicas", "value": replicas}]);
                pair.ask("PATCH", &with(&path, &Self::options(rng)), Some(&patch), JSON_PATCH, JSON);
            }
            _ => {
                let force = if rng.chance(2) { "&force=true" } else { "" };
                let path = format!("{path}?fieldManager={}{force}", rng.pick(&["one", "scaler"]));
                pair.ask("PATCH", &path, Some(&scale), APPLY, JSON);
            }
        }
    }

    /// A representation of an object.
    fn accept(rng: &mut Rng) -> &'static str {
        if !rng.chance(5) {
            return JSON;
        }
        rng.pick::<&str>(&[
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
            "application/json;as=Other;v=v1;g=meta.k8s.io",
            "application/json;q=0.5,*/*;q=0.1",
            "text/plain",
            "*/*",
            "",
            "application/json;stream=watch",
        ])
    }

    fn selection(&self, rng: &mut Rng) -> Vec<String> {
        let mut query = Vec::new();
        if rng.chance(2) {
            let selectors = [
                "team=red",
                "team==blue",
                "team!=red",
                "team in (red,blue)",
                "team notin (red)",
                "team",
                "!team",
                "a=b,team=red",
                "",
                "team in ()",
                "team=",
                "=red",
                "team in (red",
                "team>1",
                "n<5",
                "n>0x1",
                "UPPER/x=1",
                "team = red , !x",
                "x/y/z=1",
                "team in (red,,blue)",
                "team=red=",
                ",",
                "team notin (a,b),x",
            ];
            query.push(format!("labelSelector={}", escaped(rng.pick::<&str>(&selectors))));
        }
        if rng.chance(3) {
            let mut selectors: Vec<String> = [
                "metadata.name=n0",
                "metadata.name!=n0",
                "metadata.namespace=default",
                "metadata.namespace!=other",
                "metadata.name==n1,metadata.namespace=default",
                "spec.nothing=1",
                "a",
                "metadata.name=",
                "metadata.name=a=b",
                "metadata.name=\\,",
                "metadata.name=n1,,",
                "metadata.name>a",
                "",
            ]
            .map(str::to_owned)
            .to_vec();
            for version in self.crd["spec"]["versions"].as_array().unwrap() {
                for field in version["selectableFields"].as_array().into_iter().flatten() {
                    let path = field["jsonPath"].as_str().unwrap().trim_start_matches('.');
                    for value in ["a", "", "true", "1"] {
                        selectors.push(format!("{path}={value}"));
                        selectors.push(format!("{path}!={value},metadata.name!=n1"));
                    }
                }
            }
            query.push(format!("fieldSelector={}", escaped(rng.pick::<String>(&selectors))));
        }
        query
    }

    fn list(&self, pair: &mut Pair, rng: &mut Rng) {
        let version = self.version(rng).to_owned();
        let path = if rng.chance(3) {
            format!("/apis/{}/{version}/{}", self.group, self.plural)
        } else {
            self.base(&version, Self::namespace(rng))
        };
        let mut query = self.selection(rng);
        if rng.chance(4) {
            query.push(format!("resourceVersion={}", rng.pick(&["0", "{{listVersion}}", "x", "-1", ""])));
        }
        if rng.chance(5) {
            query.push(format!("resourceVersionMatch={}", rng.pick(&["Exact", "NotOlderThan", "Other", ""])));
        }
        if rng.chance(3) {
            query.push(format!("limit={}", rng.pick(&["1", "2", "100", "0", "-1", "x"])));
            if rng.chance(2) {
                return pair.pages(&with(&path, &query), Self::list_accept(rng));
            }
        }
        if rng.chance(20) {
            query.push(
                (*rng.pick(&[
                    "continue=abc",
                    "timeoutSeconds=x",
                    "watch=maybe&timeoutSeconds=1",
                    "sendInitialEvents=true",
                    "allowWatchBookmarks=true",
                    "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTk5OTk5OTk5LCJzdGFydCI6ImEifQ",
                ]))
                .to_owned(),
            );
        }
        if rng.chance(6) {
            query.push(format!("includeObject={}", rng.pick(&["None", "Metadata", "Object", "All"])));
        }
        pair.ask("GET", &with(&path, &query), None, JSON, Self::list_accept(rng));
    }

    fn list_accept(rng: &mut Rng) -> &'static str {
        rng.pick::<&str>(&[
            JSON,
            JSON,
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        ])
    }

    fn get(&self, pair: &mut Pair, rng: &mut Rng) {
        let name = *rng.pick(&["n0", "n1", "n2", "n-3.x", "absent", "UPPER"]);
        let version = self.version(rng).to_owned();
        let query = if rng.chance(6) {
            rng.pick(&[
                "?resourceVersion=0",
                "?resourceVersion=x",
                "?pretty=true",
                "?includeObject=None",
                "?resourceVersion={{resourceVersion}}",
                "?fieldSelector=metadata.name%3Dn1",
            ])
        } else {
            &""
        };
        let path = format!("{}{query}", self.one(&version, Self::namespace(rng), name));
        pair.ask("GET", &path, None, JSON, Self::list_accept(rng));
    }

    fn delete_options(rng: &mut Rng) -> Value {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        let members = [
            json!({"propagationPolicy": "Foreground"}),
            json!({"propagationPolicy": "Background"}),
            json!({"propagationPolicy": "Orphan"}),
            json!({"propagationPolicy": "Never"}),
            json!({"orphanDependents": true}),
            json!({"orphanDependents": false}),
            json!({"orphanDependents": true, "propagationPolicy": "Orphan"}),
            json!({"gracePeriodSeconds": 0}),
            json!({"gracePeriodSeconds": 30}),
            json!({"gracePeriodSeconds": -1}),
            json!({"gracePeriodSeconds": "x"}),
            json!({"dryRun": ["All"]}),
            json!({"dryRun": ["Some"]}),
            json!({"dryRun": "All"}),
            json!({"preconditions": {"uid": "{{uid}}"}}),
            json!({"preconditions": {"uid": "other"}}),
            json!({"preconditions": {"resourceVersion": "{{resourceVersion}}"}}),
            json!({"preconditions": {"resourceVersion": "1"}}),
            json!({"preconditions": {}}),
            json!({"ignoreStoreReadErrorWithClusterBreakingPotential": true}),
            json!({"unknown": 1}),
            json!({"kind": "Other"}),
            json!({"apiVersion": "meta.k8s.io/v1"}),
            json!({"apiVersion": "other/v1"}),
        ];
        for _ in 0..rng.below(3) {
            for (key, value) in rng.pick(&members).as_object().unwrap() {
                options[key] = value.clone();
            }
        }
        options
    }

    fn delete(&self, pair: &mut Pair, rng: &mut Rng) {
        let path = self.one(self.version(rng), Self::namespace(rng), rng.pick::<&str>(&names()));
        if rng.chance(2) {
            pair.ask("DELETE", &path, Some(&Self::delete_options(rng)), JSON, JSON);
        } else {
            let query = rng.pick(&[
                "",
                "",
                "?propagationPolicy=Foreground",
                "?propagationPolicy=Orphan",
                "?dryRun=All",
                "?gracePeriodSeconds=5",
                "?orphanDependents=true",
                "?propagationPolicy=X",
                "?gracePeriodSeconds=x",
                "?dryRun=x",
                "?uid=u",
            ]);
            pair.ask("DELETE", &format!("{path}{query}"), None, JSON, Self::accept(rng));
        }
    }

    fn delete_collection(&self, pair: &mut Pair, rng: &mut Rng) {
        let mut query = self.selection(rng);
        if rng.chance(2) {
            query.push("dryRun=All".to_owned());
        } else if query.is_empty() {
            query.push("labelSelector=team%3Dred".to_owned());
        }
        let body = rng.chance(3).then(|| Self::delete_options(rng));
        let path = with(&self.base(self.version(rng), "other"), &query);
        pair.ask("DELETE", &path, body.as_ref(), JSON, JSON);
    }

    /// The text of an object, a list, a Table or an error.
    fn text(&self, pair: &mut Pair, rng: &mut Rng) {
        let version = self.version(rng).to_owned();
        let path = match rng.below(5) {
            0 => self.base(&version, "default"),
            1 => format!("{DEFINITIONS}/{}", self.subject.name()),
            2 => format!("{}/scale", self.one(&version, "default", "n0")),
            _ => self.one(&version, "default", rng.pick::<&str>(&names())),
        };
        let accept = rng.pick(&[
            JSON,
            YAML,
            "application/json;pretty=1",
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/yaml;as=Table;v=v1;g=meta.k8s.io",
        ]);
        pair.text(&path, accept);
    }

    /// Methods, paths and types without a handler.
    fn odd(&self, pair: &mut Pair, rng: &mut Rng) {
        let version = self.version(rng).to_owned();
        let (base, one) = (self.base(&version, "default"), self.one(&version, "default", "n0"));
        let (object, _) = self.object(rng, "n0");
        let cases: [(&str, String, &str); 18] = [
            ("POST", one.clone(), JSON),
            ("PUT", base.clone(), JSON),
            ("PATCH", base.clone(), MERGE),
            ("PATCH", one.clone(), "application/strategic-merge-patch+json"),
            ("PATCH", one.clone(), "text/plain"),
            ("PATCH", one.clone(), "application/apply-patch+cbor"),
            ("PATCH", one.clone(), "application/merge-patch+json; charset=utf-8"),
            ("GET", format!("{one}/nothing"), JSON),
            ("PUT", format!("{one}/nothing"), JSON),
            ("DELETE", format!("{one}/status"), JSON),
            ("DELETE", format!("{one}/scale"), JSON),
            ("POST", format!("{one}/status"), JSON),
            ("GET", format!("/apis/{}/v9/{}", self.group, self.plural), JSON),
            ("GET", format!("/apis/{}/{version}/nothings", self.group), JSON),
            ("GET", format!("{one}/status/x"), JSON),
            ("GET", format!("{base}/a%2Fb"), JSON),
            ("POST", format!("/apis/{}/{version}/{}", self.group, self.plural), JSON),
            (
                "GET",
                format!("/apis/{}/{version}/watch/namespaces/default/{}?timeoutSeconds=1", self.group, self.plural),
                JSON,
            ),
        ];
        let (method, path, content_type) = &cases[rng.below(17)];
        let body = (*method != "GET" && *method != "DELETE").then_some(&object);
        pair.ask(method, path, body, content_type, JSON);
    }

    fn discover(&self, pair: &mut Pair, rng: &mut Rng) {
        let version = self.version(rng);
        let paths = [
            format!("/apis/{}", self.group),
            format!("/apis/{}/{version}", self.group),
            format!("/apis/{}/v9", self.group),
            "/apis/absent.example.com".to_owned(),
            "/apis/apiextensions.k8s.io/v1".to_owned(),
            "/apis/apiextensions.k8s.io".to_owned(),
            "/healthz/ping".to_owned(),
        ];
        let accept = rng.pick(&[
            JSON,
            JSON,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            "text/plain",
            "*/*",
        ]);
        pair.ask("GET", rng.pick::<String>(&paths), None, JSON, accept);
    }

    /// A read or a dry-run write of the CRD.
    fn definition(&self, pair: &mut Pair, rng: &mut Rng) {
        let path = format!("{DEFINITIONS}/{}", self.subject.name());
        let mut crd = pair.stored(&path);
        if crd["kind"] != "CustomResourceDefinition" {
            return;
        }
        crd["metadata"].as_object_mut().unwrap().remove("managedFields");
        crd["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
        crd["metadata"]["uid"] = json!("{{uid}}");
        let query = format!("?dryRun=All&fieldValidation={}", rng.pick(&["Strict", "Warn", "Ignore"]));
        match rng.below(9) {
            0 => drop(pair.ask("GET", &path, None, JSON, Self::list_accept(rng))),
            1 | 2 => {
                mutate(&mut crd, rng, |p| p[0] == "spec" && p.len() > 1, super::crds::any_part);
                pair.ask("PUT", &format!("{path}{query}"), Some(&crd), JSON, JSON);
            }
            3 => {
                super::crds::add_keyword(&mut crd, rng);
                pair.ask("PUT", &format!("{path}{query}"), Some(&crd), JSON, JSON);
            }
            4 => {
                mutate(&mut crd, rng, |p| p[0] == "metadata" || p[0] == "status", any_value);
                pair.ask("PUT", &format!("{path}{query}"), Some(&crd), JSON, JSON);
            }
            5 => {
                let patch = rng
                    .pick(&[
                        json!({"spec": {"versions": null}}),
                        json!({"spec": {"names": {"shortNames": ["x"], "singular": "y"}}}),
                        json!({"metadata": {"annotations": {"a": "b"}}}),
                        json!({"spec": {"scope": "Cluster"}}),
                        json!({"spec": {"conversion": {"strategy": "Webhook"}}}),
                        json!({"spec": {"preserveUnknownFields": true}}),
                        json!({"unknown": 1}),
                    ])
                    .clone();
                pair.ask("PATCH", &format!("{path}{query}"), Some(&patch), MERGE, JSON);
            }
            6 => {
                let mut applied = self.subject.crd.clone();
                mutate(&mut applied, rng, |p| p[0] == "spec" && p.len() > 2, super::crds::any_part);
                let force = if rng.chance(2) { "&force=true" } else { "" };
                pair.ask("PATCH", &format!("{path}{query}&fieldManager=one{force}"), Some(&applied), APPLY, JSON);
            }
            7 => {
                let patch = json!([{"op": rng.pick(&["add", "remove", "replace"]), "path": rng.pick(&["/spec/versions/0/schema", "/spec/names/shortNames", "/spec/versions/0/served", "/spec/versions/1", "/spec/group"]), "value": any_value(rng)}]);
                pair.ask("PATCH", &format!("{path}{query}"), Some(&patch), JSON_PATCH, JSON);
            }
            _ => {
                let status = json!({"status": rng.pick(&[json!({"storedVersions": []}), json!({"storedVersions": ["v1", "v9"]}), json!({"acceptedNames": {"plural": "x"}}), json!({"conditions": [{"type": "Established"}]}), json!(null)])});
                pair.ask("PATCH", &format!("{path}/status{query}"), Some(&status), MERGE, JSON);
            }
        }
    }

    /// Changes the stored CRD on both servers.
    fn change_definition(&self, pair: &mut Pair, rng: &mut Rng) {
        let path = format!("{DEFINITIONS}/{}", self.subject.name());
        let mut crd = self.crd.clone();
        for _ in 0..6 {
            let mut changed = crd.clone();
            super::crds::add_keyword(&mut changed, rng);
            mutate(&mut changed, rng, |p| p[0] == "spec" && p.len() > 5, super::crds::any_part);
            changed["metadata"]["resourceVersion"] = json!("{{resourceVersion}}");
            let answer = pair.ask("PUT", &format!("{path}?dryRun=All"), Some(&changed), JSON, JSON);
            if answer["kind"] == "CustomResourceDefinition" {
                crd = changed;
                break;
            }
        }
        if crd != self.crd {
            pair.ask("PUT", &path, Some(&crd), JSON, JSON);
            // The real server changes its handlers shortly after this.
            std::thread::sleep(std::time::Duration::from_millis(700));
        }
    }
}

/// A part of an object: some members are removed, and some replaced.
fn part(value: &Value, rng: &mut Rng) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter_map(|(key, child)| match rng.below(8) {
                0 | 1 => None,
                2 if rng.chance(3) => Some((key.clone(), any_value(rng))),
                _ => Some((key.clone(), part(child, rng))),
            })
            .collect(),
        Value::Array(items) if !items.is_empty() && rng.chance(3) => {
            let mut items = items.clone();
            items.remove(rng.below(items.len()));
            Value::Array(items)
        }
        other => other.clone(),
    }
}
