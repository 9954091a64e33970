//! Sends random writes to the real and the simulated server, then watches: both must send the same events in the same
//! order. Versions are compared by the write that created them.

use super::mutate::Rng;
use super::{Pair, normalise};
use crate::conformance::exchange::{Client, Http, Reply};
use crate::conformance::varying;
use serde_json::{Value, json};
use std::thread;

const ALL: &str = "/apis/watch.example.com/v1/kites";
const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const NAMESPACES: [&str; 2] = ["north", "south"];
const NAMES: [&str; 3] = ["a", "b", "c"];
const COLOURS: [&str; 2] = ["red", "blue"];
/// The number of concurrent watches on the real server; each lasts a second.
const AT_ONCE: usize = 24;

fn crd() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"colour": {"type": "string"}, "size": {"type": "integer", "default": 1}}},
        "status": {"type": "object", "properties": {"seen": {"type": "integer"}}}}}});
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "schema": schema, "subresources": {"status": {}},
            "selectableFields": [{"jsonPath": ".spec.colour"}],
            "additionalPrinterColumns": [{"name": "Colour", "type": "string", "jsonPath": ".spec.colour"}]})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.watch.example.com"},
        "spec": {"group": "watch.example.com", "scope": "Namespaced", "names": {"plural": "kites", "kind": "Kite"},
            "versions": [version("v1", true), version("v2", false)]}})
}

/// The versions after each write, on the real and the simulated server.
type History = Vec<[String; 2]>;

fn write(pair: &mut Pair, rng: &mut Rng) {
    let namespace = *rng.pick(&NAMESPACES);
    let collection = format!("/apis/watch.example.com/v1/namespaces/{namespace}/kites");
    let name = *rng.pick(&NAMES);
    let one = format!("{collection}/{name}");
    let colour = *rng.pick(&COLOURS);
    match rng.below(10) {
        0..=3 => {
            let kite = json!({"apiVersion": "watch.example.com/v1", "kind": "Kite", "spec": {"colour": colour},
                "metadata": {"name": name, "labels": {"team": *rng.pick(&COLOURS)}}});
            pair.ask("POST", &collection, Some(&kite), JSON, JSON);
        }
        4 => drop(pair.ask("PATCH", &one, Some(&json!({"spec": {"colour": colour}})), MERGE, JSON)),
        5 => drop(pair.ask("PATCH", &one, Some(&json!({"metadata": {"labels": {"team": colour}}})), MERGE, JSON)),
        6 => {
            let seen = json!({"status": {"seen": rng.below(3)}});
            pair.ask("PATCH", &format!("{one}/status"), Some(&seen), MERGE, JSON);
        }
        7 => {
            let finalizers = if rng.chance(2) { json!(["example.com/held"]) } else { Value::Null };
            pair.ask("PATCH", &one, Some(&json!({"metadata": {"finalizers": finalizers}})), MERGE, JSON);
        }
        8 if rng.chance(4) => {
            drop(pair.ask("DELETE", &format!("{collection}?labelSelector=team%3Dred"), None, JSON, JSON));
        }
        _ => drop(pair.ask("DELETE", &one, None, JSON, JSON)),
    }
}

/// A watch: its path with a placeholder `VERSION`, the write whose version replaces it, and the representation of
/// objects.
fn watch(rng: &mut Rng, writes: usize) -> (String, Option<usize>, &'static str) {
    let version = *rng.pick(&["v1", "v1", "v2"]);
    let place = *rng.pick(&["kites", "kites", "namespaces/north/kites"]);
    let mut path = format!("/apis/watch.example.com/{version}/{place}?watch=true&timeoutSeconds=1");
    let mut from = None;
    match rng.below(8) {
        0 => {}
        1 => path += "&resourceVersion=0",
        2 => path += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        3 => {
            path += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=VERSION";
            from = Some(rng.below(writes));
        }
        4 => {
            path += *rng.pick(&[
                "&sendInitialEvents=true",
                "&resourceVersionMatch=Exact",
                "&resourceVersion=x",
                "&sendInitialEvents=false",
            ]);
        }
        _ => {
            path += "&resourceVersion=VERSION";
            from = Some(rng.below(writes));
        }
    }
    path += *rng.pick(&[
        "",
        "",
        "",
        "&labelSelector=team%3Dred",
        "&labelSelector=team!%3Dred",
        "&fieldSelector=spec.colour%3Dred",
        "&fieldSelector=metadata.name%3Da",
        "&fieldSelector=spec.colour!%3Dred,metadata.name!%3Db",
        "&labelSelector=,,",
        "&fieldSelector=spec.size%3D1",
    ]);
    let accept = *rng.pick(&[
        JSON,
        JSON,
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    ]);
    (path, from, accept)
}

