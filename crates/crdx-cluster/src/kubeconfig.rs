//! Kubeconfig files: their types, and how several files are merged. Follows `tools/clientcmd/api/v1` and `loader.go` of
//! client-go.

use super::fields::{FieldError, Fields, document};
use super::secret::Secret;
use crdx_value::Value;
use std::path::{Path, PathBuf};

/// The extension of a cluster whose content is given to credential plugins.
const PLUGIN_EXTENSION: &str = "client.authentication.k8s.io/exec";
const V1: &str = "client.authentication.k8s.io/v1";
const V1_BETA1: &str = "client.authentication.k8s.io/v1beta1";

/// The content of one file, or of several merged ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kubeconfig {
    /// `current-context`
    pub current_context: Option<String>,
    /// `contexts`, by name
    pub contexts: Vec<(String, Context)>,
    /// `clusters`, by name
    pub clusters: Vec<(String, Cluster)>,
    /// `users`, by name
    pub users: Vec<(String, User)>,
}

/// A context: names of a cluster and of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// `cluster`
    pub cluster: String,
    /// `user`
    pub user: String,
}

/// Where a server is, and how its certificate is verified.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// `server`; a secret, because a URL may contain a password
    pub server: Option<Secret>,
    /// `tls-server-name`
    pub tls_server_name: Option<String>,
    /// `insecure-skip-tls-verify`
    pub insecure_skip_tls_verify: bool,
    /// `certificate-authority`
    pub authority: Pem,
    /// `proxy-url`
    pub proxy_url: Option<Secret>,
    /// The content of the extension for credential plugins.
    pub plugin_config: Option<Value>,
}

/// Certificates or a key: a file or the content itself, which takes precedence.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Pem {
    pub file: Option<PathBuf>,
    /// The content.
    pub data: Option<Vec<u8>>,
}

/// How a user proves its identity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    /// `username`
    pub username: Option<String>,
    /// `password`
    pub password: Option<Secret>,
    /// `token`
    pub token: Option<Secret>,
    /// `tokenFile`
    pub token_file: Option<PathBuf>,
    /// `client-certificate`
    pub certificate: Pem,
    /// `client-key`
    pub key: Pem,
    /// `exec`; an error matters only if the user is selected
    pub plugin: Option<Result<Plugin, FieldError>>,
    /// `auth-provider`
    pub provider: Option<Provider>,
    /// `as`, `as-uid`, `as-groups` and `as-user-extra`
    pub impersonate: Impersonate,
}

/// The user to act as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonate {
    /// The name.
    pub user: Option<String>,
    pub uid: Option<String>,
    pub groups: Vec<String>,
    /// Further attributes.
    pub extra: Vec<(String, Vec<String>)>,
}

/// An authentication provider of client-go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// `name`
    pub name: String,
    /// `config.id-token`
    pub id_token: Option<Secret>,
}

/// A credential plugin: a program that prints credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plugin {
    /// `apiVersion` of its input and output
    pub api_version: String,
    /// `command`
    pub command: PathBuf,
    /// `args`; they may contain secrets
    pub args: Vec<Secret>,
    /// `env`
    pub env: Vec<(String, Secret)>,
    /// `installHint`
    pub install_hint: Option<String>,
    /// `interactiveMode`
    pub interactive: Interactive,
    /// `provideClusterInfo`
    pub provide_cluster_info: bool,
}

/// When a credential plugin may read standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interactive {
    Never,
    /// If standard input is a terminal
    #[default]
    IfAvailable,
    Always,
}

impl Pem {
    /// Returns true if there is neither a file nor content.
    pub fn is_empty(&self) -> bool {
        self.file.is_none() && self.data.is_none()
    }

    fn from_fields(fields: &Fields<'_>, key: &str, dir: &Path) -> Result<Self, FieldError> {
        Ok(Self { file: file(fields, key, dir)?, data: fields.bytes(&format!("{key}-data"))? })
    }
}

impl std::fmt::Debug for Pem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pem").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Kubeconfig {
    /// Decodes a file in the directory `dir`, to which its paths are relative.
    pub fn decode(text: &[u8], dir: &Path) -> Result<Self, FieldError> {
        let value = document(text)?;
        let fields = Fields::from_value(&value)?;
        Ok(Self {
            current_context: fields.text("current-context")?,
            contexts: named(&fields, "contexts", "context", context)?,
            clusters: named(&fields, "clusters", "cluster", |cluster| Cluster::decode(cluster, dir))?,
            users: named(&fields, "users", "user", |user| User::decode(user, dir))?,
        })
    }

    /// Adds what another file has and this one lacks.
    pub fn merge(&mut self, next: Self) {
        if self.current_context.is_none() {
            self.current_context = next.current_context;
        }
        add(&mut self.contexts, next.contexts);
        add(&mut self.clusters, next.clusters);
        add(&mut self.users, next.users);
    }
}

fn add<T>(all: &mut Vec<(String, T)>, next: Vec<(String, T)>) {
    for (name, item) in next {
        if !all.iter().any(|(other, _)| *other == name) {
            all.push((name, item));
        }
    }
}

