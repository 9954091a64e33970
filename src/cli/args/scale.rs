//! The words of `kubectl crdx scale`.

use super::{Cluster, TableOrJson};
use clap::{Args as ClapArgs, ValueEnum};

/// `scale`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What kubectl scale would do
  kubectl crdx scale crontab/nightly --replicas 5
  kubectl crdx scale crontabs nightly weekly --replicas 0 --dry-run

  # Without a cluster
  kubectl crdx scale crontab/nightly --replicas 5 -f objects/ --crds crds/ --offline")]
pub struct Scale {
    /// TYPE/NAME pairs, or a TYPE and names
    #[arg(value_name = "TYPE/NAME", required = true)]
    pub words: Vec<String>,
    /// How many replicas are wanted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    pub replicas: i32,
    /// Only say what would happen; it is never done
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "server")]
    pub dry_run: Option<DryRun>,
    /// A file or directory with objects, read instead of live ones; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "PATH", help_heading = "Files")]
    pub filenames: Vec<String>,
    /// A file or directory with CustomResourceDefinitions for objects in files; may be repeated
    #[arg(long, value_name = "PATH", requires = "filenames", help_heading = "Files")]
    pub crds: Vec<String>,
    /// Go into the directories below those given
    #[arg(short = 'R', long, help_heading = "Files")]
    pub recursive: bool,
    /// What to print [default: the Scale and a diff of the object]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<TableOrJson>,
    /// The cluster to ask.
    #[command(flatten)]
    pub cluster: Cluster,
}

/// `--dry-run`; both come to the same here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// As the server would
    Server,
    /// As kubectl would
    Client,
}
