//! The arguments of `kubectl crdx get`, which are those of `kubectl get`.

use crate::commands::flags::error::boolean;
use crate::commands::flags::{ClusterArgs, KubernetesVersion, ObjectFiles, Reading};
use clap::{ArgAction, Args as ClapArgs};

/// `get`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # By plural, singular, kind, short name or category, with the group (and version) when it is needed
  kubectl crdx get crontabs
  kubectl crdx get ct my-cron -o yaml
  kubectl crdx get gateways.gateway.networking.k8s.io,httproutes -A -o wide
  kubectl crdx get crontab/nightly crontab/weekly -o jsonpath='{.items[*].spec.cronSpec}'

  # Live objects as they would be read after the upgrade of their CRD
  kubectl crdx get crontabs --with-crd new-crd.yaml

  # Without a cluster
  kubectl crdx get -f objects/ --crds crds/ --offline")]
pub struct Get {
    // The brackets are part of the help text and not a link.
    #[allow(rustdoc::broken_intra_doc_links)]
    /// TYPE, or several with commas, each as NAME[.VERSION][.GROUP]; then names. Or TYPE/NAME pairs
    #[arg(value_name = "TYPE [NAME…] | TYPE/NAME", required_unless_present_any = ["files", "raw"])]
    pub words: Vec<String>,
    /// List objects of all namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Only objects whose labels match
    #[arg(short = 'l', long, value_name = "SELECTOR", allow_hyphen_values = true)]
    pub selector: Option<String>,
    /// Only objects whose fields match
    #[arg(long, value_name = "SELECTOR")]
    pub field_selector: Option<String>,
    /// Read this subresource of the named objects, such as status or scale
    #[arg(long, value_name = "NAME", conflicts_with = "new_crds")]
    pub subresource: Option<String>,
    /// Print the cluster's answer to a GET of this path, such as /apis
    #[arg(long, value_name = "URI", conflicts_with = "files", hide_short_help = true)]
    pub raw: Option<String>,
    /// Exit with 0 and without a message if an object does not exist
    #[arg(long)]
    pub ignore_not_found: bool,
    /// Print the existing objects, then objects as they change
    #[arg(short = 'w', long)]
    pub watch: bool,
    /// Print objects as they change, without the existing ones
    #[arg(long)]
    pub watch_only: bool,
    /// With --watch or --watch-only, print the type of each event, too; existing objects are ADDED
    #[arg(long, hide_short_help = true)]
    pub output_watch_events: bool,
    /// The number of objects in each page of a list; 0 requests all objects at once
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub chunk_size: usize,
    /// The files that are read instead of the cluster.
    #[command(flatten)]
    pub files: ObjectFiles,
    /// Show objects as they would be read with the CRDs in these files instead of the current ones
    #[arg(long = "with-crd", alias = "crd", value_name = "PATH", conflicts_with = "files", help_heading = "Files")]
    pub new_crds: Vec<String>,
    /// The options for reading files.
    #[command(flatten)]
    pub reading: Reading,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// json, yaml, kyaml, name, wide, jsonpath=…, jsonpath-as-json=…, jsonpath-file=…, go-template=…,
    /// go-template-file=…, custom-columns=…, custom-columns-file=…
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<String>,
    /// The template of `-o jsonpath` or `-o go-template` (the default with this flag), the columns of
    /// `-o custom-columns`, or the file with them
    #[arg(long, value_name = "TEXT", help_heading = "Output", hide_short_help = true)]
    pub template: Option<String>,
    /// Print nothing for keys that a template names and an object lacks; with =false, they are errors
    #[arg(long, value_name = "BOOL", help_heading = "Output", hide_short_help = true, action = ArgAction::Set)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true")]
    #[arg(value_parser = boolean)]
    pub allow_missing_template_keys: bool,
    /// Print the printer columns; with =false, only names and ages, of any kind
    #[arg(long, value_name = "BOOL", help_heading = "Output", hide_short_help = true, action = ArgAction::Set)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true")]
    #[arg(value_parser = boolean)]
    pub server_print: bool,
    /// Sort by the field at this JSONPath
    #[arg(long, value_name = "JSONPATH", help_heading = "Output")]
    pub sort_by: Option<String>,
    /// Add a column for each of these labels
    #[arg(short = 'L', long, value_name = "LABEL", help_heading = "Output")]
    pub label_columns: Vec<String>,
    /// Add a last column with all labels
    #[arg(long, help_heading = "Output")]
    pub show_labels: bool,
    /// Print the kind before each name
    #[arg(long, help_heading = "Output")]
    pub show_kind: bool,
    /// Omit the header line
    #[arg(long, help_heading = "Output")]
    pub no_headers: bool,
    /// Keep managedFields in JSON and YAML
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub show_managed_fields: bool,
    /// The cluster to read.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

impl Get {
    /// Returns the subresource to read.
    pub fn subresource(&self) -> Option<&str> {
        self.subresource.as_deref().filter(|name| !name.is_empty())
    }

    /// Returns the number of objects per page; 0 for a single request, as kubectl sends for sorting.
    pub fn page(&self) -> usize {
        if self.order().is_some() { 0 } else { self.chunk_size }
    }

    /// Returns the field by which objects are sorted.
    pub fn order(&self) -> Option<&str> {
        self.sort_by.as_deref().filter(|field| !field.is_empty())
    }
}
