use super::*;
use std::fs;

/// Searches a repository with these files.
fn found_in(files: &[(&str, &str)]) -> Discovery {
    let dir = repository(files);
    discover(dir.path(), false).unwrap()
}

fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// The findings as `TYPE PATH DETAILS`.
fn lines(found: &Discovery) -> Vec<String> {
    let line = |one: &Finding| format!("{} {} {}", one.kind.name(), one.path, one.details());
    found.found.iter().map(|one| line(one).trim_end().to_owned()).collect()
}

/// The settings without the head and what every proposal has.
fn settings(found: &Discovery) -> String {
    let text = found.settings.clone().unwrap();
    let lines =
        text.lines().filter(|line| !line.starts_with('#') && !["offline: true", "recursive: true"].contains(line));
    lines.collect::<Vec<_>>().join("\n")
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn crd(plural: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.example.com}}\nspec:\n  group: example.com\n  names: {{kind: {plural}}}\n  versions: []\n"
    )
}

fn flux(name: &str, path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}}}\nspec: {{path: {path}}}\n"
    )
}

fn application(name: &str, path: &str, namespace: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec: {{source: {{path: {path}}}, destination: {{namespace: {namespace}}}}}\n"
    )
}

#[test]
fn files_of_helm_and_kustomize_are_no_manifests() {
    let found = found_in(&[
        ("base/kustomization.yaml", "resources: [map.yaml]\n"),
        ("base/map.yaml", MAP),
        (
            "prod/kustomization.yaml",
            "resources: [../base]\npatches: [{path: patch.yaml}, {path: ../shared/patch.yaml}]\n",
        ),
        ("prod/patch.yaml", MAP),
        ("shared/patch.yaml", MAP),
        ("shared/part/kustomization.yaml", "kind: Component\n"),
        ("charts/web/Chart.yaml", "name: web\n"),
        ("charts/web/values.yaml", "a: 1\n"),
        ("charts/web/ci/small-values.yaml", "a: 2\n"),
        ("charts/web/templates/map.yaml", "kind: {{ .Values.a }}\n"),
        ("charts/lib/Chart.yaml", "type: library\n"),
        ("README.md", "text"),
    ]);
    let expected = [
        "kustomization prod uses base",
        "base base",
        "component shared/part",
        "chart charts/web",
        "libraryChart charts/lib",
        "manifests base 1 object",
        "patches prod 1 file",
        "patches shared 1 file",
        "values charts/web 1 file",
        "values charts/web/ci 1 file",
        "templates charts/web/templates 1 file",
    ];
    assert_eq!(lines(&found), expected);
    assert_eq!(settings(&found), "paths:\n- base\n- charts\n- prod\n- shared");
}

#[test]
fn ignored_files_and_packages_are_not_read() {
    let files = [
        (".gitignore", "/out\n"),
        ("out/a.yaml", MAP),
        ("node_modules/x/a.yaml", MAP),
        (".venv/a.yaml", MAP),
        (".git/a.yaml", MAP),
        ("pkg/testdata/a.yaml", MAP),
        ("a/map.yaml", MAP),
        ("a/.gitignore", "secret.yaml\n"),
        ("a/secret.yaml", MAP),
    ];
    let found = found_in(&files);
    assert_eq!(lines(&found), ["manifests a 1 object"]);
    assert_eq!(settings(&found), "ignore:\n- testdata/\npaths:\n- a");
    let all = discover(repository(&files).path(), true).unwrap();
    assert_eq!(lines(&all), ["manifests a 2 objects", "manifests out 1 object"]);
}

#[test]
fn clusters_of_flux_are_targets() {
    let found = found_in(&[
        ("clusters/a/apps.yaml", &flux("apps", "./apps/a")),
        ("clusters/b/flux-system/gotk-sync.yaml", &flux("flux-system", "./clusters/b")),
        ("clusters/b/apps.yaml", &flux("apps", "./apps/b")),
        ("apps/a/kustomization.yaml", "resources: [../base]\n"),
        ("apps/b/kustomization.yaml", "resources: [../base]\n"),
        ("apps/b/more.yaml", &flux("more", "./infrastructure")),
        ("apps/base/kustomization.yaml", "resources: [map.yaml]\n"),
        ("apps/base/map.yaml", &flux("tenant", "./elsewhere")),
        ("infrastructure/map.yaml", MAP),
    ]);
    let expected =
        "targets:\n- paths:\n  - clusters/a\n  - apps/a\n- paths:\n  - clusters/b\n  - apps/b\n  - infrastructure";
    assert_eq!(settings(&found).split_once("targets:").unwrap().1, expected.strip_prefix("targets:").unwrap());
    assert!(
        lines(&found).contains(
            &"fluxKustomization apps/base/map.yaml tenant; needs elsewhere (not in this repository)".to_owned()
        )
    );
    let one = found_in(&[("c/apps.yaml", &flux("apps", "./apps")), ("apps/map.yaml", MAP)]);
    assert!(!settings(&one).contains("targets"), "one cluster");
}

