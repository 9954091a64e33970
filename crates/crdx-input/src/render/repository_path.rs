//! Paths as objects of Flux name them.

use super::normal;
use crdx_files::project;
use std::env;
use std::path::{Path, PathBuf};

/// Returns a path of the repository relative to the working directory; `None` if it is outside.
pub fn in_repository(path: impl AsRef<Path>) -> Option<PathBuf> {
    let path = path.as_ref();
    let levels = project::levels_to_root(&env::current_dir().ok()?);
    let inside = normal(path.strip_prefix("/").unwrap_or(path));
    (!inside.starts_with("..")).then(|| normal(&PathBuf::from("../".repeat(levels)).join(inside)))
}
