//! The resources of objects: those that CRDs define, and built-in ones. What differs between them is here and in `built_in`;
//! their objects take the same path (`submit`).

use super::context::SimulationContext;
use super::definitions::Route;
use super::hints::Hints;
use super::identity::{self, FieldLocator, Namespace};
use super::object::Kind;
use super::policy_request;
use super::request_lock::RequestLock;
use crate::kubectl::Verb;
use crate::kubectl::patch::PatchType;
use crate::report::{Identity, ObjectReport};
use crate::simulation::answer::{read_built_in_response, read_response};
use crdx_builtin::validation;
use crdx_server::server::{Response, Server};
use crdx_types::resources::{self, ApiResource};
use crdx_value::Value;
use crdx_value::group_version::{self, api_version};
use crdx_value::release::Release;
use std::ops::Deref;
use std::sync::Arc;

/// The resource of an object that is sent.
#[derive(Clone, Debug)]
pub enum SimulatedResource {
    /// A CRD defines it.
    Defined(Arc<Route>),
    /// A built-in resource, in the version of the object.
    BuiltIn(&'static ApiResource),
}

impl SimulatedResource {
    /// Returns the built-in resource of a kind, if API servers of the release serve it by default.
    pub(crate) fn built_in((group, version, kind): &Kind, release: Release) -> Option<Self> {
        let minor = release.emulated().number().into();
        resources::of_kind(&api_version(group, version), kind, minor).map(Self::BuiltIn)
    }

    /// The plural name.
    pub fn plural(&self) -> &str {
        match self {
            Self::Defined(route) => &route.plural,
            Self::BuiltIn(resource) => resource.plural,
        }
    }

    /// The group that stores its objects; `own` is the one in their apiVersion.
    pub(crate) fn stored_group<'a>(&'a self, own: &'a str) -> &'a str {
        match self {
            Self::Defined(_) => own,
            Self::BuiltIn(resource) => resources::stored_group(resource.group, resource.kind),
        }
    }

    /// Returns true if its objects are stored. Reviews, for example, are only answered.
    pub(crate) fn is_stored(&self) -> bool {
        match self {
            Self::Defined(_) => true,
            Self::BuiltIn(resource) => resource.readable,
        }
    }

    /// Returns the built-in resource if requests for its objects are not simulated: one that only answers, such as a review, is
    /// decoded.
    pub(crate) fn unsimulated(&self) -> Option<&'static ApiResource> {
        match self {
            Self::BuiltIn(resource)
                if !self.is_of_admission() && !validation::covers(resource.group, resource.kind) =>
            {
                Some(resource)
            }
            Self::Defined(_) | Self::BuiltIn(_) => None,
        }
    }

    /// Says in which form existing objects are given.
    pub(crate) fn help_for_existing(&self, release: Release) -> Option<String> {
        (!self.is_defined()).then(|| {
            format!(
                "give existing objects as kubectl get -o yaml prints them, in a version that Kubernetes {release} serves"
            )
        })
    }

    /// Returns true if a CRD defines it.
    pub(crate) fn is_defined(&self) -> bool {
        matches!(self, Self::Defined(_))
    }

    /// Returns true if the status of its objects in a version is a subresource.
    pub(crate) fn has_status_subresource(&self, api_version: &str) -> bool {
        let route = match self {
            Self::Defined(route) => route,
            Self::BuiltIn(_) => return true,
        };
        let (_, version) = group_version::split(api_version);
        let versions = route.definition.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
        let own = versions.iter().find(|one| one.str_at(&["name"]) == Some(version));
        own.is_some_and(|own| own.at(&["subresources", "status"]).is_some())
    }

    /// Returns true if it is this built-in kind.
    pub(crate) fn is_built_in(&self, group: &str, kind: &str) -> bool {
        matches!(self, Self::BuiltIn(resource) if (resource.group, resource.kind) == (group, kind))
    }

