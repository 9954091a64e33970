//! The options of a server.

use super::admission::Inputs;
use super::registry::journal::{Journal, RestoredObject};
use super::registry::store::WatchNotifier;
use super::{Namespaces, SYSTEM_NAMESPACES, Server};
use crate::policies::knowledge::Knowledge;
use crate::server::http::user::UserInfo;
use crdx_cel::value::Authorizer;
use crdx_value::release::Release;
use crdx_value::time::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The options of a [`Server`]. The order in which they are set does not matter.
#[derive(Debug)]
#[must_use]
pub struct ServerBuilder {
    pub(super) release: Release,
    pub(super) seed: u64,
    pub(super) compresses: bool,
    pub(super) notifier: Option<Arc<dyn WatchNotifier>>,
    pub(super) tracks_fields: bool,
    pub(super) authorizes: bool,
    pub(super) user: UserInfo,
    pub(super) reviewed_tokens: Option<HashMap<String, UserInfo>>,
    pub(super) token_issuer: Option<String>,
    now: Timestamp,
    namespaces: Option<(Namespaces, Vec<String>)>,
    policies: Option<Inputs>,
    validates_policies: bool,
    built_in_kinds: bool,
    pub(super) validates_content: bool,
    pub(super) generates_fields: bool,
    pub(super) pause_before_removal: Duration,
}

impl ServerBuilder {
    pub(super) fn new(release: Release, seed: u64) -> Self {
        Self {
            release,
            seed,
            compresses: false,
            notifier: None,
            tracks_fields: true,
            authorizes: false,
            user: UserInfo::default(),
            reviewed_tokens: None,
            token_issuer: None,
            now: Timestamp::default(),
            namespaces: None,
            policies: None,
            validates_policies: false,
            built_in_kinds: false,
            validates_content: false,
            generates_fields: false,
            pause_before_removal: Duration::ZERO,
        }
    }

    /// Sets the creation time of the objects that the server itself creates, such as namespaces. The default is time
    /// zero.
    pub fn created_at(self, now: Timestamp) -> Self {
        Self { now, ..self }
    }

    /// Stores objects that were not written recently as compressed JSON, which takes a fraction of the memory and is
    /// parsed on each read.
    pub fn with_compression(self) -> Self {
        Self { compresses: true, ..self }
    }

    /// Sets the notifier that wakes watches if many are waiting; without one, the committing thread wakes them.
    pub fn with_notifier(self, notifier: Arc<dyn WatchNotifier>) -> Self {
        Self { notifier: Some(notifier), ..self }
    }

    /// Disables managedFields tracking, for callers that never show managedFields: writes are cheaper, and server-side
    /// apply finds no field owners.
    pub fn without_managed_fields(self) -> Self {
        Self { tracks_fields: false, ..self }
    }

    /// Refuses requests of `system:anonymous`, except those for the version and the health of the server.
    pub fn with_authorization(self) -> Self {
        Self { authorizes: true, ..self }
    }

    /// Adds a core group with the namespaces `default` and `names`.
    pub fn with_namespaces(self, rule: Namespaces, names: &[String]) -> Self {
        Self { namespaces: Some((rule, names.to_vec())), ..self }
    }

    /// Enables admission policies: the server stores and serves policies, bindings, namespaces and config maps, and
    /// enforces the policies on every write. Policy expressions query `authorizer`; a policy that depends on cluster
    /// state missing from `knowledge` makes no decision. Without [`Self::with_namespaces`], objects may be created in
    /// namespaces that do not exist, as long as no policy reads the namespace.
    pub fn with_policies(self, authorizer: Arc<dyn Authorizer>, knowledge: Arc<Knowledge>) -> Self {
        Self { policies: Some(Inputs { authorizer, knowledge }), ..self }
    }

    /// Rejects policies, bindings and webhook configurations that a real API server rejects ([`Server::validate_policies`]).
    pub fn with_policy_validation(self) -> Self {
        Self { validates_policies: true, ..self }
    }

    /// Sets the default user of requests.
    pub fn with_user(self, user: UserInfo) -> Self {
        Self { user, ..self }
    }

    /// Adds the reviews of access and of users; `tokens` are the users that a `TokenReview` finds.
    pub fn with_reviews(self, tokens: HashMap<String, UserInfo>) -> Self {
        Self { reviewed_tokens: Some(tokens), ..self }
    }

    /// Sets the issuer of service account tokens, which is also their default audience.
    pub fn with_token_issuer(self, issuer: &str) -> Self {
        Self { token_issuer: Some(issuer.to_owned()), ..self }
    }

    /// Serves all built-in kinds in the versions that API servers serve by default. They are decoded, defaulted
    /// and merged by their Go types. Besides metadata, only what [`Self::with_policy_validation`] and
    /// [`Self::with_content_validation`] name is validated. Without [`Self::with_namespaces`] and
    /// [`Self::with_policies`], the namespaces are those that an API server creates.
    pub fn with_built_in_kinds(self) -> Self {
        Self { built_in_kinds: true, ..self }
    }

    /// Validates the content of objects of built-in kinds ([`crdx_builtin::validation`]).
    pub fn with_content_validation(self) -> Self {
        Self { validates_content: true, ..self }
    }

    /// Generates what the API server and its admission plugins add to new objects of built-in kinds: addresses and ports
    /// of Services, selectors of Jobs, the priority, tolerations and quality of service of Pods, the taint of Nodes, and
    /// finalizers of volumes.
    pub fn with_generated_fields(self) -> Self {
        Self { generates_fields: true, ..self }
    }

    /// Lets a deletion without a grace period wait between its two writes: the object is marked, then removed. On the
    /// real server milliseconds pass in between, in which controllers see the marked object. The calling thread waits.
    pub fn with_pause_before_removal(self, pause: Duration) -> Self {
        Self { pause_before_removal: pause, ..self }
    }

    /// Builds a server without custom resources.
    pub fn build(mut self) -> Server {
        let now = self.now;
        let namespaces = self.namespaces.take().or_else(|| self.default_namespaces());
        let policies = self.policies.take();
        let (validates_policies, built_in_kinds) = (self.validates_policies, self.built_in_kinds);
        let mut server = Server::empty(self);
        if let Some((rule, names)) = namespaces {
            server.serve_namespaces(rule, &names, now);
        }
        if let Some(inputs) = policies {
            server.serve_admission_kinds();
            server.add_plugins(inputs);
        }
        if built_in_kinds {
            server.serve_built_in_kinds();
        }
        if validates_policies {
            server = server.validate_policies();
        }
        server
    }

    /// Builds a server with the objects that an earlier server wrote to `journal`, whose last resourceVersion was
    /// `revision`; every later commit is passed to the journal. Objects without a CRD are dropped, as when a CRD is
    /// deleted; their names are returned.
    pub fn restore(
        self,
        journal: Arc<dyn Journal>,
        objects: Vec<RestoredObject>,
        revision: u64,
    ) -> (Server, Vec<String>) {
        let now = self.now;
        let server = self.build();
        let orphans = server.restore(journal, objects, revision, now);
        (server, orphans)
    }

    /// The namespaces that policies or built-in kinds need.
    fn default_namespaces(&self) -> Option<(Namespaces, Vec<String>)> {
        if self.policies.is_some() {
            Some((Namespaces::Unchecked, Vec::new()))
        } else if self.built_in_kinds {
            Some((Namespaces::Created, SYSTEM_NAMESPACES.map(str::to_owned).to_vec()))
        } else {
            None
        }
    }
}
