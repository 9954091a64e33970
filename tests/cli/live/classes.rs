//! The classes and service accounts that new Pods name, and the limits and the pod security standard of their namespace.

use super::fake::{Fake, Reply};
use super::{TestDir, cluster, group, groups, status};

const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// A cluster with a priority class, a quota and a limit range.
fn with_classes(path: &str) -> Reply {
    let found = match path {
        "/api" => groups(&[group(
            "",
            "v1",
            &[
                ("namespaces", "Namespace"),
                ("pods", "Pod"),
                ("limitranges", "LimitRange"),
                ("resourcequotas", "ResourceQuota"),
            ],
        )]),
        "/apis" => groups(&[
            group("scheduling.k8s.io", "v1", &[("priorityclasses", "PriorityClass")]),
            group("node.k8s.io", "v1", &[("runtimeclasses", "RuntimeClass")]),
        ]),
        "/api/v1/namespaces/default" => r#"{"status":{"phase":"Active"}}"#.to_owned(),
        PRIORITIES => r#"{"items":[{"metadata":{"name":"high"},"value":1000}]}"#.to_owned(),
        "/apis/node.k8s.io/v1/runtimeclasses" => r#"{"items":[]}"#.to_owned(),
        "/api/v1/namespaces/default/resourcequotas" => {
            r#"{"items":[{"metadata":{"name":"q"},"spec":{"hard":{"pods":"5"}},"status":{"used":{"pods":"4"}}}]}"#
                .to_owned()
        }
        "/api/v1/namespaces/default/limitranges" => {
            r#"{"items":[{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"default":{"cpu":"1"}}]}}]}"#.to_owned()
        }
        path => return cluster(path),
    };
    Reply::Json(200, found)
}

fn pod(name: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{{more}, containers: [{{name: c, image: 'x:1'}}]}}\n---\n"
    )
}

#[test]
fn pods_whose_classes_do_not_exist_are_rejected() {
    let place = TestDir::new("classes");
    let pods = [
        pod("a", "priorityClassName: high"),
        pod("b", "priorityClassName: low"),
        pod("c", "priorityClassName: high, priority: 5"),
        pod("d", "runtimeClassName: kata"),
    ];
    place.write("pods.yaml", &pods.concat());
    let fake = Fake::serve(|path, _| with_classes(path));
    let line = format!("validate -f pods.yaml --server {}", fake.url);
    place.run(&line).ends(
        1,
        &[
            "4 objects: 1 accepted, 3 rejected",
            "pods \"b\" is forbidden: no PriorityClass with name low was found",
            "pods \"c\" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name",
            "pods \"d\" is forbidden: pod rejected: RuntimeClass \"kata\" not found",
            "note: quota in namespace default counts each object alone, not all together: q (4 of 5 pods used)",
        ],
    );
    assert_eq!(fake.count(PRIORITIES), 1, "{:?}", fake.paths());
    assert!(fake.asked().iter().all(|asked| asked.method == "GET"));
    // A class among the earlier inputs will exist.
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: low}\nvalue: 1\n---\n";
    place.write("pods.yaml", &[class, &pod("b", "priorityClassName: low")].concat());
    place.run(&line).ends(0, &["2 objects: 2 accepted"]);
}

