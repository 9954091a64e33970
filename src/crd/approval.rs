//! The approval of APIs in the groups of Kubernetes (`apihelpers.GetAPIApprovalState`).

use super::{API_APPROVED_ANNOTATION, CustomResourceDefinition};
use crate::value::url::Url;

/// Whether a group belongs to Kubernetes, so that its APIs need approval.
pub fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|owner| group.strip_suffix(owner).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// The meaning of the approval annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Neither a URL nor "unapproved…".
    Invalid,
    /// A URL.
    Approved,
    /// "unapproved…"
    Bypassed,
    /// There is none.
    Missing,
}

/// The meaning of the approval annotation, and the condition's message.
pub fn approval(crd: &CustomResourceDefinition) -> (Approval, String) {
    let annotation = crd.annotation(API_APPROVED_ANNOTATION).unwrap_or_default();
    let must = format!("protected groups must have approval annotation \"{API_APPROVED_ANNOTATION}\"");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    if annotation.is_empty() {
        (Approval::Missing, format!("{must}, {see}"))
    } else if annotation.starts_with("unapproved") {
        (Approval::Bypassed, format!("not approved: {}", crate::value::quote::go_quote(annotation)))
    } else if Url::parse_request_uri(annotation).is_ok_and(|u| !u.host.is_empty() && !u.scheme.is_empty()) {
        (Approval::Approved, format!("approved in {annotation}"))
    } else {
        (Approval::Invalid, format!("{must} with either a URL or a reason starting with \"unapproved\", {see}"))
    }
}
