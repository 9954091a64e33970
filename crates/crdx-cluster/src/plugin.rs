//! Credential plugins: programs that print an `ExecCredential`. Follows `plugin/pkg/client/auth/exec` of client-go.
//!
//! Errors contain neither the output of the program nor its arguments and variables. As with kubectl, its standard error
//! is the program's own: the user sees it, and no message repeats it.

use super::fields::{FieldError, Fields, document};
use super::kubeconfig::{Interactive, Plugin};
use super::secret::Secret;
use crdx_value::lock::lock;
use crdx_value::time::{self, Timestamp};
use crdx_value::{Value, json, object};
use std::io::{IsTerminal, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The limit for the output of a plugin.
const MAX_OUTPUT: u64 = 1 << 20;
/// How often a running plugin is looked at.
const PAUSE: Duration = Duration::from_millis(5);

/// What a plugin printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Credential {
    /// `status.token`
    pub token: Option<Secret>,
    /// `status.clientCertificateData` and `status.clientKeyData`, in PEM
    pub identity: Option<(Vec<u8>, Secret)>,
    /// `status.expirationTimestamp`
    pub expires: Option<Timestamp>,
}

/// Why a plugin gave no credentials.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The program cannot be started.
    #[error("the credential plugin {command} cannot be started: {cause}{}", hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}")))]
    Start {
        /// The program.
        command: String,
        cause: std::io::Error,
        /// `installHint` of the kubeconfig.
        hint: Option<String>,
    },
    /// The program failed.
    #[error("the credential plugin {command} ended with {status}")]
    Failed {
        /// The program.
        command: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// The program did not end in time.
    #[error("the credential plugin {command} did not end within {} s", limit.as_secs_f64())]
    Late {
        /// The program.
        command: String,
        /// The time limit.
        limit: Duration,
    },
    /// The program must be interactive, but standard input is not a terminal.
    #[error("the credential plugin {command} needs a terminal, and standard input is not one")]
    NoTerminal {
        /// The program.
        command: String,
    },
    /// The output is too long.
    #[error("the credential plugin {command} printed more than 1 MiB")]
    TooLong {
        /// The program.
        command: String,
    },
    /// The output is not an `ExecCredential`.
    #[error("the credential plugin {command} did not print an ExecCredential: {cause}")]
    Output {
        /// The program.
        command: String,
        /// What is wrong.
        cause: FieldError,
    },
}

impl Plugin {
    fn name(&self) -> String {
        self.command.display().to_string()
    }

    /// Returns true if the plugin may prompt on the terminal.
    pub fn is_interactive(&self) -> bool {
        self.interactive != Interactive::Never && std::io::stdin().is_terminal()
    }

    /// Starts the plugin. `cluster` is given to it if it asks for it. The plugin runs as long as the first value is kept.
    pub fn start(&self, cluster: &Value) -> Result<(Running, Waiting), PluginError> {
        let is_interactive = self.is_interactive();
        if self.interactive == Interactive::Always && !is_interactive {
            return Err(PluginError::NoTerminal { command: self.name() });
        }
        let mut spec = object([("interactive", Value::Bool(is_interactive))]);
        if self.provide_cluster_info {
            spec.insert_at(&["cluster"], cluster.clone());
        }
        let info = object([
            ("kind", Value::from("ExecCredential")),
            ("apiVersion", self.api_version.as_str().into()),
            ("spec", spec),
        ]);
        let mut command = Command::new(&self.command);
        command.args(self.args.iter().map(Secret::expose));
        command.envs(self.env.iter().map(|(name, value)| (name, value.expose())));
        command.env("KUBERNETES_EXEC_INFO", json::to_string(&info));
        // A plugin must not read the objects on standard input.
        command.stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|cause| self.not_started(cause))?;
        let output = output(&mut child);
        let child = Arc::new(Mutex::new(child));
        Ok((Running(Arc::clone(&child)), Waiting { child, output, is_interactive }))
    }

    fn not_started(&self, cause: std::io::Error) -> PluginError {
        PluginError::Start { command: self.name(), cause, hint: self.install_hint.clone() }
    }

    /// Waits for the end of the plugin. One that cannot prompt is ended after `limit`.
    pub fn finish(&self, waiting: Waiting, limit: Duration) -> Result<Credential, PluginError> {
        let Waiting { child, output, is_interactive } = waiting;
        // A plugin that prompts on the terminal has no time limit, because the user can end it.
        let until = if is_interactive { None } else { Some(Instant::now() + limit) };
        let Some(status) = wait(&child, until).map_err(|cause| self.not_started(cause))? else {
            return Err(PluginError::Late { command: self.name(), limit });
        };
        if !status.success() {
            return Err(PluginError::Failed { command: self.name(), status });
        }
        // A process that the plugin left behind may hold its output open.
        let printed = match until {
            Some(until) => output.recv_timeout(until.saturating_duration_since(Instant::now()) + PAUSE).ok(),
            None => output.recv().ok(),
        };
        let Some(printed) = printed else { return Err(PluginError::Late { command: self.name(), limit }) };
        if printed.len() as u64 > MAX_OUTPUT {
            return Err(PluginError::TooLong { command: self.name() });
        }
        self.credential(&printed).map_err(|cause| PluginError::Output { command: self.name(), cause })
    }

    /// Decodes the output, which is JSON or YAML.
    fn credential(&self, printed: &[u8]) -> Result<Credential, FieldError> {
        let value = document(printed)?;
        let fields = Fields::from_value(&value)?;
        if fields.text("kind")?.as_deref() != Some("ExecCredential") {
            return Err(fields.unusable("kind", "must be ExecCredential"));
        }
        if fields.text("apiVersion")?.as_deref() != Some(self.api_version.as_str()) {
            return Err(fields.unusable("apiVersion", "must be the one in the kubeconfig"));
        }
        let status = fields.object("status")?;
        if status.is_absent() {
            return Err(fields.unusable("status", "is missing"));
        }
        let token = status.secret("token")?;
        let (certificate, key) = (status.text("clientCertificateData")?, status.secret("clientKeyData")?);
        let identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate.into_bytes(), key)),
            (None, None) if token.is_none() => {
                return Err(fields.unusable("status", "has neither a token nor a certificate and its key"));
            }
            (None, None) => None,
            _ => return Err(fields.unusable("status", "has only one of clientCertificateData and clientKeyData")),
        };
        let time = |text: String| {
            time::parse(&text).map_err(|_| status.unusable("expirationTimestamp", "is not a time in RFC 3339 format"))
        };
        let expires = status.text("expirationTimestamp")?.map(time).transpose()?;
        Ok(Credential { token, identity, expires })
    }
}

