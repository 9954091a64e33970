//! Claims that grow, which needs a `StorageClass` that allows it.

use super::fake::{Fake, Reply};
use super::{TestDir, cluster, group, groups, status};

const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";

fn claim(name: &str, class: &str, size: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\nspec: {{accessModes: [ReadWriteOnce], \
         storageClassName: {class}, resources: {{requests: {{storage: {size}}}}}}}\n---\n"
    )
}

/// A claim of 1Gi that has a volume.
fn bound(name: &str, class: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"{name}","namespace":"default","uid":"1","resourceVersion":"5"}},
        "spec":{{"accessModes":["ReadWriteOnce"],"storageClassName":"{class}","volumeMode":"Filesystem","volumeName":"v",
        "resources":{{"requests":{{"storage":"1Gi"}}}}}},"status":{{"phase":"Bound"}}}}"#
    )
}

/// A cluster with three claims and two classes.
fn with_claims(path: &str) -> Reply {
    const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
    let found = match path.strip_prefix(CLAIMS).map(|name| name.trim_start_matches('/')) {
        Some("") => format!(r#"{{"items":[{},{},{}]}}"#, bound("a", "fast"), bound("b", "fixed"), bound("c", "none")),
        Some("a") => bound("a", "fast"),
        Some("b") => bound("b", "fixed"),
        Some("c") => bound("c", "none"),
        Some(_) => return status(404, "no"),
        None => match path {
            "/api" => groups(&[group(
                "",
                "v1",
                &[("namespaces", "Namespace"), ("persistentvolumeclaims", "PersistentVolumeClaim")],
            )]),
            "/apis" => groups(&[group("storage.k8s.io", "v1", &[("storageclasses", "StorageClass")])]),
            "/api/v1/namespaces/default" => r#"{"status":{"phase":"Active"}}"#.to_owned(),
            "/api/v1/namespaces/default/limitranges" => r#"{"items":[]}"#.to_owned(),
            CLASSES => {
                r#"{"items":[{"metadata":{"name":"fast"},"allowVolumeExpansion":true},{"metadata":{"name":"fixed"}}]}"#
                    .to_owned()
            }
            path => return cluster(path),
        },
    };
    Reply::Json(200, found)
}

#[test]
fn a_claim_grows_only_if_its_class_allows_it() {
    let place = TestDir::new("volumes");
    let claims = [claim("a", "fast", "2Gi"), claim("b", "fixed", "2Gi"), claim("c", "none", "2Gi")];
    place.write("claims.yaml", &claims.concat());
    place.write("same.yaml", &claim("b", "fixed", "1Gi"));
    let fake = Fake::serve(|path, _| with_claims(path));
    let validate = |file: &str| place.run(&format!("validate -f {file} --server {}", fake.url));
    validate("same.yaml").ends(0, &["1 accepted"]);
    assert_eq!(fake.count(CLASSES), 0, "read only for claims that grow");
    let refused = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
    let of = |name: &str| format!("persistentvolumeclaims \"{name}\" is forbidden: {refused}");
    validate("claims.yaml").ends(1, &["1 accepted, 2 rejected", &of("b"), &of("c")]);
    assert_eq!(fake.count(CLASSES), 1, "{:?}", fake.paths());
    // The class of an earlier input allows it.
    let class = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: none}\nprovisioner: example.com/a\nallowVolumeExpansion: true\n---\n";
    place.write("class.yaml", &[class, &claim("c", "none", "2Gi")].concat());
    validate("class.yaml").ends(0, &["2 accepted"]);
}

#[test]
fn a_new_claim_gets_the_default_class_of_the_cluster() {
    let place = TestDir::new("volumes-default");
    place.write("claim.yaml", &claim("new", "CLASS", "1Gi").replace("storageClassName: CLASS, ", ""));
    place.write("own.yaml", &claim("new", "own", "1Gi"));
    let fake = Fake::serve(|path, _| match path {
        CLASSES => {
            let mark = r#"{"storageclass.kubernetes.io/is-default-class":"true"}"#;
            Reply::Json(200, format!(r#"{{"items":[{{"metadata":{{"name":"usual","annotations":{mark}}}}}]}}"#))
        }
        path => with_claims(path),
    });
    let run = |command: &str| place.run(&format!("{command} --server {}", fake.url));
    run("validate -f own.yaml -o yaml").ends(0, &["storageClassName: own"]);
    assert_eq!(fake.count(CLASSES), 0, "read only for claims without a class");
    run("validate -f claim.yaml -o yaml").ends(0, &["storageClassName: usual"]);
    run("diff -f claim.yaml").ends(1, &["+  storageClassName: usual"]);
    let forbidden = Fake::serve(|path, _| if path == CLASSES { status(403, "no") } else { with_claims(path) });
    place.run(&format!("validate -f claim.yaml --server {}", forbidden.url)).ends(0, &["storageclasses (403)"]);
}

#[test]
fn whether_a_claim_may_grow_is_open_without_its_class() {
    let place = TestDir::new("volumes-open");
    place.write("claim.yaml", &claim("a", "fast", "2Gi"));
    place.write("old.json", &bound("a", "fast"));
    let forbidden = Fake::serve(|path, _| if path == CLASSES { status(403, "no") } else { with_claims(path) });
    let open = "the claim grows if the StorageClass fast allows it: ";
    place.run(&format!("validate -f claim.yaml --server {}", forbidden.url)).ends(2, &[open]);
    place.run("validate -f claim.yaml --old old.json --offline").ends(2, &[open, "no cluster was asked"]);
}
