//! The arguments of `kubectl crdx cel`.

use crate::commands::flags::policies::authorizer;
use crate::commands::flags::{KubernetesVersion, ObjectName, OnlyJson};
use clap::{Args as ClapArgs, ValueEnum};
use crdx_server::policies::authorizer::Rules;

/// The place of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Environment {
    /// A rule of a CRD: `self` and `oldSelf`
    Rule,
    /// A validation, a variable or an audit annotation of an admission policy
    Policy,
    /// A match condition of a webhook, or of an admission policy with --policy
    MatchCondition,
    /// A mutation of an admission policy
    Mutation,
    /// A selector of devices: `device`
    Device,
}

impl Environment {
    /// Returns the name of the environment.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Policy => "policy",
            Self::MatchCondition => "match-condition",
            Self::Mutation => "mutation",
            Self::Device => "device",
        }
    }

    /// Returns the word for a valid expression in this environment.
    pub fn expression(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Policy => "validation",
            Self::MatchCondition => "condition",
            Self::Mutation => "mutation",
            Self::Device => "selector",
        }
    }
}

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

  # A validation of an admission policy, with its variables and params
  kubectl crdx cel 'variables.images.all(i, i in params.data)' --policy policy.yaml -f pod.yaml --params allowed.yaml

  # A selector of devices, for the first device of a ResourceSlice
  kubectl crdx cel 'device.driver == \"gpu.example.com\"' --environment device -f slice.yaml --at spec.devices[0]

Without a CRD, the type of self is dyn.

Exit codes: 0 the expression has a value, 1 it does not compile or fails, 2 an input is wrong or missing.")]
pub struct Cel {
    /// The expression, as in `x-kubernetes-validations` or in an admission policy; after `--` if it begins with a `-`
    #[arg(value_name = "EXPRESSION")]
    pub expression: String,
    /// A file with the object that is `self`, or the `object` of a policy (YAML or JSON), `-` for standard input, which may
    /// also contain its CRD; not needed for an expression that does not use it
    #[arg(short = 'f', long, value_name = "PATH")]
    pub filename: Option<String>,
    /// The object of the file that is `self`, if there are several
    #[arg(long, value_name = "[KIND/][NAMESPACE/]NAME", requires = "filename")]
    pub name: Option<ObjectName>,
    /// A file or directory with CustomResourceDefinitions; may be repeated
    #[arg(long, value_name = "PATH")]
    pub crds: Vec<String>,
    // The brackets are part of the help text and not a link, and the kind is not code.
    #[allow(clippy::doc_markdown, rustdoc::broken_intra_doc_links)]
    /// The node of the object that is `self`, such as spec.ports[0], or the device of a ResourceSlice [default: the whole
    /// object, or the only device]
    #[arg(long, value_name = "FIELD")]
    pub at: Option<String>,
    /// A file with the old object; its node at the same path is `oldSelf`, and for a policy the object is `oldObject`
    #[arg(long, value_name = "PATH")]
    pub old: Option<String>,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// Output format: json (documented in docs/output.md) [default: text]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<OnlyJson>,
    /// The inputs of other expressions than rules.
    #[command(flatten)]
    pub policies: PolicyInputs,
}

/// The inputs of expressions of admission policies and of selectors of devices.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Admission policies and devices")]
pub struct PolicyInputs {
    /// The place of the expression, which decides the variables that it may use [default: `policy` with --policy, otherwise
    /// `rule`]
    #[arg(long, value_enum, value_name = "ENVIRONMENT", ignore_case = true)]
    pub environment: Option<Environment>,
    /// A file with an admission policy, whose variables and params the expression may use
    #[arg(long, value_name = "PATH")]
    pub policy: Option<String>,
    /// The policy of that file, if there are several
    #[arg(long, value_name = "NAME", requires = "policy")]
    pub policy_name: Option<String>,
    /// A file with the object that is `params`
    #[arg(long, value_name = "PATH")]
    pub params: Option<String>,
    /// A file with the Namespace that is `namespaceObject`
    #[arg(long, value_name = "PATH")]
    pub namespace_object: Option<String>,
    /// The name of the user in `request.userInfo`
    #[arg(long, value_name = "NAME")]
    pub request_user: Option<String>,
    /// A group of that user; may be repeated. As with impersonation, `system:authenticated` and the groups of service
    /// accounts are added
    #[arg(long, value_name = "GROUP", requires = "request_user")]
    pub request_group: Vec<String>,
    /// The answers of `authorizer`: `allow`, `deny`, or a YAML file with rules
    #[arg(
        long,
        value_name = "allow|deny|FILE",
        value_parser = authorizer,
        requires = "request_user"
    )]
    pub authorizer: Option<Rules>,
}

impl Cel {
    /// Returns the environment of the expression.
    pub fn environment(&self) -> Environment {
        let policies = &self.policies;
        policies.environment.unwrap_or(if policies.policy.is_some() { Environment::Policy } else { Environment::Rule })
    }
}
