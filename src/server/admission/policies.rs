//! `MutatingAdmissionPolicy` and `ValidatingAdmissionPolicy` as links of the chain: the policies that the server stores,
//! compiled when they change, and the server as they see it.

use super::cluster::Resource;
use super::{Attributes, Cluster, GroupVersionResource, Mutation, Operation, Plugin, Report};
use crate::apply::types::{self, TypeRef};
use crate::cel::value::Authorizer;
use crate::policies::GROUP;
use crate::policies::denial::Refused;
use crate::policies::dependencies::Dependencies;
use crate::policies::findings::warning_text;
use crate::policies::knowledge::Knowledge;
use crate::policies::model::Family;
use crate::policies::mutating;
use crate::policies::request::{self, Kind, ParamScope, Request, User};
use crate::policies::source::{Hook, Source};
use crate::policies::validating;
use crate::release::Gate;
use crate::server::http::status::{Cause, Details, GroupResource, Reason, Refusal};
use crate::server::strategy::admission_kinds;
use crate::server::strategy::namespace as namespaces;
use crate::value::Value;
use crate::value::group_version;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The plugin `MutatingAdmissionPolicy`: policies change what is written.
#[derive(Debug)]
pub(in crate::server) struct MutatingAdmissionPolicy(Policies);

/// The plugin `ValidatingAdmissionPolicy`: policies refuse what is written.
#[derive(Debug)]
pub(in crate::server) struct ValidatingAdmissionPolicy(Policies);

/// The policies and bindings of one kind, and the authorizer of their expressions.
struct Policies {
    family: Family,
    authorizer: Arc<dyn Authorizer>,
    knowledge: Arc<Knowledge>,
    cache: Mutex<Cache>,
}

impl std::fmt::Debug for Policies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policies").field("family", &self.family).finish_non_exhaustive()
    }
}

/// Compiled policies, and the revisions of the objects they were compiled from.
#[derive(Debug, Default)]
struct Cache {
    policies: BTreeMap<String, u64>,
    bindings: BTreeMap<String, u64>,
    source: Source,
    hooks: Arc<[Hook]>,
}

impl MutatingAdmissionPolicy {
    /// The plugin; expressions query `authorizer`, and `knowledge` says which parts of the cluster the server stores.
    pub fn new(authorizer: Arc<dyn Authorizer>, knowledge: Arc<Knowledge>) -> Self {
        Self(Policies::new(Family::Mutating, authorizer, knowledge))
    }
}

impl ValidatingAdmissionPolicy {
    /// The plugin; expressions query `authorizer`, and `knowledge` says which parts of the cluster the server stores.
    pub fn new(authorizer: Arc<dyn Authorizer>, knowledge: Arc<Knowledge>) -> Self {
        Self(Policies::new(Family::Validating, authorizer, knowledge))
    }
}

impl Policies {
    fn new(family: Family, authorizer: Arc<dyn Authorizer>, knowledge: Arc<Knowledge>) -> Self {
        Self { family, authorizer, knowledge, cache: Mutex::default() }
    }

    /// The stored policies that have bindings; none for a write of a policy or binding, which policies do not decide about.
    fn hooks_for(&self, attributes: &Attributes<'_>, cluster: &Cluster<'_>) -> Arc<[Hook]> {
        if admission_kinds::is_admission(attributes.resource.group) { Arc::default() } else { self.hooks(cluster) }
    }

    fn hooks(&self, cluster: &Cluster<'_>) -> Arc<[Hook]> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let Cache { policies: known_policies, bindings: known_bindings, source, hooks } = &mut *cache;
        let stored = |plural: &str| cluster.stored(GROUP, plural);
        let mut changed = sync(known_policies, &stored(self.family.policies()), |name, object| match object {
            Some(object) => source.put_policy(object, cluster.release()),
            None => source.remove_policy(name),
        });
        changed |= sync(known_bindings, &stored(self.family.bindings()), |name, object| match object {
            Some(object) => source.put_binding(object, cluster.release()),
            None => source.remove_binding(name),
        });
        if changed {
            *hooks = source.hooks().into();
        }
        Arc::clone(hooks)
    }
}

