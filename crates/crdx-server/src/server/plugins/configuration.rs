//! The configuration of admission plugins (`AdmissionConfiguration`, `--admission-control-config-file`).

use crdx_value::Value;
use crdx_value::release::{Release, V1_36};
use std::collections::BTreeMap;

/// The configuration of each plugin that has one. Plugins that know kinds read their own, which is checked before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionConfiguration(BTreeMap<String, Value>);

/// The directory with objects that a plugin reads from files.
const MANIFESTS: &str = "staticManifestsDir";

impl AdmissionConfiguration {
    /// Sets the configuration of a plugin. The first one counts, as in the server.
    pub fn add(&mut self, plugin: &str, document: Value) {
        self.0.entry(plugin.to_owned()).or_insert(document);
    }

    /// Replaces the configuration of a plugin.
    pub(in crate::server) fn set(&mut self, plugin: &str, document: Value) {
        self.0.insert(plugin.to_owned(), document);
    }

    /// Returns the configuration of a plugin.
    pub fn document(&self, plugin: &str) -> Option<&Value> {
        self.0.get(plugin)
    }

    /// The plugins of policies that are in files, and their directories, which releases before 1.36 ignore.
    pub fn manifest_directories(&self, release: Release) -> impl Iterator<Item = (&'static str, &str)> {
        let plugins = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
        plugins
            .into_iter()
            .filter(move |_| release.since(V1_36))
            .filter_map(|plugin| Some((plugin, self.document(plugin)?.str_at(&[MANIFESTS])?)))
    }

    /// The plugins whose configuration is not simulated: webhooks in files. They may concern all objects.
    pub fn unsimulated(&self, release: Release) -> impl Iterator<Item = &'static str> {
        let plugins = ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"];
        plugins
            .into_iter()
            .filter(move |_| release.since(V1_36))
            .filter(|plugin| self.document(plugin).is_some_and(|own| own.get(MANIFESTS).is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn directories_of_policies_are_listed_and_those_of_webhooks_are_not_simulated() {
        let mut configuration = AdmissionConfiguration::default();
        for plugin in ["ValidatingAdmissionPolicy", "MutatingAdmissionWebhook"] {
            configuration.add(plugin, json::read(br#"{"staticManifestsDir":"/a"}"#).unwrap());
        }
        let release = Release::NEWEST;
        assert!(configuration.manifest_directories(release).eq([("ValidatingAdmissionPolicy", "/a")]));
        assert!(configuration.unsimulated(release).eq(["MutatingAdmissionWebhook"]));
        let old = "1.35".parse().unwrap();
        assert!(
            configuration.manifest_directories(old).next().is_none() && configuration.unsimulated(old).next().is_none()
        );
    }
}
