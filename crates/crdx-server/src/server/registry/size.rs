//! Rejects objects that are too large for etcd. A dry run never reaches etcd; it is only checked if it stands for a real
//! write.

use super::Registry;
use crate::server::http::response::Trace;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::registry::etcd::{Put, REQUEST_LIMIT, Size, too_large};
use crate::server::registry::strategy::Strategy;
use crate::server::registry::written::Written;
use crdx_value::{Value, json};

/// The room for keys, and for other differences between the JSON of an object and the request.
const MARGIN: usize = 16 << 10;

/// Whether a write is repeated without `managedFields` if it is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ManagedFields {
    /// The handlers of creates, updates and patches drop them (`isTooLargeError` in `endpoints/handlers/rest.go`).
    Dropped,
    /// An apply and a removal keep them.
    Kept,
}

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Rejects an object that is too large for etcd, or drops its `managedFields` if it is small enough without them.
    /// `expected` is the revision of the existing object; `None` for a create that is not an apply.
    ///
    /// # Errors
    /// Returns the error of etcd or of its client.
    pub(super) fn check_size(
        &self,
        trace: &mut Trace,
        (key, expected): (&str, Option<u64>),
        written: &mut Written,
        managed_fields: ManagedFields,
    ) -> Result<(), Refusal> {
        if !json::is_longer_than(&written.raw, REQUEST_LIMIT - 2 * MARGIN) {
            return Ok(());
        }
        let key = [self.strategy.etcd_prefix().as_str(), key].concat();
        let put = |raw: &Value| Put { key: &key, value: self.strategy.stored_length(raw), expected };
        if managed_fields == ManagedFields::Dropped && !put(&written.raw).fits_here() {
            for object in std::iter::once(&mut written.raw).chain(&mut written.shown) {
                metadata::set(object, "managedFields", None);
            }
        }
        let put = put(&written.raw);
        match put.size() {
            Size::TooLarge(refusal) => {
                trace.is_too_large = true;
                Err(refusal)
            }
            Size::Fits => {
                // The managedFields of an apply are stored, too; a server that does not track them cannot tell their
                // length.
                let is_untracked = managed_fields == ManagedFields::Kept && !self.storage.tracks_fields;
                trace.size_depends = is_untracked && !Put { value: put.value + MARGIN, ..put }.fits_here();
                Ok(())
            }
            Size::Depends => {
                trace.size_depends = true;
                if put.fits_here() { Ok(()) } else { Err(too_large()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::server::{DEFINITIONS, Method, Request, Response, ResponseBody, Server};
    use crdx_value::Value;
    use crdx_value::release::Release;

    const KITES: &str = "/apis/toys.example.com/v1/namespaces/default/kites";
    const TOO_LARGE: &str = "etcdserver: request is too large";
    const KITE: &str = r#"{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
        "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}"#;

    fn definition(plural: &str, versions: &str, conversion: &str) -> String {
        let singular = plural.strip_suffix('s').unwrap();
        let kind = singular.replacen(|_| true, &singular.get(..1).unwrap().to_uppercase(), 1);
        format!(
            r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{plural}.toys.example.com"}},
            "spec":{{"group":"toys.example.com","scope":"Namespaced",{conversion}"versions":[{versions}],
            "names":{{"plural":"{plural}","singular":"{singular}","kind":"{kind}","listKind":"{kind}List"}}}}}}"#
        )
    }

    fn version(name: &str, storage: bool, schema: &str, columns: &str) -> String {
        format!(
            r#"{{"name":"{name}","served":true,"storage":{storage},"subresources":{{"status":{{}}}},{columns}"schema":{{"openAPIV3Schema":{schema}}}}}"#
        )
    }

    fn server() -> Server {
        let server = Server::new(Release::NEWEST, 1);
        let crd = definition("kites", &version("v1", true, KITE, ""), "");
        assert_eq!(send(&server, Method::Post, &crds(), &crd).0, 201);
        server
    }

    fn crds() -> String {
        format!("/apis/apiextensions.k8s.io/v1/{}", DEFINITIONS.split_once('.').unwrap().0)
    }

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
        read(server.handle(&Request::new(method, path, body)))
    }

    fn read(response: Response) -> (u16, Value) {
        match response.body {
            ResponseBody::Json(body) => (response.code, std::sync::Arc::unwrap_or_clone(body)),
            ResponseBody::Text(text) => panic!("{text}"),
        }
    }

    fn message(answer: &(u16, Value)) -> &str {
        answer.1.str_at(&["message"]).unwrap_or_default()
    }

    fn kite(name: &str, length: usize) -> String {
        let text = "x".repeat(length);
        format!(
            r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"{name}"}},"spec":{{"text":"{text}"}}}}"#
        )
    }

    /// The lengths are those that kube-apiserver 1.37.2 with etcd 3.7.0 accepts and refuses.
    #[test]
    fn the_largest_object_is_that_of_the_real_server() {
        let server = server();
        let create = |length| {
            let created = send(&server, Method::Post, KITES, &kite("b", length));
            let managed = created.1.at(&["metadata", "managedFields"]).is_some();
            send(&server, Method::Delete, &format!("{KITES}/b"), "");
            (created.0, managed)
        };
        assert_eq!(create(1_572_329), (201, true));
        // The handler repeats the write without managedFields.
        assert_eq!((create(1_572_330), create(1_572_522)), ((201, false), (201, false)));
        let refused = send(&server, Method::Post, KITES, &kite("b", 1_572_523));
        assert_eq!((refused.0, message(&refused)), (500, TOO_LARGE));
        assert_eq!(refused.1.get("reason"), None);
        let over = |transaction: usize| {
            format!(
                "rpc error: code = ResourceExhausted desc = trying to send message larger than max ({transaction} vs. 2097152)"
            )
        };
        let refused = send(&server, Method::Post, KITES, &kite("b", 2_097_052));
        assert_eq!((refused.0, message(&refused)), (500, over(2_097_380).as_str()));
        let refused = send(&server, Method::Post, KITES, &kite("b", super::super::super::BODY_LIMIT));
        assert_eq!((refused.0, message(&refused)), (413, "Request entity too large: limit is 3145728"));
        // A dry run does not reach etcd.
        let dry_run = format!("{KITES}?dryRun=All");
        assert_eq!(send(&server, Method::Post, &dry_run, &kite("b", 2_097_052)).0, 201);
        // Etcd refuses the request before it looks whether the name is taken.
        assert_eq!(send(&server, Method::Post, KITES, &kite("b", 10)).0, 201);
        assert_eq!(message(&send(&server, Method::Post, KITES, &kite("b", 1_600_000))), TOO_LARGE);
    }

    #[test]
    fn the_managed_fields_of_an_apply_are_kept() {
        let server = server();
        let apply = |length| {
            let mut request =
                Request::new(Method::Patch, &format!("{KITES}/q?fieldManager=m"), kite("q", length).as_str());
            request.content_type = Some("application/apply-patch+yaml".to_owned());
            let applied = read(server.handle(&request));
            send(&server, Method::Delete, &format!("{KITES}/q"), "");
            (applied.0, message(&applied).to_owned())
        };
        assert_eq!(apply(1_572_295).0, 201);
        assert_eq!(apply(1_572_296), (500, TOO_LARGE.to_owned()));
        assert!(apply(2_200_000).1.ends_with("trying to send message larger than max (2200555 vs. 2097152)"));
    }

    #[test]
    fn every_write_of_an_existing_object_is_limited() {
        let server = server();
        assert_eq!(send(&server, Method::Post, KITES, &kite("u", 10)).0, 201);
        let path = format!("{KITES}/u");
        for (part, length) in [("spec", 1_600_000), ("status", 1_600_000)] {
            let path = if part == "status" { format!("{path}/status") } else { path.clone() };
            let patch = format!(r#"{{"{part}":{{"text":"{}"}}}}"#, "y".repeat(length));
            let refused = send(&server, Method::Patch, &path, &patch);
            assert_eq!((refused.0, message(&refused)), (500, TOO_LARGE), "{part}");
        }
        let (_, object) = send(&server, Method::Get, &path, "");
        let revision = object.str_at(&["metadata", "resourceVersion"]).unwrap();
        let body =
            kite("u", 1_600_000).replace(r#""name":"u""#, &format!(r#""name":"u","resourceVersion":"{revision}""#));
        let refused = send(&server, Method::Put, &path, &body);
        assert_eq!((refused.0, message(&refused)), (500, TOO_LARGE));
        // Finalizers make a removal an update, which adds a time.
        let patch = format!(r#"{{"metadata":{{"finalizers":["a/b"]}},"spec":{{"text":"{}"}}}}"#, "y".repeat(1_572_430));
        assert_eq!(send(&server, Method::Patch, &path, &patch).0, 200);
        let refused = send(&server, Method::Delete, &path, "");
        assert_eq!((refused.0, message(&refused)), (500, TOO_LARGE));
    }

    /// The numbers are those of kube-apiserver 1.37.2, which stores CRDs as v1beta1.
    #[test]
    fn a_definition_is_measured_as_it_is_stored() {
        let server = server();
        let schema = KITE.replacen('{', &format!("{{\"description\":\"{}\",", "d".repeat(2_200_000)), 1);
        let columns = r#""additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".spec.a"}],"#;
        let first = version("v1", true, &schema, columns);
        let second = version("v2", false, &KITE.replacen('{', r#"{"description":"e","#, 1), "");
        let conversion = r#""conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://localhost:1/x"}}},"#;
        for (versions, conversion, length) in [
            (first.clone(), "", 2_201_107),
            (first.clone(), conversion, 2_201_198),
            (format!("{first},{second}"), conversion, 2_201_458),
        ] {
            let refused = send(&server, Method::Post, &crds(), &definition("bites", &versions, conversion));
            let expected = format!("trying to send message larger than max ({length} vs. 2097152)");
            assert!(refused.0 == 500 && message(&refused).ends_with(&expected), "{length}: {}", message(&refused));
        }
    }
}
