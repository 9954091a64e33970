//! The `Authorization` header: a token, a token in a file, a user name and password, or the token of a credential plugin.

use super::Error;
use super::kubeconfig::{Plugin, User};
use super::kuberc::{PluginPolicy, PolicyError};
use super::plugin::{Credential, PluginError};
use super::secret::Secret;
use crdx_value::Value;
use crdx_value::base64::Encoding;
use crdx_value::time::Timestamp;
use http::HeaderValue;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// How long the content of a token file is used, as in client-go.
const FILE_AGE: Duration = Duration::from_secs(50);
const LOG_IN: &str = "run it by hand, log in again, or choose another user with --user or --context";

/// Why there is no `Authorization` header.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// A token cannot be sent in a header.
    #[error("the token {source_name} contains a line break, or a character that is not ASCII")]
    Token {
        /// Where the token is from.
        source_name: String,
    },
    /// The token file has no token.
    #[error("the token file {} is empty", file.display())]
    EmptyFile { file: PathBuf },
    /// The token file cannot be read.
    #[error("the token file {} cannot be read: {cause}", file.display())]
    File { file: PathBuf, cause: std::io::Error },
    /// The credential plugin may not run.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The credential plugin failed.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// An authentication provider that is not supported.
    #[error("the user's auth-provider is not supported: only oidc with an id-token is")]
    Provider,
    /// More than one way to prove the identity.
    #[error("the user has a token and also a user name: only one may be given")]
    TwoWays,
    /// The thread that reads credentials failed.
    #[error("the credentials cannot be read")]
    Thread,
}

impl From<CredentialsError> for Error {
    fn from(error: CredentialsError) -> Self {
        let help = match &error {
            CredentialsError::Plugin(PluginError::Late { .. }) => {
                "run it by hand, or give it more time with --request-timeout"
            }
            CredentialsError::Plugin(PluginError::NoTerminal { .. }) => {
                "give the objects as files instead of standard input, or log in by hand first"
            }
            CredentialsError::Policy(_) => {
                "kubectl would not run it, either: correct the kuberc, or choose another user with --user or --context"
            }
            CredentialsError::Plugin(_) => LOG_IN,
            _ => "log in again, or choose another user with --user or --context",
        };
        Self::unreachable(error.to_string(), help)
    }
}

/// The source of the header.
enum TokenSource {
    Nothing,
    Fixed(HeaderValue),
    File { file: PathBuf, last: Arc<Mutex<Last<Instant>>> },
    Plugin { plugin: Arc<Plugin>, cluster: Value, limit: Duration, last: Mutex<Last<Timestamp>> },
}

/// The last header, and when it was read or when it expires.
struct Last<T> {
    header: Option<HeaderValue>,
    time: Option<T>,
}

/// The credentials of a user.
pub struct Credentials {
    source: TokenSource,
    /// The certificate and key that a plugin printed, in PEM.
    pub identity: Option<(Vec<u8>, Secret)>,
}

impl Credentials {
    /// No credentials.
    pub fn none() -> Self {
        Self { source: TokenSource::Nothing, identity: None }
    }

