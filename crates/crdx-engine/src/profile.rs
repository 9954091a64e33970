//! A profile: what a simulation needs of a cluster, in files, in place of the cluster. `fetch --profile` writes one.
//!
//! [`description`] is its main file, [`resources`] says which objects it has and what of them, and [`path`] reads the paths of
//! requests. Another crate reads and writes the files.

pub mod description;
pub mod path;
pub mod resources;

pub use description::{Description, DescriptionError};
pub use path::RequestPath;
pub use resources::{SavedResource, saved_form};
