//! The settings of a server that every request needs.

use crate::cluster_state::ClusterState;
use crate::server::http::user::UserInfo;
use crate::server::random::Random;
use crdx_value::release::Release;
use std::sync::Arc;

/// The settings of a server that every request needs.
#[derive(Debug)]
pub(in crate::server) struct Settings {
    /// The simulated release.
    pub release: Release,
    /// The generator of UIDs and names.
    pub random: Random,
    /// The user of requests that name none.
    pub user: UserInfo,
    /// The state of the cluster besides the stored objects; `None` if they are all objects of the cluster.
    pub cluster_state: Option<Arc<dyn ClusterState>>,
}
