//! Any body of a built-in kind is decoded or rejected, in every release.
use crdx_types::types::Types;
use crdx_types::{Endpoint, decode};

const KINDS: &[(&str, &str, &str)] = &[
    ("", "v1", "Pod"),
    ("", "v1", "Secret"),
    ("", "v1", "Event"),
    ("apps", "v1", "Deployment"),
    ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("networking.k8s.io", "v1", "Ingress"),
    ("resource.k8s.io", "v1", "ResourceSlice"),
    ("scheduling.k8s.io", "v1alpha3", "CompositePodGroup"),
];

pub fn check(input: &[u8]) {
    let [release, kind, body @ ..] = input else { return };
    let (group, version, kind) = KINDS[usize::from(*kind) % KINDS.len()];
    let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
    let types = Types::for_release(30 + u32::from(*release % 8));
    if let Ok(decoded) = decode::decode(types, &endpoint, body) {
        assert!(decoded.strict.len() <= 100);
    }
}
