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

    fn validate_in_namespace(
        &self,
        object: &Value,
        old: Option<&Value>,
        namespace: Option<&Value>,
        _: &KindRequest<'_>,
    ) -> ErrorList {
        // The specification cannot change.
        let error = old.is_none().then(|| admin_access::refusal("ResourceClaimTemplate", object, namespace));
        error.flatten().into_iter().collect()
    }
}
