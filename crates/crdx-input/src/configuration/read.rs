//! Decodes the file. Every error has the position in the file.

use super::targets::{TargetKey, TargetSettings};
use super::{ConfigurationError, FILE_NAME, Origin, Setting, SettingKey, Settings};
use crate::catalog::is_entry;
use crate::git::reference;
use crate::remote::url::is_url;
use crdx_engine::report::SourceLocation;
use crdx_text::spans::Spans;
use crdx_text::{Position, Syntax, yaml};
use crdx_value::suggest::{closest, did_you_mean};
use crdx_value::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// The help for `severities`.
const SEVERITIES: &str = "write a mapping of types to error, warning, note or off";

/// The key of the targets, which is no flag with values.
const TARGETS: &str = "targets";

/// The start of a text.
const START: Position = Position { line: 1, column: 1 };

/// The text of a file.
struct File<'a> {
    name: Arc<str>,
    text: &'a [u8],
    spans: Spans<'a>,
    /// The directory to which paths are relative.
    base: &'a Path,
}

/// Decodes the file `name`, whose paths are relative to `base`. `full` is the same directory as an absolute path.
pub fn settings(text: &[u8], name: &str, base: &Path, full: &Path) -> Result<Settings, ConfigurationError> {
    let file = File { name: name.into(), text, spans: Spans::new(text, Syntax::Yaml), base };
    let mut settings =
        Settings { file: Some(name.to_owned()), directory: Some(full.to_owned()), ..Settings::default() };
    for (name, value) in &file.members()? {
        if name == TARGETS {
            settings.targets = file.targets(value)?;
            continue;
        }
        let Some(key) = SettingKey::ALL.into_iter().find(|key| key.name() == name) else {
            let names: Vec<&str> = SettingKey::ALL.into_iter().map(SettingKey::name).chain([TARGETS]).collect();
            return Err(file.unknown_key(name, name, &names));
        };
        if *value == Value::Null {
            continue;
        }
        let values = file.values(key, key.name(), value)?;
        settings.settings.insert(key, Setting { values, origin: Origin::File(file.location(name)) });
    }
    Ok(settings)
}

