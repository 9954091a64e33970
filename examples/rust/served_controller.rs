//! A test of a kube-rs controller in process: the server with the CRD of the controller runs on a free port, so tests can run
//! concurrently, and ends with the test.
//!
//! In a project, kubectl-crdx is a dev-dependency, and `reconcile` is the function that the project gives to
//! `kube::runtime::Controller`.
//!
//! `cargo test -p crdx-examples --example served_controller`
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test")]

use crdx_serve::Running;
use crdx_server::server::{Method, Request, Server};
use crdx_value::release::Release;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::json;
use std::error::Error;
use std::sync::Arc;

const CRD: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.toys.example.com}
spec:
  group: toys.example.com
  scope: Namespaced
  names: {plural: kites, kind: Kite}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              length: {type: integer, minimum: 1, default: 10}
          status:
            type: object
            properties:
              phase: {type: string, enum: [Packed, Flying]}
";

/// The controller: a kite with a line of more than 5 metres flies.
async fn reconcile(kite: &DynamicObject, kites: &Api<DynamicObject>) -> kube::Result<()> {
    let length = kite.data["spec"]["length"].as_i64().unwrap_or_default();
    let status = json!({"status": {"phase": if length > 5 { "Flying" } else { "Packed" }}});
    let name = kite.metadata.name.as_deref().unwrap_or_default();
    kites.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.map(|_| ())
}

/// The server with the CRD, and a client of it.
fn start() -> Result<(Running, kube::Client), Box<dyn Error>> {
    let server = Server::new(Release::NEWEST, crdx_serve::seed());
    let crd = crdx_text::yaml::read(CRD.as_bytes()).map_err(|error| error.message)?;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(server.handle(&Request::new(Method::Post, path, crd)).code, 201);
    let running =
        crdx_serve::start(crdx_serve::Runtime::new()?, Arc::new(server), crdx_serve::ServeOptions::default())?;
    let client = kube::Client::try_from(kube::Config::new(running.url().parse()?))?;
    Ok((running, client))
}

async fn a_long_kite_flies() -> Result<(), Box<dyn Error>> {
    let (_running, client) = start()?;
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("toys.example.com", "v1", "Kite"));
    let kites: Api<DynamicObject> = Api::namespaced_with(client, "default", &resource);

    // The server sets the default of the CRD.
    let kite = kites.create(&PostParams::default(), &DynamicObject::new("dragon", &resource)).await?;
    assert_eq!(kite.data.get("spec"), None);
    let mut long = DynamicObject::new("long", &resource);
    long.data = json!({"spec": {}});
    let long = kites.create(&PostParams::default(), &long).await?;
    assert_eq!(long.data["spec"]["length"], 10);

    reconcile(&long, &kites).await?;
    let flying = kites.get("long").await?;
    assert_eq!(flying.data["status"]["phase"], "Flying");

    // The server rejects what the CRD rejects.
    let wrong = json!({"spec": {"length": 0}});
    let refused = kites.patch("long", &PatchParams::default(), &Patch::Merge(wrong)).await.unwrap_err();
    assert!(refused.to_string().contains("should be greater than or equal to 1"), "{refused}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(a_long_kite_flies())
}

#[test]
fn controller() {
    main().unwrap();
}
