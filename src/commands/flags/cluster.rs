//! The flags that select the cluster to read. Their names and meanings are kubectl's.

use super::error::ArgumentError;
use clap::Args as ClapArgs;
use crdx_value::duration;
use std::path::PathBuf;
use std::time::Duration;

/// The cluster to read; it is never written to. `kubectl crdx options` describes the hidden flags.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = ClusterArgs::HEADING)]
pub struct ClusterArgs {
    /// Never open a connection
    #[arg(long)]
    pub offline: bool,
    /// The profile of a cluster, a folder, which is read in place of the cluster: `fetch --from-cluster --profile` writes it;
    /// validate and diff take several, and answer for each
    #[arg(long, value_name = "DIR")]
    pub profile: Vec<PathBuf>,
    /// The namespace of objects that do not set one
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// The kubeconfig file
    #[arg(long, value_name = "PATH", hide = true)]
    pub kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig
    #[arg(long, value_name = "NAME", hide = true)]
    pub context: Option<String>,
    /// The cluster in the kubeconfig
    #[arg(long, value_name = "NAME", hide = true)]
    pub cluster: Option<String>,
    /// The user in the kubeconfig
    #[arg(long, value_name = "NAME", hide = true)]
    pub user: Option<String>,
    /// The URL of the API server, instead of the context's
    #[arg(short, long, value_name = "URL", hide = true)]
    pub server: Option<String>,
    /// The file with the user's preferences for kubectl: which credential plugins may run, and defaults of flags [default:
    /// that of the variable KUBERC, or ~/.kube/kuberc; KUBERC=off uses none]
    #[arg(long, value_name = "PATH", hide = true)]
    pub kuberc: Option<PathBuf>,
    /// The time limit of a request, such as 5s or 2m; without it, or with 0, a request fails after 30 seconds without
    /// data
    #[arg(long, value_name = "DURATION", value_parser = timeout, hide = true)]
    pub request_timeout: Option<Duration>,
    /// The user to impersonate
    #[arg(long = "as", value_name = "USER", hide = true)]
    pub as_user: Option<String>,
    /// A group to impersonate; may be repeated
    #[arg(long = "as-group", value_name = "GROUP", hide = true)]
    pub as_groups: Vec<String>,
    /// The UID to impersonate
    #[arg(long, value_name = "UID", hide = true)]
    pub as_uid: Option<String>,
    /// The bearer token for authentication
    #[arg(long, value_name = "TOKEN", hide = true)]
    pub token: Option<String>,
    /// The file with the client certificate
    #[arg(long, value_name = "PATH", hide = true)]
    pub client_certificate: Option<PathBuf>,
    /// The file with the key of the client certificate
    #[arg(long, value_name = "PATH", hide = true)]
    pub client_key: Option<PathBuf>,
    /// The file with the certificate of the authority that signed the server's certificate
    #[arg(long, value_name = "PATH", hide = true)]
    pub certificate_authority: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(long, hide = true)]
    pub insecure_skip_tls_verify: bool,
    /// The server name that the server's certificate must have
    #[arg(long, value_name = "NAME", hide = true)]
    pub tls_server_name: Option<String>,
    /// The directory that caches discovery and CRDs between runs [default: in the user's cache directory]
    #[arg(long, value_name = "DIR", hide = true)]
    pub cache_dir: Option<PathBuf>,
    /// Neither read nor write the cache directory
    #[arg(long, hide = true)]
    pub no_cache: bool,
}

impl ClusterArgs {
    /// The heading of these flags in help.
    pub const HEADING: &str = "Cluster (read only)";

    /// Returns true if neither a cluster nor a profile may be read.
    pub fn is_offline(&self) -> bool {
        self.offline && self.profile.is_empty()
    }

    /// Returns the selected cluster.
    pub fn target(&self) -> crdx_cluster::ClusterFlags {
        let own = self.clone();
        crdx_cluster::ClusterFlags {
            profile: own.profile.into_iter().next(),
            kubeconfig: own.kubeconfig,
            context: own.context,
            cluster: own.cluster,
            user: own.user,
            server: own.server,
            certificate_authority: own.certificate_authority,
            insecure_skip_tls_verify: own.insecure_skip_tls_verify,
            tls_server_name: own.tls_server_name,
            token: own.token.map(crdx_cluster::Secret::from),
            client_certificate: own.client_certificate,
            client_key: own.client_key,
            as_user: own.as_user,
            as_groups: own.as_groups,
            as_uid: own.as_uid,
            kuberc: own.kuberc,
            request_timeout: own.request_timeout.filter(|t| !t.is_zero()),
            cache: if own.no_cache { None } else { own.cache_dir.or_else(crdx_cluster::default_cache_dir) },
        }
    }
}

/// Parses a whole number of seconds or a Go duration, as kubectl does.
fn timeout(text: &str) -> Result<Duration, ArgumentError> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let go = || u64::try_from(duration::Duration::parse(text)?.0).ok().map(Duration::from_nanos);
    seconds.or_else(go).ok_or(ArgumentError::NoDuration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_number_or_a_duration() {
        assert_eq!(timeout("5"), Ok(Duration::from_secs(5)));
        assert_eq!(timeout("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(timeout("0"), Ok(Duration::ZERO));
        assert!(timeout("-1s").is_err() && timeout("soon").is_err() && timeout("").is_err());
    }
}
