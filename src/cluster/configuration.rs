//! The cluster and user that kubectl would use: the kubeconfig overridden by flags, or inside a pod its service
//! account. Follows `client_config.go` of client-go's clientcmd.

use super::context::files;
use super::{Error, Target, proxy};
use http::Uri;
use kube::client::AuthError;
use kube::config::{
    AuthInfo, Cluster, Context, ExecInteractiveMode, KubeConfigOptions, Kubeconfig, NamedAuthInfo, NamedCluster,
    NamedContext,
};
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

/// The timeout for opening a connection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The configuration that kubectl would use.
pub async fn configuration(target: &Target) -> Result<kube::Config, Error> {
    let kubeconfig = merged(target)?;
    let nothing = kubeconfig.clusters.is_empty() && kubeconfig.contexts.is_empty();
    let in_cluster = if nothing { kube::Config::incluster().ok() } else { None };
    let mut config = match in_cluster {
        Some(mut config) => {
            over_user(&mut config.auth_info, target);
            if let Some(server) = &target.server {
                config.cluster_url = url(server)?;
            }
            if let Some(file) = &target.certificate_authority {
                config.root_cert_file = Some(file.clone());
            }
            config
        }
        None => of_kubeconfig(kubeconfig, target).await?,
    };
    config.connect_timeout = Some(target.request_timeout.map_or(TIMEOUT, |t| t.min(TIMEOUT)));
    // Timeouts and retries are handled in `connection`.
    config.read_timeout = None;
    config.default_retry = false;
    Ok(config)
}

/// The merged kubeconfig. A missing file in the list `KUBECONFIG` counts as empty, as in kubectl.
fn merged(target: &Target) -> Result<Kubeconfig, Error> {
    let mut all = Kubeconfig::default();
    for file in files(target) {
        if target.kubeconfig.is_none() && !file.exists() {
            continue;
        }
        let cannot_read = |error: &dyn std::error::Error| {
            let message = format!("the kubeconfig {} cannot be read: {}", file.display(), chain(error));
            Error::unreachable(message, "correct it, or give another one with --kubeconfig")
        };
        let mut next = Kubeconfig::read_from(&file).map_err(|e| cannot_read(&e))?;
        next.current_context = next.current_context.filter(|name| !name.is_empty());
        all = all.merge(next).map_err(|e| cannot_read(&e))?;
    }
    Ok(all)
}

/// Selects context, cluster and user, applies the flags and hands the result to kube.
async fn of_kubeconfig(all: Kubeconfig, target: &Target) -> Result<kube::Config, Error> {
    let named = target.context.as_ref().or(all.current_context.as_ref());
    let context = match named {
        Some(name) => {
            let contexts = all.contexts.iter().map(|c| c.name.as_str());
            let found = all.contexts.iter().find(|c| c.name == *name).and_then(|c| c.context.clone());
            // With `--server`, kubectl tolerates a cluster that the kubeconfig lacks.
            if found.is_none() && (target.context.is_some() || target.server.is_none()) {
                return Err(missing("context", name, contexts));
            }
            found.unwrap_or_default()
        }
        None => Context::default(),
    };
    let cluster_name = target.cluster.as_deref().unwrap_or(&context.cluster);
    let cluster = all.clusters.iter().find(|c| c.name == cluster_name).and_then(|c| c.cluster.clone());
    if cluster.is_none() && (target.cluster.is_some() || (target.server.is_none() && !cluster_name.is_empty())) {
        return Err(missing("cluster", cluster_name, all.clusters.iter().map(|c| c.name.as_str())));
    }
    let user_name = target.user.as_deref().or(context.user.as_deref()).unwrap_or_default();
    let user = all.auth_infos.iter().find(|u| u.name == user_name).and_then(|u| u.auth_info.clone());
    if user.is_none() && target.user.is_some() {
        return Err(missing("user", user_name, all.auth_infos.iter().map(|u| u.name.as_str())));
    }
    let (mut cluster, mut user) = (cluster.unwrap_or_default(), user.unwrap_or_default());
    over_cluster(&mut cluster, target)?;
    over_user(&mut user, target);
    let Some(server) = cluster.server.as_deref().filter(|s| !s.is_empty()) else {
        return Err(Error::unreachable(
            "no cluster is configured: there is no kubeconfig, or no current context in it",
            "choose one with --kubeconfig, --context or --server",
        ));
    };
    let server = url(server)?;
    cluster.server = Some(server.to_string());
    if cluster.proxy_url.as_ref().is_none_or(String::is_empty) {
        cluster.proxy_url = proxy::from_environment(&server, |name| std::env::var(name).ok());
    }
    let direct = cluster.proxy_url.is_none();
    let name = "chosen".to_owned();
    let context = Context { cluster: name.clone(), user: Some(name.clone()), ..context };
    let one = Kubeconfig {
        clusters: vec![NamedCluster { name: name.clone(), cluster: Some(cluster), ..NamedCluster::default() }],
        auth_infos: vec![NamedAuthInfo { name: name.clone(), auth_info: Some(user), ..NamedAuthInfo::default() }],
        contexts: vec![NamedContext { name: name.clone(), context: Some(context), ..NamedContext::default() }],
        current_context: Some(name),
        ..Kubeconfig::default()
    };
    let mut config =
        kube::Config::from_custom_kubeconfig(one, &KubeConfigOptions::default()).await.map_err(|error| {
            Error::unreachable(
                format!("the kubeconfig cannot be used: {}", chain(&error)),
                "correct it, or choose another context with --context",
            )
        })?;
    if direct {
        // kube would use the environment's proxy even where NO_PROXY excludes the server.
        config.proxy_url = None;
    }
    Ok(config)
}

