//! CRDs whose names conflict, CRDs of protected groups, and requests for the collection of CRDs.

use super::Pair;
use super::mutate::Rng;
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const JSON: &str = "application/json";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
/// Two for each group: with more, the real server resolves conflicts in a random order.
const PLURALS: [&str; 2] = ["apples", "pears"];

fn definition(rng: &mut Rng, plural: &str) -> Value {
    let group = *rng.pick(&["names.example.com", "names.example.com", "names.k8s.io"]);
    let mut names = json!({"plural": plural, "kind": rng.pick(&["Apple", "Pear", "Plum", "Fig"])});
    if rng.chance(2) {
        names["singular"] = json!(rng.pick(&["apple", "pears", "fruit"]));
    }
    if rng.chance(2) {
        let some: Vec<&str> = (0..=rng.below(3)).map(|_| *rng.pick(&["ap", "pe", "pears", "fruit"])).collect();
        names["shortNames"] = json!(some);
    }
    if rng.chance(3) {
        names["listKind"] = json!(rng.pick(&["AppleList", "Pear", "FruitList", "Apple"]));
    }
    if rng.chance(4) {
        names["categories"] = json!(rng.pick(&[json!(["all"]), json!(["all", "all"]), json!(["A"])]));
    }
    let mut metadata = json!({"name": format!("{plural}.{group}"), "labels": {"team": rng.pick(&["red", "blue"])}});
    if group.ends_with("k8s.io") && !rng.chance(5) {
        let approvals =
            ["https://github.com/kubernetes/kubernetes/pull/1", "unapproved, testing", "bogus", "", "unapproved"];
        metadata["annotations"] = json!({"api-approved.kubernetes.io": rng.pick(&approvals)});
    }
    if rng.chance(6) {
        metadata["finalizers"] = json!(["example.com/held"]);
    }
    let schema = rng.pick(&[
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}}}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
    ]).clone();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": {"group": group, "scope": "Namespaced",
        "names": names, "versions": [{"name": "v1", "served": !rng.chance(8), "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

/// Reads the CRDs of a group until both servers have set the same conditions.
fn settled(pair: &mut Pair, path: &str) {
    let (_, group) = path.rsplit_once('/').and_then(|(_, name)| name.split_once('.')).unwrap();
    for plural in PLURALS {
        let path = format!("{DEFINITIONS}/{plural}.{group}");
        if pair.stored(&path)["kind"] == "CustomResourceDefinition" {
            is_settled(pair, &path);
        }
    }
}

fn is_settled(pair: &mut Pair, path: &str) {
    let shown =
        |value: &Value| json!([value["status"]["acceptedNames"], value["status"]["storedVersions"], conditions(value)]);
    let want = shown(&pair.stored(path));
    pair.asked += 1;
    for attempt in 0..40 {
        let got = shown(&pair.real_body(path));
        if got == want {
            return;
        }
        if attempt == 39 {
            pair.differ(format!("GET {path} (conditions)\n  real {got}\n  here {want}"));
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn conditions(crd: &Value) -> Vec<Value> {
    let all = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let mut all: Vec<Value> =
        all.iter().map(|one| json!([one["type"], one["status"], one["reason"], one["message"]])).collect();
    all.sort_by_key(ToString::to_string);
    all
}

/// Deletes a CRD. When its finalizer is removed is up to the real server, so only refusals are compared.
fn delete(pair: &mut Pair, rng: &mut Rng, path: &str) {
    let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
    if rng.chance(2) {
        let refused = [
            json!({"propagationPolicy": "X"}),
            json!({"preconditions": {"uid": "other"}}),
            json!({"preconditions": {"resourceVersion": "1"}}),
            json!({"orphanDependents": true, "propagationPolicy": "Orphan"}),
            json!({"kind": "Other"}),
            json!({"dryRun": ["Some"]}),
            json!({"gracePeriodSeconds": "x"}),
        ];
        options.as_object_mut().unwrap().extend(rng.pick(&refused).as_object().unwrap().clone());
        pair.ask("DELETE", path, Some(&options), JSON, JSON);
    } else {
        let accepted = [
            json!({"propagationPolicy": "Foreground"}),
            json!({"propagationPolicy": "Orphan"}),
            json!({"gracePeriodSeconds": 3}),
            json!({}),
        ];
        options.as_object_mut().unwrap().extend(rng.pick(&accepted).as_object().unwrap().clone());
        pair.both("DELETE", path, Some(&options));
        gone(pair, path);
    }
}

fn list(pair: &mut Pair, rng: &mut Rng) {
    let selection = rng.pick(&[
        "fieldSelector=metadata.name%3Dapples.names.example.com",
        "fieldSelector=metadata.name!%3Dx,metadata.namespace%3D",
        "fieldSelector=spec.group%3Dnames.example.com",
        "labelSelector=team%3Dred",
        "labelSelector=team%20in%20(red,blue)",
        "labelSelector=team%20notin%20(red)",
        "labelSelector=!team",
        "labelSelector=team%3E1",
        "labelSelector=team%20in%20()",
        "labelSelector=team%20in%20(,red)",
        "labelSelector=team%20in%20red",
        "labelSelector=team%20in%20(red",
        "labelSelector=team%3D%3Dred,team!%3Dblue",
        "labelSelector=a%20b",
        "labelSelector=team%3Ex",
        "labelSelector=team%20in%20(a,,b)",
        "labelSelector=%20",
        "labelSelector=x/y/z",
        "labelSelector=team%3Da%20b",
        "labelSelector=team%20notin%20(",
        "labelSelector=(",
        "labelSelector=team%20in%20(a%3Db)",
        "labelSelector=team%3C-1",
        "labelSelector=team%20exists",
        "labelSelector=in%20in%20(in)",
        "labelSelector=notin",
        "labelSelector=team%20in%20((a)",
        "labelSelector=!!a",
        "labelSelector=a!",
    ]);
    let more = rng.pick(&[
        "",
        "",
        "&limit=1",
        "&limit=2",
        "&resourceVersion=0",
        "&resourceVersionMatch=Exact",
        "&resourceVersion={{listVersion}}&resourceVersionMatch=Exact",
        "&limit=x",
        "&continue=x",
        "&includeObject=Object",
    ]);
    let path = format!("{DEFINITIONS}?{selection}{more}");
    let accept = rng.pick(&[JSON, JSON, TABLE, METADATA]);
    if more.starts_with("&limit=1") || more.starts_with("&limit=2") {
        pair.pages(&path, accept);
    } else {
        pair.ask("GET", &path, None, JSON, accept);
    }
}

/// A change of a CRD: of its names, its annotation, its schema or its status.
fn change(pair: &mut Pair, rng: &mut Rng, path: &str) {
    let patch = match rng.below(8) {
        0 => json!({"spec": {"names": {"shortNames": rng.pick(&[json!(["ap"]), json!(["pe", "x"]), json!(null)])}}}),
        1 => json!({"spec": {"names": {"kind": rng.pick(&["Apple", "Pear", "Other"])}}}),
        2 => json!({"spec": {"names": {"singular": rng.pick(&["apple", "fig"])}}}),
        3 => {
            json!({"metadata": {"annotations": {"api-approved.kubernetes.io": rng.pick(&[json!("bogus"), json!(null), json!("https://example.com/x"), json!("unapproved")])}}})
        }
        4 => json!({"spec": {"preserveUnknownFields": rng.chance(2)}}),
        5 => json!({"metadata": {"finalizers": rng.pick(&[json!(null), json!(["example.com/held"]), json!(["bad"])])}}),
        6 => json!({"spec": {"scope": "Cluster"}, "metadata": {"labels": {"team": "green"}}}),
        _ => {
            json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com/", "caBundle": rng.pick(&["YQ==", "", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCllRPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="])}}}}})
        }
    };
    pair.ask("PATCH", path, Some(&patch), "application/merge-patch+json", JSON);
    settled(pair, path);
}

