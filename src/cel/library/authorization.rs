//! Authorization checks (`k8s.io/apiserver/pkg/cel/library/authz.go`). A rule of a CRD can name these functions, but there is no
//! authorizer to call them on.

use super::{Overload, Price};
use crate::cel::value::{Error, Value};

/// The overloads.
pub const FUNCTIONS: &[Overload] = &[
    Overload::member(
        "path",
        "authorizer_path",
        "(kubernetes.authorization.Authorizer, string) -> kubernetes.authorization.PathCheck",
        Price::One,
        never,
    )
    .since(27),
    Overload::member(
        "group",
        "authorizer_group",
        "(kubernetes.authorization.Authorizer, string) -> kubernetes.authorization.GroupCheck",
        Price::One,
        never,
    )
    .since(27),
    Overload::member(
        "serviceAccount",
        "authorizer_serviceaccount",
        "(kubernetes.authorization.Authorizer, string, string) -> kubernetes.authorization.Authorizer",
        Price::One,
        never,
    )
    .since(27),
    Overload::member(
        "resource",
        "groupcheck_resource",
        "(kubernetes.authorization.GroupCheck, string) -> kubernetes.authorization.ResourceCheck",
        Price::One,
        never,
    )
    .since(27),
    Overload::member(
        "subresource",
        "resourcecheck_subresource",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        Price::One,
        never,
    )
    .since(27),
    Overload::member(
        "namespace",
        "resourcecheck_namespace",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        Price::One,
        never,
    )
    .since(27),
    Overload::member(
        "name",
        "resourcecheck_name",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        Price::One,
        never,
    )
    .since(27),
    Overload::member(
        "check",
        "pathcheck_check",
        "(kubernetes.authorization.PathCheck, string) -> kubernetes.authorization.Decision",
        Price::Authorize,
        never,
    )
    .since(27),
    Overload::member(
        "check",
        "resourcecheck_check",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.Decision",
        Price::Authorize,
        never,
    )
    .since(27),
    Overload::member("errored", "decision_errored", "(kubernetes.authorization.Decision) -> bool", Price::One, never)
        .since(27),
    Overload::member("error", "decision_error", "(kubernetes.authorization.Decision) -> string", Price::One, never)
        .since(27),
    Overload::member("allowed", "decision_allowed", "(kubernetes.authorization.Decision) -> bool", Price::One, never)
        .since(27),
    Overload::member("reason", "decision_reason", "(kubernetes.authorization.Decision) -> string", Price::One, never)
        .since(27),
    Overload::member(
        "fieldSelector",
        "authorizer_fieldselector",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        Price::Selector,
        never,
    )
    .since(31),
    Overload::member(
        "labelSelector",
        "authorizer_labelselector",
        "(kubernetes.authorization.ResourceCheck, string) -> kubernetes.authorization.ResourceCheck",
        Price::Selector,
        never,
    )
    .since(31),
];

fn never<'a>(_: &[Value<'a>]) -> Result<Value<'a>, Error> {
    Err(Error::no_such_overload())
}
