//! The options of the client: `initializationOptions` and `workspace/didChangeConfiguration`.

use crdx_engine::report::severity::Severities;
use crdx_input::configuration::Lookup;
use crdx_input::remote::url::is_url;
use crdx_value::release::{ReleaseSet, ReleaseSetError};
use serde_json::Value;
use std::path::Path;

/// The settings of a workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Files and directories with CRDs, besides those of the workspace.
    pub crds: Vec<String>,
    /// Files and directories with admission policies.
    pub policies: Vec<String>,
    /// The releases to simulate; by default the newest.
    pub releases: Option<ReleaseSet>,
    /// The severities of the findings of this program.
    pub severities: Severities,
    /// True if CRDs are not searched in the workspace.
    pub skips_workspace: bool,
    /// True if objects and CRDs are compared with their committed versions.
    pub compares: bool,
    /// True if missing CRDs are read from the cluster of the current context.
    pub live: bool,
    /// The file with the settings of the project, which apply where the others are not set.
    pub lookup: Lookup,
}

/// The reason why an option is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// It has another type.
    #[error("{name} must be {expected}")]
    WrongType {
        /// The option.
        name: String,
        /// The values that it may have.
        expected: &'static str,
    },
    /// It names versions that are not simulated.
    #[error("kubernetesVersion: {0}")]
    Releases(ReleaseSetError),
}

impl Settings {
    /// These settings, with those that `options` has: `crds`, `policies` (lists of paths, relative to `root`),
    /// `kubernetesVersion`, `searchWorkspace`, `compareWithCommitted` and `live`. Options of other programs are ignored.
    ///
    /// # Errors
    /// Returns a message for the first option with a wrong value.
    pub fn with(mut self, options: &Value, root: Option<&Path>) -> Result<Self, SettingsError> {
        if let Some(paths) = paths(options, "crds", root)? {
            self.crds = paths;
        }
        if let Some(paths) = paths(options, "policies", root)? {
            self.policies = paths;
        }
        match options.get("kubernetesVersion") {
            None | Some(Value::Null) => {}
            Some(Value::String(version)) => {
                self.releases = Some(version.parse().map_err(SettingsError::Releases)?);
            }
            Some(_) => return Err(wrong_type("kubernetesVersion", "a string, such as \"1.34\"")),
        }
        if let Some(searches) = flag(options, "searchWorkspace")? {
            self.skips_workspace = !searches;
        }
        self.compares = flag(options, "compareWithCommitted")?.unwrap_or(self.compares);
        self.live = flag(options, "live")?.unwrap_or(self.live);
        Ok(self)
    }
}

fn wrong_type(name: &str, expected: &'static str) -> SettingsError {
    SettingsError::WrongType { name: name.to_owned(), expected }
}

fn flag(options: &Value, name: &str) -> Result<Option<bool>, SettingsError> {
    match options.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(wrong_type(name, "true or false")),
    }
}

fn paths(options: &Value, name: &str, root: Option<&Path>) -> Result<Option<Vec<String>>, SettingsError> {
    let wrong = || wrong_type(name, "a list of paths");
    let list = match options.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong()),
    };
    let absolute = |path: &str| match root.filter(|_| !is_url(path)) {
        Some(root) => root.join(path).display().to_string(),
        None => path.to_owned(),
    };
    list.iter().map(|path| path.as_str().map(absolute).ok_or_else(wrong)).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_replace_those_of_the_command_line() {
        let flags = Settings { crds: vec!["a".to_owned()], ..Settings::default() };
        let options = json!({"crds": ["x", "/y", "https://z"], "kubernetesVersion": "1.31..1.33", "searchWorkspace": false, "other": 1});
        let settings = flags.clone().with(&options, Some(Path::new("/w"))).unwrap();
        assert_eq!(settings.crds, ["/w/x", "/y", "https://z"]);
        assert_eq!(settings.releases.unwrap().to_string(), "1.31..1.33");
        assert!(settings.skips_workspace);
        assert_eq!(flags.clone().with(&json!({}), None), Ok(flags.clone()));
        let settings = flags.with(&json!({"live": true, "compareWithCommitted": true, "crds": null}), None).unwrap();
        assert!(settings.live && settings.compares && settings.crds == ["a"]);
    }

    #[test]
    fn wrong_options_are_named() {
        let error = |options: Value| Settings::default().with(&options, None).unwrap_err().to_string();
        assert_eq!(error(json!({"crds": "x"})), "crds must be a list of paths");
        assert!(error(json!({"kubernetesVersion": "1.2"})).starts_with("kubernetesVersion: "));
        assert_eq!(error(json!({"searchWorkspace": 1})), "searchWorkspace must be true or false");
    }
}
