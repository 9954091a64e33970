//! What can be asked on the command line. Flags are named as kubectl names them.

use crate::cluster;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Tells, before anything reaches the cluster, what the Kubernetes API server would do with a custom resource
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-crdx",
    bin_name = "kubectl-crdx",
    version,
    disable_help_subcommand = true,
    max_term_width = 120,
    after_help = "It answers as Kubernetes 1.37 does and never writes to a cluster.\n\n\
        Exit codes: 0 all is well, 1 the server would reject something, 2 something could not be told (2 beats 1)."
)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Whether to colour what a person reads; `auto` colours on a terminal unless `NO_COLOR` is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub color: Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say for every object what the server would do with it: create or update, accept or reject, prune, default
    Validate(Validate),
    /// Show what a write would change in what is stored, as a diff
    Diff(Diff),
    /// Print live objects with the printer columns of their CRD, as `kubectl get` does
    Get(Get),
    /// Tell what becomes of stored objects when their CRD is replaced
    Rehearse(Rehearse),
    /// Say what a CEL expression gives, what it costs and whether it could be a rule
    Cel(Cel),
    /// Say what the server would say of a CRD, what its rules cost, and what a new version of it would break
    Lint(Lint),
    /// Print the OpenAPI document that the server would publish for a CRD
    Openapi(Openapi),
    /// Serve the simulated API over HTTP on loopback, for real clients
    Serve(Serve),
}

/// `validate`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Objects in a directory, their CRDs in another
  kubectl crdx validate -f objects/ --crds crds/ --offline

  # CRDs and objects in one stream, in any order
  helm template . | kubectl crdx validate -f - --offline

  # What would be stored, defaults filled in and unknown fields gone
  kubectl crdx validate -f backup.yaml --crds crds/ --field-validation Ignore -o yaml

  # What an update would do to what is there
  kubectl crdx validate -f new/ --old backup.yaml --crds crds/ --offline

  # CRDs that no file gives are read from the cluster of the current context
  kubectl crdx validate -f objects/ -R

A CRD may also stand among the objects, earlier or later; it is judged, too. Kinds built into Kubernetes are skipped.")]
pub struct Validate {
    /// Files or directories with objects (YAML or JSON), `-` for standard input
    #[arg(short = 'f', long = "filename", value_name = "PATH", required = true, num_args = 1..)]
    pub filenames: Vec<String>,
    /// Files or directories with CustomResourceDefinitions
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub crds: Vec<String>,
    /// Go into the directories below those given
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Judge duplicate and unknown fields as kubectl's `--validate` does
    #[arg(long, value_name = "LEVEL", default_value = "Strict", ignore_case = true)]
    pub field_validation: FieldValidation,
    /// Take a kind without a CRD for "skipped" rather than for "cannot tell"
    #[arg(long)]
    pub ignore_missing_crds: bool,
    /// How many threads judge objects [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// What is there already, and how it is written.
    #[command(flatten)]
    pub updates: Updates,
    /// What to print: json (documented in docs/output.md), yaml (the objects as they would be stored), wide (with the
    /// printer columns of each kind) or name (of the accepted objects) [default: a table and the errors]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<Format>,
    /// Print only what is not accepted, and no summary
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// The cluster to ask for CRDs.
    #[command(flatten)]
    pub cluster: Cluster,
}

/// `diff`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Against the cluster of the current context, which is only read
  kubectl crdx diff -f objects/

  # Offline, against a backup
  kubectl crdx diff -f objects/ --old backup.yaml --crds crds/ --offline

  # What a controller that replaces the object would change
  kubectl crdx diff -f object.yaml --replace

Lines that defaults bring end in `# default`; lines that begin with `!` are sent and would not be stored.
KUBECTL_EXTERNAL_DIFF names another program to compare with, as for kubectl diff.

