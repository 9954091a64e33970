//! The decisions of admission plugins that a cluster may enable (`--enable-admission-plugins`) on Pods and Services.

pub mod anti_affinity;
pub mod extended_resources;
pub mod external_ips;
pub mod node_selector;
pub mod pull_policy;
pub mod tolerations;