#[test]
fn a_quota_refuses_what_exceeds_it() {
    const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";
    let place = TestDir::new("quotas");
    let pods = [pod("a", "priorityClassName: high"), pod("b", "priorityClassName: high, activeDeadlineSeconds: 5")];
    place.write("pods.yaml", &pods.concat());
    place.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n");
    let quota = |name: &str, spec: &str, status: &str| {
        format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{{spec}}},"status":{{{status}}}}}"#)
    };
    let ending = quota("ending", r#""scopes":["Terminating"]"#, r#""hard":{"pods":"1"},"used":{"pods":"1"}"#);
    let unknown = quota("unknown", "", r#""hard":{"secrets":"1"}"#);
    let list = format!(r#"{{"items":[{ending},{unknown}]}}"#);
    let fake =
        Fake::serve(move |path, _| if path == QUOTAS { Reply::Json(200, list.clone()) } else { with_classes(path) });
    let validate = |file: &str| place.run(&format!("validate -f {file} --server {}", fake.url));
    validate("pods.yaml").ends(
        1,
        &[
            "1 accepted, 1 rejected",
            "pods \"b\" is forbidden: exceeded quota: ending, requested: pods=1, used: pods=1, limited: pods=1",
        ],
    );
    validate("secret.yaml")
        .ends(1, &["secrets \"s\" is forbidden: status unknown for quota: unknown, resources: secrets"]);
    let forbidden = Fake::serve(|path, _| if path == QUOTAS { status(403, "no") } else { with_classes(path) });
    place.run(&format!("validate -f pods.yaml --server {}", forbidden.url)).ends(0, &["resourcequotas (403)"]);
}

#[test]
fn classes_that_cannot_be_read_are_a_note() {
    let place = TestDir::new("classes-forbidden");
    place.write("pods.yaml", &pod("a", "priorityClassName: high"));
    let fake = Fake::serve(|path, _| if path == PRIORITIES { status(403, "no") } else { with_classes(path) });
    let line = format!("validate -f pods.yaml --server {}", fake.url);
    place.run(&line).ends(0, &["1 accepted", "priorityclasses (403)"]);
}

#[test]
fn limit_ranges_set_defaults_and_reject() {
    let place = TestDir::new("limit-ranges");
    let large = pod("b", "priorityClassName: high").replace("'x:1'", "'x:1', resources: {limits: {cpu: 3}}");
    place.write("pods.yaml", &[pod("a", "priorityClassName: high"), large].concat());
    let fake = Fake::serve(|path, _| with_classes(path));
    let line = format!("validate -f pods.yaml --server {}", fake.url);
    place.run(&line).ends(
        1,
        &["1 accepted, 1 rejected", "pods \"b\" is forbidden: maximum cpu usage per Container is 2, but limit is 3"],
    );
    assert_eq!(fake.count("/api/v1/namespaces/default/limitranges"), 1, "{:?}", fake.paths());
    place
        .run(&format!("{line} -o yaml"))
        .ends(1, &["kubernetes.io/limit-ranger: 'LimitRanger plugin set: cpu request for container"]);
    let forbidden =
        Fake::serve(|path, _| if path.ends_with("/limitranges") { status(403, "no") } else { with_classes(path) });
    place
        .run(&format!("validate -f pods.yaml --server {}", forbidden.url))
        .ends(0, &["2 accepted", "limitranges (403)"]);
}

/// A cluster with service accounts and a namespace with a pod security standard.
fn with_accounts(path: &str) -> Reply {
    let found = match path {
        "/api/v1/namespaces/default" => {
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","uid":"n","labels":{"pod-security.kubernetes.io/enforce":"baseline"}},"status":{"phase":"Active"}}"#
        }
        "/api/v1/namespaces/default/serviceaccounts" => {
            r#"{"items":[{"metadata":{"name":"default"}},{"metadata":{"name":"robot"}}]}"#
        }
        "/api/v1/namespaces/other/serviceaccounts" => r#"{"items":[]}"#,
        "/api/v1/namespaces/other" => r#"{"metadata":{"name":"other"},"status":{"phase":"Active"}}"#,
        path => return with_classes(path),
    };
    Reply::Json(200, found.to_owned())
}

#[test]
fn pods_whose_service_account_does_not_exist_are_rejected() {
    let place = TestDir::new("accounts");
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: made}\n---\n".to_owned();
    let elsewhere = pod("d", "serviceAccountName: gone").replace("name: d", "name: d, namespace: other");
    let pods = [
        pod("a", "serviceAccountName: robot"),
        pod("b", "serviceAccountName: gone"),
        account,
        pod("c", "serviceAccountName: made"),
        // Nothing tells whether a cluster without the account `default` has the plugin.
        elsewhere,
    ];
    place.write("pods.yaml", &pods.concat());
    let fake = Fake::serve(|path, _| with_accounts(path));
    place.run(&format!("validate -f pods.yaml --server {}", fake.url)).ends(
        1,
        &[
            "5 objects: 4 accepted, 1 rejected",
            "pods \"b\" is forbidden: error looking up service account default/gone: serviceaccount \"gone\" not found",
        ],
    );
    assert_eq!(fake.count("/api/v1/namespaces/default/serviceaccounts"), 1, "{:?}", fake.paths());
    // Of the accounts of a Namespace among the inputs, a controller creates only `default`.
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n---\n".to_owned();
    place.write(
        "pods.yaml",
        &[namespace, pod("a", "serviceAccountName: gone"), pod("b", "serviceAccountName: default")].concat(),
    );
    place
        .run(&format!("validate -f pods.yaml --server {}", fake.url))
        .ends(1, &["3 objects: 2 accepted, 1 rejected", "serviceaccount \"gone\" not found"]);
}

#[test]
fn the_labels_of_a_namespace_select_a_pod_security_standard() {
    let place = TestDir::new("pod-security");
    let template = "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: t}\ntemplate: {metadata: {labels: {a: b}}, spec: {hostPID: true, containers: [{name: c, image: x}]}}\n";
    place.write("pods.yaml", &[pod("a", "hostPID: true"), template.to_owned()].concat());
    let fake = Fake::serve(|path, _| with_accounts(path));
    place.run(&format!("validate -f pods.yaml --server {}", fake.url)).ends(
        1,
        &[
            "2 objects: 1 accepted, 1 rejected; 1 warning",
            "pods \"a\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostPID=true)",
            "warning: would violate PodSecurity \"baseline:latest\": host namespaces (hostPID=true)",
        ],
    );
}

/// A cluster with a default priority class and a runtime class, and a namespace with the access of administrators to devices.
fn with_default_class(path: &str) -> Reply {
    let found = match path {
        PRIORITIES => r#"{"items":[{"metadata":{"name":"usual"},"value":5,"globalDefault":true}]}"#,
        "/apis/node.k8s.io/v1/runtimeclasses" => {
            r#"{"items":[{"metadata":{"name":"kata"},"handler":"h","overhead":{"podFixed":{"cpu":"1"}},"scheduling":{"nodeSelector":{"a":"b"}}}]}"#
        }
        "/apis" => {
            let devices: &[_] = &[("resourceclaims", "ResourceClaim")];
            return Reply::Json(
                200,
                groups(&[
                    group("scheduling.k8s.io", "v1", &[("priorityclasses", "PriorityClass")]),
                    group("resource.k8s.io", "v1", devices),
                ]),
            );
        }
        "/api/v1/namespaces/admin" => {
            r#"{"metadata":{"name":"admin","labels":{"resource.kubernetes.io/admin-access":"true"}},"status":{"phase":"Active"}}"#
        }
        path => return with_classes(path),
    };
    Reply::Json(200, found.to_owned())
}

#[test]
fn pods_get_what_their_classes_set() {
    let place = TestDir::new("class-fields");
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: other}\nvalue: 1\nglobalDefault: true\n---\n";
    let pods = [
        pod("a", "priority: 5"),
        pod("b", "priority: 6"),
        pod("c", "runtimeClassName: kata"),
        pod("d", "runtimeClassName: kata, nodeSelector: {a: x}"),
        pod("e", "overhead: {cpu: 1}"),
        class.to_owned(),
    ];
    place.write("pods.yaml", &pods.concat());
    let fake = Fake::serve(|path, _| with_default_class(path));
    let line = format!("validate -f pods.yaml --server {}", fake.url);
    place.run(&line).ends(
        1,
        &[
            "6 objects: 2 accepted, 4 rejected",
            "pods \"b\" is forbidden: the integer value of priority (6) must not be provided in pod spec; priority admission controller computed 5 from the given PriorityClass name",
            "pods \"d\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = x",
            "pods \"e\" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
            "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass usual is already marked as default. Only one default can exist",
        ],
    );
    place.run(&format!("{line} -o yaml")).ends(1, &["priorityClassName: usual", "overhead:", "nodeSelector:"]);
}

