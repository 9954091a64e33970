//! Decides which request kubectl sends for an object: it creates an object that does not exist, and patches, applies or
//! replaces one that does.

use super::{Subresource, Verb};
use crdx_server::apply::client_side;
use crdx_server::server::Method;
use crdx_value::Value;

/// Which request kubectl makes; by default that of `kubectl apply`.
#[derive(Clone, Debug, Default)]
pub struct RequestKind {
    /// The kubectl command.
    pub verb: Verb,
    /// The subresource to write, `--subresource`.
    pub subresource: Option<Subresource>,
    /// `--force-conflicts`
    pub force: bool,
    /// `--field-manager`
    pub manager: Option<String>,
}

/// A write of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The POST of `kubectl create`.
    Create,
    /// The POST of `kubectl apply` for an object that does not exist. It has the last-applied annotation and no nulls.
    CreateByApply,
    /// The PATCH of `kubectl apply`: what changed since the last apply.
    Patch,
    /// The PATCH of `kubectl apply --server-side`, which creates or updates.
    ServerSideApply,
    /// The PUT of `kubectl replace`.
    Replace,
    /// The PATCH of `kubectl scale`.
    Scale,
}

impl RequestKind {
    /// Returns the request that kubectl sends for an object. `is_named` is false if the server generates the name, and
    /// `exists` is true if kubectl can read the object.
    pub fn operation(&self, is_named: bool, exists: bool) -> Operation {
        match (self.subresource, self.verb) {
            (Some(Subresource::Scale), _) => Operation::Scale,
            (Some(Subresource::Status), Verb::ServerSide) => Operation::ServerSideApply,
            (Some(Subresource::Status), _) => Operation::Replace,
            (None, Verb::ServerSide) if is_named => Operation::ServerSideApply,
            (None, Verb::Replace) if is_named => Operation::Replace,
            (None, Verb::Apply) if exists => Operation::Patch,
            (None, _) => self.create(is_named),
        }
    }

    /// Returns the request that creates an object. An object with only a generateName, which `kubectl apply` and `kubectl
    /// replace` refuse, is sent as `kubectl create` would send it.
    pub fn create(&self, is_named: bool) -> Operation {
        if self.verb == Verb::Apply && is_named { Operation::CreateByApply } else { Operation::Create }
    }

    /// Returns true if the request creates an object that does not exist.
    #[cfg(feature = "simulator")]
    pub(crate) fn may_create(&self) -> bool {
        self.verb != Verb::Replace && self.subresource.is_none()
    }

    /// Returns the field manager of a request.
    pub fn field_manager(&self, operation: Operation) -> &str {
        let by_default = match operation {
            Operation::Create => "kubectl-create",
            Operation::CreateByApply | Operation::Patch => "kubectl-client-side-apply",
            Operation::ServerSideApply => "kubectl",
            Operation::Replace => "kubectl-replace",
            // The server takes it from the user agent.
            Operation::Scale => "",
        };
        self.manager.as_deref().unwrap_or(by_default)
    }
}

impl Operation {
    /// Returns true if the request only creates.
    pub(crate) fn is_create(self) -> bool {
        matches!(self, Self::Create | Self::CreateByApply)
    }

    /// The method of the request.
    pub fn method(self) -> Method {
        match self {
            Self::Create | Self::CreateByApply => Method::Post,
            Self::Replace => Method::Put,
            Self::Patch | Self::ServerSideApply | Self::Scale => Method::Patch,
        }
    }

    /// The content type of the request. The patch of an apply has another one for kinds with strategic merge patches.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Create | Self::CreateByApply | Self::Replace => "application/json",
            Self::ServerSideApply => "application/apply-patch+yaml",
            Self::Patch | Self::Scale => "application/merge-patch+json",
        }
    }

    /// Returns the object in the form in which kubectl sends it, if it sends the whole object.
    pub(crate) fn whole_object(self, object: Value) -> Value {
        match self {
            Self::CreateByApply => client_side::to_create(object),
            Self::Create | Self::Replace => client_side::with_current_annotation(object),
            Self::Patch | Self::ServerSideApply | Self::Scale => object,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(verb: Verb, subresource: Option<Subresource>) -> RequestKind {
        RequestKind { verb, subresource, ..RequestKind::default() }
    }

    #[test]
    fn the_request_depends_on_the_command_and_on_the_existing_object() {
        let cases = [
            (Verb::Apply, Operation::CreateByApply, Operation::Patch, Operation::Create),
            (Verb::ServerSide, Operation::ServerSideApply, Operation::ServerSideApply, Operation::Create),
            // kubectl replace does not create, and kubectl create does not look for the object.
            (Verb::Replace, Operation::Replace, Operation::Replace, Operation::Create),
            (Verb::Create, Operation::Create, Operation::Create, Operation::Create),
        ];
        for (verb, missing, existing, unnamed) in cases {
            let kind = kind(verb, None);
            assert_eq!(kind.operation(true, false), missing, "{verb:?}");
            assert_eq!(kind.operation(true, true), existing, "{verb:?}");
            assert_eq!(kind.operation(false, false), unnamed, "{verb:?}");
            assert_eq!(kind.may_create(), verb != Verb::Replace, "{verb:?}");
        }
    }

    #[test]
    fn a_subresource_is_never_created() {
        for exists in [true, false] {
            for verb in [Verb::Apply, Verb::Replace] {
                let operation = kind(verb, Some(Subresource::Status)).operation(true, exists);
                assert_eq!(operation, Operation::Replace);
                assert_eq!(kind(verb, Some(Subresource::Scale)).operation(true, exists), Operation::Scale);
            }
            let applied = kind(Verb::ServerSide, Some(Subresource::Status));
            assert_eq!(applied.operation(true, exists), Operation::ServerSideApply);
            assert!(!applied.may_create());
        }
    }
}
