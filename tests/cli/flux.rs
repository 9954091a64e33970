//! `--render` with the objects of Flux: Kustomizations, and `HelmRelease`s with their charts.

use super::render::{calls, run, script, with_programs};
use std::fs;
use std::path::Path;

const CRONTAB: &str = "apiVersion: stable.example.com/v1\nkind: CronTab\n";

const LINE: &str = "validate -R --render apps clusters --crds examples/crds --offline --ignore-missing-crds -o json";

/// Writes files of a repository.
fn write(dir: &Path, files: &[(&str, &str)]) {
    fs::create_dir_all(dir.join(".git")).unwrap();
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A Kustomization of Flux that builds `apps`.
fn kustomization(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\nspec:\n  path: ./apps\n{spec}---\n"
    )
}

const POST_BUILD: &str = "  postBuild:
    substitute: {REPLICAS: \"3\"}
    substituteFrom:
    - {kind: ConfigMap, name: vars}
SOURCES---
apiVersion: v1
kind: ConfigMap
metadata: {name: vars}
data: {IMAGE: backup}
";

#[test]
fn variables_of_flux_are_replaced_in_what_kustomize_makes() {
    let dir = with_programs("flux-post-build");
    let object = format!(
        "{CRONTAB}metadata: {{name: a}}\nspec:\n  image: ${{IMAGE}}:${{TAG:=1.4}}\n  replicas: ${{REPLICAS}}\n"
    );
    write(
        &dir,
        &[
            ("apps/kustomization.yaml", "resources: [a.yaml]\n"),
            ("apps/a.yaml", &object),
            ("input/rendered/apps.yaml", &object),
        ],
    );
    let flux = |sources: &str| {
        write(&dir, &[("clusters/flux.yaml", &kustomization("apps", &POST_BUILD.replace("SOURCES", sources)))]);
    };
    flux("");
    let (text, messages, code) = run(&dir, LINE);
    assert_eq!(code, Some(0), "{text}{messages}");
    assert!(text.contains("\"image\":\"backup:1.4\",\"replicas\":3"), "{text}");
    flux("    - {kind: Secret, name: secrets}\n");
    let (text, _, code) = run(&dir, LINE);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the variable TAG of postBuild is not known: it may be in the Secret secrets"), "{text}");
    assert!(text.contains("--substitute TAG=VALUE"), "{text}");
    let (text, _, code) = run(&dir, &format!("{LINE} --substitute TAG=2 --substitute REPLICAS=20"));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("should be less than or equal to 10") && text.contains("apps/a.yaml"), "{text}");
}

#[test]
fn lint_replaces_variables_too() {
    let dir = with_programs("flux-lint");
    let crd = fs::read_to_string(dir.join("examples/upgrade/new-crd.yaml")).unwrap();
    let crd = crd.replace("scope: Namespaced", "scope: ${SCOPE}");
    assert!(crd.contains("${SCOPE}"));
    let flux = kustomization("apps", "  postBuild: {substitute: {NAME: a}}\n").replace("./apps", "./tree/apps");
    write(
        &dir,
        &[
            ("tree/apps/kustomization.yaml", "resources: [crd.yaml]\n"),
            ("tree/apps/crd.yaml", &crd),
            ("input/rendered/apps.yaml", &crd),
            ("tree/flux.yaml", &flux),
        ],
    );
    let (text, messages, code) = run(&dir, "lint -R --render tree --substitute SCOPE=Namespaced");
    assert_eq!(code, Some(0), "{text}{messages}");
    let (text, ..) = run(&dir, "lint -R --render tree --substitute SCOPE=Everywhere");
    assert!(text.contains("Everywhere"), "{text}");
}

