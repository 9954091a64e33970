//! Profiles: what `fetch --profile` writes, and that commands read it in place of the cluster.

use super::fake::{Fake, Reply};
use super::{TestDir, crd, group, groups, status};
use std::fs;
use std::path::Path;

/// A cluster with a namespace, a limit range that may not be read, a CRD and a webhook.
fn cluster(path: &str, minimum: &str) -> Reply {
    let core = |name: &str, kind: &str, scope: &str| {
        format!(
            r#"{{"resource":"{name}","responseKind":{{"group":"","version":"","kind":"{kind}"}},"scope":"{scope}","singularResource":"","verbs":["get","list"]}}"#
        )
    };
    let list = |kind: &str, items: &str| {
        format!(r#"{{"kind":"{kind}List","apiVersion":"v1","metadata":{{}},"items":[{items}]}}"#)
    };
    let found = match path.split('?').next().unwrap_or_default() {
        "/version" => r#"{"major":"1","minor":"37","emulationMajor":"1","emulationMinor":"36"}"#.to_owned(),
        "/metrics" => {
            "kubernetes_feature_enabled{name=\"StatefulSetRecreateStrategy\",stage=\"ALPHA\"} 0\n".to_owned()
        }
        "/flagz" => r#"{"flags":{"enable-admission-plugins":"AlwaysPullImages","etcd-servers":"https://canary:2379","advertise-address":"canary"}}"#.to_owned(),
        "/api" => groups(&[format!(
            r#"{{"metadata":{{"name":""}},"versions":[{{"version":"v1","resources":[{},{},{},{}]}}]}}"#,
            core("namespaces", "Namespace", "Cluster"),
            core("limitranges", "LimitRange", "Namespaced"),
            core("resourcequotas", "ResourceQuota", "Namespaced"),
            core("serviceaccounts", "ServiceAccount", "Namespaced"),
        )]),
        "/apis" => groups(&[
            group("apiextensions.k8s.io", "v1", &[("customresourcedefinitions", "CustomResourceDefinition")]),
            group("admissionregistration.k8s.io", "v1", &[("validatingwebhookconfigurations", "ValidatingWebhookConfiguration")]),
            group("fake.example.com", "v1", &[("widgets", "Widget")]),
        ]),
        "/api/v1/namespaces" => list(
            "Namespace",
            r#"{"metadata":{"name":"default","uid":"canary","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"canary"},"managedFields":[{"manager":"canary"}]}},{"metadata":{"name":"prod"}}"#,
        ),
        "/api/v1/limitranges" => {
            list("LimitRange", &format!(r#"{{"metadata":{{"name":"l","namespace":"prod"}},"spec":{{"limits":[{{"type":"Container","min":{{"cpu":"{minimum}"}}}}]}}}}"#))
        }
        "/api/v1/resourcequotas" => return status(403, "resourcequotas is forbidden"),
        "/api/v1/serviceaccounts" => list(
            "ServiceAccount",
            r#"{"metadata":{"name":"default","namespace":"prod"},"secrets":[{"name":"canary"}],"imagePullSecrets":[{"name":"canary"}]}"#,
        ),
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" => list("CustomResourceDefinition", &crd("1", 10)),
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations" => list(
            "ValidatingWebhookConfiguration",
            r#"{"metadata":{"name":"w"},"webhooks":[{"name":"a.example.com","clientConfig":{"url":"https://canary","caBundle":"canary"}}]}"#,
        ),
        _ => return status(404, "not found"),
    };
    Reply::Json(200, found)
}

fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, found);
        } else {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: prod}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: 50m}}}]}\n";

fn saved(place: &TestDir, folder: &str, minimum: &'static str) -> super::Said {
    let fake = Fake::serve(move |path, _| cluster(path, minimum));
    place.run(&format!("fetch --from-cluster --profile {folder} --server {} --no-cache", fake.url))
}

#[test]
fn a_profile_has_no_secret_and_says_what_it_lacks() {
    let place = TestDir::new("profile-contents");
    let said = saved(&place, "prod", "100m");
    said.ends(2, &["Saved 6 objects in prod.", "error: resourcequotas cannot be read: resourcequotas is forbidden"]);
    let mut found = Vec::new();
    texts(&place.0.join("prod"), &mut found);
    assert!(found.len() > 5 && found.iter().all(|(_, text)| !text.contains("canary")), "{found:?}");
    let description = fs::read_to_string(place.0.join("prod/profile.yaml")).unwrap();
    for part in ["emulatedVersion: \"1.36\"", "- AlwaysPullImages", "resourcequotas: resourcequotas is forbidden"] {
        assert!(description.contains(part), "{description}");
    }
}

