//! Runs the server's controllers a moment after the answer to the write that made them necessary, as on the real server: a
//! client that deletes a definition and then watches from resourceVersion 0 sees it go away.

use super::http::now;
use crate::server::Server;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// The time between an answer and the controllers. The real server takes 8 to 17 ms on an idle machine.
const DELAY: Duration = Duration::from_millis(10);

/// Runs the controllers whenever `due` is notified, as long as the runtime lives.
pub(super) async fn run(server: Arc<Server>, due: Arc<Notify>) {
    loop {
        due.notified().await;
        tokio::time::sleep(DELAY).await;
        let server = Arc::clone(&server);
        // On a thread with a large stack; a panic there must not end this task.
        let _ = tokio::task::spawn_blocking(move || server.run_controllers(now())).await;
    }
}
