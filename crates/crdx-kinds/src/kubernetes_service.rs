//! The Service with which clients in a cluster find the API server.

use crdx_server::server::{Method, Request, Server, Timestamp};
use crdx_value::{Value, object};

/// Creates the Service `kubernetes` in the namespace `default`, as API servers do (`kubernetesservice/controller.go`). Its cluster IP is
/// the first address of the first range.
pub fn publish(server: &Server, cluster_ip: &str, target_port: u16, now: Timestamp) {
    const PATH: &str = "/api/v1/namespaces/default/services?fieldManager=kube-apiserver";
    let number = |port: u16| Value::Int(port.into());
    let https = object([
        ("name", Value::from("https")),
        ("port", number(443)),
        ("protocol", "TCP".into()),
        ("targetPort", number(target_port)),
    ]);
    let labels = object([("component", Value::from("apiserver")), ("provider", "kubernetes".into())]);
    let spec = object([
        ("clusterIP", Value::from(cluster_ip)),
        ("ipFamilyPolicy", "SingleStack".into()),
        ("ports", vec![https].into()),
    ]);
    let service = object([
        ("apiVersion", Value::from("v1")),
        ("kind", "Service".into()),
        ("metadata", object([("name", Value::from("kubernetes")), ("labels", labels)])),
        ("spec", spec),
    ]);
    let request = Request { now, ..Request::new(Method::Post, PATH, service) };
    server.handle(&request);
}
