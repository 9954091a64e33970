//! Compares `kubectl crdx get` with the real `kubectl get` on the real server: the output must be equal byte by byte
//! for every kind of a corpus of CRDs (`tests/apiserver/README.md`). Ignored by default, because it needs the server,
//! kubectl and the corpus.

use crate::conformance::differential::subjects;
use crate::conformance::exchange::{Client, Http};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The output and exit code of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Screen {
    stdout: String,
    stderr: String,
    failed: bool,
}

/// The outcome of a comparison.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Same,
    SameButAges,
    Differs(String),
}

struct Pair {
    url: String,
    kubectl: String,
    ours: String,
    home: PathBuf,
    age: Regex,
    log: Regex,
    end: Regex,
}

impl Pair {
    fn new(url: &str) -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl-get");
        std::fs::create_dir_all(&home).unwrap();
        let named = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
        Self {
            url: url.to_owned(),
            kubectl: named("CRDX_KUBECTL", "kubectl"),
            ours: named("CRDX_BINARY", env!("CARGO_BIN_EXE_kubectl-crdx")),
            home,
            age: Regex::new(r"(^|\s)(\d+[smhdy]){1,2}(\s|$)").unwrap(),
            log: Regex::new(r"(?m)^[IWE]\d{4} .*\n").unwrap(),
            end: Regex::new(
                r"(?m)^F\d{4} .*sorter.go:\d+\] (Field .* in )(\[\]\[\]\[\]reflect.Value|\*unstructured.Unstructured)",
            )
            .unwrap(),
        }
    }

    fn run(&self, program: &str, words: &[&str]) -> Screen {
        let output = Command::new(program)
            .arg("get")
            .args(words)
            .args(["--server", &self.url])
            .current_dir(&self.home)
            .env("HOME", &self.home)
            .env("XDG_CACHE_HOME", self.home.join("cache"))
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .output()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stderr = self.log.replace_all(&text(&output.stderr), "").into_owned();
        // If kubectl cannot sort the rows of a table, it exits through its log and names their Go type.
        let stderr = self.end.replace_all(&stderr, "error: ${1}*unstructured.Unstructured").into_owned();
        Screen { stdout: text(&output.stdout), stderr, failed: !output.status.success() }
    }

    /// The version of kubectl. The comparison is with 1.37, which pads tables differently from earlier versions.
    fn version(&self) -> String {
        let output = Command::new(&self.kubectl).args(["version", "--client"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
    }

    /// Replaces the digits of ages by `#`, because a second may pass between two runs.
    fn mask(&self, screen: &Screen) -> Screen {
        let mut lines: Vec<String> = Vec::new();
        for line in screen.stdout.split('\n') {
            let mut line = line.to_owned();
            let ages: Vec<_> = self.age.find_iter(&line).map(|found| found.range()).collect();
            for range in ages {
                let hidden: String =
                    line[range.clone()].chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
                line.replace_range(range, &hidden);
            }
            lines.push(line);
        }
        Screen { stdout: lines.join("\n"), ..screen.clone() }
    }

    /// Runs both commands. A difference that disappears in a second run was caused by timing.
    fn compare(&self, words: &[&str]) -> Outcome {
        let mut last = None;
        for _ in 0..4 {
            let want = self.run(&self.kubectl, words);
            let got = self.run(&self.ours, words);
            if want == got {
                return Outcome::Same;
            }
            let (masked, ours) = (self.mask(&want), self.mask(&got));
            if masked == ours || ["all", "cert-manager"].contains(&words[0]) && by_block(masked) == by_block(ours) {
                return Outcome::SameButAges;
            }
            let same_shape = want.stdout.lines().count() == got.stdout.lines().count();
            last = Some((want, got));
            if !same_shape {
                break;
            }
        }
        let Some((want, got)) = last else { return Outcome::Same };
        let first = want.stdout.lines().zip(got.stdout.lines()).position(|(a, b)| a != b).unwrap_or(0);
        let line = |screen: &Screen| {
            screen.stdout.lines().nth(first).unwrap_or_default().chars().take(400).collect::<String>()
        };
        Outcome::Differs(format!(
            "get {}\n  kubectl {:?} (failed {}, {} lines)\n  here    {:?} (failed {}, {} lines)\n  kubectl said {:?}\n  here said    {:?}",
            words.join(" "),
            line(&want),
            want.failed,
            want.stdout.lines().count(),
            line(&got),
            got.failed,
            got.stdout.lines().count(),
            want.stderr.chars().take(600).collect::<String>(),
            got.stderr.chars().take(600).collect::<String>(),
        ))
    }
}

/// The server lists the resources of a group version in random order, which determines the order of a category's
/// tables.
fn by_block(screen: Screen) -> Screen {
    let mut blocks: Vec<&str> = screen.stdout.trim_end_matches('\n').split("\n\n").collect();
    blocks.sort_unstable();
    Screen { stdout: blocks.join("\n\n"), ..screen }
}

/// A CRD with unusual columns and objects.
fn oddities() -> (Value, Vec<Value>) {
    let column = |name: &str, kind: &str, path: &str, priority: i64| json!({"name": name, "type": kind, "jsonPath": path, "priority": priority});
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "oddities.get.example.com"},
        "spec": {"group": "get.example.com", "scope": "Namespaced",
            "names": {"plural": "oddities", "kind": "Oddity", "singular": "oddity", "shortNames": ["odd"], "categories": ["strange"]},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                "selectableFields": [],
                "additionalPrinterColumns": [
                    column("text", "string", ".spec.text", 0), column("Straße", "string", ".spec.other", 0),
                    column("number", "number", ".spec.number", 0), column("int", "integer", ".spec.number", 0),
                    column("bool", "boolean", ".spec.bool", 0), column("when", "date", ".spec.when", 1),
                    column("list", "string", ".spec.list[*].name", 1), column("whole", "string", ".spec.list", 1),
                    column("last", "string", ".spec.text", 0)]}]}});
    let texts = [
        "plain",
        "",
        "two\nlines",
        "a\ttab",
        "a\t\tb\tc",
        "ünïcödé 漢字",
        "\u{1b}[31mred",
        "cr\rhere",
        "v\u{b}tab",
        "  space ",
    ];
    let numbers = [
        json!(1),
        json!(1.5),
        json!(1e6),
        json!(1_234_567.5),
        json!(1e21),
        json!(-0.0),
        json!(100_000_000_000_i64),
        json!(null),
        json!("7"),
        json!(1e-7),
    ];
    let object = |i: usize| {
        json!({"apiVersion": "get.example.com/v1", "kind": "Oddity",
            "metadata": {"name": format!("odd-{i:02}"), "labels": {"n": format!("{}", i % 3), "example.com/tier": format!("t{}", i % 2)}},
            "spec": {"text": texts[i % texts.len()], "other": texts[(i + 3) % texts.len()], "number": numbers[i % numbers.len()],
                "bool": i.is_multiple_of(2), "when": format!("20{i:02}-01-01T00:00:00Z"), "rank": i / 4, "size": format!("{}Mi", 40 - i),
                "list": [{"name": "x"}, {"name": texts[i % texts.len()]}]}})
    };
    (crd, (0..30).map(object).collect())
}

