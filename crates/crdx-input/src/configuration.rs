//! The settings of a project: the file `.crdx.yaml` and the variables `CRDX_…`. They are read once, at the edge, and become
//! the defaults of the flags. Reading them runs no program and opens no connection.

mod confined;
mod key;
mod lookup;
mod read;
mod targets;
mod variables;

pub use confined::{check_paths, check_targets};
pub use key::SettingKey;
pub use lookup::{FILE_NAME, Lookup};
pub use targets::TargetSettings;
pub use variables::{is_unknown, of_variables};

use crdx_engine::report::SourceLocation;
use crdx_output::excerpt::{self, MessageSeverity};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The settings in force, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The file that was read, as messages show it.
    pub file: Option<String>,
    /// The directory of the file, for patterns that are relative to it.
    pub directory: Option<PathBuf>,
    /// The directory that has all files that the file may name; `None` if it may name any.
    pub root: Option<PathBuf>,
    /// The values.
    pub settings: BTreeMap<SettingKey, Setting>,
    /// The targets of the file.
    pub targets: Vec<TargetSettings>,
}

/// The values of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The values; a key with one value has one. Paths are relative to the working directory.
    pub values: Vec<String>,
    /// Where they are set.
    pub origin: Origin,
}

/// Where a value is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    File(SourceLocation),
    /// In an environment variable.
    Variable(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(location) => write!(f, "{}:{}:{}", location.source, location.line, location.column),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// An error in the file or in a variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.text())]
pub struct ConfigurationError(Box<ConfigurationProblem>);

/// The error, its place, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ConfigurationProblem {
    message: String,
    location: Option<SourceLocation>,
    help: Option<String>,
}

impl ConfigurationProblem {
    fn text(&self) -> String {
        let help = self.help.as_deref();
        let text = if let Some(location) = &self.location {
            excerpt::render(MessageSeverity::Error, &self.message, location, help, false)
        } else {
            let help = help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
            format!("error: {}{help}", self.message)
        };
        text.trim_end().to_owned()
    }
}

impl ConfigurationError {
    fn new(message: impl Into<String>, location: Option<SourceLocation>, help: Option<String>) -> Self {
        Self(Box::new(ConfigurationProblem { message: message.into(), location, help }))
    }
}

impl Settings {
    /// Returns true if nothing is set.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.targets.is_empty()
    }

    /// Returns the values of a key; an empty list if it is not set.
    pub fn values(&self, key: SettingKey) -> &[String] {
        self.settings.get(&key).map(|setting| setting.values.as_slice()).unwrap_or_default()
    }

    /// These settings, with those of `variables` taking precedence.
    #[must_use]
    pub fn overridden_by(mut self, variables: BTreeMap<SettingKey, Setting>) -> Self {
        self.settings.extend(variables);
        self
    }

    /// Returns where a path is set.
    pub fn origin_of_path(&self, path: &str) -> Option<&Origin> {
        let has_it = |setting: &&Setting| setting.values.iter().any(|value| value == path);
        let paths = self.settings.iter().filter(|(key, _)| key.is_paths()).map(|(_, setting)| setting);
        paths.into_iter().find(has_it).map(|setting| &setting.origin)
    }

    /// Names the objects and files that the settings leave out, of the keys for which `is_active` returns true; `None` if
    /// there are none. A review of results must show that something was left out.
    pub fn restrictions(&self, is_active: impl Fn(SettingKey) -> bool) -> Option<String> {
        let restriction = |key: SettingKey, verb: &str| {
            let setting = self.settings.get(&key).filter(|setting| is_active(key) && !setting.values.is_empty())?;
            let source = match &setting.origin {
                Origin::File(location) => location.source.to_string(),
                Origin::Variable(name) => (*name).to_owned(),
            };
            Some(format!("{source} {verb} {}", listed(&setting.values)))
        };
        let all: Vec<String> = [(SettingKey::Skip, "skips"), (SettingKey::Ignore, "ignores")]
            .into_iter()
            .filter_map(|(key, verb)| restriction(key, verb))
            .collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// The number of values that a message names.
const NAMED: usize = 10;

fn listed(values: &[String]) -> String {
    let named = values.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match values.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restrictions_name_active_entries_with_their_source() {
        let setting =
            |values: &[&str], origin| Setting { values: values.iter().map(ToString::to_string).collect(), origin };
        let file = Origin::File(SourceLocation::line(&".crdx.yaml".into(), 3));
        let mut settings = Settings::default();
        settings.settings.insert(SettingKey::Skip, setting(&["Secret", "ConfigMap"], file));
        settings.settings.insert(SettingKey::Ignore, setting(&["a"; 12], Origin::Variable("CRDX_IGNORE")));
        let all = settings.restrictions(|_| true).unwrap();
        let many = ["a"; 10].join(", ");
        assert_eq!(all, format!(".crdx.yaml skips Secret, ConfigMap; CRDX_IGNORE ignores {many} and 2 more"));
        assert_eq!(settings.restrictions(|_| false), None);
    }
}
