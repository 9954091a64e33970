//! The arguments of `kubectl crdx prove`.

use crate::commands::flags::{KubernetesVersion, Policies, Reading, ReportFormat};
use clap::Args as ClapArgs;
use std::num::NonZeroU32;

/// `prove`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What objects would the new CRD break?
  kubectl crdx prove old-crd.yaml new-crd.yaml

  # All CRDs of a directory, since the branch main
  kubectl crdx prove git:main config/crd/

  # What a roll-back would break: objects that the new CRD accepts, under the old one
  kubectl crdx prove old-crd.yaml new-crd.yaml --reverse

  # What new admission policies deny that the old ones allow, for writes of custom resources and built-in kinds
  kubectl crdx prove --policies new.yaml --old-policies old.yaml --crds config/crd/

  # Search longer
  kubectl crdx prove old-crd.yaml new-crd.yaml --tries 100000

For each served version, the command asks five questions about the objects that the old CRD accepts: does the new CRD reject \
a create, does it reject an update of a stored object, does it drop a value, does it default a value differently, and do the \
printer columns show something else. With --policies, it asks for each kind that a validating policy matches which creates and \
updates the policy denies, and whether all policies together allow a create. Every object that is printed was sent to the simulated server, and is as small as \
possible. `none possible` follows from the CRDs; `none found` means that the search found no object.

Exit codes: 0 no object shows a change, 1 an object does, or the new CRD is rejected, 2 prove cannot tell, or the usage is wrong.")]
pub struct Prove {
    /// A file, directory or archive with the old CRDs, or git:REF for the new ones as of a commit
    #[arg(value_name = "OLD_CRD", required_unless_present = "policies", conflicts_with = "policies")]
    pub old: Option<String>,
    /// A file, directory or archive with the new CRDs
    #[arg(value_name = "NEW_CRD", required_unless_present = "policies")]
    pub new: Option<String>,
    /// Swap the CRDs: what a roll-back would break
    #[arg(long, conflicts_with = "policies")]
    pub reverse: bool,
    /// A file or directory with the old admission policies, or git:REF for the new ones as of a commit; may be repeated
    /// [default: none]
    #[arg(long, value_name = "PATH", requires = "policies", help_heading = "Admission policies")]
    pub old_policies: Vec<String>,
    /// A file or directory with the CRDs of custom resources, for --policies; may be repeated
    #[arg(long, value_name = "PATH", requires = "policies", help_heading = "Admission policies")]
    pub crds: Vec<String>,
    /// The new admission policies.
    #[command(flatten)]
    pub policies: Policies,
    /// The number of objects to try for each version, if none are found earlier
    #[arg(long, value_name = "N", default_value = "2000", help_heading = "Search")]
    pub tries: NonZeroU32,
    /// The seed of the random part of the search; the same seed gives the same result
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Search")]
    pub seed: u64,
    /// The options for reading files.
    #[command(flatten)]
    pub reading: Reading,
    /// The simulated server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// Output format: json (documented in docs/output.md) or markdown (for a comment) [default: table, the answers as text]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, value_parser = ReportFormat::parser(ReportFormat::OF_PROVE), help_heading = "Output")]
    pub output: Option<ReportFormat>,
}
