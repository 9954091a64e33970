//! `LimitRange`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::WITH_CREATION;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy};
use crdx_value::Value;

/// The strategy.
#[derive(Debug)]
pub(crate) struct LimitRange;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { creates_on_update: true, ..Behaviour::MOST },
    columns: Some(WITH_CREATION),
    ..DeclaredKind::MOST
};

impl KindStrategy for LimitRange {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        let metadata = |field| object.str_at(&["metadata", field]).unwrap_or_default();
        if metadata("name").is_empty() {
            // The server generates a name with the form of a UID.
            let name = metadata("uid").to_owned();
            object.insert_at(&["metadata", "name"], name.into());
        }
        FACTS.prepare_create(object, request);
    }
}