/// Creates CRDs and objects in the real server; existing ones are kept. Returns the CRDs and the number of objects.
fn load(url: &str) -> (Vec<Value>, usize) {
    let mut server = Http::new(url);
    let mut all: Vec<(Value, Vec<Value>)> = subjects().into_iter().map(|s| (s.crd, s.objects)).collect();
    all.push(oddities());
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let json = "application/json";
    all.retain(|(crd, _)| {
        let code = server.call("POST", definitions, Some(&crd.to_string()), Some(json), json).code;
        code == 201 || code == 409
    });
    let mut objects = 0;
    for (crd, of_it) in &all {
        for object in of_it {
            let version = object["apiVersion"].as_str().unwrap_or_default();
            let plural = crd["spec"]["names"]["plural"].as_str().unwrap();
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
            let path = match crd["spec"]["scope"].as_str() {
                Some("Namespaced") => format!("/apis/{version}/namespaces/{namespace}/{plural}"),
                _ => format!("/apis/{version}/{plural}"),
            };
            let code = server.call("POST", &path, Some(&object.to_string()), Some(json), json).code;
            objects += usize::from(code == 201 || code == 409);
        }
    }
    let mut seen = BTreeSet::new();
    let mut crds: Vec<Value> = all.into_iter().map(|(crd, _)| crd).collect();
    crds.retain(|crd| seen.insert(crd["metadata"]["name"].as_str().unwrap_or_default().to_owned()));
    (crds, objects)
}

