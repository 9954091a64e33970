//! Reads the environment variables.

use super::{ConfigurationError, Origin, Setting, SettingKey};
use crdx_files::cache::VARIABLE;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Variables that are no settings: they select the file with settings, or the cache.
const OTHERS: [&str; 3] = ["CRDX_CONFIG", "CRDX_NO_CONFIG", VARIABLE];

/// Returns the settings of variables. A variable with several values has one per line; an empty one is not set.
///
/// # Errors
/// Returns an error for an invalid value.
pub fn of_variables(
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<BTreeMap<SettingKey, Setting>, ConfigurationError> {
    let mut settings = BTreeMap::new();
    for key in SettingKey::ALL {
        let name = key.variable();
        let Some(text) = variable(name) else { continue };
        let failed = |message: String| {
            let help = format!("correct or unset {name}; several values are written one per line");
            ConfigurationError::new(format!("the variable {name}: {message}"), None, Some(help))
        };
        let text = text.into_string().map_err(|_| failed("it is not valid UTF-8".to_owned()))?;
        let values: Vec<String> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        for value in &values {
            key.check(value).map_err(|error| failed(format!("{value:?}: {error}")))?;
        }
        if !values.is_empty() {
            let is_one = key == SettingKey::KubernetesVersion;
            let values = if is_one { vec![values.join(",")] } else { values };
            settings.insert(key, Setting { values, origin: Origin::Variable(name) });
        }
    }
    Ok(settings)
}

/// Returns true if a variable has the prefix of this program's variables and no meaning, such as a misspelt one.
pub fn is_unknown(name: &str) -> bool {
    let is_known = OTHERS.contains(&name) || SettingKey::ALL.iter().any(|key| key.variable() == name);
    name.starts_with("CRDX_") && !is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_value() {
        let read = |name: &'static str, value: &'static str| {
            of_variables(&|asked| (asked == name).then(|| OsString::from(value)))
        };
        let settings = read("CRDX_CRDS", "a b\n\n c,d \n").unwrap();
        assert_eq!(settings.get(&SettingKey::Crds).unwrap().values, ["a b", "c,d"]);
        assert!(read("CRDX_CRDS", " ").unwrap().is_empty());
        let error = read("CRDX_KUBERNETES_VERSION", "1.2").unwrap_err().to_string();
        assert!(error.starts_with("error: the variable CRDX_KUBERNETES_VERSION: \"1.2\": "), "{error}");
    }

    #[test]
    fn misspelt_variables_are_unknown() {
        assert!(
            is_unknown("CRDX_CDRS") && !is_unknown("CRDX_CRDS") && !is_unknown("CRDX_CONFIG") && !is_unknown("PATH")
        );
    }
}