Exit codes: 0 nothing would change, 1 something would, 2 something would be refused or could not be told.")]
pub struct Diff {
    /// Files or directories with objects (YAML or JSON), `-` for standard input
    #[arg(short = 'f', long = "filename", value_name = "PATH", required = true, num_args = 1..)]
    pub filenames: Vec<String>,
    /// Files or directories with CustomResourceDefinitions
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub crds: Vec<String>,
    /// Go into the directories below those given
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Judge duplicate and unknown fields as kubectl's `--validate` does
    #[arg(long, value_name = "LEVEL", default_value = "Strict", ignore_case = true)]
    pub field_validation: FieldValidation,
    /// Take a kind without a CRD for "skipped" rather than for "cannot tell"
    #[arg(long)]
    pub ignore_missing_crds: bool,
    /// How many threads judge objects [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// What is there already, and how it is written.
    #[command(flatten)]
    pub updates: Updates,
    /// Show also what the server and kubectl note in the metadata: generation, managedFields, resourceVersion, uid,
    /// creationTimestamp and the last-applied annotation
    #[arg(long, help_heading = "Output")]
    pub show_bookkeeping: bool,
    /// What to print: json (documented in docs/output.md) [default: a unified diff]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<DiffFormat>,
    /// The cluster to ask for CRDs and for objects that --old does not give.
    #[command(flatten)]
    pub cluster: Cluster,
}

/// `get`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # By plural, singular, kind or short name, with the group when it is needed
  kubectl crdx get crontabs
  kubectl crdx get ct my-cron -o yaml
  kubectl crdx get gateways.gateway.networking.k8s.io -A -o wide")]
pub struct Get {
    /// Plural, singular, kind or short name; with `.GROUP` where several groups have it
    #[arg(value_name = "RESOURCE[.GROUP]")]
    pub resource: String,
    /// Names of objects; all of them without one
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// In every namespace
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// What to print [default: the printer columns of priority 0]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<Format>,
    /// The cluster to ask.
    #[command(flatten)]
    pub cluster: Cluster,
}

/// `rehearse`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Tomorrow's CRD, today's, and what is stored
  kubectl crdx rehearse new-crd.yaml --old old-crd.yaml -f objects/ --offline

  # Everything that a cluster stores; today's CRD is read from it, too
  kubectl get crontabs -A -o json | kubectl crdx rehearse new-crd.yaml -f -

Of an object that would be invalid it is tried whether an edit of nothing but a label still passes: the server forgives
errors of what does not change, but not all of them.

Exit codes: 0 nothing breaks, 1 something is lost or invalid or the CRD is refused, 2 something could not be told.")]
pub struct Rehearse {
    /// A file with the CRD as it will be
    #[arg(value_name = "NEW_CRD")]
    pub definition: String,
    /// A file with the CRD as it is [default: that of the cluster; with --offline none, and objects are taken as they are]
    #[arg(long, value_name = "OLD_CRD")]
    pub old: Option<String>,
    /// Files or directories with the stored objects, `-` for standard input; other kinds are passed over
    #[arg(short = 'f', long = "filename", value_name = "PATH", required = true, num_args = 1..)]
    pub filenames: Vec<String>,
    /// Go into the directories below those given
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// How many threads rehearse [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// What to print: json (documented in docs/output.md) [default: a table and what becomes of each object]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<DiffFormat>,
    /// The cluster to ask for today's CRD.
    #[command(flatten)]
    pub cluster: Cluster,
}

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
    /// A file with the object that is `self` (YAML or JSON), `-` for standard input; CRDs in it count, too
    #[arg(short = 'f', long, value_name = "PATH")]
    pub filename: Option<String>,
    /// Files or directories with CustomResourceDefinitions
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "filename")]
    pub crds: Vec<String>,
    /// The node of the object that is `self`, such as spec.ports[0] [default: the whole object]
    #[arg(long, value_name = "FIELD", requires = "filename")]
    pub at: Option<String>,
    /// A file with the object that is replaced: the same node of it is `oldSelf`
    #[arg(long, value_name = "PATH", requires = "filename")]
    pub old: Option<String>,
    /// What to print: json (documented in docs/output.md) [default: lines to read]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<CelFormat>,
}

/// `-o` of `cel`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CelFormat {
    /// For programs
    Json,
}

/// `lint`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What the server would say, and the cost of every rule
  kubectl crdx lint crd.yaml

  # What an update would break
  kubectl crdx lint new.yaml --old old.yaml

  # A CRD of apiextensions.k8s.io/v1beta1 as v1
  kubectl crdx lint --convert old-crd.yaml > crd.yaml

