//! Which credential plugins may run. Follows `plugin/pkg/client/auth/exec/exec.go` of client-go (`ValidatePluginPolicy`,
//! `checkAllowlistLocked`).

use crate::fields::{FieldError, Fields};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// `credentialPluginPolicy` and `credentialPluginAllowlist`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginPolicy {
    /// The policy; empty means `AllowAll`.
    policy: String,
    /// The commands that may run, if a list is given.
    allowlist: Option<Vec<String>>,
}

/// Why a policy is invalid, or does not permit a plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There is no such policy.
    #[error("unknown plugin policy: {0:?}")]
    Unknown(String),
    /// The policy has no list.
    #[error("misconfigured credential plugin allowlist: plugin policy is {0:?} but allowlist is non-nil")]
    Unused(String),
    /// The list is missing.
    #[error("credential plugin policy set to \"Allowlist\", but allowlist is unspecified")]
    Unspecified,
    /// The list is empty.
    #[error("credential plugin policy set to \"Allowlist\", but allowlist is empty; use \"DenyAll\" policy instead")]
    Empty,
    /// An entry is empty.
    #[error("misconfigured credential plugin allowlist: empty allowlist entry #{0}")]
    EmptyEntry(usize),
    /// The path of an entry is not in its shortest form.
    #[error("non-normalized file path: {0:?} vs {1:?}")]
    NotClean(String, String),
    /// No plugin may run.
    #[error("the credential plugin {0} is not allowed: credentialPluginPolicy is \"DenyAll\"")]
    Denied(String),
    /// The plugin is not in the list.
    #[error("the credential plugin {0} is not permitted by the credentialPluginAllowlist")]
    NotListed(String),
    /// The plugin cannot be found, so it cannot be compared with the list.
    #[error("the credential plugin {0} cannot be found for the check of the credentialPluginAllowlist")]
    NotFound(String),
}

impl PluginPolicy {
    pub(super) fn decode(fields: &Fields<'_>, names: &[&str]) -> Result<Self, FieldError> {
        let entry = |item: &Fields<'_>| {
            let given: Vec<String> =
                names.iter().filter_map(|name| item.text(name).transpose()).collect::<Result<_, _>>()?;
            match given.as_slice() {
                [command, name] if command != name => {
                    Err(item.unusable("name", "must not differ from command; it is deprecated"))
                }
                given => Ok(given.first().cloned().unwrap_or_default()),
            }
        };
        let list = "credentialPluginAllowlist";
        let items = || fields.objects(list)?.iter().map(entry).collect::<Result<_, _>>();
        Ok(Self {
            policy: fields.text("credentialPluginPolicy")?.unwrap_or_default(),
            allowlist: fields.any(list).is_some().then(items).transpose()?,
        })
    }

    /// Checks the policy itself.
    pub fn check(&self) -> Result<(), PolicyError> {
        match (self.policy.as_str(), &self.allowlist) {
            ("" | "AllowAll" | "DenyAll", None) => Ok(()),
            ("" | "AllowAll" | "DenyAll", Some(_)) => Err(PolicyError::Unused(self.policy.clone())),
            ("Allowlist", None) => Err(PolicyError::Unspecified),
            ("Allowlist", Some(list)) if list.is_empty() => Err(PolicyError::Empty),
            ("Allowlist", Some(list)) => list.iter().enumerate().try_for_each(|(at, entry)| check_entry(at, entry)),
            _ => Err(PolicyError::Unknown(self.policy.clone())),
        }
    }

    /// Returns the program to run for a plugin. With a list, it is the path that was compared with it.
    pub fn permit(&self, command: &Path) -> Result<PathBuf, PolicyError> {
        self.permit_with(command, |name| look_path(name, std::env::var_os("PATH")))
    }

    fn permit_with(&self, command: &Path, find: impl Fn(&Path) -> Option<PathBuf>) -> Result<PathBuf, PolicyError> {
        let name = || command.display().to_string();
        let list = match (self.policy.as_str(), &self.allowlist) {
            ("" | "AllowAll", _) => return Ok(command.to_owned()),
            ("DenyAll", _) => return Err(PolicyError::Denied(name())),
            ("Allowlist", Some(list)) => list,
            _ => return Err(PolicyError::Unknown(self.policy.clone())),
        };
        // As in client-go, a path is relative to the directory of the kubeconfig, and made absolute.
        let is_path = command.components().nth(1).is_some();
        let absolute = is_path.then(|| std::path::absolute(command).ok()).flatten();
        let cleaned = clean(absolute.as_deref().unwrap_or(command));
        let has = |path: &Path| list.iter().any(|entry| Path::new(entry) == path);
        let found = find(&cleaned);
        if has(&cleaned) {
            return Ok(found.unwrap_or(cleaned));
        }
        let found = found.ok_or_else(|| PolicyError::NotFound(name()))?;
        let is_same = |entry: &String| {
            let entry = Path::new(entry);
            entry.file_name() == found.file_name() && find(entry).as_ref() == Some(&found)
        };
        if has(&found) || list.iter().any(is_same) { Ok(found) } else { Err(PolicyError::NotListed(name())) }
    }
}