pub fn compare(pair: &mut Pair, rng: &mut Rng, rounds: u64) {
    let paths = |rng: &mut Rng| {
        format!(
            "{DEFINITIONS}/{}.{}",
            rng.pick(&PLURALS),
            rng.pick(&["names.example.com", "names.example.com", "names.k8s.io"])
        )
    };
    for _ in 0..rounds {
        if pair.is_over() {
            break;
        }
        let path = paths(rng);
        match rng.below(12) {
            0..=3 => {
                let plural = *rng.pick(&PLURALS);
                let crd = definition(rng, plural);
                pair.ask("POST", DEFINITIONS, Some(&crd), JSON, JSON);
                settled(pair, &format!("{DEFINITIONS}/{}", crd["metadata"]["name"].as_str().unwrap()));
            }
            4..=6 => change(pair, rng, &path),
            7 | 8 => list(pair, rng),
            9 => drop(pair.ask("GET", &path, None, JSON, rng.pick::<&str>(&[JSON, TABLE, METADATA]))),
            _ => delete(pair, rng, &path),
        }
    }
    for plural in PLURALS {
        for group in ["names.example.com", "names.k8s.io"] {
            let path = format!("{DEFINITIONS}/{plural}.{group}");
            pair.remove_finalizers(&path);
            pair.both("DELETE", &path, None);
            gone(pair, &path);
        }
    }
}

/// Waits until the real server has removed a CRD, if the simulated one has.
fn gone(pair: &mut Pair, path: &str) {
    let is_gone = pair.stored(path)["code"] == 404;
    for _ in 0..60 {
        if !is_gone || pair.real_body(path)["code"] == 404 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // Conflicts of the other CRD are resolved after that.
    settled(pair, path);
}
