//! Charts and artifacts in registries, as the distribution specification of OCI describes them: the manifest of a tag or digest, and
//! the layer with the files.

use super::{DownloadError, DownloadResponse, DownloadUrl};
use crdx_files::digest::{is_sha256, sha256};
use crdx_input::remote::url::is_http;
use crdx_text::json;
use crdx_value::Value;
use http::header::HeaderValue;
use std::fmt::Write as _;

/// The media types of manifests. An index is named so that the registry does not choose an entry itself.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json";

/// The media types of the layers of charts and of the artifacts of Flux.
const LAYERS: [&str; 2] =
    ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/vnd.cncf.flux.content.v1.tar+gzip"];

/// The reason why a registry has nothing to use at a reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("it is no reference with a tag or digest")]
    Reference,
    #[error("{0} requires a login in a way that is not supported")]
    Challenge(String),
    #[error("the manifest is not valid")]
    Manifest,
    #[error("it is an index of several images")]
    Index,
    #[error("it has no layer with a chart or an artifact")]
    NoLayer,
    #[error("the content does not have the digest {0}")]
    Digest(String),
}

impl RegistryError {
    /// The next step for the user.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Reference => "write it as oci://HOST/REPOSITORY:TAG or oci://HOST/REPOSITORY@sha256:DIGEST",
            Self::Challenge(_) => "pull it yourself (helm pull, flux pull artifact), and name the file",
            Self::Index | Self::NoLayer => "name a chart, or an artifact that `flux push artifact` made",
            Self::Manifest | Self::Digest(_) => "find out what the registry has there",
        }
    }
}

/// A reference to a chart or an artifact.
#[derive(Debug, PartialEq, Eq)]
struct Reference<'a> {
    /// `USER:PASSWORD@`, or nothing.
    user: &'a str,
    host: &'a str,
    repository: &'a str,
    /// A tag or a digest.
    version: &'a str,
}

impl<'a> Reference<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (_, rest) = url.split_once("://")?;
        let (authority, path) = rest.split_once('/')?;
        let at = authority.rfind('@').map_or(0, |at| at + 1);
        let (user, host) = authority.split_at_checked(at)?;
        let (repository, version) = match path.split_once('@') {
            // A tag beside a digest says nothing more.
            Some((name, digest)) => (name.rsplit_once(':').map_or(name, |(name, _)| name), digest),
            None => path.rsplit_once(':')?,
        };
        let is_name = |text: &str, more: &[u8]| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
        };
        let is_valid = match version.split_once(':') {
            Some((algorithm, hash)) => algorithm == "sha256" && is_sha256(hash),
            None => is_name(version, b"._-+"),
        };
        (is_valid && !host.is_empty() && is_name(repository, b"._-/")).then_some(Self {
            user,
            host,
            repository,
            version,
        })
    }

    /// The scheme of requests: as for other clients, `http` for this machine only.
    fn scheme(&self) -> &'static str {
        let name = self.host.strip_prefix('[').map_or_else(
            || self.host.split(':').next().unwrap_or_default(),
            |rest| rest.split(']').next().unwrap_or_default(),
        );
        if matches!(name, "localhost" | "127.0.0.1" | "::1") { "http" } else { "https" }
    }

    fn url(&self, part: &str) -> Result<DownloadUrl, DownloadError> {
        // A tag has `_` where the version of a chart has `+`.
        let part = part.replace('+', "_");
        DownloadUrl::parse(&format!("{}://{}{}/v2/{}/{part}", self.scheme(), self.user, self.host, self.repository))
    }
}

/// Downloads the layer with the files of a chart or an artifact.
pub async fn get(url: &str) -> Result<Vec<u8>, DownloadError> {
    let reference = Reference::parse(url).ok_or(RegistryError::Reference)?;
    let mut token = None;
    let manifest = reference.url(&format!("manifests/{}", reference.version))?;
    let manifest = ask(&reference, DownloadUrl { accept: Some(MANIFESTS), ..manifest }, &mut token).await?;
    if reference.version.contains(':') {
        verify(&manifest, reference.version)?;
    }
    let digest = layer(&manifest)?;
    let blob = ask(&reference, reference.url(&format!("blobs/{digest}"))?, &mut token).await?;
    verify(&blob, &digest)?;
    Ok(blob)
}

/// Sends a request, with a token if the registry demands one.
async fn ask(
    reference: &Reference<'_>,
    target: DownloadUrl,
    token: &mut Option<HeaderValue>,
) -> Result<Vec<u8>, DownloadError> {
    let again = DownloadUrl { url: target.url.clone(), authorization: None, accept: target.accept };
    let target = DownloadUrl { authorization: token.clone().or(target.authorization.clone()), ..target };
    let challenge = match target.follow().await? {
        DownloadResponse::Content(content) => return Ok(content),
        DownloadResponse::Challenge(challenge) => challenge,
        DownloadResponse::Redirect(_) => return Err(DownloadError::TooManyRedirects),
    };
    let unsupported = || RegistryError::Challenge(reference.host.to_owned());
    let url = token_url(&challenge, reference).ok_or_else(unsupported)?;
    let answer = DownloadUrl::parse(&url)?.get().await?;
    let answer = json::read(&answer).map_err(|_| unsupported())?;
    let text = answer.str_at(&["token"]).or(answer.str_at(&["access_token"])).ok_or_else(unsupported)?;
    let mut header = HeaderValue::from_str(&format!("Bearer {text}"))?;
    header.set_sensitive(true);
    *token = Some(header.clone());
    DownloadUrl { authorization: Some(header), ..again }.get().await
}

