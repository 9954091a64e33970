//! Tests of commands that read a cluster, with a small server that has canned responses: their requests, the handling
//! of errors, invalid responses and timeouts, and their caches.

mod classes;
pub mod connection;
mod credentials;
pub mod fake;
mod faults;
mod get;
mod hostile;
mod lists;
mod policies;
mod profile;
mod real;
mod service_families;
mod settings;
mod volumes;

use connection::with_tls;
use fake::{Fake, Reply};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.fake.example.com";
const WIDGETS: &str = "/apis/fake.example.com/v1/widgets";

fn crd(revision: &str, maximum: u64) -> String {
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"widgets.fake.example.com","uid":"u","resourceVersion":"{revision}"}},"spec":{{"group":"fake.example.com","scope":"Namespaced","names":{{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{"spec":{{"type":"object","properties":{{"size":{{"type":"integer","maximum":{maximum}}},"color":{{"type":"string","default":"red"}}}}}}}}}}}}}}]}}}}"#
    )
}

fn widget(name: &str, size: u64) -> String {
    format!(
        r#"{{"apiVersion":"fake.example.com/v1","kind":"Widget","metadata":{{"name":"{name}","namespace":"default","uid":"w","resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","generation":1}},"spec":{{"size":{size},"color":"red"}}}}"#
    )
}

/// An aggregated discovery document of one group; `resources` are pairs of plural and kind.
fn group(name: &str, version: &str, resources: &[(&str, &str)]) -> String {
    let each: Vec<String> = resources
        .iter()
        .map(|(plural, kind)| {
            format!(
                r#"{{"resource":"{plural}","responseKind":{{"group":"","version":"","kind":"{kind}"}},"scope":"Namespaced","singularResource":"","verbs":["get","list"]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"metadata":{{"name":"{name}"}},"versions":[{{"version":"{version}","resources":[{}]}}]}}"#,
        each.join(",")
    )
}

fn groups(groups: &[String]) -> String {
    format!(
        r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{}]}}"#,
        groups.join(",")
    )
}

const NOT_FOUND: &str = r#"{"kind":"Status","message":"not found","reason":"NotFound","code":404}"#;

/// A cluster with the CRD and one object, `a`.
fn cluster(path: &str) -> Reply {
    let found = match path {
        "/version" => r#"{"major":"1","minor":"37"}"#.to_owned(),
        "/api" => groups(&[]),
        "/apis" => groups(&[group("fake.example.com", "v1", &[("widgets", "Widget")])]),
        DEFINITION => crd("1", 10),
        "/apis/fake.example.com/v1/namespaces/default/widgets/a" => widget("a", 3),
        _ => return Reply::Json(404, NOT_FOUND.to_owned()),
    };
    Reply::Json(200, found)
}

