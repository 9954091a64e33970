//! The `Kustomization` objects of Flux among the files of an input. They say how the directories that they name are built, and which
//! variables (`postBuild`) are replaced in the result.

use super::flux_changes::FluxChanges;
use super::flux_object::{self, KustomizationObject};
use super::lexical::normal;
use super::repository_url::{self, NamedRepository, RepositoryUrls};
use super::substitution::Variables;
use crate::kustomize;
use crdx_engine::documents::encrypted::is_encrypted;
use crdx_files::open::read_small;
use crdx_text::documents::Chunks;
use crdx_value::sort::sort_by_key;
use crdx_value::{Value, group_version};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The group of sources.
const SOURCES: &str = "source.toolkit.fluxcd.io";

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The changes that a Flux Kustomization makes to a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FluxKustomization {
    /// The name of the object, with its namespace.
    pub name: String,
    pub variables: Variables,
    /// The namespace of all objects, if it is given.
    pub namespace: Option<Arc<str>>,
    /// The changes to the kustomization of the directory.
    pub changes: FluxChanges,
    /// The reason why it is not known what it builds.
    pub doubt: Option<FluxDoubt>,
}

/// The reason why it is not known what a Kustomization builds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FluxDoubt {
    #[error(
        "the Kustomization {kustomization} of Flux builds it from the GitRepository {name}, {url}, which may be this repository or another one"
    )]
    Repository { kustomization: String, name: String, url: String },
    #[error("a patch of the Kustomization {parent} of Flux may change what the Kustomization {kustomization} builds")]
    Patched { kustomization: String, parent: String },
}

impl FluxDoubt {
    /// The next step for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Repository { url, .. } => {
                repository_url::hint(url)
            }
            Self::Patched { .. } => {
                "select Kustomizations by kind, name or labels, or build the directory with `flux build kustomization`, \
                 and validate that"
                    .to_owned()
            }
        }
    }
}

/// The Kustomizations of an input, by the directories that they name.
#[derive(Clone, Debug, Default)]
pub struct FluxKustomizations(BTreeMap<PathBuf, Vec<Arc<FluxKustomization>>>);

impl FluxKustomizations {
    /// Reads those of files of the repository with these URLs. `given` are variables of the command line.
    pub fn read(files: &BTreeSet<PathBuf>, urls: &RepositoryUrls, given: &BTreeMap<String, String>) -> Self {
        let mut found = FluxObjects::default();
        for file in files {
            found.read(file);
        }
        found.patch(urls);
        let mut all = Self::default();
        for one in &found.kustomizations {
            let Some((directory, new)) = found.build(one, urls, given) else { continue };
            let known = all.0.entry(directory).or_default();
            // Several clusters may have the same one.
            if !known.iter().any(|other| FluxKustomization { name: new.name.clone(), ..(**other).clone() } == new) {
                known.push(Arc::new(new));
            }
        }
        all
    }

