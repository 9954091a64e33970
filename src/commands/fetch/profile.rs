//! Saves the profile of a cluster ([`crdx_input::profile`]), and says what changed since the last time.

use super::{FetchOutcome, FetchProblem, args};
use crate::commands::source::ObjectSource;
use crdx_cluster::{Connection, Error, JSON, LiveSettings, Query, Resource};
use crdx_engine::profile::published_schemas;
use crdx_engine::profile::{
    Description, SavedParams, SavedResource, WantedParams, saved_form, saved_param, wanted_params,
};
use crdx_files::replace::replace;
use crdx_input::profile::{
    DESCRIPTION, RESOURCES, all_objects, file_of, file_of_openapi, file_of_params, files, folders,
};
use crdx_text::yaml;
use crdx_types::groups;
use crdx_value::group_version::{self, api_version};
use crdx_value::{Value, object};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The group of the kinds of this program.
const OWN_GROUP: &str = "crdx";
/// The number of changes that are listed.
const MAX_CHANGES: usize = 100;

/// What identifies an object: its kind, namespace and name.
type Key = (String, String, String);

/// Saves the cluster of `args` in a folder.
pub fn save(args: &args::Fetch, folder: &Path) -> FetchOutcome {
    let mut saved = Saved::default();
    match earlier(folder) {
        Ok(earlier) => {
            let mut cluster = args.cluster.clone();
            cluster.profile.clear();
            // Discovery of some minutes ago may lack APIs.
            cluster.no_cache = true;
            match ObjectSource::live(&cluster) {
                Ok(source) => saved.read(&source, args.rbac).unwrap_or_else(|error| saved.fail("the cluster", &error)),
                Err(error) => saved.fail("the cluster", &error),
            }
            if !saved.is_unreachable
                && let Err(problem) = saved.write(folder)
            {
                saved.problems.push(problem);
            }
            saved.outcome(folder, earlier.as_ref())
        }
        Err(problem) => FetchOutcome { text: String::new(), report: Vec::new(), problems: vec![problem] },
    }
}

/// The objects of an earlier run; `None` if this is the first one.
///
/// # Errors
/// Returns a problem if the folder has something else, which is not overwritten.
fn earlier(folder: &Path) -> Result<Option<BTreeMap<Key, Value>>, FetchProblem> {
    let help = "choose another folder with --profile";
    if folder.join(DESCRIPTION).exists() {
        let objects = all_objects(folder).map_err(|error| FetchProblem::new(error.to_string(), help))?;
        return Ok(Some(objects.into_iter().map(|object| (key(&object), object)).collect()));
    }
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let message = || format!("{} is not empty, and has no profile", folder.display());
    if is_empty { Ok(None) } else { Err(FetchProblem::new(message(), help)) }
}

fn key(object: &Value) -> Key {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
    let group = group_version::group(object.str_at(&["apiVersion"]).unwrap_or_default()).to_owned();
    // Kinds of custom resources have the same name in several groups.
    let is_unique = groups::is_built_in(&group) || group == OWN_GROUP;
    let kind = if is_unique { text(&["kind"]) } else { format!("{}.{group}", text(&["kind"])) };
    (kind, text(&["metadata", "namespace"]), text(&["metadata", "name"]))
}

/// What was read.
#[derive(Default)]
struct Saved {
    description: Description,
    resources: Vec<Value>,
    objects: BTreeMap<Key, Value>,
    /// The objects by file.
    files: BTreeMap<PathBuf, Vec<Key>>,
    problems: Vec<FetchProblem>,
    /// True if the cluster could not be read at all, so that nothing is written.
    is_unreachable: bool,
}

impl Saved {
    fn fail(&mut self, what: &str, error: &Error) {
        self.is_unreachable = true;
        self.problem(what, error);
    }

    fn problem(&mut self, what: &str, error: &Error) {
        let help = error.help.clone();
        let help = help.unwrap_or_else(|| "kubectl crdx rbac prints the permissions that are needed".to_owned());
        self.problems.push(FetchProblem::new(format!("{what} cannot be read: {}", reason(error)), help));
    }

