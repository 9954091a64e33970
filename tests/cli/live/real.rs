//! Comparisons with the real server (`tests/apiserver/README.md`), with real kubectl and the objects of the corpus:
//! `CRDX_REAL=http://127.0.0.1:18080 CRDX_CORPUS=../shared/corpus cargo test --test tests live::real -- --ignored
//! --nocapture --test-threads 1` `CRDX_SEED` and `CRDX_ROUNDS` (changed objects) select a different run.

use super::fake::Proxy;
use super::{Said, TestDir};
use crate::conformance::differential::mutate::{Rng, any_value, at, mutate, paths};
use crate::conformance::differential::{Subject, subjects};
use crate::conformance::exchange::{Client, Http, normalise};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn server() -> String {
    std::env::var("CRDX_REAL").expect("CRDX_REAL is the URL of the real server")
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn kubectl_program() -> String {
    std::env::var("CRDX_KUBECTL").unwrap_or_else(|_| "kubectl".to_owned())
}

fn kubectl(place: &TestDir, line: &str) -> Said {
    let output = Command::new(kubectl_program())
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

/// Creates the CRDs of the corpus and their objects in the server, like `kubectl apply`; returns those that were
/// accepted.
fn loaded(place: &TestDir) -> Vec<Subject> {
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
        // A new CRD is served after a short delay, and never if it waits for its conversion webhook.
        let codes = (0..100).find_map(|_| {
            let mut code = |path: &String| http.call("GET", path, None, None, "application/json").code;
            let codes: Vec<u16> = all.iter().map(&mut code).collect();
            if codes.contains(&404) {
                std::thread::sleep(Duration::from_millis(300));
            }
            (!codes.contains(&404)).then_some(codes)
        });
        codes.expect("it is served").iter().all(|code| *code == 200)
    });
    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    let mut stored = 0;
    for subject in &mut subjects {
        let spec = subject.crd["spec"].clone();
        subject.objects.retain_mut(|object| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            // The corpus has many namespaces, which are irrelevant here.
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

/// The object as `kubectl apply` creates it, with the last-applied annotation.
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
    let note = crdx_text::json::read(object.to_string().as_bytes()).unwrap();
    let note = crdx_value::json::to_string(&note) + "\n";
    object["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = json!(note);
    object
}

/// The object with random changes, some realistic and some invalid.
fn changed(object: &Value, rng: &mut Rng) -> Value {
    let mut new = object.clone();
    for _ in 0..rng.below(4) {
        match rng.below(6) {
            0 => new["metadata"]["labels"][*rng.pick(&["app", "tier", "x/y"])] = json!(*rng.pick(&["a", "b", ""])),
            1 => drop(new["metadata"].as_object_mut().unwrap().remove("labels")),
            2 => new["metadata"]["annotations"]["note"] = json!(rng.below(3).to_string()),
            3 => {
                // Copy a part of the object to another place.
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

/// The stored object without values that vary between requests.
fn comparable(object: &Value) -> Value {
    let mut object = normalise(object.clone(), true);
    object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    object
}

/// The name of an object in both reports.
fn name(object: &Value) -> String {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// kubectl prints accepted objects only if all objects are accepted, so the objects are first split by the simulated
/// verdict. The server must store accepted objects as predicted, with the predicted differences, and reject all
/// rejected objects.
#[test]
#[ignore = "needs the real server, kubectl and the corpus"]
fn diff_agrees_with_the_dry_run_of_the_server() {
    let place = TestDir::new("real-diff");
    let subjects = loaded(&place);
    let mut rng = Rng::new(setting("CRDX_SEED", 1) as u64);
    // The conversion webhooks do not exist.
    let stored_as = |subject: &Subject, object: &Value| {
        let storage =
            subject.crd["spec"]["versions"].as_array().unwrap().iter().find(|v| v["storage"] == true).unwrap();
        object["apiVersion"].as_str().unwrap().rsplit('/').next() == storage["name"].as_str()
    };
    let converts = |subject: &Subject| subject.crd["spec"]["conversion"]["strategy"] == "Webhook";
    let of = |s: &Subject| s.objects.iter().filter(|o| !converts(s) || stored_as(s, o)).cloned().collect::<Vec<_>>();
    let mut all: Vec<Value> = subjects.iter().flat_map(of).collect();
    let mut chosen = BTreeMap::new();
    while chosen.len() < setting("CRDX_ROUNDS", 400) && !all.is_empty() {
        let object = all.swap_remove(rng.below(all.len()));
        let mut new = changed(&object, &mut rng);
        if rng.chance(10) {
            new["metadata"]["name"] = json!(format!("new-{}", chosen.len()));
        }
        chosen.insert(name(&new), new);
    }
    // Objects are written as separate documents: this server has no core group, so kubectl does not know the kind List.
    let write = |file: &str, objects: &[&Value]| {
        place.write(file, &objects.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n---\n"));
    };
    write("changed.yaml", &chosen.values().collect::<Vec<_>>());
    let ours = place.run(&format!("diff -f changed.yaml -o json --show-last-applied -s {}", server()));
    let report: Value = serde_json::from_str(&ours.out).unwrap_or_else(|e| panic!("{e}: {ours:?}"));
    let items = report["items"].as_array().unwrap();
    assert_eq!(items.len(), chosen.len());
    let called = |item: &Value| format!("{} {}", item["kind"].as_str().unwrap(), item["name"].as_str().unwrap());
    let with = |verdict: &str| items.iter().filter(|i| i["verdict"] == verdict).collect::<Vec<_>>();
    let (accepted, rejected) = (with("accepted"), with("rejected"));
    let mut wrong: Vec<String> = with("cannotTell").iter().map(|item| format!("not told: {item}")).collect();

    write("accepted.yaml", &accepted.iter().map(|i| &chosen[&called(i)]).collect::<Vec<_>>());
    let applied = kubectl(&place, "apply --dry-run=server -o json --show-managed-fields -f accepted.yaml");
    if applied.code != Some(0) {
        wrong.push(format!("kubectl apply refuses what we accept: {}", applied.err));
    }
    let list: Value = serde_json::from_str(&applied.out).unwrap_or_default();
    let stored: BTreeMap<String, &Value> =
        list["items"].as_array().into_iter().flatten().map(|object| (name(object), object)).collect();
    let differing = kubectl(&place, "diff -f accepted.yaml");
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
    // The files that kubectl diff compares are named GROUP.VERSION.KIND.NAMESPACE.NAME.
    let place_diff = place.run(&format!("diff -f accepted.yaml -s {}", server()));
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

    write("rejected.yaml", &rejected.iter().map(|i| &chosen[&called(i)]).collect::<Vec<_>>());
    let refused = kubectl(&place, "apply --dry-run=server -o name -f rejected.yaml");
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

/// Every command that may read a cluster, with its expected output for the corpus.
#[test]
#[ignore = "needs the real server, kubectl and the corpus"]
fn every_command_only_reads() {
    let place = TestDir::new("real-reads");
    let subjects = loaded(&place);
    let named = |name: &str| subjects.iter().find(|s| s.name() == name).unwrap_or_else(|| panic!("no {name}"));
    let subject = named("certificates.cert-manager.io");
    let name = subject.objects[0]["metadata"]["name"].as_str().unwrap();
    let mut new = subject.objects[0].clone();
    new["spec"]["secretName"] = json!("another");
    place.write("new.json", &new.to_string());
    place.write("crd.json", &subject.crd.to_string());
    let mut http = Http::new(&server());
    let mut all = || {
        let of = |s: &Subject| {
            let spec = &s.crd["spec"];
            let stored = spec["versions"].as_array().unwrap().iter().find(|v| v["storage"] == true).unwrap();
            let text = |v: &Value| v.as_str().unwrap().to_owned();
            format!("/apis/{}/{}/{}", text(&spec["group"]), text(&stored["name"]), text(&spec["names"]["plural"]))
        };
        let mut list = |path: &str| http.call("GET", path, None, None, "application/json").body["items"].clone();
        let definitions = list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
        (definitions, subjects.iter().map(|s| list(&of(s))).collect::<Vec<_>>())
    };
    let before = all();
    let stored = before.1.iter().filter_map(|items| Some(items.as_array()?.len())).sum::<usize>();
    let certificates = http_list("/apis/cert-manager.io/v1/certificates").as_array().unwrap().len();
    let proxy = Proxy::before(&server());
    let clusters = "clusters.postgresql.cnpg.io";
    let cluster = named(clusters).objects[0]["metadata"]["name"].as_str().unwrap();
    // A command line, its allowed exit codes, and its expected output.
    let mut lines: Vec<(String, &[i32], Vec<String>)> = Vec::new();
    let mut line = |line: &str, codes: &'static [i32], says: &[&str]| {
        lines.push((line.to_owned(), codes, says.iter().map(|s| (*s).to_owned()).collect()));
    };
    line("validate -f all.json", &[0, 1], &[" accepted", "unchanged"]);
    line("validate -f new.json crd.json -o yaml", &[0], &["secretName: another"]);
    line("validate -f new.json --server-side --force-conflicts -o wide", &[0], &[name, "READY"]);
    line("validate -f new.json --replace -o name", &[0], &[name]);
    line("validate -f new.json --create", &[1], &["already exists"]);
    line("validate -f new.json --subresource status", &[0], &["1 accepted"]);
    line("diff -f all.json", &[0, 1, 2], &[" unchanged"]);
    line("diff -f new.json", &[1], &["+  secretName: another"]);
    line("diff -f new.json --server-side --force-conflicts --show-last-applied -o json", &[1], &["\"another\""]);
    line("diff -f new.json --replace", &[1], &["+  secretName: another"]);
    line("get certificates", &[0], &["NAME ", "READY ", name]);
    line("get certificates -A -o wide", &[0], &["NAMESPACE ", "ISSUER ", name]);
    line(&format!("get certificate {name} -o yaml"), &[0], &["kind: Certificate"]);
    line(&format!("get cert/{name} -o json --show-managed-fields"), &[0], &["\"managedFields\""]);
    line("get certificates -o name --chunk-size 2", &[0], &[&format!("certificate.cert-manager.io/{name}")]);
    line("get certificates -o jsonpath={.items[*].metadata.name}", &[0], &[name]);
    line("get certificates -o custom-columns=N:.metadata.name,S:.spec.secretName", &[0], &["N ", "S\n", name]);
    line("get certificates -l none=there", &[0], &["No resources found in default namespace."]);
    line(&format!("get certificates --field-selector metadata.name={name}"), &[0], &[name]);
    line("get certificates --sort-by .metadata.name --show-labels --show-kind", &[0], &["LABELS", name]);
    line("get cert-manager,crds --no-headers", &[0], &["certificates.cert-manager.io ", name]);
    line("get certificates --crd crd.json -o wide", &[0], &["ISSUER ", name]);
    line("get certificates -w --request-timeout 1s", &[0], &[name]);
    line("get certificates --watch-only --request-timeout 1s", &[0], &[]);
    line("get nothings", &[2], &["the server doesn't have a resource type \"nothings\""]);
    line("get certificates nobody", &[1], &["certificates.cert-manager.io \"nobody\" not found"]);
    line(&format!("scale {clusters}/{cluster} --replicas 2 --dry-run"), &[0], &["DESIRED", "+  instances: 2"]);
    line("lint crd.json --live", &[0, 1], &["certificates.cert-manager.io"]);
    line("rehearse crd.json", &[0, 1], &[&format!("{certificates} objects")]);
    line("rehearse crd.json -o json", &[0, 1], &[&format!("\"objects\":{certificates}")]);
    line("rehearse crd.json -o html", &[0, 1], &["</html>"]);
    // The following commands send no requests.
    let silent = "rbac certificates.cert-manager.io";
    line(silent, &[0], &["verbs:", "cert-manager.io"]);
    line("rbac --crds crd.json -o json", &[0], &["\"certificates\""]);
    line("completion bash", &[0], &["kubectl"]);
    line("lint crd.json", &[0, 1], &[]);
    line("validate -f new.json --crds crd.json --offline", &[0], &["1 accepted"]);
    let asking = lines.iter().position(|(line, ..)| line == silent).unwrap();
    let mut asked = 0;
    for (i, (line, codes, says)) in lines.iter().enumerate() {
        let flags = if i < asking { format!(" --no-cache -s {}", proxy.url) } else { String::new() };
        let said = place.run(&format!("{line}{flags}"));
        assert!(said.code.is_some_and(|code| codes.contains(&code)), "{line}: {said:?}");
        for text in says {
            assert!(said.all().contains(text.as_str()), "{line} does not say {text:?}: {}", said.all());
        }
        let now = proxy.asked().len();
        assert_eq!(now > asked, i < asking, "{line} asked {}", now - asked);
        println!("{:4} requests, exit {}: kubectl crdx {line}", now - asked, said.code.unwrap());
        asked = now;
    }

    // Shell completion takes the cluster from the unfinished command line.
    for (words, offered) in
        [("get certifi", "certificates"), ("get certificates ", name), ("scale clusters.postgresql.cnpg.io/", cluster)]
    {
        let mut words: Vec<&str> = words.split(' ').collect();
        let last = words.pop().unwrap();
        let flags = ["--no-cache", "-s", &proxy.url];
        let out = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(["__complete", "--"].iter().chain(&words[..1]).chain(&flags).chain(&words[1..]).chain([&last]))
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.contains(offered), "{words:?} {last:?} offers {out}");
        let now = proxy.asked().len();
        println!("{:4} requests: __complete {} {last}", now - asked, words.join(" "));
        assert!(now > asked);
        asked = now;
    }

    // `serve` starts with the objects of the cluster.
    let arguments = ["serve", "--port", "0", "--load-from-cluster", "--no-cache", "-s", &proxy.url];
    let mut serve = Running::start(&place, env!("CARGO_BIN_EXE_kubectl-crdx"), &arguments, "serve.out");
    let url = serve.wait_for(|out| out.lines().find(|l| l.starts_with("http://")).map(str::to_owned));
    let here = Http::new(&url).call("GET", "/apis/cert-manager.io/v1/certificates", None, None, "application/json");
    let names =
        |items: &Value| -> BTreeSet<String> { items.as_array().into_iter().flatten().map(self::name).collect() };
    let there = http_list("/apis/cert-manager.io/v1/certificates");
    assert_eq!((names(&here.body["items"]), here.code), (names(&there), 200));
    let now = proxy.asked().len();
    println!("{:4} requests: serve --load-from-cluster", now - asked);
    assert!(now > asked);
    drop(serve);

    let mut methods = BTreeMap::<String, usize>::new();
    proxy.asked().iter().for_each(|a| *methods.entry(a.method.clone()).or_default() += 1);
    println!("{now} requests on {stored} objects: {methods:?}");
    assert_eq!(methods.keys().collect::<Vec<_>>(), ["GET"]);
    assert!(before == all(), "something has changed");
}

fn http_list(path: &str) -> Value {
    Http::new(&server()).call("GET", path, None, None, "application/json").body["items"].clone()
}

/// A program that runs until it is dropped, and its output so far.
struct Running {
    child: Child,
    out: PathBuf,
}

impl Running {
    fn start(place: &TestDir, program: &str, arguments: &[&str], out: &str) -> Self {
        let out = place.0.join(out);
        let file = std::fs::File::create(&out).unwrap();
        let child = Command::new(program)
            .args(arguments)
            .current_dir(&place.0)
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .env("HOME", &place.0)
            .stdout(file)
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        Self { child, out }
    }

    fn printed(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap()
    }

    /// Waits until the output satisfies `wanted`.
    fn wait_for<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> T {
        for _ in 0..1200 {
            if let Some(found) = wanted(&self.printed()) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("only this was printed: {}", self.printed());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs both watches while kubectl creates, changes and deletes objects; their output must be equal.
#[test]
#[ignore = "needs the real server, kubectl and the corpus"]
fn a_watch_prints_what_kubectl_prints() {
    let place = TestDir::new("real-watch");
    let subjects = loaded(&place);
    let crd = subjects.iter().find(|s| s.name() == "certificates.cert-manager.io").expect("cert-manager");
    let mut object = crd.objects[0].clone();
    object["metadata"]["name"] = json!("watched");
    place.write("watched.json", &object.to_string());
    object["metadata"]["name"] = json!("another");
    place.write("another.json", &object.to_string());
    let age = regex::Regex::new(r"\b(\d+[smhdy]){1,2}\b").unwrap();
    let namespace = format!("watch-{}", std::process::id());
    let url = server();
    // The flags, the number of lines before the first change, and the number of lines after it.
    let forms: [(&str, usize, usize); 9] = [
        ("certificates -w", 2, 6),
        ("certificates -w -o wide --show-labels", 2, 6),
        ("certificates -w -A --field-selector metadata.name=watched", 0, 5),
        ("certificates -w --no-headers", 1, 5),
        ("certificates -w -l tier=gold -o name", 0, 3),
        ("certificates --watch-only", 0, 5),
        ("certificate another -w", 2, 2),
        ("certificates -w -o jsonpath={.metadata.name}:{.metadata.labels.tier}{\"\\n\"}", 1, 5),
        ("certificates -w -o custom-columns=NAME:.metadata.name,TIER:.metadata.labels.tier", 2, 6),
    ];
    let kubectl_name = kubectl_program();
    assert_eq!(kubectl(&place, &format!("create -f another.json -n {namespace}")).code, Some(0));
    let mut watches: Vec<(&str, usize, Running, Running)> = Vec::new();
    for (i, (form, before, after)) in forms.iter().enumerate() {
        let mut words: Vec<&str> = vec!["get"];
        words.extend(form.split(' '));
        words.extend(["-n", &namespace, "--server", &url]);
        let theirs = Running::start(&place, &kubectl_name, &words, &format!("kubectl-{i}"));
        let ours = Running::start(&place, env!("CARGO_BIN_EXE_kubectl-crdx"), &words, &format!("crdx-{i}"));
        let mut both = [theirs, ours];
        for one in &mut both {
            one.wait_for(|out| (out.lines().count() >= *before).then_some(()));
        }
        let [theirs, ours] = both;
        watches.push((form, *after, theirs, ours));
    }
    // Without initial output, there is no sign that the watch has started.
    std::thread::sleep(Duration::from_secs(5));
    for line in [
        "create -f watched.json",
        "label certificate watched tier=gold",
        "annotate certificate watched a=b",
        "delete certificate watched",
    ] {
        let said = kubectl(&place, &format!("{line} -n {namespace}"));
        assert_eq!(said.code, Some(0), "{line}: {said:?}");
    }
    let mask = |text: &str| text.lines().map(|l| age.replace(l, "AGE").into_owned()).collect::<Vec<_>>();
    let mut events = 0;
    for (form, after, theirs, ours) in &mut watches {
        for one in [&mut *theirs, &mut *ours] {
            one.wait_for(|out| (out.lines().count() >= *after).then_some(()));
        }
        std::thread::sleep(Duration::from_millis(200));
        let (theirs, ours) = (mask(&theirs.printed()), mask(&ours.printed()));
        assert_eq!(theirs, ours, "get {form}");
        assert_eq!(ours.len(), *after, "get {form}: {ours:#?}");
        events += ours.len();
        println!("{} lines equal: get {form}", ours.len());
    }
    println!("{} watches, {events} lines equal", watches.len());
    kubectl(&place, &format!("delete certificate another -n {namespace}"));
}

/// `scale` prints the Scale of the live object, and the Scale after the change.
#[test]
#[ignore = "needs the real server, kubectl and the corpus"]
fn scale_equals_the_servers() {
    let place = TestDir::new("real-scale");
    let subjects = loaded(&place);
    let mut http = Http::new(&server());
    let (mut compared, mut refused) = (0, 0);
    let bare = |scale: &Value| {
        let mut scale = scale.clone();
        scale["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        scale
    };
    for subject in &subjects {
        let spec = &subject.crd["spec"];
        let versions = spec["versions"].as_array().unwrap().iter().filter(|v| v["served"] == true);
        for version in versions.filter(|v| v["subresources"]["scale"].is_object()) {
            let text = |v: &Value| v.as_str().unwrap().to_owned();
            let (group, plural, of) = (text(&spec["group"]), text(&spec["names"]["plural"]), text(&version["name"]));
            let space = if spec["scope"] == "Namespaced" { "/namespaces/default" } else { "" };
            for object in subject.objects.iter().take(3) {
                let path = format!("/apis/{group}/{of}{space}/{plural}/{}", text(&object["metadata"]["name"]));
                let now = http.call("GET", &format!("{path}/scale"), None, None, "application/json");
                if now.code != 200 {
                    continue;
                }
                let mut wanted = now.body.clone();
                wanted["spec"] = json!({"replicas": 7});
                let body = Some(wanted.to_string());
                let json = "application/json";
                let then = http.call("PUT", &format!("{path}/scale?dryRun=All"), body.as_deref(), Some(json), json);
                let name = text(&object["metadata"]["name"]);
                let said = place
                    .run(&format!("scale {plural}.{of}.{group}/{name} --replicas 7 --dry-run -o json -s {}", server()));
                let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"));
                let item = &report["items"][0];
                assert_eq!(bare(&item["scale"]), bare(&now.body), "{path}");
                if then.code == 200 {
                    assert_eq!(bare(&item["wouldBe"]), bare(&then.body), "{path}");
                    assert_eq!(said.code, Some(0));
                } else {
                    refused += 1;
                    assert_eq!(item["answer"]["message"], then.body["message"], "{path}");
                    assert_eq!(said.code, Some(1));
                }
                compared += 1;
            }
        }
    }
    println!("{compared} Scales compared before and after, {refused} refused by both");
    assert!(compared > 10);
}
