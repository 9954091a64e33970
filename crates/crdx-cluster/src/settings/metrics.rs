//! The settings of an API server that its metrics show: the states of the feature gates, and the admission plugins that
//! admitted requests (`k8s.io/apiserver/pkg/admission/metrics`).

use super::Connection;
use crdx_engine::cluster::Error;
use crdx_value::{Map, Value};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The maximum length of the metrics that are read in bytes, and the time limit.
const MAX_BYTES: usize = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest line that is kept; those that are read are short.
const MAX_LINE: usize = 4096;
const GATE: &str = "kubernetes_feature_enabled{";
const PLUGIN: &str = "apiserver_admission_controller_admission_duration_seconds_count{";
const STEP: &str = "apiserver_admission_step_admission_duration_seconds_count{";

/// The settings that the metrics show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MetricSettings {
    /// The states of the feature gates.
    pub gates: Map,
    /// The admission plugins that were called.
    pub plugins: BTreeSet<String>,
    /// True if a create passed all plugins, so that every enabled plugin that handles creates was called. An API server creates
    /// objects when it starts.
    pub admitted_create: bool,
}

impl MetricSettings {
    /// Reads the metrics of a server, of which only some lines are kept.
    ///
    /// # Errors
    /// Returns an error if the server does not answer with them, or if they are too long.
    pub fn read(connection: &Connection) -> Result<Self, Error> {
        let (start, mut read) = (Instant::now(), 0);
        let (mut settings, mut line) = (Self::default(), Vec::new());
        for chunk in connection.raw("/metrics")? {
            let chunk = chunk?;
            read += chunk.len();
            if read > MAX_BYTES || start.elapsed() > TIMEOUT {
                return Err(Error::new("the metrics are too long"));
            }
            for byte in chunk {
                match byte {
                    b'\n' => {
                        settings.add_line(&line);
                        line.clear();
                    }
                    byte if line.len() < MAX_LINE => line.push(byte),
                    _ => {}
                }
            }
        }
        settings.add_line(&line);
        Ok(settings)
    }

    /// Adds a line such as `kubernetes_feature_enabled{name="A",stage="BETA"} 1`.
    fn add_line(&mut self, line: &[u8]) {
        let Ok(line) = std::str::from_utf8(line) else { return };
        let rest = |prefix: &str| line.strip_prefix(prefix)?.rsplit_once("} ");
        if let Some((labels, value)) = rest(GATE) {
            let state = Value::Bool(value.trim() == "1");
            self.gates.extend(label(labels, "name").map(|name| (name.to_owned(), state)));
        } else if let Some((labels, _)) = rest(PLUGIN) {
            self.plugins.extend(label(labels, "name").map(str::to_owned));
        } else if let Some((labels, _)) = rest(STEP) {
            let is = |name, value| label(labels, name) == Some(value);
            self.admitted_create |= is("operation", "CREATE") && is("type", "validate") && is("rejected", "false");
        }
    }
}

fn label<'l>(labels: &'l str, name: &str) -> Option<&'l str> {
    labels.split(',').find_map(|label| label.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> MetricSettings {
        let mut settings = MetricSettings::default();
        for line in lines {
            settings.add_line(line.as_bytes());
        }
        settings
    }

    #[test]
    fn gates_have_their_state() {
        let settings = read(&[
            r#"kubernetes_feature_enabled{name="HPAScaleToZero",stage="BETA"} 0"#,
            r#"kubernetes_feature_enabled{name="APIServerTracing",stage="BETA"} 1"#,
            "kubernetes_build_info{major=\"1\"} 1",
        ]);
        let states = [("HPAScaleToZero", false), ("APIServerTracing", true)];
        assert_eq!(settings.gates, states.map(|(name, on)| (name.to_owned(), Value::Bool(on))).into_iter().collect());
        assert!(!settings.admitted_create && settings.plugins.is_empty());
    }

    #[test]
    fn plugins_that_were_called_are_enabled() {
        let plugin = |name: &str| {
            format!(
                r#"apiserver_admission_controller_admission_duration_seconds_count{{name="{name}",operation="CREATE",rejected="false",type="admit"}} 55"#
            )
        };
        let step = |rejected: &str| {
            format!(
                r#"apiserver_admission_step_admission_duration_seconds_count{{operation="CREATE",rejected="{rejected}",type="validate"}} 1"#
            )
        };
        let settings = read(&[&plugin("AlwaysPullImages"), &plugin("Priority"), &step("true")]);
        assert!(settings.plugins.iter().eq(["AlwaysPullImages", "Priority"]));
        assert!(!settings.admitted_create, "a plugin that follows the one that rejects is not called");
        assert!(read(&[&step("false")]).admitted_create);
    }
}
