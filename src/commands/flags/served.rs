//! The settings of a server that serves requests itself.

use super::static_policies::{self, StaticPoliciesError};
use crdx_server::server::{ServerBuilder, ServerSettings};
use crdx_value::release::Release;

/// Adds the policies in files, the served APIs, and what is allocated for Services to the options of a server.
///
/// # Errors
/// Returns the reason why a server would not start with the policies.
pub fn configure(
    builder: ServerBuilder,
    settings: &ServerSettings,
    release: Release,
) -> Result<ServerBuilder, StaticPoliciesError> {
    let policies = static_policies::read(&settings.admission, release)?;
    let builder = builder.with_static_policies(policies).with_runtime_config(settings.runtime_config.clone());
    Ok(builder.with_service_ranges(settings.service_ranges.clone()).with_node_ports(settings.node_ports))
}
