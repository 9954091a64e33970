//! Discovery: what a repository has for Kubernetes, and the settings that would validate it. Nothing is rendered, run or
//! downloaded.

mod contents;
mod environments;
mod finding;
mod layout;
mod proposal;
mod references;
mod walk;

pub use finding::{Finding, FindingKind};

use crate::files;
use crdx_engine::documents::Note;
use layout::Layout;
use std::io;
use std::path::{Path, PathBuf};

/// What is known of a repository.
#[derive(Debug)]
pub struct Discovery {
    /// In the order of [`FindingKind`], then by path. Paths are relative to the directory that was searched.
    pub found: Vec<Finding>,
    /// Kinds of objects whose CRDs the repository does not have.
    pub unresolved: Vec<UnresolvedKind>,
    /// Files and directories that could not be read.
    pub problems: Vec<Note>,
    /// The text of a `.crdx.yaml`; `None` if there is nothing to validate.
    pub settings: Option<String>,
}

/// A kind without a CRD.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnresolvedKind {
    pub group: String,
    pub kind: String,
    pub objects: usize,
    /// The projects of the catalog that have CRDs of its group.
    pub projects: Vec<String>,
}

/// Searches a directory. `reads_ignored` is true to read files that `.gitignore` excludes.
///
/// # Errors
/// The directory cannot be read.
pub fn discover(directory: &Path, reads_ignored: bool) -> Result<Discovery, io::Error> {
    let (paths, errors) = walk::files(directory, reads_ignored)?;
    let mut layout = Layout::new(directory, &paths);
    for path in &paths {
        layout.add(path);
    }
    let proposal = proposal::Proposal::new(&layout);
    let settings = (!layout.is_empty()).then(|| proposal.text());
    let unresolved = layout.unresolved();
    let problems = errors.into_iter().map(|message| files::note(&directory.display().to_string(), message, None));
    let unread = layout.unreadable.iter().map(|(path, error)| files::unreadable(&path.display().to_string(), error));
    let problems = problems.chain(unread).collect();
    Ok(Discovery { found: layout.into_findings(), unresolved, problems, settings })
}

/// Returns a path as text with `/`, and `.` for the directory that was searched.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Returns the directory of a file.
fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}

/// Returns the paths that are not below another one, in order.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