#[test]
fn applications_of_argo_are_targets_with_their_namespaces() {
    let found = found_in(&[
        ("argo/apps.yaml", &[application("a", "apps/a", "one"), application("b", "apps/a", "two")].join("---\n")),
        ("argo/root.yaml", &application("root", "argo", "argocd")),
        (
            "argo/set.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec: {generators: [{git: {directories: [{path: services/*}]}}]}\n",
        ),
        ("apps/a/map.yaml", MAP),
        ("services/one/map.yaml", MAP),
    ]);
    let expected = "\n- name: apps/a in one\n  namespace: one\n  paths: apps/a\n- name: apps/a in two\n  namespace: two\n  paths: apps/a\n- services/*";
    let targets = settings(&found).split_once("targets:").unwrap().1.to_owned();
    assert_eq!(targets, expected);
}

#[test]
fn overlays_of_one_base_are_targets() {
    let overlay = "resources: [../base]\ncomponents: [../part]\n";
    let files = [
        ("base/kustomization.yaml", "resources: []\n"),
        ("part/kustomization.yaml", "kind: Component\n"),
        ("dev/kustomization.yaml", overlay),
        ("prod/kustomization.yaml", overlay),
        ("other/kustomization.yaml", "components: [../part]\n"),
    ];
    assert!(settings(&found_in(&files)).ends_with("targets:\n- dev\n- prod"));
    let few = found_in(&[files[1], files[4], ("more/kustomization.yaml", files[4].1)]);
    assert!(!settings(&few).contains("targets"), "a component is for every cluster");
}

#[test]
fn each_crd_comes_from_one_place() {
    let found = found_in(&[
        ("charts/x/Chart.yaml", "name: x\n"),
        ("charts/x/crds/a.yaml", &crd("as")),
        ("config/crd/bases/a.yaml", &crd("as")),
        ("config/crd/kustomization.yaml", "resources: [bases/a.yaml]\n"),
        ("deploy/all.yaml", &[crd("as"), crd("bs"), MAP.to_owned()].join("---\n")),
        ("more/b.yaml", &crd("bs")),
        ("more/c.yaml", &crd("cs")),
        ("dup/c.yaml", &crd("cs")),
        ("dup/d.yaml", &crd("ds")),
    ]);
    let crds = settings(&found).split_once("paths:").unwrap().0.to_owned();
    assert_eq!(crds, "crds:\n- config/crd/bases\n- dup\n- more/b.yaml\n");
}

#[test]
fn kinds_without_a_crd_are_listed() {
    let object = |kind: &str| format!("apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: a}}\n");
    let found = found_in(&[
        ("crd.yaml", &crd("Known")),
        ("a.yaml", &[object("Known"), object("Missing"), object("Missing"), MAP.to_owned()].join("---\n")),
    ]);
    let missing = UnresolvedKind {
        group: "example.com".to_owned(),
        kind: "Missing".to_owned(),
        objects: 2,
        projects: Vec::new(),
    };
    assert_eq!(found.unresolved, [missing]);
    assert_eq!(settings(&found), "crds:\n- crd.yaml\npaths:\n- .");
    assert_eq!(found_in(&[("notes.txt", "a")]).settings, None);
}

#[test]
fn what_cannot_be_read_is_reported() {
    let found = found_in(&[("settings.json", "{ // comment\n}\n"), ("broken.yaml", "apiVersion: v1\nkind: [\n")]);
    assert_eq!(lines(&found), ["manifests . 1 object"], "it may be an object");
    assert!(discover(Path::new("/nonexistent"), false).is_err());
}
