//! Kinds whose schemas are known: those of CRDs, and those that are built into Kubernetes.

use crate::crd::{self, CustomResourceDefinition, openapi};
use crate::policies::request::Kind;
use crate::schema::Schema;
use crdx_types::openapi::resolved;
use crdx_types::resources::{self, ApiResource};
use crdx_types::types::Types;
use crdx_value::release::Release;
use std::sync::Arc;

/// The type of CRDs.
const DEFINITION: &str = "apiextensions/v1.CustomResourceDefinition";

/// A kind and its published schema.
#[derive(Clone, Debug)]
pub struct KnownType {
    /// The kind.
    pub kind: Kind,
    /// The names that rules may use: plural and singular, in lower case.
    pub resources: [String; 2],
    /// The schema of its objects, without references; `None` for a built-in kind, whose schema is computed when it is needed.
    pub(super) definition: Option<Arc<Schema>>,
}

impl KnownType {
    /// Returns the kinds of a CRD, one for each served version, as the newest release publishes them.
    pub fn of_definition(crd: &CustomResourceDefinition) -> Vec<Self> {
        let spec = &crd.spec;
        let names = &spec.names;
        let singular = if names.singular.is_empty() { names.kind.to_lowercase() } else { names.singular.clone() };
        let served = spec.versions.iter().filter(|version| version.served);
        served
            .filter_map(|version| {
                let schema = Schema::from_value(&openapi::resolved(crd, &version.name, Release::NEWEST)).ok()?;
                Some(Self {
                    kind: Kind { group: spec.group.clone(), version: version.name.clone(), kind: names.kind.clone() },
                    resources: [names.plural.clone(), singular.clone()],
                    definition: Some(Arc::new(schema)),
                })
            })
            .collect()
    }

    /// Returns the built-in kinds that a release serves by default.
    pub fn built_in(release: Release) -> impl Iterator<Item = Self> {
        let of = |resource: &ApiResource| Self {
            kind: Kind {
                group: resource.group.to_owned(),
                version: resource.version.to_owned(),
                kind: resource.kind.to_owned(),
            },
            resources: [resource.plural.to_owned(), resource.singular.to_owned()],
            definition: None,
        };
        resources::discovered(release.emulated().number().into()).map(of)
    }

    /// Returns the plural name of the resource.
    pub fn plural(&self) -> &str {
        let [plural, _] = &self.resources;
        plural
    }

    /// Returns true if the kind is built into Kubernetes.
    pub fn is_built_in(&self) -> bool {
        self.definition.is_none()
    }

    /// Returns the schema of its objects, without references; that of a built-in kind in a release.
    pub fn schema(&self, release: Release) -> Option<Arc<Schema>> {
        self.definition.clone().or_else(|| {
            let types = Types::for_release(release.minor().number().into());
            // The table of types does not have the kind of CRDs.
            let of_definitions = || types.id(DEFINITION).filter(|_| self.kind.group == crd::GROUP);
            let id = types.of_kind(&self.kind.api_version(), &self.kind.kind).or_else(of_definitions)?;
            Schema::from_value(&resolved(types, id)).ok().map(Arc::new)
        })
    }
}
