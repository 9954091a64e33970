//! The options of a server.

use super::{ApiServer, RequestOptions};
#[cfg(any(feature = "builtin", feature = "policies"))]
use crdx_server::policies::authorizer::Rules;
#[cfg(any(feature = "builtin", feature = "policies"))]
use crdx_server::server::{Namespaces, ServerBuilder};
use crdx_server::server::{Server, Timestamp, UserInfo};
use crdx_value::release::Release;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of requests without a clock: 2026-01-01T00:00:00Z.
const DEFAULT_TIME: Duration = Duration::from_hours(490_896);

#[derive(Clone)]
pub(super) struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    pub fn now(&self) -> Timestamp {
        let time = (self.0)();
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() },
            // Before 1970: the second in which the time is, and the nanoseconds since its beginning.
            Err(error) => {
                let before = error.duration();
                let (seconds, nanos) = (before.as_secs() as i64, before.subsec_nanos());
                match nanos {
                    0 => Timestamp { seconds: -seconds, nanos: 0 },
                    _ => Timestamp { seconds: -seconds - 1, nanos: 1_000_000_000 - nanos },
                }
            }
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// The options of an [`ApiServer`]. Without a clock and a seed, the same requests have the same answers in every run.
///
/// ```
/// use crdx::{ApiServer, Release};
/// use std::time::SystemTime;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ApiServer::builder().release("1.34".parse()?).clock(SystemTime::now).seed(7).build();
/// assert_eq!(server.release(), Release::new(34).unwrap());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ApiServerBuilder {
    release: Release,
    clock: Clock,
    seed: u64,
    user: Option<UserInfo>,
    #[cfg(any(feature = "builtin", feature = "policies"))]
    kinds: Kinds,
}

/// The kinds that a server has besides CRDs and custom resources.
#[cfg(any(feature = "builtin", feature = "policies"))]
#[derive(Clone, Debug, Default)]
struct Kinds {
    namespaces: Option<Vec<String>>,
    has_policies: bool,
    has_built_in_kinds: bool,
}

impl Default for ApiServerBuilder {
    fn default() -> Self {
        Self {
            release: Release::NEWEST,
            clock: Clock(Arc::new(|| UNIX_EPOCH + DEFAULT_TIME)),
            seed: 0,
            user: None,
            #[cfg(any(feature = "builtin", feature = "policies"))]
            kinds: Kinds::default(),
        }
    }
}

impl ApiServerBuilder {
    /// Sets the release of Kubernetes, 1.30 to 1.37; by default it is the newest.
    pub fn release(self, release: Release) -> Self {
        Self { release, ..self }
    }

    /// Sets the clock, such as `SystemTime::now`. By default, it is always 2026-01-01T00:00:00Z.
    pub fn clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { clock: Clock(Arc::new(clock)), ..self }
    }

    /// Sets the seed of UIDs and generated names, which is 0 by default.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the user of requests that name no other; by default it is the administrator that kubeadm creates.
    pub fn user<G: Into<String>>(self, name: impl Into<String>, groups: impl IntoIterator<Item = G>) -> Self {
        let groups = groups.into_iter().map(Into::into).collect();
        Self { user: Some(UserInfo::authenticated(name.into(), groups)), ..self }
    }

    /// Serves Namespaces, with `default` and these. A create in another namespace is then refused; without this option
    /// every namespace exists. Needs the feature `builtin` or `policies`.
    #[cfg(any(feature = "builtin", feature = "policies"))]
    pub fn namespaces<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        let namespaces = Some(names.into_iter().map(Into::into).collect());
        Self { kinds: Kinds { namespaces, ..self.kinds }, ..self }
    }

    /// Stores admission policies and their bindings and enforces them. Their expressions may ask the authorizer, which
    /// allows everything. A namespace is created with its first object, unless [`Self::namespaces`] says otherwise.
    #[cfg(feature = "policies")]
    pub fn policies(self) -> Self {
        Self { kinds: Kinds { has_policies: true, ..self.kinds }, ..self }
    }

    /// Serves all built-in kinds of the release, such as Deployments, with their validation and defaults, and the
    /// namespaces that a new cluster has. No controller of Kubernetes runs: a Deployment has no Pods.
    #[cfg(feature = "builtin")]
    pub fn built_in_kinds(self) -> Self {
        Self { kinds: Kinds { has_built_in_kinds: true, ..self.kinds }, ..self }
    }

    /// Creates the server.
    pub fn build(self) -> ApiServer {
        let server = Server::builder(self.release, self.seed).created_at(self.clock.now());
        let server = match &self.user {
            Some(user) => server.with_user(user.clone()),
            None => server,
        };
        #[cfg(any(feature = "builtin", feature = "policies"))]
        let server = self.kinds.add(server);
        ApiServer { server: Arc::new(server.build()), clock: self.clock, options: RequestOptions::default() }
    }
}

#[cfg(any(feature = "builtin", feature = "policies"))]
impl Kinds {
    fn add(&self, server: ServerBuilder) -> ServerBuilder {
        let mut server = crdx_kinds::with_kinds(server);
        if self.has_policies {
            server = server.with_policies(Arc::new(Rules::allow_all())).with_policy_validation();
        }
        if self.has_built_in_kinds {
            server = server.with_built_in_kinds().with_content_validation().with_generated_fields();
        }
        match &self.namespaces {
            Some(names) => server.with_namespaces(Namespaces::Created, names),
            None if self.has_policies && !self.has_built_in_kinds => server.with_namespaces(Namespaces::OnDemand, &[]),
            None => server,
        }
    }
}
