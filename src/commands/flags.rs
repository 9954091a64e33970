//! The groups of flags that commands share, and the types of their values. Flags are named as kubectl names them.

pub mod admission_configuration;
mod baseline;
pub mod boolean;
mod cluster;
pub(crate) mod color;
pub mod error;
mod formats;
mod inputs;
mod kubernetes;
mod object_files;
mod object_name;
mod paths;
pub mod policies;
mod rendering;
mod reports;
#[cfg(feature = "serve")]
pub mod served;
pub mod server;
mod severities;
mod static_manifests;
#[cfg(feature = "serve")]
pub mod static_policies;
mod targets;
mod updates;

pub use baseline::{BaselineFile, finish_baseline};
pub use cluster::ClusterArgs;
pub use color::Color;
pub use formats::{JsonOrYaml, OnlyJson, TableOrJson};
pub use inputs::Inputs;
pub use kubernetes::{KubernetesVersion, KubernetesVersions};
pub use object_files::ObjectFiles;
pub use object_name::ObjectName;
pub use paths::{Paths, Reading, report_notes};
pub use policies::Policies;
pub use reports::ReportFormat;
pub use server::Server;
pub use severities::Severities;
pub use targets::{Target, targets};
pub use updates::Updates;