/// Tells `change` of every object that is new, another or gone; whether there was any.
fn sync(
    known: &mut BTreeMap<String, u64>,
    stored: &crate::server::registry::store::Found,
    mut change: impl FnMut(&str, Option<&Value>),
) -> bool {
    let same = known.len() == stored.len()
        && known
            .iter()
            .zip(stored)
            .all(|((name, revision), (key, object))| name == key && *revision == object.revision);
    if same {
        return false;
    }
    let now: BTreeMap<String, u64> = stored.iter().map(|(key, object)| (key.clone(), object.revision)).collect();
    for name in known.keys().filter(|name| !now.contains_key(*name)) {
        change(name, None);
    }
    for (key, object) in stored {
        if known.get(key) != Some(&object.revision) {
            change(key, Some(&object.raw()));
        }
    }
    *known = now;
    true
}

impl Plugin for MutatingAdmissionPolicy {
    fn handles(&self, operation: Operation) -> bool {
        operation != Operation::Delete
    }

    fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        cluster: &Cluster<'_>,
        report: &mut Report,
    ) -> Result<Mutation, Refusal> {
        if !cluster.release().enables(Gate::MutatingAdmissionPolicy) {
            return Ok(Mutation::Unchanged);
        }
        let hooks = self.0.hooks_for(attributes, cluster);
        if hooks.is_empty() {
            return Ok(Mutation::Unchanged);
        }
        let request = request_of(attributes);
        let view = View { cluster, policies: &self.0 };
        let changed = mutating::mutate(&hooks, &request, object, &view, &mut report.policies)
            .map_err(|refused| refusal(attributes, refused))?;
        Ok(if changed { Mutation::Changed } else { Mutation::Unchanged })
    }
}

impl Plugin for ValidatingAdmissionPolicy {
    fn handles(&self, _: Operation) -> bool {
        true
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        cluster: &Cluster<'_>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let hooks = self.0.hooks_for(attributes, cluster);
        if hooks.is_empty() {
            return Ok(());
        }
        let request = request_of(attributes);
        let view = View { cluster, policies: &self.0 };
        let result = validating::validate(&hooks, &request, object, &view, &mut report.policies);
        report.warnings.extend(report.policies.warnings.iter().map(warning_text));
        result.map_err(|refused| refusal(attributes, refused))
    }
}

fn request_of<'a>(attributes: &Attributes<'a>) -> Request<'a> {
    let Attributes { resource, kind, user, .. } = *attributes;
    Request {
        operation: match attributes.operation {
            Operation::Create => request::Operation::Create,
            Operation::Update => request::Operation::Update,
            Operation::Delete => request::Operation::Delete,
        },
        resource: own_resource(resource),
        subresource: attributes.subresource,
        kind: Kind { group: kind.group.to_owned(), version: kind.version.to_owned(), kind: kind.kind.to_owned() },
        namespace: attributes.namespace,
        name: attributes.name,
        old_object: attributes.old_object,
        options: attributes.options_value(),
        dry_run: attributes.dry_run,
        user: User {
            username: user.username.clone(),
            uid: user.uid.clone(),
            groups: user.groups.clone(),
            extra: user.extra.clone(),
        },
    }
}

fn own_resource(resource: GroupVersionResource<'_>) -> request::Resource {
    request::Resource {
        group: resource.group.to_owned(),
        version: resource.version.to_owned(),
        resource: resource.resource.to_owned(),
    }
}

fn refusal(attributes: &Attributes<'_>, refused: Refused) -> Refusal {
    match refused {
        Refused::NamespaceNotFound(name) => Refusal::not_found(namespaces::RESOURCE, &name),
        Refused::Internal(why) => Refusal::internal(why),
        Refused::Unavailable(message) => Refusal {
            code: 503,
            reason: Reason::ServiceUnavailable,
            message,
            details: None,
            errors: Vec::new(),
            continue_: String::new(),
        },
        Refused::Denied(denial) => {
            let GroupVersionResource { group, resource, .. } = attributes.resource;
            let of = GroupResource { group, resource };
            let causes = denial.causes.into_iter().map(|message| Cause { message, ..Cause::default() });
            let details = Details {
                name: denial.name,
                group: of.group.to_owned(),
                kind: of.resource.to_owned(),
                causes: causes.collect(),
                ..Details::default()
            };
            Refusal {
                code: denial.code,
                reason: match denial.reason.as_str() {
                    "Forbidden" => Reason::Forbidden,
                    "Unauthorized" => Reason::Unauthorized,
                    "RequestEntityTooLarge" => Reason::RequestEntityTooLarge,
                    "Invalid" => Reason::Invalid,
                    other => Reason::Other(other.to_owned()),
                },
                message: denial.message,
                details: Some(Box::new(details)),
                errors: Vec::new(),
                continue_: String::new(),
            }
        }
    }
}