#[test]
fn a_note_has_no_body_of_an_answer_without_a_message() {
    let place = TestDir::new("profile-index");
    let index = format!("{{\n  \"paths\": [\n    {}\n  ]\n}}", vec!["\"/healthz\""; 50].join(",\n    "));
    let fake = Fake::serve(move |path, _| match path {
        "/metrics" => Reply::Json(404, index.clone()),
        _ => cluster(path, "100m"),
    });
    let said = place.run(&format!("fetch --from-cluster --profile prod --server {} --no-cache", fake.url));
    said.ends(2, &["those of its version are simulated: the cluster answered 404 to GET /metrics\n"]);
    let description = fs::read_to_string(place.0.join("prod/profile.yaml")).unwrap();
    assert!(!description.contains("healthz"), "{description}");
}

#[test]
fn the_verdict_is_that_of_the_cluster() {
    let place = TestDir::new("profile-verdicts");
    drop(saved(&place, "prod", "100m"));
    drop(saved(&place, "stage", "10m"));
    place.write("pod.yaml", POD);
    let refused = "minimum cpu usage per Container is 100m";
    place.run("validate -f pod.yaml --profile prod").ends(1, &[refused]);
    place.run("validate -f pod.yaml --profile stage --offline").ends(0, &["1 accepted"]);
    // The answer of each cluster.
    place.run("validate -f pod.yaml --profile prod --profile stage").ends(1, &[refused, "1 accepted", "stage"]);
    // Another namespace does not exist in it, and a custom resource has the CRD of the cluster.
    place.write("other.yaml", &POD.replace("prod", "other"));
    place.run("validate -f other.yaml --profile prod").ends(1, &["namespaces \"other\" not found"]);
    place.write("big.yaml", &super::object("a", 11));
    place.run("validate -f big.yaml --profile prod").ends(1, &["less than or equal to 10"]);
    place.write(".crdx.yaml", "profile: prod\n");
    place.run("validate -f pod.yaml").ends(1, &[refused]);
}

#[test]
fn a_second_run_says_what_has_changed() {
    let place = TestDir::new("profile-changes");
    drop(saved(&place, "prod", "100m"));
    saved(&place, "prod", "100m").ends(2, &["No object has changed."]);
    fs::write(
        place.0.join("prod/crds/old.example.com.yaml"),
        "kind: CustomResourceDefinition\nmetadata: {name: old.example.com}\n",
    )
    .unwrap();
    saved(&place, "prod", "200m")
        .ends(2, &["removed CustomResourceDefinition old.example.com\nchanged LimitRange prod/l\n"]);
    assert!(!place.0.join("prod/crds/old.example.com.yaml").exists());
}

#[test]
fn a_folder_without_a_profile_is_an_error() {
    let place = TestDir::new("no-profile");
    place
        .run("validate -f a.yaml --profile none")
        .ends(2, &["there is no profile in this folder", "fetch --from-cluster --profile"]);
    drop(saved(&place, "prod", "100m"));
    place.run("get widgets --profile prod --profile prod").ends(2, &["this command reads one profile"]);
    place.run("get widgets --profile prod").ends(2, &["the profile prod has no widgets.fake.example.com"]);
    saved(&place, ".", "100m").ends(2, &["is not empty, and has no profile"]);
}

/// The cluster with a policy that has params, and an aggregated API.
fn with_params(path: &str) -> Reply {
    const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
    let list = |kind: &str, item: &str| {
        format!(r#"{{"kind":"{kind}List","apiVersion":"v1","metadata":{{}},"items":[{item}]}}"#)
    };
    let short = path.split('?').next().unwrap_or_default();
    let found = match short.strip_prefix(ADMISSION).unwrap_or(short) {
        "/api" => groups(&[format!(
            r#"{{"metadata":{{"name":""}},"versions":[{{"version":"v1","resources":[{}]}}]}}"#,
            [("namespaces", "Namespace", "Cluster"), ("configmaps", "ConfigMap", "Namespaced")].map(|(name, kind, scope)| format!(
                r#"{{"resource":"{name}","responseKind":{{"group":"","version":"","kind":"{kind}"}},"scope":"{scope}","singularResource":"","verbs":["get","list"]}}"#
            )).join(",")
        )]),
        "/apis" => groups(&[
            group("apiextensions.k8s.io", "v1", &[("customresourcedefinitions", "CustomResourceDefinition")]),
            group("admissionregistration.k8s.io", "v1", &[
                ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
                ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
            ]),
            group("fake.example.com", "v1", &[("widgets", "Widget")]),
            group("route.example.com", "v1", &[("routes", "Route")]),
        ]),
        "/validatingadmissionpolicies" => list(
            "ValidatingAdmissionPolicy",
            r#"{"metadata":{"name":"max"},"spec":{"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"matchConstraints":{"resourceRules":[{"apiGroups":["fake.example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["widgets"]}]},"validations":[{"expression":"object.spec.size <= int(params.data.max)","message":"too large"}]}}"#,
        ),
        "/validatingadmissionpolicybindings" => list(
            "ValidatingAdmissionPolicyBinding",
            r#"{"metadata":{"name":"max"},"spec":{"policyName":"max","validationActions":["Deny"],"paramRef":{"name":"limits","namespace":"default","parameterNotFoundAction":"Deny"}}}"#,
        ),
        "/api/v1/configmaps" => list(
            "ConfigMap",
            r#"{"metadata":{"name":"limits","namespace":"default","uid":"canary"},"data":{"max":"5"}},{"metadata":{"name":"other","namespace":"default"},"data":{"a":"canary"}}"#,
        ),
        "/openapi/v3/apis/route.example.com/v1" => r##"{"openapi":"3.0.0","paths":{"canary":{}},"components":{"schemas":{
            "Route":{"type":"object","x-kubernetes-group-version-kind":[{"group":"route.example.com","version":"v1","kind":"Route"}],"properties":{
                "apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},"spec":{"allOf":[{"$ref":"#/components/schemas/RouteSpec"}]}}},
            "RouteSpec":{"type":"object","description":"canary","properties":{"host":{"type":"string"}}}}}}"##.to_owned(),
        _ => return cluster(path, "100m"),
    };
    Reply::Json(200, found)
}

