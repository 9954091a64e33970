//! `--runtime-config`: which APIs a server serves instead of those that it serves by default
//! (`k8s.io/apiserver/pkg/server/resourceconfig/helpers.go`).

use std::collections::BTreeMap;
use std::fmt;

/// The APIs that are enabled or disabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeConfig(BTreeMap<String, bool>);

/// A value that the server does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid value of {key}: {value:?}: give true or false")]
pub struct RuntimeConfigError {
    key: String,
    value: String,
}

const ALL: &str = "api/all";
/// The keys for all versions of a level, in the server's order.
const LEVELS: [(&str, Level); 3] = [("api/ga", Level::Stable), ("api/beta", Level::Beta), ("api/alpha", Level::Alpha)];

/// The level of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Stable,
    Beta,
    Alpha,
}

impl RuntimeConfig {
    /// Reads `KEY=true,KEY=false`; a key alone enables. A later value of a key replaces an earlier one.
    ///
    /// # Errors
    /// Returns an error for a value that is no boolean.
    pub fn read(&mut self, text: &str) -> Result<(), RuntimeConfigError> {
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (key, value) = item.split_once('=').unwrap_or((item, "true"));
            let enabled = match value {
                "1" | "t" | "T" | "true" | "TRUE" | "True" | "" => true,
                "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
                _ => return Err(RuntimeConfigError { key: key.to_owned(), value: value.to_owned() }),
            };
            self.0.insert(key.to_owned(), enabled);
        }
        Ok(())
    }

    /// Adds the keys of another value, which replace those with the same names.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(key, enabled)| (key.clone(), *enabled)));
    }

    /// Returns true if the server serves its default APIs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys of the APIs that are enabled.
    pub fn enabled(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, enabled)| **enabled).map(|(key, _)| key.as_str())
    }

    /// Returns whether a resource is enabled or disabled; `None` if it is as by default.
    pub fn serves(&self, group: &str, version: &str, resource: &str) -> Option<bool> {
        if self.0.is_empty() {
            return None;
        }
        let get = |key: &str| self.0.get(key).copied();
        let own = level(version);
        let of_level = LEVELS.iter().filter(|(_, level)| own == Some(*level)).find_map(|(key, _)| get(key));
        let version = format!("{group}/{version}");
        get(&format!("{version}/{resource}")).or_else(|| get(&version)).or(of_level).or_else(|| get(ALL))
    }
}

impl fmt::Display for RuntimeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (key, enabled)) in self.0.iter().enumerate() {
            write!(f, "{}{key}={enabled}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// The level of a version such as `v1beta2`.
fn level(version: &str) -> Option<Level> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = version.strip_prefix('v')?;
    if is_number(rest) {
        return Some(Level::Stable);
    }
    let with = |word: &str| rest.split_once(word).is_some_and(|(major, minor)| is_number(major) && is_number(minor));
    if with("beta") { Some(Level::Beta) } else { with("alpha").then_some(Level::Alpha) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> RuntimeConfig {
        let mut config = RuntimeConfig::default();
        config.read(text).unwrap();
        config
    }

    #[test]
    fn the_most_specific_key_counts() {
        let all = config("api/all=false,batch/v1=true,batch/v1/jobs=false,api/beta");
        assert_eq!(all.serves("batch", "v1", "cronjobs"), Some(true));
        assert_eq!(all.serves("batch", "v1", "jobs"), Some(false));
        assert_eq!(all.serves("apps", "v1", "deployments"), Some(false));
        assert_eq!(all.serves("storage.k8s.io", "v1beta1", "volumeattributesclasses"), Some(true));
        assert_eq!(config("api/alpha=true").serves("batch", "v1", "jobs"), None);
        assert_eq!(config("").serves("batch", "v1", "jobs"), None);
    }

    #[test]
    fn a_key_alone_enables() {
        assert_eq!(config("resource.k8s.io/v1beta1").to_string(), "resource.k8s.io/v1beta1=true");
        assert!(RuntimeConfig::default().read("a/v1=maybe").is_err());
    }
}
