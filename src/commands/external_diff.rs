//! `KUBECTL_EXTERNAL_DIFF`: runs another diff program as kubectl does. The last two arguments are the directories
//! `LIVE-…` and `MERGED-…`, which contain a file per object.

use crdx_engine::report::Identity;
use std::fs;
use std::io;
use std::process::Command;
use tempfile::{Builder, TempDir};

const VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";

/// The diff program and the directories that it compares.
#[derive(Debug)]
pub struct ExternalDiff {
    words: Vec<String>,
    live: TempDir,
    merged: TempDir,
}

impl ExternalDiff {
    /// Returns the program in the environment variable, if it is set.
    pub fn from_environment() -> io::Result<Option<Self>> {
        let Some(text) = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty()) else { return Ok(None) };
        Ok(Some(Self { words: words(&text), live: directory("LIVE-")?, merged: directory("MERGED-")? }))
    }

    /// Writes an object before and after the request to two files.
    pub fn add(&self, name: &str, before: &str, after: &str) -> io::Result<()> {
        let name = name.replace(['/', '\\'], "_");
        let live = self.live.path().join(&name);
        // If several inputs have the same name, the first one has the original object.
        if !live.exists() {
            fs::write(live, before)?;
        }
        fs::write(self.merged.path().join(&name), after)
    }

    /// Runs the program and returns its exit code: 0 for no differences, 1 for differences.
    pub fn run(&self) -> io::Result<i32> {
        let (program, arguments) = self.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let status = Command::new(program).args(arguments).args([self.live.path(), self.merged.path()]).status();
        let status =
            status.map_err(|e| io::Error::new(e.kind(), format!("{VARIABLE} {program:?} cannot be run: {e}")))?;
        Ok(status.code().unwrap_or(2))
    }
}

/// Creates a directory that only this user can read: it has objects of the cluster.
fn directory(prefix: &str) -> io::Result<TempDir> {
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix(prefix).tempdir()
}

/// Returns the program and its arguments. kubectl passes only arguments of letters, digits, `-` and `=`.
fn words(text: &str) -> Vec<String> {
    let plain =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'='));
    let mut words = text.split(' ');
    let program = words.next().unwrap_or_default().to_owned();
    std::iter::once(program).chain(words.filter(|w| plain(w)).map(str::to_owned)).collect()
}

/// Returns the file name that kubectl uses for an object: group, version, kind, namespace and name.
pub fn file_name(identity: &Identity) -> String {
    let api_version = identity.api_version.replace('/', ".");
    let namespace = identity.namespace.as_deref().unwrap_or_default();
    format!("{api_version}.{}.{namespace}.{}", identity.kind, identity.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn other_users_cannot_read_the_objects() {
        use std::os::unix::fs::PermissionsExt;
        let directory = directory("LIVE-").unwrap();
        let mode = fs::metadata(directory.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn arguments_are_filtered_as_kubectl_does() {
        assert_eq!(words("colordiff -N -u"), ["colordiff", "-N", "-u"]);
        assert_eq!(words("diff ;rm $x --a=b c_d"), ["diff", "--a=b"]);
        assert_eq!(words("/usr/bin/meld"), ["/usr/bin/meld"]);
    }
}
