//! `StorageObjectInUseProtection`: the finalizers of volumes, claims and classes
//! (`plugin/pkg/admission/storage/storageobjectinuseprotection`).

use crate::admission::{append, items};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, PluginServers, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static STORAGE_OBJECT_IN_USE_PROTECTION: KindPlugin = KindPlugin {
    servers: PluginServers::WithGeneratedFields,
    targets: &[
        ("", "persistentvolumes", ""),
        ("", "persistentvolumeclaims", ""),
        ("storage.k8s.io", "volumeattributesclasses", ""),
    ],
    completes_stored_objects: true,
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::StorageObjectInUseProtection)
};

/// Finalizers have no defaults, so the object is not changed in the sense of [`Mutation`].
fn mutate(request: &mut AdmissionRequest<'_>, object: &mut Value) -> Result<Mutation, Refusal> {
    let path = ["metadata", "finalizers"];
    let finalizer = match request.resource.resource {
        "persistentvolumes" => "kubernetes.io/pv-protection",
        "persistentvolumeclaims" => "kubernetes.io/pvc-protection",
        _ => "kubernetes.io/vac-protection",
    };
    if !items(object, &path).iter().any(|other| other.as_str() == Some(finalizer)) {
        append(object, &path, finalizer.into());
    }
    Ok(Mutation::Unchanged)
}