#[test]
#[ignore = "needs CRDX_REAL, the real server's URL, CRDX_CORPUS, a folder of CRDs and objects, and kubectl"]
fn get_prints_what_kubectl_prints() {
    let url = std::env::var("CRDX_REAL").expect("CRDX_REAL is the URL of the real server");
    let (crds, objects) = load(&url);
    let mut server = Http::new(&url);
    let (mut kinds, mut with_columns, mut with_objects, mut unread) = (0, 0, 0, 0);
    let mut commands = Vec::new();
    for crd in &crds {
        let (group, plural) =
            (crd["spec"]["group"].as_str().unwrap(), crd["spec"]["names"]["plural"].as_str().unwrap());
        for version in crd["spec"]["versions"].as_array().unwrap() {
            let name = version["name"].as_str().unwrap();
            if version["served"] != json!(true) {
                continue;
            }
            let path = format!("/apis/{group}/{name}/{plural}");
            // A new CRD is served after a short delay.
            let list = (0..100)
                .find_map(|_| {
                    let list = server.call("GET", &path, None, None, "application/json");
                    if list.code == 404 {
                        std::thread::sleep(Duration::from_millis(300));
                    }
                    (list.code != 404).then_some(list)
                })
                .expect("it is served");
            if list.code != 200 {
                // Its conversion webhook does not exist.
                unread += 1;
                continue;
            }
            let items = list.body["items"].as_array().cloned().unwrap_or_default();
            kinds += 1;
            with_objects += usize::from(!items.is_empty());
            with_columns += usize::from(version["additionalPrinterColumns"].as_array().is_some_and(|c| !c.is_empty()));
            commands.extend(of_kind(&format!("{plural}.{name}.{group}"), &items));
        }
    }
    println!(
        "{} CRDs with {kinds} kinds and versions ({with_columns} with columns, {with_objects} with objects), {objects} objects; \
         {unread} versions that the server cannot read",
        crds.len()
    );
    let of_kinds = commands.len();
    commands.extend(special());
    println!("{of_kinds} commands on every kind, {} others", commands.len() - of_kinds);
    let pair = Pair::new(&url);
    println!("kubectl is {:?}, {}", pair.kubectl, pair.version());
    let outcomes = compare_all(&pair, &commands);
    let count = |wanted: &Outcome| outcomes.iter().filter(|o| *o == wanted).count();
    let differing: Vec<&String> =
        outcomes.iter().filter_map(|o| if let Outcome::Differs(how) = o { Some(how) } else { None }).collect();
    println!(
        "{} equal byte for byte, {} with ages masked, {} differing",
        count(&Outcome::Same),
        count(&Outcome::SameButAges),
        differing.len()
    );
    for how in differing.iter().take(60) {
        println!("{how}");
    }
    assert!(of_kinds > 500, "the kinds were not found");
    assert!(differing.is_empty());
}

/// The commands for one kind; all forms if there are objects.
fn of_kind(type_: &str, items: &[Value]) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<&str>> = vec![vec![]];
    let Some(first) = items.first() else { return vec![vec![type_.to_owned()]] };
    let template = "jsonpath={range .items[*]}{.metadata.name}{\"\\t\"}{.metadata.labels}{\"\\n\"}{end}";
    let columns = "custom-columns=NAME:.metadata.name,NS:.metadata.namespace,VERSION:.apiVersion,UID:metadata.uid";
    lines.push(vec!["-o", "wide"]);
    let more = ["-o wide", "--show-labels", "-o json", "-o yaml", "-o name", "--sort-by .metadata.creationTimestamp"];
    lines.push(vec!["-A"]);
    lines.extend(more.iter().map(|words| ["-A"].into_iter().chain(words.split(' ')).collect()));
    lines.push(vec!["-A", "-o", template]);
    lines.push(vec!["-A", "-o", columns]);
    let namespace = first["metadata"]["namespace"].as_str().unwrap_or("default");
    let name = first["metadata"]["name"].as_str().unwrap();
    lines.push(vec![name, "not-there", "-n", namespace]);
    lines.push(vec![name, "-n", namespace, "-o", "yaml"]);
    let of_type = |words: Vec<&str>| std::iter::once(type_).chain(words).map(str::to_owned).collect();
    let mut all: Vec<Vec<String>> = lines.into_iter().map(of_type).collect();
    all.push(vec![format!("{type_}/{name}"), "-n".to_owned(), namespace.to_owned()]);
    all
}

