//! `PriorityClass`es.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, int, text};
use crdx_builtin::priority;
use crdx_server::server::{Behaviour, GenerationRule, KindStrategy, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::Minor;

/// The strategy.
#[derive(Debug)]
pub(crate) struct PriorityClass;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        generation: GenerationRule::Constant,
        relaxes_prefix_since: Minor::ALWAYS,
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

impl KindStrategy for PriorityClass {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    /// `REST.Delete` in `pkg/registry/scheduling/priorityclass/storage`
    fn deletion_refusal(&self, name: &str) -> Option<&'static str> {
        priority::system_value(name).map(|_| "this is a system priority class and cannot be deleted")
    }
}

/// The classes that an API server creates when it starts (`AddSystemPriorityClasses` in `pkg/registry/scheduling/rest`).
pub(crate) fn system_classes() -> Vec<(&'static str, Value)> {
    priority::system_classes().map(|class| (PATH, class)).collect()
}

const PATH: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Value", "", |o, _| int(o, &["value"]).into()),
    column("Global-Default", "", |o, _| o.get("globalDefault").and_then(Value::as_bool).unwrap_or_default().into()),
    AGE,
    column("PreemptionPolicy", "", |o, _| text(o, &["preemptionPolicy"]).into()),
];

#[cfg(test)]
mod tests {
    use super::PATH;
    use crate::tests::code_and_body;
    use crdx_server::cluster_state::UnknownCluster;
    use crdx_server::server::{Method, Request, ResponseBody, Server};
    use crdx_value::release::Release;
    use crdx_value::{Value, json};
    use std::sync::Arc;

    #[test]
    fn a_whole_server_has_the_system_classes() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let path = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical";
        let ResponseBody::Json(class) = server.handle(&Request::new(Method::Get, path, "")).body else {
            panic!("a class is JSON")
        };
        assert_eq!(class.get("value"), Some(&Value::Int(2_000_001_000)));
        assert_eq!(class.at(&["metadata", "generation"]), Some(&Value::Int(1)));
        let fields = class.at(&["metadata", "managedFields"]).and_then(Value::as_array).unwrap();
        assert_eq!(fields[0].str_at(&["manager"]), Some("kube-apiserver"));
        let owned = fields[0].get("fieldsV1").map(json::to_string);
        assert_eq!(owned.as_deref(), Some(r#"{"f:description":{},"f:preemptionPolicy":{},"f:value":{}}"#));
    }

    fn names(server: &Server) -> Vec<String> {
        let (_, list) = code_and_body(server.handle(&Request::new(Method::Get, PATH, "")));
        let items = list.get("items").and_then(Value::as_array).unwrap();
        items.iter().map(|class| class.str_at(&["metadata", "name"]).unwrap().to_owned()).collect()
    }

    #[test]
    fn a_part_of_a_cluster_has_no_system_classes() {
        let builder = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields();
        assert_eq!(names(&builder.with_cluster_state(Arc::new(UnknownCluster)).build()), [""; 0]);
    }

    #[test]
    fn system_classes_cannot_be_deleted_by_name() {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_generated_fields().build();
        let delete = |path: &str| code_and_body(server.handle(&Request::new(Method::Delete, path, "")));
        let path = format!("{PATH}/system-node-critical");
        let refused = r#"priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted"#;
        let (code, status) = delete(&path);
        assert_eq!((code, status.str_at(&["message"])), (403, Some(refused)));
        assert_eq!(delete(PATH).0, 200);
        assert_eq!(names(&server), [""; 0]);
        assert_eq!(delete(&path).0, 403, "even if it does not exist");
    }
}
