//! The user's preferences for kubectl, `~/.kube/kuberc`: which credential plugins may run, and defaults of flags. Follows
//! `k8s.io/kubectl/pkg/kuberc`. Aliases name kubectl's own commands, so they have no effect on a plugin of kubectl.

mod policy;
mod preference;

pub use policy::{PluginPolicy, PolicyError};
pub use preference::{FlagDefaults, Preference, PreferenceError};

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Preferences, and the file that they are from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kuberc {
    pub file: PathBuf,
    pub preference: Preference,
    /// The warnings that kubectl would print.
    pub warning: Option<String>,
}

/// Why the preferences cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KubercError {
    /// The file is not used, and also given.
    #[error("disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive")]
    OffAndGiven,
    /// A file that was asked for cannot be read.
    #[error("kuberc: cannot read {}: {cause}", file.display())]
    Unreadable { file: PathBuf, cause: io::Error },
    /// Its content cannot be used.
    #[error("kuberc: {}: {cause}", file.display())]
    Content { file: PathBuf, cause: PreferenceError },
    /// Which credential plugins may run is not defined.
    #[error("kuberc: {}: {cause}", file.display())]
    Policy { file: PathBuf, cause: PolicyError },
}

/// The source of preferences.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Location {
    file: PathBuf,
    /// True if a flag or a variable names the file, so that it must exist.
    is_explicit: bool,
}

/// Reads the preferences of kubectl: the file of `--kuberc`, otherwise that of the variable `KUBERC`, otherwise
/// `~/.kube/kuberc`.
///
/// # Errors
/// Returns an error where kubectl would end with one.
pub fn read(flag: Option<&Path>) -> Result<Kuberc, KubercError> {
    let location = location(flag, |name| std::env::var_os(name), std::env::home_dir())?;
    location.map_or_else(|| Ok(Kuberc::default()), load)
}

fn location(
    flag: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
) -> Result<Option<Location>, KubercError> {
    if variable("KUBECTL_KUBERC").is_some_and(|value| value.eq_ignore_ascii_case("false")) {
        return Ok(None);
    }
    let named = variable("KUBERC").filter(|value| !value.is_empty());
    let flag = flag.filter(|file| !file.as_os_str().is_empty());
    if named.as_deref().is_some_and(|value| value == "off") {
        return if flag.is_some() { Err(KubercError::OffAndGiven) } else { Ok(None) };
    }
    let explicit = flag.map(Path::to_owned).or_else(|| named.map(PathBuf::from));
    Ok(match explicit {
        Some(file) => Some(Location { file, is_explicit: true }),
        None => home.map(|home| Location { file: home.join(".kube").join("kuberc"), is_explicit: false }),
    })
}

/// Reads a file. Unless it was asked for, one that is missing or has no preferences has no effect, as for kubectl; invalid
/// preferences are always an error.
fn load(location: Location) -> Result<Kuberc, KubercError> {
    let Location { file, is_explicit } = location;
    let ignored = |cause: &dyn std::error::Error| Kuberc {
        warning: Some(format!("no preferences loaded from {}: {cause}", file.display())),
        ..Kuberc::default()
    };
    let text = match std::fs::read(&file) {
        Ok(text) => text,
        Err(cause) if is_explicit => return Err(KubercError::Unreadable { file, cause }),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Kuberc::default()),
        Err(cause) => return Ok(ignored(&cause)),
    };
    match Preference::decode(&text) {
        Ok((preference, unknown)) => {
            preference.check().map_err(|cause| KubercError::Content { file: file.clone(), cause })?;
            if let Err(cause) = preference.policy.check() {
                return Err(KubercError::Policy { file, cause });
            }
            let warning = (!unknown.is_empty()).then(|| {
                format!("unknown fields in {} are ignored, as by kubectl: {}", file.display(), unknown.join(", "))
            });
            Ok(Kuberc { file, preference, warning })
        }
        Err(cause) if is_explicit => Err(KubercError::Content { file, cause }),
        Err(cause) => Ok(ignored(&cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<(String, bool)>, KubercError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let found = location(flag.map(Path::new), variable, Some("/home/me".into()))?;
        Ok(found.map(|location| (location.file.display().to_string(), location.is_explicit)))
    }

    #[test]
    fn the_flag_precedes_the_variable_and_the_default() {
        assert_eq!(located(None, &[]).unwrap(), Some(("/home/me/.kube/kuberc".to_owned(), false)));
        assert_eq!(located(None, &[("KUBERC", "/a")]).unwrap(), Some(("/a".to_owned(), true)));
        assert_eq!(located(Some("/b"), &[("KUBERC", "/a")]).unwrap(), Some(("/b".to_owned(), true)));
        assert_eq!(located(None, &[("KUBERC", "off")]).unwrap(), None);
        assert_eq!(located(None, &[("KUBECTL_KUBERC", "False")]).unwrap(), None);
        assert!(located(Some("/b"), &[("KUBERC", "off")]).is_err());
    }

    fn loaded(text: Option<&str>, is_explicit: bool) -> Result<Kuberc, KubercError> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("kuberc");
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        load(Location { file, is_explicit })
    }

    #[test]
    fn a_file_that_nobody_asked_for_may_be_missing_or_other() {
        assert_eq!(loaded(None, false).unwrap(), Kuberc::default());
        assert!(matches!(loaded(None, true), Err(KubercError::Unreadable { .. })));
        let other = "apiVersion: v1\nkind: ConfigMap\n";
        assert!(loaded(Some(other), false).unwrap().warning.unwrap().contains("no preferences loaded"));
        assert!(matches!(loaded(Some(other), true), Err(KubercError::Content { .. })));
        assert_eq!(loaded(Some(""), true).unwrap().preference, Preference::default());
    }

    #[test]
    fn an_invalid_policy_is_an_error_everywhere() {
        let head = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n";
        for policy in ["Denyall", "Allowlist", "DenyAll\ncredentialPluginAllowlist: []"] {
            let text = format!("{head}credentialPluginPolicy: {policy}\n");
            assert!(matches!(loaded(Some(&text), false), Err(KubercError::Policy { .. })), "{policy}");
        }
    }

    #[test]
    fn a_misspelt_field_is_named() {
        let text = "apiVersion: kubectl.config.k8s.io/v1\nkind: Preference\ncredentialpluginPolicy: DenyAll\n";
        let kuberc = loaded(Some(text), false).unwrap();
        assert!(kuberc.warning.unwrap().ends_with(": credentialpluginPolicy"));
        assert_eq!(kuberc.preference.policy, PluginPolicy::default());
    }
}
