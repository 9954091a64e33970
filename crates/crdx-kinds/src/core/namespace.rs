//! Namespaces, which the server itself serves.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, text};
use crdx_server::server::behaviour;
use crdx_server::server::{Behaviour, InitialStatus, PrinterColumn};

/// The strategy.
pub(crate) static NAMESPACE: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        status: InitialStatus::Phase("Active"),
        fields: Some(&[behaviour::text("status.phase", &[&["status", "phase"]])]),
        ..Behaviour::MOST
    },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] =
    &[NAMED, column("Status", "The status of the namespace", |o, _| text(o, &["status", "phase"]).into()), AGE];

#[cfg(test)]
mod tests {
    use crdx_server::server::{Method, Namespaces, Request, Response, ResponseBody};
    use crdx_value::Value;
    use crdx_value::release::Release;

    #[test]
    fn the_phase_follows_from_the_deletion() {
        let server = crate::builder(Release::NEWEST, 1)
            .with_namespaces(Namespaces::Finalized, &["north".to_owned()])
            .with_content_validation()
            .build();
        let patch = |status: &str| {
            let body = format!(r#"{{"status":{status}}}"#);
            server.handle(&Request::new(Method::Patch, "/api/v1/namespaces/north/status", body.as_str()))
        };
        let condition = r#"{"type":"A","status":"True"}"#;
        assert_eq!(patch(&format!(r#"{{"conditions":[{condition},{condition}]}}"#)).code, 200);
        let text =
            r#"status.Phase: Invalid value: "Terminating": may only be 'Active' if `deletionTimestamp` is empty"#;
        let refused = patch(r#"{"phase":"Terminating"}"#);
        assert!(refused.code == 422 && refused.body.message().ends_with(text), "{}", refused.body.message());
    }

    #[test]
    fn a_null_in_an_apply_gives_the_phase_its_default() {
        let server = crate::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Finalized, &["north".to_owned()]);
        let server = server.with_content_validation().build();
        let body = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"north"},"status":{"phase":null}}"#;
        let path = "/api/v1/namespaces/north/status?fieldManager=a&force=true";
        let applied = server.handle(&Request {
            content_type: Some("application/apply-patch+yaml".into()),
            ..Request::new(Method::Patch, path, body)
        });
        assert_eq!(applied.code, 200, "{}", applied.body.message());
    }

    #[test]
    fn the_status_of_a_namespace_without_finalization_is_written_and_validated() {
        let server = crate::builder(Release::NEWEST, 1).with_namespaces(Namespaces::Unchecked, &["north".to_owned()]);
        let server = server.with_content_validation().build();
        let patch = |path: &str, body: &str| {
            let path = format!("/api/v1/namespaces/north{path}");
            server.handle(&Request::new(Method::Patch, &path, body))
        };
        let conditions = |response: Response| match response.body {
            ResponseBody::Json(body) => body.at(&["status", "conditions"]).and_then(Value::as_array).map(<[_]>::len),
            ResponseBody::Text(text) => panic!("{text}"),
        };
        let written = patch("/status", r#"{"status":{"conditions":[{"type":"A","status":"True"}]}}"#);
        assert_eq!(conditions(written), Some(1));
        assert_eq!(conditions(patch("", r#"{"metadata":{"labels":{"a":"b"}}}"#)), Some(1));
        assert_eq!(patch("/status", r#"{"status":{"phase":"Terminating"}}"#).code, 422);
    }
}