/// Runs the comparisons in `CRDX_JOBS` threads.
fn compare_all(pair: &Pair, commands: &[Vec<String>]) -> Vec<Outcome> {
    let jobs = std::env::var("CRDX_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(words) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let outcome = pair.compare(&words);
                    let mut outcomes = outcomes.lock().unwrap();
                    outcomes.push(outcome);
                    if outcomes.len() % 200 == 0 {
                        println!("{} of {} compared", outcomes.len(), commands.len());
                    }
                }
            });
        }
    });
    outcomes.into_inner().unwrap()
}

/// Commands that do not depend on the kind. Excluded are `--sort-by` with a field that no row has, for which kubectl
/// reports that there are no resources; `--sort-by` with several tables, for which kubectl looks up the field in the
/// tables themselves and fails; and `..`, whose order is random in Go.
fn special() -> Vec<Vec<String>> {
    let lines = "oddities|odd|Oddity|oddity.get|oddities.v1.get.example.com|strange|strange,crds
        oddities -o wide|oddities -l n=1|oddities -l n~in~(1,2)|oddities -l n!=1,example.com/tier|oddities -l =|oddities -l nope=x
        oddities -L n,example.com/tier|oddities -L n --show-labels|oddities --no-headers|oddities --show-kind|oddities --no-headers -o wide
        oddities --sort-by .spec.rank|oddities --sort-by=.spec.size|oddities --sort-by spec.text|oddities --sort-by .spec.list[*].name|oddities --sort-by=
        oddities --sort-by .spec.bool|oddities --sort-by .spec.list -o name|oddities --sort-by .spec.number|oddities --sort-by .spec -o yaml
        oddities --sort-by {.spec -o name|odd odd-01 nope --sort-by .spec.bool -o name|odd -n other --sort-by .spec.nope|odd,crd --sort-by .metadata.name -o name
        oddities --sort-by .spec.rank -o name|oddities --sort-by .spec.text -o json|oddities --sort-by .spec.nope -o json|oddities --sort-by .spec.when
        oddities --field-selector metadata.name=odd-07|oddities --field-selector metadata.name!=odd-07|oddities --field-selector spec.nope=1|oddities --field-selector ,
        oddities --chunk-size 7|oddities --chunk-size 7 -o name|oddities --chunk-size 7 -o yaml|oddities --chunk-size 0 -o wide
        odd/odd-01 odd/odd-02|odd/odd-01 crd/oddities.get.example.com|odd odd-01 odd-02 odd-03 -o wide|odd odd-01 odd-02 -o json|odd odd-01 -o json
        odd odd-01 nope|odd nope|odd nope nope2|odd nope --ignore-not-found|odd nope odd-01 --ignore-not-found|odd nope -o json|odd nope nope2 -o json|odd nope -o json --ignore-not-found
        odd odd-01 --sort-by .spec.nope|odd odd-02 odd-01 --sort-by .metadata.name -o name
        odd -w --request-timeout=2s|odd -w -o yaml --request-timeout=2s|odd odd-01 -w --request-timeout=2s|odd --watch-only --request-timeout=2s|odd nope -w|crd/oddities.get.example.com -w -A --request-timeout=2s|odd -w -A --request-timeout=2s
        odd,crd -A|crd,odd -A|odd nope -n nowhere|odd nope -n nowhere --ignore-not-found|odd -n nowhere -A -l nope|crd nope -n nowhere
        odd -w --sort-by .spec.text --request-timeout=2s|odd --watch-only --sort-by .spec.text --request-timeout=2s|odd nope -w --ignore-not-found|odd,crd -w
        odd,nope|nope|nope.v1.example.com|odd/odd-01 odd|odd/odd-01/x|odd/|odd odd-01 -l n=1|odd/odd-01 -l n=1|odd,crd odd-01|strange odd-01
        odd -n other|odd -A|odd odd-01 -A|odd -n other -o json|odd -n other -o yaml|odd -n other -o name|odd -n other -o custom-columns=A:.b|odd -n other -o jsonpath={.items}
        odd -n other --ignore-not-found|odd -n other --no-headers|crd|crds -o wide|crd -o name|crd/oddities.get.example.com
        odd odd-02 -o jsonpath={.spec}|odd odd-02 -o jsonpath={.spec.nope}|odd odd-02 -o jsonpath={.spec.text|odd -o jsonpath={.items[?(@.spec.rank>5)].metadata.name}
        odd odd-02 -o jsonpath={.metadata.name}{\"\\n\"}|odd -o jsonpath-as-json={.items[*].spec.number}|odd -o jsonpath={.items[*].spec.number}
        odd -o jsonpath={.items[0:3].spec.list[*].name}|odd -o jsonpath={.items[-1].metadata.name}|odd -o jsonpath={.kind}{.metadata}|odd -o jsonpath|odd -o jsonpath=
        odd -o custom-columns=NAME:.metadata.name,TEXT:.spec.text,N:.spec.number,L:.spec.list,EACH:.spec.list[*].name|odd -o custom-columns=NAME:.metadata.name
        odd -o custom-columns=NAME:.metadata.name,WHEN:.spec.when --no-headers|odd -o custom-columns=NAME|odd -o custom-columns=|odd -o custom-columns=A:{.b}{.c}
        odd odd-01 -o custom-columns=ALL:.spec|odd -o custom-columns=NAME:.metadata.name,R:.spec.rank --sort-by .spec.rank
        odd -o yaml --show-managed-fields|odd odd-01 -o json --show-managed-fields|odd -o YAML|odd --show-labels -o json
        odd -o kyaml|odd odd-01 -o kyaml|odd -n other -o KYAML|odd odd-01 -o kyaml --show-managed-fields|odd odd-01 -w -o kyaml --request-timeout=2s
        odd odd-01 odd-02 --subresource=status|odd odd-01 --subresource status -o yaml|odd --subresource=status|odd odd-01 --subresource=scale|odd odd-01 nope --subresource=status
        odd --server-print=false|odd,crd --server-print=false -A|odd odd-01 --server-print=false --show-labels|odd --server-print=false --sort-by .spec.rank|odd -w --server-print=false --request-timeout=2s
        odd -w --output-watch-events --request-timeout=2s|odd -w -A -o wide --output-watch-events --request-timeout=2s|odd odd-01 -w --output-watch-events -o yaml --request-timeout=2s
        odd odd-01 -w --output-watch-events -o json --request-timeout=2s|odd odd-01 -w --output-watch-events -o kyaml --request-timeout=2s|odd -w --output-watch-events -o name --request-timeout=2s
        odd -w --output-watch-events -o custom-columns=T:.type,N:.object.metadata.name --request-timeout=2s|odd --output-watch-events
        odd -o go-template={{range~.items}}{{.metadata.name}},{{.spec.number}},{{.spec.bool}};{{end}}|odd odd-02 -o go-template={{.spec.nope}}|odd odd-01 --template={{.kind}}|odd -o go-template|odd -o go-template={{.a
        odd odd-01 -o jsonpath={.spec.nope} --allow-missing-template-keys=false|odd odd-01 -o=go-template={{.metadata.labels}}|odd --no-headers=false -w=false|odd --no-headers=true --no-headers=f
        --raw=/apis/get.example.com|--raw=/apis/nope|--raw=apis|--raw=/version -o json|--raw=/apis odd|--raw /api/v1/namespaces/none|odd --no-headers=maybe|odd -L n,example.com/tier -L=n
        gateways -A|vs -A|backups -A|gtw -A|clusters -A|httproutes,gateways -A -o wide|httproutes.gateway.networking.k8s.io,certs,issuers -A|all -A|cert-manager -A
        HTTPRoute -A|httproute -A --sort-by .metadata.creationTimestamp|httproute -A --sort-by .metadata.generation|httproute -A --sort-by .spec.hostnames[0]";
    let lines = lines.split(['|', '\n']).map(str::trim).filter(|line| !line.is_empty());
    // `~` stands for a space within an argument.
    lines.map(|line| line.split(' ').map(|word| word.replace('~', " ")).collect()).collect()
}