#[test]
fn what_flux_adds_to_a_kustomization_is_built() {
    let dir = with_programs("flux-changes");
    let program = "/bin/cat \"$2/kustomization.yaml\" \"$2/../shared/c/kustomization.yaml\" \"$2/../shared/p.yaml\" >> built\nexec /bin/cat input/rendered/apps.yaml";
    script(&dir.join("bin/kustomize"), program);
    let object = format!("{CRONTAB}metadata: {{name: a}}\nspec: {{image: a}}\n");
    let flux = kustomization(
        "apps",
        "  targetNamespace: team\n  images: [{name: a, newTag: b}]\n  components: [../shared/c]\n",
    );
    write(
        &dir,
        &[
            ("apps/kustomization.yaml", "resources: [a.yaml]\n"),
            ("shared/c/kustomization.yaml", "kind: Component\npatches: [{path: ../p.yaml}]\n"),
            ("shared/p.yaml", "the: patch\n"),
            ("apps/a.yaml", &object),
            ("input/rendered/apps.yaml", &object),
            ("clusters/flux.yaml", &flux),
        ],
    );
    let (text, messages, code) = run(&dir, LINE);
    assert_eq!(code, Some(0), "{text}{messages}");
    assert!(text.contains("\"namespace\":\"team\"") && text.contains("\"source\":\"apps/a.yaml\""), "{text}");
    let built = fs::read_to_string(dir.join("built")).unwrap();
    assert!(built.contains("\"namespace\":\"team\"") && built.contains("\"newTag\":\"b\""), "{built}");
    assert!(built.contains("\"resources\":[\"a.yaml\"]"), "it is that of the directory: {built}");
    assert!(built.contains("kind: Component") && built.contains("the: patch"), "a copy has what it names: {built}");
}

#[test]
fn messages_of_kustomize_name_the_files_of_the_repository() {
    let dir = with_programs("flux-messages");
    script(&dir.join("bin/kustomize"), "echo \"Error: cannot read $2/none.yaml\" >&2\nexit 1");
    write(
        &dir,
        &[
            ("apps/kustomization.yaml", "resources: [none.yaml]\n"),
            ("clusters/flux.yaml", &kustomization("apps", "  namePrefix: a-\n")),
        ],
    );
    let (text, _, code) = run(&dir, LINE);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("`kustomize build apps` failed") && text.contains("cannot read apps/none.yaml"), "{text}");
}

#[test]
fn a_git_repository_with_another_url_may_not_be_this_one() {
    let dir = with_programs("flux-repository");
    let object = format!("{CRONTAB}metadata: {{name: a}}\nspec: {{image: a}}\n");
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: web}\nspec: {url: 'https://example.com/team/web'}\n";
    let spec = "  targetNamespace: team\n  sourceRef: {kind: GitRepository, name: web}\n";
    write(
        &dir,
        &[
            (".git/config", "[remote \"origin\"]\n\turl = git@example.com:team/fleet.git\n"),
            ("apps/kustomization.yaml", "resources: [a.yaml]\n"),
            ("apps/a.yaml", &object),
            ("input/rendered/apps.yaml", &object),
            ("clusters/flux.yaml", &(kustomization("apps", spec) + source)),
        ],
    );
    let (text, _, code) = run(&dir, LINE);
    assert_eq!(code, Some(2), "{text}");
    for part in
        ["https://example.com/team/web, which may be this repository or another one", "--repository-url https://"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (text, _, code) = run(&dir, &format!("{LINE} --repository-url https://example.com/team/web.git"));
    assert!(code == Some(0) && text.contains("\"namespace\":\"team\""), "{text}");
    let (text, _, code) = run(&dir, &format!("{LINE} --repository-url https://example.com/team/fleet"));
    assert!(code == Some(0) && !text.contains("\"namespace\":\"team\""), "{text}");
}

