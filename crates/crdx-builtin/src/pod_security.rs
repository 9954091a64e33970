//! The pod security standards, which the admission plugin `PodSecurity` enforces by the labels of a namespace
//! (`k8s.io/pod-security-admission`). By default, namespaces without labels are privileged.

mod baseline;
mod checked_pod;
mod checks;
mod restricted;

use checked_pod::CheckedPod;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::HashMap;
use std::fmt;

/// The values of the labels for levels.
pub const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// The policy of a namespace. Its mode `audit` has no effect that a client sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Pods that violate it are rejected.
    pub enforce: LevelVersion,
    /// Pods, and Pod templates of controllers, that violate it cause a warning.
    pub warn: LevelVersion,
}

/// A level at a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelVersion {
    level: Level,
    /// N of `v1.N`; `None` for `latest`.
    version: Option<u64>,
}

/// A level, from the least to the most strict one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    #[default]
    Privileged,
    Baseline,
    Restricted,
}

/// The configuration of the plugin (`PodSecurityConfiguration`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The policy of namespaces without labels.
    pub defaults: Policy,
    /// The users whose requests are not checked.
    pub exempt_users: Vec<String>,
    /// The namespaces that are not checked.
    pub exempt_namespaces: Vec<String>,
    /// The runtime classes of Pods that are not checked.
    pub exempt_runtime_classes: Vec<String>,
}

impl Configuration {
    /// Returns true if a write is not checked. `spec` is that of a Pod or its template.
    pub fn exempts(&self, namespace: &str, user: &str, spec: &Value) -> bool {
        let has = |list: &[String], text: &str| !text.is_empty() && list.iter().any(|item| item == text);
        has(&self.exempt_namespaces, namespace)
            || has(&self.exempt_users, user)
            || has(&self.exempt_runtime_classes, spec.str_at(&["runtimeClassName"]).unwrap_or_default())
    }
}

impl Policy {
    /// The policy of the namespace with these labels, which replace defaults (`PolicyToEvaluate`).
    pub fn from_labels(labels: &Value, defaults: Self) -> Self {
        let label = |name: &str| labels.str_at(&[&format!("pod-security.kubernetes.io/{name}")]);
        let version = |mode: &str| label(&format!("{mode}-version")).map(|text| version(text).unwrap_or_default());
        let mut policy = defaults;
        let enforced = label("enforce").map(Level::parse);
        if let Some(level) = enforced {
            // An invalid level is the most strict one, and is no default of warnings.
            policy.enforce.level = level.unwrap_or(Level::Restricted);
        }
        policy.enforce.version = version("enforce").unwrap_or(policy.enforce.version);
        let warned = label("warn").map(|level| Level::parse(level).unwrap_or(Level::Privileged));
        policy.warn.level = warned.unwrap_or(policy.warn.level);
        policy.warn.version = version("warn").unwrap_or(policy.warn.version);
        if warned.is_none()
            && let Some(level) = enforced.flatten()
            && level > policy.warn.level
        {
            policy.warn.level = level;
            if version("warn").is_none() {
                policy.warn.version = policy.enforce.version;
            }
        }
        policy
    }
}

impl LevelVersion {
    /// Parses a level and a version; `None` if one of them is invalid.
    pub fn parse(level: &str, version_text: &str) -> Option<Self> {
        Some(Self { level: Level::parse(level)?, version: version(version_text)? })
    }

    /// The fields of a Pod that are not allowed; `None` if there are none. `metadata` and `spec` are those of a Pod or its template,
    /// with defaults.
    pub fn violation(self, metadata: &Value, spec: &Value, release: Release) -> Option<String> {
        let binary = u64::from(release.emulated().number());
        let version = self.version.map_or(binary, |version| version.min(binary));
        let pod = CheckedPod { metadata, spec, version, binary };
        let violations: Vec<String> = checks::of(self.level, version).filter_map(|check| check(&pod)).collect();
        (!violations.is_empty()).then(|| violations.join(", "))
    }
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        match self.version {
            Some(version) => write!(f, "{level}:v1.{version}"),
            None => write!(f, "{level}:latest"),
        }
    }
}

impl Level {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "privileged" => Some(Self::Privileged),
            "baseline" => Some(Self::Baseline),
            "restricted" => Some(Self::Restricted),
            _ => None,
        }
    }
}

/// Reads the value of a label for a version (`ParseVersion`): `None` if it is invalid, and `Some(None)` for `latest`.
pub fn version(text: &str) -> Option<Option<u64>> {
    if text == "latest" {
        return Some(None);
    }
    let digits = text.strip_prefix("v1.")?;
    let is_canonical = digits == "0" || !digits.starts_with('0');
    let is_number = is_canonical && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse::<i64>().ok().filter(|_| is_number)?;
    u64::try_from(number).ok().map(Some)
}

/// The metadata and the spec of the Pod or template in an object (`ExtractPodSpec`); `None` if it has none.
pub fn pod_of<'a>(kind: &str, object: &'a Value) -> Option<(&'a Value, &'a Value)> {
    let template = match kind {
        "Pod" => Some(object),
        "PodTemplate" => object.get("template"),
        "CronJob" => object.at(&["spec", "jobTemplate", "spec", "template"]),
        "ReplicationController" | "ReplicaSet" | "Deployment" | "StatefulSet" | "DaemonSet" | "Job" => {
            object.at(&["spec", "template"])
        }
        _ => None,
    }?;
    Some((template.get("metadata").unwrap_or(&Value::Null), template.get("spec").unwrap_or(&Value::Null)))
}

