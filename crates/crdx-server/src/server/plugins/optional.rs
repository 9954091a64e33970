//! The plugins that are disabled by default and decide about Pods and Services by their fields, their namespace and the
//! configuration of the plugin ([`crdx_builtin::admission`]), and those of namespaces.

use crate::cluster_state::{Lookup, NAMESPACES, Wanted};
use crate::server::admission::{Attributes, Mutation, Operation, Plugin, Reinvocation, Report};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::plugins::cluster::Cluster;
use crate::server::plugins::{AdmissionPlugin, Configuration};
use crate::server::scope;
use crate::server::strategy::resources::Resources;
use crdx_builtin::admission::{anti_affinity, extended_resources, external_ips, node_selector, pull_policy};
use crdx_value::Value;
use std::sync::Arc;

/// A plugin that is disabled by default.
#[derive(Debug)]
pub(super) struct OptionalPlugin {
    plugin: AdmissionPlugin,
    resources: Arc<Resources>,
    configuration: Arc<Configuration>,
}

impl OptionalPlugin {
    /// Creates the plugin.
    pub fn new(plugin: AdmissionPlugin, resources: &Arc<Resources>, configuration: &Arc<Configuration>) -> Self {
        Self { plugin, resources: Arc::clone(resources), configuration: Arc::clone(configuration) }
    }

    /// The namespace of a Pod; `None` if it is not known, which is reported.
    fn namespace(
        &self,
        attributes: &Attributes<'_>,
        calls: &Calls,
        report: &mut Report,
    ) -> Result<Option<Arc<Value>>, Refusal> {
        let cluster = Cluster::new(&self.resources, attributes.given, calls);
        match cluster.object(NAMESPACES, "", attributes.namespace)? {
            Lookup::Found(namespace) => Ok(Some(namespace)),
            // `NamespaceLifecycle` refuses objects in a namespace that does not exist.
            Lookup::Absent => Ok(Some(Arc::default())),
            Lookup::Unknown => {
                report.unknown.push(Wanted::new(NAMESPACES, "", Some(attributes.namespace)));
                Ok(None)
            }
        }
    }

    /// Returns true if the plugin does not look at an object.
    fn ignores(&self, attributes: &Attributes<'_>, object: &Value) -> bool {
        match self.plugin {
            AdmissionPlugin::DenyServiceExternalIPs => {
                let Attributes { resource, subresource, .. } = *attributes;
                (resource.group, resource.resource, subresource) != ("", "services", "")
            }
            AdmissionPlugin::NamespaceExists => {
                attributes.namespace.is_empty() || attributes.group_resource() == scope::NAMESPACES
            }
            AdmissionPlugin::AlwaysDeny => false,
            AdmissionPlugin::AlwaysPullImages => {
                let is_update = attributes.operation == Operation::Update;
                let old = attributes.old_object.filter(|_| is_update);
                !attributes.is_for_pods() || old.is_some_and(|old| pull_policy::is_ignored(object, old))
            }
            _ => !attributes.is_for_pods(),
        }
    }

    fn refused_by_selector(attributes: &Attributes<'_>, pod: &Value, refused: node_selector::Refused) -> Refusal {
        match refused {
            node_selector::Refused::Forbidden(reason) => forbidden(attributes, pod, reason),
            node_selector::Refused::Unreadable(error) => Refusal::unclassified(error.to_string()),
        }
    }
}

/// `NewForbidden` with the name of the object, which a new one may lack.
fn forbidden(attributes: &Attributes<'_>, object: &Value, reason: &str) -> Refusal {
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    Refusal::forbidden(attributes.group_resource(), name, reason)
}

impl Plugin for OptionalPlugin {
    fn handles(&self, operation: Operation) -> bool {
        match self.plugin {
            AdmissionPlugin::PodNodeSelector => operation == Operation::Create,
            AdmissionPlugin::NamespaceExists | AdmissionPlugin::AlwaysDeny => true,
            _ => operation != Operation::Delete,
        }
    }

    fn mutates(&self) -> bool {
        matches!(
            self.plugin,
            AdmissionPlugin::AlwaysPullImages
                | AdmissionPlugin::ExtendedResourceToleration
                | AdmissionPlugin::PodNodeSelector
                | AdmissionPlugin::PodTolerationRestriction
        )
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        report: &mut Report,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        if !self.mutates() || self.ignores(attributes, object) {
            return Ok(Mutation::Unchanged);
        }
        let release = self.resources.settings.release;
        let is_changed = match self.plugin {
            AdmissionPlugin::AlwaysPullImages => {
                pull_policy::set(object);
                true
            }
            AdmissionPlugin::ExtendedResourceToleration => extended_resources::tolerate(object, release),
            AdmissionPlugin::PodNodeSelector => match self.namespace(attributes, calls, report)? {
                Some(namespace) => {
                    let admitted = self.configuration.node_selectors.admit(object, &namespace, release);
                    admitted.map_err(|refused| Self::refused_by_selector(attributes, object, refused))?
                }
                None => false,
            },
            _ => match self.namespace(attributes, calls, report)? {
                Some(namespace) => {
                    let is_new = attributes.operation == Operation::Create;
                    let admitted = self.configuration.tolerations.admit(object, &namespace, is_new, release);
                    admitted.map_err(|error| Refusal::unclassified(error.to_string()))?
                }
                None => false,
            },
        };
        Ok(if is_changed { Mutation::Changed } else { Mutation::Unchanged })
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        if self.plugin == AdmissionPlugin::AlwaysDeny {
            return Err(attributes.forbidden("admission control is denying all modifications"));
        }
        let object = object.unwrap_or(&Value::Null);
        if self.ignores(attributes, object) {
            return Ok(());
        }
        let release = self.resources.settings.release;
        match self.plugin {
            AdmissionPlugin::AlwaysPullImages => {
                let errors = pull_policy::errors(object);
                let messages = errors.iter().map(|error| forbidden(attributes, object, &error.to_string()).message);
                let messages: Vec<String> = messages.collect();
                match messages.as_slice() {
                    [] => Ok(()),
                    [message] => Err(Refusal::unclassified(message.as_str())),
                    messages => Err(Refusal::unclassified(format!("[{}]", messages.join(", ")))),
                }
            }
            AdmissionPlugin::LimitPodHardAntiAffinityTopology => match anti_affinity::refusal(object) {
                Some(reason) => Err(forbidden(attributes, object, &reason)),
                None => Ok(()),
            },
            AdmissionPlugin::DenyServiceExternalIPs => match external_ips::refusal(object, attributes.old_object) {
                Some(reason) => Err(attributes.forbidden_object(object, reason)),
                None => Ok(()),
            },
            AdmissionPlugin::NamespaceExists => {
                let cluster = Cluster::new(&self.resources, attributes.given, calls);
                match cluster.object(NAMESPACES, "", attributes.namespace)? {
                    Lookup::Absent => Err(Refusal::not_found(scope::NAMESPACES, attributes.namespace)),
                    Lookup::Found(_) | Lookup::Unknown => Ok(()),
                }
            }
            AdmissionPlugin::PodNodeSelector => match self.namespace(attributes, calls, report)? {
                Some(namespace) => {
                    let valid = self.configuration.node_selectors.validate(object, &namespace, release);
                    valid.map_err(|refused| Self::refused_by_selector(attributes, object, refused))
                }
                None => Ok(()),
            },
            AdmissionPlugin::PodTolerationRestriction => match self.namespace(attributes, calls, report)? {
                Some(namespace) => {
                    let valid = self.configuration.tolerations.validate(object, &namespace);
                    valid.map_err(|error| Refusal::unclassified(error.to_string()))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
