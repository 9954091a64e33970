//! The main file of a profile: the version and the settings of the server, and what could not be read.

use super::params::SavedParams;
use crdx_server::server::ServerSettings;
use crdx_value::release::{FeatureGates, Minor};
use crdx_value::{Map, Value, object};
use std::collections::BTreeMap;

pub const API_VERSION: &str = "crdx/v1";
pub const KIND: &str = "ClusterProfile";

/// The content of the main file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// `major` and `minor` of `/version`, which the server has.
    pub version: Option<(String, String)>,
    /// The settings, without the configuration of admission plugins.
    pub settings: ServerSettings,
    /// The path of that configuration on the disk of the server, if there is one.
    pub admission_file: Option<String>,
    /// True if the flags of the server could not be read.
    pub lacks_flags: bool,
    /// Why settings are not known.
    pub unknown_settings: Vec<String>,
    /// The saved resources, as `PLURAL.GROUP`.
    pub saved: Vec<String>,
    /// The saved params of policies.
    pub params: Vec<SavedParams>,
    /// The resources that could not be read, and why.
    pub unread: BTreeMap<String, String>,
}

/// Why a text is not the main file of a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// It has another kind.
    #[error("it has not the kind {KIND} of {API_VERSION}")]
    Kind,
    /// A member has another type, or an invalid value.
    #[error("{0} has an invalid value")]
    Value(&'static str),
}

impl Description {
    /// Returns the value to write.
    pub fn to_value(&self) -> Value {
        let text = |text: &String| Value::from(text.as_str());
        let texts = |all: &[String]| Value::Array(all.iter().map(text).collect());
        let mut value = object([("apiVersion", API_VERSION), ("kind", KIND)]);
        let mut add = |path: &[&str], member: Value| {
            let is_empty =
                member.as_array().is_some_and(<[Value]>::is_empty) || member.as_object().is_some_and(Map::is_empty);
            if !is_empty {
                value.insert_at(path, member);
            }
        };
        if let Some((major, minor)) = &self.version {
            add(&["version"], object([("major", text(major)), ("minor", text(minor))]));
        }
        let settings = &self.settings;
        if let Some(version) = settings.emulated_version {
            add(&["settings", "emulatedVersion"], version.to_string().into());
        }
        let gates = settings.feature_gates.iter().map(|(name, enabled)| (name.to_owned(), Value::Bool(enabled)));
        add(&["settings", "featureGates"], Value::Object(gates.collect()));
        add(&["settings", "enableAdmissionPlugins"], texts(&settings.enabled_plugins));
        add(&["settings", "disableAdmissionPlugins"], texts(&settings.disabled_plugins));
        if let Some(path) = &self.admission_file {
            add(&["settings", "admissionControlConfigFile"], text(path));
        }
        if let Some(allowed) = settings.allow_privileged {
            add(&["settings", "allowPrivileged"], Value::Bool(allowed));
        }
        if let Some((first, last)) = settings.node_ports {
            add(&["settings", "serviceNodePortRange"], format!("{first}-{last}").into());
        }
        if self.lacks_flags {
            add(&["lacksFlags"], Value::Bool(true));
        }
        for (name, seconds) in [
            ("defaultNotReadyTolerationSeconds", settings.not_ready_seconds),
            ("defaultUnreachableTolerationSeconds", settings.unreachable_seconds),
        ] {
            if let Some(seconds) = seconds {
                add(&["settings", name], Value::Int(seconds));
            }
        }
        add(&["unknownSettings"], texts(&self.unknown_settings));
        add(&["saved"], texts(&self.saved));
        add(&["params"], Value::Array(self.params.iter().map(SavedParams::to_value).collect()));
        add(&["unread"], Value::Object(self.unread.iter().map(|(name, why)| (name.clone(), text(why))).collect()));
        value
    }

    /// Decodes what [`Self::to_value`] returns. Unknown members are ignored.
    ///
    /// # Errors
    /// Returns an error for another kind, and for members of other types.
    pub fn from_value(value: &Value) -> Result<Self, DescriptionError> {
        if value.str_at(&["kind"]) != Some(KIND) || value.str_at(&["apiVersion"]) != Some(API_VERSION) {
            return Err(DescriptionError::Kind);
        }
        for name in ["version", "settings"] {
            members(value.get(name), name).map(drop)?;
        }
        let text = |path: &[&str], name| member(value, path, name, |value| value.as_str().map(str::to_owned));
        let is_on = |path: &[&str], name| member(value, path, name, Value::as_bool);
        let seconds = |name| member(value, &["settings", name], name, Value::as_int);
        let version =
            match (text(&["version", "major"], "version.major")?, text(&["version", "minor"], "version.minor")?) {
                (Some(major), Some(minor)) => Some((major, minor)),
                (None, None) => None,
                _ => return Err(DescriptionError::Value("version")),
            };
        let emulated = text(&["settings", "emulatedVersion"], "emulatedVersion")?;
        let emulated = emulated.map(|text| emulated_version(&text)).transpose()?;
        let settings = ServerSettings {
            emulated_version: emulated,
            feature_gates: gates(value.at(&["settings", "featureGates"]))?,
            enabled_plugins: texts(value.at(&["settings", "enableAdmissionPlugins"]), "enableAdmissionPlugins")?,
            disabled_plugins: texts(value.at(&["settings", "disableAdmissionPlugins"]), "disableAdmissionPlugins")?,
            allow_privileged: is_on(&["settings", "allowPrivileged"], "allowPrivileged")?,
            node_ports: member(value, &["settings", "serviceNodePortRange"], "serviceNodePortRange", |value| {
                let (first, last) = value.as_str()?.split_once('-')?;
                Some((first.parse().ok()?, last.parse().ok()?))
            })?,
            not_ready_seconds: seconds("defaultNotReadyTolerationSeconds")?,
            unreachable_seconds: seconds("defaultUnreachableTolerationSeconds")?,
            ..ServerSettings::default()
        };
        let pair = |(name, why): (&String, &Value)| {
            Ok((name.clone(), why.as_str().ok_or(DescriptionError::Value("unread"))?.to_owned()))
        };
        Ok(Self {
            version,
            settings,
            admission_file: text(&["settings", "admissionControlConfigFile"], "admissionControlConfigFile")?,
            lacks_flags: is_on(&["lacksFlags"], "lacksFlags")?.unwrap_or_default(),
            unknown_settings: texts(value.get("unknownSettings"), "unknownSettings")?,
            saved: texts(value.get("saved"), "saved")?,
            params: member(value, &["params"], "params", |params| {
                params.as_array()?.iter().map(SavedParams::from_value).collect()
            })?
            .unwrap_or_default(),
            unread: members(value.get("unread"), "unread")?.map(pair).collect::<Result<_, _>>()?,
        })
    }
}

