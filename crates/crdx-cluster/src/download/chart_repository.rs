//! Charts in repositories of charts: the file `index.yaml` says where each version is.

use super::{DownloadError, DownloadUrl, registry};
use crdx_files::digest::sha256;
use crdx_input::remote::url::{self, UrlKind};
use crdx_text::yaml;
use crdx_value::Value;

/// The reason why a repository does not give a chart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    #[error("it is not helm+https://HOST/PATH/NAME@VERSION")]
    Form,
    #[error("the index of the repository is not valid")]
    Index,
    #[error("the repository has no chart {0}")]
    NoChart(String),
    #[error("the repository has no version {version} of {chart}; the newest is {newest}")]
    NoVersion { chart: String, version: String, newest: String },
    #[error("the index names a URL without TLS, and has no digest to verify")]
    NotVerified,
    #[error("the chart does not have the digest of the index")]
    Digest,
}

/// A chart of a repository.
#[derive(Debug, PartialEq, Eq)]
struct ChartReference<'a> {
    /// The URL of the repository, without a slash at the end.
    repository: &'a str,
    name: &'a str,
    version: &'a str,
}

/// The place of a version of a chart.
#[derive(Debug, PartialEq, Eq)]
struct ChartLocation {
    url: String,
    digest: Option<String>,
}

impl<'a> ChartReference<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (repository, chart) = url.get("helm+".len()..)?.rsplit_once('/')?;
        let (name, version) = chart.split_once('@')?;
        let is_valid = !name.is_empty() && !version.is_empty() && repository.contains("://");
        is_valid.then_some(Self { repository, name, version })
    }

    /// Finds the chart in an index. A version may be given without its `v`, as Helm allows.
    fn find(&self, index: &Value) -> Result<ChartLocation, RepositoryError> {
        let entries = index.get("entries").and_then(Value::as_object).ok_or(RepositoryError::Index)?;
        let missing = || RepositoryError::NoChart(self.name.to_owned());
        let versions = entries.get(self.name).and_then(Value::as_array).ok_or_else(missing)?;
        let plain = |version: &str| version.trim_start_matches('v').to_owned();
        let version_of = |entry: &Value| entry.str_at(&["version"]).unwrap_or_default().to_owned();
        let is_it = |entry: &&Value| plain(&version_of(entry)) == plain(self.version);
        let Some(found) = versions.iter().find(is_it) else {
            let newest = versions.first().map(version_of).unwrap_or_default();
            let (chart, version) = (self.name.to_owned(), self.version.to_owned());
            return Err(RepositoryError::NoVersion { chart, version, newest });
        };
        let first = found.get("urls").and_then(Value::as_array).and_then(<[Value]>::first).and_then(Value::as_str);
        let url = self.absolute(first.ok_or(RepositoryError::Index)?);
        let digest = found.str_at(&["digest"]).map(|digest| digest.trim_start_matches("sha256:").to_owned());
        Ok(ChartLocation { url, digest })
    }

    /// Returns a URL of the index, which may be relative to that of the repository. The user and password of the repository are sent
    /// to its own host only.
    fn absolute(&self, found: &str) -> String {
        let Some((scheme, rest)) = self.repository.split_once("://") else { return found.to_owned() };
        let authority = rest.split('/').next().unwrap_or_default();
        if !url::is_url(found) {
            let is_rooted = found.starts_with('/');
            return if is_rooted {
                format!("{scheme}://{authority}{found}")
            } else {
                format!("{}/{found}", self.repository)
            };
        }
        let host = authority.rsplit('@').next().unwrap_or_default();
        match found.strip_prefix(&format!("{scheme}://{host}/")) {
            Some(path) => format!("{scheme}://{authority}/{path}"),
            None => found.to_owned(),
        }
    }
}

/// Returns true for a URL of `http`, in any spelling.
fn is_plain(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("http"))
}

/// Downloads a chart.
pub async fn get(url: &str) -> Result<Vec<u8>, DownloadError> {
    let reference = ChartReference::parse(url).ok_or(RepositoryError::Form)?;
    let index = DownloadUrl::parse(&format!("{}/index.yaml", reference.repository))?.get().await?;
    let index = yaml::read(&index).map_err(|_| RepositoryError::Index)?;
    let ChartLocation { url, digest } = reference.find(&index)?;
    if digest.is_none() && is_plain(&url) && !is_plain(reference.repository) {
        return Err(RepositoryError::NotVerified.into());
    }
    let content = match url::kind(&url) {
        Some(UrlKind::Registry) => registry::get(&url).await?,
        _ => DownloadUrl::parse(&url)?.get().await?,
    };
    match digest {
        Some(digest) if digest != sha256(&content) => Err(RepositoryError::Digest.into()),
        _ => Ok(content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_found_by_name_and_version() {
        let index = yaml::read(
            b"entries:\n  app:\n  - {version: v1.3.0, urls: ['https://h/app-1.3.0.tgz']}\n  - {version: 1.2.0, urls: [app-1.2.0.tgz], digest: abc}\n",
        )
        .unwrap();
        let find = |url: &str| ChartReference::parse(url).unwrap().find(&index);
        let found = find("helm+https://me:secret@h/charts/app@1.2.0").unwrap();
        assert_eq!(found.url, "https://me:secret@h/charts/app-1.2.0.tgz");
        assert_eq!(found.digest.as_deref(), Some("abc"));
        assert_eq!(find("helm+https://me:secret@h/charts/app@1.3.0").unwrap().url, "https://me:secret@h/app-1.3.0.tgz");
        assert_eq!(find("helm+https://me:secret@other/app@1.3.0").unwrap().url, "https://h/app-1.3.0.tgz");
        let newest = "v1.3.0".to_owned();
        let (chart, version) = ("app".to_owned(), "2".to_owned());
        assert_eq!(find("helm+https://h/app@2"), Err(RepositoryError::NoVersion { chart, version, newest }));
        assert_eq!(find("helm+https://h/b@2"), Err(RepositoryError::NoChart("b".to_owned())));
    }

    #[test]
    fn a_rooted_url_begins_at_the_host() {
        let index = yaml::read(b"entries: {app: [{version: 1.2.0, urls: [/files/app.tgz]}]}\n").unwrap();
        let found = ChartReference::parse("helm+https://h/charts/app@1.2.0").unwrap().find(&index).unwrap();
        assert_eq!(found.url, "https://h/files/app.tgz");
    }

    #[test]
    fn the_spelling_of_a_scheme_hides_nothing() {
        assert!(is_plain("HTTP://h/a") && is_plain("http://h/a") && !is_plain("HTTPS://h/a") && !is_plain("a"));
    }

    #[test]
    fn a_reference_has_a_repository_a_name_and_a_version() {
        assert!(ChartReference::parse("helm+https://h/app@1").is_some());
        for wrong in ["helm+https://h/app", "helm+https://h/@1", "helm+https://h/app@", "helm+h@1"] {
            assert_eq!(ChartReference::parse(wrong), None, "{wrong}");
        }
    }
}
