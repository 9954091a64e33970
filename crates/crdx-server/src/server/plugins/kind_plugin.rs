//! Admission plugins that know kinds. Another crate defines them and gives them to the server
//! ([`ServerBuilder::with_kinds`](crate::server::ServerBuilder::with_kinds)).

use super::cluster::ClusterView;
use super::{AdmissionConfiguration, AdmissionPlugin, names};
use crate::cluster_state::{GroupVersionResource, Listed, Lookup, Wanted};
use crate::server::admission::{AdmissionReport, Attributes, Mutation, Operation, Plugin, Reinvocation};
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::scope::RequestScope;
use crate::server::strategy::resources::Resources;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::release::{Minor, Release};
use std::sync::Arc;

/// Changes or refuses an object before validation.
pub type Mutate = fn(&mut AdmissionRequest<'_>, &mut Value) -> Result<Mutation, Refusal>;
/// Refuses an object after validation.
pub type Validate = fn(&mut AdmissionRequest<'_>, &Value) -> Result<(), Refusal>;

/// An admission plugin that knows kinds.
#[derive(Debug)]
pub struct KindPlugin {
    /// The plugin that it implements, which has its place in the chain.
    pub plugin: AdmissionPlugin,
    /// The first release that enables it by default.
    pub since: Minor,
    /// The servers that have it.
    pub servers: PluginServers,
    /// The operations that it handles.
    pub operations: &'static [Operation],
    /// The groups, resources and subresources that it handles; empty for all.
    pub targets: &'static [(&'static str, &'static str, &'static str)],
    /// True if it also changes objects that are stored without admission, because they have passed that of their cluster.
    pub completes_stored_objects: bool,
    /// Changes or refuses an object before validation.
    pub mutate: Option<Mutate>,
    /// Refuses an object after validation.
    pub validate: Option<Validate>,
}

/// The servers that have a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginServers {
    /// All.
    All,
    /// Those with built-in kinds.
    WithBuiltInKinds,
    /// Those that generate fields of built-in kinds.
    WithGeneratedFields,
}

impl KindPlugin {
    /// A plugin of new objects without effect, for the fields that a plugin leaves out.
    pub const fn new(plugin: AdmissionPlugin) -> Self {
        Self {
            plugin,
            since: Minor::ALWAYS,
            servers: PluginServers::WithBuiltInKinds,
            operations: &[Operation::Create],
            targets: &[],
            completes_stored_objects: false,
            mutate: None,
            validate: None,
        }
    }
}

/// The write that a plugin admits, and what the plugin may read of the cluster.
#[derive(Debug)]
pub struct AdmissionRequest<'r> {
    /// The operation.
    pub operation: Operation,
    /// The group, version and resource of the URL.
    pub resource: GroupVersionResource<'r>,
    /// The subresource; may be empty.
    pub subresource: &'r str,
    /// The kind of the object.
    pub kind: &'r str,
    /// The namespace; empty for an object that is not namespaced.
    pub namespace: &'r str,
    /// The existing object of an update.
    pub old_object: Option<&'r Value>,
    /// The empty lists and maps of the object in the request. Its encoded form omits them.
    pub empties: Option<&'r Empties>,
    /// The simulated release.
    pub release: Release,
    /// The configuration of the plugin, if the server has one.
    pub configuration: Option<&'r Value>,
    attributes: &'r Attributes<'r>,
    cluster: ClusterView<'r>,
    report: &'r mut AdmissionReport,
}

