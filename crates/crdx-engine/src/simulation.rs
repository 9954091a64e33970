//! Simulates the requests of kubectl for the objects of an input, one object after the other: the engine of `validate` and
//! `diff`.
//!
//! The parts that know neither an input nor a cluster are used by other modules, too: the object of an input ([`object`]), the
//! CRDs that define kinds ([`definitions`]), and the report of the server's answer ([`answer`]). The feature `simulator` adds
//! the others. `OrderedState` has what depends on the order of the input: it creates CRDs and prepares objects. A
//! `Simulator` sends prepared objects to the servers of one release, in any order and on any thread, all with `submit`;
//! `resource` and `built_in` have what differs between custom resources and built-in kinds, `decoding` what is reported of a
//! request that is not answered. `known_cluster` is what is known of the cluster for each object, `admission` has
//! the policies, `existing` the objects that exist before, `turns` orders objects with the same name, `lists` checks lists as
//! kubectl does, and `unfold` reads their items.
//!
//! The caller reads the documents, starts threads, and implements `Cluster` and
//! `ObjectStore`.

#[cfg(feature = "simulator")]
pub mod admission;
#[cfg(feature = "simulator")]
pub mod aggregated;
pub mod answer;
#[cfg(feature = "simulator")]
pub mod built_in;
#[cfg(feature = "simulator")]
pub mod built_in_server;
#[cfg(feature = "simulator")]
mod context;
#[cfg(feature = "simulator")]
mod decoding;
#[cfg(feature = "simulator")]
mod defined_kinds;
#[cfg(feature = "simulator")]
mod definition_update;
pub mod definitions;
#[cfg(feature = "simulator")]
mod earlier_object;
#[cfg(feature = "simulator")]
mod encrypted;
#[cfg(feature = "simulator")]
pub mod existing;
pub mod filter;
#[cfg(feature = "simulator")]
mod generated_name;
pub mod hints;
pub mod identity;
#[cfg(feature = "simulator")]
pub mod known_cluster;
#[cfg(feature = "simulator")]
pub(crate) mod kubectl_errors;
#[cfg(feature = "simulator")]
mod list_models;
#[cfg(feature = "simulator")]
pub mod lists;
#[cfg(feature = "simulator")]
mod name_hash;
pub mod object;
#[cfg(feature = "simulator")]
pub mod object_store;
#[cfg(feature = "simulator")]
mod ordered_state;
#[cfg(feature = "simulator")]
pub mod pod_classes;
#[cfg(feature = "policies")]
pub(crate) mod policy_request;
#[cfg(feature = "simulator")]
mod prepared;
pub mod removed_versions;
#[cfg(feature = "simulator")]
pub mod request_lock;
#[cfg(feature = "simulator")]
pub mod resource;
#[cfg(feature = "policies")]
pub(crate) mod served;
#[cfg(feature = "simulator")]
pub mod server_configuration;
#[cfg(feature = "simulator")]
pub mod server_settings;
#[cfg(feature = "simulator")]
mod simulated;
#[cfg(feature = "simulator")]
mod simulator;
#[cfg(feature = "simulator")]
mod stored_location;
#[cfg(feature = "simulator")]
pub(crate) mod submit;
#[cfg(feature = "simulator")]
mod turns;
#[cfg(feature = "simulator")]
pub mod unfold;
#[cfg(feature = "simulator")]
mod unsent;

#[cfg(feature = "simulator")]
pub use context::{CompareOptions, Updates};
#[cfg(feature = "simulator")]
pub use defined_kinds::DefinitionSource;
#[cfg(feature = "simulator")]
pub use ordered_state::{Destination, OrderedState};
#[cfg(feature = "simulator")]
pub use prepared::{Prepared, PreparedObject};
#[cfg(feature = "simulator")]
pub use simulator::{Simulator, SimulatorSettings};