/// The events of a watch, without values that vary between runs.
fn shown(reply: Reply, history: &History, side: usize) -> Value {
    let version_of = |version: &str| match history.iter().position(|both| both[side] == version) {
        Some(write) => json!(format!("of write {write}")),
        None => json!("*"),
    };
    let Value::Array(mut events) = reply.body else {
        let text = varying::NUMBER.replace_all(&normalise(reply.body, false).to_string(), "*").into_owned();
        return json!([reply.code, text]);
    };
    // The time of these events is up to the server.
    let by_chance =
        |event: &Value| event["type"] == "BOOKMARK" && !event.to_string().contains("k8s.io/initial-events-end");
    events.retain(|event| !by_chance(event));
    let versions: Vec<Value> = events
        .iter()
        .map(|event| match event.pointer("/object/metadata/resourceVersion").and_then(Value::as_str) {
            Some(version) if event["type"] != "BOOKMARK" => version_of(version),
            _ => Value::Null,
        })
        .collect();
    for event in &mut events {
        for row in event["object"]["rows"].as_array_mut().into_iter().flatten() {
            for cell in row["cells"].as_array_mut().into_iter().flatten() {
                if cell.as_str().is_some_and(|text| varying::AGE_OR_UNKNOWN.is_match(text)) {
                    *cell = json!("*");
                }
            }
        }
    }
    json!([reply.code, versions, normalise(Value::Array(events), false)])
}

pub fn compare(pair: &mut Pair, rng: &mut Rng, rounds: u64) {
    assert!(pair.install(&crd()));
    let mut history = History::new();
    let mut events = 0;
    for _ in 0..rounds {
        if pair.is_over() {
            break;
        }
        for _ in 0..12 {
            write(pair, rng);
            let version = |client: &mut dyn Client| {
                let list = client.call("GET", &format!("{ALL}?limit=1"), None, None, JSON).body;
                list["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
            };
            history.push([version(&mut pair.real), version(&mut pair.ours)]);
        }
        let watches: Vec<_> = (0..AT_ONCE).map(|_| watch(rng, history.len())).collect();
        let path = |side: usize, (path, from, _): &(String, Option<usize>, &str)| match from {
            Some(write) => path.replace("VERSION", &history[*write][side]),
            None => path.clone(),
        };
        let url = pair.real_url().to_owned();
        let real: Vec<Reply> = thread::scope(|scope| {
            let ask = |watch| {
                let (mut client, path) = (Http::new(&url), path(0, watch));
                scope.spawn(move || client.call("GET", &path, None, None, watch.2))
            };
            let asked: Vec<_> = watches.iter().map(ask).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        for (watch, real) in watches.iter().zip(real) {
            let ours = pair.ours.call("GET", &path(1, watch), None, None, watch.2);
            let (want, got) = (shown(real, &history, 0), shown(ours, &history, 1));
            pair.asked += 1;
            events += want.get(2).and_then(Value::as_array).map_or(0, Vec::len);
            if want != got {
                pair.differ(format!("{} {:?} {}\n  real {want}\n  here {got}", watch.0, watch.1, watch.2));
            }
        }
    }
    println!("{} writes, {} watches, {events} events", history.len(), rounds as usize * AT_ONCE);
    // Objects with finalizers would prevent the deletion of the CRD.
    for namespace in NAMESPACES {
        for name in NAMES {
            let one = format!("/apis/watch.example.com/v1/namespaces/{namespace}/kites/{name}");
            pair.remove_finalizers(&one);
        }
    }
    pair.uninstall(&crd());
}
