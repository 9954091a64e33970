//! The settings of the cluster's API server, as far as they can be read: the emulated version, the feature gates in the metrics,
//! and the flags that `/flagz` shows. Where it does not, the metrics show which admission plugins were called.

mod metrics;

use super::Connection;
use crdx_engine::profile::Description;
use crdx_server::server::{ServerSettings, plugin_flags};
use crdx_text::json;
use crdx_value::release::{FeatureGates, Minor, Release, V1_36, gates_of};
use crdx_value::{Value, object};
use metrics::MetricSettings;
use std::collections::BTreeSet;
use std::time::Duration;

/// The time for which the settings are cached: that of kubectl's discovery.
const KEPT: Duration = Duration::from_hours(6);
/// The name in the cache.
const ENTRY: &str = "server-settings";
/// The name of incomplete settings, and the time for which they are cached.
const INCOMPLETE_ENTRY: &str = "incomplete-server-settings";
const KEPT_INCOMPLETE: Duration = Duration::from_mins(10);
/// The structured forms of `/flagz`.
const FLAGZ: &str =
    "application/json;v=v1beta1;g=config.k8s.io;as=Flagz, application/json;v=v1alpha1;g=config.k8s.io;as=Flagz";
const DEFAULT_NODE_PORTS: &str = "30000-32767";
const DEFAULT_TOLERATION_SECONDS: i64 = 300;
/// The first version that serves `/flagz` by default.
const SERVES_FLAGZ: Minor = V1_36;

/// The settings of a cluster's API server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSettings {
    pub settings: ServerSettings,
    /// The path of the configuration of admission plugins on the server's disk, which cannot be read.
    pub admission_file: Option<String>,
    /// True if the flags of the server are unknown, and with them the configuration of admission plugins.
    pub lacks_flags: bool,
    /// True if the server may serve other APIs than those that its version serves by default: discovery says which.
    pub may_serve_other_apis: bool,
    /// A note about the requests that failed, with the permissions that they need.
    pub notes: Vec<String>,
}

/// Reads the settings of the server of `connection`, which runs a release; or takes them from the cache.
pub fn settings(connection: &Connection, release: Release) -> LiveSettings {
    if let Some(profile) = connection.profile() {
        let Description { settings, admission_file, lacks_flags, unknown_settings, .. } = profile.description().clone();
        let (may_serve_other_apis, notes) = (true, unknown_settings);
        return LiveSettings { settings, admission_file, lacks_flags, may_serve_other_apis, notes };
    }
    // The emulated version is read anew, because the release is.
    let mut answers = cached(connection, release).unwrap_or_else(|| ask(connection, release));
    if let Ok(Some(version)) = connection.version() {
        answers.insert_at(&["version"], version);
    }
    understood(&answers, release)
}

/// The answers in the cache. Those of a server that refused one are cached as long as its discovery, which may change as the
/// permissions do.
fn cached(connection: &Connection, release: Release) -> Option<Value> {
    let read = |entry, age| {
        let answers = json::read(&connection.cache.read(entry, age)?).ok()?;
        (answers.str_at(&["release"]) == Some(&release.full_version())).then_some(answers)
    };
    read(ENTRY, KEPT).or_else(|| read(INCOMPLETE_ENTRY, KEPT_INCOMPLETE))
}

/// Reads the settings from the server: an object with `gates` and `flags`, and the reasons why one of them is not known.
fn ask(connection: &Connection, release: Release) -> Value {
    let mut answers = object([("release", release.full_version())]);
    let mut unread = Vec::new();
    match MetricSettings::read(connection) {
        Ok(MetricSettings { gates, plugins, admitted_create }) => {
            if gates.is_empty() {
                unread.push(UnreadSettings::new("/metrics", None, "it has no feature gates"));
            } else {
                answers.insert_at(&["gates"], Value::Object(gates));
            }
            answers.insert_at(&["plugins"], plugins.into_iter().map(Value::from).collect::<Vec<_>>().into());
            answers.insert_at(&["admittedCreate"], Value::Bool(admitted_create));
        }
        Err(error) => unread.push(UnreadSettings::new("/metrics", error.code, &error.message)),
    }
    match connection.object_of(FLAGZ, "/flagz") {
        Ok(flagz) => answers.insert_at(&["flags"], flagz.get("flags").cloned().unwrap_or_default()),
        // Servers before 1.36, and those that emulate one, do not serve it.
        Err(error) if error.code == Some(404) => {
            let reason = format!(
                "it serves no /flagz, which is enabled by default since {SERVES_FLAGZ} (give the flags of kube-apiserver, such as --admission-control-config-file)"
            );
            unread.push(UnreadSettings::new("/flagz", error.code, &reason));
        }
        Err(error) => unread.push(UnreadSettings::new("/flagz", error.code, &error.message)),
    }
    let is_answered = unread.iter().all(|unread| unread.code.is_some());
    let shows_plugins = answers.get("admittedCreate") == Some(&Value::Bool(true));
    answers.insert_at(&["notes"], note(&unread, shows_plugins).into_iter().map(Value::from).collect::<Vec<_>>().into());
    if is_answered {
        let entry = if unread.is_empty() { ENTRY } else { INCOMPLETE_ENTRY };
        connection.cache.write(entry, crdx_value::json::to_string(&answers).as_bytes());
    }
    answers
}