#[test]
fn a_directory_is_built_for_each_kustomization_of_flux() {
    let dir = with_programs("flux-shared");
    let object = format!("{CRONTAB}metadata: {{name: ${{NAME}}}}\nspec: {{image: a}}\n");
    let flux = |name: &str| kustomization(name, &format!("  postBuild: {{substitute: {{NAME: {name}}}}}\n"));
    write(
        &dir,
        &[
            ("apps/kustomization.yaml", "resources: [a.yaml]\n"),
            ("apps/a.yaml", &object),
            ("input/rendered/apps.yaml", &object),
            ("clusters/flux.yaml", &(flux("one") + &flux("two"))),
        ],
    );
    let (text, messages, code) = run(&dir, &LINE.replace(" -o json", ""));
    assert_eq!(code, Some(0), "{text}{messages}");
    assert!(text.contains("default/one") && text.contains("default/two"), "{text}");
    assert!(messages.contains("apps (Kustomization flux-system/one)"), "{messages}");
}

#[test]
fn files_without_a_kustomization_are_built_by_flux() {
    let dir = with_programs("flux-plain");
    let flux = |spec: &str| kustomization("apps", spec);
    let object = format!("{CRONTAB}metadata: {{name: a}}\nspec:\n  image: ${{IMAGE}}\n");
    let post_build = "  targetNamespace: team\n  postBuild: {substitute: {IMAGE: backup}}\n";
    write(&dir, &[("apps/a.yaml", &object), ("clusters/flux.yaml", &flux(post_build))]);
    let (text, messages, code) = run(&dir, LINE);
    assert_eq!(code, Some(0), "{text}{messages}");
    assert!(text.contains("\"image\":\"backup\"") && text.contains("\"namespace\":\"team\""), "{text}");
    // Flux parses the file before it replaces variables.
    write(&dir, &[("apps/a.yaml", &format!("{CRONTAB}metadata: {{name: a}}\nspec: {{image: ${{IMAGE}}}}\n"))]);
    let (_, _, code) = run(&dir, LINE);
    assert_eq!(code, Some(1));
    // kustomize would leave out the quotes.
    write(&dir, &[("apps/a.yaml", &object.replace("${IMAGE}", "\"${IMAGE}\""))]);
    let (text, _, code) = run(&dir, LINE);
    assert!(code == Some(2) && text.contains("without the quotes around its variables"), "{text}");
    write(&dir, &[("clusters/flux.yaml", &flux("  images: [{name: a, newTag: b}]\n"))]);
    let (text, _, code) = run(&dir, LINE);
    assert!(
        code == Some(2) && text.contains("the Kustomization flux-system/apps of Flux changes the objects"),
        "{text}"
    );
}

/// A directory whose helm writes the values that it gets to `values`.
fn with_chart(name: &str) -> std::path::PathBuf {
    let dir = with_programs(name);
    let helm = "echo \"helm $*\" >> calls\nwhile [ $# -gt 0 ]; do [ \"$1\" = --values ] && /bin/cat \"$2\" >> values; shift; done\nexec /bin/cat input/rendered/web.yaml";
    script(&dir.join("bin/helm"), helm);
    let template =
        format!("{CRONTAB}metadata:\n  name: web\nspec:\n  image: web\n  replicas: {{{{ .Values.replicas }}}}\n");
    let rendered =
        format!("---\n# Source: web/templates/job.yaml\n{}", template.replace("{{ .Values.replicas }}", "20"));
    write(
        &dir,
        &[
            ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("charts/web/values.yaml", "replicas: 1\n"),
            ("charts/web/templates/job.yaml", &template),
            ("input/rendered/web.yaml", &rendered),
        ],
    );
    dir
}

fn release(name: &str, chart: &str, rest: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: {name}, namespace: apps}}\nspec:\n  chart: {{spec: {{{chart}}}}}\n{rest}---\n"
    )
}

const HERE: &str = "chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system}";

const RELEASES: &str = "validate -R --render flux --crds examples/crds --offline --ignore-missing-crds";

