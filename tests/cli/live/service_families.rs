//! The address families of a cluster, on which the answer to a Service depends.

use super::fake::{Fake, Reply};
use super::{TestDir, cluster, group, groups, status};

const RANGES: &str = "/apis/networking.k8s.io/v1/servicecidrs";

/// A cluster with these ranges; `None` for a release without `ServiceCIDR`s.
fn with_ranges(path: &str, ranges: Option<&str>) -> Reply {
    let found = match (path, ranges) {
        ("/api", _) => groups(&[group("", "v1", &[("namespaces", "Namespace"), ("services", "Service")])]),
        ("/apis", Some(_)) => groups(&[group("networking.k8s.io", "v1", &[("servicecidrs", "ServiceCIDR")])]),
        ("/apis", None) => groups(&[]),
        ("/api/v1/namespaces/default", _) => r#"{"status":{"phase":"Active"}}"#.to_owned(),
        ("/api/v1/namespaces/default/services", _) => {
            r#"{"items":[{"metadata":{"name":"kubernetes"},"spec":{"ipFamilies":["IPv6"]}}]}"#.to_owned()
        }
        (RANGES, Some(ranges)) => {
            format!(r#"{{"items":[{{"metadata":{{"name":"kubernetes"}},"spec":{{"cidrs":[{ranges}]}}}}]}}"#)
        }
        (path, _) => return cluster(path),
    };
    Reply::Json(200, found)
}

fn services(place: &TestDir) {
    let service = |name: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{selector: {{a: b}}, ports: [{{port: 80}}]{more}}}\n---\n"
        )
    };
    let dual = service("dual", ", ipFamilyPolicy: RequireDualStack");
    place.write("services.yaml", &[service("any", ""), service("six", ", ipFamilies: [IPv6]"), dual].concat());
}

#[test]
fn services_get_the_families_of_the_cluster() {
    let place = TestDir::new("service-families");
    services(&place);
    let with = |ranges: &'static str| Fake::serve(move |path, _| with_ranges(path, Some(ranges)));
    let both = with(r#""10.96.0.0/16","fd00::/108""#);
    let validate =
        |fake: &Fake, more: &str| place.run(&format!("validate -f services.yaml --server {}{more}", fake.url));
    validate(&both, "").ends(0, &["3 objects: 3 accepted"]);
    assert_eq!(both.count(RANGES), 1, "{:?}", both.paths());
    let six = with(r#""fd00::/108""#);
    validate(&six, " -o yaml")
        .ends(1, &["ipFamilies:\n  - IPv6", "this cluster is not configured for dual-stack services"]);
    validate(&with(r#""10.96.0.0/16""#), "").ends(1, &["1 accepted, 2 rejected"]);
}

#[test]
fn a_cluster_ip_is_in_a_range_of_the_cluster() {
    let place = TestDir::new("service-ranges");
    let service = |name: &str, address: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{clusterIP: {address}, ports: [{{port: 80}}]}}\n---\n"
        )
    };
    let all = [service("in", "10.96.0.9"), service("out", "10.97.0.9"), service("none", "None")];
    place.write("services.yaml", &all.concat());
    let fake = Fake::serve(|path, _| with_ranges(path, Some(r#""10.96.0.0/16""#)));
    place.run(&format!("validate -f services.yaml --server {}", fake.url)).ends(
        1,
        &[
            "2 accepted, 1 rejected",
            "spec.clusterIPs: Invalid value: [\"10.97.0.9\"]: failed to allocate IP 10.97.0.9: the provided network does not match the current range",
        ],
    );
}

#[test]
fn services_do_not_share_cluster_ips_and_node_ports() {
    let place = TestDir::new("services-in-use");
    let service = |name: &str, spec: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n")
    };
    let address = service("address", "clusterIP: 10.96.0.9, ports: [{port: 80}]");
    let port = service("port", "type: NodePort, ports: [{port: 80, nodePort: 30009}]");
    let free = service("free", "type: NodePort, clusterIP: 10.96.0.10, ports: [{port: 80, nodePort: 30010}]");
    place.write("services.yaml", &[address, port, free, service("none", "ports: [{port: 80}]")].concat());
    place.write("none.yaml", &service("none", "ports: [{port: 80}]"));
    let fake = Fake::serve(|path, _| match path {
        "/api/v1/services" => {
            let spec = r#"{"clusterIPs":["10.96.0.9"],"ports":[{"nodePort":30009}]}"#;
            Reply::Json(200, format!(r#"{{"items":[{{"metadata":{{"name":"other"}},"spec":{spec}}}]}}"#))
        }
        _ => with_ranges(path, Some(r#""10.96.0.0/16""#)),
    });
    let validate = |file: &str| place.run(&format!("validate -f {file} --server {}", fake.url));
    validate("none.yaml").ends(0, &["1 accepted"]);
    assert_eq!(fake.count("/api/v1/services"), 0, "read only for Services that name an address or a port");
    validate("services.yaml").ends(
        1,
        &[
            "2 accepted, 2 rejected",
            "spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: failed to allocate IP 10.96.0.9: provided IP is already allocated",
            "spec.ports[0].nodePort: Invalid value: 30009: provided port is already allocated",
        ],
    );
    assert_eq!(fake.count("/api/v1/services"), 1, "{:?}", fake.paths());
    let forbidden = Fake::serve(|path, _| match path {
        "/api/v1/services" => status(403, "no"),
        _ => with_ranges(path, Some(r#""10.96.0.0/16""#)),
    });
    place.run(&format!("validate -f services.yaml --server {}", forbidden.url)).ends(0, &["services (403)"]);
    let notes = "have the cluster IPs and node ports of new ones was not looked for: default/address (10.96.0.9), default/free (10.96.0.10, 30010), default/port (30009)";
    place.run("validate -f services.yaml --offline").ends(0, &[notes]);
}

#[test]
fn families_that_an_older_cluster_does_not_tell_are_left_open() {
    let place = TestDir::new("service-families-older");
    services(&place);
    let older = Fake::serve(|path, _| if path == RANGES { status(404, "no") } else { with_ranges(path, None) });
    let validate = |fake: &Fake| place.run(&format!("validate -f services.yaml --server {}", fake.url));
    validate(&older).ends(2, &["2 accepted", "whether the cluster has the address families that the Service asks for"]);
    let silent = Fake::serve(|path, _| match path {
        RANGES | "/api/v1/namespaces/default/services" => status(403, "no"),
        path => with_ranges(path, None),
    });
    validate(&silent).ends(2, &["1 accepted, 2 cannot tell"]);
}
