//! The arguments of `kubectl crdx serve`.

use crate::commands::flags::error::ArgumentError;
use crate::commands::flags::{ClusterArgs, KubernetesVersion, Reading, Server};
use clap::Args as ClapArgs;
use crdx_serve::WebhookService;
use crdx_server::policies::authorizer::Rules;
use std::net::IpAddr;
use std::path::PathBuf;

/// `serve`
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The first line printed is the URL
  kubectl crdx serve --port 18080 --load config/crd/ --load samples/
  kubectl --server http://127.0.0.1:18080 api-resources

  # A copy of the CRDs and objects of a cluster, which is only read
  kubectl crdx serve --load-from-cluster --context staging

  # Keep the stored objects between runs
  kubectl crdx serve --state cluster.jsonl

  # With admission policies, and with the webhooks of an operator that runs on this machine
  kubectl crdx serve --admission --load config/ \\
    --webhook-service system/webhook-service=https://127.0.0.1:9443

  # For tests of operators: with Deployments, Services and all other built-in kinds
  kubectl crdx serve --builtin --load config/crd/

  # For tests that need a kubeconfig file: everything after the URL in the first line
  kubectl crdx serve --print-kubeconfig | sed -u 1d > kubeconfig")]
pub struct Serve {
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// The settings of the server.
    #[command(flatten)]
    pub settings: Server,
    /// The port to listen on; 0 selects a free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// The address to listen on; it must be a loopback address
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// Also answer requests to this host, besides localhost and loopback addresses; may be repeated
    #[arg(long = "allowed-host", value_name = "HOST")]
    pub allowed_hosts: Vec<String>,
    /// A file or directory with CRDs and objects to apply at the start, `-` for standard input; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub load: Vec<String>,
    /// Build this directory with `kubectl kustomize` or `kustomize build`, and apply the result at the start; may be
    /// repeated
    #[arg(short = 'k', long, value_name = "DIR", help_heading = "Files")]
    pub kustomize: Vec<PathBuf>,
    /// Exit if an object to load cannot be read or would be rejected, instead of skipping it
    #[arg(long, help_heading = "Files")]
    pub strict_load: bool,
    /// The options for reading files.
    #[command(flatten)]
    pub reading: Reading,
    /// Copy the CRDs and custom resources of the cluster at the start
    #[arg(long)]
    pub load_from_cluster: bool,
    /// Serve namespaces, with `default` and these at the start, and reject objects in others; a deleted namespace stays
    /// `Terminating` until a client finalizes it. Without names, a namespace is created when it is first used, and deleted
    /// with its contents
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub namespaces: Option<Vec<String>>,
    /// Run the namespace controller: delete the contents of a deleted namespace, then the namespace
    #[arg(long)]
    pub namespace_controller: bool,
    /// Store and enforce admission policies (validating and mutating) with their bindings, namespaces and config maps,
    /// and call admission webhooks and the conversion webhooks of CRDs
    #[arg(long)]
    pub admission: bool,
    /// Serve every built-in kind of the version, with namespaces as with the names of `--namespaces`: decoded, defaulted and merged by its Go type, with status
    /// and scale subresources and server-side apply, but without controllers; only metadata, containers, immutable data,
    /// admission policies and webhook configurations are validated
    #[arg(long)]
    pub builtin: bool,
    /// Store policies that a full API server would reject, such as those whose expressions do not compile
    #[arg(long, requires = "admission")]
    pub skip_policy_validation: bool,
    /// The name of the user that sends the requests, as policies see it; a request with the header `Impersonate-User`
    /// names another user
    #[arg(long, value_name = "NAME")]
    pub request_user: Option<String>,
    /// A group of that user; may be repeated
    #[arg(long, value_name = "GROUP", requires = "request_user")]
    pub request_group: Vec<String>,
    /// The authorizer of policies: `allow` (the default), `deny`, or a YAML file with rules
    #[arg(long, value_name = "allow|deny|FILE", requires = "admission", value_parser = crate::commands::flags::policies::authorizer)]
    pub authorizer: Option<Rules>,
    /// The address of a Service that webhooks refer to: `NAMESPACE/NAME=https://HOST:PORT`, or `http://…` without TLS; may
    /// be repeated
    #[arg(long = "webhook-service", value_name = "SERVICE=URL", requires = "admission", value_parser = webhook_service)]
    pub webhook_services: Vec<(String, String, WebhookService)>,
    /// Keep all stored objects in this file between runs
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Reject requests that would change an object; dry runs are allowed
    #[arg(long)]
    pub read_only: bool,
    /// Append every request with its response to this file, as one line of JSON
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// After the URL, print a kubeconfig for this server
    #[arg(long)]
    pub print_kubeconfig: bool,
    /// Start servers on request, for test frameworks: for each line `new` on standard input, print the URL and the kubeconfig of a
    /// server with a state of its own as one line of JSON; end when standard input ends
    #[arg(long, conflicts_with_all = ["port", "state", "record", "print_kubeconfig"])]
    pub sessions: bool,
    /// The cluster of `--load-from-cluster`; its namespace is also that of loaded objects that do not set one
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Parses `NAMESPACE/NAME=URL`.
fn webhook_service(text: &str) -> Result<(String, String, WebhookService), ArgumentError> {
    let form = ArgumentError::Form("NAMESPACE/NAME=https://HOST:PORT");
    let (service, url) = text.split_once('=').ok_or(form.clone())?;
    let (namespace, name) = service.split_once('/').filter(|(a, b)| !a.is_empty() && !b.is_empty()).ok_or(form)?;
    Ok((namespace.to_owned(), name.to_owned(), WebhookService::read(url)?))
}