fn status(code: u16, message: &str) -> Reply {
    Reply::Json(code, format!(r#"{{"kind":"Status","message":"{message}","code":{code}}}"#))
}

/// A directory for one test.
struct TestDir(PathBuf);

impl TestDir {
    fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live").join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let place = Self(dir);
        place.write("crd.yaml", &crd("", 10));
        place.write("a.yaml", &object("a", 4));
        place
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, line: &str) -> Said {
        self.run_with(line, &[], "")
    }

    fn run_with(&self, line: &str, env: &[(&str, &str)], stdin: &str) -> Said {
        let input = self.write("stdin", stdin);
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(line.split_whitespace())
            .current_dir(&self.0)
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .env("XDG_CACHE_HOME", self.0.join("cache"))
            .env_remove("KUBERNETES_SERVICE_HOST")
            .envs(env.iter().copied())
            .stdin(Stdio::from(fs::File::open(input).unwrap()))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

fn object(name: &str, size: u64) -> String {
    format!("apiVersion: fake.example.com/v1\nkind: Widget\nmetadata:\n  name: {name}\nspec:\n  size: {size}\n")
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    #[track_caller]
    fn ends(self, code: i32, with: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        for text in with {
            assert!(self.all().contains(text), "{text:?} is not in\n{}", self.all());
        }
        self
    }
}

#[test]
fn only_required_connections_are_made() {
    let place = TestDir::new("no-need");
    let fake = Fake::serve(|path, _| cluster(path));
    let old = place.write("old.yaml", &object("a", 3));
    let old = old.display();
    for line in [
        format!("validate -f a.yaml --crds crd.yaml --old {old}"),
        format!("diff -f a.yaml --crds crd.yaml --old {old} -o json"),
        "validate -f a.yaml --crds crd.yaml --offline".to_owned(),
        "validate -f crd.yaml a.yaml --offline".to_owned(),
        format!("rehearse crd.yaml --old crd.yaml -f {old}"),
        "rbac --crds crd.yaml".to_owned(),
        "lint crd.yaml".to_owned(),
    ] {
        let server = if line.starts_with("rbac") || line.starts_with("lint") {
            String::new()
        } else {
            format!(" -s {}", fake.url)
        };
        let with = place.run(&format!("{line}{server}"));
        assert!(with.code.is_some_and(|code| code < 2), "{line}: {with:?}");
        let dead = server.replace(&fake.url, "http://127.0.0.1:1");
        let without = place.run(&format!("{line}{dead}"));
        assert_eq!((with.code, with.out, with.err), (without.code, without.out, without.err), "{line}");
    }
    assert_eq!(fake.paths(), [""; 0]);
}

#[test]
fn log_level_6_prints_each_request() {
    let place = TestDir::new("verbosity");
    for (flag, named) in [("", false), ("--v=5", false), ("--v=6", true), ("-v 6", true)] {
        let fake = Fake::serve(|path, _| cluster(path));
        let said = place.run(&format!("validate -f a.yaml -s {} --no-cache {flag}", fake.url)).ends(0, &[]);
        let mut requests: Vec<&str> = said.err.lines().filter(|line| line.starts_with("GET ")).collect();
        let mut paths = fake.paths();
        assert!(!paths.is_empty());
        if !named {
            paths.clear();
        }
        requests.sort_unstable();
        paths.sort_unstable();
        assert_eq!(requests.len(), paths.len(), "{flag}: {requests:?} {paths:?}");
        for (request, path) in requests.iter().zip(&paths) {
            let (start, end) = (format!("GET {}{path} ", fake.url), " milliseconds");
            assert!(request.starts_with(&start) && request.ends_with(end), "{flag}: {request} {path}");
        }
    }
}

#[test]
fn live_objects_determine_the_action() {
    let place = TestDir::new("actions");
    let fake = Fake::serve(|path, _| cluster(path));
    let same = place.write("same.yaml", &object("a", 3));
    let line = format!("validate -f a.yaml b.yaml -s {} -o json", fake.url);
    place.write("b.yaml", &object("b", 1));
    let said = place.run(&format!("{line} --show-last-applied"));
    let said = said.ends(0, &[r#""action":"update""#, r#""action":"create""#]);
    // The request of kubectl apply has the namespace that the file omits.
    let noted = r#"\"annotations\":{},\"name\":\"a\",\"namespace\":\"default\"}"#;
    assert!(said.out.contains(noted), "{}", said.out);
    fs::copy(&same, place.0.join("a.yaml")).unwrap();
    place.run(&line).ends(0, &[r#""action":"unchanged""#, r#""action":"create""#]);
    // A server that stores the last-applied annotation.
    let applied = widget("a", 3).replace(
        r#""generation":1"#,
        r#""generation":1,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"fake.example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"annotations\":{},\"name\":\"a\",\"namespace\":\"default\"},\"spec\":{\"size\":3}}\n"}"#,
    );
    let fake =
        Fake::serve(
            move |path, _| {
                if path.ends_with("/widgets/a") { Reply::Json(200, applied.clone()) } else { cluster(path) }
            },
        );
    place.run(&format!("validate -f a.yaml -s {}", fake.url)).ends(0, &["unchanged"]);
    place.run(&format!("diff -f a.yaml -s {}", fake.url)).ends(0, &[]);
    assert!(fake.asked().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn the_revision_of_another_cluster_is_left_out_of_a_create() {
    let place = TestDir::new("revision");
    let fake = Fake::serve(|path, _| cluster(path));
    place.write("b.yaml", &object("b", 1).replace("name: b", "name: b\n  resourceVersion: '5'"));
    for flag in ["", " --create"] {
        place.run(&format!("validate -f b.yaml -s {}{flag}", fake.url)).ends(0, &["1 accepted"]);
    }
}

#[test]
fn a_crd_of_the_input_takes_precedence_over_the_live_one() {
    let place = TestDir::new("input-first");
    let fake = Fake::serve(|path, _| cluster(path));
    place.write("new-crd.yaml", &crd("", 100));
    place.write("big.yaml", &object("a", 50));
    place.run(&format!("validate -f big.yaml -s {}", fake.url)).ends(1, &["less than or equal to 10"]);
    // The CRD precedes or follows the object, or is given by a flag; in all cases the live object is updated.
    for line in ["-f new-crd.yaml big.yaml", "-f big.yaml new-crd.yaml", "-f big.yaml --crds new-crd.yaml"] {
        let said = place.run(&format!("validate {line} -s {}", fake.url)).ends(0, &["default/a"]);
        let row = said.out.lines().find(|l| l.contains("default/a")).unwrap();
        assert!(row.contains("update"), "{row}");
    }
    // An object whose CRD or namespace does not exist yet.
    place.write("other.yaml", &crd("", 9).replace("widget", "gadget").replace("Widget", "Gadget"));
    let gadget = object("g", 5).replace("Widget", "Gadget").replace("name: g", "name: g\n  namespace: new");
    place.write("gadget.yaml", &format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: new}}\n---\n{gadget}"));
    let said = place.run(&format!("validate -f gadget.yaml other.yaml -s {}", fake.url)).ends(0, &["3 accepted"]);
    // The server has neither `/metrics` nor `/flagz`.
    assert!(said.err.lines().all(|line| line.is_empty() || line.contains("of the server are unknown")), "{}", said.err);
}

/// A cluster with the namespaces `default`, `ending`, which is being deleted, and `secret`, which may not be read.
fn cluster_with_namespaces(path: &str) -> Reply {
    match path {
        "/api" => {
            Reply::Json(200, groups(&[group("", "v1", &[("namespaces", "Namespace"), ("configmaps", "ConfigMap")])]))
        }
        "/api/v1/namespaces/default/configmaps/m" | "/api/v1/namespaces/ending/configmaps/m" => Reply::Json(
            200,
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","namespace":"default","uid":"u","resourceVersion":"7"},"data":{"a":"1"}}"#
                .to_owned(),
        ),
        "/api/v1/namespaces/secret/configmaps/m" => status(403, "configmaps \"m\" is forbidden"),
        "/api/v1/namespaces/default" => Reply::Json(200, r#"{"status":{"phase":"Active"}}"#.to_owned()),
        "/api/v1/namespaces/ending" => Reply::Json(200, r#"{"status":{"phase":"Terminating"}}"#.to_owned()),
        "/api/v1/namespaces/secret" => status(403, "namespaces \"secret\" is forbidden"),
        "/apis/fake.example.com/v1/namespaces/ending/widgets/old"
        | "/apis/fake.example.com/v1/namespaces/gone/widgets/old" => Reply::Json(200, widget("old", 3)),
        _ => cluster(path),
    }
}

#[test]
fn a_create_in_a_namespace_that_does_not_accept_it_is_rejected() {
    let place = TestDir::new("namespaces");
    let fake = Fake::serve(|path, _| cluster_with_namespaces(path));
    let url = &fake.url;
    let widget = |name: &str, namespace: &str| {
        object(name, 1).replace(&format!("name: {name}"), &format!("name: {name}\n  namespace: {namespace}"))
    };
    let map = |namespace: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m, namespace: {namespace}}}\n---\n")
    };
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n---\n";
    let missing = "namespaces \"new\" not found";
    place.write("widget.yaml", &widget("b", "new"));
    place.write("map.yaml", &map("new"));
    for file in ["widget.yaml", "map.yaml"] {
        for flags in ["", " --server-side", " --create"] {
            place.run(&format!("validate -f {file} -s {url}{flags}")).ends(1, &["(404 NotFound)", missing]);
        }
        place.run(&format!("diff -f {file} -s {url}")).ends(2, &[missing]);
        // Without a cluster, and with existing objects from files, namespaces are not known.
        place.run(&format!("validate -f {file} --crds crd.yaml --offline")).ends(0, &[]);
    }
    // kubectl sends objects in the order of the input. A CRD that comes last delays all of them.
    let other = widget("g", "new").replace("Widget", "Gadget");
    place.write("first.yaml", &(namespace.to_owned() + &map("new") + &widget("b", "new") + "---\n" + &other));
    place.write("last.yaml", &(map("new") + &widget("b", "new") + "---\n" + &other + "---\n" + namespace));
    place.write("gadgets.yaml", &crd("", 9).replace("widget", "gadget").replace("Widget", "Gadget"));
    place.run(&format!("validate -f first.yaml gadgets.yaml -s {url}")).ends(0, &["5 accepted"]);
    place.run(&format!("validate -f last.yaml gadgets.yaml -s {url}")).ends(1, &["3 rejected", missing]);
    // A Namespace that is rejected is not created.
    place.write("bad.yaml", &(namespace.replace("{name: new}", "{name: new, labels: 1}") + &map("new")));
    place.run(&format!("validate -f bad.yaml -s {url}")).ends(1, &["2 rejected", missing]);
    // Validation errors come after the namespace.
    place.write("wrong.yaml", &widget("b", "new").replace("size: 1", "size: 11"));
    place.run(&format!("validate -f wrong.yaml -s {url}")).ends(1, &[missing, "less than or equal to 10"]);
    // Updates do not depend on the namespace.
    place.write("old.yaml", &(widget("old", "gone") + "---\n" + &widget("old", "ending")));
    place.run(&format!("validate -f old.yaml -s {url}")).ends(0, &["2 accepted"]);
    let other = map("ending").replace("name: m", "name: other");
    place.write("ending.yaml", &(map("ending") + &other + &widget("b", "ending")));
    let terminating = "unable to create new content in namespace ending because it is being terminated";
    let said =
        place.run(&format!("validate -f ending.yaml -s {url}")).ends(1, &["1 accepted, 2 rejected", terminating]);
    assert!(said.out.contains("configmaps \"other\" is forbidden"), "{}", said.out);
    assert!(said.out.contains("widgets.fake.example.com \"b\" is forbidden"), "{}", said.out);
    // A namespace that may not be read.
    place.write("secret.yaml", &(map("secret") + &widget("b", "secret")));
    let note =
        "these could not be read from the cluster, so their effect on a write is unknown: configmaps, namespaces (403)";
    place.run(&format!("validate -f secret.yaml -s {url}")).ends(0, &["2 accepted", note]);
    place.write("secret.yaml", &map("secret"));
    place.run(&format!("validate -f secret.yaml -s {url}")).ends(0, &["1 accepted", note]);
    assert_eq!(fake.count("/api/v1/namespaces/secret"), 2);
}

#[test]
fn existing_objects_of_built_in_kinds_are_updated() {
    let place = TestDir::new("built-in-updates");
    let fake = Fake::serve(|path, _| cluster_with_namespaces(path));
    let map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {data}\n");
    place.write("a.yaml", &map("{a: 1}"));
    let line = format!("validate -f a.yaml -s {}", fake.url);
    let said = place.run(&line).ends(1, &["(422 Invalid)", "cannot convert int64 to string"]);
    let problem = "error: patch: Invalid value: cannot convert int64 to string\n --> a.yaml:4:11\n";
    assert!(said.out.contains(problem) && !said.out.contains("map["), "{}", said.out);
    let annotation = r#"{\"apiVersion\":\"v1\",\"data\":{\"a\":1},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"m\",\"namespace\":\"default\"}}"#;
    let echo = format!(
        "map[data:map[a:1] metadata:map[annotations:map[kubectl.kubernetes.io/last-applied-configuration:{annotation}"
    );
    let said = place.run(&format!("{line} -v"));
    assert!(said.out.contains(&echo), "{}", said.out);
    let typed = ".data.a: expected string, got &value.valueUnstructured{Value:1}";
    place.run(&format!("{line} --server-side")).ends(1, &[typed]);
    // A PUT is decoded as a create is.
    let decoded = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string";
    place.run(&format!("{line} --replace")).ends(1, &["(400 BadRequest)", decoded]);
    place.write("a.yaml", &map("{a: '2'}"));
    place.run(&line).ends(0, &["accepted"]);
}

#[test]
fn kinds_that_the_cluster_does_not_serve_are_rejected() {
    let place = TestDir::new("unserved");
    let metrics = group("metrics.example.com", "v1", &[("loads", "Load")]);
    let beta = group("resource.k8s.io", "v1beta1", &[("deviceclasses", "DeviceClass")]);
    let discovery = groups(&[group("fake.example.com", "v1", &[("widgets", "Widget")]), metrics, beta]);
    let fake = Fake::serve(move |path, _| match path {
        "/apis" => Reply::Json(200, discovery.clone()),
        _ => cluster(path),
    });
    let line = |file: &str| format!("validate -f {file} -s {}", fake.url);
    place.write("kite.yaml", "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: k}\n");
    let message = "no matches for kind \"Kite\" in version \"toys.example.com/v1\"";
    place.run(&line("kite.yaml")).ends(1, &["rejected", message, "ensure CRDs are installed first"]);
    place.run(&format!("{} --ignore-missing-crds", line("kite.yaml"))).ends(0, &["skipped"]);
    // Its CRD comes later in the input.
    let crd = crd("", 10).replace("fake.example.com", "toys.example.com");
    place.write("kite-crd.yaml", &crd.replace("widget", "kite").replace("Widget", "Kite"));
    place.run(&line("kite.yaml kite-crd.yaml")).ends(0, &["2 accepted"]);
    // The cluster serves a kind without a CRD: an aggregated API.
    place.write("load.yaml", "apiVersion: metrics.example.com/v1\nkind: Load\nmetadata: {name: l}\n");
    place.run(&line("load.yaml")).ends(2, &["cannot tell", "the cluster serves it without a CRD"]);
    // Built-in kinds that are not served by default.
    place
        .write("class.yaml", "apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\nmetadata: {name: c}\nspec: {}\n");
    place.run(&line("class.yaml")).ends(0, &["decodes"]);
    place
        .write("class.yaml", "apiVersion: resource.k8s.io/v1beta2\nkind: DeviceClass\nmetadata: {name: c}\nspec: {}\n");
    let message = "no matches for kind \"DeviceClass\" in version \"resource.k8s.io/v1beta2\"";
    place.run(&line("class.yaml")).ends(1, &[message, "Kubernetes 1.37 serves it as resource.k8s.io/v1"]);
}

#[test]
fn an_object_is_read_in_a_version_that_the_cluster_serves() {
    let place = TestDir::new("versions");
    let fake = Fake::serve(|path, _| cluster(path));
    let later = crd("", 10).replace(
        r#"[{"name":"v1","served":true,"storage":true,"#,
        r#"[{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},{"name":"v1","served":true,"storage":true,"#,
    );
    place.write("crd.yaml", &later);
    place.write("v2.yaml", &object("a", 4).replace("/v1", "/v2"));
    let said = place.run(&format!("validate -f v2.yaml --crds crd.yaml -s {}", fake.url)).ends(0, &[]);
    assert!(said.out.lines().any(|l| l.contains("default/a") && l.contains("update")), "{}", said.out);
}

#[test]
fn the_version_of_the_cluster_is_simulated() {
    let answer = |path: &str, _| match path {
        "/version" => Reply::Json(200, r#"{"major":"1","minor":"33+"}"#.to_owned()),
        _ => cluster(path),
    };
    let place = TestDir::new("version");
    place.write(
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x, restartPolicyRules: []}]}\n",
    );
    let fake = Fake::serve(answer);
    let versions = |said: &Said| {
        let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        report["kubernetesVersions"].clone()
    };
    // The field was introduced in 1.34.
    let said = place.run(&format!("validate -f pod.yaml -s {} -o json", fake.url)).ends(1, &["restartPolicyRules"]);
    assert_eq!(versions(&said), serde_json::json!(["1.33"]));
    let said = place.run(&format!("validate -f pod.yaml -s {} -o json --kubernetes-version 1.34", fake.url));
    assert_eq!(versions(&said.ends(0, &[])), serde_json::json!(["1.34"]));
    let said = place.run(&format!("diff -f a.yaml -s {} -o json", fake.url));
    assert_eq!(versions(&said.ends(1, &[])), serde_json::json!(["1.33"]));
    let said = place.run(&format!("lint crd.yaml --live -s {} -o json", fake.url));
    assert_eq!(versions(&said.ends(0, &[])), serde_json::json!(["1.33"]));
    let said = place.run(&format!("lint crd.yaml -s {} -o json", fake.url));
    assert_eq!(versions(&said.ends(0, &[])), serde_json::json!(["1.37"]));
    let said = place.run(&format!("scale widget/a --replicas 1 -s {} -o json", fake.url));
    assert_eq!(versions(&said), serde_json::json!(["1.33"]), "{said:?}");
    place.write("new.yaml", "apiVersion: fake.example.com/v1\nkind: Widget\nmetadata: {name: new}\nspec: {size: 1}\n");
    place.write("old.yaml", "apiVersion: fake.example.com/v1\nkind: Widget\nmetadata: {name: new}\nspec: {size: 2}\n");
    // Only the CRD comes from the cluster.
    let said = place.run(&format!("validate -f new.yaml --old old.yaml -s {} -o json", fake.url));
    let said = said.ends(
        0,
        &["note: the cluster runs Kubernetes 1.33, and Kubernetes 1.37 is simulated: give --kubernetes-version 1.33\n"],
    );
    assert_eq!(versions(&said), serde_json::json!(["1.37"]));
    let silent = Fake::serve(|path, _| if path == "/version" { status(403, "no way") } else { cluster(path) });
    let said = place.run(&format!("validate -f a.yaml -s {}", silent.url));
    said.ends(0, &["note: the cluster's version could not be read (", "so Kubernetes 1.37 is simulated"]);
}

#[test]
fn unsimulated_behaviour_is_reported_once() {
    let rules = r#"[{"apiGroups":["fake.example.com"],"apiVersions":["*"],"resources":["*"],"operations":["CREATE","UPDATE"]}]"#;
    let hooks = format!(
        r#"{{"items":[{{"metadata":{{"name":"guard"}},"webhooks":[{{"name":"check.example.com","rules":{rules}}},{{"name":"pods.example.com","rules":[]}}]}}]}}"#
    );
    let answer = move |path: &str, forbid: bool| match path {
        "/version" => Reply::Json(200, r#"{"major":"1","minor":"99+"}"#.to_owned()),
        "/api" => Reply::Json(
            200,
            groups(&[group("", "v1", &[("namespaces", "Namespace"), ("resourcequotas", "ResourceQuota")])]),
        ),
        "/apis" => Reply::Json(
            200,
            groups(&[
                group("fake.example.com", "v1", &[("widgets", "Widget")]),
                group(
                    "admissionregistration.k8s.io",
                    "v1",
                    &[
                        ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
                        ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
                    ],
                ),
            ]),
        ),
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations" if forbid => status(403, "forbidden"),
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations" => Reply::Json(200, hooks.clone()),
        "/api/v1/namespaces/default" => Reply::Json(200, "{}".to_owned()),
        "/api/v1/namespaces/default/resourcequotas" => Reply::Json(
            200,
            r#"{"items":[{"metadata":{"name":"few"},"spec":{"hard":{"count/widgets.fake.example.com":"2"}}}]}"#
                .to_owned(),
        ),
        _ => cluster(path),
    };
    let place = TestDir::new("notes");
    place.write("b.yaml", &(object("b", 1) + "---\n" + &object("c", 1)));
    let readable = answer.clone();
    let fake = Fake::serve(move |path, _| readable(path, false));
    let said = place.run(&format!("validate -f a.yaml b.yaml -s {} -o json", fake.url));
    let said = said.ends(
        0,
        &[
            "note: the cluster runs Kubernetes 1.99; 1.37 is simulated, the newest supported version\n",
            "note: webhook \"check.example.com\" of ValidatingWebhookConfiguration \"guard\" would be called for 3 objects and may reject them; it is not called here\n",
            "note: quota in namespace default counts each object alone, not all together: few (2 widgets.fake.example.com used)\n",
        ],
    );
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let kinds: Vec<&str> = report["notes"].as_array().unwrap().iter().map(|n| n["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["version", "serverSettings", "validatingWebhook", "quota"]);
    assert_eq!(report["kubernetesVersions"][0], "1.37");
    let fake = Fake::serve(move |path, _| answer(path, true));
    place.run(&format!("diff -f a.yaml -s {}", fake.url)).ends(
        1,
        &["note: these could not be read from the cluster, so admission is simulated without them: validatingwebhookconfigurations (403); kubectl crdx rbac prints the permissions to read them\n"],
    );
}

#[test]
fn errors_are_reported_and_retries_are_bounded() {
    let place = TestDir::new("refusals");
    place.write("b.yaml", &object("b", 1));
    let line = |fake: &Fake| format!("validate -f a.yaml b.yaml -s {} --no-cache", fake.url);

    let expired = Fake::serve(|_, _| status(401, "Unauthorized"));
    place.run(&line(&expired)).ends(2, &["answered 401", "Unauthorized", "log in again"]);
    assert!(expired.paths().len() <= 4, "{:?}", expired.paths());

    // One object is forbidden; the other is still validated.
    let secret =
        Fake::serve(|path, _| if path.ends_with("/widgets/a") { status(403, "no way") } else { cluster(path) });
    let said = place.run(&line(&secret)).ends(2, &["answered 403", "no way", "kubectl crdx rbac"]);
    assert!(said.out.contains("1 accepted, 1 cannot tell"), "{}", said.out);

    let busy = Fake::serve(|path, before| if before < 2 { Reply::Later(429, 0) } else { cluster(path) });
    place.run(&line(&busy)).ends(0, &["2 accepted"]);
    let always = Fake::serve(|path, _| if path.ends_with("/widgets/a") { Reply::Later(429, 0) } else { cluster(path) });
    place.run(&line(&always)).ends(2, &["answered 429", "overloaded"]);
    assert_eq!(always.count("/apis/fake.example.com/v1/namespaces/default/widgets/a"), 5);
    let tomorrow =
        Fake::serve(|path, _| if path.ends_with("/widgets/a") { Reply::Later(429, 86400) } else { cluster(path) });
    place.run(&line(&tomorrow)).ends(2, &["answered 429"]);

    let page = Fake::serve(|_, _| Reply::Json(200, "<html>Log in</html>".to_owned()));
    place.run(&line(&page)).ends(2, &["is not JSON", "is it a Kubernetes API server?"]);

    let slow = Fake::serve(|path, _| if path.ends_with("/widgets/a") { Reply::Silence } else { cluster(path) });
    place
        .run(&(line(&slow) + " --request-timeout 500ms"))
        .ends(2, &["did not answer", "within 0.5 s", "--request-timeout"]);

    place
        .run("validate -f a.yaml b.yaml -s http://127.0.0.1:1")
        .ends(2, &["cannot reach the cluster at http://127.0.0.1:1/", "--offline uses no cluster"]);
    place.run("validate -f a.yaml -s http://[").ends(2, &["is not a URL", "https://HOST:PORT"]);
}

#[test]
fn without_a_cluster_objects_are_new() {
    let place = TestDir::new("none");
    place.run("validate -f a.yaml --crds crd.yaml").ends(0, &["accepted", "note: no cluster is configured"]);
    place.run("validate -f a.yaml").ends(2, &["no cluster is configured", "--kubeconfig"]);
    place.run("diff -f a.yaml --crds crd.yaml").ends(2, &["no cluster is configured", "--kubeconfig"]);
    place.run("rehearse crd.yaml").ends(2, &["no cluster is configured", "--offline"]);
}

#[test]
fn a_rehearsal_reads_stored_objects_in_pages() {
    let list = |names: &[String], more: &str| {
        let items: Vec<String> = names.iter().map(|name| widget(name, 7)).collect();
        format!(r#"{{"kind":"WidgetList","metadata":{{"resourceVersion":"9"{more}}},"items":[{}]}}"#, items.join(","))
    };
    let pages = move |path: &str, broken: bool| {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let names = |from: usize| (from..from + 500).map(|n| format!("w{n}")).collect::<Vec<_>>();
        match (path, query) {
            (WIDGETS, "limit=500") => {
                Reply::Json(200, list(&names(0), r#","continue":"one/two","remainingItemCount":1001"#))
            }
            (WIDGETS, _) if broken => Reply::Cut(list(&names(500), "")),
            // The snapshot has expired; the server offers to continue with the current objects.
            (WIDGETS, "limit=500&continue=one%2Ftwo") => Reply::Json(
                410,
                r#"{"kind":"Status","code":410,"message":"expired","metadata":{"continue":"newer"}}"#.to_owned(),
            ),
            (WIDGETS, "limit=500&continue=newer") => Reply::Json(200, list(&names(500), r#","continue":"last""#)),
            (WIDGETS, _) => Reply::Json(200, list(&["last".to_owned()], "")),
            (path, _) => cluster(path),
        }
    };
    let place = TestDir::new("rehearsal");
    place.write("new.yaml", &crd("", 5));
    let whole = pages;
    let fake = Fake::serve(move |path, _| whole(path, false));
    let said = place.run(&format!("rehearse new.yaml -s {} --jobs 2", fake.url));
    let said = said.ends(1, &["1001 objects", "1001 invalid", "continued with a newer state"]);
    assert!(said.out.contains("default/last"));
    let one = place.run(&format!("rehearse new.yaml -s {} --jobs 1", fake.url));
    assert_eq!((one.out, one.err), (said.out, said.err));

    let fake = Fake::serve(move |path, _| pages(path, true));
    let said = place.run(&format!("rehearse new.yaml -s {} -o json", fake.url));
    let said = said.ends(2, &["the connection failed", "only 500 objects were read; the results cover only these"]);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((report["items"].as_array().unwrap().len(), &report["summary"]["cannotTell"]), (500, &1.into()));
    assert_eq!(report["notes"][0]["type"], "incomplete");

    // The objects of a CRD that does not exist are not cached.
    let empty = Fake::serve(|path, _| if path == DEFINITION { status(404, "none") } else { cluster(path) });
    place.run(&format!("rehearse new.yaml -s {}", empty.url)).ends(0, &["it stores no objects"]);
}

#[test]
fn the_cache_is_used_while_it_is_current() {
    let place = TestDir::new("cache");
    let state = std::sync::Arc::new(std::sync::Mutex::new(("1".to_owned(), 10)));
    let now = std::sync::Arc::clone(&state);
    let fake = Fake::serve(move |path, _| {
        let (revision, maximum) = now.lock().unwrap().clone();
        if path == DEFINITION { Reply::Json(200, crd(&revision, maximum)) } else { cluster(path) }
    });
    let line = format!("validate -f a.yaml -s {}", fake.url);
    let asked_for = |accept: &str| {
        let heads = fake.asked().into_iter().filter(|a| a.path == DEFINITION).map(|a| a.head.to_lowercase());
        heads.filter(|head| head.contains(&format!("accept: {accept}"))).count()
    };
    place.run(&line).ends(0, &["1 accepted"]);
    assert_eq!((fake.count("/apis"), asked_for("application/json\r\n")), (1, 1));
    fake.forget();
    place.run(&line).ends(0, &["1 accepted"]);
    assert_eq!((fake.count("/apis"), asked_for("application/json\r\n")), (0, 0));
    assert_eq!(asked_for("application/json;as=partialobjectmetadata"), 1);
    // Objects are read again if the revision changed.
    *state.lock().unwrap() = ("2".to_owned(), 3);
    place.run(&line).ends(1, &["less than or equal to 3"]);
    // A corrupt cache is ignored.
    let kept: Vec<PathBuf> = walk(&place.0.join("cache"));
    // The CRD, discovery, and that the settings cannot be read.
    assert_eq!(kept.len(), 3, "{kept:?}");
    for file in &kept {
        fs::write(file, "{\"resources\":[").unwrap();
    }
    fake.forget();
    place.run(&line).ends(1, &["less than or equal to 3"]);
    assert_eq!((fake.count("/apis"), asked_for("application/json\r\n")), (1, 1));
    // A kind that is missing in the cache is looked up.
    for file in &kept {
        fs::write(file, "{\"resources\":[]}").unwrap();
    }
    place.run(&line).ends(1, &["less than or equal to 3"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(kept[0].parent().unwrap()), mode(&kept[0])), (0o700, 0o600));
    }
    fs::remove_dir_all(place.0.join("cache")).unwrap();
    place.run(&format!("{line} --no-cache")).ends(1, &[]);
    assert!(!place.0.join("cache").exists());
    place.run(&format!("{line} --cache-dir elsewhere")).ends(1, &[]);
    assert_eq!(walk(&place.0.join("elsewhere")).len(), 3);
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
fn the_kubeconfig_is_decoded_like_kubectl() {
    let place = TestDir::new("kubeconfig");
    let fake = with_tls(|path, _| cluster(&path.replace("/namespaces/team/", "/namespaces/default/")));
    let users = place.write(
        "users.yaml",
        "apiVersion: v1\nkind: Config\ncurrent-context: one\nusers:\n- name: me\n  user: {token: secret}\n",
    );
    let clusters = place.write(
        "clusters.yaml",
        &format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: two\nclusters:\n- name: here\n  cluster: {{server: \"{}\", insecure-skip-tls-verify: true}}\n- name: dead\n  cluster: {{server: \"http://127.0.0.1:1\"}}\ncontexts:\n- name: one\n  context: {{cluster: here, user: me, namespace: team}}\n- name: two\n  context: {{cluster: dead, user: me}}\n",
            fake.url
        ),
    );
    let list = std::env::join_paths([Path::new("/nonexistent/x"), &users, &clusters]).unwrap();
    let env = [("KUBECONFIG", list.to_str().unwrap())];
    let line = "validate -f a.yaml --no-cache";
    place.run_with(line, &env, "").ends(0, &["team/a", "update"]);
    let heads = |fake: &Fake| fake.asked().iter().map(|a| a.head.to_lowercase()).collect::<Vec<_>>();
    assert!(heads(&fake).iter().all(|head| head.contains("authorization: bearer secret\r\n")));
    fake.forget();
    let other =
        format!("{line} --context two --cluster here --token other --as jane --as-group g1 --as-group g2 --as-uid 7");
    place.run_with(&other, &env, "").ends(0, &["default/a"]);
    for header in [
        "authorization: bearer other",
        "impersonate-user: jane",
        "impersonate-group: g1",
        "impersonate-group: g2",
        "impersonate-uid: 7",
    ] {
        assert!(heads(&fake).iter().all(|head| head.contains(&format!("{header}\r\n"))), "{header}");
    }
    place
        .run_with(&format!("{line} --context three"), &env, "")
        .ends(2, &[r#"context "three" does not exist"#, "the kubeconfig has one, two"]);
    place
        .run_with(&format!("{line} --cluster gone"), &env, "")
        .ends(2, &[r#"cluster "gone" does not exist"#, "dead, here"]);
    place.run_with(&format!("{line} --user you"), &env, "").ends(2, &[r#"user "you" does not exist"#]);
    place.run_with(&format!("{line} --kubeconfig gone.yaml"), &env, "").ends(2, &["gone.yaml cannot be read"]);
    place.write("broken.yaml", "clusters: [");
    place.run_with(&format!("{line} --kubeconfig broken.yaml"), &env, "").ends(2, &["broken.yaml cannot be read"]);
}

#[cfg(unix)]
#[test]
fn credential_plugins_are_run_and_their_errors_reported() {
    use std::os::unix::fs::PermissionsExt;
    let place = TestDir::new("plugin");
    let fake = with_tls(|path, _| cluster(path));
    let script = |text: &str| {
        let path = place.write("login", &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let config = |command: &str| {
        place.write(
            "config",
            &format!(
                "current-context: c\nclusters:\n- name: c\n  cluster: {{server: \"{}\", insecure-skip-tls-verify: true}}\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user:\n    exec: {{apiVersion: client.authentication.k8s.io/v1, command: {command}, interactiveMode: IfAvailable}}\n",
                fake.url
            ),
        );
    };
    config("./login");
    let line = "validate -f - --kubeconfig config --no-cache";
    // The program may read its own input, but must not receive that of crdx.
    script(
        r#"cat >/dev/null; echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-plugin"}}'"#,
    );
    place.run_with(line, &[], &object("a", 4)).ends(0, &["default/a", "1 accepted"]);
    assert!(fake.asked().iter().all(|a| a.head.to_lowercase().contains("authorization: bearer from-plugin\r\n")));
    fake.forget();
    script("echo 'your session has ended' >&2; exit 3");
    // Its standard error is the user's, as with kubectl.
    let failed =
        ["your session has ended\n", "the credential plugin ./login ended with exit status: 3\n", "log in again"];
    place.run_with(line, &[], &object("a", 4)).ends(2, &failed);
    script("echo this is no credential");
    place.run_with(line, &[], &object("a", 4)).ends(2, &["did not print an ExecCredential"]);
    config("./gone");
    place.run_with(line, &[], &object("a", 4)).ends(2, &["the credential plugin ./gone cannot be started"]);
    assert_eq!(fake.paths(), [""; 0]);
}