fn check_entry(at: usize, entry: &str) -> Result<(), PolicyError> {
    if entry.is_empty() {
        return Err(PolicyError::EmptyEntry(at + 1));
    }
    let cleaned = clean(Path::new(entry)).display().to_string();
    if cleaned == entry { Ok(()) } else { Err(PolicyError::NotClean(entry.to_owned(), cleaned)) }
}

/// The shortest form of a path without looking at files, as `filepath.Clean` of Go.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

/// Finds a program as `exec.LookPath` of Go. A program that a relative directory of `PATH` has is not found.
fn look_path(name: &Path, path: Option<OsString>) -> Option<PathBuf> {
    if name.components().nth(1).is_some() || name.is_absolute() {
        return executable(name.to_owned());
    }
    let directories: Vec<PathBuf> = std::env::split_paths(&path.unwrap_or_default()).collect();
    let found = directories.into_iter().find_map(|directory| executable(directory.join(name)))?;
    found.is_absolute().then_some(found)
}

#[cfg(unix)]
fn executable(path: PathBuf) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(&path).ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
}

#[cfg(not(unix))]
fn executable(path: PathBuf) -> Option<PathBuf> {
    use std::ffi::OsStr;
    let extensions = std::env::var("PATHEXT").unwrap_or_else(|_| ".com;.exe;.bat;.cmd".to_owned());
    let with = |extension: &str| {
        let name = [path.file_name().unwrap_or(OsStr::new("")), OsStr::new(extension)].concat();
        path.with_file_name(name)
    };
    let candidates = std::iter::once(path.clone()).filter(|path| path.extension().is_some());
    candidates.chain(extensions.split(';').map(with)).find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(policy: &str, list: Option<&[&str]>) -> PluginPolicy {
        let allowlist = list.map(|list| list.iter().map(|entry| (*entry).to_owned()).collect());
        PluginPolicy { policy: policy.to_owned(), allowlist }
    }

    #[test]
    fn a_policy_without_its_list_is_invalid() {
        assert_eq!(policy("", None).check(), Ok(()));
        assert_eq!(policy("Allowlist", Some(&["aws"])).check(), Ok(()));
        assert_eq!(policy("Allowlist", None).check(), Err(PolicyError::Unspecified));
        assert_eq!(policy("Allowlist", Some(&[])).check(), Err(PolicyError::Empty));
        assert_eq!(policy("Allowlist", Some(&["aws", ""])).check(), Err(PolicyError::EmptyEntry(2)));
        assert!(matches!(policy("Allowlist", Some(&["/bin//aws"])).check(), Err(PolicyError::NotClean(..))));
        assert!(matches!(policy("AllowAll", Some(&["aws"])).check(), Err(PolicyError::Unused(_))));
        assert!(matches!(policy("denyall", None).check(), Err(PolicyError::Unknown(_))));
    }

    #[test]
    fn a_plugin_must_be_the_program_of_an_entry() {
        // As `exec.LookPath` would with PATH=/usr/bin.
        let find = |name: &Path| match name.to_str()? {
            "aws" | "/usr/bin/aws" => Some("/usr/bin/aws".into()),
            "/tmp/aws" => Some("/tmp/aws".into()),
            _ => None,
        };
        let permit = |policy: PluginPolicy, command: &str| {
            policy.permit_with(Path::new(command), find).map(|path| path.display().to_string())
        };
        let listed = |entry: &str| policy("Allowlist", Some(&[entry]));
        assert_eq!(permit(policy("", None), "x"), Ok("x".to_owned()));
        assert_eq!(permit(policy("DenyAll", None), "aws"), Err(PolicyError::Denied("aws".to_owned())));
        for (entry, command) in
            [("aws", "aws"), ("/usr/bin/aws", "aws"), ("aws", "/usr/bin/aws"), ("/usr/bin/aws", "/usr/bin/../bin/aws")]
        {
            assert_eq!(permit(listed(entry), command), Ok("/usr/bin/aws".to_owned()), "{entry} {command}");
        }
        assert_eq!(permit(listed("aws"), "/tmp/aws"), Err(PolicyError::NotListed("/tmp/aws".to_owned())));
        assert_eq!(permit(listed("aws"), "gcloud"), Err(PolicyError::NotFound("gcloud".to_owned())));
    }

    #[test]
    fn paths_are_cleaned_as_by_go() {
        for (path, want) in
            [("a//b/./c", "a/b/c"), ("a/../../b", "../b"), ("/../a", "/a"), ("./a", "a"), ("a/..", "."), ("", ".")]
        {
            assert_eq!(clean(Path::new(path)).display().to_string(), want, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_found_in_absolute_directories_of_the_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("login");
        std::fs::write(&file, "").unwrap();
        let look = |name: &str| look_path(Path::new(name), Some(dir.path().into()));
        assert_eq!(look("login"), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(look("login"), Some(file.clone()));
        assert_eq!(look("./login"), None);
        assert_eq!(look_path(Path::new("login"), Some(".".into())), None);
        assert_eq!(look_path(&file, None), Some(file));
    }
}
