//! A profile: what a simulation needs of a cluster, in files, in place of the cluster. `fetch --profile` writes one.
//!
//! [`description`] is its main file, [`resources`] says which objects it has and what of them, [`params`] which params of policies
//! and [`published_schemas`] what of the schemas of aggregated APIs, and [`path`] reads the paths of requests. Another crate reads and writes the files.

pub mod description;
pub mod params;
pub mod path;
pub mod published_schemas;
pub mod resources;

pub use description::{Description, DescriptionError};
pub use params::{SavedParams, WantedParams, wanted_params};
pub use path::RequestPath;
pub use resources::{SavedResource, saved_form, saved_param};