    /// The namespace of its objects, given the default namespace.
    fn namespace<'a>(&self, default: &'a str) -> Namespace<'a> {
        let is_namespaced = match self {
            Self::Defined(route) => route.namespaced,
            Self::BuiltIn(resource) => resource.namespaced,
        };
        if is_namespaced { Namespace::Or(default) } else { Namespace::None }
    }

    /// Returns the identity of an object, given the default namespace.
    pub(crate) fn identity(&self, object: &Value, default: &str) -> Identity {
        identity::identity(object, self.namespace(default))
    }

    /// The server that answers requests for its objects. One that stores a policy would evaluate it for other objects, too.
    pub(crate) fn server<'a>(&'a self, context: SimulationContext<'a>) -> ServerOfResource<'a> {
        match self {
            Self::Defined(route) => ServerOfResource::Shared(route.server.as_deref().unwrap_or(context.server)),
            Self::BuiltIn(_) if self.is_of_admission() => {
                let tracks_fields = context.updates.request_kind.verb == Verb::ServerSide;
                let now = context.request_options.now;
                ServerOfResource::Own(Box::new(policy_request::server(context.server.release(), now, tracks_fields)))
            }
            Self::BuiltIn(_) => ServerOfResource::Shared(context.built_in.server(context.admission, context.namespace)),
        }
    }

    /// The lock of the server, if its answers for other objects depend on what it stores. Those for custom resources do so with
    /// policies, which may read a custom resource.
    pub(crate) fn lock<'a>(&self, context: SimulationContext<'a>) -> Option<&'a RequestLock> {
        match self {
            Self::Defined(_) => context.admission.map(|_| context.lock),
            Self::BuiltIn(_) => self.is_typed().then(|| context.built_in.lock()),
        }
    }

    /// Returns true for policies, bindings and webhook configurations.
    fn is_of_admission(&self) -> bool {
        matches!(self, Self::BuiltIn(resource) if resource.group == crdx_server::policies::GROUP)
    }

    /// Returns true if its objects are sent to the server for built-in kinds, whose answers do not tell which fields it has set and
    /// dropped.
    pub(crate) fn is_typed(&self) -> bool {
        !self.is_defined() && !self.is_of_admission()
    }

    /// The patch of `kubectl apply` for its objects.
    pub(crate) fn patch(&self, release: Release) -> PatchType {
        match self {
            Self::Defined(_) => PatchType::Merge,
            Self::BuiltIn(resource) => PatchType::of_built_in(resource, release),
        }
    }

    /// Reads the response to a request for an object.
    pub(crate) fn read(
        &self,
        response: Response,
        identity: Identity,
        locator: &dyn FieldLocator,
        release: Release,
    ) -> ObjectReport {
        match self {
            Self::Defined(route) => {
                let version = group_version::split(&identity.api_version).1.to_owned();
                read_response(response, identity, locator, &Hints::of_schema(&route.definition, &version, release))
            }
            Self::BuiltIn(_) => read_built_in_response(response, identity, locator, release),
        }
    }

    /// Returns true if creating an object again from what is kept of it always gives the same object. Policies and admission
    /// plugins change others, or later inputs depend on their defaults. A custom resource without text is kept as it is stored,
    /// because one without a UID may come from a file of existing objects.
    pub(crate) fn is_reproducible(&self, context: SimulationContext<'_>, locator: &dyn FieldLocator) -> bool {
        let is_same = match self {
            Self::Defined(_) => locator.text().is_some(),
            Self::BuiltIn(resource) => {
                !matches!(resource.kind, "Pod" | "PersistentVolumeClaim" | "Namespace" | "LimitRange")
            }
        };
        context.admission.is_none() && is_same && !self.is_of_admission()
    }
}

/// A server that answers requests for the objects of a resource.
pub enum ServerOfResource<'a> {
    /// Requests for other objects are sent to it, too.
    Shared(&'a Server),
    /// It answers the requests for one object.
    Own(Box<Server>),
}

impl Deref for ServerOfResource<'_> {
    type Target = Server;

    fn deref(&self) -> &Server {
        match self {
            Self::Shared(server) => server,
            Self::Own(server) => server,
        }
    }
}
