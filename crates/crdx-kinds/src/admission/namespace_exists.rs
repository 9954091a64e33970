//! `NamespaceExists` (`plugin/pkg/admission/namespace/exists`): objects in a namespace that does not exist.

use crdx_server::cluster_state::{Lookup, NAMESPACES};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Operation, PluginServers, Refusal};
use crdx_value::Value;
use crdx_value::group_version::GroupResource;

/// The plugin, also for custom resources.
pub(crate) static NAMESPACE_EXISTS: KindPlugin = KindPlugin {
    servers: PluginServers::All,
    operations: &[Operation::Create, Operation::Update],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::NamespaceExists)
};

fn validate(request: &mut AdmissionRequest<'_>, _: &Value) -> Result<(), Refusal> {
    let is_namespace = (request.resource.group, request.resource.resource) == ("", "namespaces");
    if request.namespace.is_empty() || is_namespace {
        return Ok(());
    }
    match request.object(NAMESPACES, "", request.namespace)? {
        Lookup::Absent => {
            let of = GroupResource { group: "", resource: "namespaces" };
            Err(Refusal::not_found(of, request.namespace))
        }
        Lookup::Found(_) | Lookup::Unknown => Ok(()),
    }
}
