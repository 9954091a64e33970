//! The names of resources and kinds, and the target of a request (`handlers.RequestScope`).

use crdx_value::group_version;

pub(in crate::server) type GroupResource<'a> = group_version::GroupResource<&'a str>;
pub(in crate::server) type GroupVersionResource<'a> = group_version::GroupVersionResource<&'a str>;
pub(in crate::server) type GroupVersionKind<'a> = group_version::GroupVersionKind<&'a str>;

/// The target of a write: the resource and subresource of the URL, and the kind of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct RequestScope<'a> {
    pub resource: GroupVersionResource<'a>,
    /// `status`, `scale`, or empty.
    pub subresource: &'a str,
    /// The kind: `autoscaling/v1` Scale for the scale subresource.
    pub kind: GroupVersionKind<'a>,
}

pub(in crate::server) const NAMESPACES: GroupResource<'static> = GroupResource { group: "", resource: "namespaces" };

/// Returns true for the group of admission policies, their bindings and webhook configurations.
pub(in crate::server) fn is_admission(group: &str) -> bool {
    group == crate::policies::GROUP
}

/// Returns true if the real server has Go types for the kinds of a group.
pub(in crate::server) fn is_typed(group: &str) -> bool {
    group.is_empty() || is_admission(group)
}
