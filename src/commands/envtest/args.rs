//! The arguments of `kubectl crdx envtest`.

use crate::commands::flags::{KubernetesVersion, OnlyJson};
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// `envtest`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Run the tests of an operator against the simulated server
  KUBEBUILDER_ASSETS=$(kubectl crdx envtest) go test ./...

  # Kubernetes 1.34, in the folder where projects of kubebuilder look
  kubectl crdx envtest --kubernetes-version 1.34 --dir bin

  # Show the output of the server in the output of the tests
  export KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT=true
  KUBEBUILDER_ASSETS=$(kubectl crdx envtest) go test ./...")]
pub struct Envtest {
    /// The version of the server, which is a part of the folder's name.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// The directory in which the folder k8s/VERSION-OS-ARCH is created, as with --bin-dir of setup-envtest [default:
    /// the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The output format [default: the path of the folder]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<OnlyJson>,
}
