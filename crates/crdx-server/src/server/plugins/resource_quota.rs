//! `ResourceQuota`: the quotas of the namespace of an object ([`crdx_builtin::quotas`]). A write is compared with what is used
//! now, as in a dry run: the writes of a run do not add up.

use crate::cluster_state::RESOURCE_QUOTAS;
use crate::server::admission::{Attributes, Operation, Plugin, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::plugins::Configuration;
use crate::server::plugins::cluster::Cluster;
use crate::server::strategy::resources::Resources;
use crdx_builtin::quotas::{self, Write};
use crdx_value::Value;
use std::sync::Arc;

/// The `ResourceQuota` plugin.
#[derive(Debug)]
pub(super) struct ResourceQuota {
    resources: Arc<Resources>,
    configuration: Arc<Configuration>,
}

impl ResourceQuota {
    /// Creates the plugin.
    pub fn new(resources: &Arc<Resources>, configuration: &Arc<Configuration>) -> Self {
        Self { resources: Arc::clone(resources), configuration: Arc::clone(configuration) }
    }
}

impl Plugin for ResourceQuota {
    /// Updates of custom resources use nothing.
    fn handles(&self, operation: Operation) -> bool {
        match operation {
            Operation::Create => true,
            Operation::Update => self.resources.serves_built_in_kinds,
            Operation::Delete => false,
        }
    }

    fn mutates(&self) -> bool {
        false
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        _: &mut Report,
    ) -> Result<(), Refusal> {
        let Attributes { namespace, subresource, old_object, given, .. } = *attributes;
        let Some(object) = object.filter(|_| subresource.is_empty() && !namespace.is_empty()) else { return Ok(()) };
        let resource = attributes.group_resource().to_string();
        let write = Write { resource: &resource, object, old: old_object };
        if !write.is_charged() {
            return Ok(());
        }
        let quotas = Cluster::new(&self.resources, given, calls).objects(RESOURCE_QUOTAS, namespace)?.objects;
        let limited = &self.configuration.limited_resources;
        match quotas::refusal(quotas.iter().map(|quota| &**quota), write, limited) {
            Some(reason) => Err(attributes.forbidden_object(object, &reason)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::server::fixture;
    use crate::server::{AdmissionPlugins, Method, Request, Server, ServerBuilder};
    use crdx_text::json::read;
    use crdx_value::release::Release;

    /// The code and the message of the answer to a new `ConfigMap` in a namespace with a quota that is used up.
    fn answer(plugins: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (u16, String) {
        let server = plugins(Server::builder(Release::NEWEST, 0).with_built_in_kinds()).build();
        let quota = r#"{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"default"},
            "status":{"hard":{"configmaps":"1"},"used":{"configmaps":"1"}}}"#;
        server.seed("resourcequotas.", "default", read(quota.as_bytes()).unwrap()).unwrap();
        let path = "/api/v1/namespaces/default/configmaps";
        let (code, body) =
            fixture::json(server.handle(&Request::new(Method::Post, path, r#"{"metadata":{"name":"c"}}"#)));
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
