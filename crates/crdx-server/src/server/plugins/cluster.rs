//! Read access to the server's state for admission plugins: resources, objects, conversion and defaults. All state is
//! in memory.

use crate::cluster_state::{Listed, Lookup};
use crate::pipeline;
use crate::server::http::calls::Calls;
use crate::server::http::given_state::GivenState;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::registry::store;
use crate::server::scope::{GroupVersionKind, GroupVersionResource};
use crate::server::strategy::built_in_kind::kind_strategy::ClusterFields;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::{Serving, Version};
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::sort::sort_by_key;
use crdx_value::steps::Spent;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A read-only view of the server for admission plugins.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct ClusterView<'a> {
    resources: &'a Resources,
    /// The state of the cluster besides the stored objects.
    pub given: &'a GivenState<'a>,
    /// The answers of the webhooks called for this request.
    pub calls: &'a Calls,
}

/// A resource at one of its versions.
#[derive(Clone, Debug)]
pub(in crate::server) struct ServedResource {
    serving: Arc<Serving>,
    version: Arc<Version>,
}

impl ServedResource {
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

    /// Returns the params with a name, or all params of a namespace, which is empty for a cluster-scoped resource. Those that
    /// cannot be converted are treated as missing.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if they have to be read first.
    pub fn params(&self, cluster: &ClusterView<'_>, namespace: &str, name: Option<&str>) -> Result<Listed, Refusal> {
        let of = self.resource();
        let Some(name) = name else {
            let Listed { objects: given, is_complete } = cluster.given.list(of, namespace)?;
            let mut objects = cluster.list(self, namespace).unwrap_or_default();
            add_others(&mut objects, given);
            return Ok(Listed { objects, is_complete });
        };
        let found = |object| Listed { objects: vec![object], is_complete: true };
        if let Some(stored) = self.get(namespace, name, cluster.calls).ok().flatten() {
            return Ok(found(stored));
        }
        Ok(match cluster.given.object(of, namespace, name)? {
            Lookup::Found(object) => found(object),
            Lookup::Absent => Listed { is_complete: true, ..Listed::default() },
            Lookup::Unknown => Listed::default(),
        })
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

/// Adds given objects with other namespaces or names than the stored ones, in the order of their keys.
fn add_others(stored: &mut Vec<Arc<Value>>, given: Vec<Arc<Value>>) {
    if given.is_empty() {
        return;
    }
    let key = |object: &Value| store::key(metadata::text(object, "namespace"), metadata::text(object, "name"));
    let known: BTreeSet<String> = stored.iter().map(|object| key(object)).collect();
    stored.extend(given.into_iter().filter(|given| !known.contains(&key(given))));
    sort_by_key(stored, |object| key(object));
}

impl<'a> ClusterView<'a> {
    /// Creates the view for one request.
    pub fn new(resources: &'a Resources, given: &'a GivenState<'a>, calls: &'a Calls) -> Self {
        Self { resources, given, calls }
    }
}

impl ClusterView<'_> {
    /// Returns the simulated release.
    pub fn release(&self) -> Release {
        self.resources.settings.release
    }

    /// Returns the fields of new objects that depend on the cluster.
    pub fn cluster_fields(&self) -> &'static dyn ClusterFields {
        self.resources.kinds.cluster_fields
    }

    /// Returns an object of the cluster: the stored one, or else what the given state knows.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if the object has to be read first.
    pub fn object(
        &self,
        of: GroupVersionResource<'_>,
        namespace: &str,
        name: &str,
    ) -> Result<Lookup<Arc<Value>>, Refusal> {
        match self.stored_object(of, namespace, name) {
            Some(stored) => Ok(Lookup::Found(stored)),
            None => self.given.object(of, namespace, name),
        }
    }

    /// Returns an object that the server stores.
    pub fn stored_object(&self, of: GroupVersionResource<'_>, namespace: &str, name: &str) -> Option<Arc<Value>> {
        Some(self.serving(of)?.objects.get(&store::key(namespace, name))?.raw())
    }

    /// Returns the objects of the cluster, in the order of their names: the stored ones, and those of the given state that have
    /// other names. `namespace` is empty for objects that are not namespaced.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if the list has to be read first.
    pub fn objects(&self, of: GroupVersionResource<'_>, namespace: &str) -> Result<Listed, Refusal> {
        let Listed { objects: given, is_complete } = self.given.list(of, namespace)?;
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        let stored =
            self.serving(of).map(|serving| serving.objects.list(&prefix, "", &self.resources.storage.revision).0);
        let mut objects: Vec<Arc<Value>> = stored.unwrap_or_default().iter().map(|(_, stored)| stored.raw()).collect();
        add_others(&mut objects, given);
        Ok(Listed { objects, is_complete })
    }

    fn serving(&self, of: GroupVersionResource<'_>) -> Option<Arc<Serving>> {
        let name = [of.resource, ".", of.group].concat();
        self.resources.get(&name)
    }

    /// Finds a served resource by kind: a custom resource, or a core resource that the server serves.
    pub(crate) fn resource_of_kind(&self, group: &str, version: &str, kind: &str) -> Option<ServedResource> {
        self.find(version, |serving| serving.group == group && serving.kind == kind)
    }

    /// Finds a served resource by plural.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<ServedResource> {
        self.find(version, |serving| serving.group == group && serving.plural == plural)
    }

    /// Returns all served versions of a resource, in the order of the CRD.
    #[cfg(test)]
    pub fn versions(&self, group: &str, plural: &str) -> Vec<ServedResource> {
        let Some(serving) = self.resources.get(&format!("{plural}.{group}")) else { return Vec::new() };
        let served = serving.versions.iter().filter(|version| version.served);
        served.map(|version| ServedResource { serving: Arc::clone(&serving), version: Arc::clone(version) }).collect()
    }

    /// Returns all versions of a resource, served or not; policies treat them all as equivalent.
    pub(crate) fn all_versions(&self, group: &str, plural: &str) -> Vec<ServedResource> {
        let Some(serving) = self.resources.get(&format!("{plural}.{group}")) else { return Vec::new() };
        let all = serving.versions.iter();
        all.map(|version| ServedResource { serving: Arc::clone(&serving), version: Arc::clone(version) }).collect()
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
    pub fn list(&self, resource: &ServedResource, namespace: &str) -> Result<Vec<Arc<Value>>, Refusal> {
        let serving = &resource.serving;
        let prefix = if serving.namespaced && !namespace.is_empty() { format!("{namespace}/") } else { String::new() };
        let (found, _) = serving.objects.list(&prefix, "", &self.resources.storage.revision);
        found.iter().map(|(_, stored)| serving.read(stored, &resource.version, self.calls)).collect()
    }

    fn find(&self, version: &str, is: impl Fn(&Serving) -> bool) -> Option<ServedResource> {
        let all = self.resources.served();
        let serving = all.values().find(|serving| serving.is_served() && is(serving))?;
        let version = serving.version(version).filter(|version| version.served)?;
        Some(ServedResource { serving: Arc::clone(serving), version: Arc::clone(version) })
    }
}
