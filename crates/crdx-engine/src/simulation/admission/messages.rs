//! Describes unknown inputs.

use crdx_server::policies::knowledge::{Missing, UnevaluatedPart};
use crdx_server::policies::request::Kind;

/// The reason why an input is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The files do not have it.
    NotInFiles,
    /// The cluster was queried for it and did not return it.
    NotReadable,
    /// The cluster has no such Namespace.
    NoNamespace,
}

/// Describes a part of a policy that was not evaluated.
pub fn message(unevaluated: &UnevaluatedPart, reason: Reason) -> String {
    let kind = unevaluated.policy_kind.kind();
    let with =
        if unevaluated.binding.is_empty() { String::new() } else { format!(" with binding {:?}", unevaluated.binding) };
    let state = if reason == Reason::NoNamespace { "which the cluster does not have" } else { "which is not known" };
    format!("{kind} {:?}{with} depends on {}, {state}", unevaluated.policy, missing(&unevaluated.missing))
}

/// Describes the unknown input.
pub fn missing(missing: &Missing) -> String {
    match missing {
        Missing::User => "request.userInfo".to_owned(),
        Missing::Authorizer => "authorizer".to_owned(),
        Missing::Namespace { name, labels } if labels.is_empty() => format!("the Namespace {name:?}"),
        Missing::Namespace { name, labels } => {
            let (s, labels) = (if labels.len() == 1 { "" } else { "s" }, labels.join(", "));
            format!("the label{s} {labels} of namespace {name:?}")
        }
        Missing::ParamKind(kind) => format!("the CRD of its params, {}", described(kind)),
        Missing::Field(path) if path.is_empty() => "the whole object".to_owned(),
        Missing::Field(path) => format!("object.{path}"),
        Missing::Param { kind, namespace, name } => {
            let kind = described(kind);
            let within =
                namespace.as_ref().map_or_else(String::new, |namespace| format!(" in namespace {namespace:?}"));
            match name {
                Some(name) => format!("the param {kind} {name:?}{within}"),
                None => format!("params of {kind}{within}"),
            }
        }
    }
}

fn described(kind: &Kind) -> String {
    format!("{} {}", kind.api_version(), kind.kind)
}

/// Describes how the unknown input can be provided.
pub fn help(missing: &Missing, reason: Reason) -> String {
    match missing {
        Missing::User => "give the sender of the requests with --request-user and --request-group".to_owned(),
        Missing::Authorizer => {
            let rbac = if reason == Reason::NotInFiles { " and RBAC objects with --policies" } else { "" };
            format!("give --request-user{rbac}, or --authorizer allow|deny|FILE")
        }
        Missing::Field(_) => {
            "the cluster may set or change it; set it in the object, or ask the cluster: kubectl apply --dry-run=server".to_owned()
        }
        Missing::ParamKind(_) => "give the CRD with --crds or --policies".to_owned(),
        Missing::Namespace { .. } if reason == Reason::NoNamespace => {
            "create the Namespace first, or give the one that will be created, with its labels, with --policies".to_owned()
        }
        Missing::Namespace { .. } | Missing::Param { .. } if reason == Reason::NotReadable => {
            "it could not be read from the cluster: kubectl crdx rbac prints the permissions to read it; or give it with --policies"
                .to_owned()
        }
        Missing::Namespace { .. } => "give the Namespace with its labels with --policies".to_owned(),
        Missing::Param { .. } => "give it with --policies".to_owned(),
    }
}