/// A list of named objects. A name that occurs twice is an error, as in client-go.
fn named<T>(
    fields: &Fields<'_>,
    list: &str,
    key: &str,
    read: impl Fn(&Fields<'_>) -> Result<T, FieldError>,
) -> Result<Vec<(String, T)>, FieldError> {
    let mut all: Vec<(String, T)> = Vec::new();
    for item in fields.objects(list)? {
        let name = item.text("name")?.unwrap_or_default();
        if all.iter().any(|(other, _)| *other == name) {
            return Err(item.unusable("name", "is the name of an earlier item of the list"));
        }
        all.push((name, read(&item.object(key)?)?));
    }
    Ok(all)
}

fn context(fields: &Fields<'_>) -> Result<Context, FieldError> {
    let text = |key: &str| Ok(fields.text(key)?.unwrap_or_default());
    Ok(Context { cluster: text("cluster")?, user: text("user")? })
}

/// A path, relative to `dir`.
fn file(fields: &Fields<'_>, key: &str, dir: &Path) -> Result<Option<PathBuf>, FieldError> {
    Ok(fields.text(key)?.map(|path| dir.join(path)))
}

impl Cluster {
    fn decode(fields: &Fields<'_>, dir: &Path) -> Result<Self, FieldError> {
        let extensions = fields.objects("extensions")?;
        let is_for_plugins =
            |extension: &&Fields<'_>| matches!(extension.text("name"), Ok(Some(name)) if name == PLUGIN_EXTENSION);
        Ok(Self {
            server: fields.secret("server")?,
            tls_server_name: fields.text("tls-server-name")?,
            insecure_skip_tls_verify: fields.flag("insecure-skip-tls-verify")?,
            authority: Pem::from_fields(fields, "certificate-authority", dir)?,
            proxy_url: fields.secret("proxy-url")?,
            plugin_config: extensions.iter().find(is_for_plugins).and_then(|extension| extension.any("extension")),
        })
    }
}

impl User {
    fn decode(fields: &Fields<'_>, dir: &Path) -> Result<Self, FieldError> {
        let provider = fields.object("auth-provider")?;
        let config = provider.object("config")?;
        let plugin = fields.object("exec")?;
        let as_provider =
            || Ok(Provider { name: provider.text("name")?.unwrap_or_default(), id_token: config.secret("id-token")? });
        Ok(Self {
            username: fields.text("username")?,
            password: fields.secret("password")?,
            token: fields.secret("token")?,
            token_file: file(fields, "tokenFile", dir)?,
            certificate: Pem::from_fields(fields, "client-certificate", dir)?,
            key: Pem::from_fields(fields, "client-key", dir)?,
            plugin: if plugin.is_absent() { None } else { Some(Plugin::decode(&plugin, dir)?) },
            provider: (!provider.is_absent()).then(as_provider).transpose()?,
            impersonate: Impersonate {
                user: fields.text("as")?,
                uid: fields.text("as-uid")?,
                groups: fields.texts("as-groups")?,
                extra: fields.text_lists("as-user-extra")?,
            },
        })
    }
}

impl Plugin {
    /// The outer error is a wrong type, which makes the whole file unusable.
    fn decode(fields: &Fields<'_>, dir: &Path) -> Result<Result<Self, FieldError>, FieldError> {
        let command = fields.text("command")?;
        let api_version = fields.text("apiVersion")?;
        let mode = fields.text("interactiveMode")?;
        let variables = fields.objects("env")?.into_iter().map(|item| {
            let value = item.secret("value")?.unwrap_or_default();
            let name = item.text("name")?.filter(|name| !name.contains(['=', '\0']));
            Ok(name.map(|name| (name, value)).ok_or_else(|| item.unusable("name", "must be the name of a variable")))
        });
        let variables: Vec<Result<(String, Secret), FieldError>> = variables.collect::<Result<_, FieldError>>()?;
        let args = fields.texts("args")?.into_iter().map(Secret::from).collect();
        let install_hint = fields.text("installHint")?;
        let provide_cluster_info = fields.flag("provideClusterInfo")?;
        let checked = || {
            let command = command.ok_or_else(|| fields.unusable("command", "must be given"))?;
            // As in client-go, a command without a separator is found through PATH.
            let has_separator = command.contains(std::path::MAIN_SEPARATOR);
            let command = if has_separator { dir.join(&command) } else { PathBuf::from(command) };
            let api_version = api_version.filter(|version| version == V1 || version == V1_BETA1);
            let api_version = api_version.ok_or_else(|| {
                let reason = "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";
                fields.unusable("apiVersion", reason)
            })?;
            let interactive = match mode.as_deref() {
                Some("Never") => Interactive::Never,
                Some("Always") => Interactive::Always,
                Some("IfAvailable") => Interactive::IfAvailable,
                None if api_version == V1_BETA1 => Interactive::IfAvailable,
                _ => return Err(fields.unusable("interactiveMode", "must be Never, IfAvailable or Always")),
            };
            let env = variables.into_iter().collect::<Result<_, _>>()?;
            Ok(Self { api_version, command, args, env, install_hint, interactive, provide_cluster_info })
        };
        Ok(checked())
    }
}

#[cfg(test)]
mod tests;
