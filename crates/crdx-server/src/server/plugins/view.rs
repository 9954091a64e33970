//! The view of the server that policies and webhooks read.

use crate::apply::types;
use crate::cluster_state::{Listed, Lookup, NAMESPACES};
use crate::crd;
use crate::policies::dependencies::Dependencies;
use crate::policies::request::{self, Kind, ParamScope};
use crate::server::plugins::cluster::ClusterView;
use crate::server::plugins::cluster::ServedResource;
use crate::server::scope::GroupVersionResource;
use crate::server::scope::is_typed;
use crdx_cel::value::Authorizer;
use crdx_types::merge::TypeRef;
use crdx_types::resources::{ServedKind, versions};
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::group_version;
use crdx_value::steps::Spent;
use std::cell::RefCell;
use std::sync::Arc;

/// The inputs of policies and webhooks besides the server's state.
#[derive(Clone)]
pub(in crate::server) struct Inputs {
    /// The authorizer that expressions query.
    pub authorizer: Arc<dyn Authorizer>,
    /// The unknown properties of requests; `None` if requests, kinds of params and the fields that plugins set are known.
    pub unknown: Option<Dependencies>,
    /// The policies and bindings that the API does not show: the server reads them from files.
    pub static_policies: Arc<[Value]>,
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs").finish_non_exhaustive()
    }
}

/// The view of the server that policies and webhooks read.
pub(super) struct View<'v> {
    /// Access to the server's state.
    pub cluster: &'v ClusterView<'v>,
    /// The other inputs.
    pub inputs: &'v Inputs,
    /// The kinds of params that were looked up.
    scopes: RefCell<Vec<(Kind, Option<ParamScope>)>>,
    /// The params that were looked up: several policies often share them.
    params: RefCell<Vec<(ParamKey, Listed)>>,
}

/// Params: their kind, namespace and name.
type ParamKey = (Kind, Option<String>, Option<String>);

impl<'v> View<'v> {
    /// The view for one request.
    pub fn new(cluster: &'v ClusterView<'v>, inputs: &'v Inputs) -> Self {
        Self { cluster, inputs, scopes: RefCell::default(), params: RefCell::default() }
    }
}

impl View<'_> {
    fn served(&self, kind: &Kind) -> Option<ServedResource> {
        self.cluster.resource_of_kind(&kind.group, &kind.version, &kind.kind)
    }

    /// The versions of a resource built into Kubernetes.
    fn built_in_versions(&self, resource: &request::Resource) -> Vec<(request::Resource, Kind)> {
        let release = self.cluster.release().emulated().number().into();
        let all = versions(&resource.group, &resource.resource, release);
        let of = |ServedKind { group, version, kind }: ServedKind| {
            let (group, kind) = (group.to_owned(), kind.to_owned());
            let of = request::Resource {
                group: group.clone(),
                version: version.to_owned(),
                resource: resource.resource.clone(),
            };
            (of, Kind { group, version: version.to_owned(), kind })
        };
        all.into_iter().map(of).collect()
    }

    fn version(&self, resource: &request::Resource) -> Option<ServedResource> {
        let mut all = self.cluster.all_versions(&resource.group, &resource.resource).into_iter();
        all.find(|found| found.resource().version == resource.version)
    }
}

/// Returns true for the kind of the scale subresource.
fn is_scale(kind: &Kind) -> bool {
    kind.group == "autoscaling" && kind.kind == "Scale"
}

