//! `PodCertificateRequest`s.

use crate::declared_kind::DeclaredKind;
use crdx_server::server::behaviour;
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, GenerationRule};
use crdx_value::release::{Minor, V1_38};

/// The strategy.
pub(crate) static POD_CERTIFICATE_REQUEST: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        fields: Some(&[
            behaviour::text("spec.signerName", &[&["spec", "signerName"]]),
            behaviour::text("spec.podName", &[&["spec", "podName"]]),
            behaviour::text("spec.nodeName", &[&["spec", "nodeName"]]),
        ]),
        generation_since: V1_38,
        generation: GenerationRule::Constant,
        needs_revision: true,
        relaxes_prefix_since: Minor::ALWAYS,
        status_keeps: ALL_BUT_STATUS,
        ..Behaviour::MOST
    },
    ..DeclaredKind::MOST
};
