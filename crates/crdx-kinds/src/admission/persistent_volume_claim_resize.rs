//! `PersistentVolumeClaimResize`: claims that grow ([`crdx_builtin::volume_resize`]).

use crdx_builtin::volume_resize::{self, Growth, NOT_RESIZABLE};
use crdx_server::cluster_state::{Lookup, STORAGE_CLASSES, Wanted};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Operation, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static PERSISTENT_VOLUME_CLAIM_RESIZE: KindPlugin = KindPlugin {
    operations: &[Operation::Update],
    targets: &[("", "persistentvolumeclaims", "")],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::PersistentVolumeClaimResize)
};

fn validate(request: &mut AdmissionRequest<'_>, object: &Value) -> Result<(), Refusal> {
    let Some(old) = request.old_object else { return Ok(()) };
    let class = match volume_resize::growth(object, old, request.release) {
        Growth::None => return Ok(()),
        Growth::Refused(reason) => return Err(request.forbidden(reason)),
        Growth::OfClass(class) => class,
    };
    match request.object(STORAGE_CLASSES, "", class)? {
        Lookup::Found(class) if volume_resize::allows_growth(&class) => Ok(()),
        Lookup::Found(_) | Lookup::Absent => Err(request.forbidden(NOT_RESIZABLE)),
        Lookup::Unknown => {
            request.leave_open(Wanted::new(STORAGE_CLASSES, "", Some(class)));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use crdx_server::server::{Method, Request, Server};
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
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().build();
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
