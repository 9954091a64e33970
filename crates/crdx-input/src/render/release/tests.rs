use super::*;
use crdx_engine::documents::InputEntry;

/// The documents of a text, as if a directory had been rendered to it.
fn documents(text: &str, root: Option<&str>) -> Vec<Document> {
    let entries = crate::documents(root.unwrap_or("a.yaml"), text).into_iter();
    let document = |entry| if let InputEntry::Document(document) = entry { Some(document) } else { None };
    let mut documents: Vec<Document> = entries.filter_map(document).collect();
    for one in &mut documents {
        one.is_rendered = root.is_some();
    }
    documents
}

fn object(kind: &str, name: &str, rest: &str) -> String {
    let api = match kind {
        "HelmRelease" => "helm.toolkit.fluxcd.io/v2",
        "ConfigMap" => "v1",
        _ => "source.toolkit.fluxcd.io/v1",
    };
    format!("---\napiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}, namespace: apps}}\n{rest}\n")
}

fn left_out(texts: &[(&str, Option<&str>)]) -> Vec<String> {
    let mut releases = Releases::default();
    for (text, root) in texts {
        for document in documents(text, *root) {
            releases.add(&document, "");
        }
    }
    let (charts, left_out) =
        releases.charts(&RepositoryUrls::new(&["https://h/this".to_owned()], Path::new(".")), None);
    assert!(charts.is_empty());
    left_out.into_iter().map(|release| release.note.message).collect()
}

const CHART: &str = "chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}";

fn reason(rest: &str) -> String {
    let text = object("HelmRelease", "web", &format!("spec: {rest}"))
        + &object("HelmRepository", "charts", "spec: {url: 'https://h/charts'}")
        + &object("OCIRepository", "web", "spec: {url: 'oci://h/web', ref: {semver: '>=1.0.0', tag: a}}")
        + &object(
            "HelmChart",
            "web",
            "spec: {chart: web, version: 2.0.0, sourceRef: {kind: HelmRepository, name: charts}}",
        );
    let found = left_out(&[(&text, None)]);
    found.first().unwrap().strip_prefix("the objects of the HelmRelease apps/web are not known: ").unwrap().to_owned()
}

#[test]
fn a_chart_that_is_not_here_has_a_command() {
    let fetch = "is here: kubectl crdx fetch --charts";
    assert_eq!(
        reason(&format!("{{{CHART}}}")),
        format!("no version 1.x of its chart {fetch} helm+https://h/charts/web@VERSION")
    );
    let artifact = reason("{chartRef: {kind: OCIRepository, name: web}}");
    assert_eq!(
        artifact,
        format!("no version >=1.0.0 of its chart {fetch} oci://h/web:VERSION"),
        "the tag does not count"
    );
    let chart = reason("{chartRef: {kind: HelmChart, name: web}}");
    assert_eq!(chart, "its chart is not here: kubectl crdx fetch --charts helm+https://h/charts/web@2.0.0");
}

#[test]
fn other_reasons_are_named() {
    let range = CHART.replace("1.x", "latest");
    assert_eq!(reason(&format!("{{{range}}}")), "the version \"latest\" of its chart web is not a range of versions");
    let elsewhere = CHART.replace("charts}", "other}");
    assert_eq!(reason(&format!("{{{elsewhere}}}")), "the source of its chart: apps/other is not in this input");
    assert_eq!(reason(&format!("{{{CHART}, postRenderers: [{{kustomize: {{}}}}]}}")), "it has postRenderers");
    assert!(reason("{}").starts_with("the source of its chart is of another kind"));
}

#[test]
fn overlays_may_have_sources_that_differ() {
    let release = object("HelmRelease", "web", &format!("spec: {{{CHART}}}"));
    let repository = |host: &str| object("HelmRepository", "charts", &format!("spec: {{url: 'https://{host}'}}"));
    let (staging, production) = (release.clone() + &repository("s"), repository("p"));
    let found = left_out(&[(&staging, Some("staging")), (&production, Some("production"))]);
    assert!(found.len() == 1 && found[0].ends_with("helm+https://s/web@VERSION"), "{found:?}");
    let found = left_out(&[(&release, None), (&repository("s"), Some("staging")), (&production, Some("production"))]);
    assert!(found.len() == 1 && found[0].ends_with("this input has several apps/charts that differ"), "{found:?}");
}

#[test]
fn a_release_has_the_name_that_the_controller_gives_it() {
    assert_eq!(release_name(Some("given"), Some("target"), "web"), "given");
    assert_eq!(release_name(None, Some("target"), "web"), "target-web");
    assert_eq!(release_name(None, None, "web"), "web");
    let long = release_name(None, None, &"a".repeat(60));
    assert_eq!((long.len(), long.get(..41)), (53, Some("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-")));
}

#[test]
fn a_chart_of_another_repository_is_not_searched_here() {
    let release = "spec: {chart: {spec: {chart: src, sourceRef: {kind: GitRepository, name: web}}}}";
    let with = |url: &str| {
        let repository = object("GitRepository", "web", &format!("spec: {{url: '{url}'}}"));
        left_out(&[(&(object("HelmRelease", "web", release) + &repository), None)]).pop().unwrap()
    };
    assert!(with("https://h/other").ends_with("its chart is in another repository: https://h/other"));
    assert!(with("https://h/this.git").ends_with("src is no chart of this repository"));
}

#[test]
fn config_maps_that_differ_are_named() {
    let values = |value: &str| object("ConfigMap", "v", &format!("data: {{values.yaml: 'a: {value}'}}"));
    let release = object(
        "HelmRelease",
        "web",
        "spec: {chart: {spec: {chart: examples/render/chart, sourceRef: {kind: GitRepository, name: none}}}, valuesFrom: [{kind: ConfigMap, name: v}]}",
    );
    let texts = [(values("1"), Some("x")), (values("2"), Some("y")), (release, None)];
    let texts = texts.each_ref().map(|(text, root)| (text.as_str(), *root));
    let found = left_out(&texts);
    let reason = "this input has several ConfigMaps apps/v that differ, which its valuesFrom names";
    assert!(found.len() == 1 && found[0].ends_with(reason), "{found:?}");
}