/// Returns the URL that gives a token (`Bearer realm="…",service="…",scope="…"`). The user and password of the reference are sent to
/// its own host only.
fn token_url(challenge: &str, reference: &Reference<'_>) -> Option<String> {
    let (scheme, parameters) = challenge.split_once(' ')?;
    let value = |name: &str| {
        let start = parameters.find(&format!("{name}=\""))? + name.len() + 2;
        parameters.get(start..)?.split('"').next()
    };
    let realm = value("realm").filter(|realm| scheme.eq_ignore_ascii_case("bearer") && is_http(realm))?;
    let (realm_scheme, rest) = realm.split_once("://")?;
    let is_secure = realm_scheme.eq_ignore_ascii_case("https") || reference.scheme() == "http";
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    if !is_secure || host.contains('@') {
        return None;
    }
    let user = if host.eq_ignore_ascii_case(reference.host) { reference.user } else { "" };
    let mut url = format!("{realm_scheme}://{user}{rest}");
    for name in ["service", "scope"] {
        if let Some(value) = value(name) {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.extend([name, "=", &encoded(value)]);
        }
    }
    Some(url)
}

/// Encodes a value of a query.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/,".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Returns the digest of the layer with the files.
fn layer(manifest: &[u8]) -> Result<String, RegistryError> {
    let manifest = json::read(manifest).map_err(|_| RegistryError::Manifest)?;
    if manifest.get("manifests").is_some() {
        return Err(RegistryError::Index);
    }
    let layers = manifest.get("layers").and_then(Value::as_array).ok_or(RegistryError::Manifest)?;
    let of_type = |layer: &&Value| layer.str_at(&["mediaType"]).is_some_and(|own| LAYERS.contains(&own));
    let is_archive = |layer: &&Value| layer.str_at(&["mediaType"]).is_some_and(|own| own.ends_with("tar+gzip"));
    let only = || match layers {
        [only] => Some(only).filter(is_archive),
        _ => None,
    };
    let layer = layers.iter().find(of_type).or_else(only).ok_or(RegistryError::NoLayer)?;
    let digest = layer.str_at(&["digest"]).unwrap_or_default();
    let is_valid = digest.strip_prefix("sha256:").is_some_and(is_sha256);
    if is_valid { Ok(digest.to_owned()) } else { Err(RegistryError::Manifest) }
}

fn verify(content: &[u8], digest: &str) -> Result<(), RegistryError> {
    let is_same = digest.strip_prefix("sha256:").is_some_and(|hash| hash == sha256(content));
    if is_same { Ok(()) } else { Err(RegistryError::Digest(digest.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_tag_or_a_digest() {
        let parts =
            |url: &'static str| Reference::parse(url).map(|found| (found.host, found.repository, found.version));
        assert_eq!(parts("oci://ghcr.io/org/charts/app:1.2.3"), Some(("ghcr.io", "org/charts/app", "1.2.3")));
        assert_eq!(parts("oci://me:secret@localhost:5000/app:v1"), Some(("localhost:5000", "app", "v1")));
        let digest = format!("sha256:{}", "a".repeat(64));
        let url: &'static str = format!("oci://h/a:1@{digest}").leak();
        assert_eq!(parts(url).map(|(.., version)| version.to_owned()), Some(digest));
        for wrong in ["oci://h/app", "oci://h", "oci:///app:1", "oci://h/app:", "oci://h/a b:1", "oci://h/a@sha256:12"]
        {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_this_machine_is_asked_without_tls() {
        let scheme = |url: &str| Reference::parse(url).unwrap().scheme();
        assert_eq!((scheme("oci://127.0.0.1:5000/a:1"), scheme("oci://localhost/a:1")), ("http", "http"));
        assert_eq!((scheme("oci://localhost.example.com/a:1"), scheme("oci://[::1]:5000/a:1")), ("https", "http"));
    }

    #[test]
    fn a_password_is_sent_to_the_host_of_the_reference_only() {
        let reference = Reference::parse("oci://me:secret@h.example/a:1").unwrap();
        let url = |realm: &str| {
            token_url(&format!("Bearer realm=\"{realm}\",service=\"s s\",scope=\"repository:a:pull\""), &reference)
        };
        let query = "?service=s%20s&scope=repository:a:pull";
        assert_eq!(url("https://h.example/token"), Some(format!("https://me:secret@h.example/token{query}")));
        assert_eq!(url("https://other/token"), Some(format!("https://other/token{query}")));
        assert_eq!((url("http://h.example/token"), url("https://a@h.example/token"), url("x")), (None, None, None));
        assert_eq!(token_url("Basic realm=\"r\"", &reference), None);
    }

    #[test]
    fn the_layer_with_the_files_is_chosen() {
        let digest = format!("sha256:{}", "b".repeat(64));
        let layer = |kind: &str| format!("{{\"mediaType\":\"{kind}\",\"digest\":\"{digest}\"}}");
        let of = |layers: &[String]| super::layer(format!("{{\"layers\":[{}]}}", layers.join(",")).as_bytes());
        let chart = layer(LAYERS[0]);
        assert_eq!(of(&[layer("application/vnd.cncf.helm.chart.provenance.v1.prov"), chart]), Ok(digest.clone()));
        assert_eq!(of(&[layer("application/vnd.oci.image.layer.v1.tar+gzip")]), Ok(digest.clone()));
        assert_eq!(of(&[layer("a"), layer("b")]), Err(RegistryError::NoLayer));
        assert_eq!(super::layer(b"{\"manifests\":[]}"), Err(RegistryError::Index));
        assert_eq!(super::layer(b"{"), Err(RegistryError::Manifest));
    }
}
