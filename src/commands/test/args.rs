//! The arguments of `kubectl crdx test`.

use super::round_trips::RoundTrips;
use crate::commands::flags::error::ArgumentError;
use crate::commands::flags::{KubernetesVersions, ReportFormat, Server, Severities};
use clap::Args as ClapArgs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `test`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # All suites below the working directory, each with the CRDs in ../../zz_generated.crd-manifests
  kubectl crdx test

  # A suite with the CRD of a file, on three Kubernetes versions
  kubectl crdx test kites.testsuite.yaml --crds crd.yaml --kubernetes-version 1.32..1.34

  # Write a first suite; after a change of the CRD, accept the answers of the server
  kubectl crdx test --init kites.crd.yaml > kites.testsuite.yaml
  kubectl crdx test kites.testsuite.yaml --update

  # Do objects survive a round trip through the other versions? With a conversion webhook that runs on this machine
  kubectl crdx test --round-trip config/crd/ --webhook-host 127.0.0.1:9443 --webhook-ca ca.crt

  # The documents in objects/valid must be accepted, those in objects/invalid rejected
  kubectl crdx test objects/ --crds crd.yaml

A suite is a file *.testsuite.yaml, or *.yaml in a directory below tests/; its format is that of openshift/api. \
Documents in directories named valid and invalid are cases, too; a comment `# error: TEXT` on the first lines of an \
invalid document gives a part of the expected message. Nothing is sent to a cluster, and a conversion webhook is called only with --webhook-url \
or --webhook-host. See docs/testing-crds.md.

Exit codes: 0 every case passes, 1 a case fails, an object changes in a round trip, the server rejects a CRD or --min-coverage is not reached, 2 a suite \
cannot be read, a CRD is missing or a webhook cannot be called.")]
pub struct Test {
    /// Suites, or directories with suites; with --round-trip, CRDs [default: the working directory]
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// A file or directory with CRDs, used instead of those that a suite names and regardless of its feature gates; may
    /// be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub crds: Vec<String>,
    /// Only CRDs with this annotation; the value may be an element of a comma-separated list; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = annotation)]
    pub annotation: Vec<(String, String)>,
    /// Only cases with this text in their name or in the name of their suite
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// If a case has no `expected`, compare the stored object with the one that was sent, as openshift/api does
    #[arg(long)]
    pub default_expected: bool,
    /// Print a first suite for the CRD in this file: its examples, and for each constraint an object that violates only
    /// this constraint
    #[arg(long, value_name = "CRD", conflicts_with_all = ["paths", "crds", "update", "watch", "output"])]
    pub init: Option<String>,
    /// Write the server's answers into the suites: the objects, messages and warnings that failing cases expect
    #[arg(long, conflicts_with = "watch")]
    pub update: bool,
    /// Stop at the first case that fails
    #[arg(long)]
    pub fail_fast: bool,
    /// Report the rules, enums, patterns, bounds, required fields and unions of the CRDs that the cases do not exercise
    #[arg(long)]
    pub coverage: bool,
    /// Exit with 1 if less than this percentage of a CRD's constraints is covered
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub min_coverage: Option<u8>,
    /// The number of threads that run cases [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Run again whenever a file changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
    /// Round trips between versions.
    #[command(flatten)]
    pub round_trips: RoundTrips,
    /// The file with the settings of the project, if there is one.
    #[arg(skip)]
    pub settings_file: Option<String>,
    /// The simulated servers; the default is the newest version, or the `kubernetesVersions` of a suite.
    #[command(flatten)]
    pub kubernetes: KubernetesVersions,
    /// The profile of a cluster, a folder that `fetch --from-cluster --profile` writes: its version and the settings of its server
    #[arg(long, value_name = "DIR", help_heading = "Simulated server")]
    pub profile: Vec<PathBuf>,
    /// The settings of the server.
    #[command(flatten)]
    pub server: Server,
    /// The severities of the findings of this program.
    #[command(flatten)]
    pub severities: Severities,
    /// Output format: json (documented in docs/output.md), or for pipelines junit, tap, github (annotations) or
    /// markdown (for a comment) [default: text]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, value_parser = ReportFormat::parser(ReportFormat::OF_TEST), help_heading = "Output")]
    pub output: Option<ReportFormat>,
}

fn annotation(text: &str) -> Result<(String, String), ArgumentError> {
    let (key, value) = text.split_once('=').ok_or(ArgumentError::Form("KEY=VALUE"))?;
    Ok((key.to_owned(), value.to_owned()))
}
