//! The cluster and user that kubectl would use: the kubeconfig overridden by flags, or inside a pod its service
//! account. Follows `client_config.go` of client-go's clientcmd.

use super::context::{ServiceAccount, files};
use super::credentials::Credentials;
use super::fields::FieldError;
use super::kubeconfig::{Cluster, Context, Impersonate, Kubeconfig, Pem, User};
use super::kuberc::PluginPolicy;
use super::secret::Secret;
use super::{ClusterFlags, Error, kuberc, proxy};
use crdx_value::base64::Encoding;
use crdx_value::{Value, object};
use http::Uri;
use http::uri::Scheme;
use kube::config::AuthInfo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use std::path::Path;
use std::time::Duration;

/// The timeout for opening a connection.
const TIMEOUT: Duration = Duration::from_secs(10);
const CHECK: &str = "correct it, or choose another context with --context";

/// A cluster and how to identify to it.
pub struct Configuration {
    /// The cluster, without credentials other than a client certificate.
    pub config: kube::Config,
    pub credentials: Credentials,
    /// True if the user has credentials that are not sent, because the server is not `https`.
    pub are_withheld: bool,
}

/// The configuration that kubectl would use. Runs a credential plugin for at most `limit`.
pub async fn configuration(target: &ClusterFlags, limit: Duration) -> Result<Configuration, Error> {
    let (cluster, user) = selected(&merged(target)?, target, &ServiceAccount::default())?;
    let Some(server) = &cluster.server else {
        return Err(Error::unreachable(
            "no cluster is configured: there is no kubeconfig, or no current context in it",
            "choose one with --kubeconfig, --context or --server",
        ));
    };
    let server = url(server.expose())?;
    let mut config = kube::Config::new(server.clone());
    config.proxy_url = match &cluster.proxy_url {
        Some(proxy) => Some(proxy::parse(proxy.expose(), "proxy-url in the kubeconfig")?),
        None => proxy::from_environment(&server, |name| std::env::var(name).ok())?,
    };
    config.auth_info = impersonating(&user.impersonate)?;
    config.connect_timeout = Some(target.request_timeout.map_or(TIMEOUT, |t| t.min(TIMEOUT)));
    // Timeouts and retries are handled in `connection`.
    config.read_timeout = None;
    config.default_retry = false;
    // As in client-go, nothing of the user's is read, run or sent without TLS.
    if server.scheme() != Some(&Scheme::HTTPS) {
        let impersonate = user.impersonate.clone();
        let are_withheld = user != User { impersonate, ..User::default() };
        return Ok(Configuration { config, credentials: Credentials::none(), are_withheld });
    }
    let authority = content(&cluster.authority, "certificate-authority")?;
    if cluster.insecure_skip_tls_verify && authority.is_some() {
        return Err(Error::unreachable(
            "a certificate authority has no effect if the server's certificate is not verified",
            "give either a certificate authority or insecure-skip-tls-verify",
        ));
    }
    config.root_cert = authority.as_deref().map(certificates).transpose()?;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify;
    config.tls_server_name.clone_from(&cluster.tls_server_name);
    if let Some(Err(error)) = &user.plugin {
        return Err(cannot_be_used(error));
    }
    let info = plugin_info(&cluster, &server, authority.as_deref());
    let policy = match &user.plugin {
        Some(_) => kuberc::read(target.kuberc.as_deref()).map_err(|error| refused(&error))?.preference.policy,
        None => PluginPolicy::default(),
    };
    let credentials = Credentials::for_user(&user, &policy, info, limit).await?;
    if let Some((certificate, key)) = identity(&user, &credentials)? {
        config.auth_info.client_certificate_data = Some(Encoding::Standard.encode(&certificate));
        config.auth_info.client_key_data = Some(Encoding::Standard.encode(&key).into());
    }
    Ok(Configuration { config, credentials, are_withheld: false })
}

/// The merged kubeconfig. A missing file in the list `KUBECONFIG` counts as empty, as in kubectl.
fn merged(target: &ClusterFlags) -> Result<Kubeconfig, Error> {
    let mut all = Kubeconfig::default();
    for file in files(target) {
        if target.kubeconfig.is_none() && !file.exists() {
            continue;
        }
        let cannot_read = |error: &dyn std::error::Error| {
            let message = format!("the kubeconfig {} cannot be read: {error}", file.display());
            Error::unreachable(message, "correct it, or give another one with --kubeconfig")
        };
        let text = std::fs::read(&file).map_err(|e| cannot_read(&e))?;
        let dir = file.parent().unwrap_or(Path::new(""));
        all.merge(Kubeconfig::decode(&text, dir).map_err(|e| cannot_read(&e))?);
    }
    Ok(all)
}

