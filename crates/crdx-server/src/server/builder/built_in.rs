//! The options that add built-in kinds.

use super::{Inputs, ServerBuilder};
use crate::policies::dependencies::Dependencies;
use crate::server::plugins::KindPlugin;
use crate::server::runtime_config::RuntimeConfig;
use crate::server::strategy::built_in_kind::kind_strategy::BuiltInKinds;
use crate::server::strategy::namespace_rule::Namespaces;
use crdx_cel::value::Authorizer;
use crdx_value::Value;
use std::sync::Arc;

impl ServerBuilder {
    /// Adds a core group with the namespaces `default` and `names`.
    pub fn with_namespaces(self, rule: Namespaces, names: &[String]) -> Self {
        Self { namespaces: Some((rule, names.to_vec())), ..self }
    }

    /// Enables admission policies: the server stores and serves policies, bindings, namespaces and config maps, and
    /// enforces the policies on every write. Policy expressions query `authorizer`; a policy that depends on unknown objects of
    /// the cluster ([`Self::with_cluster_state`]) makes no decision. Without [`Self::with_namespaces`] and
    /// [`Self::with_built_in_kinds`], objects may be created in namespaces that do not exist, as long as no policy reads the
    /// namespace.
    pub fn with_policies(self, authorizer: Arc<dyn Authorizer>) -> Self {
        Self { policies: Some(Inputs { authorizer, unknown: None, static_policies: Arc::default() }), ..self }
    }

    /// Adds policies and bindings, with all defaults, that are enforced before those of [`Self::with_policies`] and that the API
    /// does not show (`staticManifestsDir`).
    pub fn with_static_policies(self, objects: Vec<Value>) -> Self {
        Self { static_policies: objects.into(), ..self }
    }

    /// Sets the APIs of built-in kinds that are not served (`--runtime-config`). APIs that are not served by default are not served
    /// either if it enables them.
    pub fn with_runtime_config(self, runtime_config: RuntimeConfig) -> Self {
        Self { runtime_config, ..self }
    }

    /// Sets the properties of requests that are not known: a policy of [`Self::with_policies`] that depends on them makes no
    /// decision, nor one that depends on fields which plugins of a cluster set, or on kinds that the server does not serve.
    pub fn with_unknown_inputs(self, unknown: Dependencies) -> Self {
        Self { unknown_inputs: Some(unknown), ..self }
    }

    /// Serves all built-in kinds in the versions that API servers serve by default. They are decoded, defaulted
    /// and merged by their Go types. Besides metadata, only what [`Self::with_policy_validation`] and
    /// [`Self::with_content_validation`] name is validated. Without [`Self::with_namespaces`], the namespaces are those that
    /// an API server creates.
    pub fn with_built_in_kinds(self) -> Self {
        Self { built_in_kinds: true, ..self }
    }

    /// Validates the content of objects of built-in kinds ([`Self::with_kinds`]).
    pub fn with_content_validation(self) -> Self {
        Self { validates_content: true, ..self }
    }

    /// Sets the strategies of built-in kinds, and the plugins that know them; without them, all have the behaviour of most
    /// kinds, and their content is not validated.
    pub fn with_kinds(self, kinds: &'static BuiltInKinds, plugins: &'static [&'static KindPlugin]) -> Self {
        Self { kinds, kind_plugins: plugins, ..self }
    }
}
