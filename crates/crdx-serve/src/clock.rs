//! The clock of the machine.

use crdx_server::server::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time.
pub(super) fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: now.as_secs() as i64, nanos: now.subsec_nanos() }
}
