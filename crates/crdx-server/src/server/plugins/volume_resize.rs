//! `PersistentVolumeClaimResize`: claims that grow ([`crdx_builtin::volume_resize`]).

use crate::cluster_state::{Lookup, STORAGE_CLASSES, Wanted};
use crate::server::admission::{Attributes, Operation, Plugin, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::plugins::cluster::Cluster;
use crate::server::strategy::resources::Resources;
use crdx_builtin::volume_resize::{self, Growth, NOT_RESIZABLE};
use crdx_value::Value;
use std::sync::Arc;

/// The `PersistentVolumeClaimResize` plugin.
#[derive(Debug)]
pub(super) struct PersistentVolumeClaimResize {
    resources: Arc<Resources>,
}

impl PersistentVolumeClaimResize {
    /// Creates the plugin; `None` if the server has no `StorageClass`es.
    pub fn new(resources: &Arc<Resources>) -> Option<Self> {
        let has_classes = resources.get("storageclasses.storage.k8s.io").is_some();
        has_classes.then(|| Self { resources: Arc::clone(resources) })
    }
}

impl Plugin for PersistentVolumeClaimResize {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Update
    }

    fn mutates(&self) -> bool {
        false
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let Attributes { resource, subresource, old_object, given, .. } = *attributes;
        let (Some(object), Some(old)) = (object, old_object) else { return Ok(()) };
        if (resource.group, resource.resource, subresource) != ("", "persistentvolumeclaims", "") {
            return Ok(());
        }
        let class = match volume_resize::growth(object, old) {
            Growth::None => return Ok(()),
            Growth::Refused(reason) => return Err(attributes.forbidden(reason)),
            Growth::OfClass(class) => class,
        };
        match Cluster::new(&self.resources, given, calls).object(STORAGE_CLASSES, "", class)? {
            Lookup::Found(class) if volume_resize::allows_growth(&class) => Ok(()),
            Lookup::Found(_) | Lookup::Absent => Err(attributes.forbidden(NOT_RESIZABLE)),
            Lookup::Unknown => {
                report.unknown.push(Wanted::new(STORAGE_CLASSES, "", Some(class)));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::server::{Method, Request, Server};
    use crdx_value::release::Release;

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, String) {
        let mut request = Request::new(method, path, body);
        request.content_type = (method == Method::Patch).then(|| "application/merge-patch+json".to_owned());
        let response = server.handle(&request);
        (response.code, response.body.message().to_owned())
    }

    #[test]
    fn a_claim_grows_if_its_class_allows_it() {
        const CLAIM: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
        const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
        let server = Server::builder(Release::NEWEST, 0).with_built_in_kinds().build();
        let claim = r#"{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"fast",
            "resources":{"requests":{"storage":"1Gi"}}}}"#;
        assert_eq!(send(&server, Method::Post, CLAIM, claim).0, 201);
        let bound = r#"{"status":{"phase":"Bound"}}"#;
        assert_eq!(send(&server, Method::Patch, &format!("{CLAIM}/c/status"), bound).0, 200);
        let grow = || {
            let larger = r#"{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}"#;
            send(&server, Method::Patch, &format!("{CLAIM}/c?dryRun=All"), larger)
        };
        let refused = r#"persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"#;
        assert_eq!(grow(), (403, refused.to_owned()), "there is no class");
        let class = r#"{"metadata":{"name":"fast"},"provisioner":"example.com/a"}"#;
        assert_eq!(send(&server, Method::Post, CLASSES, class).0, 201);
        assert_eq!(grow(), (403, refused.to_owned()));
        let allowed = r#"{"allowVolumeExpansion":true}"#;
        assert_eq!(send(&server, Method::Patch, &format!("{CLASSES}/fast"), allowed).0, 200);
        assert_eq!(grow().0, 200);
    }
}
