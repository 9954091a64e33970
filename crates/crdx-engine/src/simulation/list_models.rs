//! The models of kinds in the OpenAPI v2 document of the server, by which kubectl validates lists.

use crate::simulation::definitions::Definitions;
use crate::simulation::object::Kind;
use crdx_server::crd::{self, openapi};
use crdx_types::openapi::{OpenApiVersion, model_name, schemas};
use crdx_types::resources;
use crdx_types::types::Types;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The model of a kind.
#[derive(Debug)]
pub struct Model {
    /// The schemas of the kind and of all types that it contains.
    pub definitions: Map,
    /// The name of the kind's schema.
    pub name: String,
}

/// The models that were needed so far.
#[derive(Debug, Default)]
pub struct Models(BTreeMap<Kind, Arc<Model>>);

impl Models {
    /// Returns the model of a kind or list; `None` if the server publishes none, or the CRD is not known (yet).
    pub fn get(&mut self, kind: &Kind, known: &Definitions, release: Release) -> Option<Arc<Model>> {
        if let Some(model) = self.0.get(kind) {
            return Some(Arc::clone(model));
        }
        let model = of_definition(kind, known, release).or_else(|| of_built_in(kind, release))?;
        Some(Arc::clone(self.0.entry(kind.clone()).or_insert_with(|| Arc::new(model))))
    }
}

fn of_definition((group, version, kind): &Kind, known: &Definitions, release: Release) -> Option<Model> {
    let route = known.route(group, kind).or_else(|| known.list_route(group, kind))?;
    if !route.versions.contains(version) {
        return None;
    }
    let crd = crd::decode(&route.definition).ok()?.crd;
    definitions(openapi::v2(&crd, version, release), openapi::model_name(group, version, kind), release)
}

fn definitions(mut document: Value, name: String, release: Release) -> Option<Model> {
    openapi::adapt(&mut document, OpenApiVersion::V2, release);
    let Value::Object(definitions) = std::mem::take(document.get_mut("definitions")?) else { return None };
    definitions.contains_key(&name).then_some(Model { definitions, name })
}

fn of_built_in((group, version, kind): &Kind, release: Release) -> Option<Model> {
    let api_version = api_version(group, version);
    if *group == crd::GROUP {
        let document = openapi::own(OpenApiVersion::V2, "", release, false)?;
        let name = format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{version}.{kind}");
        return definitions(document, name, release);
    }
    let minor = u32::from(release.minor().number());
    let resource = kind.strip_suffix("List").unwrap_or(kind);
    let is_served = [kind.as_str(), resource].iter().any(|kind| {
        resources::of_kind(&api_version, kind, release.emulated().number().into())
            .is_some_and(|found| found.kind == *kind)
    });
    let types = Types::for_release(minor);
    let id = types.of_kind(&api_version, kind).filter(|_| is_served)?;
    let definitions = schemas(types, id, OpenApiVersion::V2);
    Some(Model { definitions, name: model_name(types, id) })
}
