//! `EndpointSlice`s.

use crate::declared_kind::DeclaredKind;
use crate::features::{Feature, Features, feature};
use crate::printer::{AGE, NAMED, column, first_items, list, text};
use crdx_server::server::{Behaviour, KindRequest, KindStrategy, PrinterColumn};
use crdx_value::release::Gate;
use crdx_value::{Value, json};

/// The strategy.
#[derive(Debug)]
pub(crate) struct EndpointSlice;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        counted_metadata: Some("labels"),
        compares_before_preparation: true,
        ..Behaviour::GENERATION
    },
    columns: Some(COLUMNS),
    features: Features { fields: FEATURES, ..Features::NONE },
    ..DeclaredKind::MOST
};

impl KindStrategy for EndpointSlice {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        FACTS.prepare_create(object, request);
        if request.generates_fields {
            drop_topology(object, None);
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        FACTS.prepare_update(object, old, request);
        if request.generates_fields {
            drop_topology(object, Some(old));
        }
    }
}

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("AddressType", "", |o, _| text(o, &["addressType"]).into()),
    column("Ports", "", |o, _| {
        let ports = list(o, &["ports"]).iter();
        first_items(ports.map(|port| port.get("port").map_or_else(|| port_name(port), json::to_string))).into()
    }),
    column("Endpoints", "", |o, _| {
        let endpoints = list(o, &["endpoints"]).iter();
        let addresses = endpoints.flat_map(|endpoint| list(endpoint, &["addresses"]));
        first_items(addresses.map(|address| address.as_str().unwrap_or_default().to_owned())).into()
    }),
    AGE,
];

fn port_name(port: &Value) -> String {
    port.str_at(&["name"]).unwrap_or("*").to_owned()
}

const FEATURES: &[Feature] =
    &[feature(&[Gate::PreferSameTrafficDistribution], &[&["endpoints", "*", "hints", "forNodes"]])];

/// Drops the topology of endpoints, which are no part of `discovery.k8s.io/v1`, if an endpoint changes (`dropTopologyOnV1`).
fn drop_topology(new: &mut Value, old: Option<&Value>) {
    if old.is_some_and(|old| old.get("endpoints") == new.get("endpoints")) {
        return;
    }
    let Some(Value::Array(endpoints)) = new.get_mut("endpoints") else { return };
    for endpoint in endpoints.iter_mut().filter_map(Value::as_object_mut) {
        endpoint.remove("deprecatedTopology");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn topology_stays_with_unchanged_endpoints() {
        let slice = read(r#"{"endpoints":[{"addresses":["a"],"deprecatedTopology":{"a":"b"}}]}"#);
        let (mut created, mut updated) = (slice.clone(), slice.clone());
        drop_topology(&mut created, None);
        drop_topology(&mut updated, Some(&slice));
        assert_eq!((created, updated), (read(r#"{"endpoints":[{"addresses":["a"]}]}"#), slice));
    }
}
