//! The file of `--admission-control-config-file`, as kube-apiserver reads it (`ReadAdmissionConfiguration` in
//! `k8s.io/apiserver/pkg/admission/config.go`).

use super::static_manifests::{self, StaticManifestsError};
use crdx_files::open::read_any;
use crdx_kinds::ConfigurationError;
use crdx_server::server::AdmissionConfiguration;
use crdx_text as text;
use crdx_value::Value;
use crdx_value::release::Release;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why the file, or one that it names, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionConfigurationError {
    /// It cannot be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    /// It is not YAML.
    #[error("{}: {}", .0.display(), .1)]
    Yaml(PathBuf, text::Error),
    /// It has another kind.
    #[error("{}: no AdmissionConfiguration of apiserver.config.k8s.io/v1", .0.display())]
    Kind(PathBuf),
    /// The configuration of a plugin has an invalid value.
    #[error("{}: {}", .0.display(), .1)]
    Configuration(PathBuf, ConfigurationError),
    /// A directory with policies cannot be used.
    #[error(transparent)]
    Manifests(#[from] StaticManifestsError),
    /// A directory with policies is not absolute.
    #[error("staticManifestsDir: Invalid value: {0:?}: must be an absolute file path")]
    Relative(String),
}

/// The versions of the configuration.
const VERSIONS: [&str; 2] = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"];

/// Reads the configuration. A file without a version that only configures one of two old plugins is the configuration of
/// that plugin, if it is enabled.
///
/// # Errors
/// Returns an error if the server would not start with it.
pub fn read(path: &Path, enabled: &[String]) -> Result<AdmissionConfiguration, AdmissionConfigurationError> {
    let document = read_yaml(path)?;
    let mut configuration = AdmissionConfiguration::default();
    let mut add = |plugin: &str, document: &Value, path: &Path| {
        crdx_kinds::check_configuration(plugin, document)
            .map_err(|error| AdmissionConfigurationError::Configuration(path.to_owned(), error))?;
        configuration.add(plugin, document.clone());
        Ok::<_, AdmissionConfigurationError>(())
    };
    let text = |value: &Value, key: &str| value.str_at(&[key]).unwrap_or_default().to_owned();
    if document.get("podNodeSelectorPluginConfig").is_some() && document.get("kind").is_none() {
        if enabled.iter().any(|plugin| plugin == "PodNodeSelector") {
            add("PodNodeSelector", &document, path)?;
        }
        return Ok(configuration);
    }
    let is_configuration = VERSIONS.contains(&text(&document, "apiVersion").as_str())
        && text(&document, "kind") == "AdmissionConfiguration";
    if !is_configuration {
        return Err(AdmissionConfigurationError::Kind(path.to_owned()));
    }
    let plugins = document.get("plugins").and_then(Value::as_array).unwrap_or_default();
    for plugin in plugins {
        let (name, own_path) = (text(plugin, "name"), text(plugin, "path"));
        match plugin.get("configuration").filter(|own| !own.is_null()) {
            Some(own) => add(&name, own, path)?,
            None if own_path.is_empty() => {}
            None => {
                let own_path = path.parent().unwrap_or(Path::new("")).join(own_path);
                add(&name, &read_yaml(&own_path)?, &own_path)?;
            }
        }
    }
    let relative = configuration
        .manifest_directories(Release::NEWEST)
        .map(|(_, directory)| directory)
        .find(|directory| !Path::new(directory).is_absolute());
    if let Some(directory) = relative.map(str::to_owned) {
        return Err(AdmissionConfigurationError::Relative(directory));
    }
    for (plugin, directory) in configuration.manifest_directories(Release::NEWEST) {
        static_manifests::read(plugin, Path::new(directory))?;
    }
    Ok(configuration)
}

fn read_yaml(path: &Path) -> Result<Value, AdmissionConfigurationError> {
    let bytes = read_any(path).map_err(|error| AdmissionConfigurationError::Unreadable(path.to_owned(), error))?;
    text::yaml::read(&bytes).map_err(|error| AdmissionConfigurationError::Yaml(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const POD_SECURITY: &str = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\ndefaults: {enforce: baseline}\n";

    #[test]
    fn a_path_is_relative_to_the_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("plugins")).unwrap();
        fs::write(dir.path().join("plugins/security.yaml"), POD_SECURITY).unwrap();
        let file = dir.path().join("admission.yaml");
        let write = |plugin: &str| {
            let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n";
            fs::write(&file, format!("{head}{plugin}")).unwrap();
            read(&file, &[])
        };
        let by_path = write("- name: PodSecurity\n  path: plugins/security.yaml\n").unwrap();
        assert_ne!(by_path, AdmissionConfiguration::default());
        let missing = write("- name: PodSecurity\n  path: none.yaml\n").unwrap_err().to_string();
        assert!(missing.starts_with("cannot read ") && missing.contains("none.yaml"), "{missing}");
        let relative = "- name: ValidatingAdmissionPolicy\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    kind: ValidatingAdmissionPolicyConfiguration\n    staticManifestsDir: policies\n";
        assert_eq!(
            write(relative).unwrap_err().to_string(),
            "staticManifestsDir: Invalid value: \"policies\": must be an absolute file path"
        );
    }

    #[test]
    fn another_document_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.yaml");
        fs::write(&file, POD_SECURITY).unwrap();
        assert!(read(&file, &[]).unwrap_err().to_string().contains("no AdmissionConfiguration"));
        fs::write(&file, "podNodeSelectorPluginConfig: {n: a=b}\n").unwrap();
        assert_eq!(read(&file, &[]).unwrap(), AdmissionConfiguration::default());
        assert_ne!(read(&file, &["PodNodeSelector".to_owned()]).unwrap(), AdmissionConfiguration::default());
    }
}