fn missing<'a>(what: &str, name: &str, existing: impl Iterator<Item = &'a str>) -> Error {
    let mut existing: Vec<&str> = existing.collect();
    existing.sort_unstable();
    let help = match existing.as_slice() {
        [] => "choose one with --kubeconfig, --context or --server".to_owned(),
        some => format!("the kubeconfig has {}", some.join(", ")),
    };
    Error::unreachable(format!("{what} \"{name}\" does not exist"), help)
}

/// Applies the flags that describe the cluster.
fn over_cluster(cluster: &mut Cluster, target: &Target) -> Result<(), Error> {
    if let Some(server) = &target.server {
        cluster.server = Some(server.clone());
    }
    if target.server.is_some() || target.tls_server_name.is_some() {
        cluster.tls_server_name.clone_from(&target.tls_server_name);
    }
    if target.insecure_skip_tls_verify && target.certificate_authority.is_some() {
        return Err(Error::unreachable(
            "a certificate authority has no effect if the server's certificate is not verified",
            "give either --certificate-authority or --insecure-skip-tls-verify",
        ));
    }
    if target.insecure_skip_tls_verify || target.certificate_authority.is_some() {
        cluster.insecure_skip_tls_verify = Some(target.insecure_skip_tls_verify);
        cluster.certificate_authority = target.certificate_authority.as_deref().map(text);
        cluster.certificate_authority_data = None;
    }
    Ok(())
}

/// Applies the flags that describe the user.
fn over_user(user: &mut AuthInfo, target: &Target) {
    if let Some(token) = &target.token {
        // `--token` overrides every other credential except client certificates.
        user.token = Some(token.clone().into());
        (user.token_file, user.exec, user.auth_provider) = (None, None, None);
        (user.username, user.password) = (None, None);
    }
    if let Some(file) = &target.client_certificate {
        user.client_certificate = Some(text(file));
        user.client_certificate_data = None;
    }
    if let Some(file) = &target.client_key {
        user.client_key = Some(text(file));
        user.client_key_data = None;
    }
    if target.as_user.is_some() {
        user.impersonate.clone_from(&target.as_user);
    }
    if !target.as_groups.is_empty() {
        user.impersonate_groups = Some(target.as_groups.clone());
    }
    if target.as_uid.is_some() {
        user.impersonate_uid.clone_from(&target.as_uid);
    }
    if let Some(exec) = &mut user.exec
        && exec.interactive_mode != Some(ExecInteractiveMode::Always)
        && !std::io::stdin().is_terminal()
    {
        // A credential plugin must not read the objects on standard input.
        exec.interactive_mode = Some(ExecInteractiveMode::Never);
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Parses a server's URL; the default scheme is http, as in kubectl.
fn url(server: &str) -> Result<Uri, Error> {
    let full = if server.contains("://") { server.to_owned() } else { format!("http://{server}") };
    full.parse().map_err(|e| {
        Error::unreachable(format!("the server {server:?} is not a URL: {e}"), "write it as https://HOST:PORT")
    })
}

/// Explains why kube rejected a configuration.
pub fn unusable(error: &kube::Error) -> Error {
    const LOG_IN: &str = "run it by hand, log in again, or choose another user with --user or --context";
    let kube::Error::Auth(auth) = error else {
        let message = format!("the cluster's configuration cannot be used: {}", root_cause(error));
        return Error::unreachable(message, "check the certificates and the proxy in the kubeconfig");
    };
    let message = match auth {
        AuthError::AuthExecRun { cmd, out } => {
            let stderr = String::from_utf8_lossy(&out.stderr);
            let stderr: String = stderr.trim().chars().take(500).collect();
            let stderr = if stderr.is_empty() { stderr } else { format!(": {stderr}") };
            format!("the credential plugin {cmd} ended with {}{stderr}", out.status)
        }
        AuthError::AuthExecStart(cause) => format!("the credential plugin cannot be started: {cause}"),
        AuthError::AuthExecParse(cause) => {
            format!("the credential plugin did not print an ExecCredential: {cause}")
        }
        AuthError::ExecPluginFailed => "the credential plugin printed an ExecCredential without status".to_owned(),
        other => format!("there are no credentials: {}", chain(other)),
    };
    Error::unreachable(message, LOG_IN)
}

/// The innermost error, which is the most specific.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut at = error;
    while let Some(cause) = at.source() {
        at = cause;
    }
    at.to_string()
}

/// The error and its causes, without repetitions.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let root = root_cause(error);
    if !text.contains(&root) {
        text = format!("{text}: {root}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_scheme_is_http_as_for_kubectl() {
        assert_eq!(url("localhost:8080").unwrap().to_string(), "http://localhost:8080/");
        assert!(url("https://").is_err());
    }

    #[test]
    fn flags_go_over_the_kubeconfig_as_kubectl_puts_them() {
        let mut cluster = Cluster {
            server: Some("https://a".into()),
            certificate_authority_data: Some("x".into()),
            tls_server_name: Some("inside".into()),
            ..Cluster::default()
        };
        let target = Target {
            server: Some("https://b".into()),
            insecure_skip_tls_verify: true,
            token: Some("t".into()),
            as_groups: vec!["g".into()],
            ..Target::default()
        };
        over_cluster(&mut cluster, &target).unwrap();
        assert_eq!(cluster.server.as_deref(), Some("https://b"));
        // `tls-server-name` in the kubeconfig applies only to the server given there.
        assert_eq!((cluster.tls_server_name, cluster.certificate_authority_data), (None, None));
        let mut user = AuthInfo { username: Some("u".into()), token_file: Some("f".into()), ..AuthInfo::default() };
        over_user(&mut user, &target);
        assert!(user.token.is_some() && user.token_file.is_none() && user.username.is_none());
        assert_eq!(user.impersonate_groups, Some(vec!["g".into()]));
    }
}