/// A path of the server with settings that could not be read.
#[derive(Debug)]
struct UnreadSettings {
    path: &'static str,
    code: Option<u16>,
    reason: String,
}

impl UnreadSettings {
    fn new(path: &'static str, code: Option<u16>, reason: &str) -> Self {
        Self { path, code, reason: reason.trim().to_owned() }
    }

    fn settings(&self, metrics_show_plugins: bool) -> &'static str {
        match self.path {
            "/metrics" => "feature gates",
            _ if metrics_show_plugins => "flags (except the admission plugins, which its metrics show)",
            _ => "flags (such as those for admission plugins)",
        }
    }
}

/// The note about all of them, with the permissions that they need.
fn note(unread: &[UnreadSettings], metrics_show_plugins: bool) -> Option<String> {
    let join = |each: &dyn Fn(&UnreadSettings) -> String| unread.iter().map(each).collect::<Vec<_>>();
    let refused: Vec<&str> = unread.iter().filter(|one| one.code == Some(403)).map(|one| one.path).collect();
    let permission = match refused.as_slice() {
        [] => String::new(),
        paths => format!(
            "; it needs the permission to GET the nonResourceURLs {} (kubectl crdx rbac prints it)",
            paths.join(" and ")
        ),
    };
    (!unread.is_empty()).then(|| {
        format!(
            "the {} of the server are unknown, so those of its version are simulated: {}{permission}",
            join(&|one| one.settings(metrics_show_plugins).to_owned()).join(" and the "),
            join(&|one| one.reason.clone()).join("; "),
        )
    })
}

/// The settings in the answers.
fn understood(answers: &Value, release: Release) -> LiveSettings {
    let number = |key: &str| answers.str_at(&["version", key]).and_then(|text| text.trim_end_matches('+').parse().ok());
    let emulated = number("emulationMinor").map(Minor).filter(|version| *version != release.minor());
    let emulated = emulated.filter(|version| release.emulating(*version).is_ok());
    let base = emulated.and_then(|version| release.emulating(version).ok()).unwrap_or(release);
    let mut feature_gates = FeatureGates::default();
    for row in gates_of(release.minor()) {
        let state = answers.at(&["gates", row.name]).and_then(Value::as_bool);
        let spec = row.at(base.emulated(), base.compatibility());
        if let Some(state) = state.filter(|state| *state != spec.default && !spec.is_locked) {
            feature_gates.set(row.name, state);
        }
    }
    let flag = |name: &str| answers.str_at(&["flags", name]).unwrap_or_default();
    let has_flags = answers.get("flags").is_some();
    let (enabled_plugins, disabled_plugins) = plugins(answers, release);
    LiveSettings {
        settings: ServerSettings {
            emulated_version: emulated,
            feature_gates,
            enabled_plugins,
            disabled_plugins,
            // The default of the flag is not what clusters have, so that a server without it forbids privileged containers.
            allow_privileged: answers.at(&["flags", "allow-privileged"]).map(|_| flag("allow-privileged") == "true"),
            node_ports: node_ports(flag("service-node-port-range")),
            not_ready_seconds: seconds(flag("default-not-ready-toleration-seconds")),
            unreachable_seconds: seconds(flag("default-unreachable-toleration-seconds")),
            // The ServiceCIDRs of the cluster have the ranges of Services, also those that its flag does not have.
            ..ServerSettings::default()
        },
        admission_file: Some(flag("admission-control-config-file").to_owned()).filter(|path| !path.is_empty()),
        lacks_flags: !has_flags,
        may_serve_other_apis: answers
            .at(&["flags", "runtime-config"])
            .is_none_or(|_| !flag("runtime-config").is_empty()),
        notes: texts(answers.get("notes")).map(str::to_owned).collect(),
    }
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str)
}

