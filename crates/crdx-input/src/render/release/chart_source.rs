//! The source of the chart of a release.

use super::super::repository_path::in_repository;
use super::super::repository_url::{NamedRepository, RepositoryUrls};
use super::super::version_range::{VersionRange, version};
use super::by_name::NameError;
use super::left_out::NotRendered;
use crate::remote::{Remote, url};
use crdx_regexp::Regexp;
use crdx_value::Value;
use semver::Version;
use std::path::{Path, PathBuf};

/// The place of the chart of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartSource {
    /// A path in the `GitRepository` with this namespace and name.
    Git { repository: (String, String), path: PathBuf },
    /// A chart and its versions in the repository with this namespace and name.
    Chart { repository: (String, String), chart: String, range: String },
    /// The artifact of the `OCIRepository` with this namespace and name.
    Artifact((String, String)),
}

/// A source of charts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repository {
    /// The URL of a `HelmRepository`.
    Charts(String),
    /// The URL of a `GitRepository`.
    Git(String),
    /// An `OCIRepository`.
    Artifact { url: String, version: ArtifactVersion },
}

/// The version of an artifact. Flux prefers a digest to a range, and a range to a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArtifactVersion {
    Digest(String),
    /// A range, and a pattern that the tags must match, if it is given.
    Range(String, Option<String>),
    Tag(String),
}

impl ArtifactVersion {
    /// Returns the version of an `OCIRepository`.
    pub fn of(object: &Value) -> Self {
        let given = |member: &str| object.str_at(&["spec", "ref", member]).filter(|text| !text.is_empty());
        let digest = given("digest").map(|digest| Self::Digest(digest.to_owned()));
        let filter = || given("semverFilter").map(str::to_owned);
        let range = || given("semver").map(|range| Self::Range(range.to_owned(), filter()));
        digest.or_else(range).unwrap_or_else(|| Self::Tag(given("tag").unwrap_or("latest").to_owned()))
    }
}

impl ChartSource {
    /// Returns the source that the `spec` of a chart names.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn of_chart(spec: &Value, own_namespace: &str) -> Result<Self, NotRendered> {
        let text = |path: &[&str]| spec.str_at(path).filter(|text| !text.is_empty());
        let chart = text(&["chart"]).unwrap_or_default().to_owned();
        let namespace = text(&["sourceRef", "namespace"]).unwrap_or(own_namespace).to_owned();
        let repository = (namespace, text(&["sourceRef", "name"]).unwrap_or_default().to_owned());
        match text(&["sourceRef", "kind"]) {
            Some("GitRepository") => Ok(Self::Git { repository, path: chart.into() }),
            Some("HelmRepository") => {
                Ok(Self::Chart { repository, chart, range: text(&["version"]).unwrap_or("*").to_owned() })
            }
            _ => Err(NotRendered::UnknownSource),
        }
    }

    /// Returns the directory or the file with the chart. `repository` finds a source of charts; `urls` are those of this
    /// repository; the lock that applies in `directory` has what was fetched.
    ///
    /// # Errors
    /// It is not here.
    pub fn find<'a>(
        &self,
        repository: impl Fn(&str, &str) -> Result<&'a Repository, NameError>,
        urls: &RepositoryUrls,
        directory: Option<&Path>,
    ) -> Result<PathBuf, NotRendered> {
        let repository =
            |(namespace, name): &(String, String)| repository(namespace, name).map_err(NotRendered::Source);
        match self {
            Self::Git { repository: key, path } => match repository(key) {
                Ok(Repository::Git(url)) => match urls.named(url, here(path).is_ok()) {
                    NamedRepository::This => here(path),
                    NamedRepository::Another => Err(NotRendered::AnotherRepository(url.clone())),
                    NamedRepository::Unknown => Err(NotRendered::UnknownRepository(url.clone())),
                },
                // That of the bootstrap of Flux may not be among the files.
                Err(NotRendered::Source(NameError::Missing(_))) => here(path),
                Err(reason) => Err(reason),
                Ok(_) => Err(NotRendered::UnknownSource),
            },
            Self::Chart { repository: key, chart, range } => {
                let Repository::Charts(url) = repository(key)? else { return Err(NotRendered::UnknownSource) };
                newest((chart, &prefix(url, chart)), (range, None), directory)
            }
            Self::Artifact(key) => {
                let Repository::Artifact { url, version } = repository(key)? else {
                    return Err(NotRendered::UnknownSource);
                };
                match version {
                    ArtifactVersion::Digest(digest) => fetched(&format!("{url}@{digest}"), directory),
                    ArtifactVersion::Tag(tag) => fetched(&format!("{url}:{tag}"), directory),
                    ArtifactVersion::Range(range, filter) => {
                        newest((url, &format!("{url}:")), (range, filter.as_deref()), directory)
                    }
                }
            }
        }
    }
}

