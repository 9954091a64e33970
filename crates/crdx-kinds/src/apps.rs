//! `apps`.

pub(crate) mod controller_revision;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod replica_set;
pub(crate) mod stateful_set;

use crate::features::{Feature, feature};
use crdx_value::release::Gate;

/// The features of the status of Deployments and `ReplicaSet`s.
pub(crate) const STATUS_FEATURES: &[Feature] =
    &[feature(&[Gate::DeploymentReplicaSetTerminatingReplicas], &[&["status", "terminatingReplicas"]])];