impl AdmissionRequest<'_> {
    /// Returns true if the server does not store all objects of its cluster.
    pub fn is_partial(&self) -> bool {
        self.cluster.given.is_given()
    }

    /// The name of the user that sends the request.
    pub fn username(&self) -> &str {
        &self.attributes.user.username
    }

    /// Returns an object of the cluster.
    ///
    /// # Errors
    /// Returns a refusal that ends the attempt if the object has to be read first.
    pub fn object(
        &self,
        of: GroupVersionResource<'_>,
        namespace: &str,
        name: &str,
    ) -> Result<Lookup<Arc<Value>>, Refusal> {
        self.cluster.object(of, namespace, name)
    }

    /// Returns the objects of the cluster; `namespace` is empty for objects that are not namespaced.
    ///
    /// # Errors
    /// See [`Self::object`].
    pub fn objects(&self, of: GroupVersionResource<'_>, namespace: &str) -> Result<Listed, Refusal> {
        self.cluster.objects(of, namespace)
    }

    /// Returns an object that the server stores.
    pub fn stored_object(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.cluster.stored_object(of, namespace, name)
    }

    /// Sets the defaults of an object of the given state, which a file may leave out.
    pub fn complete(&self, of: GroupVersionResource<'_>, object: &mut Arc<Value>) {
        let resource = self.cluster.resource(of.group, of.version, of.resource);
        if let Some(resource) = resource.filter(|_| self.is_partial()) {
            // The defaults of a Go type always have room.
            let _ = resource.default(Arc::make_mut(object));
        }
    }

    /// Sends a warning to the client.
    pub fn warn(&mut self, text: String) {
        self.report.warnings.push(text);
    }

    /// Leaves the answer open, because it depends on objects that are not known.
    pub fn leave_open(&mut self, unknown: Wanted) {
        self.report.unknown.push(unknown);
    }

    /// The refusal of a plugin (`admission.NewForbidden`).
    pub fn forbidden(&self, reason: &str) -> Refusal {
        self.attributes.forbidden(reason)
    }

    /// The refusal of a new object, which may have no name yet (`extractResourceName`).
    pub fn forbidden_object(&self, object: &Value, reason: &str) -> Refusal {
        self.attributes.forbidden_object(object, reason)
    }
}

/// A plugin with the resources of its server.
#[derive(Debug)]
struct KindAdmission {
    plugin: &'static KindPlugin,
    configuration: Option<Value>,
    resources: Arc<Resources>,
}

/// Creates a plugin; `None` if the server does not have it.
pub(super) fn create(
    plugin: &'static KindPlugin,
    resources: &Arc<Resources>,
    configuration: &AdmissionConfiguration,
) -> Option<Box<dyn Plugin>> {
    let is_served = match plugin.servers {
        PluginServers::All => true,
        PluginServers::WithBuiltInKinds => resources.serves_built_in_kinds,
        PluginServers::WithGeneratedFields => resources.serves_built_in_kinds && resources.allocations.is_some(),
    };
    let is_enabled = is_served && resources.settings.release.since(plugin.since);
    let configuration = names::name(plugin.plugin).and_then(|name| configuration.document(name)).cloned();
    let resources = Arc::clone(resources);
    is_enabled.then(|| Box::new(KindAdmission { plugin, configuration, resources }) as Box<dyn Plugin>)
}

impl KindAdmission {
    fn request<'r>(
        &'r self,
        attributes: &'r Attributes<'r>,
        calls: &'r Calls,
        report: &'r mut AdmissionReport,
    ) -> AdmissionRequest<'r> {
        let Attributes { operation, resource, subresource, kind, namespace, old_object, empties, given, .. } =
            *attributes;
        AdmissionRequest {
            operation,
            resource,
            subresource,
            kind: kind.kind,
            namespace,
            old_object,
            empties,
            release: self.resources.settings.release,
            configuration: self.configuration.as_ref(),
            attributes,
            cluster: ClusterView::new(&self.resources, given, calls),
            report,
        }
    }
}

impl Plugin for KindAdmission {
    fn handles(&self, operation: Operation, RequestScope { resource, subresource, .. }: RequestScope<'_>) -> bool {
        let KindPlugin { operations, targets, .. } = self.plugin;
        let target = (resource.group, resource.resource, subresource);
        operations.contains(&operation) && (targets.is_empty() || targets.contains(&target))
    }

    fn completes_stored_objects(&self) -> bool {
        self.plugin.completes_stored_objects
    }

    fn mutates(&self) -> bool {
        self.plugin.mutate.is_some()
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        calls: &Calls,
        report: &mut AdmissionReport,
        _: &mut Reinvocation,
    ) -> Result<Mutation, Refusal> {
        match self.plugin.mutate {
            Some(mutate) => mutate(&mut self.request(attributes, calls, report), object),
            None => Ok(Mutation::Unchanged),
        }
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        calls: &Calls,
        report: &mut AdmissionReport,
    ) -> Result<(), Refusal> {
        match (self.plugin.validate, object) {
            (Some(validate), Some(object)) => validate(&mut self.request(attributes, calls, report), object),
            _ => Ok(()),
        }
    }
}
