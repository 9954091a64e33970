//! `fetch`: downloads from a small HTTP server, the lock, and how other commands read downloads.

use super::live::connection::{AUTHORITY, with_tls};
use super::live::fake::{Fake, Reply};
use crdx_files::digest::sha256;
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

/// A page of the server: status, headers and content.
type Page = (u16, String, Vec<u8>);

/// A server of files, which records the heads of requests.
struct Server {
    host: String,
    pages: Arc<Mutex<BTreeMap<String, Page>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let server = Self { host, pages: Arc::default(), heads: Arc::default() };
        let (pages, heads) = (Arc::clone(&server.pages), Arc::clone(&server.heads));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut head = String::new();
                let mut reader = BufReader::new(&stream);
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|count| count > 0) {}
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                heads.lock().unwrap().push(head);
                let missing = || (404, String::new(), Vec::new());
                let has_token =
                    heads.lock().unwrap().last().is_some_and(|head| head.contains("authorization: Bearer t0ken"));
                let pages = pages.lock().unwrap();
                let for_token = pages.get(&format!("{path} with a token")).filter(|_| has_token);
                let (code, headers, content) = for_token.or_else(|| pages.get(&path)).cloned().unwrap_or_else(missing);
                drop(pages);
                let head = format!(
                    "HTTP/1.1 {code} x\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
                    content.len()
                );
                let _ = (&stream).write_all(head.as_bytes()).and_then(|()| (&stream).write_all(&content));
            }
        });
        server
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    fn page(&self, path: &str, content: impl AsRef<[u8]>) -> String {
        self.pages.lock().unwrap().insert(path.to_owned(), (200, String::new(), content.as_ref().to_owned()));
        self.url(path)
    }

    fn redirect(&self, path: &str, location: &str) -> String {
        let page = (302, format!("location: {location}\r\n"), Vec::new());
        self.pages.lock().unwrap().insert(path.to_owned(), page);
        self.url(path)
    }

    fn heads(&self) -> Vec<String> {
        std::mem::take(&mut self.heads.lock().unwrap())
    }
}

/// A project with an object, and a cache of its own.
struct Project(PathBuf);

impl Project {
    fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fetch").join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("sub")).unwrap();
        fs::create_dir(dir.join(".git")).unwrap();
        let project = Self(dir);
        project
            .write("object.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 1}\n");
        project.write("bad.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: x}\n");
        project
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.0.join("crdx.lock")).unwrap_or_default()
    }

    fn cached(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.0.join("cache/downloads")).into_iter().flatten();
        files.map(|file| file.unwrap().path()).collect()
    }

    /// Runs a command line in `sub`, and checks its exit code and that its output has no password.
    #[track_caller]
    fn run(&self, exit: i32, words: &[&str]) -> String {
        self.run_with(exit, words, &[])
    }

    #[track_caller]
    fn run_with(&self, exit: i32, words: &[&str], variables: &[(&str, &Path)]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(words)
            .current_dir(self.0.join("sub"))
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .env("CRDX_CACHE", self.0.join("cache"))
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert_eq!(output.status.code(), Some(exit), "{words:?}: {text}");
        assert!(!text.contains("secret"), "{text}");
        text
    }
}

fn crd(plural: &str, kind: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.example.com}}\nspec:\n  \
        group: example.com\n  scope: Namespaced\n  names: {{plural: {plural}, kind: {kind}}}\n  versions:\n  - name: v1\n    served: true\n    \
        storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{size: {{type: integer}}}}}}}}}}}}\n"
    )
}

