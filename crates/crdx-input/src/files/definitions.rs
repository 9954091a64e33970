//! CRDs that are not in a file of their own: in an archive, or at a URL.

use super::{InputSource, ReadStep, note, unreadable};
use crate::archive::{self, ArchiveError};
use crate::ignore::Ignore;
use crate::remote::Remote;
use crdx_files::open::read_small;
use std::path::{Path, PathBuf};

/// Where CRDs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definitions {
    /// A tarball or packed chart, or what is at a path inside of it.
    Archive { path: PathBuf, inside: Option<String> },
    /// A download, which may be an archive.
    Remote {
        /// The URL as given; never shown.
        url: String,
        /// The download.
        remote: Remote,
        inside: Option<String>,
    },
}

/// A file with CRDs, as it was read.
#[derive(Clone, Copy, Debug)]
pub struct PackedSource<'a> {
    /// The name for messages.
    pub name: &'a str,
    /// The path inside of an archive.
    pub inside: Option<&'a str>,
    /// The members of an archive to leave out.
    pub ignore: &'a Ignore,
}

impl Definitions {
    /// The file that is read.
    pub fn path(&self) -> &Path {
        match self {
            Self::Archive { path, .. } => path,
            Self::Remote { remote, .. } => remote.path(),
        }
    }

    /// Reads the file and returns the steps for its content.
    pub fn steps(&self, ignore: &Ignore) -> Vec<ReadStep> {
        match self {
            Self::Archive { path, inside } => {
                let name = path.display().to_string();
                match read_small(path, archive::LIMIT) {
                    Ok(content) => {
                        of_archive(PackedSource { name: &name, inside: inside.as_deref(), ignore }, &content)
                    }
                    Err(error) => vec![ReadStep::Problem(unreadable(&name, &error))],
                }
            }
            Self::Remote { url, remote, inside } => match remote.read() {
                Ok(content) => {
                    of_download(PackedSource { name: &remote.name, inside: inside.as_deref(), ignore }, content)
                }
                Err(error) => vec![ReadStep::Problem(note(&remote.name, error.to_string(), Some(error.hint(url))))],
            },
        }
    }
}

/// The steps for a download.
pub fn of_download(source: PackedSource<'_>, content: Vec<u8>) -> Vec<ReadStep> {
    let name = source.name;
    if archive::is_archive(&content) {
        of_archive(source, &content)
    } else if let Some(inside) = source.inside {
        let hint = "leave out `//` and what follows".to_owned();
        vec![ReadStep::Problem(note(name, format!("{name} is no archive, so that it has no {inside}"), Some(hint)))]
    } else {
        vec![ReadStep::Named(InputSource::Memory { name: name.into(), content: content.into() })]
    }
}

fn of_archive(source: PackedSource<'_>, content: &[u8]) -> Vec<ReadStep> {
    let PackedSource { name, inside, ignore } = source;
    let problem = |error: ArchiveError| {
        vec![ReadStep::Problem(note(name, format!("{name} is not used: {error}"), Some(error.hint().to_owned())))]
    };
    let read = match inside {
        Some(inside) => archive::definitions_at(content, inside),
        None => archive::definitions(content),
    };
    let mut members = match read {
        Ok(members) => members,
        Err(error) => return problem(error),
    };
    let path_of = |member: &archive::Member| format!("{name}/{}", member.name);
    members.retain(|member| !ignore.matches(Path::new(&path_of(member))));
    if members.is_empty() {
        let (what, hint) = match inside {
            Some(inside) => (
                format!("{name}//{inside}"),
                "check the path inside of the archive, and what is left out with --ignore",
            ),
            None => (name.to_owned(), "name an archive whose .yaml, .yml or .json files have CRDs"),
        };
        let message = format!("there is no CustomResourceDefinition in {what}");
        return vec![ReadStep::Problem(note(name, message, Some(hint.to_owned())))];
    }
    let member = |member: archive::Member| {
        let name = path_of(&member).into();
        ReadStep::Found(InputSource::Memory { name, content: member.content.into() })
    };
    members.into_iter().map(member).collect()
}