    fn read(&mut self, source: &ObjectSource, with_permissions: bool) -> Result<(), Error> {
        let ObjectSource::Live(connection) = source else { return Ok(()) };
        let resources = connection.resources()?;
        self.resources = resources.iter().map(Resource::to_value).collect();
        let version = connection.version()?.unwrap_or_default();
        let number = |key: &str| version.str_at(&[key]).map(str::to_owned);
        self.description.version = number("major").zip(number("minor"));
        let release = crdx_cluster::simulated(Ok(connection)).release;
        let LiveSettings { settings, admission_file, lacks_flags, notes, .. } =
            crdx_cluster::settings(connection, release);
        self.description.settings = settings;
        self.description.admission_file = admission_file;
        self.description.lacks_flags = lacks_flags;
        self.description.unknown_settings = notes;
        for saved in SavedResource::ALL.into_iter().filter(|saved| with_permissions || !saved.is_optional) {
            // The preferred version comes first.
            let is_it = |resource: &&Resource| resource.group == saved.group && resource.plural == saved.plural;
            if let Some(resource) = resources.iter().find(is_it) {
                self.list(source, resource, saved)?;
            }
        }
        for wanted in wanted_params(self.objects.values()) {
            let is_it = |resource: &&Resource| {
                api_version(&resource.group, &resource.version) == wanted.api_version && resource.kind == wanted.kind
            };
            let Some(resource) = resources.iter().find(is_it) else { continue };
            if !self.description.saved.contains(&resource.qualified()) {
                self.list_params(source, resource, wanted)?;
            }
        }
        self.read_published_schemas(connection, &resources)
    }

    /// Reads the schemas of aggregated APIs. Their objects are "cannot tell" without them.
    ///
    /// # Errors
    /// Returns an error if nothing more can be read.
    fn read_published_schemas(&mut self, connection: &Connection, resources: &[Resource]) -> Result<(), Error> {
        let crds = self.objects.keys().filter(|(kind, _, _)| kind == "CustomResourceDefinition");
        let crds: BTreeSet<String> = crds.map(|(_, _, name)| name.clone()).collect();
        // Without the CRDs it is not known which APIs are aggregated.
        if !self.description.saved.iter().any(|saved| saved == "customresourcedefinitions.apiextensions.k8s.io") {
            return Ok(());
        }
        for (group, version) in published_schemas::aggregated(resources, &crds) {
            match connection.ask(&published_schemas::path(group, version), JSON).wait() {
                Ok(Some(document)) => {
                    let saved = published_schemas::saved_document(group, version, &document);
                    self.add(saved, |_, _| file_of_openapi(group, version));
                }
                Ok(None) => {}
                Err(error) if error.unreachable => return Err(error),
                Err(error) => self.problem(&format!("the schemas of {group}/{version}"), &error),
            }
        }
        Ok(())
    }

    /// Reads the objects of a resource. One that the user may not read is recorded.
    ///
    /// # Errors
    /// Returns an error if nothing more can be read.
    fn list(&mut self, source: &ObjectSource, resource: &Resource, saved: SavedResource) -> Result<(), Error> {
        match read_all(source, resource, &mut |object| Some(saved_form(saved, object))) {
            Ok(objects) => {
                self.description.saved.push(saved.qualified());
                for object in objects {
                    self.add(object, |kind, name| file_of(saved, kind, name));
                }
            }
            Err(error) if error.unreachable => return Err(error),
            Err(error) => {
                self.problem(&resource.qualified(), &error);
                self.description.unread.insert(saved.qualified(), reason(&error));
            }
        }
        Ok(())
    }

    /// Reads the params of policies of a kind. Those that the user may not read are unknown when the profile is used.
    ///
    /// # Errors
    /// Returns an error if nothing more can be read.
    fn list_params(&mut self, source: &ObjectSource, resource: &Resource, wanted: WantedParams) -> Result<(), Error> {
        let is_wanted = |object: &Value| {
            let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
            wanted.names.as_ref().is_none_or(|names| names.contains(name))
        };
        let mut params = |object: Value| is_wanted(&object).then(|| saved_param(object));
        match read_all(source, resource, &mut params) {
            Ok(objects) => {
                let Resource { group, version, plural, .. } = resource.clone();
                let saved = SavedParams { group, version, plural, names: wanted.names };
                let file = file_of_params(&saved);
                for object in objects {
                    self.add(object, |_, _| file.clone());
                }
                self.description.params.push(saved);
            }
            Err(error) if error.unreachable => return Err(error),
            Err(error) => self.problem(&format!("the params {}", resource.qualified()), &error),
        }
        Ok(())
    }

    fn add(&mut self, object: Value, file: impl Fn(&str, &str) -> PathBuf) {
        let key = key(&object);
        self.files.entry(file(&key.0, &key.2)).or_default().push(key.clone());
        self.objects.insert(key, object);
    }

    fn write(&self, folder: &Path) -> Result<(), FetchProblem> {
        let written = |path: &Path, text: String| {
            let path = folder.join(path);
            let write = || -> io::Result<()> {
                fs::create_dir_all(path.parent().unwrap_or(folder))?;
                replace(&path, text.as_bytes())
            };
            write().map_err(|error| unwritten(&path, &error))
        };
        for (path, keys) in &self.files {
            let mut keys = keys.clone();
            keys.sort();
            let texts: Vec<String> =
                keys.iter().filter_map(|key| self.objects.get(key)).map(yaml::write::to_string).collect();
            written(path, texts.join("---\n"))?;
        }
        written(Path::new(RESOURCES), yaml::write::to_string(&object([("resources", self.resources.clone())])))?;
        written(Path::new(DESCRIPTION), yaml::write::to_string(&self.description.to_value()))?;
        self.remove_others(folder)
    }