fn archive(files: &[(&str, &str)], link: Option<&str>) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    if let Some(link) = link {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        builder.append_link(&mut header, link, "/etc/passwd").unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn chart() -> Vec<u8> {
    let template = crd("others", "Other");
    archive(
        &[
            ("x/Chart.yaml", "name: x\n"),
            ("x/crds/w.yaml", &crd("widgets", "Widget")),
            ("x/templates/o.yaml", &template),
        ],
        None,
    )
}

#[test]
fn crds_are_downloaded_once_and_read_by_their_hash() {
    let (server, project) = (Server::start(), Project::new("fetch"));
    let widgets = server.page("/widgets.yaml", crd("widgets", "Widget"));
    let chart = server.page("/chart-1.tgz", chart());
    let paths = "examples";
    project.write(".crdx.yaml", &format!("crds: ['{widgets}', '{chart}']\n"));
    let validate = ["validate", "../object.yaml", "--offline"];
    let text = project.run(2, &validate);
    assert!(
        text.contains(&format!("{widgets} is not in "))
            && text.contains(&format!("kubectl crdx fetch --crds {widgets}")),
        "{text}"
    );
    assert!(!text.contains("names it"), "{text}");
    let text = project.run(0, &["fetch"]);
    assert!(text.contains("added") && !text.contains(paths), "{text}");
    let lock = project.lock();
    assert!(
        lock.find("chart-1.tgz").unwrap() < lock.find("widgets.yaml").unwrap() && lock.matches("sha256: ").count() == 2,
        "{lock}"
    );
    // Both have the same CRD, which is no conflict.
    server.heads();
    for exit in [(0, "../object.yaml"), (1, "../bad.yaml")] {
        project.run(exit.0, &["validate", exit.1, "--offline"]);
    }
    assert!(server.heads().is_empty(), "only `fetch` opens a connection");
    let report: Value = serde_json::from_str(&project.run(0, &["fetch", "-o", "json"])).unwrap();
    assert_eq!(report["kind"], "FetchReport");
    let downloads = report["downloads"].as_array().unwrap();
    assert!(downloads.iter().all(|one| one["result"] == "unchanged" && one["crds"] == 1), "{report}");
    assert_eq!(project.lock(), lock);
    // All commands with `--crds` read it.
    for words in [
        &["explain", "widgets.spec", "--crds", &widgets][..],
        &["example", "widgets", "--crds", &widgets],
        &["rbac", "--crds", &widgets],
        &["get", "widgets", "-f", "../object.yaml", "--crds", &widgets],
        &["diff", "../object.yaml", "--old", "../object.yaml", "--offline"],
        &["openapi", &widgets],
        &["schema", &widgets],
    ] {
        project.run(0, words);
    }
}

#[test]
fn changed_content_is_an_error_unless_it_is_accepted() {
    let (server, project) = (Server::start(), Project::new("changed"));
    let url = server.page("/a.yaml", crd("widgets", "Widget"));
    let other = server.page("/b.yaml", crd("others", "Other"));
    project.run(0, &["fetch", "--crds", &url]);
    let lock = fs::read_to_string(project.0.join("sub/crdx.lock")).unwrap();
    server.page("/a.yaml", crd("gadgets", "Gadget"));
    let text = project.run(2, &["fetch", "--crds", &url, "--crds", &other]);
    assert!(text.contains("has changed") && text.contains("--update"), "{text}");
    assert_eq!(
        fs::read_to_string(project.0.join("sub/crdx.lock")).unwrap(),
        lock,
        "one error leaves the lock as it is"
    );
    project.run(0, &["validate", "../object.yaml", "--offline", "--crds", &url]);
    let text = project.run(0, &["fetch", "--crds", &url, "--crds", &other, "--update"]);
    assert!(text.contains("changed") && text.contains("added"), "{text}");
    let text = project.run(2, &["validate", "../object.yaml", "--offline", "--crds", &url]);
    assert!(text.contains("no CRD"), "{text}");
}

#[test]
fn a_download_with_another_hash_or_none_is_not_used() {
    let (server, project) = (Server::start(), Project::new("hash"));
    let url = server.page("/a.yaml", crd("widgets", "Widget"));
    project.run(0, &["fetch", "--crds", &url]);
    let validate = ["validate", "../object.yaml", "--offline", "--crds", &url];
    project.run(0, &validate);
    let [cached] = &project.cached()[..] else { panic!("one file") };
    fs::write(cached, crd("widgets", "Other")).unwrap();
    assert!(project.run(2, &validate).contains("does not have the hash of the lock"));
    fs::remove_file(cached).unwrap();
    let text = project.run(2, &validate);
    assert!(text.contains("is not in the cache") && text.contains("kubectl crdx fetch"), "{text}");
    fs::write(project.0.join("sub/crdx.lock"), "<<<<<<< HEAD\n").unwrap();
    assert!(project.run(2, &validate).contains("crdx.lock: it is not"));
}

#[test]
fn redirects_keep_the_scheme_and_passwords_their_host() {
    let (server, other, project) = (Server::start(), Server::start(), Project::new("redirects"));
    let target = other.page("/w.yaml", crd("widgets", "Widget"));
    server.redirect("/first", "second?a=1");
    server.redirect("/second?a=1", &target);
    let url = format!("http://me:secret@{}/first?token=secret", server.host);
    server.redirect("/first?token=secret", "/first");
    project.run(0, &["fetch", "--crds", &url]);
    let lock = fs::read_to_string(project.0.join("sub/crdx.lock")).unwrap();
    assert!(lock.contains(&format!("http://{}/first?sha256=", server.host)) && !lock.contains("secret"), "{lock}");
    let has_password = |head: &String| head.to_lowercase().contains("authorization: basic bwu6c2vjcmv0");
    assert!(server.heads().iter().all(has_password) && !other.heads().iter().any(has_password));
    project.run(0, &["validate", "../object.yaml", "--offline", "--crds", &url]);
    project.run(1, &["validate", "../bad.yaml", "--offline", "--crds", &url]);
    let without = url.replace("token=", "t=");
    for words in [
        &["validate", "../object.yaml", "--offline", "--crds", &without][..],
        &["validate", &without, "--offline"],
        &["fetch", "--crds", &without],
        &["lint", &without],
        &["serve", "--load", &without],
        &["explain", "widgets", "--crds", &without],
    ] {
        project.run(2, words);
    }
    project.write(".crdx.yaml", &format!("crds: '{without}'\n"));
    for words in [&["config"][..], &["config", "-o", "json"]] {
        project.run(0, words);
    }
    for location in ["https://127.0.0.1/x", "file:///etc/passwd", "ftp://127.0.0.1/x"] {
        let url = server.redirect("/away", location);
        let text = project.run(2, &["fetch", "--crds", &url]);
        assert!(text.contains("redirected to another scheme"), "{text}");
    }
    let endless = server.redirect("/endless", "/endless");
    assert!(project.run(2, &["fetch", "--crds", &endless]).contains("more than 10 redirects"));
}

#[test]
fn what_cannot_be_used_is_not_kept() {
    let (server, project) = (Server::start(), Project::new("unusable"));
    let widgets = crd("widgets", "Widget");
    let cases = [
        (server.page("/page.yaml", "<html><body>Log in</body></html>\n"), "is not used"),
        (
            server.page("/other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
            "there is no CustomResourceDefinition",
        ),
        (server.page("/empty.tgz", archive(&[("README.md", "")], None)), "there is no CustomResourceDefinition"),
        (
            server
                .page("/chart.tgz", archive(&[("x/Chart.yaml", "name: x\n"), ("x/templates/a.yaml", &widgets)], None)),
            "helm template",
        ),
        (server.url("/missing"), "answered 404"),
        ("http://127.0.0.1:1/x".to_owned(), "Connection refused"),
        ("oci://127.0.0.1/x".to_owned(), "it is no reference with a tag or digest"),
        ("ftp://127.0.0.1/x".to_owned(), "none of http, https, oci"),
    ];
    for (url, part) in cases {
        let text = project.run(2, &["fetch", "--crds", &url]);
        assert!(text.contains(part) && text.contains("help: "), "{url}: {text}");
    }
    assert!(!project.0.join("sub/crdx.lock").exists() && project.cached().is_empty());
    assert!(project.run(2, &["fetch"]).contains("there is no URL"));
    assert!(project.run(2, &["fetch", "--offline", "--crds", &server.url("/x")]).contains("--offline"));
}

/// Puts a chart into the registry that the server is, for requests with a token. Returns the digest of the manifest.
fn push(server: &Server, repository: &str, tag: &str, media_type: &str, content: &[u8]) -> String {
    let digest = |bytes: &[u8]| format!("sha256:{}", sha256(bytes));
    let layer = format!("{{\"mediaType\":\"{media_type}\",\"digest\":\"{}\",\"size\":1}}", digest(content));
    let manifest = format!("{{\"schemaVersion\":2,\"config\":{{}},\"layers\":[{layer}]}}");
    let of_manifest = digest(manifest.as_bytes());
    let parts = [
        (format!("manifests/{tag}"), manifest.clone().into_bytes()),
        (format!("manifests/{of_manifest}"), manifest.into_bytes()),
        (format!("blobs/{}", digest(content)), content.to_owned()),
    ];
    let challenge = format!(
        "www-authenticate: Bearer realm=\"{}\",service=\"test\",scope=\"repository:{repository}:pull\"\r\n",
        server.url("/token")
    );
    for (part, content) in parts {
        let path = format!("/v2/{repository}/{part}");
        let mut pages = server.pages.lock().unwrap();
        pages.insert(format!("{path} with a token"), (200, String::new(), content));
        pages.insert(path, (401, challenge.clone(), Vec::new()));
    }
    server.page(&format!("/token?service=test&scope=repository:{repository}:pull"), "{\"token\":\"t0ken\"}");
    of_manifest
}

const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

#[test]
fn charts_and_artifacts_come_from_a_registry() {
    let (server, project) = (Server::start(), Project::new("registry"));
    let manifest = push(&server, "charts/app", "1.2.3_4", CHART, &chart());
    let reference = format!("oci://{}/charts/app:1.2.3+4", server.host);
    project.write(".crdx.yaml", &format!("crds: [{reference}]\noffline: true\n"));
    let unfetched = project.run(2, &["validate", "../object.yaml"]);
    assert!(unfetched.contains(&format!("kubectl crdx fetch --crds {reference}")), "{unfetched}");
    let text = project.run(0, &["fetch"]);
    assert!(text.contains("added") && project.lock().contains(&sha256(&chart())), "{text}");
    assert_eq!(server.heads().len(), 4, "the token is used again");
    project.run(0, &["validate", "../object.yaml"]);
    project.run(1, &["validate", "../bad.yaml"]);
    let _ = fs::remove_file(project.0.join("crdx.lock"));
    project.run(0, &["fetch", "--crds", &format!("oci://{}/charts/app@{manifest}", server.host)]);
    let artifact = archive(&[("crds/w.yaml", &crd("widgets", "Widget"))], None);
    push(&server, "flux", "v1", "application/vnd.cncf.flux.content.v1.tar+gzip", &artifact);
    project.run(0, &["fetch", "--crds", &format!("oci://{}/flux:v1//crds", server.host)]);
}

#[test]
fn a_tag_that_moves_or_a_false_digest_is_an_error() {
    let (server, project) = (Server::start(), Project::new("registry-changed"));
    push(&server, "app", "v1", CHART, &chart());
    let reference = format!("oci://{}/app:v1", server.host);
    project.run(0, &["fetch", "--crds", &reference]);
    let other = archive(&[("x/Chart.yaml", "name: x\n"), ("x/crds/w.yaml", &crd("others", "Other"))], None);
    push(&server, "app", "v1", CHART, &other);
    assert!(project.run(2, &["fetch", "--crds", &reference]).contains("has changed"));
    let blob = format!("/v2/app/blobs/sha256:{} with a token", sha256(&other));
    server.pages.lock().unwrap().insert(blob, (200, String::new(), chart()));
    assert!(project.run(2, &["fetch", "--update", "--crds", &reference]).contains("does not have the digest sha256:"));
    let of = |repository: &str| format!("oci://{}/{repository}:v1", server.host);
    server.page("/v2/index/manifests/v1", "{\"manifests\":[]}");
    assert!(project.run(2, &["fetch", "--crds", &of("index")]).contains("an index of several images"));
    assert!(project.run(2, &["fetch", "--crds", &of("missing")]).contains("answered 404"));
}

#[test]
fn charts_come_from_a_repository_of_charts() {
    let (server, project) = (Server::start(), Project::new("repository"));
    let repository = server.url("/charts");
    server.page("/charts/app-1.2.3.tgz", chart());
    push(&server, "app", "1.2.4", CHART, &chart());
    let index = format!(
        "apiVersion: v1\nentries:\n  app:\n  - version: v1.2.4\n    urls: ['oci://{}/app:1.2.4']\n  - version: v1.2.3\n    urls: [app-1.2.3.tgz]\n    digest: {}\n",
        server.host,
        sha256(&chart())
    );
    server.page("/charts/index.yaml", &index);
    let reference = |version: &str| format!("helm+{repository}/app@{version}");
    project.write(".crdx.yaml", &format!("crds: ['{}']\noffline: true\n", reference("1.2.3")));
    project.run(0, &["fetch"]);
    project.run(0, &["validate", "../object.yaml"]);
    project.run(0, &["fetch", "--crds", &reference("v1.2.4")]);
    let missing = project.run(2, &["fetch", "--crds", &reference("2.0.0")]);
    assert!(missing.contains("no version 2.0.0 of app; the newest is v1.2.4"), "{missing}");
    server.page("/charts/app-1.2.3.tgz", archive(&[("x/crds/w.yaml", &crd("widgets", "Widget"))], None));
    assert!(project.run(2, &["fetch"]).contains("does not have the digest of the index"));
}

#[test]
fn the_chart_of_a_release_is_fetched_and_rendered() {
    let (server, project) = (Server::start(), Project::new("release"));
    push(&server, "charts/app", "1.2.3", CHART, &chart());
    let url = format!("oci://{}/charts/app", server.host);
    let objects = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {{name: app, namespace: a}}\nspec: {{url: '{url}', ref: {{tag: 1.2.3}}}}\n---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: app, namespace: a}}\nspec: {{chartRef: {{kind: OCIRepository, name: app}}}}\n"
    );
    project.write(".crdx.yaml", "offline: true\n");
    project.write("release.yaml", &objects);
    project.write("crd.yaml", &crd("widgets", "Widget"));
    super::render::script(&project.0.join("bin/helm"), "exec /bin/cat ../made-by-helm.yaml");
    let words =
        ["validate", "--render", "../release.yaml", "--crds", "../crd.yaml", "--offline", "--ignore-missing-crds"];
    let validate = |exit: i32| project.run_with(exit, &words, &[("PATH", &project.0.join("bin"))]);
    let command = format!("kubectl crdx fetch --charts {url}:1.2.3");
    assert!(validate(2).contains(&command));
    project.run(0, &["fetch", "--charts", &format!("{url}:1.2.3")]);
    assert!(project.lock().contains(&sha256(&chart())));
    for (object, exit) in [("object.yaml", 0), ("bad.yaml", 1)] {
        project.write("made-by-helm.yaml", &fs::read_to_string(project.0.join(object)).unwrap());
        let text = validate(exit);
        assert!(text.contains("Widget") && text.contains("a/a"), "{text}");
    }
}

