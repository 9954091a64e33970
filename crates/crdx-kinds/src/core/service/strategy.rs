//! The strategy of Services (`pkg/registry/core/service/strategy.go`).

use crate::core::service::printer::COLUMNS;
use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::behaviour;
use crdx_server::server::{Behaviour, KindRequest, KindStrategy};
use crdx_value::release::{Gate, V1_31, V1_34};
use crdx_value::{Map, Value};

/// The strategy.
#[derive(Debug)]
pub(crate) struct Service;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        creates_on_update: true,
        name: NameRule::Service,
        fields: Some(&[
            behaviour::NAMESPACE,
            behaviour::text("spec.clusterIP", &[&["spec", "clusterIP"]]),
            behaviour::text("spec.type", &[&["spec", "type"]]),
        ]),
        fields_since: V1_31,
        relaxes_prefix_since: V1_34,
        allocates: true,
        ..Behaviour::RETURNED
    },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for Service {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        FACTS.prepare_update(object, old, request);
        // A Service that is no load balancer any more has no address of one.
        if object.str_at(&["spec", "type"]) != Some("LoadBalancer")
            && let Some(status) = object.get_mut("status").and_then(Value::as_object_mut)
        {
            status.insert("loadBalancer".to_owned(), Value::Object(Map::new()));
        }
    }
}

const FEATURES: &[Feature] = &[feature(&[Gate::ServiceTrafficDistribution], &[&["spec", "trafficDistribution"]])];
