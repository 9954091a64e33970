//! The settings of the cluster's server: the requests for them, and what is simulated where it does not show its flags.

use super::fake::{Fake, Reply};
use super::{TestDir, group, groups, status};

const GATES: &str = "kubernetes_feature_enabled{name=\"HPAScaleToZero\",stage=\"BETA\"} 1\n";
/// The plugins in the metrics of kube-apiserver 1.34.4, among them one that is disabled by default, and without `PodSecurity`.
const PLUGINS: &str = "CertificateSubjectRestriction ClusterTrustBundleAttest DefaultIngressClass DefaultStorageClass \
    DefaultTolerationSeconds DenyServiceExternalIPs LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook NamespaceLifecycle \
    PodTopologyLabels Priority ResourceQuota RuntimeClass StorageObjectInUseProtection TaintNodesByCondition ValidatingAdmissionPolicy \
    ValidatingAdmissionWebhook";
const SERVICE: &str =
    "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {externalIPs: [192.0.2.1], ports: [{port: 80}]}\n";

fn metrics(plugins: &str) -> String {
    let plugin = |name: &str| {
        format!(
            "apiserver_admission_controller_admission_duration_seconds_count{{name=\"{name}\",operation=\"CREATE\",rejected=\"false\",type=\"admit\"}} 1\n"
        )
    };
    let step = "apiserver_admission_step_admission_duration_seconds_count{operation=\"CREATE\",rejected=\"false\",type=\"validate\"} 1\n";
    GATES.to_owned() + step + &plugins.split_whitespace().map(plugin).collect::<String>()
}

/// A cluster of a minor version, with flags if it is given some.
fn cluster(path: &str, minor: &str, flags: Option<&str>, plugins: &str) -> Reply {
    let found = match path.split('?').next().unwrap_or_default() {
        "/version" => format!(r#"{{"major":"1","minor":"{minor}","emulationMajor":"1","emulationMinor":"{minor}"}}"#),
        "/metrics" => metrics(plugins),
        "/flagz" => match flags {
            Some(flags) => format!(r#"{{"flags":{{{flags}}}}}"#),
            None => return status(404, "not found"),
        },
        "/api" => groups(&[group("", "v1", &[("services", "Service"), ("namespaces", "Namespace")])]),
        "/apis" => groups(&[]),
        "/api/v1/namespaces/default" => r#"{"metadata":{"name":"default"},"status":{"phase":"Active"}}"#.to_owned(),
        _ => return status(404, "not found"),
    };
    Reply::Json(200, found)
}

#[test]
fn settings_are_three_requests_which_are_cached() {
    let place = TestDir::new("settings-requests");
    place.write("service.yaml", SERVICE);
    let fake = Fake::serve(|path, _| cluster(path, "37", Some(r#""runtime-config":"""#), ""));
    let line = format!("validate -f service.yaml -s {}", fake.url);
    // Without the settings of the server.
    place.run(&format!("{line} --kubernetes-version 1.37 --no-cache")).ends(0, &["1 accepted"]);
    let without = fake.paths();
    fake.forget();
    place.run(&line).ends(0, &["1 accepted"]);
    let mut added = fake.paths();
    for path in &without {
        added.iter().position(|added| added == path).map(|at| added.remove(at));
    }
    added.sort();
    assert!(added.iter().all(|path| ["/flagz", "/metrics", "/version"].contains(&path.as_str())), "{added:?}");
    assert!(added.len() <= 3, "{added:?}");
    fake.forget();
    place.run(&line).ends(0, &["1 accepted"]);
    assert_eq!((fake.count("/flagz"), fake.count("/metrics")), (0, 0));
    // The version is always asked for.
    let others = fake.paths().into_iter().filter(|path| path != "/version").count();
    assert!(others <= without.len(), "{:?} {without:?}", fake.paths());
}

#[test]
fn a_server_without_flags_has_the_plugins_of_its_metrics() {
    let place = TestDir::new("settings-plugins");
    place.write("service.yaml", SERVICE);
    let note = "the flags (except the admission plugins, which its metrics show) of the server are unknown";
    let run = |plugins: &'static str| {
        let fake = Fake::serve(move |path, _| cluster(path, "34", None, plugins));
        place.run(&format!("validate -f service.yaml -s {}", fake.url))
    };
    run(PLUGINS).ends(1, &["Use of external IPs is denied by admission control", note]);
    run("Priority").ends(0, &["1 accepted", note]);
    // The flags of the server take precedence.
    let fake =
        Fake::serve(|path, _| cluster(path, "37", Some(r#""enable-admission-plugins":"NodeRestriction""#), PLUGINS));
    place.run(&format!("validate -f service.yaml -s {}", fake.url)).ends(0, &["1 accepted"]);
}
