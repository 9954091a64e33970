//! Sends one policy, binding or webhook configuration to a separate server that validates it like a full API server. All
//! commands use it, so that they give the same verdict.

use super::answer::read_built_in_response;
use super::identity::FieldLocator;
use crate::kubectl::patch::PatchType;
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::send::{ObjectTarget, send};
use crate::kubectl::{RequestKind, UnsentError, Verb};
use crate::report::{Identity, ObjectReport};
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::{SeedError, Server, Timestamp};
use crdx_types::resources::ApiResource;
use crdx_value::Value;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use std::sync::Arc;

/// The reason why no request was sent.
#[derive(Debug, thiserror::Error)]
pub enum PolicyRequestError {
    /// The existing object is not one that a server stores.
    #[error("the old object could not have been stored: {0}")]
    Old(#[from] SeedError),
    /// kubectl would not send it.
    #[error(transparent)]
    Unsent(#[from] UnsentError),
}

/// The request of kubectl for an object of one of the kinds of admission.
#[derive(Clone, Copy, Debug)]
pub struct PolicyRequest<'a> {
    /// The simulated release.
    pub release: Release,
    /// The resource of the object.
    pub resource: &'a ApiResource,
    /// The command of kubectl.
    pub request_kind: &'a RequestKind,
    /// The options of the request.
    pub request_options: RequestOptions,
}

impl PolicyRequest<'_> {
    /// Sends `object`, as an update of `old` if there is one. The item has the existing object if `compares` is true. Also
    /// returns the object that the server has afterwards.
    ///
    /// # Errors
    /// Returns the reason why no request was sent.
    pub fn send(
        self,
        object: Value,
        old: Option<&Value>,
        identity: Identity,
        locator: &dyn FieldLocator,
        compares: bool,
    ) -> Result<(ObjectReport, Option<Arc<Value>>), PolicyRequestError> {
        let Self { release, resource, request_kind, request_options } = self;
        let request_options = RequestOptions { dry_run: false, table: false, ..request_options };
        let server = server(release, request_options.now, request_kind.verb == Verb::ServerSide);
        let definition = format!("{}.{}", resource.plural, resource.group);
        let own_version = api_version(resource.group, resource.version);
        if let Some(old) = old {
            let mut old = old.clone();
            if let Some(members) = old.as_object_mut() {
                // Older versions have the same fields.
                members.insert("apiVersion".to_owned(), own_version.as_str().into());
            }
            server.seed(&definition, "", old)?;
        }
        let collection = request::collection(resource.group, resource.version, resource.plural, None);
        let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let target = ObjectTarget {
            definition: &definition,
            version: resource.version,
            collection: &collection,
            name: &name,
            sender: None,
            patch: PatchType::of_built_in(resource, release),
        };
        let done = send(&server, target, object, request_kind, request_options)?;
        let mut item = read_built_in_response(done.response, identity, locator, release);
        item.action = done.action;
        if compares {
            item.before = done.before;
            // Only pruned fields are shown as they were sent.
            item.sent = if item.pruned.is_empty() { None } else { locator.object() };
        }
        let stored = server.stored(&definition, "", &name);
        Ok((item, stored))
    }
}

/// Creates a server that validates these kinds. Only server-side apply needs `tracks_fields`, the ownership of fields.
pub(crate) fn server(release: Release, now: Timestamp, tracks_fields: bool) -> Server {
    let server = crdx_kinds::builder(release, 0).created_at(now);
    let server = if tracks_fields { server } else { server.without_managed_fields() };
    let server = server.with_policies(Arc::new(Rules::allow_all())).with_policy_validation();
    // The status of a policy.
    server.with_content_validation().build()
}
