//! The files that the settings of a project may name: regular files of the project. The settings may be those of a pull
//! request, and messages about a file, which a log may publish, show its lines.

use super::{ConfigurationError, Origin, Setting, SettingKey, Settings};
use crate::InputOptions;
use crate::catalog::is_entry;
use crate::files::{InputSource, ReadStep, expand};
use crate::remote::url::is_url;
use crdx_engine::report::SourceLocation;
use crdx_files::check_regular;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Checks the paths that the file with settings has for `keys`, which are read with `options`. A path that does not exist is
/// reported when it is read.
///
/// # Errors
/// A path, a file in a directory, or the target of a link is outside of the project, or is not a regular file.
pub fn check_paths(
    settings: &Settings,
    keys: impl IntoIterator<Item = SettingKey>,
    options: &InputOptions,
) -> Result<(), ConfigurationError> {
    let Some(root) = settings.root.as_deref().and_then(|root| fs::canonicalize(root).ok()) else { return Ok(()) };
    for key in keys {
        let Some(Setting { values, origin: Origin::File(location) }) = settings.settings.get(&key) else { continue };
        let project = Project { root: &root, key, label: key.name(), location };
        project.check(values, options)?;
    }
    Ok(())
}

/// Checks the paths of the targets in the file with settings, which are read with `options`.
///
/// # Errors
/// As [`check_paths`].
pub fn check_targets(settings: &Settings, options: &InputOptions) -> Result<(), ConfigurationError> {
    let Some(root) = settings.root.as_deref().and_then(|root| fs::canonicalize(root).ok()) else { return Ok(()) };
    for target in &settings.targets {
        for (key, values) in target.all_paths() {
            Project { root: &root, key, label: "targets", location: &target.location }.check(values, options)?;
        }
    }
    Ok(())
}

/// The file that a step reads.
fn file(step: ReadStep) -> Option<PathBuf> {
    match step {
        ReadStep::Named(InputSource::File(path)) | ReadStep::Found(InputSource::File(path)) => Some(path),
        ReadStep::Definitions(definitions) => Some(definitions.path().to_owned()),
        _ => None,
    }
}

struct Project<'a> {
    /// The root, without links.
    root: &'a Path,
    key: SettingKey,
    /// The key in messages.
    label: &'a str,
    /// The place of the key in the file.
    location: &'a SourceLocation,
}

impl Project<'_> {
    fn check(&self, values: &[String], options: &InputOptions) -> Result<(), ConfigurationError> {
        let options = if self.key == SettingKey::Crds { options.clone().of_definitions() } else { options.clone() };
        // A path given twice is read once.
        let values: BTreeSet<&String> = values.iter().filter(|value| !is_url(value) && !is_entry(value)).collect();
        for value in values {
            // Nothing outside of the project is searched either: of a pattern, this is the directory before it.
            let existing = Path::new(value).ancestors().find(|path| path.exists());
            self.check_place(existing.unwrap_or(Path::new("")))?;
            for file in expand(std::slice::from_ref(value), &options).into_iter().filter_map(file) {
                self.check_file(&file)?;
            }
        }
        Ok(())
    }

    fn check_place(&self, path: &Path) -> Result<(), ConfigurationError> {
        let shown = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match fs::canonicalize(shown) {
            Ok(full) if !full.starts_with(self.root) => {
                let (path, root) = (path.display(), self.root.display());
                Err(self.error(&format!("{path} is not a file of the project {root}")))
            }
            _ => Ok(()),
        }
    }

    fn check_file(&self, path: &Path) -> Result<(), ConfigurationError> {
        self.check_place(path)?;
        let checked = fs::metadata(path).map_or(Ok(()), |metadata| check_regular(&metadata));
        checked.map_err(|error| self.error(&format!("{}: {error}", path.display())))
    }

    fn error(&self, message: &str) -> ConfigurationError {
        let variable = self.key.variable();
        let flag = if self.key == SettingKey::Paths { String::new() } else { format!("--{} or ", self.key.argument()) };
        let help = format!(
            "the file with settings may only name regular files of its repository: give others with {flag}{variable}"
        );
        ConfigurationError::new(format!("{}: {message}", self.label), Some(self.location.clone()), Some(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Lookup;

    /// Returns the error for `policies: VALUE` in the settings of a directory with `inside/a.yaml`, next to `outside.yaml`.
    fn error(place: &Path, value: &str) -> Option<String> {
        fs::write(place.join("project/.crdx.yaml"), format!("policies: {value}\n")).unwrap();
        let settings = Lookup::default().read(&place.join("project"), false).unwrap();
        let found = check_paths(
            &settings,
            [SettingKey::Policies],
            &InputOptions { recursive: true, ..InputOptions::default() },
        );
        found.err().map(|error| error.to_string())
    }

    fn place() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("project/inside/deep")).unwrap();
        for file in ["outside.yaml", "project/inside/a.yaml", "project/inside/deep/b.yaml"] {
            fs::write(place.path().join(file), "machine a password b\n").unwrap();
        }
        place
    }

    #[test]
    fn files_of_the_project_may_be_named() {
        let place = place();
        for value in ["inside", "inside/a.yaml", "'in*/**'", "inside/../inside/a.yaml", "missing.yaml", "'missing/*'"] {
            assert_eq!(error(place.path(), value), None, "{value}");
        }
        fs::create_dir(place.path().join(".git")).unwrap();
        assert_eq!(error(place.path(), "../outside.yaml"), None, "the project is the repository");
    }

    #[test]
    fn files_elsewhere_are_not_shown() {
        let place = place();
        let absolute = place.path().join("outside.yaml").display().to_string();
        for value in [
            "../outside.yaml",
            "..",
            "'../*'",
            "'../**'",
            "'inside/*/../../..'",
            "[inside, ../outside.yaml]",
            &absolute,
        ] {
            let error = error(place.path(), value).unwrap_or_default();
            assert!(error.contains("is not a file of the project"), "{value}: {error}");
            assert!(error.contains(".crdx.yaml:1:1") && !error.contains("password b"), "{value}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_refused() {
        use std::os::unix::fs::symlink;
        let place = place();
        let inside = place.path().join("project/inside");
        symlink("a.yaml", inside.join("link.yaml")).unwrap();
        assert_eq!(error(place.path(), "inside"), None, "a link in the project");
        symlink("../../../outside.yaml", inside.join("deep/link.yaml")).unwrap();
        for value in ["inside", "'inside/*'", "inside/deep/link.yaml"] {
            let error = error(place.path(), value).unwrap_or_default();
            assert!(error.contains("link.yaml is not a file of the project"), "{value}: {error}");
        }
        assert!(std::process::Command::new("mkfifo").arg(inside.join("pipe")).status().unwrap().success());
        let error = |value: &str| error(place.path(), value).unwrap_or_default();
        assert!(error("inside/pipe").contains("it is a named pipe"), "{}", error("inside/pipe"));
        assert!(error("/dev/zero").contains("is not a file of the project"));
    }
}
