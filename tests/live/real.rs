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
use std::process::Command;
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

/// What an object is called in a report, by both.
fn name(object: &Value) -> String {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// kubectl prints accepted objects only if all of them are, so ours are parted by our verdict first: of the accepted ones
/// the server must store what we say, and differ where we say so; of the rejected ones it must take none.
#[test]
#[ignore = "needs the real server, kubectl and the corpus"]
fn diff_agrees_with_the_dry_run_of_the_server() {
    let place = Place::new("real-diff");
    let subjects = loaded(&place);
    let mut rng = Rng::new(setting("CRDX_SEED", 1) as u64);
    let mut all: Vec<Value> = subjects.iter().flat_map(|s| s.objects.clone()).collect();
    let mut chosen = BTreeMap::new();
    while chosen.len() < setting("CRDX_ROUNDS", 400) && !all.is_empty() {
        let object = all.swap_remove(rng.below(all.len()));
        let mut new = changed(&object, &mut rng);
        if rng.chance(10) {
            new["metadata"]["name"] = json!(format!("new-{}", chosen.len()));
        }
        chosen.insert(name(&new), new);
    }
    let write = |file: &str, objects: &[&Value]| {
        place.write(file, &json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string());
    };
    write("changed.json", &chosen.values().collect::<Vec<_>>());
    let ours = place.run(&format!("diff -f changed.json -o json --show-bookkeeping -s {}", server()));
    let report: Value = serde_json::from_str(&ours.out).unwrap_or_else(|e| panic!("{e}: {ours:?}"));
    let items = report["items"].as_array().unwrap();
    assert_eq!(items.len(), chosen.len());
    let called = |item: &Value| format!("{} {}", item["kind"].as_str().unwrap(), item["name"].as_str().unwrap());
    let with = |verdict: &str| items.iter().filter(|i| i["verdict"] == verdict).collect::<Vec<_>>();
    let (accepted, rejected) = (with("accepted"), with("rejected"));
    let mut wrong: Vec<String> = with("cannotTell").iter().map(|item| format!("not told: {item}")).collect();

    write("accepted.json", &accepted.iter().map(|i| &chosen[&called(i)]).collect::<Vec<_>>());
    let applied = kubectl(&place, "apply --dry-run=server -o json -f accepted.json");
    if applied.code != Some(0) {
        wrong.push(format!("kubectl apply refuses what we accept: {}", applied.err));
    }
    let list: Value = serde_json::from_str(&applied.out).unwrap_or_default();
    let stored: BTreeMap<String, &Value> =
        list["items"].as_array().into_iter().flatten().map(|object| (name(object), object)).collect();
    let differing = kubectl(&place, "diff -f accepted.json");
    let mut fates = BTreeMap::<&str, usize>::new();
    let mut compared = 0;
    for item in &accepted {
        *fates.entry(item["action"].as_str().unwrap()).or_default() += 1;
        if let Some(object) = stored.get(&called(item)) {
            let (real, ours) = (comparable(object), comparable(&item["result"]));
            compared += 1;
            if real != ours {
                wrong.push(format!("{}\nstored there {real}\nstored here  {ours}", chosen[&called(item)]));
            }
        }
    }
    // The files that kubectl diff compares are called GROUP.VERSION.KIND.NAMESPACE.NAME.
    let place_diff = place.run(&format!("diff -f accepted.json -s {}", server()));
    let files = |text: &str, mark: &str| {
        let lines = text.lines().filter_map(|l| l.strip_prefix(mark)?.split('\t').next()?.rsplit('/').next());
        lines.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (there, here) = (files(&differing.out, "+++ "), files(&place_diff.out, "+++ "));
    for file in there.symmetric_difference(&here) {
        wrong.push(format!("{file}: kubectl diff shows it: {}, ours: {}", there.contains(file), here.contains(file)));
    }
    if differing.code != place_diff.code {
        wrong.push(format!("exit codes {:?} and {:?}: {}", differing.code, place_diff.code, differing.err));
    }

    write("rejected.json", &rejected.iter().map(|i| &chosen[&called(i)]).collect::<Vec<_>>());
    let refused = kubectl(&place, "apply --dry-run=server -o name -f rejected.json");
    if !refused.out.is_empty() {
        wrong.push(format!("kubectl apply takes what we reject: {}", refused.out));
    }
    let texts = rejected.iter().flat_map(|i| i["errors"].as_array().unwrap());
    let texts: BTreeSet<&str> = texts.filter_map(|e| e["message"].as_str()).collect();
    let unknown: Vec<&&str> = texts.iter().filter(|text| !refused.err.contains(**text)).collect();
    println!(
        "{} changed objects: {fates:?}, {} rejected; {compared} stored objects compared, {} shown as different by both, \
         exit {:?} and {:?}; {} texts of errors, {} not as the server's; {} differ",
        chosen.len(),
        rejected.len(),
        there.intersection(&here).count(),
        differing.code,
        place_diff.code,
        texts.len(),
        unknown.len(),
        wrong.len()
    );
    unknown.iter().take(20).for_each(|text| println!("text: {text}"));
    assert!(
        wrong.is_empty(),
        "{}",
        wrong.iter().map(|w| w.chars().take(5000).collect()).collect::<Vec<String>>().join("\n\n")
    );
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
