//! Tests a controller in process: its `kube::Client` is one of an [`ApiServer`], watches included, and no port is opened. Needs
//! the features `kube` and `serde`.
//!
//! ```sh
//! cargo run -p crdx-examples --example controller
//! ```
//!
//! The loop over the events of a watch keeps the dependencies of this example small. A controller of `kube::runtime` gets the
//! same client.

use crdx::{ApiServer, ObjectRef};
use futures_util::TryStreamExt;
use futures_util::future::{Either, select};
use kube::api::{Api, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::{Client, CustomResource, CustomResourceExt, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::error::Error;
use std::pin::pin;

/// The desired state of a kite.
#[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "toys.example.com", version = "v1", kind = "Kite", namespaced, status = "KiteStatus")]
struct KiteSpec {
    /// The length of the line, in metres.
    #[schemars(range(min = 1))]
    length: i64,
}

/// The observed state of a kite.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct KiteStatus {
    phase: Phase,
}

/// The phase of a kite.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
enum Phase {
    Packed,
    Flying,
}

/// The controller: reconciles every kite after each change of it.
async fn run(client: Client) -> kube::Result<()> {
    let kites: Api<Kite> = Api::default_namespaced(client);
    let mut events = pin!(kites.watch(&WatchParams::default(), "0").await?);
    while let Some(event) = events.try_next().await? {
        if let WatchEvent::Added(kite) | WatchEvent::Modified(kite) = event {
            reconcile(&kite, &kites).await?;
        }
    }
    Ok(())
}

/// A kite with a line of more than 5 metres flies. Writes nothing if the status is up to date, because its own writes are
/// events, too.
async fn reconcile(kite: &Kite, kites: &Api<Kite>) -> kube::Result<()> {
    let phase = if kite.spec.length > 5 { Phase::Flying } else { Phase::Packed };
    if kite.status.as_ref().is_none_or(|status| status.phase != phase) {
        let status = Patch::Merge(json!({"status": {"phase": phase}}));
        kites.patch_status(&kite.name_any(), &PatchParams::default(), &status).await?;
    }
    Ok(())
}

/// Waits until a kite has a phase, with a watch as every client of a cluster.
async fn wait(kites: &Api<Kite>, name: &str, phase: Phase) -> kube::Result<()> {
    let only = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = pin!(kites.watch(&only, "0").await?);
    while let Some(event) = events.try_next().await? {
        if let WatchEvent::Added(kite) | WatchEvent::Modified(kite) = event
            && kite.status.is_some_and(|status| status.phase == phase)
        {
            break;
        }
    }
    Ok(())
}

/// The test, which runs beside the controller.
async fn kites_fly_if_their_line_is_long(server: ApiServer) -> Result<(), Box<dyn Error>> {
    let kites: Api<Kite> = Api::default_namespaced(server.kube_client());
    wait(&kites, "dragon", Phase::Flying).await?;

    kites.create(&PostParams::default(), &Kite::new("short", KiteSpec { length: 2 })).await?;
    wait(&kites, "short", Phase::Packed).await?;

    let longer = Patch::Merge(json!({"spec": {"length": 6}}));
    kites.patch("short", &PatchParams::default(), &longer).await?;
    wait(&kites, "short", Phase::Flying).await?;

    // The same objects, without a client. A write of the status is no new generation.
    let stored: Kite = server.get(&ObjectRef::new("toys.example.com/v1", "Kite", "short"))?.to()?;
    assert_eq!((stored.metadata.generation, stored.spec.length), (Some(2), 6));
    Ok(())
}

async fn test() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::new();
    server.install(&Kite::crd())?;
    // It exists before the controller starts.
    server.create(&Kite::new("dragon", KiteSpec { length: 30 }))?;

    let controller = pin!(run(server.kube_client()));
    match select(controller, pin!(kites_fly_if_their_line_is_long(server))).await {
        Either::Left((stopped, _)) => Err(format!("the controller stopped: {stopped:?}").into()),
        Either::Right((result, _)) => result,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(test())
}

#[test]
fn a_controller_runs_in_process() {
    main().unwrap();
}
