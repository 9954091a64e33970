//! `ResourceClaimTemplate`s.

use crate::declared_kind::DeclaredKind;
use crate::features::Features;
use crate::resource::CLAIM_FEATURES;
use crdx_builtin::admin_access;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy};
use crdx_value::Value;
use crdx_value::field::ErrorList;

/// The strategy.
#[derive(Debug)]
pub(crate) struct ResourceClaimTemplate;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { depends_on_namespace: true, ..Behaviour::RETURNED },
    features: Features { at: &["spec", "spec"], fields: CLAIM_FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for ResourceClaimTemplate {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        namespace: Option<Option<&Value>>,
        _: &KindRequest<'_>,
    ) -> ErrorList {
        let Some(namespace) = namespace else { return ErrorList::new() };
        let error = match old {
            None => admin_access::refusal("ResourceClaimTemplate", object, namespace),
            // The specification cannot change.
            Some(_) => None,
        };
        error.into_iter().collect()
    }
}
