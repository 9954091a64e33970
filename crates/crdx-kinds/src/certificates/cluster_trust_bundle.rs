//! `ClusterTrustBundle`s.

use crate::declared_kind::DeclaredKind;
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::Behaviour;
use crdx_server::server::behaviour;
use crdx_value::release::V1_38;

/// The strategy.
pub(crate) static CLUSTER_TRUST_BUNDLE: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        name: NameRule::PathSegment,
        fields: Some(&[behaviour::text("spec.signerName", &[&["spec", "signerName"]])]),
        generation_since: V1_38,
        needs_revision: true,
        ..Behaviour::MOST
    },
    ..DeclaredKind::MOST
};
