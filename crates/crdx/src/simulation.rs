//! The parts of a simulation that know neither files nor a cluster: the object of an input, the CRDs that define kinds, and
//! the report of the server's answer.

pub mod answer;
pub mod definitions;
pub mod filter;
pub mod hints;
pub mod identity;
pub mod object;
#[cfg(feature = "policies")]
pub mod policy_request;
pub mod removed_versions;
pub mod served;
