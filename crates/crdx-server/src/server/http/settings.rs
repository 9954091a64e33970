//! The settings of a server that every request needs.

use crate::server::http::user::UserInfo;
use crate::server::random::Random;
use crdx_value::release::Release;

/// The settings of a server that every request needs.
#[derive(Debug)]
pub(in crate::server) struct Settings {
    /// The simulated release.
    pub release: Release,
    /// The generator of UIDs and names.
    pub random: Random,
    /// The user of requests that name none.
    pub user: UserInfo,
}
