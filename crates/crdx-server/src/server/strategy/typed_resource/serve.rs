//! Serves every built-in kind of the release.

use crate::crd::{Condition, CrdVersion, CustomResourceDefinition, Names, Scale, Spec, Status, Subresources};
use crate::server::strategy::built_in_kind::{BuiltInKind, EVENTS};
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::Serving;
use crdx_types::resources::{self, ApiResource};
use crdx_types::table;
use crdx_value::group_version::{api_version, rank};
use crdx_value::release::Release;
use crdx_value::sort::sort_by_key;
use crdx_value::{Map, Value};
use std::cmp::Reverse;
use std::sync::Arc;

/// Serves all built-in kinds ([`ServerBuilder::with_built_in_kinds`](crate::server::ServerBuilder::with_built_in_kinds)).
/// Kinds that are already served keep their validation.
pub(in crate::server) fn serve(resources: &Resources) {
    let release = resources.settings.release;
    let mut all: Vec<ApiResource> = resources::resources(release.emulated().number().into()).collect();
    // The core group first: other groups share its objects. The newest version, which is stored, comes first.
    sort_by_key(&mut all, |resource| (resource.group, resource.plural, Reverse(rank(resource.version))));
    for versions in all.chunk_by(|a, b| (a.group, a.plural) == (b.group, b.plural)) {
        // Namespaces have a life cycle of their own.
        let is_served = |resource: &&ApiResource| {
            let ApiResource { group, version, plural, .. } = **resource;
            let is_disabled = resources.runtime_config.serves(group, version, plural) == Some(false);
            resource.writable && !is_disabled && !(group.is_empty() && plural == "namespaces")
        };
        let versions: Vec<&ApiResource> = versions.iter().filter(is_served).collect();
        let Some(ApiResource { group, plural, .. }) = versions.first() else { continue };
        let kinds =
            versions.iter().map(|r| BuiltInKind::new(resources.kinds, r.group, r.version, r.kind, r.plural, release));
        let Some(kinds) = kinds.collect::<Option<Vec<_>>>() else { continue };
        let name = format!("{plural}.{group}");
        let known = resources.get(&name);
        let shared = (*group == EVENTS).then(|| resources.get("events.")).flatten();
        let objects = match known.as_ref().or(shared.as_ref()) {
            Some(serving) => Arc::clone(&serving.objects),
            None => Arc::new(resources.storage.collection(&name)),
        };
        let Some(definition) = definition(&versions, name.clone(), release) else { continue };
        let mut serving = Serving::compile(Arc::new(definition), objects, release);
        if let Some(known) = known {
            serving = serving.built_in(known.built_in);
        }
        resources.insert(&name, serving.typed(kinds));
    }
}

/// The CRD with the names, the scope, the subresources and the deprecated versions of a resource, and without schema; the
/// first version is the storage version. `None` without versions.
pub(in crate::server) fn definition(
    versions: &[&ApiResource],
    name: String,
    release: Release,
) -> Option<CustomResourceDefinition> {
    let resource = versions.first()?;
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let names = Names {
        plural: resource.plural.to_owned(),
        singular: resource.singular.to_owned(),
        short_names: owned(&resource.short_names),
        kind: resource.kind.to_owned(),
        list_kind: format!("{}List", resource.kind),
        categories: owned(&resource.categories),
    };
    let version = |(at, resource): (usize, &&ApiResource)| {
        let scale = resource.scale.then(|| Scale {
            spec_replicas_path: ".spec.replicas".to_owned(),
            status_replicas_path: ".status.replicas".to_owned(),
            label_selector_path: None,
        });
        let deprecation_warning = deprecation_warning(resource, release);
        CrdVersion {
            name: resource.version.to_owned(),
            served: true,
            storage: at == 0,
            deprecated: deprecation_warning.is_some(),
            deprecation_warning,
            subresources: Some(Subresources { status: resource.status, scale }),
            ..CrdVersion::default()
        }
    };
    let condition =
        |type_: &str| Condition { type_: type_.to_owned(), status: "True".to_owned(), ..Condition::default() };
    Some(CustomResourceDefinition {
        metadata: Map::from([("name".to_owned(), Value::from(name))]),
        spec: Spec {
            group: resource.group.to_owned(),
            version: resource.version.to_owned(),
            names: names.clone(),
            scope: if resource.namespaced { "Namespaced" } else { "Cluster" }.to_owned(),
            versions: versions.iter().enumerate().map(version).collect(),
            ..Spec::default()
        },
        status: Status {
            conditions: Some(vec![condition("NamesAccepted"), condition("Established")]),
            accepted_names: names,
            stored_versions: vec![resource.version.to_owned()],
            ..Status::default()
        },
        ..CustomResourceDefinition::default()
    })
}

/// The warning about a version of a kind that is deprecated in a release.
fn deprecation_warning(resource: &ApiResource, release: Release) -> Option<String> {
    let (api_version, minor) = (api_version(resource.group, resource.version), release.minor().number().into());
    table::table().kind(&api_version, resource.kind, minor)?.deprecation_warning(&api_version, resource.kind, minor)
}
