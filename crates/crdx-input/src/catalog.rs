//! The catalog of CRDs: short names such as `cert-manager@v1.16.2` for the CRDs of a release of a project. `kubectl crdx fetch`
//! resolves them by an index and writes the sources to the lock; other commands read the lock.

use crdx_text::yaml;
use crdx_value::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The index of this program.
const INDEX: &str = include_str!("catalog/index.yaml");

/// The version of the format.
const VERSION: i64 = 1;

/// The placeholder for the version in a URL.
const PLACE_OF_VERSION: &str = "{version}";

/// An index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog(BTreeMap<String, Project>);

/// A project of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Project {
    url: String,
    /// The paths inside of an archive, by channel; the channel of a project with one is empty.
    inside: BTreeMap<String, Vec<String>>,
    /// The API groups of its CRDs.
    groups: Vec<String>,
    /// The known hashes by version.
    hashes: BTreeMap<String, String>,
    is_untried: bool,
}

/// Where an entry has its CRDs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogSource {
    /// URLs, with paths inside of archives.
    pub sources: Vec<String>,
    /// The hash of the download, if the index has it.
    pub sha256: Option<String>,
    /// True if the authors of the index have not downloaded the URL.
    pub is_untried: bool,
}

/// The reason why an entry is not resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("the catalog has no project {name:?}{}", did_you_mean(.similar.as_deref()))]
    UnknownProject { name: String, similar: Option<String> },
    #[error("{name} has the channels {}: name one of them, as in {name}@VERSION/{}", .channels.join(", "), .channels.first().map_or("", String::as_str))]
    NoChannel { name: String, channels: Vec<String> },
    #[error("{name} has no channel {channel:?}")]
    UnknownChannel { name: String, channel: String },
    #[error("the catalog is not valid: {0}")]
    Invalid(String),
}

fn did_you_mean(similar: Option<&str>) -> String {
    similar.map_or_else(String::new, |similar| format!("; {}", crdx_value::suggest::did_you_mean(similar)))
}

/// Returns true for a text with the form of an entry: `NAME@VERSION` or `NAME@VERSION/CHANNEL`.
pub fn is_entry(text: &str) -> bool {
    parts(text).is_some()
}

/// Returns the name, the version and the channel of an entry.
fn parts(entry: &str) -> Option<(&str, &str, Option<&str>)> {
    let (name, rest) = entry.split_once('@')?;
    let (version, channel) = rest.split_once('/').map_or((rest, None), |(version, channel)| (version, Some(channel)));
    let is_word = |word: &str, more: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.as_bytes().contains(&byte))
    };
    let is_valid =
        is_word(name, "-") && is_word(version, "-._+") && channel.is_none_or(|channel| is_word(channel, "-"));
    is_valid.then_some((name, version, channel))
}

impl Catalog {
    /// Returns the index of this program.
    ///
    /// # Errors
    /// It is not valid, which a test excludes.
    pub fn own() -> Result<Self, CatalogError> {
        Self::read(INDEX.as_bytes())
    }

    /// Reads an index.
    ///
    /// # Errors
    /// It is not valid.
    pub fn read(text: &[u8]) -> Result<Self, CatalogError> {
        let invalid = |message: &str| CatalogError::Invalid(message.to_owned());
        let value = yaml::read(text).map_err(|error| invalid(&error.to_string()))?;
        if value.get("version").and_then(Value::as_int) != Some(VERSION) {
            return Err(invalid("it is not version 1 of the format"));
        }
        let projects = value.get("projects").and_then(Value::as_array).ok_or_else(|| invalid("it has no projects"))?;
        let mut catalog = Self::default();
        for (index, project) in projects.iter().enumerate() {
            let name = project.str_at(&["name"]).unwrap_or_default();
            let url = project.str_at(&["url"]).unwrap_or_default();
            if name.is_empty() || !url.contains(PLACE_OF_VERSION) {
                return Err(invalid(&format!("projects[{index}] has no name, or no url with {PLACE_OF_VERSION}")));
            }
            if catalog.0.insert(name.to_owned(), Project::new(project, url)).is_some() {
                return Err(invalid(&format!("projects[{index}] has the name of another project")));
            }
        }
        Ok(catalog)
    }

    /// Resolves an entry.
    ///
    /// # Errors
    /// The index has no such project or channel, or a channel must be chosen.
    pub fn resolve(&self, entry: &str) -> Result<CatalogSource, CatalogError> {
        let (name, version, channel) = parts(entry).unwrap_or((entry, "", None));
        let Some(project) = self.0.get(name) else {
            let similar = crdx_value::suggest::closest(name, self.0.keys().map(String::as_str)).map(str::to_owned);
            return Err(CatalogError::UnknownProject { name: name.to_owned(), similar });
        };
        let channels: Vec<String> = project.inside.keys().filter(|channel| !channel.is_empty()).cloned().collect();
        let inside = match (channel, channels.is_empty()) {
            (None, false) => return Err(CatalogError::NoChannel { name: name.to_owned(), channels }),
            (None, true) => project.inside.get(""),
            (Some(channel), _) => {
                let unknown = || CatalogError::UnknownChannel { name: name.to_owned(), channel: channel.to_owned() };
                Some(project.inside.get(channel).ok_or_else(unknown)?)
            }
        };
        let url = project.url.replace(PLACE_OF_VERSION, version);
        let sources = match inside {
            Some(paths) => paths.iter().map(|path| format!("{url}//{path}")).collect(),
            None => vec![url],
        };
        let sha256 = project.hashes.get(version).cloned();
        Ok(CatalogSource { sources, sha256, is_untried: project.is_untried })
    }

