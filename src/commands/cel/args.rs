//! The arguments of `kubectl crdx cel`.

use crate::commands::flags::{KubernetesVersion, ObjectName, OnlyJson};
use clap::Args as ClapArgs;

/// `cel`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The value of an expression without an object
  kubectl crdx cel 'quantity(\"1.5Gi\").isGreaterThan(quantity(\"1G\"))'

  # A rule of spec, with the types and sizes that the CRD gives it
  kubectl crdx cel 'self.replicas >= size(self.env)' -f object.yaml --crds crds/ --at spec

  # The same for one of several objects
  kubectl crdx cel 'self.replicas > 0' -f objects.yaml --name jobs/nightly --crds crds/ --at spec

  # A rule that compares with the old value
  kubectl crdx cel 'self >= oldSelf' -f new.yaml --old old.yaml --crds crds/ --at spec.replicas

Without a CRD, the type of self is dyn.

Exit codes: 0 the expression has a value, 1 it does not compile or fails, 2 the input is wrong.")]
pub struct Cel {
    /// The expression, as in `x-kubernetes-validations`; after `--` if it begins with a `-`
    #[arg(value_name = "EXPRESSION")]
    pub expression: String,
    /// A file with the object that is `self` (YAML or JSON), `-` for standard input, which may also contain its CRD;
    /// not needed for an expression without `self`
    #[arg(short = 'f', long, value_name = "PATH")]
    pub filename: Option<String>,
    /// The object of the file that is `self`, if there are several
    #[arg(long, value_name = "[KIND/][NAMESPACE/]NAME", requires = "filename")]
    pub name: Option<ObjectName>,
    /// A file or directory with CustomResourceDefinitions; may be repeated
    #[arg(long, value_name = "PATH")]
    pub crds: Vec<String>,
    // The brackets are part of the help text and not a link.
    #[allow(rustdoc::broken_intra_doc_links)]
    /// The node of the object that is `self`, such as spec.ports[0] [default: the whole object]
    #[arg(long, value_name = "FIELD")]
    pub at: Option<String>,
    /// A file with the old object; its node at the same path is `oldSelf`
    #[arg(long, value_name = "PATH")]
    pub old: Option<String>,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// Output format: json (documented in docs/output.md) [default: text]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<OnlyJson>,
}