Exit codes: 0 nothing is wrong, 1 the server would refuse it, or it breaks objects of --old, 2 it could not be told.")]
pub struct Lint {
    /// Files or directories with CustomResourceDefinitions, `-` for standard input
    #[arg(value_name = "CRD", required = true)]
    pub filenames: Vec<String>,
    /// Files or directories with the CRDs as they are now: those of the same name are updated
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "convert")]
    pub old: Vec<String>,
    /// Print CRDs of v1beta1 as v1, and say on standard error what that changes
    #[arg(long)]
    pub convert: bool,
    /// Go into the directories below those given
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// What to print: json (documented in docs/output.md) [default: text]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output", conflicts_with = "convert")]
    pub output: Option<OnlyJson>,
}

/// `-o` where there is one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlyJson {
    /// For programs
    Json,
}

/// `openapi`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What /openapi/v3/apis/GROUP/VERSION holds
  kubectl crdx openapi crd.yaml --version v1

  # What /openapi/v2 holds, which says less
  kubectl crdx openapi crd.yaml --v2")]
pub struct Openapi {
    /// A file with CustomResourceDefinitions, `-` for standard input
    #[arg(value_name = "CRD")]
    pub filename: String,
    /// OpenAPI 2.0, all versions in one document
    #[arg(long)]
    pub v2: bool,
    /// The version of the CRD [default: the one objects are stored in; all with --v2]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
}

/// `serve`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The first line printed is the URL
  kubectl crdx serve --port 18080
  kubectl --server http://127.0.0.1:18080 get --raw /apis")]
pub struct Serve {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

/// Old objects, and the request that is made of an old and a new one.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Updates")]
pub struct Updates {
    /// Files or directories with the objects as they are now, `-` for standard input: a new object of the same kind,
    /// namespace and name updates them as `kubectl apply` does, one without an old object is created
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub old: Vec<String>,
    /// Send what `kubectl apply --server-side` sends
    #[arg(long, group = "request")]
    pub server_side: bool,
    /// Send what `kubectl replace` sends
    #[arg(long, group = "request")]
    pub replace: bool,
    /// Send what `kubectl create` sends, also for objects that are there
    #[arg(long, group = "request")]
    pub create: bool,
    /// Write a subresource: status is replaced (or applied with --server-side), scale is set to the replicas of the object
    #[arg(long, value_name = "NAME", conflicts_with = "create")]
    pub subresource: Option<Subresource>,
    /// Take over the fields of other managers with --server-side
    #[arg(long, requires = "server_side")]
    pub force_conflicts: bool,
    /// The name that owns what is written [default: kubectl's]
    #[arg(long, value_name = "NAME")]
    pub field_manager: Option<String>,
}

impl Updates {
    /// The request that is asked for.
    pub fn verb(&self) -> Verb {
        match (self.server_side, self.replace, self.create) {
            (true, ..) => Verb::ServerSide,
            (_, true, _) => Verb::Replace,
            (_, _, true) => Verb::Create,
            _ => Verb::Apply,
        }
    }

    /// Whether anything but a plain create is asked for.
    pub fn is_asked_for(&self) -> bool {
        !self.old.is_empty() || self.server_side || self.replace || self.subresource.is_some()
    }
}

/// What kubectl is told to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// `kubectl apply`
    #[default]
    Apply,
    /// `kubectl apply --server-side`
    ServerSide,
    /// `kubectl replace`
    Replace,
    /// `kubectl create`
    Create,
}

/// `--subresource`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Subresource {
    /// The status
    Status,
    /// The replicas
    Scale,
}

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

/// `--field-validation`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum FieldValidation {
    /// Reject them
    Strict,
    /// Warn of them and drop them
    Warn,
    /// Drop them
    Ignore,
}

impl FieldValidation {
    /// The word in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Warn => "Warn",
            Self::Ignore => "Ignore",
        }
    }
}

/// `-o`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For programs
    Json,
    /// Objects
    Yaml,
    /// Every printer column
    Wide,
    /// `kind.group/name`
    Name,
}

/// `-o` of a command that prints no objects
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For programs
    Json,
}

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