    /// Returns those that build a directory. Flux builds a directory without a kustomization with all files below it.
    pub fn of(&self, directory: &Path) -> &[Arc<FluxKustomization>] {
        let directory = normal(directory);
        let is_above = |above: &&Path| !above.as_os_str().is_empty() || !directory.starts_with("..");
        let mut above = directory.ancestors().filter(is_above);
        let Some((root, found)) = above.find_map(|above| Some((above, self.0.get(above)?))) else { return &[] };
        if root == directory || kustomize::file(root).is_none() { found } else { &[] }
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// The objects of files that decide how directories are built.
#[derive(Debug, Default)]
struct FluxObjects {
    kustomizations: Vec<KustomizationObject>,
    /// The data of each `ConfigMap`, by name; `None` if it is not known. Namespaces are often set by the Kustomization of the cluster.
    config_maps: BTreeMap<String, Option<BTreeMap<String, String>>>,
    /// The URLs of each `GitRepository`, by name.
    repositories: BTreeMap<String, BTreeSet<String>>,
}

impl FluxObjects {
    fn read(&mut self, file: &Path) {
        let Ok(text) = read_small(file, LARGEST) else { return };
        let has = |part: &str| crdx_text::contains(&text, part);
        if ![flux_object::GROUP, "kind: ConfigMap", "kind: GitRepository"].into_iter().any(has) {
            return;
        }
        let values =
            Chunks::new(Cursor::new(text)).map_while(Result::ok).filter_map(|chunk| Some(chunk.read().ok()?.value));
        for object in values {
            let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
            match (group_version::group(text(&["apiVersion"])), text(&["kind"])) {
                (flux_object::GROUP, "Kustomization") => {
                    let member = |name: &str| text(&["metadata", name]).to_owned();
                    self.kustomizations.push(KustomizationObject {
                        namespace: member("namespace"),
                        name: member("name"),
                        file: normal(file),
                        object,
                        changed_by: BTreeSet::new(),
                        rebuilt_by: None,
                    });
                }
                (SOURCES, "GitRepository") => {
                    let url = text(&["spec", "url"]).to_owned();
                    self.repositories.entry(text(&["metadata", "name"]).to_owned()).or_default().insert(url);
                }
                ("", "ConfigMap") => {
                    let data = (!is_encrypted(&object)).then(|| texts(object.get("data")));
                    // Two ConfigMaps of one name may be of two clusters.
                    let name = text(&["metadata", "name"]).to_owned();
                    let known = self.config_maps.entry(name).or_insert_with(|| data.clone());
                    if *known != data {
                        *known = None;
                    }
                }
                _ => {}
            }
        }
    }

    /// Applies the patches of Kustomizations to those in their directories, as repositories give all of them the same `postBuild`. A
    /// directory of the same name in another repository has other Kustomizations.
    fn patch(&mut self, urls: &RepositoryUrls) {
        sort_by_key(&mut self.kustomizations, |one| one.file.components().count());
        for index in 0..self.kustomizations.len() {
            let Some(parent) = self.kustomizations.get(index) else { return };
            let Some(directory) = parent.directory() else { continue };
            let name = parent.full_name();
            let Some(spec) = parent.spec() else { continue };
            let (repository, ..) = self.repository(spec, urls, directory.exists());
            let apply: fn(&mut KustomizationObject, &Value, &str) = match repository {
                NamedRepository::Another => continue,
                NamedRepository::Unknown => KustomizationObject::may_apply,
                NamedRepository::This => KustomizationObject::apply,
            };
            let patches = parent.spec().and_then(|spec| spec.get("patches")).and_then(Value::as_array);
            let patches = patches.unwrap_or_default().to_vec();
            let others = self.kustomizations.iter_mut().enumerate();
            let children = others.filter(|(other, child)| *other != index && child.file.starts_with(&directory));
            for (_, child) in children {
                for patch in &patches {
                    apply(child, patch, &name);
                }
            }
        }
    }

    /// Returns how a directory is built; `None` if the Kustomization builds none of this repository.
    fn build(
        &self,
        one: &KustomizationObject,
        urls: &RepositoryUrls,
        given: &BTreeMap<String, String>,
    ) -> Option<(PathBuf, FluxKustomization)> {
        let (spec, directory) = (one.spec()?, one.directory()?);
        let kustomization = one.full_name();
        let patched =
            || one.rebuilt_by.clone().map(|parent| FluxDoubt::Patched { kustomization: kustomization.clone(), parent });
        let doubt = match self.repository(spec, urls, directory.exists()) {
            (NamedRepository::Another, ..) => return None,
            (NamedRepository::Unknown, name, url) => {
                Some(FluxDoubt::Repository { kustomization: kustomization.clone(), name, url })
            }
            (NamedRepository::This, ..) => patched(),
        };
        let mut variables = Variables { unknown: one.changed_by.clone(), ..Variables::default() };
        if let Some(post_build) = spec.get("postBuild") {
            self.add(&mut variables, post_build);
            variables.values.extend(given.clone());
        }
        let namespace = spec.str_at(&["targetNamespace"]).filter(|namespace| !namespace.is_empty()).map(Arc::from);
        let changes = FluxChanges::of(spec);
        Some((directory, FluxKustomization { name: kustomization, variables, namespace, changes, doubt }))
    }

    /// Returns which repository a `spec` names, with the name and the URL of its source. One that is not among the files, as that of
    /// the bootstrap of Flux may be, is this one.
    fn repository(&self, spec: &Value, urls: &RepositoryUrls, is_here: bool) -> (NamedRepository, String, String) {
        let text = |member: &str| spec.str_at(&["sourceRef", member]).unwrap_or_default();
        let name = text("name").to_owned();
        if !matches!(text("kind"), "" | "GitRepository") {
            return (NamedRepository::Another, name, String::new());
        }
        let found = self.repositories.get(&name).into_iter().flatten().map(|url| (urls.named(url, is_here), url));
        let found: Vec<_> = found.collect();
        let of = |which| found.iter().find(|(named, _)| *named == which).map(|(_, url)| (which, (*url).clone()));
        let order = [NamedRepository::This, NamedRepository::Unknown, NamedRepository::Another];
        let (which, url) = order.into_iter().find_map(of).unwrap_or((NamedRepository::This, String::new()));
        (which, name, url)
    }

    /// Adds the variables of a `postBuild`; those of `substitute` take precedence.
    fn add(&self, variables: &mut Variables, post_build: &Value) {
        let sources = post_build.get("substituteFrom").and_then(Value::as_array).unwrap_or_default();
        for source in sources {
            let text = |name: &str| source.str_at(&[name]).unwrap_or_default();
            match self.config_maps.get(text("name")).filter(|_| text("kind") == "ConfigMap") {
                Some(Some(data)) => variables.values.extend(data.clone()),
                _ => {
                    variables.unknown.insert(format!("{} {}", text("kind"), text("name")));
                }
            }
        }
        variables.values.extend(texts(post_build.get("substitute")));
    }
}

/// Returns the members of an object as texts, without line breaks, which Flux removes.
fn texts(object: Option<&Value>) -> BTreeMap<String, String> {
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.replace('\n', "")))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::repository_path::in_repository;
    use super::*;
    use crdx_text::yaml;