impl File<'_> {
    fn members(&self) -> Result<Map, ConfigurationError> {
        let read = yaml::read_strict(self.text).map_err(|error| {
            let location = SourceLocation::at(&self.name, self.text, START, error.position.unwrap_or(START));
            ConfigurationError::new(error.to_string(), Some(location), None)
        })?;
        let at = |position| Some(SourceLocation::at(&self.name, self.text, START, position));
        if let Some(duplicate) = read.duplicates.first() {
            let help = Some("remove one of them".to_owned());
            return Err(ConfigurationError::new(duplicate.message.clone(), at(duplicate.second), help));
        }
        if let Some(rest) = read.rest {
            let help = Some("remove it".to_owned());
            return Err(ConfigurationError::new("there is a second document", at(rest), help));
        }
        match read.value {
            Value::Null => Ok(Map::default()),
            Value::Object(members) => Ok(members),
            _ => Err(self.error("", "the file is not a mapping".to_owned(), Some("write KEY: VALUE".to_owned()))),
        }
    }

    fn unknown_key(&self, path: &str, name: &str, names: &[&str]) -> ConfigurationError {
        let help = closest(name, names.iter().copied())
            .map_or_else(|| format!("the keys are {}", names.join(", ")), did_you_mean);
        self.error(path, format!("unknown key {name:?}"), Some(help))
    }

    /// The entries of `targets`. A string is the path or pattern of one or several.
    fn targets(&self, value: &Value) -> Result<Vec<TargetSettings>, ConfigurationError> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => {
                let each = items.iter().enumerate();
                each.map(|(index, item)| self.target(&format!("{TARGETS}[{index}]"), item)).collect()
            }
            item => Ok(vec![self.target(TARGETS, item)?]),
        }
    }

    fn target(&self, path: &str, value: &Value) -> Result<TargetSettings, ConfigurationError> {
        let mut target = TargetSettings::new(self.location(path));
        let Value::Object(members) = value else {
            target.paths = vec![self.value(TargetKey::Paths.form(), path, value)?];
            target.is_each = true;
            return Ok(target);
        };
        for (name, value) in members {
            let member = format!("{path}.{name}");
            let Some(key) = TargetKey::ALL.into_iter().find(|key| key.name() == name) else {
                return Err(self.unknown_key(&member, name, &TargetKey::ALL.map(TargetKey::name)));
            };
            if *value != Value::Null {
                target.set(key, self.values(key.form(), &member, value)?);
            }
        }
        if target.paths.is_empty() {
            let help = "name the files and directories of this target: paths: clusters/production".to_owned();
            return Err(self.error(path, "the target has no paths".to_owned(), Some(help)));
        }
        Ok(target)
    }

    fn values(&self, key: SettingKey, name: &str, value: &Value) -> Result<Vec<String>, ConfigurationError> {
        match value {
            Value::Array(items) if !key.is_mapping() && !key.is_boolean() => {
                let item = |(index, item): (usize, &Value)| self.value(key, &format!("{name}[{index}]"), item);
                let values: Vec<String> = items.iter().enumerate().map(item).collect::<Result<_, _>>()?;
                // Several versions are one value of the flag.
                let is_one = key == SettingKey::KubernetesVersion && !values.is_empty();
                Ok(if is_one { vec![values.join(",")] } else { values })
            }
            Value::Object(members) if key.is_mapping() => {
                members.iter().map(|(member, value)| self.member(key, member, value)).collect()
            }
            _ => Ok(vec![self.value(key, name, value)?]),
        }
    }

    /// A member of a mapping, as `KEY=VALUE`. YAML reads `off` as false.
    fn member(&self, key: SettingKey, member: &str, value: &Value) -> Result<String, ConfigurationError> {
        let path = format!("{}.{member}", key.name());
        if key == SettingKey::Output {
            return Ok(format!("{member}={}", self.value(key, &path, value)?));
        }
        if let Some(what) = match key {
            SettingKey::FeatureGates => Some("gate"),
            SettingKey::RuntimeConfig => Some("API"),
            _ => None,
        } {
            let Value::Bool(enabled) = value else {
                return Err(self.error(&path, format!("the {what} is neither true nor false"), None));
            };
            return Ok(format!("{member}={enabled}"));
        }
        let severity = match value {
            Value::Bool(false) => "off",
            Value::String(severity) => severity,
            _ => return Err(self.error(&path, "the severity is not a string".to_owned(), Some(SEVERITIES.to_owned()))),
        };
        let text = format!("{member}={severity}");
        key.check(&text).map_err(|error| self.error(&path, error.to_string(), None))?;
        Ok(text)
    }

    fn value(&self, key: SettingKey, path: &str, value: &Value) -> Result<String, ConfigurationError> {
        if key.is_boolean() {
            let text = value.as_bool().map(|value| value.to_string());
            return text.ok_or_else(|| self.error(path, format!("{path} is neither true nor false"), None));
        }
        if let Value::Int(number) = value
            && key.is_number()
        {
            return Ok(number.to_string());
        }
        let Value::String(text) = value else {
            let help = match (key, value) {
                (SettingKey::KubernetesVersion | SettingKey::EmulatedVersion, Value::Float(_) | Value::Int(_)) => {
                    "write the version in quotes, such as \"1.34\""
                }
                (SettingKey::Severities, _) => SEVERITIES,
                (SettingKey::Output, _) => "write a format, such as json, or a mapping of commands to formats",
                _ => "write a string, or a list of strings",
            };
            let name = path.split('[').next().unwrap_or(path);
            let name = if name == TARGETS { path } else { name };
            return Err(self.error(path, format!("{name} is not a string"), Some(help.to_owned())));
        };
        key.check(text).map_err(|error| self.error(path, error.to_string(), None))?;
        if !key.is_paths() {
            return Ok(text.clone());
        }
        if reference(text).is_some() {
            let message = format!("{text:?} needs git, and {FILE_NAME} never runs a program");
            let help = Some("save the files of that commit with `git show COMMIT:PATH`, and name them".to_owned());
            return Err(self.error(path, message, help));
        }
        let is_name = is_url(text) || key == SettingKey::Crds && is_entry(text) && !self.base.join(text).exists();
        Ok(if is_name { text.clone() } else { self.base.join(text.as_str()).display().to_string() })
    }

    /// The position of a node: of its key, if it has one.
    fn location(&self, path: &str) -> SourceLocation {
        let found = self.spans.locate(path);
        let span = found.key.unwrap_or(found.value);
        SourceLocation::part(&self.name, self.text, START, span.start, span.range)
    }

    fn error(&self, path: &str, message: String, help: Option<String>) -> ConfigurationError {
        ConfigurationError::new(message, Some(self.location(path)), help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, ConfigurationError> {
        settings(text.as_bytes(), ".crdx.yaml", Path::new(""), Path::new("/w"))
    }

    #[test]
    fn a_key_has_one_value_or_several() {
        let settings =
            read("crds: [a, b/]\nkubernetesVersion: [\"1.31\", \"1.33\"]\nskip: Secret\nold:\noutput: {lint: json}\n");
        let settings = settings.unwrap();
        assert_eq!(settings.values(SettingKey::Crds), ["a", "b/"]);
        assert_eq!(settings.values(SettingKey::KubernetesVersion), ["1.31,1.33"]);
        assert_eq!(
            (settings.values(SettingKey::Skip), settings.values(SettingKey::Output)),
            (&["Secret".to_owned()][..], &["lint=json".to_owned()][..])
        );
        assert_eq!(settings.settings.get(&SettingKey::Skip).unwrap().origin.to_string(), ".crdx.yaml:3:1");
        assert!(!settings.settings.contains_key(&SettingKey::Old));
        let severities = read("severities:\n  Input: off\n  Format: note\n").unwrap();
        let mut values = severities.values(SettingKey::Severities).to_vec();
        values.sort();
        assert_eq!(values, ["Format=note", "Input=off"]);
        assert!(read("").unwrap().settings.is_empty());
    }

    #[test]
    fn errors_have_a_position_and_a_suggestion() {
        for (text, position, part) in [
            ("crds: a\ncdrs: b\n", "2:1", "did you mean `crds`?"),
            ("colour: b\n", "1:1", "the keys are crds,"),
            ("kubernetesVersion: 1.30\n", "1:1", "in quotes"),
            ("kubernetesVersion: '2.1'\n", "1:1", "2.1"),
            ("skip: [A, b/c]\n", "1:11", "KIND.GROUP"),
            ("ignore: ['a{b']\n", "1:10", "gitignore"),
            ("crds: '-'\n", "1:1", "command line"),
            ("old: git:main\n", "1:1", "never runs a program"),
            ("crds: {a: b}\n", "1:1", "list of strings"),
            ("severities: {Imput: note}\n", "1:14", "did you mean `Input`?"),
            ("severities: {Input: loud}\n", "1:14", "unknown severity"),
            ("severities: [Input]\n", "1:1", "mapping of types"),
            ("crds: a\ncrds: b\n", "2:1", "already set"),
            ("crds: a\n---\ncrds: b\n", "2:1", "second document"),
            ("- a\n", "1:1", "not a mapping"),
            ("a: [\n", "2:1", "yaml"),
            ("targets: [{path: a}]\n", "1:12", "did you mean `paths`?"),
            ("targets: [{name: a}]\n", "1:11", "has no paths"),
            ("targets: [{paths: 1}]\n", "1:12", "targets[0].paths is not a string"),
            ("targets: [{paths: a, kubernetesVersion: '2.1'}]\n", "1:22", "2.1"),
            ("targets: [{paths: a, old: git:main}]\n", "1:22", "never runs a program"),
            ("target: a\n", "1:1", "did you mean `targets`?"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
            assert!(error.contains(&format!(".crdx.yaml:{position}")), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_target_is_a_pattern_or_a_mapping() {
        let text = "targets:\n- clusters/*\n- name: staging\n  paths: [a, b]\n  crds: c\n  kubernetesVersion: ['1.31', '1.33']\n";
        let targets = read(text).unwrap().targets;
        let [each, staging] = targets.as_slice() else { panic!("{targets:?}") };
        assert_eq!((each.is_each, each.paths.as_slice()), (true, &["clusters/*".to_owned()][..]));
        assert_eq!((staging.name.as_deref(), staging.paths.len(), staging.crds.len()), (Some("staging"), 2, 1));
        assert_eq!(staging.kubernetes_version.as_deref(), Some("1.31,1.33"));
        assert_eq!((staging.is_each, staging.location.line), (false, 3));
        assert!(read("targets:\n").unwrap().targets.is_empty());
    }

    #[test]
    fn hostile_texts_are_read_without_a_panic() {
        let deep = "[".repeat(60_000);
        let lines: Vec<String> = (0..40).map(|n| format!("b{n}: &b{n} [*a, *a]\n")).collect();
        let bomb = format!("a: &a [x]\n{}", lines.concat());
        for text in [deep.as_str(), &bomb, "\u{0}", "? [a]\n: b\n", "!!binary x: y", "crds: !!set {a, b}"] {
            assert!(read(text).is_err(), "{text:.20}");
        }
        assert!(settings(&[0xff, 0xfe, 0x41], "a", Path::new(""), Path::new("")).is_err());
    }
}
