//! The words of `kubectl crdx cel`.

use super::{KubernetesVersion, OnlyJson};
use clap::Args as ClapArgs;

/// `cel`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # No object: what an expression gives
  kubectl crdx cel 'quantity(\"1.5Gi\").isGreaterThan(quantity(\"1G\"))'

  # A rule of spec, with the types and sizes that the CRD gives it
  kubectl crdx cel 'self.replicas >= size(self.env)' -f object.yaml --crds crds/ --at spec

  # A rule that compares with the old value
  kubectl crdx cel 'self >= oldSelf' -f new.yaml --old old.yaml --crds crds/ --at spec.replicas

Without a CRD self is dyn. Exit codes: 0 there is a value, 1 the expression is wrong or fails, 2 bad input.")]
pub struct Cel {
    /// The expression, as in `x-kubernetes-validations`; behind `--` if it begins with a `-`
    #[arg(value_name = "EXPRESSION")]
    pub expression: String,
    /// A file with the object that is `self` (YAML or JSON), `-` for standard input, which may also hold its CRD; not needed
    /// for an expression without `self`
    #[arg(short = 'f', long, value_name = "PATH")]
    pub filename: Option<String>,
    /// A file or directory with CustomResourceDefinitions; may be repeated
    #[arg(long, value_name = "PATH")]
    pub crds: Vec<String>,
    /// The node of the object that is `self`, such as spec.ports[0] [default: the whole object]
    #[arg(long, value_name = "FIELD")]
    pub at: Option<String>,
    /// A file with the object that is replaced: the same node of it is `oldSelf`
    #[arg(long, value_name = "PATH")]
    pub old: Option<String>,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// What to print: json (documented in docs/output.md) [default: lines to read]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<OnlyJson>,
}
