//! Read access to the server's state for admission plugins: resources, objects, conversion and defaults. All state is
//! in memory.

use crate::pipeline;
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::registry::store;
use crate::server::scope::{GroupVersionKind, GroupVersionResource};
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::{Serving, Version};
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::steps::Spent;
use std::sync::Arc;

/// A read-only view of the server for admission plugins.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Cluster<'a> {
    resources: &'a Resources,
    /// The answers of the webhooks called for this request.
    pub calls: &'a Calls,
}

/// A resource at one of its versions.
#[derive(Clone, Debug)]
pub(in crate::server) struct Resource {
    serving: Arc<Serving>,
    version: Arc<Version>,
}

impl Resource {
    /// Returns the group, version and resource.
    pub fn resource(&self) -> GroupVersionResource<'_> {
        let Serving { group, plural, .. } = &*self.serving;
        GroupVersionResource { group, version: &self.version.name, resource: plural }
    }

    /// Returns the group, version and kind.
    pub fn kind(&self) -> GroupVersionKind<'_> {
        let Serving { group, kind, .. } = &*self.serving;
        GroupVersionKind { group, version: &self.version.name, kind }
    }

    /// Returns true if the resource is namespaced.
    pub fn is_namespaced(&self) -> bool {
        self.serving.namespaced
    }

    /// Returns the merge type of the version, with the type names of the published OpenAPI document.
    pub fn merge_type(&self) -> crdx_types::merge::TypeRef {
        let typed = self.serving.typed_version(&self.version.name);
        typed.map_or_else(|| self.version.merge_type_ref(), |kind| kind.merge_type()).clone()
    }

    /// Returns true if the version has the subresource `name`; an empty name means the object itself.
    pub(crate) fn has_subresource(&self, name: &str) -> bool {
        match name {
            "" => true,
            "status" => self.version.has_status(),
            "scale" => self.version.scale().is_some(),
            _ => false,
        }
    }

    /// Converts an object from any version of the resource to this version.
    ///
    /// # Errors
    /// Returns a refusal if the CRD has no version with the object's apiVersion.
    pub fn convert(&self, object: &Value, calls: &Calls) -> Result<Value, Refusal> {
        self.serving.convert_type(object.clone(), &self.serving.api_version(&self.version), calls)
    }

    /// Sets the schema's defaults in an object of this version.
    ///
    /// # Errors
    /// Returns an error if the defaults need more memory than an object that can be stored.
    pub fn default(&self, object: &mut Value) -> Result<(), Spent> {
        match self.serving.typed_version(&self.version.name) {
            Some(kind) => *object = kind.complete(object),
            None => drop(pipeline::default(&self.version.stages, object)?),
        }
        Ok(())
    }

    /// Returns the object with this name; `namespace` is empty for a cluster-scoped resource.
    ///
    /// # Errors
    /// Returns a refusal if the stored object cannot be converted to this version.
    pub fn get(&self, namespace: &str, name: &str, calls: &Calls) -> Result<Option<Arc<Value>>, Refusal> {
        let stored = self.serving.objects.get(&store::key(namespace, name));
        stored.map(|stored| self.serving.read(&stored, &self.version, calls)).transpose()
    }
}

impl<'a> Cluster<'a> {
    /// Creates the view for one request.
    pub fn new(resources: &'a Resources, calls: &'a Calls) -> Self {
        Self { resources, calls }
    }

    /// Returns the Namespace object with this name.
    pub fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        self.resources.namespace(name)
    }
}

impl Cluster<'_> {
    /// Returns the simulated release.
    pub fn release(&self) -> Release {
        self.resources.settings.release
    }

    /// Finds a served resource by kind: a custom resource, or a core resource that the server serves.
    pub(crate) fn resource_of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Resource> {
        self.find(version, |serving| serving.group == group && serving.kind == kind)
    }

    /// Finds a served resource by plural.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Resource> {
        self.find(version, |serving| serving.group == group && serving.plural == plural)
    }

    /// Returns all served versions of a resource, in the order of the CRD.
    #[cfg(test)]
    pub fn versions(&self, group: &str, plural: &str) -> Vec<Resource> {
        let Some(serving) = self.resources.get(&format!("{plural}.{group}")) else { return Vec::new() };
        let served = serving.versions.iter().filter(|version| version.served);
        served.map(|version| Resource { serving: Arc::clone(&serving), version: Arc::clone(version) }).collect()
    }

    /// Returns all versions of a resource, served or not; policies treat them all as equivalent.
    pub(crate) fn all_versions(&self, group: &str, plural: &str) -> Vec<Resource> {
        let Some(serving) = self.resources.get(&format!("{plural}.{group}")) else { return Vec::new() };
        let all = serving.versions.iter();
        all.map(|version| Resource { serving: Arc::clone(&serving), version: Arc::clone(version) }).collect()
    }

    /// Returns a number that differs after each change of the stored objects of a resource.
    pub fn changes(&self, group: &str, plural: &str) -> u64 {
        self.resources.get(&format!("{plural}.{group}")).map_or(0, |serving| serving.objects.changes())
    }

    /// Returns the stored objects of a resource, in key order.
    pub fn stored(&self, group: &str, plural: &str) -> store::Entries {
        let serving = self.resources.get(&format!("{plural}.{group}"));
        serving.map(|serving| serving.objects.list("", "", &self.resources.storage.revision).0).unwrap_or_default()
    }

    /// Returns the objects of a resource in key order, from all namespaces if `namespace` is empty.
    ///
    /// # Errors
    /// Returns a refusal if a stored object cannot be converted to the resource's version.
    pub fn list(&self, resource: &Resource, namespace: &str) -> Result<Vec<Arc<Value>>, Refusal> {
        let serving = &resource.serving;
        let prefix = if serving.namespaced && !namespace.is_empty() { format!("{namespace}/") } else { String::new() };
        let (found, _) = serving.objects.list(&prefix, "", &self.resources.storage.revision);
        found.iter().map(|(_, stored)| serving.read(stored, &resource.version, self.calls)).collect()
    }

    fn find(&self, version: &str, is: impl Fn(&Serving) -> bool) -> Option<Resource> {
        let all = self.resources.served();
        let serving = all.values().find(|serving| serving.is_served() && is(serving))?;
        let version = serving.version(version).filter(|version| version.served)?;
        Some(Resource { serving: Arc::clone(serving), version: Arc::clone(version) })
    }
}