#[test]
fn a_pod_that_names_no_class_has_the_default_class() {
    let place = TestDir::new("default-class");
    place.write("pods.yaml", &pod("a", "nodeName: node"));
    let fake = Fake::serve(|path, _| with_default_class(path));
    let line = format!("validate -f pods.yaml -o yaml --server {}", fake.url);
    place.run(&line).ends(0, &["priority: 5", "priorityClassName: usual"]);
}

#[test]
fn the_default_class_that_is_not_known_leaves_an_own_priority_open() {
    let place = TestDir::new("own-priority");
    place.write("pods.yaml", &pod("a", "priority: 5"));
    place
        .run("validate -f pods.yaml --offline")
        .ends(2, &["1 cannot tell", "its priority must be that of the default PriorityClass: no cluster was asked"]);
    // A class of an input is known by its name only, as in a dry run.
    let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: usual}\nvalue: 5\nglobalDefault: true\n---\n";
    let named = |name: &str, priority: u32| pod(name, &format!("priorityClassName: usual, priority: {priority}"));
    place.write("pods.yaml", &[class, &named("a", 5), &named("b", 6), &pod("c", "priority: 0")].concat());
    place
        .run("validate -f pods.yaml --offline")
        .ends(1, &["3 accepted, 1 rejected", "priority admission controller computed 5 from the given"]);
}