    /// Returns the names of the projects that have CRDs of an API group.
    pub fn of_group(&self, group: &str) -> Vec<&str> {
        let has_it = |(_, project): &(&String, &Project)| project.groups.iter().any(|own| own == group);
        self.0.iter().filter(has_it).map(|(name, _)| name.as_str()).collect()
    }
}

/// Returns the names of the projects of this program's index that have CRDs of an API group.
pub fn projects_of_group(group: &str) -> Vec<String> {
    static OWN: OnceLock<Catalog> = OnceLock::new();
    let own = OWN.get_or_init(|| Catalog::own().unwrap_or_default());
    own.of_group(group).into_iter().map(str::to_owned).collect()
}

impl Project {
    fn new(value: &Value, url: &str) -> Self {
        let texts = |list: Option<&Value>| -> Vec<String> {
            list.and_then(Value::as_array)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let members = |name: &str| value.get(name).and_then(Value::as_object).into_iter().flatten();
        let mut inside: BTreeMap<String, Vec<String>> =
            members("channels").map(|(channel, paths)| (channel.clone(), texts(Some(paths)))).collect();
        let own = texts(value.get("inside"));
        if !own.is_empty() {
            inside.insert(String::new(), own);
        }
        let hash = |(version, hash): (&String, &Value)| Some((version.clone(), hash.as_str()?.to_owned()));
        Self {
            url: url.to_owned(),
            inside,
            groups: texts(value.get("groups")),
            hashes: members("sha256").filter_map(hash).collect(),
            is_untried: value.get("untried").and_then(Value::as_bool) == Some(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_a_form() {
        for entry in ["cert-manager@v1.16.2", "gateway-api@v1.2.0/standard", "a@1", "a@release-1.20"] {
            assert!(is_entry(entry), "{entry}");
        }
        for other in ["cert-manager", "a/b@v1", "https://me@h/a", "a@", "@a", "a@v1/b/c", "a@v1/", "a b@v1", "a.yaml"] {
            assert!(!is_entry(other), "{other}");
        }
    }

    #[test]
    fn the_index_of_this_program_is_valid() {
        let catalog = Catalog::own().unwrap();
        assert!(catalog.0.len() >= 40, "{}", catalog.0.len());
        for (name, project) in &catalog.0 {
            assert!(is_entry(&format!("{name}@v1")) && project.url.starts_with("https://"), "{name}");
            assert!(!project.groups.is_empty() && project.hashes.is_empty() == project.is_untried, "{name}");
        }
        assert_eq!(catalog.of_group("cert-manager.io"), ["cert-manager"]);
        assert_eq!(catalog.of_group("argoproj.io"), ["argo-cd", "argo-rollouts", "argo-workflows"]);
        assert_eq!(catalog.of_group("example.com"), [""; 0]);
    }

    #[test]
    fn entries_are_resolved() {
        let catalog = Catalog::own().unwrap();
        let source = catalog.resolve("gateway-api@v1.2.0/standard").unwrap();
        let url = "https://github.com/kubernetes-sigs/gateway-api/archive/refs/tags/v1.2.0.tar.gz//config/crd/standard";
        assert_eq!((source.sources, source.sha256, source.is_untried), (vec![url.to_owned()], None, true));
        assert_eq!(catalog.resolve("velero@v1").unwrap().sources.len(), 2);
        let error = |entry: &str| catalog.resolve(entry).unwrap_err().to_string();
        let choose = "gateway-api has the channels experimental, standard: name one of them, as in gateway-api@VERSION/experimental";
        assert_eq!(error("gateway-api@v1.2.0"), choose);
        assert_eq!(error("gateway-api@v1/none"), "gateway-api has no channel \"none\"");
        assert_eq!(error("cert-manger@v1"), "the catalog has no project \"cert-manger\"; did you mean `cert-manager`?");
    }

    #[test]
    fn another_index_may_have_hashes() {
        let text = "version: 1\nprojects: [{name: a, url: 'https://h/{version}.yaml', sha256: {v1: abc}}]\n";
        let catalog = Catalog::read(text.as_bytes()).unwrap();
        let source = catalog.resolve("a@v1").unwrap();
        assert_eq!((source.sources, source.sha256.as_deref()), (vec!["https://h/v1.yaml".to_owned()], Some("abc")));
        assert_eq!(catalog.resolve("a@v2").unwrap().sha256, None);
        for invalid in ["a: 1", "version: 1", "version: 1\nprojects: [{name: a, url: b}]", "["] {
            assert!(matches!(Catalog::read(invalid.as_bytes()), Err(CatalogError::Invalid(_))), "{invalid}");
        }
    }
}
