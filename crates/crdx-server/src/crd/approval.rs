//! The approval of APIs in protected groups (`apihelpers.GetAPIApprovalState`).

use super::{API_APPROVED_ANNOTATION, CustomResourceDefinition};
use crdx_value::url::Url;

/// Returns true if a group is reserved for Kubernetes, so that its APIs need approval.
pub(crate) fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|owner| group.strip_suffix(owner).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// The state of the approval annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// Neither a URL nor a text that starts with "unapproved".
    Invalid,
    /// A URL.
    Approved,
    /// A text that starts with "unapproved".
    Bypassed,
    /// No annotation.
    Missing,
}

/// The state of the approval annotation, and the message for the condition.
pub(crate) fn approval(crd: &CustomResourceDefinition) -> (Approval, String) {
    let annotation = crd.annotation(API_APPROVED_ANNOTATION).unwrap_or_default();
    let must = format!("protected groups must have approval annotation \"{API_APPROVED_ANNOTATION}\"");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    if annotation.is_empty() {
        (Approval::Missing, format!("{must}, {see}"))
    } else if annotation.starts_with("unapproved") {
        (Approval::Bypassed, format!("not approved: {}", crdx_value::quote::go_quote(annotation)))
    } else if Url::parse_request_uri(annotation).is_ok_and(|u| !u.host.is_empty() && !u.scheme.is_empty()) {
        (Approval::Approved, format!("approved in {annotation}"))
    } else {
        (Approval::Invalid, format!("{must} with either a URL or a reason starting with \"unapproved\", {see}"))
    }
}