/// Selects context, cluster and user, and applies the flags.
fn selected(all: &Kubeconfig, target: &ClusterFlags, account: &ServiceAccount) -> Result<(Cluster, User), Error> {
    let named = target.context.as_ref().or(all.current_context.as_ref());
    let context = match named {
        Some(name) => {
            let found = find(&all.contexts, name);
            // With `--server`, kubectl tolerates a cluster that the kubeconfig lacks.
            if found.is_none() && (target.context.is_some() || target.server.is_none()) {
                return Err(missing("context", name, &all.contexts));
            }
            found.cloned().unwrap_or_default()
        }
        None => Context::default(),
    };
    let cluster_name = target.cluster.as_deref().unwrap_or(&context.cluster);
    let cluster = find(&all.clusters, cluster_name);
    if cluster.is_none() && (target.cluster.is_some() || (target.server.is_none() && !cluster_name.is_empty())) {
        return Err(missing("cluster", cluster_name, &all.clusters));
    }
    let user_name = target.user.as_deref().unwrap_or(&context.user);
    let user = find(&all.users, user_name);
    if user.is_none() && target.user.is_some() {
        return Err(missing("user", user_name, &all.users));
    }
    let (mut cluster, mut user) = (cluster.cloned().unwrap_or_default(), user.cloned().unwrap_or_default());
    // The token of the service account is for the pod's own cluster only, never for another server.
    if cluster.server.is_none()
        && target.server.is_none()
        && let Some(own) = account.server()
    {
        cluster.server = Some(own.into());
        cluster.authority = Pem { file: Some(account.file("ca.crt")), data: None };
        user.token_file = Some(account.file("token"));
    }
    over_cluster(&mut cluster, target)?;
    over_user(&mut user, target);
    Ok((cluster, user))
}

fn find<'a, T>(all: &'a [(String, T)], name: &str) -> Option<&'a T> {
    all.iter().find(|(other, _)| other == name).map(|(_, item)| item)
}

fn missing<T>(what: &str, name: &str, existing: &[(String, T)]) -> Error {
    let mut existing: Vec<&str> = existing.iter().map(|(name, _)| name.as_str()).collect();
    existing.sort_unstable();
    let help = match existing.as_slice() {
        [] => "choose one with --kubeconfig, --context or --server".to_owned(),
        some => format!("the kubeconfig has {}", some.join(", ")),
    };
    Error::unreachable(format!("{what} \"{name}\" does not exist"), help)
}

/// Applies the flags that describe the cluster.
fn over_cluster(cluster: &mut Cluster, target: &ClusterFlags) -> Result<(), Error> {
    if let Some(server) = &target.server {
        cluster.server = Some(server.clone().into());
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
        cluster.insecure_skip_tls_verify = target.insecure_skip_tls_verify;
        cluster.authority = Pem { file: target.certificate_authority.clone(), data: None };
    }
    Ok(())
}

/// Applies the flags that describe the user.
fn over_user(user: &mut User, target: &ClusterFlags) {
    if let Some(token) = &target.token {
        // `--token` overrides every other credential except client certificates.
        let User { certificate, key, impersonate, .. } = std::mem::take(user);
        *user = User { token: Some(token.clone()), certificate, key, impersonate, ..User::default() };
    }
    if let Some(file) = &target.client_certificate {
        user.certificate = Pem { file: Some(file.clone()), data: None };
    }
    if let Some(file) = &target.client_key {
        user.key = Pem { file: Some(file.clone()), data: None };
    }
    if target.as_user.is_some() {
        user.impersonate.user.clone_from(&target.as_user);
    }
    if !target.as_groups.is_empty() {
        user.impersonate.groups.clone_from(&target.as_groups);
    }
    if target.as_uid.is_some() {
        user.impersonate.uid.clone_from(&target.as_uid);
    }
}

