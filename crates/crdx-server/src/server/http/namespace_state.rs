//! The state of the namespace of a create, as its sender knows it.

use crate::server::http::status::{Cause, Refusal};
use crate::server::scope::{GroupResource, NAMESPACES};

/// The state of the namespace of a create, as its sender knows it, for servers without Namespace objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamespaceState {
    /// The server decides; without Namespace objects, it accepts every namespace.
    #[default]
    Unspecified,
    /// The namespace does not exist.
    Missing,
    /// The namespace is being deleted.
    Terminating,
}

impl NamespaceState {
    /// Returns the code, the reason and the message of the refusal of a create of an object of a built-in kind.
    pub fn refusal(
        self,
        namespace: &str,
        (group, resource): (&str, &str),
        name: &str,
    ) -> Option<(u16, String, String)> {
        // The answer to a review of access must not depend on the namespace.
        if group == "authorization.k8s.io" {
            return None;
        }
        let refusal = self.check(namespace, GroupResource { group, resource }, name).err()?;
        Some((refusal.code, refusal.reason.as_str().to_owned(), refusal.message))
    }

    /// Rejects a create in a namespace that is known not to accept it.
    pub(in crate::server) fn check(self, namespace: &str, of: GroupResource<'_>, name: &str) -> Result<(), Refusal> {
        match self {
            _ if namespace.is_empty() => Ok(()),
            Self::Unspecified => Ok(()),
            Self::Missing => Err(Refusal::not_found(NAMESPACES, namespace)),
            Self::Terminating => Err(terminating(namespace, of, name)),
        }
    }
}

/// The refusal of a create in a namespace that is being deleted.
pub(in crate::server) fn terminating(namespace: &str, of: GroupResource<'_>, name: &str) -> Refusal {
    let reason = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut refusal = Refusal::forbidden(of, name, &reason);
    if let Some(details) = &mut refusal.details {
        details.causes.push(Cause {
            reason: "NamespaceTerminating".to_owned(),
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".to_owned(),
        });
    }
    refusal
}
