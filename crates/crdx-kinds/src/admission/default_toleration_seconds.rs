//! `DefaultTolerationSeconds`: Pods leave a Node that is not ready after five minutes
//! (`plugin/pkg/admission/defaulttolerationseconds`).

use crate::admission::{append, items};
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Mutation, Operation, PluginServers, Refusal};
use crdx_value::{Value, object};

/// The plugin.
pub(crate) static DEFAULT_TOLERATION_SECONDS: KindPlugin = KindPlugin {
    servers: PluginServers::WithGeneratedFields,
    operations: &[Operation::Create, Operation::Update],
    targets: &[("", "pods", "")],
    completes_stored_objects: true,
    mutate: Some(mutate),
    ..KindPlugin::new(AdmissionPlugin::DefaultTolerationSeconds)
};

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const NO_EXECUTE: &str = "NoExecute";
const DEFAULT_SECONDS: i64 = 300;

/// Tolerations have no defaults, so the object is not changed in the sense of [`Mutation`].
fn mutate(request: &mut AdmissionRequest<'_>, pod: &mut Value) -> Result<Mutation, Refusal> {
    let path = ["spec", "tolerations"];
    let seconds = |flag: &str| request.configuration?.get(flag)?.as_int();
    for (key, flag) in [(NOT_READY, "notReady"), (UNREACHABLE, "unreachable")] {
        let matches = |toleration: &Value, field, text| {
            let found = toleration.str_at(&[field]).unwrap_or_default();
            found.is_empty() || found == text
        };
        let tolerates = |toleration| matches(toleration, "key", key) && matches(toleration, "effect", NO_EXECUTE);
        if !items(pod, &path).iter().any(tolerates) {
            let toleration = object([
                ("effect", Value::from(NO_EXECUTE)),
                ("key", key.into()),
                ("operator", "Exists".into()),
                ("tolerationSeconds", Value::Int(seconds(flag).unwrap_or(DEFAULT_SECONDS))),
            ]);
            append(pod, &path, toleration);
        }
    }
    Ok(Mutation::Unchanged)
}