/// Parses a server's URL; the default scheme is http, as in kubectl. Errors do not repeat it, because it may contain a
/// password.
fn url(server: &str) -> Result<Uri, Error> {
    let full = if server.contains("://") { server.to_owned() } else { format!("http://{server}") };
    let cannot_be_used =
        |reason: &str| Error::unreachable(format!("the server {reason}"), "write it as https://HOST:PORT");
    let url: Uri = full.parse().map_err(|e| cannot_be_used(&format!("is not a URL: {e}")))?;
    if !proxy::has_address(&url) {
        return Err(cannot_be_used("is not a URL: its host or port is invalid"));
    }
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return Err(cannot_be_used("has a URL that is neither http nor https"));
    }
    if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(cannot_be_used("has a URL with a user name or a password"));
    }
    Ok(url)
}

/// The content of a file or of the kubeconfig.
fn content(pem: &Pem, field: &str) -> Result<Option<Vec<u8>>, Error> {
    match (&pem.data, &pem.file) {
        (Some(data), _) => Ok(Some(data.clone())),
        (None, None) => Ok(None),
        (None, Some(file)) => std::fs::read(file)
            .map(Some)
            .map_err(|e| Error::unreachable(format!("the {field} {} cannot be read: {e}", file.display()), CHECK)),
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let each = CertificateDer::pem_slice_iter(pem).map(|one| one.map(|der| der.to_vec()));
    match each.collect::<Result<Vec<_>, _>>() {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(Error::unreachable("the certificate-authority contains no certificate in PEM format", CHECK)),
    }
}

/// A client certificate and its key, in PEM.
type Identity = (Vec<u8>, Vec<u8>);

/// The client certificate and its key, of the user or of its plugin.
fn identity(user: &User, credentials: &Credentials) -> Result<Option<Identity>, Error> {
    if let Some((certificate, key)) = &credentials.identity {
        return Ok(Some((certificate.clone(), key.expose().as_bytes().to_vec())));
    }
    match (content(&user.certificate, "client-certificate")?, content(&user.key, "client-key")?) {
        (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
        (Some(_), None) => Err(Error::unreachable("the user has a client-certificate but no client-key", CHECK)),
        // As in client-go, a key alone has no effect.
        (None, _) => Ok(None),
    }
}

/// The impersonation headers, which are not credentials.
fn impersonating(impersonate: &Impersonate) -> Result<AuthInfo, Error> {
    let Impersonate { user, uid, groups, extra } = impersonate;
    if user.is_none() && (uid.is_some() || !groups.is_empty() || !extra.is_empty()) {
        return Err(Error::unreachable("groups and a UID can be impersonated only with a user", "give --as, too"));
    }
    Ok(AuthInfo {
        impersonate: user.clone(),
        impersonate_uid: uid.clone(),
        impersonate_groups: Some(groups.clone()).filter(|groups| !groups.is_empty()),
        impersonate_user_extra: Some(extra.iter().cloned().collect()),
        ..AuthInfo::default()
    })
}

/// What a credential plugin is told about the cluster.
fn plugin_info(cluster: &Cluster, server: &Uri, authority: Option<&[u8]>) -> Value {
    let mut info = object([("server", server.to_string())]);
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            info.insert_at(&[key], value);
        }
    };
    add("tls-server-name", cluster.tls_server_name.as_deref().map(Value::from));
    add("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify.then_some(Value::Bool(true)));
    add("certificate-authority-data", authority.map(|pem| Encoding::Standard.encode(pem).into()));
    add("proxy-url", cluster.proxy_url.as_ref().map(Secret::expose).map(Value::from));
    add("config", cluster.plugin_config.clone());
    info
}

fn refused(error: &kuberc::KubercError) -> Error {
    Error::unreachable(error.to_string(), "correct it, give another file with --kuberc, or set KUBERC=off")
}

fn cannot_be_used(error: &FieldError) -> Error {
    Error::unreachable(format!("the kubeconfig cannot be used: {error}"), CHECK)
}

/// Explains why kube rejected a configuration. Its own messages may repeat parts of it.
pub fn unusable(error: &kube::Error) -> Error {
    let (message, help) = match error {
        kube::Error::RustlsTls(_) => (
            "the client-certificate or the client-key cannot be used",
            "give both in PEM format, and the key that belongs to the certificate",
        ),
        kube::Error::HttpError(_) => (
            "the user, group, UID or extra field to impersonate cannot be sent in a header",
            "correct --as, --as-group and --as-uid, or the kubeconfig",
        ),
        _ => ("the cluster's configuration cannot be used", "check the certificates and the proxy in the kubeconfig"),
    };
    Error::unreachable(message, help)
}

#[cfg(test)]
mod tests;
