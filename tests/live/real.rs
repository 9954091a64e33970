//! Against the real server (`tests/apiserver/README.md`), with real kubectl beside us and the objects of the corpus:
//! `CRDX_REAL=http://127.0.0.1:18080 CRDX_CORPUS=../shared/corpus cargo test --test tests live::real -- --ignored --nocapture --test-threads 1`
//! `CRDX_SEED` and `CRDX_ROUNDS` (changed objects) choose another run.

use super::fake::Proxy;
use super::{Place, Said};
use crate::differential::mutate::{Rng, any_value, at, mutate, paths};
use crate::differential::{Subject, subjects};
use crate::exchange::{Client, Http, normalise};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

fn server() -> String {
    std::env::var("CRDX_REAL").expect("CRDX_REAL is the URL of the real server")
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn kubectl(place: &Place, line: &str) -> Said {
    let output = Command::new("kubectl")
        .args(line.split_whitespace())
        .args(["--server", &server()])
        .current_dir(&place.0)
        .env("KUBECONFIG", "/dev/null")
        .env("HOME", &place.0)
        .output()
        .expect("kubectl runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Puts the CRDs of the corpus and their objects into the server, as `kubectl apply` does; gives those that went in.
fn loaded(place: &Place) -> Vec<Subject> {
    let mut http = Http::new(&server());
    let mut subjects: Vec<Subject> = subjects().into_iter().filter(|s| !s.objects.is_empty()).collect();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for subject in &subjects {
        http.call("POST", definitions, Some(&subject.crd.to_string()), Some("application/json"), "application/json");
    }
    subjects.retain(|subject| {
        let spec = &subject.crd["spec"];
        let served = spec["versions"].as_array().unwrap().iter().filter(|v| v["served"] == true);
        let path = |version: &Value| {
            let text = |v: &Value| v.as_str().unwrap().to_owned();
            format!("/apis/{}/{}/{}", text(&spec["group"]), text(&version["name"]), text(&spec["names"]["plural"]))
        };
        let all: Vec<String> = served.map(path).collect();
        (0..100).any(|_| {
            let ready = all.iter().all(|path| http.call("GET", path, None, None, "application/json").code == 200);
            if !ready {
                std::thread::sleep(Duration::from_millis(100));
            }
            ready
        })
    });
    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    let mut stored = 0;
    for subject in &mut subjects {
        let spec = subject.crd["spec"].clone();
        subject.objects.retain_mut(|object| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            // The corpus is written for many namespaces; one is as good as another here.
            object["metadata"].as_object_mut().unwrap().remove("namespace");
            !name.is_empty() && seen.insert((subject.crd["metadata"]["name"].to_string(), name))
        });
        for object in &subject.objects {
            let namespace = if spec["scope"] == "Namespaced" { "/namespaces/default" } else { "" };
            let (of, plural) = (object["apiVersion"].as_str().unwrap(), spec["names"]["plural"].as_str().unwrap());
            let path = format!("/apis/{of}{namespace}/{plural}?fieldManager=kubectl-client-side-apply");
            let body = Some(applied(object, !namespace.is_empty()).to_string());
            let json = "application/json";
            stored += usize::from(http.call("POST", &path, body.as_deref(), Some(json), json).code == 201);
        }
        list.extend(subject.objects.iter().cloned());
    }
    place.write("all.json", &json!({"apiVersion": "v1", "kind": "List", "items": list}).to_string());
    println!("{} objects of {} kinds, {stored} newly stored", list.len(), subjects.len());
    subjects
}

/// The object as `kubectl apply` creates it: with a note of what was applied.
fn applied(object: &Value, namespaced: bool) -> Value {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    if namespaced {
        metadata.insert("namespace".to_owned(), json!("default"));
    }
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if annotations.is_null() {
        *annotations = json!({});
    }
    let note = crdx::text::json::read(object.to_string().as_bytes()).unwrap();
    let note = crdx::value::json::to_string(&note) + "\n";
    object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = json!(note);
    object
}

/// The object with some changes of the kind people make, and some that nobody should.
fn changed(object: &Value, rng: &mut Rng) -> Value {
    let mut new = object.clone();
    for _ in 0..rng.below(4) {
        match rng.below(6) {
            0 => new["metadata"]["labels"][*rng.pick(&["app", "tier", "x/y"])] = json!(*rng.pick(&["a", "b", ""])),
            1 => drop(new["metadata"].as_object_mut().unwrap().remove("labels")),
            2 => new["metadata"]["annotations"]["note"] = json!(rng.below(3).to_string()),
            3 => {
                // Something of it stands elsewhere, too.
                let from = paths(&new);
                let value = at(&mut new, &from[rng.below(from.len())]).clone();
                mutate(&mut new, rng, below, move |_| value.clone());
            }
            4 => mutate(&mut new, rng, below, any_value),
            _ => {
                let arrays: Vec<Vec<Value>> = paths(&new).into_iter().filter(|p| below(p)).collect();
                let arrays: Vec<_> = arrays.into_iter().filter(|p| at(&mut new.clone(), p).is_array()).collect();
                if let Some(path) = arrays.get(rng.below(arrays.len())) {
                    let items = at(&mut new, path).as_array_mut().unwrap();
                    match (rng.below(3), items.len()) {
                        (0, 1..) => drop(items.remove(0)),
                        (1, 1..) => items.push(items[0].clone()),
                        _ => items.reverse(),
                    }
                }
            }
        }
    }
    new
}

fn below(path: &[Value]) -> bool {
    !["apiVersion", "kind", "metadata"].iter().any(|key| path[0] == *key)
}

/// The stored object, without what no two requests agree on.
fn comparable(object: &Value) -> Value {
    let mut object = normalise(object.clone(), true);
    object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    object
}

#[derive(Default)]
struct Tally {
    fates: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

#[test]
#[ignore = "needs the real server, kubectl and the corpus"]
fn diff_agrees_with_the_dry_run_of_the_server() {
    let place = Place::new("real-diff");
    let subjects = loaded(&place);
    let (rounds, seed) = (setting("CRDX_ROUNDS", 350), setting("CRDX_SEED", 1));
    let all: Vec<Value> = subjects.iter().flat_map(|s| s.objects.clone()).collect();
    assert!(!all.is_empty());
    let tally = Mutex::new(Tally::default());
    let turn = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let round = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if round >= rounds {
                        break;
                    }
                    let mut rng = Rng::new((seed * 1_000_003 + round) as u64);
                    let mut new = changed(rng.pick(&all), &mut rng);
                    if rng.chance(10) {
                        new["metadata"]["name"] = json!("somebody-new");
                    }
                    let (fate, wrong) = compare(&place, round, &new);
                    let mut tally = tally.lock().unwrap();
                    *tally.fates.entry(fate).or_default() += 1;
                    tally.wrong.extend(wrong);
                }
            });
        }
    });
    let Tally { fates, wrong } = tally.into_inner().unwrap();
    println!("{rounds} changed objects: {fates:?}; {} differ", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What became of the object, and where kubectl with the real server and we disagree.
fn compare(place: &Place, round: usize, new: &Value) -> (&'static str, Option<String>) {
    let file = format!("changed-{round}.json");
    place.write(&file, &new.to_string());
    let applied = kubectl(place, &format!("apply --dry-run=server -o json -f {file}"));
    let real_diff = kubectl(place, &format!("diff -f {file}"));
    let ours = place.run(&format!("diff -f {file} -o json --show-bookkeeping -s {}", server()));
    let our_diff = place.run(&format!("diff -f {file} --field-validation Warn -s {}", server()));
    let report: Value = serde_json::from_str(&ours.out).unwrap_or_else(|e| panic!("{e}: {ours:?}"));
    let item = &report["items"][0];
    let fate = match (item["verdict"].as_str(), item["action"].as_str()) {
        (Some("accepted"), Some("create")) => "create",
        (Some("accepted"), Some("update")) => "update",
        (Some("accepted"), _) => "unchanged",
        (Some("rejected"), _) => "rejected",
        _ => "cannot tell",
    };
    let mut wrong = Vec::new();
    // kubectl says 1 of every failure of apply; diff ends with 1 for a difference and more for a failure.
    match serde_json::from_str::<Value>(&applied.out) {
        Ok(real) if applied.code == Some(0) => {
            let (real, ours) = (comparable(&real), item.get("result").map(comparable).unwrap_or_default());
            if real != ours {
                wrong.push(format!("stored there {real}\nstored here {ours}"));
            }
        }
        _ => {
            let texts =
                item["errors"].as_array().into_iter().flatten().map(|e| e["message"].as_str().unwrap_or_default());
            let missing: Vec<&str> = texts.filter(|text| !applied.err.contains(*text)).collect();
            if fate != "rejected" || !missing.is_empty() {
                wrong.push(format!("refused there {}\nhere {fate} {missing:?}", applied.err));
            }
        }
    }
    if real_diff.code.map(|c| c.min(2)) != our_diff.code {
        wrong.push(format!(
            "kubectl diff ends with {:?}: {}{}\nkubectl crdx diff with {:?}: {}{}",
            real_diff.code, real_diff.out, real_diff.err, our_diff.code, our_diff.out, our_diff.err
        ));
    }
    let _ = fs::remove_file(place.0.join(&file));
    let text = format!("round {round}: {new}\n{}", wrong.join("\n")).chars().take(6000).collect();
    (fate, (!wrong.is_empty()).then_some(text))
}

#[test]
#[ignore = "needs the real server, kubectl and the corpus"]
fn every_command_only_reads() {
    let place = Place::new("real-reads");
    let subjects = loaded(&place);
    let subject = subjects.iter().find(|s| s.name() == "certificates.cert-manager.io").expect("cert-manager");
    let name = subject.objects[0]["metadata"]["name"].as_str().unwrap();
    let mut new = subject.objects[0].clone();
    new["spec"]["secretName"] = json!("another");
    place.write("new.json", &new.to_string());
    place.write("crd.json", &subject.crd.to_string());
    let mut http = Http::new(&server());
    let path = "/apis/cert-manager.io/v1/certificates";
    let mut state = || http.call("GET", path, None, None, "application/json").body["items"].clone();
    let before = state();
    let proxy = Proxy::before(&server());
    let mut asked = 0;
    for line in [
        "validate -f all.json".to_owned(),
        "validate -f new.json crd.json -o yaml".to_owned(),
        "validate -f new.json --server-side --force-conflicts -o wide".to_owned(),
        "validate -f new.json --replace -o name".to_owned(),
        "validate -f new.json --create".to_owned(),
        "validate -f new.json --subresource status".to_owned(),
        "diff -f all.json".to_owned(),
        "diff -f new.json --server-side --show-bookkeeping -o json".to_owned(),
        "diff -f new.json --replace".to_owned(),
        "get certificates".to_owned(),
        "get certificates -A -o wide".to_owned(),
        format!("get certificate {name} -o yaml"),
        format!("get cert {name} -o json"),
        "get certificates -o name".to_owned(),
        "rehearse crd.json".to_owned(),
        "rehearse crd.json -o json".to_owned(),
    ] {
        let said = place.run(&format!("{line} --no-cache -s {}", proxy.url));
        assert!(said.code.is_some(), "{line}: {said:?}");
        let now = proxy.asked().len();
        assert!(now > asked, "{line} asked nothing: {said:?}");
        println!("{:4} requests, exit {}: kubectl crdx {line}", now - asked, said.code.unwrap());
        asked = now;
    }
    let mut methods = BTreeMap::<String, usize>::new();
    proxy.asked().iter().for_each(|a| *methods.entry(a.method.clone()).or_default() += 1);
    println!("{asked} requests: {methods:?}");
    assert_eq!(methods.keys().collect::<Vec<_>>(), ["GET"]);
    assert_eq!(before, state());
}
