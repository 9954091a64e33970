//! The objects that an API server creates when it starts.

use super::{Method, Request, Server};
use crdx_value::time::Timestamp;

/// The field manager that owns the fields of these objects.
const MANAGER: &str = "kube-apiserver";

impl Server {
    /// Creates the objects.
    pub(super) fn create_initial_objects(&self, now: Timestamp) {
        for (path, object) in (self.resources().kinds.initial_objects)() {
            let request = Request::new(Method::Post, path, object);
            let user_agent = Some(MANAGER.to_owned());
            self.handle_owned(Request { user_agent, skips_admission: true, now, ..request });
        }
    }
}
