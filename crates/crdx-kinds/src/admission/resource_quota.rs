//! `ResourceQuota`: the quotas of the namespace of an object ([`crdx_builtin::quotas`]). A write is compared with what is used
//! now, as in a dry run: the writes of a run do not add up.

use super::configuration;
use crdx_builtin::quotas::{self, QuotaRequest};
use crdx_server::cluster_state::RESOURCE_QUOTAS;
use crdx_server::server::{AdmissionPlugin, AdmissionRequest, KindPlugin, Operation, PluginServers, Refusal};
use crdx_value::Value;
use crdx_value::group_version::GroupResource;

/// The plugin, also for custom resources.
pub(crate) static RESOURCE_QUOTA: KindPlugin = KindPlugin {
    servers: PluginServers::All,
    operations: &[Operation::Create, Operation::Update],
    validate: Some(validate),
    ..KindPlugin::new(AdmissionPlugin::ResourceQuota)
};

fn validate(request: &mut AdmissionRequest<'_>, object: &Value) -> Result<(), Refusal> {
    if !request.subresource.is_empty() || request.namespace.is_empty() {
        return Ok(());
    }
    let resource = GroupResource { group: request.resource.group, resource: request.resource.resource }.to_string();
    let write = QuotaRequest { resource: &resource, object, old: request.old_object, release: request.release };
    if !write.is_charged() {
        return Ok(());
    }
    let quotas = request.objects(RESOURCE_QUOTAS, request.namespace)?.objects;
    let limited = request.configuration.map(configuration::limited_resources).unwrap_or_default();
    match quotas::refusal(quotas.iter().map(|quota| &**quota), write, &limited) {
        Some(reason) => Err(request.forbidden_object(object, &reason)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::code_and_body;
    use crdx_server::server::{AdmissionPlugins, Method, Request, ServerBuilder};
    use crdx_text::json::read;
    use crdx_value::release::Release;

    /// The code and the message of the answer to a new `ConfigMap` in a namespace with a quota that is used up.
    fn answer(plugins: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (u16, String) {
        let server = plugins(crate::builder(Release::NEWEST, 0).with_built_in_kinds()).build();
        let quota = r#"{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"default"},
            "status":{"hard":{"configmaps":"1"},"used":{"configmaps":"1"}}}"#;
        server.seed("resourcequotas.", "default", read(quota.as_bytes()).unwrap()).unwrap();
        let path = "/api/v1/namespaces/default/configmaps";
        let (code, body) =
            code_and_body(server.handle(&Request::new(Method::Post, path, r#"{"metadata":{"name":"c"}}"#)));
        (code, body.str_at(&["message"]).unwrap_or_default().to_owned())
    }

    #[test]
    fn a_quota_that_is_used_up_refuses_a_new_object() {
        let message = "configmaps \"c\" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1";
        assert_eq!(
            answer(|builder| builder.with_admission_plugins(AdmissionPlugins::all())),
            (403, message.to_owned())
        );
    }

    #[test]
    fn the_plugin_is_not_enabled_by_default() {
        assert_eq!(answer(|builder| builder).0, 201);
    }
}
