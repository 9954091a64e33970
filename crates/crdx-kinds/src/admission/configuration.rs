//! The configuration of the plugins that know kinds (`AdmissionConfiguration`).

use crdx_builtin::admission::node_selector::NodeSelectors;
use crdx_builtin::admission::tolerations::TolerationRestriction;
use crdx_builtin::pod_security::{self, LevelVersion, Policy};
use crdx_builtin::quotas::LimitedResource;
use crdx_value::Value;

/// The error for a configuration that the server does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// A field has a value that it cannot have.
    #[error("{plugin}: {field}: Invalid value: {value:?}")]
    Value {
        /// The plugin.
        plugin: String,
        /// The path of the field.
        field: String,
        /// The value.
        value: String,
    },
    /// The document has another kind.
    #[error("{plugin}: no kind {kind:?} is registered for version {api_version:?}")]
    Kind {
        /// The plugin.
        plugin: String,
        /// The kind.
        kind: String,
        /// Its version.
        api_version: String,
    },
}

/// The plugins with a versioned configuration: its group and kind.
const KINDS: [(&str, &str, &str); 7] = [
    ("PodSecurity", "pod-security.admission.config.k8s.io", "PodSecurityConfiguration"),
    ("ResourceQuota", "apiserver.config.k8s.io", "ResourceQuotaConfiguration"),
    ("PodTolerationRestriction", "podtolerationrestriction.admission.k8s.io", "Configuration"),
    ("ValidatingAdmissionPolicy", "apiserver.config.k8s.io", "ValidatingAdmissionPolicyConfiguration"),
    ("MutatingAdmissionPolicy", "apiserver.config.k8s.io", "MutatingAdmissionPolicyConfiguration"),
    ("ValidatingAdmissionWebhook", "apiserver.config.k8s.io", "WebhookAdmissionConfiguration"),
    ("MutatingAdmissionWebhook", "apiserver.config.k8s.io", "WebhookAdmissionConfiguration"),
];

/// Checks the configuration of a plugin.
///
/// # Errors
/// Returns an error if the server would not start with it.
pub fn check(plugin: &str, document: &Value) -> Result<(), ConfigurationError> {
    if let Some((_, group, kind)) = KINDS.iter().find(|(name, ..)| *name == plugin) {
        let own = |key: &str| document.str_at(&[key]).unwrap_or_default();
        let (api_version, own_kind) = (own("apiVersion"), own("kind"));
        // Older versions of the quota's configuration have another group and name.
        let is_legacy = plugin == "ResourceQuota" && own_kind == "Configuration";
        if !is_legacy && (own_kind != *kind || api_version.split('/').next() != Some(group)) {
            let (kind, api_version) = (own_kind.to_owned(), api_version.to_owned());
            return Err(ConfigurationError::Kind { plugin: plugin.to_owned(), kind, api_version });
        }
    }
    if plugin == "PodSecurity" { pod_security(document).map(drop) } else { Ok(()) }
}

fn list(document: &Value, key: &str) -> Vec<Value> {
    document.get(key).and_then(Value::as_array).unwrap_or_default().to_vec()
}

fn texts(document: &Value, path: &[&str]) -> Vec<String> {
    let items = document.at(path).and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// `PodSecurityConfiguration`
///
/// # Errors
/// Returns an error for an invalid level or version.
pub(super) fn pod_security(document: &Value) -> Result<pod_security::Configuration, ConfigurationError> {
    let level_version = |mode: &str| {
        let text = |name: &str, default: &'static str| {
            document.str_at(&["defaults", name]).filter(|text| !text.is_empty()).unwrap_or(default).to_owned()
        };
        let version_field = format!("{mode}-version");
        let (level, version) = (text(mode, "privileged"), text(&version_field, "latest"));
        let invalid = |name: &str, value: &str| ConfigurationError::Value {
            plugin: "PodSecurity".to_owned(),
            field: format!("defaults.{name}"),
            value: value.to_owned(),
        };
        LevelVersion::parse(&level, &version).ok_or_else(|| {
            if pod_security::LEVELS.contains(&level.as_str()) {
                invalid(&version_field, &version)
            } else {
                invalid(mode, &level)
            }
        })
    };
    level_version("audit")?;
    Ok(pod_security::Configuration {
        defaults: Policy { enforce: level_version("enforce")?, warn: level_version("warn")? },
        exempt_users: texts(document, &["exemptions", "usernames"]),
        exempt_namespaces: texts(document, &["exemptions", "namespaces"]),
        exempt_runtime_classes: texts(document, &["exemptions", "runtimeClasses"]),
    })
}

