//! The `PriorityClass`es that an API server creates when it starts (`AddSystemPriorityClasses` in
//! `pkg/registry/scheduling/rest`).

use super::{Method, Request, Server};
use crdx_builtin::priority;
use crdx_value::time::Timestamp;

const PATH: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
/// The field manager that owns the fields of these classes.
const MANAGER: &str = "kube-apiserver";

impl Server {
    /// Creates the classes.
    pub(super) fn create_system_classes(&self, now: Timestamp) {
        for class in priority::system_classes() {
            let request = Request::new(Method::Post, PATH, class);
            let user_agent = Some(MANAGER.to_owned());
            self.handle_owned(Request { user_agent, skips_admission: true, now, ..request });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::fixture;
    use crdx_value::Value;
    use crdx_value::release::Release;

    fn names(server: &Server) -> Vec<String> {
        let (_, list) = fixture::json(server.handle(&Request::new(Method::Get, PATH, "")));
        let items = list.get("items").and_then(Value::as_array).unwrap();
        items.iter().map(|class| class.str_at(&["metadata", "name"]).unwrap().to_owned()).collect()
    }

    #[test]
    fn a_part_of_a_cluster_has_no_system_classes() {
        let builder = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields();
        assert_eq!(
            names(&builder.with_cluster_state(std::sync::Arc::new(crate::cluster_state::UnknownCluster)).build()),
            [""; 0]
        );
    }

    #[test]
    fn system_classes_cannot_be_deleted_by_name() {
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let delete = |path: &str| fixture::json(server.handle(&Request::new(Method::Delete, path, "")));
        let path = format!("{PATH}/system-node-critical");
        let refused = r#"priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted"#;
        let (code, status) = delete(&path);
        assert_eq!((code, status.str_at(&["message"])), (403, Some(refused)));
        assert_eq!(delete(PATH).0, 200);
        assert_eq!(names(&server), [""; 0]);
        assert_eq!(delete(&path).0, 403, "even if it does not exist");
    }
}
