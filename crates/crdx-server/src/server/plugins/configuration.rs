//! The configuration of admission plugins (`AdmissionConfiguration`, `--admission-control-config-file`).

use crdx_value::Value;
use crdx_value::release::{Release, V1_36, V1_38};
use std::collections::BTreeMap;

/// The configuration of each plugin that has one. Plugins that know kinds read their own, which is checked before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionConfiguration(BTreeMap<String, Value>);

/// The error for a `staticOrder` with which a server does not start, in its words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StaticOrderError {
    /// The release does not have the field.
    #[error("strict decoding error: unknown field \"staticOrder\"")]
    Unknown,
    /// It is none of the orders.
    #[error("staticOrder: Unsupported value: {0:?}: supported values: \"ByName\", \"StaticFirst\", \"StaticLast\"")]
    Unsupported(String),
    /// There are no webhooks in files.
    #[error("staticOrder: Invalid value: {0:?}: may only be set when staticManifestsDir is set")]
    NoManifests(String),
    /// Validating webhooks have no order.
    #[error("staticOrder: Invalid value: {0:?}: only \"StaticFirst\" is supported by ValidatingAdmissionWebhook")]
    Validating(String),
}

/// The directory with objects that a plugin reads from files.
const MANIFESTS: &str = "staticManifestsDir";
const VALIDATING: &str = "ValidatingAdmissionWebhook";
/// The plugins of webhooks, which may be in files, too.
const WEBHOOKS: [&str; 2] = [VALIDATING, "MutatingAdmissionWebhook"];

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

    /// The directory with the objects of a plugin; `None` if it is empty, and before 1.36, which ignores it.
    fn manifests(&self, plugin: &str, release: Release) -> Option<&str> {
        let directory = self.document(plugin)?.str_at(&[MANIFESTS])?;
        (release.since(V1_36) && !directory.is_empty()).then_some(directory)
    }

    /// The plugins of policies that are in files, and their directories.
    pub fn manifest_directories(&self, release: Release) -> impl Iterator<Item = (&'static str, &str)> {
        let plugins = ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
        plugins.into_iter().filter_map(move |plugin| Some((plugin, self.manifests(plugin, release)?)))
    }

    /// The plugins whose configuration is not simulated: webhooks in files. They may concern all objects.
    pub fn unsimulated(&self, release: Release) -> impl Iterator<Item = &'static str> {
        WEBHOOKS.into_iter().filter(move |plugin| self.manifests(plugin, release).is_some())
    }

    /// Checks the order of webhooks in files and webhooks of the API (`validateStaticOrder`).
    ///
    /// # Errors
    /// Returns an error if the server would not start with it.
    pub fn check_static_order(&self, release: Release) -> Result<(), StaticOrderError> {
        // Earlier releases ignore unknown fields.
        for plugin in WEBHOOKS.into_iter().filter(|_| release.since(V1_36)) {
            let Some(own) = self.document(plugin).filter(|own| own.get("staticOrder").is_some()) else { continue };
            let order = own.str_at(&["staticOrder"]).unwrap_or_default().to_owned();
            match order.as_str() {
                _ if !release.since(V1_38) => return Err(StaticOrderError::Unknown),
                "" => {}
                "ByName" | "StaticFirst" | "StaticLast" => {
                    if self.manifests(plugin, release).is_none() {
                        return Err(StaticOrderError::NoManifests(order));
                    }
                    if plugin == VALIDATING && order != "StaticFirst" {
                        return Err(StaticOrderError::Validating(order));
                    }
                }
                _ => return Err(StaticOrderError::Unsupported(order)),
            }
        }
        Ok(())
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
        let mut empty = AdmissionConfiguration::default();
        for plugin in ["ValidatingAdmissionPolicy", "MutatingAdmissionWebhook"] {
            empty.add(plugin, json::read(br#"{"staticManifestsDir":""}"#).unwrap());
        }
        assert!(empty.manifest_directories(release).next().is_none() && empty.unsimulated(release).next().is_none());
        let old = "1.35".parse().unwrap();
        assert!(
            configuration.manifest_directories(old).next().is_none() && configuration.unsimulated(old).next().is_none()
        );
    }

    /// Answers of real servers.
    #[test]
    fn the_order_of_webhooks_in_files_is_that_of_a_release_and_a_plugin() {
        let error = |plugin: &str, configuration: &str, release: &str| {
            let mut admission = AdmissionConfiguration::default();
            admission.add(plugin, json::read(configuration.as_bytes()).unwrap());
            admission
                .check_static_order(release.parse().unwrap())
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        let (mutating, last) =
            ("MutatingAdmissionWebhook", r#"{"staticManifestsDir":"/a","staticOrder":"StaticLast"}"#);
        assert_eq!(error(mutating, last, "1.38"), "");
        assert_eq!(error(mutating, last, "1.35"), "");
        assert_eq!(error(mutating, last, "1.37"), "strict decoding error: unknown field \"staticOrder\"");
        let only = "staticOrder: Invalid value: \"StaticLast\": only \"StaticFirst\" is supported by ValidatingAdmissionWebhook";
        assert_eq!(error(VALIDATING, last, "1.38"), only);
        let alone = "staticOrder: Invalid value: \"StaticLast\": may only be set when staticManifestsDir is set";
        assert_eq!(error(mutating, r#"{"staticOrder":"StaticLast"}"#, "1.38"), alone);
        let other = error(mutating, &last.replace("StaticLast", "Foo"), "1.38");
        let supported = "supported values: \"ByName\", \"StaticFirst\", \"StaticLast\"";
        assert_eq!(other, format!("staticOrder: Unsupported value: \"Foo\": {supported}"));
    }
}
