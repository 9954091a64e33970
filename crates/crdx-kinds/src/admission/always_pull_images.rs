//! `AlwaysPullImages`: the pull policies of Pods ([`crdx_builtin::admission::pull_policy`]).

use crdx_builtin::admission::pull_policy;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Operation, Refusal};
use crdx_value::Value;

/// The plugin.
pub(crate) static ALWAYS_PULL_IMAGES: KindPlugin = KindPlugin {
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "pods", "")],
    mutate: Some(mutate),
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::AlwaysPullImages)
};

fn is_ignored(request: &AdmissionRequest<'_>, pod: &Value) -> bool {
    request.old_object.is_some_and(|old| pull_policy::is_ignored(pod, old))
}

fn mutate(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<Mutation, Refusal> {
    if is_ignored(request, pod) {
        return Ok(Mutation::Unchanged);
    }
    pull_policy::set(pod);
    Ok(Mutation::Changed)
}

fn validate(request: &mut AdmissionRequest<'_>, pod: &Value) -> Result<(), Refusal> {
    if is_ignored(request, pod) {
        return Ok(());
    }
    let errors = pull_policy::errors(pod);
    let refusals = errors.iter().map(|error| request.forbidden_object(pod, &error.to_string()));
    let messages: Vec<String> = refusals.map(|refusal| refusal.message().to_owned()).collect();
    match messages.as_slice() {
        [] => Ok(()),
        [message] => Err(Refusal::unclassified(message.as_str())),
        messages => Err(Refusal::unclassified(format!("[{}]", messages.join(", ")))),
    }
}
