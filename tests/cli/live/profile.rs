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