#[test]
fn a_release_of_flux_is_rendered_with_its_values() {
    let dir = with_chart("flux-release");
    write(&dir, &[("flux/releases.yaml", &release("web", HERE, "  values: {replicas: 20}\n"))]);
    let (text, messages, code) = run(&dir, RELEASES);
    assert_eq!(code, Some(1), "{text}{messages}");
    assert!(text.contains("--> charts/web/templates/job.yaml:7"), "{text}");
    assert!(text.contains("apps/web "), "its objects are in its namespace: {text}");
    let called = calls(&dir);
    assert!(
        called.starts_with(
            "helm template web charts/web --include-crds --namespace apps --kube-version 1.37.0 --values /"
        ),
        "{called}"
    );
    assert_eq!(fs::read_to_string(dir.join("values")).unwrap(), "{\"replicas\":20}");
}

#[test]
fn a_release_whose_chart_is_not_here_is_cannot_tell() {
    let dir = with_chart("flux-not-fetched");
    let chart = "chart: db, version: VERSION, sourceRef: {kind: HelmRepository, name: charts}";
    let repository = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: apps}\nspec: {url: 'https://charts.example.com/'}\n";
    let text =
        release("db", &chart.replace("VERSION", "1.2.3"), "") + &release("cache", &chart.replace("VERSION", "2.x"), "");
    write(&dir, &[("flux/releases.yaml", &(text + repository))]);
    let (text, messages, code) = run(&dir, RELEASES);
    assert_eq!(code, Some(2), "{text}{messages}");
    for part in [
        "the objects of the HelmRelease apps/db are not known: its chart is not here",
        "help: download it: kubectl crdx fetch --charts helm+https://charts.example.com/db@1.2.3",
        "help: download a version 2.x: kubectl crdx fetch --charts helm+https://charts.example.com/db@VERSION",
        "flux/releases.yaml:1:1",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let note = "note: the charts of 2 HelmReleases are not rendered: apps/db (its chart is not here: kubectl crdx fetch --charts helm+https://charts.example.com/db@1.2.3)";
    assert!(messages.contains(note), "{messages}");
}

#[test]
fn values_are_also_those_of_config_maps_and_files() {
    let dir = with_chart("flux-values");
    let from = "  valuesFrom:\n  - {kind: ConfigMap, name: vars}\n  - {kind: ConfigMap, name: vars, valuesKey: port, targetPath: web.port}\n  values: {a: 1}\n";
    let vars = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: apps}\ndata: {port: '80', values.yaml: 'a: 2, b: 3'}\n";
    let vars = vars.replace("'a: 2, b: 3'", "'{a: 2, b: 3}'");
    write(&dir, &[("flux/releases.yaml", &(release("web", HERE, from) + &vars))]);
    run(&dir, RELEASES);
    let values = || {
        let values = fs::read_to_string(dir.join("values")).unwrap_or_default();
        let _ = fs::remove_file(dir.join("values"));
        values
    };
    assert_eq!(values(), "{\"a\":1,\"b\":3,\"web\":{\"port\":80}}");
    // A Secret is never read.
    write(&dir, &[("flux/releases.yaml", &release("web", HERE, "  valuesFrom: [{kind: Secret, name: s}]\n"))]);
    let (text, _, code) = run(&dir, RELEASES);
    assert!(code == Some(2) && text.contains("some of its values are in the Secret s"), "{text}");
    // Other files replace the values of the chart.
    let helm = "/bin/cat \"$3/values.yaml\" >> values\nexec /bin/cat input/rendered/web.yaml";
    script(&dir.join("bin/helm"), helm);
    let files = format!("{HERE}, valuesFiles: [charts/ha.yaml]");
    write(&dir, &[("charts/ha.yaml", "replicas: 5\n"), ("flux/releases.yaml", &release("web", &files, ""))]);
    let (text, ..) = run(&dir, RELEASES);
    assert_eq!(values(), "{\"replicas\":5}", "{text}");
    assert!(text.contains("--> charts/web/templates/job.yaml:7"), "{text}");
}
