//! Serves every built-in kind of the release.

use crate::builtin::resources::{Resource, resources};
use crate::crd::{Condition, CrdVersion, CustomResourceDefinition, Names, Scale, Spec, Status, Subresources};
use crate::server::Server;
use crate::server::registry::store::Collection;
use crate::server::strategy::built_in_kind::{BuiltInKind, EVENTS};
use crate::server::strategy::custom_resource::serving::Serving;
use crate::value::{Map, Value};
use std::sync::{Arc, PoisonError};

impl Server {
    /// Serves all built-in kinds ([`ServerBuilder::with_built_in_kinds`](crate::server::ServerBuilder::with_built_in_kinds)).
    /// Kinds that are already served keep their validation.
    pub(in crate::server) fn serve_built_in_kinds(&mut self) {
        let release = self.release();
        let mut all: Vec<Resource> = resources(release.minor().number().into()).collect();
        // The core group first: other groups share its objects.
        all.sort_by_key(|resource| resource.group);
        for resource in all {
            // Namespaces have a life cycle of their own.
            let is_namespace = resource.group.is_empty() && resource.plural == "namespaces";
            if !resource.writable || is_namespace || (resource.group, resource.version) == ("autoscaling", "v1") {
                continue;
            }
            let Resource { group, version, kind, plural, .. } = resource;
            let Some(kind) = BuiltInKind::new(group, version, kind, plural, release) else { continue };
            let name = format!("{plural}.{group}");
            let known = self.serving_of(&name);
            let shared = (group == EVENTS).then(|| self.serving_of("events.")).flatten();
            let objects = match known.as_ref().or(shared.as_ref()) {
                Some(serving) => Arc::clone(&serving.objects),
                None => Arc::new(Collection::new(&name, &self.storage_config, self.revision.current())),
            };
            let mut serving = Serving::compile(Arc::new(definition(&resource, name.clone())), objects, release);
            if let Some(known) = known {
                serving = serving.built_in(known.built_in);
            }
            let all = self.serving.get_mut().unwrap_or_else(PoisonError::into_inner);
            all.insert(name, Arc::new(serving.typed(kind)));
        }
    }
}

/// The CRD with the names, the scope and the subresources of a resource, and without schema.
fn definition(resource: &Resource, name: String) -> CustomResourceDefinition {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let names = Names {
        plural: resource.plural.to_owned(),
        singular: resource.singular.to_owned(),
        short_names: owned(&resource.short_names),
        kind: resource.kind.to_owned(),
        list_kind: format!("{}List", resource.kind),
        categories: owned(&resource.categories),
    };
    let scale = resource.scale.then(|| Scale {
        spec_replicas_path: ".spec.replicas".to_owned(),
        status_replicas_path: ".status.replicas".to_owned(),
        label_selector_path: None,
    });
    let version = CrdVersion {
        name: resource.version.to_owned(),
        served: true,
        storage: true,
        subresources: Some(Subresources { status: resource.status, scale }),
        ..CrdVersion::default()
    };
    let condition =
        |type_: &str| Condition { type_: type_.to_owned(), status: "True".to_owned(), ..Condition::default() };
    CustomResourceDefinition {
        metadata: Map::from([("name".to_owned(), Value::from(name))]),
        spec: Spec {
            group: resource.group.to_owned(),
            version: resource.version.to_owned(),
            names: names.clone(),
            scope: if resource.namespaced { "Namespaced" } else { "Cluster" }.to_owned(),
            versions: vec![version],
            ..Spec::default()
        },
        status: Status {
            conditions: Some(vec![condition("NamesAccepted"), condition("Established")]),
            accepted_names: names,
            stored_versions: vec![resource.version.to_owned()],
            ..Status::default()
        },
    }
}
