//! The options of a server.

mod built_in;

use super::Server;
use super::admission::Chain;
use super::endpoints::Endpoints;
use super::endpoints::backend::Backend;
use super::http::settings::Settings;
use super::http::user::UserInfo;
use super::plugins::{AdmissionPlugins, Inputs, KindPlugin, plugins};
use super::random::Random;
use super::registry::journal::{Journal, RestoredObject, StorageConfig};
use super::registry::storage::Storage;
use super::registry::store::WatchNotifier;
use super::runtime_config::RuntimeConfig;
use super::strategy::built_in_kind::kind_strategy::BuiltInKinds;
use super::strategy::namespace::{self, SYSTEM_NAMESPACES};
use super::strategy::namespace_rule::Namespaces;
use super::strategy::resources::Resources;
use super::strategy::{admission_kinds, typed_resource};
use crate::cluster_state::ClusterState;
use crate::policies::dependencies::Dependencies;
use crdx_types::service_families::ServiceRange;
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::time::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The options of a [`Server`]. The order in which they are set does not matter.
#[derive(Debug)]
#[must_use]
pub struct ServerBuilder {
    release: Release,
    seed: u64,
    compresses: bool,
    drops_history: bool,
    notifier: Option<Arc<dyn WatchNotifier>>,
    kinds: &'static BuiltInKinds,
    kind_plugins: &'static [&'static KindPlugin],
    tracks_fields: bool,
    authorizes: bool,
    user: UserInfo,
    reviewed_tokens: Option<HashMap<String, UserInfo>>,
    token_issuer: Option<String>,
    now: Timestamp,
    namespaces: Option<(Namespaces, Vec<String>)>,
    policies: Option<Inputs>,
    unknown_inputs: Option<Dependencies>,
    validates_policies: bool,
    built_in_kinds: bool,
    validates_content: bool,
    generates_fields: bool,
    service_ranges: Vec<ServiceRange>,
    node_ports: Option<(u16, u16)>,
    cluster_state: Option<Arc<dyn ClusterState>>,
    plugins: AdmissionPlugins,
    static_policies: Arc<[Value]>,
    runtime_config: RuntimeConfig,
    pause_before_removal: Duration,
}

impl ServerBuilder {
    pub(super) fn new(release: Release, seed: u64) -> Self {
        Self {
            release,
            seed,
            compresses: false,
            drops_history: false,
            notifier: None,
            kinds: BuiltInKinds::NONE,
            kind_plugins: &[],
            tracks_fields: true,
            authorizes: false,
            user: UserInfo::default(),
            reviewed_tokens: None,
            token_issuer: None,
            now: Timestamp::default(),
            namespaces: None,
            policies: None,
            unknown_inputs: None,
            validates_policies: false,
            built_in_kinds: false,
            validates_content: false,
            generates_fields: false,
            service_ranges: Vec::new(),
            node_ports: None,
            cluster_state: None,
            plugins: AdmissionPlugins::default(),
            static_policies: Arc::default(),
            runtime_config: RuntimeConfig::default(),
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

    /// Keeps only the last form of each object, for callers that never watch: the controllers write a CRD once, with the
    /// results of all their steps.
    pub fn without_history(self) -> Self {
        Self { drops_history: true, ..self }
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

    /// Rejects policies, bindings and webhook configurations that a real API server rejects, such as policies
    /// whose expressions do not compile.
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

    /// Generates what the API server and its admission plugins add to new objects of built-in kinds: addresses and ports
    /// of Services, selectors of Jobs, the priority, tolerations and quality of service of Pods, the taint of Nodes, and
    /// finalizers of volumes. Fields whose feature gate is disabled are dropped. A server of a whole cluster also has the
    /// `PriorityClass`es that API servers create.
    pub fn with_generated_fields(self) -> Self {
        Self { generates_fields: true, ..self }
    }

    /// Sets the ranges that have all cluster IPs, the primary one first (`--service-cluster-ip-range`). Without them, they are
    /// those of the cluster's state ([`Self::with_cluster_state`]), and if it has none, Services may name any IPv4 address.
    pub fn with_service_ranges(self, service_ranges: Vec<ServiceRange>) -> Self {
        Self { service_ranges, ..self }
    }

    /// Sets the first and the last node port that are allocated (`--service-node-port-range`).
    pub fn with_node_ports(self, node_ports: Option<(u16, u16)>) -> Self {
        Self { node_ports, ..self }
    }

    /// Simulates a cluster with objects and flags that the server does not have: `state` knows other objects of the cluster, as
    /// far as they are known, and a Service may name any node port. Without it, the stored objects are all there are. A
    /// request may have a state of its own ([`Request::cluster_state`](super::Request::cluster_state)).
    pub fn with_cluster_state(self, state: Arc<dyn ClusterState>) -> Self {
        Self { cluster_state: Some(state), ..self }
    }

    /// Sets the admission plugins.
    pub fn with_admission_plugins(self, plugins: AdmissionPlugins) -> Self {
        Self { plugins, ..self }
    }

    /// Lets a deletion without a grace period pause between its two writes: the object is marked, then removed. On the
    /// real server milliseconds pass in between, in which controllers see the marked object. The caller waits
    /// ([`Reply::Paused`](super::Reply::Paused)).
    pub fn with_pause_before_removal(self, pause: Duration) -> Self {
        Self { pause_before_removal: pause, ..self }
    }

    /// Builds a server without custom resources.
    pub fn build(mut self) -> Server {
        if let Some(inputs) = &mut self.policies {
            inputs.unknown = self.unknown_inputs;
            inputs.static_policies = std::mem::take(&mut self.static_policies);
        }
        let namespaces = self.namespaces.take().or_else(|| self.default_namespaces());
        let settings = Settings {
            release: self.release,
            random: Random::new(self.seed),
            user: self.user,
            cluster_state: self.cluster_state,
        };
        let is_partial = settings.cluster_state.is_some();
        let storage = Storage {
            revision: Arc::default(),
            config: Arc::new(StorageConfig::new(self.compresses, self.drops_history, self.notifier)),
            tracks_fields: self.tracks_fields,
            pause_before_removal: self.pause_before_removal,
        };
        let mut resources = Resources::new(settings, storage);
        resources.serves_built_in_kinds = self.built_in_kinds;
        resources.validates_content = self.validates_content;
        resources.kinds = self.kinds;
        resources.runtime_config = self.runtime_config;
        resources.allocations =
            self.generates_fields.then(|| (self.kinds.allocator)(&self.service_ranges, self.node_ports, is_partial));
        if let Some((rule, names)) = namespaces {
            namespace::serve(&mut resources, rule, &names, self.now);
        }
        if self.policies.is_some() {
            admission_kinds::serve(&resources);
        }
        if self.built_in_kinds {
            typed_resource::serve(&resources);
        }
        if self.validates_policies {
            admission_kinds::validate(&resources);
        }
        let resources = Arc::new(resources);
        let admission = Chain::new(plugins(&resources, &self.plugins, self.kind_plugins, self.policies.as_ref()));
        let backend = Backend { resources, admission };
        let endpoints = Endpoints::new(backend, self.reviewed_tokens, self.token_issuer);
        let server = Server { endpoints, authorizes: self.authorizes };
        if self.built_in_kinds && self.generates_fields && !is_partial {
            server.create_initial_objects(self.now);
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
        if self.built_in_kinds {
            Some((Namespaces::Created, SYSTEM_NAMESPACES.map(str::to_owned).to_vec()))
        } else if self.policies.is_some() {
            Some((Namespaces::Unchecked, Vec::new()))
        } else {
            None
        }
    }
}
