//! `PodNodeSelector`: the node selectors of a namespace ([`crdx_builtin::admission::node_selector`]).

use super::{configuration, namespace};
use crdx_builtin::admission::node_selector::{NodeSelectors, Refused};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static POD_NODE_SELECTOR: KindPlugin = KindPlugin {
    targets: &[("", "pods", "")],
    mutate: Some(mutate),
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::PodNodeSelector)
};

fn selectors(request: &AdmissionRequest<'_>) -> NodeSelectors {
    request.configuration.map(configuration::node_selectors).unwrap_or_default()
}

fn refusal(request: &AdmissionRequest<'_>, refused: Refused) -> Refusal {
    match refused {
        Refused::Forbidden(reason) => request.forbidden(reason),
        Refused::Unreadable(error) => Refusal::unclassified(error.to_string()),
    }
}

fn mutate(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<Mutation, Refusal> {
    let Some(namespace) = namespace(request)? else { return Ok(Mutation::Unchanged) };
    let admitted = selectors(request).admit(pod, &namespace, request.release);
    let is_changed = admitted.map_err(|refused| refusal(request, refused))?;
    Ok(if is_changed { Mutation::Changed } else { Mutation::Unchanged })
}

fn validate(request: &mut AdmissionRequest<'_>, pod: &Value) -> Result<(), Refusal> {
    let Some(namespace) = namespace(request)? else { return Ok(()) };
    let valid = selectors(request).validate(pod, &namespace, request.release);
    valid.map_err(|refused| refusal(request, refused))
}