impl request::Cluster for View<'_> {
    fn namespace(&self, name: &str) -> Lookup<Arc<Value>> {
        // The attempt ends after the plugin if the Namespace has to be read first.
        self.cluster.object(NAMESPACES, "", name).unwrap_or(Lookup::Unknown)
    }

    fn param_scope(&self, kind: &Kind) -> Option<ParamScope> {
        if let Some((_, scope)) = self.scopes.borrow().iter().find(|(known, _)| known == kind) {
            return *scope;
        }
        let typed = is_typed(&kind.group);
        let scope = self.served(kind).map(|found| ParamScope { namespaced: found.is_namespaced(), typed });
        self.scopes.borrow_mut().push((kind.clone(), scope));
        scope
    }

    fn params(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) -> Listed {
        let same = |(known_kind, known_namespace, known_name): &ParamKey| {
            known_kind == kind && known_namespace.as_deref() == namespace && known_name.as_deref() == name
        };
        if let Some((_, params)) = self.params.borrow().iter().find(|(wanted, _)| same(wanted)) {
            return params.clone();
        }
        let Some(found) = self.served(kind) else { return Listed { is_complete: true, ..Listed::default() } };
        // The attempt ends after the plugin if params have to be read first.
        let params = found.params(self.cluster, namespace.unwrap_or_default(), name).unwrap_or_default();
        let wanted = (kind.clone(), namespace.map(str::to_owned), name.map(str::to_owned));
        self.params.borrow_mut().push((wanted, params.clone()));
        params
    }

    fn equivalents(&self, resource: &request::Resource, subresource: &str) -> Vec<(request::Resource, Kind)> {
        let all = self.cluster.all_versions(&resource.group, &resource.resource);
        if all.is_empty() && subresource.is_empty() {
            return self.built_in_versions(resource);
        }
        let having = all.iter().filter(|version| version.has_subresource(subresource));
        having
            .map(|version| {
                let kind = version.kind();
                let kind = match subresource {
                    "scale" => {
                        Kind { group: "autoscaling".to_owned(), version: "v1".to_owned(), kind: "Scale".to_owned() }
                    }
                    _ => Kind {
                        group: kind.group.to_owned(),
                        version: kind.version.to_owned(),
                        kind: kind.kind.to_owned(),
                    },
                };
                (own_resource(version.resource()), kind)
            })
            .collect()
    }

    fn convert(&self, object: &Value, resource: &request::Resource, kind: &Kind) -> Result<Value, GoError> {
        let wanted = kind.api_version();
        let have = object.str_at(&["apiVersion"]).unwrap_or_default();
        let (group, version) = group_version::split(have);
        if group != resource.group {
            let kind = object.str_at(&["kind"]).unwrap_or_default();
            return Err(format!(
                "{group}/{version}, Kind={kind} is unstructured and is not suitable for converting to \"{wanted}\""
            )
            .into());
        }
        let all = self.cluster.all_versions(&resource.group, &resource.resource);
        if all.iter().all(|found| found.resource().version != version) {
            return Err(format!("request to convert CR from an invalid group/version: {have}").into());
        }
        match all.iter().find(|found| found.resource().version == kind.version) {
            Some(found) => found.convert(object, self.cluster.calls).map_err(|refusal| refusal.message.into()),
            None => Err(format!("request to convert CR to an invalid group/version: {wanted}").into()),
        }
    }

    fn default(&self, resource: &request::Resource, kind: &Kind, object: &mut Value) -> Result<(), Spent> {
        match self.version(resource) {
            Some(version) if !is_scale(kind) => version.default(object),
            _ => Ok(()),
        }
    }

    fn merge_type(&self, resource: &request::Resource, kind: &Kind) -> Option<TypeRef> {
        if is_scale(kind) {
            return Some(types::of_scale(self.cluster.release()).clone());
        }
        if (&*kind.group, &*kind.kind) == (crd::GROUP, "CustomResourceDefinition") {
            return Some(types::of_definition(self.cluster.release()).clone());
        }
        self.cluster.resource(&kind.group, &kind.version, &resource.resource).map(|found| found.merge_type())
    }

    fn authorizer(&self) -> Arc<dyn Authorizer> {
        Arc::clone(&self.inputs.authorizer)
    }

    fn unknown(&self) -> Dependencies {
        self.inputs.unknown.unwrap_or_default()
    }

    fn are_kinds_known(&self) -> bool {
        self.inputs.unknown.is_none()
    }
}

/// Copies a resource to owned strings.
pub(super) fn own_resource(resource: GroupVersionResource<'_>) -> request::Resource {
    request::Resource {
        group: resource.group.to_owned(),
        version: resource.version.to_owned(),
        resource: resource.resource.to_owned(),
    }
}