    /// Removes the files of objects that the cluster no longer has.
    fn remove_others(&self, folder: &Path) -> Result<(), FetchProblem> {
        for part in folders() {
            let found = files(&folder.join(part))
                .map_err(|error| FetchProblem::new(error.to_string(), "choose another folder with --profile"))?;
            for file in found {
                if file.strip_prefix(folder).is_ok_and(|path| !self.files.contains_key(path)) {
                    fs::remove_file(&file).map_err(|error| unwritten(&file, &error))?;
                }
            }
        }
        Ok(())
    }

    fn outcome(self, folder: &Path, earlier: Option<&BTreeMap<Key, Value>>) -> FetchOutcome {
        let mut text = String::new();
        let changes = earlier.map(|earlier| changes(earlier, &self.objects)).unwrap_or_default();
        if !self.is_unreachable {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "Saved {} objects in {}.", self.objects.len(), folder.display());
            let shown = changes.iter().take(MAX_CHANGES).map(|change| format!("{change}\n"));
            text.extend(shown);
            if changes.len() > MAX_CHANGES {
                let _ = writeln!(text, "and {} more changes", changes.len() - MAX_CHANGES);
            }
            if earlier.is_some() && changes.is_empty() {
                text.push_str("No object has changed.\n");
            }
            for note in &self.description.unknown_settings {
                let _ = writeln!(text, "note: {note}");
            }
            if self.description.admission_file.is_some() {
                text.push_str("note: the configuration of admission plugins is a file on the server's disk: give a copy with --admission-control-config-file when the profile is used\n");
            }
        }
        let files: Vec<Value> = self.files.keys().map(|file| file.display().to_string().into()).collect();
        let changes: Vec<Value> = changes.into_iter().take(MAX_CHANGES).map(Value::from).collect();
        let report = vec![
            ("directory", folder.display().to_string().into()),
            ("files", files.into()),
            ("changes", changes.into()),
        ];
        FetchOutcome { text, report, problems: self.problems }
    }
}

/// Reads all objects of a resource in the form in which they are saved. Those for which `form` returns `None` are left out.
///
/// # Errors
/// Returns an error if a page cannot be read.
fn read_all(
    source: &ObjectSource,
    resource: &Resource,
    form: &mut dyn FnMut(Value) -> Option<Value>,
) -> Result<Vec<Value>, Error> {
    let mut objects = Vec::new();
    for page in source.list(resource, None, &Query::default()) {
        objects.extend(page?.into_iter().filter_map(&mut *form));
    }
    Ok(objects)
}

fn reason(error: &Error) -> String {
    error.status.as_ref().map_or_else(|| error.message.clone(), |status| status.message.clone())
}

fn unwritten(path: &Path, error: &io::Error) -> FetchProblem {
    FetchProblem::new(format!("{} cannot be written: {error}", path.display()), "choose another folder with --profile")
}

/// Describes the objects that were added, changed or removed.
fn changes(earlier: &BTreeMap<Key, Value>, now: &BTreeMap<Key, Value>) -> Vec<String> {
    let line = |verb: &str, (kind, namespace, name): &Key| {
        let separator = if namespace.is_empty() { "" } else { "/" };
        format!("{verb} {kind} {namespace}{separator}{name}")
    };
    let keys: BTreeSet<&Key> = earlier.keys().chain(now.keys()).collect();
    let change = |key: &Key| match (earlier.get(key), now.get(key)) {
        (None, Some(_)) => Some(line("added", key)),
        (Some(_), None) => Some(line("removed", key)),
        (Some(old), Some(new)) if old != new => Some(line("changed", key)),
        _ => None,
    };
    keys.into_iter().filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_named() {
        let state = |objects: &[(&str, i64)]| -> BTreeMap<Key, Value> {
            let each = objects.iter();
            each.map(|(name, value)| {
                (("Quota".to_owned(), "n".to_owned(), (*name).to_owned()), object([("spec", Value::Int(*value))]))
            })
            .collect()
        };
        let changes = changes(&state(&[("a", 1), ("b", 1), ("c", 1)]), &state(&[("b", 1), ("c", 2), ("d", 1)]));
        assert_eq!(changes, ["removed Quota n/a", "changed Quota n/c", "added Quota n/d"]);
    }

    #[test]
    fn a_folder_with_other_files_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        assert!(earlier(dir.path()).unwrap().is_none());
        assert!(earlier(&dir.path().join("new")).unwrap().is_none());
        fs::write(dir.path().join("a.yaml"), "").unwrap();
        assert!(earlier(dir.path()).unwrap_err().message.ends_with("is not empty, and has no profile"));
        fs::write(dir.path().join(DESCRIPTION), "").unwrap();
        assert_eq!(earlier(dir.path()).unwrap(), Some(BTreeMap::new()));
    }
}