/// Returns true if an update of a Pod changes what the standards depend on (`isSignificantPodUpdate`).
pub fn is_significant_update(pod: &Value, old: &Value) -> bool {
    let images = |pod: &Value, list: &str| -> Vec<(String, String)> {
        let containers = pod.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default();
        let text = |container: &Value, key: &str| container.str_at(&[key]).unwrap_or_default().to_owned();
        containers.iter().map(|container| (text(container, "name"), text(container, "image"))).collect()
    };
    let differ = |list: &str| {
        let (new, old) = (images(pod, list), images(old, list));
        new.len() != old.len() || new.iter().zip(&old).any(|(new, old)| new.1 != old.1)
    };
    // The first container with a name counts.
    let existing: HashMap<String, String> = images(old, "ephemeralContainers").into_iter().rev().collect();
    let is_new = |container: &(String, String)| existing.get(&container.0) != Some(&container.1);
    differ("containers") || differ("initContainers") || images(pod, "ephemeralContainers").iter().any(is_new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn policy(labels: &[(&str, &str)]) -> (String, String) {
        let labels = labels
            .iter()
            .map(|(name, value)| (format!("pod-security.kubernetes.io/{name}"), Value::from(*value)))
            .collect();
        let policy = Policy::from_labels(&Value::Object(labels), Policy::default());
        (policy.enforce.to_string(), policy.warn.to_string())
    }

    fn texts(enforce: &str, warn: &str) -> (String, String) {
        (enforce.to_owned(), warn.to_owned())
    }

    #[test]
    fn labels_select_a_policy() {
        assert_eq!(policy(&[]), texts("privileged:latest", "privileged:latest"));
        assert_eq!(
            policy(&[("enforce", "baseline"), ("enforce-version", "v1.30")]),
            texts("baseline:v1.30", "baseline:v1.30")
        );
        assert_eq!(
            policy(&[("enforce", "baseline"), ("warn-version", "v1.9")]),
            texts("baseline:latest", "baseline:v1.9")
        );
        assert_eq!(
            policy(&[("enforce", "restricted"), ("warn", "baseline")]),
            texts("restricted:latest", "baseline:latest")
        );
        assert_eq!(policy(&[("enforce", "none"), ("warn", "x")]), texts("restricted:latest", "privileged:latest"));
        assert_eq!(
            policy(&[("enforce", "baseline"), ("enforce-version", "v1.05")]),
            texts("baseline:latest", "baseline:latest")
        );
    }

    #[test]
    fn checks_depend_on_the_level_and_the_version() {
        let spec = read(
            r#"{"hostNetwork":true,"volumes":[{"name":"v","hostPath":{"path":"/"}}],"securityContext":{"sysctls":[{"name":"net.ipv4.tcp_rmem"}]},
            "containers":[{"name":"c","securityContext":{"capabilities":{"add":["NET_RAW"]}}}]}"#,
        );
        let found = |level, version| {
            LevelVersion { level, version }.violation(&Value::Null, &spec, Release::NEWEST).unwrap_or_default()
        };
        assert_eq!(found(Level::Privileged, None), "");
        let start = "non-default capabilities (container \"c\" must not include \"NET_RAW\" in securityContext.capabilities.add), host namespaces (hostNetwork=true), hostPath volumes (volume \"v\")";
        assert_eq!(found(Level::Baseline, None), start);
        assert_eq!(found(Level::Baseline, Some(31)), format!("{start}, forbidden sysctls (net.ipv4.tcp_rmem)"));
        assert_eq!(
            found(Level::Restricted, Some(8)),
            "non-default capabilities (container \"c\" must not include \"NET_RAW\" in securityContext.capabilities.add), host namespaces (hostNetwork=true), forbidden sysctls (net.ipv4.tcp_rmem), allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false), restricted volume types (volume \"v\" uses restricted volume type \"hostPath\"), runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true)"
        );
        assert_eq!(
            found(Level::Restricted, None),
            "host namespaces (hostNetwork=true), allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"]; container \"c\" must not include \"NET_RAW\" in securityContext.capabilities.add), restricted volume types (volume \"v\" uses restricted volume type \"hostPath\"), runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
        );
    }

    #[test]
    fn only_images_make_an_update_significant() {
        let pod = |image: &str, more: &str| {
            read(&format!(r#"{{"spec":{{"containers":[{{"name":"c","image":"{image}"}}]{more}}}}}"#))
        };
        assert!(!is_significant_update(&pod("a", r#","hostNetwork":true"#), &pod("a", "")));
        assert!(is_significant_update(&pod("b", ""), &pod("a", "")));
        let debug = r#","ephemeralContainers":[{"name":"d","image":"x"}]"#;
        assert!(is_significant_update(&pod("a", debug), &pod("a", "")));
        assert!(!is_significant_update(&pod("a", debug), &pod("a", debug)));
    }
}
