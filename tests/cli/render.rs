//! `--render`, with scripts in the place of helm and kustomize: they print what the real ones printed for `examples/render`.

use super::screens::{command, place};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const CHART: &str = "validate --render examples/render/chart --crds examples/crds --offline";

/// Writes an executable script.
pub(super) fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A directory with the scripts in `bin`, which write their arguments to `calls`.
pub(super) fn with_programs(name: &str) -> std::path::PathBuf {
    let dir = place(name);
    for program in ["helm", "kustomize"] {
        let text = format!(
            "echo \"{program} $*\" >> calls\nfile=input/rendered/${{2##*/}}.yaml\n[ -f \"$file\" ] || {{ echo \"no output for $2\" >&2; exit 1; }}\nexec /bin/cat \"$file\""
        );
        script(&dir.join("bin").join(program), &text);
    }
    dir
}

/// Runs a command that finds only the programs in `bin`. Returns its output, its messages and its exit code.
pub(super) fn run(dir: &Path, line: &str) -> (String, String, Option<i32>) {
    let output = command(dir, line).env("PATH", dir.join("bin")).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

pub(super) fn calls(dir: &Path) -> String {
    let calls = fs::read_to_string(dir.join("calls")).unwrap_or_default();
    let _ = fs::remove_file(dir.join("calls"));
    calls
}

#[test]
fn findings_are_in_templates_resources_and_patches() {
    let dir = with_programs("render");
    let (text, messages, code) = run(&dir, "validate -R --render examples/render --crds examples/crds --offline");
    for place in [
        "--> examples/render/chart/templates/nightly.yaml:10",
        "10 |   replicas: {{ .Values.replicas }}",
        "--> examples/render/chart/templates/nightly.yaml:19:3",
        "--> examples/render/base/backup.yaml:7:16",
        "--> examples/render/production/replicas.yaml:6:13",
        "examples/render/base/backup.yaml:1",
    ] {
        assert!(text.contains(place), "{place}: {text}");
    }
    assert!(!text.contains("chart:4"), "no location is in what was rendered: {text}");
    // Each directory is a target.
    assert!(text.contains("\nexamples/render/production: CronTab default/production-backup would be"), "{text}");
    assert_eq!(code, Some(1), "{text}{messages}");
    let note = "note: 2 directories were rendered: examples/render/chart, examples/render/production\n";
    assert!(messages.contains(note), "{messages}");
    // The base is built as a part of the overlay, and templates and patches are no objects.
    assert_eq!(
        calls(&dir),
        "helm template examples/render/chart --include-crds --kube-version 1.37.0\nkustomize build examples/render/production\n"
    );
    assert!(text.contains("3 objects: 3 rejected"), "{text}");
}

#[test]
fn every_format_has_the_template() {
    let dir = with_programs("render-formats");
    let template = "examples/render/chart/templates/nightly.yaml";
    for (format, expected) in [
        ("json", format!("\"location\":{{\"column\":3,\"line\":19,\"source\":\"{template}\"}}")),
        (
            "sarif",
            format!(
                "\"artifactLocation\":{{\"uri\":\"{template}\"}},\"region\":{{\"endColumn\":10,\"startColumn\":3,\"startLine\":19}}"
            ),
        ),
        ("github", format!("file={template},line=19,col=3")),
        ("junit", format!("{template}:19:3")),
        ("tap", format!("{template}:19:3")),
        ("markdown", format!("{template}:19")),
        ("html", format!("{template}:19:3")),
    ] {
        let (text, _, code) = run(&dir, &format!("{CHART} -o {format}"));
        assert!(text.contains(&expected) && code == Some(1), "{format}: {text}");
        assert!(!text.contains("examples/render/chart:"), "{format}: {text}");
    }
    // A suggestion replaces text that the template has, and nothing else.
    let (text, ..) = run(&dir, &format!("{CHART} -o sarif"));
    assert_eq!(text.matches("\"insertedContent\"").count(), 1, "{text}");
}

#[test]
fn lint_and_diff_render_too() {
    let dir = with_programs("render-commands");
    fs::create_dir_all(dir.join("crds")).unwrap();
    fs::copy(dir.join("examples/upgrade/new-crd.yaml"), dir.join("crds/crd.yaml")).unwrap();
    fs::write(dir.join("crds/kustomization.yaml"), "resources: [crd.yaml]\n").unwrap();
    fs::copy(dir.join("crds/crd.yaml"), dir.join("input/rendered/crds.yaml")).unwrap();
    let (text, _, code) = run(&dir, "lint --render crds --old examples/upgrade/old-crd.yaml");
    let (plain, ..) = run(&dir, "lint crds/crd.yaml --old examples/upgrade/old-crd.yaml");
    assert_eq!((text, code), (plain, Some(1)), "the resource is found line by line");
    let line = "diff --render examples/render/chart --crds examples/crds --offline --old input/rendered/chart.yaml";
    let (text, _, code) = run(&dir, line);
    assert!(code == Some(2) && text.is_empty(), "the existing objects are invalid: {text}");
}

#[test]
fn a_failure_concerns_only_its_directory() {
    let dir = with_programs("render-failure");
    fs::create_dir_all(dir.join("k/broken")).unwrap();
    fs::write(dir.join("k/broken/Kustomization"), "resources: [none.yaml]\n").unwrap();
    fs::copy(dir.join("examples/objects/accepted.yaml"), dir.join("k/a.yaml")).unwrap();
    let (text, _, code) = run(&dir, "validate -R --render k --crds examples/crds --offline");
    for part in ["`kustomize build k/broken` failed (exit status: 1):", "no output for k/broken"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(text.contains("help: correct k/broken, or leave it out"), "{text}");
    assert!(text.contains("k/a.yaml:1") && text.contains("accepted"), "{text}");
    assert_eq!(code, Some(2));
    fs::remove_file(dir.join("bin/kustomize")).unwrap();
    let (text, ..) = run(&dir, "validate --render k/broken --offline");
    assert!(text.contains("kustomize and kubectl are not on the PATH"), "{text}");
    // kubectl has a kustomize, too.
    script(&dir.join("bin/kubectl"), "/bin/cat input/rendered/production.yaml");
    let (text, ..) = run(&dir, "validate --render examples/render/production --crds examples/crds --offline");
    assert!(text.contains("examples/render/production/replicas.yaml:6:13"), "{text}");
}

#[test]
fn a_failing_chart_names_its_next_step() {
    let dir = with_programs("render-chart-failure");
    let chart = dir.join("deep");
    fs::create_dir_all(&chart).unwrap();
    fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: deep\nversion: 1.0.0\ndependencies:\n- name: other\n")
        .unwrap();
    let (text, _, code) = run(&dir, "validate --render deep --offline");
    assert!(code == Some(2) && text.contains("helm dependency build deep"), "{text}");
    fs::remove_file(dir.join("bin/helm")).unwrap();
    let (text, _, code) = run(&dir, "validate --render deep --offline");
    assert!(code == Some(2) && text.contains("helm is not on the PATH") && text.contains("https://helm.sh"), "{text}");
}

#[test]
fn charts_see_the_version_and_the_namespace() {
    let dir = with_programs("render-flags");
    run(&dir, &format!("{CHART} -n jobs --kubernetes-version 1.34..1.36"));
    assert_eq!(
        calls(&dir),
        "helm template examples/render/chart --include-crds --namespace jobs --kube-version 1.36.0\n"
    );
}

#[test]
fn files_that_no_program_reads_are_named() {
    let dir = with_programs("render-left-out");
    let chart = dir.join("chart");
    for name in ["charts/inner", "library", "examples"] {
        fs::create_dir_all(chart.join(name)).unwrap();
    }
    fs::write(chart.join("Chart.yaml"), "name: a\n").unwrap();
    fs::write(chart.join("charts/inner/Chart.yaml"), "name: inner\n").unwrap();
    fs::write(chart.join("library/Chart.yaml"), "name: b\ntype: library\n").unwrap();
    fs::copy(dir.join("examples/objects/accepted.yaml"), chart.join("examples/a.yaml")).unwrap();
    let (_, messages, _) = run(&dir, "validate -R --render chart --crds examples/crds --offline");
    let note = "note: 1 file with objects is in rendered directories, but not part of what was rendered, and not read: chart/examples/a.yaml\n";
    assert!(messages.contains(note), "{messages}");
    assert_eq!(
        calls(&dir),
        "helm template chart --include-crds --kube-version 1.37.0\n",
        "subcharts and libraries belong to charts"
    );
}

#[test]
fn only_the_flag_runs_programs() {
    let dir = with_programs("render-flag-only");
    let (.., code) = run(&dir, "validate -R examples/render/chart --crds examples/crds --offline");
    assert_eq!((calls(&dir).as_str(), code), ("", Some(2)), "templates are no objects");
    fs::write(dir.join(".crdx.yaml"), "render: true\n").unwrap();
    let (_, messages, code) = run(&dir, CHART);
    assert!(code == Some(2) && messages.contains("render"), "{messages}");
    fs::remove_file(dir.join(".crdx.yaml")).unwrap();
    let line = "validate -R examples/render/chart --crds examples/crds --offline";
    let output = command(&dir, line).env("PATH", dir.join("bin")).env("CRDX_RENDER", "true").output().unwrap();
    assert_eq!((calls(&dir).as_str(), output.status.code()), ("", Some(2)));
    let (_, messages, code) = run(&dir, &format!("{CHART} --old git:HEAD"));
    assert!(code == Some(2) && messages.contains("cannot read what --render renders"), "{messages}");
}

#[test]
fn two_overlays_of_one_base_are_independent() {
    let dir = with_programs("overlays");
    for (overlay, host) in [("production", "a"), ("staging", "b")] {
        let text = format!("resources: [../base]\nnamePrefix: ''\n# {host}\n");
        let folder = dir.join("overlays").join(overlay);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("kustomization.yaml"), text).unwrap();
        let rendered = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: db}}\ndata: {{host: {host}}}\nimmutable: true\n"
        );
        fs::write(dir.join("input/rendered").join(format!("{overlay}.yaml")), rendered).unwrap();
    }
    fs::create_dir_all(dir.join("overlays/base")).unwrap();
    fs::write(dir.join("overlays/base/kustomization.yaml"), "resources: [db.yaml]\n").unwrap();
    let base = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\nimmutable: true\n";
    fs::write(dir.join("overlays/base/db.yaml"), base).unwrap();
    let (text, messages, code) = run(&dir, "validate -R --render overlays --offline");
    assert_eq!(code, Some(0), "{text}{messages}");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).take(2).map(|row| row.split_whitespace().collect()).collect();
    let base = "overlays/base/db.yaml:1";
    assert_eq!(rows[0][..5], ["overlays/production", base, "ConfigMap", "default/db", "accepted"], "{text}");
    assert_eq!(rows[1][..5], ["overlays/staging", base, "ConfigMap", "default/db", "accepted"], "{text}");
    // Each directory updates an existing object.
    let (text, messages, code) =
        run(&dir, "validate -R --render overlays --offline --old input/rendered/production.yaml");
    assert_eq!(code, Some(1), "{text}{messages}");
    assert!(text.contains("overlays/staging: ConfigMap default/db would be rejected"), "{text}");
}