/// Returns the URL of a chart of a repository, as `fetch` takes it, without its version.
fn prefix(repository: &str, chart: &str) -> String {
    let repository = repository.trim_end_matches('/');
    if repository.starts_with("oci://") {
        format!("{repository}/{chart}:")
    } else {
        format!("helm+{repository}/{chart}@")
    }
}

/// Returns the newest version of a chart in a range that was fetched, of those whose tags match the filter. `prefix` is its URL
/// without the version.
fn newest(
    (chart, prefix): (&str, &str),
    (range, filter): (&str, Option<&str>),
    directory: Option<&Path>,
) -> Result<PathBuf, NotRendered> {
    let pattern = filter;
    let filter = filter.map(Regexp::new).transpose();
    let filter = filter.map_err(|_| NotRendered::NotAFilter(chart.to_owned()))?;
    if is_fixed(range) && filter.as_ref().is_none_or(|filter| filter.is_match(range)) {
        return fetched(&format!("{prefix}{range}"), directory);
    }
    let url = url::name(prefix);
    let wanted = VersionRange::new(range).map_err(|_| NotRendered::NotARange(chart.to_owned(), range.to_owned()))?;
    let known: Vec<String> = Remote::names(directory).unwrap_or_default();
    let newest = newest_of(&known, &url, &wanted, filter.as_ref());
    let condition = pattern.map_or_else(String::new, |pattern| format!(" whose tag matches {pattern}"));
    let missing = || NotRendered::NoVersion { url: prefix.to_owned(), range: format!("{range}{condition}") };
    newest.ok_or_else(missing).and_then(|name| fetched(name, directory))
}

/// Returns the newest of these names whose tag after the URL is a version in the range and matches the filter.
fn newest_of<'a>(known: &'a [String], url: &str, wanted: &VersionRange, filter: Option<&Regexp>) -> Option<&'a String> {
    let has = |tag: &&str| filter.is_none_or(|filter| filter.is_match(tag));
    let tag = |name: &'a String| name.strip_prefix(url).filter(has);
    let versions = known.iter().filter_map(|name| Some((version(tag(name)?)?, name)));
    let newest = versions.filter(|(version, _)| wanted.has(version));
    newest.max_by(|(a, _), (b, _)| Version::cmp_precedence(a, b)).map(|(_, name)| name)
}

/// Returns true for one version, with all three numbers.
fn is_fixed(range: &str) -> bool {
    Version::parse(range.strip_prefix('v').unwrap_or(range)).is_ok()
}

/// Returns the chart at a path of this repository, relative to the working directory.
fn here(path: &Path) -> Result<PathBuf, NotRendered> {
    let chart = in_repository(path);
    let chart = chart.filter(|chart| chart.join("Chart.yaml").is_file());
    chart.ok_or_else(|| NotRendered::NotHere(path.display().to_string()))
}