#[test]
fn archives_of_files_are_read_directly() {
    let project = Project::new("local");
    fs::write(project.0.join("chart.tgz"), chart()).unwrap();
    let source = archive(&[("p/config/w.yaml", &crd("widgets", "Widget")), ("p/values.yaml", "a: 1\n")], None);
    fs::write(project.0.join("source.tar.gz"), source).unwrap();
    for name in ["../chart.tgz", "../source.tar.gz", "../*.tgz"] {
        project.run(0, &["validate", "../object.yaml", "--offline", "--crds", name]);
        project.run(1, &["validate", "../bad.yaml", "--offline", "--crds", name]);
    }
    let text = project.run(0, &["lint", "../chart.tgz", "--old", "../source.tar.gz"]);
    assert!(text.contains("widgets.example.com: the server would accept this update"), "{text}");
    project.run(0, &["lint", "../source.tar.gz//config"]);
    let bad = crd("widgets", "Widget").replace("served: true", "served: maybe");
    fs::write(project.0.join("bad.tgz"), archive(&[("p/w.yaml", &bad)], None)).unwrap();
    let text = project.run(2, &["validate", "../object.yaml", "--offline", "--crds", "../bad.tgz"]);
    assert!(text.contains("../bad.tgz/p/w.yaml:"), "{text}");
    fs::write(project.0.join("link.tgz"), archive(&[], Some("a.yaml"))).unwrap();
    let text = project.run(2, &["validate", "../object.yaml", "--offline", "--crds", "../link.tgz"]);
    assert!(text.contains("there is no CustomResourceDefinition in ../link.tgz"), "links are not followed: {text}");
}