#[test]
fn a_chart_is_rendered_with_each_of_its_test_values() {
    let dir = with_programs("render-values");
    for (file, text) in [
        ("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("web/ci/b-values.yaml", "a: 1\n"),
        ("web/ci/a-values.yaml", "a: 2\n"),
        ("web/ci/other.yaml", "a: 2\n"),
        ("values.yaml", "a: 3\n"),
        ("more.yaml", "a: 4\n"),
        ("input/rendered/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"),
        ("settings.yaml", "values: values.yaml\ntargets: {paths: web, values: more.yaml, set: a.b=1}\n"),
    ] {
        let path = dir.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (text, messages, code) = run(&dir, "validate --render web --offline");
    let helm = "helm template web --include-crds --kube-version 1.37.0";
    let each = format!("{helm} --values web/ci/a-values.yaml\n{helm} --values web/ci/b-values.yaml\n");
    assert_eq!((calls(&dir), code), (each, Some(0)), "{text}");
    // The objects of one are no updates of those of the other.
    assert!(text.contains("web (a-values.yaml)") && text.contains("web (b-values.yaml)"), "{text}");
    assert!(text.contains("2 objects: 2 accepted") && !text.contains("same object"), "{text}");
    assert!(messages.contains("rendered: web (a-values.yaml), web (b-values.yaml)"), "{messages}");
    run(&dir, "validate --render web --offline --values values.yaml --set a=1 --api-versions example.com/v1");
    assert_eq!(calls(&dir), format!("{helm} --api-versions example.com/v1 --values values.yaml --set a=1\n"));
    let (text, ..) = run(&dir, "validate --render --offline --config settings.yaml");
    assert_eq!(calls(&dir), format!("{helm} --values values.yaml --values more.yaml --set a.b=1\n"), "{text}");
}

#[test]
fn kustomize_gets_the_options_of_flux_and_argo() {
    let dir = with_programs("render-options");
    fs::write(dir.join("settings.yaml"), "enableHelm: true\nloadRestrictor: LoadRestrictionsNone\n").unwrap();
    run(&dir, "validate --render examples/render/production --offline --enable-helm");
    run(&dir, "validate --render examples/render/production --offline --config settings.yaml");
    let build = "kustomize build examples/render/production --enable-helm";
    assert_eq!(calls(&dir), format!("{build}\n{build} --load-restrictor LoadRestrictionsNone\n"));
    let (_, messages, code) = run(&dir, "validate examples/render --offline --enable-helm --values values.yaml");
    assert!(code == Some(2) && messages.contains("--render"), "{messages}");
}