/// Returns the file of a chart that was fetched.
fn fetched(url: &str, directory: Option<&Path>) -> Result<PathBuf, NotRendered> {
    let missing = || NotRendered::NotFetched(url.to_owned());
    let remote = Remote::find(url, directory).map_err(|_| missing())?;
    remote.read().map_err(|_| missing())?;
    Ok(remote.path().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_chart(spec: &str) -> Result<ChartSource, NotRendered> {
        ChartSource::of_chart(&crdx_text::yaml::read(spec.as_bytes()).unwrap(), "flux")
    }

    #[test]
    fn a_chart_has_a_source() {
        let here = of_chart("{chart: ./charts/web, sourceRef: {kind: GitRepository, name: a}}");
        let repository = ("flux".to_owned(), "a".to_owned());
        assert_eq!(here, Ok(ChartSource::Git { repository, path: "./charts/web".into() }));
        let chart = |namespace: &str, range: &str| ChartSource::Chart {
            repository: (namespace.to_owned(), "a".to_owned()),
            chart: "web".to_owned(),
            range: range.to_owned(),
        };
        let found = of_chart("{chart: web, version: 1.2.3, sourceRef: {kind: HelmRepository, name: a}}");
        assert_eq!(found, Ok(chart("flux", "1.2.3")));
        let found = of_chart("{chart: web, sourceRef: {kind: HelmRepository, name: a, namespace: x}}");
        assert_eq!(found, Ok(chart("x", "*")));
        assert_eq!(of_chart("{sourceRef: {kind: Bucket}}"), Err(NotRendered::UnknownSource));
    }

    #[test]
    fn tags_of_a_range_match_its_filter() {
        let known = ["oci://h/web:1.2.0", "oci://h/web:1.3.0-alpine", "oci://h/web:1.3.0-rc.1", "oci://h/other:1.9.0"];
        let known: Vec<String> = known.map(str::to_owned).to_vec();
        let wanted = VersionRange::new(">=1.0.0-0").unwrap();
        let newest_with = |filter: Option<&str>| {
            let filter = filter.map(|filter| Regexp::new(filter).unwrap());
            newest_of(&known, "oci://h/web:", &wanted, filter.as_ref()).map(String::as_str)
        };
        assert_eq!(newest_with(None), Some("oci://h/web:1.3.0-rc.1"));
        assert_eq!(newest_with(Some(".*-alpine$")), Some("oci://h/web:1.3.0-alpine"));
        assert_eq!(newest_with(Some("-slim$")), None);
        let object = crdx_text::yaml::read(b"spec: {ref: {semver: 1.x, semverFilter: -alpine$, tag: a}}").unwrap();
        let range = ArtifactVersion::Range("1.x".to_owned(), Some("-alpine$".to_owned()));
        assert_eq!(ArtifactVersion::of(&object), range);
        let invalid = newest(("web", "oci://h/web:"), ("1.x", Some("(")), None);
        assert_eq!(invalid, Err(NotRendered::NotAFilter("web".to_owned())));
    }

    #[test]
    fn repositories_have_urls_for_fetch() {
        assert_eq!(prefix("https://h/charts/", "web"), "helm+https://h/charts/web@");
        assert_eq!(prefix("oci://h/charts", "web"), "oci://h/charts/web:");
    }

    #[test]
    fn a_digest_precedes_a_range_and_a_range_a_tag() {
        let of = |reference: &str| {
            let text = format!("spec: {{ref: {reference}}}\n");
            ArtifactVersion::of(&crdx_text::yaml::read(text.as_bytes()).unwrap())
        };
        assert_eq!(of("{digest: 'sha256:a', semver: 1.x, tag: a}"), ArtifactVersion::Digest("sha256:a".to_owned()));
        assert_eq!(of("{semver: 1.x, tag: a}"), ArtifactVersion::Range("1.x".to_owned(), None));
        assert_eq!(of("{tag: a}"), ArtifactVersion::Tag("a".to_owned()));
        assert_eq!(of("{}"), ArtifactVersion::Tag("latest".to_owned()));
    }

    #[test]
    fn a_fixed_version_has_three_numbers() {
        assert!(["1.2.3", "v1.2.3-rc.1", "1.2.3-next.1"].iter().all(|version| is_fixed(version)));
        assert!(["", "1.x", ">=1.0.0", "1.2", "1.2.x", "*", "^1.2.3"].iter().all(|range| !is_fixed(range)));
    }
}