/// An archive with two channels of a project, as that of gateway-api has, and a file that only looks like YAML.
fn channels() -> Vec<u8> {
    let (standard, other) = (crd("widgets", "Widget"), crd("widgets", "Widget").replace("integer", "string"));
    let files = [
        ("p-1/crd/standard/w.yaml", standard.as_str()),
        ("p-1/crd/experimental/w.yaml", &other),
        ("p-1/test/odd.yaml", "kind: CustomResourceDefinition\n  broken: [\n"),
    ];
    archive(&files, Some("p-1/link.yaml"))
}

#[test]
fn one_of_two_channels_is_chosen() {
    let (server, project) = (Server::start(), Project::new("channels"));
    let url = server.page("/p.tar.gz", channels());
    let text = project.run(2, &["fetch", "--crds", &url]);
    let choice =
        format!("help: choose one: {url}//crd/experimental or {url}//crd/standard; or leave files out with --ignore");
    assert!(
        text.contains("it has two CRDs called widgets.example.com that differ") && text.contains(&choice),
        "{text}"
    );
    assert!(!project.0.join("sub/crdx.lock").exists());
    project.run(0, &["fetch", "--crds", &url, "--ignore", "experimental/"]);
    let (standard, experimental) = (format!("{url}//crd/standard"), format!("{url}//p-1/crd/experimental"));
    let text = project.run(0, &["fetch", "--crds", &standard, "--crds", &experimental]);
    assert_eq!(text.matches("unchanged").count(), 1, "one download: {text}");
    for (exit, crds) in [(0, &standard), (1, &experimental)] {
        project.run(exit, &["validate", "../object.yaml", "--offline", "--crds", crds]);
        project.run(0, &["explain", "widgets", "--crds", crds]);
    }
    project.run(0, &["validate", "../object.yaml", "--offline", "--crds", &url, "--ignore", "experimental/"]);
    let text = project.run(2, &["validate", "../object.yaml", "--offline", "--crds", &format!("{url}//none")]);
    assert!(text.contains("there is no CustomResourceDefinition in") && text.contains("p.tar.gz//none"), "{text}");
}

