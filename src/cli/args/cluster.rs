//! Which cluster is read.

use crate::cluster;
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// Which cluster is read. Never written to.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Cluster (only ever read)")]
pub struct Cluster {
    /// Never open a connection
    #[arg(long)]
    pub offline: bool,
    /// The namespace of objects that name none
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// The kubeconfig file
    #[arg(long, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The URL of the API server, instead of the context's
    #[arg(short, long, value_name = "URL")]
    pub server: Option<String>,
}

impl Cluster {
    /// The cluster that is meant.
    pub fn target(&self) -> cluster::Target {
        let Self { kubeconfig, context, server, .. } = self.clone();
        cluster::Target { kubeconfig, context, server }
    }
}
