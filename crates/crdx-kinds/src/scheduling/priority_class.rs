//! `PriorityClass`es.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, int, text};
use crdx_server::server::{Behaviour, GenerationRule, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::Minor;

/// The strategy.
pub(crate) static PRIORITY_CLASS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        generation: GenerationRule::Constant,
        relaxes_prefix_since: Minor::ALWAYS,
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Value", "", |o, _| int(o, &["value"]).into()),
    column("Global-Default", "", |o, _| o.get("globalDefault").and_then(Value::as_bool).unwrap_or_default().into()),
    AGE,
    column("PreemptionPolicy", "", |o, _| text(o, &["preemptionPolicy"]).into()),
];

#[cfg(test)]
mod tests {
    use crdx_server::server::{Method, Request, ResponseBody};
    use crdx_value::release::Release;
    use crdx_value::{Value, json};

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
}