/// A plugin that was started. It is ended when this is dropped, because the caller may give up before the limit.
pub struct Running(Arc<Mutex<Child>>);

/// What [`Plugin::finish`] waits for, on a thread of its own.
pub struct Waiting {
    child: Arc<Mutex<Child>>,
    output: Receiver<Vec<u8>>,
    is_interactive: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut child = lock(&self.0);
        // It has no effect on a program that has ended.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Reads the output of a plugin on another thread.
fn output(child: &mut Child) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut printed = Vec::new();
            let read = stdout.take(MAX_OUTPUT + 1).read_to_end(&mut printed);
            // Nobody receives it if the plugin failed or was late.
            if read.is_ok() {
                let _ = send.send(printed);
            }
        });
    }
    receive
}

/// Waits for the end of a plugin; `None` if it was ended because it did not end in time.
fn wait(child: &Mutex<Child>, until: Option<Instant>) -> std::io::Result<Option<ExitStatus>> {
    loop {
        let mut running = lock(child);
        if let Some(status) = running.try_wait()? {
            return Ok(Some(status));
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            running.kill()?;
            running.wait()?;
            return Ok(None);
        }
        drop(running);
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_contains_the_output() {
        let plugin = Plugin { api_version: "client.authentication.k8s.io/v1".to_owned(), ..Plugin::default() };
        let head = "kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\n";
        let outputs = [
            "canary",
            "Your token is canary\nbye: [",
            "{\"kind\":\"canary\"}",
            "{\"kind\":\"ExecCredential\",\"apiVersion\":\"canary\"}",
            "[canary]",
            "status: {token: canary",
            "token: *canary",
            "{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"canary\"}",
            "",
        ];
        let members = [
            "",
            "status: canary",
            "status: {canary: canary}",
            "status: {token: [canary]}",
            "status: {token: {canary: canary}}",
            "status: {token: 7}",
            "status: {clientKeyData: canary}",
            "status: {clientCertificateData: canary}",
            "status: {token: canary, expirationTimestamp: canary}",
            "status: {token: canary, expirationTimestamp: [canary]}",
        ];
        let members = members.iter().map(|more| format!("{head}{more}"));
        for output in outputs.iter().map(|text| (*text).to_owned()).chain(members) {
            let cause = plugin.credential(output.as_bytes()).unwrap_err();
            let error = PluginError::Output { command: "login".to_owned(), cause };
            assert!(!format!("{error} {error:?}").contains("canary"), "{output}: {error}");
        }
    }

    #[test]
    fn json_and_yaml_are_read() {
        let plugin = Plugin { api_version: "client.authentication.k8s.io/v1".to_owned(), ..Plugin::default() };
        let json = r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"}}"#;
        let read = plugin.credential(json.as_bytes()).unwrap();
        assert_eq!((read.token, read.identity), (Some(Secret::from("t".to_owned())), None));
        assert_eq!(read.expires.unwrap().seconds, 1_893_456_000);
        let yaml = "apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\nstatus:\n  clientCertificateData: c\n  clientKeyData: k\n";
        assert_eq!(
            plugin.credential(yaml.as_bytes()).unwrap().identity,
            Some((b"c".to_vec(), Secret::from("k".to_owned())))
        );
    }
}
