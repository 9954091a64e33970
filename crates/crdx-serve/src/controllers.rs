//! Runs the server's controllers shortly after the response to the write that triggered them, as the real server does:
//! a client that deletes a CRD and then watches from resourceVersion 0 sees the DELETED event.

use super::clock::now;
use crdx_server::server::Server;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// The delay between a response and the controllers. The real server takes 8 to 17 ms on an idle machine.
const DELAY: Duration = Duration::from_millis(10);

/// The delay before the contents of a deleted namespace are deleted; 5 s in Kubernetes
/// (`pkg/controller/namespace/namespace_controller.go`). Suites for envtest finalize namespaces themselves, right after
/// their deletion.
const NAMESPACE_DELAY: Duration = Duration::from_millis(100);

/// Runs the controllers whenever `due` is notified, until the runtime ends.
pub(super) async fn run(server: Arc<Server>, due: Arc<Notify>) {
    loop {
        due.notified().await;
        tokio::time::sleep(DELAY).await;
        // The controllers need a thread with a large stack; a panic there must not end this task.
        let own = Arc::clone(&server);
        let _ = tokio::task::spawn_blocking(move || own.run_definition_controllers(now())).await;
        let deleted = server.take_deleted_namespaces();
        if !deleted.is_empty() {
            let server = Arc::clone(&server);
            tokio::spawn(async move {
                tokio::time::sleep(NAMESPACE_DELAY).await;
                let _ = tokio::task::spawn_blocking(move || server.finalize_namespaces(&deleted, now())).await;
            });
        }
    }
}