/// The server as policies see it.
struct View<'v> {
    cluster: &'v Cluster<'v>,
    policies: &'v Policies,
}

impl View<'_> {
    fn served(&self, kind: &Kind) -> Option<Resource> {
        self.cluster.resource_of_kind(&kind.group, &kind.version, &kind.kind)
    }

    fn version(&self, resource: &request::Resource) -> Option<Resource> {
        let mut all = self.cluster.all_versions(&resource.group, &resource.resource).into_iter();
        all.find(|found| found.resource().version == resource.version)
    }
}

/// The group and kind of the scale subresource.
fn is_scale(kind: &Kind) -> bool {
    kind.group == "autoscaling" && kind.kind == "Scale"
}

impl request::Cluster for View<'_> {
    fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        let assumed = || (!self.knows_namespace(name)).then(|| Arc::new(namespaces::assumed(name)));
        self.cluster.namespace(name).or_else(assumed)
    }

    fn param_scope(&self, kind: &Kind) -> Option<ParamScope> {
        let found = self.served(kind)?;
        Some(ParamScope { namespaced: found.is_namespaced(), typed: admission_kinds::is_typed(&kind.group) })
    }

    fn params(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) -> Vec<Arc<Value>> {
        let Some(found) = self.served(kind) else { return Vec::new() };
        let namespace = namespace.unwrap_or_default();
        match name {
            // A param that cannot be converted is one that is not there.
            Some(name) => found.get(namespace, name).ok().flatten().into_iter().collect(),
            None => self.cluster.list(&found, namespace).unwrap_or_default(),
        }
    }

    fn equivalents(&self, resource: &request::Resource, subresource: &str) -> Vec<(request::Resource, Kind)> {
        let all = self.cluster.all_versions(&resource.group, &resource.resource);
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

    fn convert(&self, object: &Value, resource: &request::Resource, kind: &Kind) -> Result<Value, String> {
        let wanted = kind.api_version();
        let have = object.str_at(&["apiVersion"]).unwrap_or_default();
        let (group, version) = group_version::split(have);
        if group != resource.group {
            let kind = object.str_at(&["kind"]).unwrap_or_default();
            return Err(format!(
                "{group}/{version}, Kind={kind} is unstructured and is not suitable for converting to \"{wanted}\""
            ));
        }
        let all = self.cluster.all_versions(&resource.group, &resource.resource);
        if all.iter().all(|found| found.resource().version != version) {
            return Err(format!("request to convert CR from an invalid group/version: {have}"));
        }
        let mut converted = object.clone();
        if let Some(members) = converted.as_object_mut() {
            members.insert("apiVersion".to_owned(), wanted.into());
        }
        Ok(converted)
    }

    fn default(&self, resource: &request::Resource, kind: &Kind, object: &mut Value) {
        if !is_scale(kind)
            && let Some(version) = self.version(resource)
        {
            version.default(object);
        }
    }

    fn merge_type(&self, resource: &request::Resource, kind: &Kind) -> Option<TypeRef> {
        if is_scale(kind) {
            return Some(types::scale_type());
        }
        self.cluster.resource(&kind.group, &kind.version, &resource.resource).map(|found| found.merge_type())
    }

    fn authorizer(&self) -> Arc<dyn Authorizer> {
        Arc::clone(&self.policies.authorizer)
    }

    fn unknown(&self) -> Dependencies {
        self.policies.knowledge.unknown
    }

    fn knows_namespace(&self, name: &str) -> bool {
        self.policies.knowledge.knows_namespace(name)
    }

    fn knows_params(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) -> bool {
        self.policies.knowledge.knows_params(kind, namespace, name)
    }

    fn knows_kinds(&self) -> bool {
        self.policies.knowledge.knows_kinds()
    }
}
