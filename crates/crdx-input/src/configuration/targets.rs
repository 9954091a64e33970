//! The targets in the file: parts of the project that are validated on their own, as for clusters of their own.

use super::SettingKey;
use crate::render::ChartValues;
use crdx_engine::report::SourceLocation;

/// An entry of `targets`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSettings {
    /// The name in results; by default the first path.
    pub name: Option<String>,
    /// True if every match of the paths is a target of its own: the entry is a string.
    pub is_each: bool,
    /// Files, directories and patterns.
    pub paths: Vec<String>,
    /// CRDs in addition to those of all targets.
    pub crds: Vec<String>,
    /// Policies in addition to those of all targets.
    pub policies: Vec<String>,
    /// The existing objects, instead of those of all targets.
    pub old: Vec<String>,
    pub kubernetes_version: Option<String>,
    pub namespace: Option<String>,
    /// Values for charts in addition to those of all targets.
    pub values: ChartValues,
    /// The location of the entry.
    pub location: SourceLocation,
}

/// The keys of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKey {
    Name,
    Paths,
    Crds,
    Policies,
    Old,
    KubernetesVersion,
    Namespace,
    Values,
    Set,
}

impl TargetKey {
    pub const ALL: [Self; 9] = [
        Self::Name,
        Self::Paths,
        Self::Crds,
        Self::Policies,
        Self::Old,
        Self::KubernetesVersion,
        Self::Namespace,
        Self::Values,
        Self::Set,
    ];

    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Paths => "paths",
            Self::Crds => "crds",
            Self::Policies => "policies",
            Self::Old => "old",
            Self::KubernetesVersion => "kubernetesVersion",
            Self::Namespace => "namespace",
            Self::Values => "values",
            Self::Set => "set",
        }
    }

    /// The key of the file whose values have the same form.
    pub fn form(self) -> SettingKey {
        match self {
            Self::Name | Self::Namespace => SettingKey::Namespaces,
            // They are relative to the file, and need no program.
            Self::Paths | Self::Old => SettingKey::Old,
            Self::Crds => SettingKey::Crds,
            Self::Values => SettingKey::Values,
            Self::Set => SettingKey::Set,
            Self::Policies => SettingKey::Policies,
            Self::KubernetesVersion => SettingKey::KubernetesVersion,
        }
    }
}

impl TargetSettings {
    /// An entry without values.
    pub fn new(location: SourceLocation) -> Self {
        Self {
            name: None,
            is_each: false,
            paths: Vec::new(),
            crds: Vec::new(),
            policies: Vec::new(),
            old: Vec::new(),
            kubernetes_version: None,
            namespace: None,
            values: ChartValues::default(),
            location,
        }
    }

    /// Sets a key.
    pub fn set(&mut self, key: TargetKey, mut values: Vec<String>) {
        match key {
            TargetKey::Name => self.name = values.pop(),
            TargetKey::Paths => self.paths = values,
            TargetKey::Crds => self.crds = values,
            TargetKey::Policies => self.policies = values,
            TargetKey::Old => self.old = values,
            TargetKey::KubernetesVersion => self.kubernetes_version = values.pop(),
            TargetKey::Namespace => self.namespace = values.pop(),
            TargetKey::Values => self.values.files = values,
            TargetKey::Set => self.values.set = values,
        }
    }

    /// Returns the paths that it names, with the key that has the same form.
    pub fn all_paths(&self) -> impl Iterator<Item = (SettingKey, &Vec<String>)> {
        [
            (SettingKey::Old, &self.paths),
            (SettingKey::Crds, &self.crds),
            (SettingKey::Policies, &self.policies),
            (SettingKey::Old, &self.old),
            (SettingKey::Values, &self.values.files),
        ]
        .into_iter()
    }
}