#[test]
fn the_access_of_administrators_to_devices_needs_a_label_of_the_namespace() {
    let claim = |namespace: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c, namespace: {namespace}}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: c, adminAccess: true}}}}]}}}}\n---\n"
        )
    };
    let place = TestDir::new("admin-access");
    place.write("claims.yaml", &[claim("admin"), claim("default")].concat());
    let refused = "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";
    let fake = Fake::serve(|path, _| with_default_class(path));
    let line = format!("validate -f claims.yaml --server {}", fake.url);
    place.run(&line).ends(1, &["1 accepted, 1 rejected", refused]);
    let open = "the access of administrators to devices needs a label of the namespace: no cluster was asked";
    place.run("validate -f claims.yaml --offline").ends(2, &["1 rejected, 1 cannot tell", refused, open]);
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: admin, labels: {resource.kubernetes.io/admin-access: 'true'}}\n---\n";
    place.write("claims.yaml", &[namespace, &claim("admin")].concat());
    place.run("validate -f claims.yaml --offline").ends(0, &["2 accepted"]);
}

#[test]
fn mirror_pods_name_no_service_account() {
    let place = TestDir::new("mirror-pods");
    let mirror = |name: &str, more: &str| {
        let metadata = format!("{{name: {name}, annotations: {{kubernetes.io/config.mirror: x}}}}");
        pod(name, more).replace(&format!("{{name: {name}}}"), &metadata)
    };
    place.write(
        "pods.yaml",
        &[mirror("a", "nodeName: node"), mirror("b", "nodeName: node, serviceAccountName: d")].concat(),
    );
    let fake = Fake::serve(|path, _| with_accounts(path));
    for line in ["--offline".to_owned(), format!("--server {}", fake.url)] {
        let refused = "pods \"b\" is forbidden: a mirror pod may not reference service accounts";
        place.run(&format!("validate -f pods.yaml {line}")).ends(1, &["1 accepted, 1 rejected", refused]);
    }
}