/// Reads the member at a path; `None` if it is absent or null.
fn member<T>(
    value: &Value,
    path: &[&str],
    name: &'static str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, DescriptionError> {
    let found = value.at(path).filter(|value| !value.is_null());
    found.map(|value| read(value).ok_or(DescriptionError::Value(name))).transpose()
}

fn emulated_version(text: &str) -> Result<Minor, DescriptionError> {
    let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok());
    minor.map(Minor).ok_or(DescriptionError::Value("emulatedVersion"))
}

fn gates(value: Option<&Value>) -> Result<FeatureGates, DescriptionError> {
    let mut gates = FeatureGates::default();
    for (name, enabled) in members(value, "featureGates")? {
        gates.set(name, enabled.as_bool().ok_or(DescriptionError::Value("featureGates"))?);
    }
    Ok(gates)
}

fn texts(value: Option<&Value>, name: &'static str) -> Result<Vec<String>, DescriptionError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or(DescriptionError::Value(name))?;
    items.iter().map(|item| Ok(item.as_str().ok_or(DescriptionError::Value(name))?.to_owned())).collect()
}

fn members<'a>(
    value: Option<&'a Value>,
    name: &'static str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, DescriptionError> {
    match value {
        None | Some(Value::Null) => Ok(None.into_iter().flatten()),
        Some(value) => Ok(Some(value.as_object().ok_or(DescriptionError::Value(name))?).into_iter().flatten()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::release::V1_36;
    use std::collections::BTreeSet;

    #[test]
    fn what_was_written_is_read() {
        let mut settings = ServerSettings { emulated_version: Some(V1_36), ..ServerSettings::default() };
        settings.feature_gates.set("HPAScaleToZero", false);
        settings.enabled_plugins.push("AlwaysPullImages".to_owned());
        (settings.allow_privileged, settings.node_ports) = (Some(false), Some((1, 2)));
        (settings.not_ready_seconds, settings.unreachable_seconds) = (Some(5), Some(0));
        let description = Description {
            version: Some(("1".to_owned(), "37".to_owned())),
            settings,
            admission_file: Some("/etc/admission.yaml".to_owned()),
            lacks_flags: true,
            unknown_settings: vec!["a".to_owned()],
            saved: vec!["namespaces".to_owned()],
            params: vec![SavedParams {
                group: String::new(),
                version: "v1".to_owned(),
                plural: "configmaps".to_owned(),
                names: Some(BTreeSet::from(["a".to_owned()])),
            }],
            unread: BTreeMap::from([("resourcequotas".to_owned(), "forbidden".to_owned())]),
        };
        assert_eq!(Description::from_value(&description.to_value()), Ok(description));
        assert_eq!(Description::from_value(&Description::default().to_value()), Ok(Description::default()));
    }

    #[test]
    fn members_of_other_types_are_errors() {
        for (name, member) in [
            ("version", Value::from("1.36")),
            ("version", object([("minor", "36")])),
            ("settings", Value::Array(Vec::new())),
            ("lacksFlags", "true".into()),
            ("saved", "namespaces".into()),
            ("unread", Value::Array(Vec::new())),
            ("params", object([("group", "")])),
        ] {
            let mut value = Description::default().to_value();
            value.insert_at(&[name], member);
            assert_eq!(Description::from_value(&value), Err(DescriptionError::Value(name)));
        }
    }

    #[test]
    fn another_document_is_refused() {
        assert_eq!(Description::from_value(&object([("kind", "List")])), Err(DescriptionError::Kind));
        let mut value = Description::default().to_value();
        value.insert_at(&["settings", "emulatedVersion"], "latest".into());
        assert_eq!(Description::from_value(&value), Err(DescriptionError::Value("emulatedVersion")));
        value.insert_at(&["settings"], object([("featureGates", object([("A", "true")]))]));
        assert_eq!(Description::from_value(&value), Err(DescriptionError::Value("featureGates")));
        for (name, member) in [
            ("allowPrivileged", Value::from("false")),
            ("serviceNodePortRange", "30000".into()),
            ("defaultNotReadyTolerationSeconds", "300".into()),
        ] {
            value.insert_at(&["settings"], object([(name, member)]));
            assert_eq!(Description::from_value(&value), Err(DescriptionError::Value(name)));
        }
    }
}