/// `ResourceQuotaConfiguration`
pub(super) fn limited_resources(document: &Value) -> Vec<LimitedResource> {
    let read = |limited: &Value| {
        let text = |key: &str| limited.str_at(&[key]).unwrap_or_default().to_owned();
        let (group, resource) = (text("apiGroup"), text("resource"));
        let scopes = list(limited, "matchScopes").into_iter().map(|scope| {
            let text = |key: &str| scope.str_at(&[key]).unwrap_or_default().to_owned();
            (text("scopeName"), text("operator"), list(&scope, "values"))
        });
        LimitedResource {
            resource: if group.is_empty() { resource } else { format!("{resource}.{group}") },
            match_contains: texts(limited, &["matchContains"]),
            match_scopes: scopes.collect(),
        }
    };
    list(document, "limitedResources").iter().map(read).collect()
}

/// The configuration of `PodNodeSelector`, which has no version
pub(super) fn node_selectors(document: &Value) -> NodeSelectors {
    let members = document.get("podNodeSelectorPluginConfig").and_then(Value::as_object);
    let members = members.into_iter().flat_map(|members| members.iter());
    NodeSelectors(members.filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned()))).collect())
}

/// The configuration of `PodTolerationRestriction`
pub(super) fn tolerations(document: &Value) -> TolerationRestriction {
    TolerationRestriction { default: list(document, "default"), whitelist: list(document, "whitelist") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::server::{AdmissionConfiguration, AdmissionPlugin, AdmissionPlugins, Method, Request};
    use crdx_text::json;
    use crdx_value::release::Release;

    fn configured(plugin: &str, text: &str) -> AdmissionPlugins {
        let document = json::read(text.as_bytes()).unwrap();
        check(plugin, &document).unwrap();
        let mut configuration = AdmissionConfiguration::default();
        configuration.add(plugin, document);
        AdmissionPlugins::all().without(AdmissionPlugin::ServiceAccount).with_configuration(configuration)
    }

    const POD: &str = r#"{"metadata":{"name":"p"},"spec":{"hostPID":true,"containers":[{"name":"c","image":"i"}]}}"#;

    fn answer(plugins: AdmissionPlugins, namespace: &str) -> (u16, String) {
        let server = crate::builder(Release::NEWEST, 0).with_built_in_kinds().with_admission_plugins(plugins).build();
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let response = server.handle(&Request::new(Method::Post, &path, POD));
        (response.code, response.body.message().to_owned())
    }

    #[test]
    fn the_default_level_rejects_pods_outside_of_exempt_namespaces() {
        let text = r#"{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration",
            "defaults":{"enforce":"baseline"},"exemptions":{"namespaces":["kube-system"]}}"#;
        let plugins = configured("PodSecurity", text);
        let message =
            "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";
        assert_eq!(answer(plugins.clone(), "default"), (403, message.to_owned()));
        assert_eq!(answer(plugins, "kube-system").0, 201);
    }

    #[test]
    fn a_limited_resource_needs_a_quota() {
        let text = r#"{"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration",
            "limitedResources":[{"resource":"pods","matchContains":["pods"]}]}"#;
        let message = "pods \"p\" is forbidden: insufficient quota to consume: count/pods,pods";
        assert_eq!(answer(configured("ResourceQuota", text), "default"), (403, message.to_owned()));
    }

    #[test]
    fn wrong_values_are_named() {
        let error = |text: &str| check("PodSecurity", &json::read(text.as_bytes()).unwrap()).unwrap_err().to_string();
        let of = |defaults: &str| {
            format!(
                r#"{{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","defaults":{defaults}}}"#
            )
        };
        assert_eq!(error(&of(r#"{"warn":"x"}"#)), "PodSecurity: defaults.warn: Invalid value: \"x\"");
        assert_eq!(
            error(&of(r#"{"audit-version":"1.30"}"#)),
            "PodSecurity: defaults.audit-version: Invalid value: \"1.30\""
        );
        assert_eq!(
            error(r#"{"apiVersion":"v1","kind":"ConfigMap"}"#),
            "PodSecurity: no kind \"ConfigMap\" is registered for version \"v1\""
        );
    }
}
