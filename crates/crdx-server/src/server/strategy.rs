//! The differences between resources: one [`Strategy`](super::registry::strategy::Strategy) each for custom resources and
//! their status, for their Scale, and for CRDs. Built-in kinds are custom resources with a [`built_in::BuiltIn`], or
//! have their Go types ([`typed_resource`]).

pub(in crate::server) mod admission_kinds;
pub(in crate::server) mod built_in;
pub(in crate::server) mod built_in_kind;
pub(in crate::server) mod custom_resource;
pub(in crate::server) mod definition;
pub(in crate::server) mod definitions;
pub(in crate::server) mod namespace;
pub(in crate::server) mod namespace_rule;
pub(in crate::server) mod resources;
pub(in crate::server) mod scale;
pub(in crate::server) mod serving;
pub(in crate::server) mod strategic_merge;
pub(in crate::server) mod subresource;
pub(in crate::server) mod typed_resource;
pub(in crate::server) mod work_queue;