#[test]
fn entries_of_a_catalog_are_resolved_into_the_lock() {
    let (server, project) = (Server::start(), Project::new("catalog"));
    let content = channels();
    let url = server.page("/v1.tar.gz", &content);
    server.page("/v2.tar.gz", &content);
    let (hash, host) = (crdx_files::digest::sha256(&content), &server.host);
    let index = |hash: &str| {
        format!(
            "version: 1\nprojects:\n- name: widgets\n  url: http://{host}/{{version}}.tar.gz\n  sha256: {{v1: '{hash}'}}\n  channels: {{standard: [crd/standard], experimental: [crd/experimental]}}\n"
        )
    };
    project.write("index.yaml", &index(&hash));
    project.write(".crdx.yaml", "crds: widgets@v1/standard\n");
    let text = project.run(2, &["validate", "../object.yaml", "--offline"]);
    assert!(text.contains("kubectl crdx fetch --crds widgets@v1/standard"), "{text}");
    project.run(0, &["fetch", "--catalog", "../index.yaml"]);
    let lock = project.lock();
    assert!(lock.contains(&format!("- entry: widgets@v1/standard\n  sources:\n  - {url}//crd/standard\n")), "{lock}");
    assert!(lock.contains(&hash), "{lock}");
    project.run(0, &["validate", "../object.yaml", "--offline"]);
    project.run(1, &["validate", "../bad.yaml", "--offline"]);
    let served = server.page("/index.yaml", index(&hash));
    let both = ["fetch", "--catalog", &served, "--crds", "widgets@v1/experimental", "--crds", "widgets@v2/standard"];
    project.run(0, &both);
    project.run(1, &["validate", "../object.yaml", "--offline", "--crds", "widgets@v1/experimental"]);
    for (entry, message) in [
        ("widgets@v1", "widgets has the channels experimental, standard"),
        ("widgets@v1/none", "widgets has no channel \"none\""),
        ("widget@v1/standard", "did you mean `widgets`?"),
    ] {
        let text = project.run(2, &["fetch", "--catalog", "../index.yaml", "--crds", entry]);
        assert!(text.contains(message), "{text}");
    }
    project.write("index.yaml", &index(&"0".repeat(64)));
    let text = project.run(2, &["fetch", "--catalog", "../index.yaml", "--crds", "widgets@v1/standard"]);
    assert!(text.contains("and the catalog has 0000"), "{text}");
    let text = project.run(2, &["fetch", "--crds", "gateway-api@v1.2.0"]);
    assert!(text.contains("gateway-api has the channels experimental, standard"), "{text}");
}