    #[test]
    fn values_have_no_line_breaks() {
        let data = yaml::read(b"a: |\n  one\n  two\nb: 1\n").unwrap();
        assert_eq!(texts(Some(&data)), BTreeMap::from([("a".to_owned(), "onetwo".to_owned())]));
    }

    #[test]
    fn patches_of_a_kustomization_change_those_in_its_directory() {
        let object = |name: &str, file: &str, spec: &str| KustomizationObject {
            namespace: "flux-system".to_owned(),
            name: name.to_owned(),
            file: file.into(),
            object: yaml::read(format!("spec: {spec}").as_bytes()).unwrap(),
            changed_by: BTreeSet::new(),
            rebuilt_by: None,
        };
        let apps = in_repository("apps").unwrap();
        let file = |name: &str| apps.join(name).to_string_lossy().into_owned();
        let patch = "{path: apps, patches: [{target: {name: w.b}, patch: '{spec: {path: new}}'}]}";
        let mut objects = FluxObjects::default();
        objects.kustomizations.push(object("web", &file("web.yaml"), "{path: old}"));
        objects.kustomizations.push(object("web", "elsewhere/web/ks.yaml", "{path: old}"));
        objects.kustomizations.push(object("apps", "apps.yaml", patch));
        objects.patch(&RepositoryUrls::default());
        let paths = objects.kustomizations.iter().map(|one| one.spec().unwrap().str_at(&["path"]).unwrap());
        assert_eq!(paths.collect::<BTreeSet<_>>(), BTreeSet::from(["apps", "new", "old"]));
    }

