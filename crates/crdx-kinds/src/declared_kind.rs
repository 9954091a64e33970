//! Kinds whose strategies are facts only.

use crate::features::Features;
use crate::features::emptied::has_emptied;
use crate::features::paths::Path;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy, PrinterColumn};
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::release::Release;

/// A strategy of facts. Other strategies contain one, for what they have in common with it.
#[derive(Debug)]
pub(crate) struct DeclaredKind {
    pub behaviour: Behaviour,
    pub columns: Option<&'static [PrinterColumn]>,
    pub features: Features,
    /// The paths of the empty lists and maps that count as changes.
    pub counts_empty: &'static [Path],
}

impl DeclaredKind {
    /// The facts about most kinds.
    pub const MOST: Self =
        Self { behaviour: Behaviour::MOST, columns: None, features: Features::NONE, counts_empty: &[] };
}

impl KindStrategy for DeclaredKind {
    fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    fn columns(&self) -> Option<&'static [PrinterColumn]> {
        self.columns
    }

    fn complete_decoded(&self, object: &mut Value, release: Release) {
        self.features.drop_decoded(object, release);
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        self.features.prepare_create(object, request);
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        self.features.prepare_update(object, old, request);
    }

    fn prepare_status(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        self.features.prepare_status(object, old, request);
    }

    fn has_emptied(&self, object: &Value, empties: &Empties) -> bool {
        has_emptied(self.counts_empty, object, empties)
    }
}
