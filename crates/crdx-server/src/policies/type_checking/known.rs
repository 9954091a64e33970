//! Kinds whose schemas are known.

use crate::crd::{CustomResourceDefinition, openapi};
use crate::policies::request::Kind;
use crate::schema::Schema;
use crdx_value::release::Release;
use std::sync::Arc;

/// A kind and its published schema.
#[derive(Clone, Debug)]
pub struct KnownType {
    /// The kind.
    pub kind: Kind,
    /// The names that rules may use: plural and singular, in lower case.
    pub resources: [String; 2],
    /// The schema of its objects, without references.
    pub schema: Arc<Schema>,
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
                    schema: Arc::new(schema),
                })
            })
            .collect()
    }
}
