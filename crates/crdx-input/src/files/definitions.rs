//! CRDs that are not in a file of their own: in an archive, or at a URL.

use super::{InputSource, ReadStep, note, unreadable};
use crate::archive::{self, ArchiveError};
use crate::remote::Remote;
use crdx_files::open::read_small;
use std::path::{Path, PathBuf};

/// Where CRDs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definitions {
    /// A tarball or packed chart.
    Archive(PathBuf),
    /// A download, which may be an archive.
    Remote {
        /// The URL as given; never shown.
        url: String,
        /// The download.
        remote: Remote,
    },
}

impl Definitions {
    /// The file that is read.
    pub fn path(&self) -> &Path {
        match self {
            Self::Archive(path) => path,
            Self::Remote { remote, .. } => remote.path(),
        }
    }

    /// Reads the file and returns the steps for its content.
    pub fn steps(&self) -> Vec<ReadStep> {
        match self {
            Self::Archive(path) => {
                let name = path.display().to_string();
                match read_small(path, archive::LIMIT) {
                    Ok(content) => of_archive(&name, &content),
                    Err(error) => vec![ReadStep::Problem(unreadable(&name, &error))],
                }
            }
            Self::Remote { url, remote } => match remote.read() {
                Ok(content) => of_download(&remote.name, content),
                Err(error) => vec![ReadStep::Problem(note(&remote.name, error.to_string(), Some(error.hint(url))))],
            },
        }
    }
}

/// The steps for a download called `name`.
pub fn of_download(name: &str, content: Vec<u8>) -> Vec<ReadStep> {
    if archive::is_archive(&content) {
        of_archive(name, &content)
    } else {
        vec![ReadStep::Named(InputSource::Memory { name: name.into(), content: content.into() })]
    }
}

fn of_archive(name: &str, content: &[u8]) -> Vec<ReadStep> {
    let problem = |error: ArchiveError| {
        vec![ReadStep::Problem(note(name, format!("{name} is not used: {error}"), Some(error.hint().to_owned())))]
    };
    let members = match archive::definitions(content) {
        Ok(members) => members,
        Err(error) => return problem(error),
    };
    if members.is_empty() {
        let hint = "name an archive whose .yaml, .yml or .json files have CRDs".to_owned();
        return vec![ReadStep::Problem(note(
            name,
            format!("there is no CustomResourceDefinition in {name}"),
            Some(hint),
        ))];
    }
    let member = |member: archive::Member| {
        let name = format!("{name}/{}", member.name).into();
        ReadStep::Found(InputSource::Memory { name, content: member.content.into() })
    };
    members.into_iter().map(member).collect()
}