/// The plugins that are enabled, and those that are disabled: as the flags say, or else as the metrics show.
fn plugins(answers: &Value, release: Release) -> (Vec<String>, Vec<String>) {
    if answers.get("flags").is_some() {
        let list = |name: &str| {
            let items = answers.str_at(&["flags", name]).unwrap_or_default();
            let items = items.trim_start_matches('[').trim_end_matches(']').split(',');
            items.filter(|item| !item.is_empty()).map(str::to_owned).collect()
        };
        return (list("enable-admission-plugins"), list("disable-admission-plugins"));
    }
    let called: BTreeSet<&str> = texts(answers.get("plugins")).collect();
    let admitted_create = answers.get("admittedCreate") == Some(&Value::Bool(true));
    plugin_flags(release, &called, admitted_create)
}

/// Reads the seconds of a toleration; `None` for the default ones.
fn seconds(text: &str) -> Option<i64> {
    text.parse().ok().filter(|seconds| *seconds != DEFAULT_TOLERATION_SECONDS)
}

/// Reads a range such as `30000-32767`; `None` for the default one and for other forms of the flag.
fn node_ports(range: &str) -> Option<(u16, u16)> {
    let (first, last) = range.split_once('-').filter(|_| range != DEFAULT_NODE_PORTS)?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::release::V1_36;

    #[test]
    fn settings_are_what_differs_from_the_defaults() {
        let answers = json::read(
            br#"{"version":{"emulationMajor":"1","emulationMinor":"36"},"gates":{"HPAScaleToZero":false,"StatefulSetRecreateStrategy":false,"ContainerStopSignals":true},
            "flags":{"enable-admission-plugins":"[NodeRestriction,AlwaysPullImages]","disable-admission-plugins":"[]","admission-control-config-file":"/a"}}"#,
        )
        .unwrap();
        let read = understood(&answers, Release::new(37).unwrap());
        assert_eq!(read.settings.emulated_version, Some(V1_36));
        let gates: Vec<(&str, bool)> = read.settings.feature_gates.iter().collect();
        assert_eq!(gates, [("ContainerStopSignals", true)]);
        assert_eq!(read.settings.enabled_plugins, ["NodeRestriction", "AlwaysPullImages"]);
        assert!(read.settings.disabled_plugins.is_empty());
        assert_eq!((read.admission_file.as_deref(), read.lacks_flags), (Some("/a"), false));
    }

    #[test]
    fn without_flags_the_plugins_are_those_that_were_called() {
        let answers = |admitted: bool| {
            let answers =
                format!(r#"{{"gates":{{}},"admittedCreate":{admitted},"plugins":["AlwaysPullImages","Priority"]}}"#);
            understood(&json::read(answers.as_bytes()).unwrap(), Release::new(34).unwrap())
        };
        let read = answers(false);
        assert_eq!((read.settings.enabled_plugins.join(","), read.lacks_flags), ("AlwaysPullImages".to_owned(), true));
        assert!(read.settings.disabled_plugins.is_empty());
        let disabled = answers(true).settings.disabled_plugins;
        assert!(disabled.contains(&"PodSecurity".to_owned()) && !disabled.contains(&"Priority".to_owned()));
    }

    #[test]
    fn one_note_names_all_permissions() {
        let unread = |path, code| UnreadSettings::new(path, code, "no\n");
        assert_eq!(note(&[], false), None);
        assert_eq!(
            note(&[unread("/metrics", Some(403)), unread("/flagz", Some(403))], false).unwrap(),
            "the feature gates and the flags (such as those for admission plugins) of the server are unknown, so those of its version are \
             simulated: no; no; it needs the permission to GET the nonResourceURLs /metrics and /flagz (kubectl crdx rbac prints it)"
        );
        assert_eq!(
            note(&[unread("/flagz", Some(404))], true).unwrap(),
            "the flags (except the admission plugins, which its metrics show) of the server are unknown, so those of its version are simulated: no"
        );
    }

    #[test]
    fn a_default_server_has_default_settings() {
        let answers =
            br#"{"version":{"emulationMinor":"37"},"gates":{"HPAScaleToZero":true},"flags":{"runtime-config":""}}"#;
        let answers = json::read(answers).unwrap();
        assert_eq!(understood(&answers, Release::new(37).unwrap()), LiveSettings::default());
    }
}