#[test]
fn the_crds_and_policies_of_a_cluster_are_saved() {
    let project = Project::new("cluster");
    let resource = |plural: &str, kind: &str| {
        format!(
            r#"{{"resource":"{plural}","responseKind":{{"group":"","version":"","kind":"{kind}"}},"scope":"Cluster","verbs":["get","list"]}}"#
        )
    };
    let group = |name: &str, resources: &[String]| {
        format!(
            r#"{{"metadata":{{"name":"{name}"}},"versions":[{{"version":"v1","resources":[{}]}}]}}"#,
            resources.join(",")
        )
    };
    let policies = [
        resource("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
        resource("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    ];
    let groups = [
        group("apiextensions.k8s.io", &[resource("customresourcedefinitions", "CustomResourceDefinition")]),
        group("admissionregistration.k8s.io", &policies),
    ];
    let groups = format!(
        r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{}]}}"#,
        groups.join(",")
    );
    let list = |items: &str| {
        Reply::Json(200, format!(r#"{{"kind":"List","apiVersion":"v1","metadata":{{}},"items":[{items}]}}"#))
    };
    let server = r#""uid":"u","resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"managedFields":[]"#;
    let object = move |name: &str, rest: &str| format!(r#"{{"metadata":{{"name":"{name}",{server}}},{rest}}}"#);
    let spec = r#""spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]},"status":{"storedVersions":["v1"]}"#;
    let fake = Fake::serve(move |path, _| {
        let path = path.split('?').next().unwrap();
        match path.rsplit('/').next().unwrap() {
            "apis" => Reply::Json(200, groups.clone()),
            "api" => {
                Reply::Json(200, groups.split_once('[').map_or_else(String::new, |(head, _)| format!("{head}[]}}")))
            }
            "customresourcedefinitions" => list(&object("widgets.example.com", spec)),
            "validatingadmissionpolicies" => list(&object("a", r#""spec":{"failurePolicy":"Fail"}"#)),
            "validatingadmissionpolicybindings" => list(&object("a", r#""spec":{"policyName":"a"}"#)),
            _ => Reply::Json(404, "{}".to_owned()),
        }
    });
    let save = ["fetch", "--from-cluster", "--server", &fake.url, "--no-cache", "--out", "prod"];
    let text = project.run(0, &save);
    assert!(text.contains("1 CRD and 2 policies and bindings in prod"), "{text}");
    let read = |name: &str| fs::read_to_string(project.0.join("sub/prod").join(name)).unwrap();
    let saved = read("crds/widgets.example.com.yaml");
    assert!(saved.starts_with("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.com\nspec:\n"), "{saved}");
    assert!(!saved.contains("status") && !saved.contains("uid"), "{saved}");
    assert!(read("policies/validatingadmissionpolicy.a.yaml").contains("kind: ValidatingAdmissionPolicy\n"));
    assert!(read("policies/validatingadmissionpolicybinding.a.yaml").contains("policyName: a"));
    assert_eq!(project.run(0, &save), text, "a second run replaces the files");
    fs::write(project.0.join("sub/prod/crds/gone.example.com.yaml"), "").unwrap();
    assert!(project.run(2, &save).contains("prod/crds/gone.example.com.yaml is not an object of this cluster"));
    assert!(fake.asked().iter().all(|request| request.method == "GET"));
}

/// Other systems than Linux have a store of their own.
#[cfg(target_os = "linux")]
#[test]
fn certificates_are_verified() {
    let project = Project::new("tls");
    let server = with_tls(|path, _| match path {
        "/w.yaml" => Reply::Json(200, crd("widgets", "Widget")),
        _ => Reply::Coded(302, "location: http://127.0.0.1/w.yaml\r\n", String::new()),
    });
    let url = format!("{}/w.yaml", server.url);
    let authority = project.0.join("ca.crt");
    project.write("ca.crt", AUTHORITY);
    let text = project.run(2, &["fetch", "--crds", &url]);
    assert!(text.contains("certificate"), "{text}");
    let trusted = [("SSL_CERT_FILE", authority.as_path())];
    project.run_with(0, &["fetch", "--crds", &url], &trusted);
    let text = project.run_with(2, &["fetch", "--crds", &format!("{}/away", server.url)], &trusted);
    assert!(text.contains("redirected to another scheme"), "{text}");
}