    /// Reads the credentials of a user, in client-go's order of precedence. May run the user's plugin if
    /// `policy` permits it; `cluster` is given to it.
    pub async fn for_user(
        user: &User,
        policy: &PluginPolicy,
        cluster: Value,
        limit: Duration,
    ) -> Result<Self, CredentialsError> {
        let only = |source| Self { source, identity: None };
        let name = user.username.as_deref().filter(|name| !name.is_empty());
        if name.is_some() && (user.token.is_some() || user.token_file.is_some()) {
            return Err(CredentialsError::TwoWays);
        }
        if let Some(file) = &user.token_file {
            match read(file) {
                Ok(header) => {
                    let last = Last { header: Some(header), time: Some(Instant::now()) };
                    return Ok(only(TokenSource::File { file: file.clone(), last: Arc::new(Mutex::new(last)) }));
                }
                // As in client-go, `token` is used if the file cannot be read.
                Err(_) if user.token.is_some() => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(token) = &user.token {
            return Ok(only(TokenSource::Fixed(bearer(token.expose(), "of the user")?)));
        }
        if let Some(name) = name {
            let password = user.password.as_ref().map_or("", Secret::expose);
            return Ok(only(TokenSource::Fixed(basic(name, password)?)));
        }
        if let Some(provider) = &user.provider {
            let token = provider.id_token.as_ref().filter(|_| provider.name == "oidc");
            let token = token.ok_or(CredentialsError::Provider)?;
            return Ok(only(TokenSource::Fixed(bearer(token.expose(), "of the user's auth-provider")?)));
        }
        match &user.plugin {
            // As in client-go, a plugin is not run if there is a client certificate.
            Some(Ok(plugin)) if user.certificate.is_empty() => {
                let command = policy.permit(&plugin.command)?;
                let plugin = Arc::new(Plugin { command, ..plugin.clone() });
                let (credential, header) = run(&plugin, &cluster, limit).await?;
                let last = Mutex::new(Last { header, time: credential.expires });
                let source = TokenSource::Plugin { plugin, cluster, limit, last };
                Ok(Self { source, identity: credential.identity })
            }
            _ => Ok(Self::none()),
        }
    }

    /// The header for a request. A token that has expired is renewed first.
    pub async fn header(&self) -> Result<Option<HeaderValue>, CredentialsError> {
        match &self.source {
            TokenSource::Nothing => Ok(None),
            TokenSource::Fixed(header) => Ok(Some(header.clone())),
            TokenSource::File { file, last } => {
                let mut last = last.lock().await;
                if last.time.is_none_or(|time| time.elapsed() > FILE_AGE) {
                    let file = file.clone();
                    // As in client-go, the last token is used while the file cannot be read.
                    if let Ok(Ok(header)) = spawn_blocking(move || read(&file)).await {
                        last.header = Some(header);
                    }
                    last.time = Some(Instant::now());
                }
                Ok(last.header.clone())
            }
            TokenSource::Plugin { plugin, cluster, limit, last } => {
                let mut last = last.lock().await;
                if last.header.is_some() && last.time.is_some_and(|time| now() > time) {
                    let (credential, header) = run(plugin, cluster, *limit).await?;
                    *last = Last { header, time: credential.expires };
                }
                Ok(last.header.clone())
            }
        }
    }
}

/// Runs a plugin. Waiting for it blocks a thread.
async fn run(
    plugin: &Arc<Plugin>,
    cluster: &Value,
    limit: Duration,
) -> Result<(Credential, Option<HeaderValue>), CredentialsError> {
    let (running, waiting) = plugin.start(cluster)?;
    let plugin = Arc::clone(plugin);
    let credential = spawn_blocking(move || plugin.finish(waiting, limit)).await;
    // Without the answer, as after the time limit of the request, this future is dropped, and the plugin with it.
    drop(running);
    let credential = credential.map_err(|_| CredentialsError::Thread)??;
    let header =
        credential.token.as_ref().map(|token| bearer(token.expose(), "of the credential plugin")).transpose()?;
    Ok((credential, header))
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanos: since.subsec_nanos() }
}

/// The header for the token in a file, whose white space at both ends is ignored.
fn read(file: &Path) -> Result<HeaderValue, CredentialsError> {
    let text = std::fs::read(file).map_err(|cause| CredentialsError::File { file: file.to_owned(), cause })?;
    let source = || format!("in {}", file.display());
    let text = std::str::from_utf8(&text).map_err(|_| CredentialsError::Token { source_name: source() })?;
    match text.trim() {
        "" => Err(CredentialsError::EmptyFile { file: file.to_owned() }),
        token => bearer(token, &source()),
    }
}

fn bearer(token: &str, source_name: &str) -> Result<HeaderValue, CredentialsError> {
    header(&format!("Bearer {token}")).ok_or_else(|| CredentialsError::Token { source_name: source_name.to_owned() })
}

fn basic(name: &str, password: &str) -> Result<HeaderValue, CredentialsError> {
    let both = Encoding::Standard.encode(format!("{name}:{password}").as_bytes());
    header(&format!("Basic {both}")).ok_or_else(|| CredentialsError::Token { source_name: "of the user".to_owned() })
}

fn header(text: &str) -> Option<HeaderValue> {
    let is_printable = text.bytes().all(|b| matches!(b, b' '..=b'~'));
    let mut value = HeaderValue::from_str(text).ok().filter(|_| is_printable)?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::GoError;

    fn authorization(user: &User) -> Result<Option<String>, GoError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let credentials =
                Credentials::for_user(user, &PluginPolicy::default(), Value::Null, Duration::from_secs(9)).await;
            let header = credentials.map_err(|e| format!("{e} {e:?}"))?.header().await.unwrap();
            Ok(header.map(|header| header.to_str().unwrap().to_owned()))
        })
    }

    fn token(text: &str) -> User {
        User { token: Some(Secret::from(text.to_owned())), ..User::default() }
    }

    #[test]
    fn a_token_that_no_header_can_have_is_an_error_without_it() {
        assert_eq!(authorization(&token("abc")), Ok(Some("Bearer abc".to_owned())));
        assert_eq!(authorization(&User::default()), Ok(None));
        for text in
            ["canary\n", "can\r\nary", "canary\u{e9}", "canary\u{0}", "canary\u{7f}", "\tcanary", "canary\u{2028}"]
        {
            let error = authorization(&token(text)).unwrap_err();
            let error = error.as_str();
            assert!(!error.contains("canary") && !error.contains("ary"), "{error}");
            assert!(error.starts_with("the token of the user contains a line break"), "{error}");
        }
    }

    #[test]
    fn a_token_file_is_trimmed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let user = User { token_file: Some(file.clone()), ..User::default() };
        for (text, want) in [("abc\n", "Bearer abc"), ("\r\n  abc \n\n", "Bearer abc")] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(authorization(&user), Ok(Some(want.to_owned())));
        }
        for text in [&b" \n"[..], b"canary\nbird", b"canary\xff", "can\u{e9}ry".as_bytes()] {
            std::fs::write(&file, text).unwrap();
            let error = authorization(&user).unwrap_err();
            let error = error.as_str();
            assert!(!error.contains("canary") && error.contains("token"), "{error}");
        }
        // The file takes precedence over the token, which is used while the file cannot be read.
        let both = User { token_file: Some(file.clone()), ..token("other") };
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(authorization(&both), Ok(Some("Bearer abc".to_owned())));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(authorization(&both), Ok(Some("Bearer other".to_owned())));
        assert!(authorization(&user).unwrap_err().as_str().contains("cannot be read"));
    }

    #[test]
    fn the_way_to_prove_the_identity_is_chosen_as_by_client_go() {
        let plugin = || Some(Ok(Plugin { command: "/nonexistent/login".into(), ..Plugin::default() }));
        let basic = User { username: Some("u".to_owned()), password: Some("p".to_owned().into()), ..User::default() };
        assert_eq!(authorization(&User { plugin: plugin(), ..basic.clone() }), Ok(Some("Basic dTpw".to_owned())));
        assert_eq!(authorization(&User { plugin: plugin(), ..token("t") }), Ok(Some("Bearer t".to_owned())));
        assert!(
            authorization(&User { token: token("canary").token, ..basic })
                .unwrap_err()
                .as_str()
                .starts_with("the user has a token and")
        );
        let mut certified = User { plugin: plugin(), ..User::default() };
        assert!(authorization(&certified).unwrap_err().as_str().contains("/nonexistent/login cannot be started"));
        certified.certificate.data = Some(vec![1]);
        assert_eq!(authorization(&certified), Ok(None));
    }
}
