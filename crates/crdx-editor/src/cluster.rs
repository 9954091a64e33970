//! Reads CRDs from the cluster of the current context. The kubeconfig is read for every request, so a change of the context
//! takes effect.

use crdx_cluster::{ClusterFlags, Connection, Simulated};
use crdx_engine::simulation::object::Kind;
use crdx_value::Value;

/// Connects to the cluster.
#[derive(Debug, Default)]
pub struct EditorCluster {
    /// The URL of the last cluster and the release to simulate for it.
    known: Option<(String, Simulated)>,
}

/// An answer of the cluster.
#[derive(Debug)]
pub struct Fetched {
    /// The cluster, or why it cannot be used.
    pub cluster: Result<Identity, crdx_cluster::Error>,
    /// The CRD of each kind; `None` if the cluster has none.
    pub definitions: Vec<(Kind, Result<Option<Value>, crdx_cluster::Error>)>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The URL of its server.
    pub url: String,
    /// The release to simulate for it.
    pub simulated: Simulated,
}

impl EditorCluster {
    /// Reads the CRDs of kinds.
    pub fn fetch(&mut self, kinds: Vec<Kind>) -> Fetched {
        let target = ClusterFlags { cache: crdx_cluster::default_cache_dir(), ..ClusterFlags::default() };
        let connection = match Connection::open(&target, |_| {}) {
            Ok(connection) => connection,
            Err(error) => return Fetched { cluster: Err(error), definitions: Vec::new() },
        };
        let names: Vec<(&str, &str)> = kinds.iter().map(|(group, _, kind)| (group.as_str(), kind.as_str())).collect();
        let found = connection.definitions_of(&names);
        if let Some(Err(error)) = found.iter().find(|found| found.as_ref().is_err_and(|error| error.unreachable)) {
            return Fetched { cluster: Err(error.clone()), definitions: Vec::new() };
        }
        let url = connection.url().into_owned();
        let known = self.known.take().filter(|(known, _)| *known == url);
        let simulated = known.map_or_else(|| crdx_cluster::simulated(Ok(&connection)), |(_, simulated)| simulated);
        self.known = Some((url.clone(), simulated.clone()));
        Fetched { cluster: Ok(Identity { url, simulated }), definitions: kinds.into_iter().zip(found).collect() }
    }
}
