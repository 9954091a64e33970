//! A kube-rs controller as a test client: it lists and watches, sets a finalizer on its objects, writes status, and
//! removes the finalizer when an object is deleted.
//!
//! usage: crdx-client-kube URL. Prints the events it received, and fails if the server behaves differently from the
//! real one.

use futures::{StreamExt, TryStreamExt};
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Event, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Client, Config, ResourceExt};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const FINALIZER: &str = "toys.example.com/landed";

struct Counts {
    api: Api<DynamicObject>,
    applied: AtomicUsize,
    cleaned: AtomicUsize,
}

async fn reconcile(kite: Arc<DynamicObject>, counts: Arc<Counts>) -> Result<Action, kube::runtime::finalizer::Error<kube::Error>> {
    let api = counts.api.clone();
    finalizer(&api, FINALIZER, kite, |event| async {
        match event {
            Event::Apply(kite) => {
                counts.applied.fetch_add(1, Ordering::SeqCst);
                let status = json!({"status": {"flying": kite.data["spec"]["length"]}});
                counts.api.patch_status(&kite.name_any(), &PatchParams::default(), &Patch::Merge(status)).await?;
            }
            Event::Cleanup(_) => {
                counts.cleaned.fetch_add(1, Ordering::SeqCst);
            }
        }
        Ok(Action::await_change())
    })
    .await
}

async fn soon<F: Future<Output = bool>>(what: &str, mut check: impl FnMut() -> F) -> Result<(), Failure> {
    for _ in 0..300 {
        if check().await {
            println!("ok: {what}");
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(format!("not within 30 s: {what}").into())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().nth(1).ok_or("usage: crdx-client-kube URL")?;
    let client = Client::try_from(Config::new(url.parse()?))?;
    println!("server {}", client.apiserver_version().await?.git_version);

    let crds: Api<DynamicObject> = Api::all_with(
        client.clone(),
        &ApiResource::from_gvk_with_plural(
            &kube::api::GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
            "customresourcedefinitions",
        ),
    );
    let crd: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.toys.example.com"},
        "spec": {"group": "toys.example.com", "scope": "Namespaced", "names": {"plural": "kites", "kind": "Kite"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"length": {"type": "integer", "minimum": 1}}},
                    "status": {"type": "object", "properties": {"flying": {"type": "integer"}}}}}}}]}
    }))?;
    crds.create(&PostParams::default(), &crd).await?;
    soon("the CRD is established", || async {
        crds.get("kites.toys.example.com").await.is_ok_and(|crd| crd.data["status"]["conditions"].to_string().contains("Established"))
    })
    .await?;

    let kind = kube::api::GroupVersionKind::gvk("toys.example.com", "v1", "Kite");
    let (resource, capabilities) = kube::discovery::pinned_kind(&client, &kind).await?;
    println!("discovered {} {:?}", resource.plural, capabilities.scope);
    let kites: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &resource);
    let kite = |name: &str, length: i64| -> Result<DynamicObject, Failure> {
        let mut kite = DynamicObject::new(name, &resource);
        kite.data = json!({"spec": {"length": length}});
        Ok(kite)
    };

    // A store maintained by a watch, as every controller has one.
    let writer = reflector::store::Writer::new(resource.clone());
    let reader = writer.as_reader();
    let stream = reflector(writer, watcher(kites.clone(), watcher::Config::default())).default_backoff().applied_objects();
    let reflecting = tokio::spawn(stream.for_each(|_| async {}));

    let counts = Arc::new(Counts { api: kites.clone(), applied: AtomicUsize::new(0), cleaned: AtomicUsize::new(0) });
    let controller = Controller::new_with(kites.clone(), watcher::Config::default().streaming_lists(), resource.clone())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(200)), Arc::clone(&counts))
        .for_each(|_| async {});
    let controlling = tokio::spawn(controller);

    for (name, length) in [("a", 1), ("b", 2), ("c", 3)] {
        kites.create(&PostParams::default(), &kite(name, length)?).await?;
    }
    let refused = kites.create(&PostParams::default(), &kite("d", 0)?).await;
    match refused {
        Err(kube::Error::Api(status)) if status.code == 422 => println!("ok: refused: {}", status.message),
        other => return Err(format!("a length of 0 was not refused: {other:?}").into()),
    }
    soon("the controller wrote every status, under its finalizer", || async {
        let Ok(list) = kites.list(&Default::default()).await else { return false };
        list.items.len() == 3
            && list.items.iter().all(|k| k.data["status"]["flying"] == k.data["spec"]["length"] && k.finalizers() == [FINALIZER])
    })
    .await?;
    soon("the store of the reflector holds the same", || async { reader.state().len() == 3 }).await?;

    // A watch without the library's cache, from a version: events are in order.
    let list = kites.list(&Default::default()).await?;
    let from = list.metadata.resource_version.unwrap_or_default();
    let mut events = kites.watch(&WatchParams::default().timeout(20), &from).await?.boxed();
    let apply = Patch::Apply(json!({"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": "a"}, "spec": {"length": 9}}));
    kites.patch("a", &PatchParams::apply("crdx").force(), &apply).await?;
    kites.delete("b", &DeleteParams::default()).await?;
    let (mut modified, mut deleted) = (false, false);
    while let Some(event) = events.try_next().await? {
        match event {
            WatchEvent::Modified(kite) if kite.name_any() == "a" && kite.data["spec"]["length"] == 9 => modified = true,
            WatchEvent::Deleted(kite) if kite.name_any() == "b" => deleted = true,
            WatchEvent::Error(error) => return Err(format!("the watch failed: {error:?}").into()),
            _ => {}
        }
        if modified && deleted {
            break;
        }
    }
    println!("ok: the watch told of a change and a removal");
    soon("the controller let go of what was deleted", || async {
        counts.cleaned.load(Ordering::SeqCst) == 1 && kites.get_opt("b").await.is_ok_and(|k| k.is_none())
    })
    .await?;
    soon("the store of the reflector forgot it", || async { reader.state().len() == 2 }).await?;

    let uid = kites.get("c").await?.uid().unwrap_or_default();
    kites.delete("c", &DeleteParams::default()).await?;
    tokio::time::timeout(Duration::from_secs(20), await_condition(kites.clone(), "c", conditions::is_deleted(&uid))).await??;
    println!("ok: await_condition saw it go");
    println!("reconciled {} times, cleaned up {}", counts.applied.load(Ordering::SeqCst), counts.cleaned.load(Ordering::SeqCst));
    controlling.abort();
    reflecting.abort();
    Ok(())
}
