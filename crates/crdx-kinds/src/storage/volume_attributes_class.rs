//! `VolumeAttributesClass`es.

use crate::admission::add_finalizer;
use crate::declared_kind::DeclaredKind;
use crdx_server::server::{Behaviour, KindStrategy};
use crdx_types::empties::Empties;
use crdx_value::Value;

/// The strategy.
#[derive(Debug)]
pub(crate) struct VolumeAttributesClass;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind { behaviour: Behaviour::RETURNED, ..DeclaredKind::MOST };

impl KindStrategy for VolumeAttributesClass {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn admit_create(&self, object: &mut Value, _: Option<&Empties>) {
        add_finalizer(object, "kubernetes.io/vac-protection");
    }
}