    #[test]
    fn a_kustomization_of_another_repository_patches_none_of_this_one() {
        let apps = in_repository("apps").unwrap();
        let object = |name: &str, file: PathBuf, spec: &str| KustomizationObject {
            namespace: String::new(),
            name: name.to_owned(),
            file,
            object: yaml::read(format!("spec: {spec}").as_bytes()).unwrap(),
            changed_by: BTreeSet::new(),
            rebuilt_by: None,
        };
        // `src` exists in this repository, as in others.
        let source = in_repository("src").unwrap();
        let patched = |source_ref: &str, urls: &RepositoryUrls| {
            let patch = "patches: [{target: {name: web}, patch: '{spec: {path: new}}'}]";
            let mut objects = FluxObjects::default();
            let url = |text: &str| BTreeSet::from([text.to_owned()]);
            objects.repositories.insert("other".to_owned(), url("https://example.com/other"));
            objects.repositories.insert("this".to_owned(), url("https://example.com/a"));
            objects.kustomizations.push(object("web", source.join("web.yaml"), "{path: old}"));
            let spec = format!("{{path: src, sourceRef: {source_ref}, {patch}}}");
            objects.kustomizations.push(object("all", apps.join("all.yaml"), &spec));
            objects.patch(urls);
            let child = objects.kustomizations.iter().find(|one| one.name == "web").unwrap();
            (child.spec().unwrap().str_at(&["path"]).unwrap().to_owned(), child.rebuilt_by.clone())
        };
        let given = RepositoryUrls::new(&["https://example.com/a".to_owned()], Path::new("."));
        let (old, new) = (("old".to_owned(), None), ("new".to_owned(), None));
        assert_eq!(patched("{kind: GitRepository, name: this}", &given), new);
        assert_eq!(patched("{kind: GitRepository, name: other}", &given), old);
        assert_eq!(patched("{kind: OCIRepository, name: this}", &given), old);
        // The remotes of a repository may not be all of its URLs, so that the other one may be this one.
        let remotes = RepositoryUrls::of_remotes(&["https://example.com/a"]);
        let unknown = ("old".to_owned(), Some("all".to_owned()));
        assert_eq!(patched("{kind: GitRepository, name: other}", &remotes), unknown);
    }

    #[test]
    fn a_git_repository_is_this_one_or_another_one() {
        let mut objects = FluxObjects::default();
        let urls = |urls: &[&str]| urls.iter().map(ToString::to_string).collect();
        objects.repositories.insert("this".to_owned(), urls(&["https://example.com/other", "https://example.com/a"]));
        objects.repositories.insert("other".to_owned(), urls(&["https://example.com/other"]));
        let named = |kind: &str, name: &str| {
            let spec = yaml::read(format!("sourceRef: {{kind: {kind}, name: {name}}}").as_bytes()).unwrap();
            let urls = RepositoryUrls::new(&["https://example.com/a.git".to_owned()], Path::new("."));
            objects.repository(&spec, &urls, true).0
        };
        assert_eq!(named("GitRepository", "this"), NamedRepository::This);
        assert_eq!(named("GitRepository", "other"), NamedRepository::Another);
        assert_eq!(named("GitRepository", "bootstrap"), NamedRepository::This);
        assert_eq!(named("OCIRepository", "this"), NamedRepository::Another);
    }

    #[test]
    fn the_nearest_directory_that_flux_builds_counts() {
        let dir = tempfile::tempdir().unwrap();
        let one = |name: &str| vec![Arc::new(FluxKustomization { name: name.to_owned(), ..Default::default() })];
        std::fs::create_dir_all(dir.path().join("built")).unwrap();
        std::fs::write(dir.path().join("built/kustomization.yaml"), "resources: []\n").unwrap();
        let at = |name: &str| dir.path().join(name);
        let all = FluxKustomizations([(at("plain"), one("a")), (at("built"), one("b"))].into());
        let names = |name: &str| all.of(&at(name)).iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(names("plain/web"), ["a"]);
        assert_eq!(names("built"), ["b"]);
        assert!(names("built/web").is_empty(), "the kustomization does not name it");
        assert!(names("other").is_empty());
    }
}