#[test]
fn a_profile_has_the_params_that_bindings_name() {
    let place = TestDir::new("profile-params");
    let fake = Fake::serve(|path, _| with_params(path));
    let said = place.run(&format!("fetch --from-cluster --profile prod --server {} --no-cache", fake.url));
    said.ends(0, &["Saved 7 objects in prod."]);
    drop(fake);
    let mut found = Vec::new();
    texts(&place.0.join("prod"), &mut found);
    assert!(found.iter().all(|(_, text)| !text.contains("canary")), "{found:?}");
    let params = fs::read_to_string(place.0.join("prod/params/configmaps.yaml")).unwrap();
    assert!(params.contains("name: limits") && params.contains("max: \"5\""), "{params}");
    place.write("large.yaml", &super::object("a", 6));
    place
        .run("validate -f large.yaml --profile prod")
        .ends(1, &["ValidatingAdmissionPolicy 'max' with binding 'max' denied request: too large"]);
    place.run("validate -f a.yaml --profile prod").ends(0, &["1 accepted"]);
    // Another ConfigMap is not known to be absent.
    let binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: more}\n\
        spec: {policyName: max, validationActions: [Deny], paramRef: {name: other, namespace: default, parameterNotFoundAction: Deny}}\n";
    place.write("binding.yaml", binding);
    place.run("validate -f a.yaml --profile prod --policies binding.yaml").ends(2, &["1 cannot tell"]);
}

#[test]
fn objects_of_an_aggregated_api_are_checked_by_its_published_schema() {
    let place = TestDir::new("profile-aggregated");
    let fake = Fake::serve(|path, _| with_params(path));
    place.run(&format!("fetch --from-cluster --profile prod --server {} --no-cache", fake.url)).ends(0, &[]);
    let route = "apiVersion: route.example.com/v1\nkind: Route\nmetadata: {name: r}\nspec:\n  ";
    place.write("good.yaml", &format!("{route}host: a\n"));
    place.write("typo.yaml", &format!("{route}hots: a\n"));
    place.write("type.yaml", &format!("{route}host: 1\n"));
    for cluster in [format!("--server {} --no-cache", fake.url), "--profile prod".to_owned()] {
        place
            .run(&format!("validate -f good.yaml {cluster} -v"))
            .ends(0, &["1 decode (validation not simulated)", "the validation of its API server is not simulated"]);
        let unknown = ["typo.yaml:5:3", "unknown field \"spec.hots\"", "did you mean `host`?"];
        place.run(&format!("validate -f typo.yaml {cluster}")).ends(1, &unknown);
        place
            .run(&format!("validate -f typo.yaml --field-validation Warn {cluster}"))
            .ends(0, &["unknown field \"spec.hots\""]);
        place
            .run(&format!("validate -f type.yaml {cluster}"))
            .ends(1, &["type.yaml:5:9", "spec.host: the type is integer"]);
    }
}

#[test]
fn suites_run_with_the_settings_of_a_profile() {
    let place = TestDir::new("profile-test");
    drop(saved(&place, "prod", "100m"));
    place.write("widgets.testsuite.yaml", "apiVersion: apiextensions.k8s.io/v1\nname: widgets\ncrd: crd.yaml\ntests:\n  onCreate:\n  - name: small\n    initial: |\n      apiVersion: fake.example.com/v1\n      kind: Widget\n      spec: {size: 4}\n");
    place.run("test widgets.testsuite.yaml --profile prod").ends(0, &["1.37"]);
    place.run("test widgets.testsuite.yaml --profile none").ends(2, &["there is no profile in this folder"]);
    fs::create_dir(place.0.join("broken")).unwrap();
    place.write("broken/profile.yaml", "[");
    let said = place.run("test widgets.testsuite.yaml --profile broken").ends(2, &["broken/profile.yaml"]);
    assert_eq!((said.err.matches("error: ").count(), said.err.matches("\nhelp: ").count()), (1, 1), "{}", said.err);
    place.run("test widgets.testsuite.yaml --profile prod --profile prod").ends(2, &["this command reads one profile"]);
}
