//! The files of a profile ([`crdx_engine::profile`]): `profile.yaml` is its description, `apis.yaml` has the served resources, and
//! folders have the objects. Files are read when they are needed.

use crdx_engine::cluster::Resource;
use crdx_engine::profile::published_schemas;
use crdx_engine::profile::{Description, DescriptionError, RequestPath, SavedParams, SavedResource};
use crdx_files::open::read_regular;
use crdx_server::server::http::address::encoded;
use crdx_text::documents::Chunks;
use crdx_text::yaml;
use crdx_value::lock;
use crdx_value::{Map, Value, object};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub const DESCRIPTION: &str = "profile.yaml";
pub const RESOURCES: &str = "apis.yaml";
/// The folder with the params of policies.
const PARAMS: &str = "params";
/// The folder with the schemas of aggregated APIs.
const OPENAPI: &str = "openapi";

/// A profile that is read.
#[derive(Debug)]
pub struct Profile {
    folder: PathBuf,
    description: Description,
    resources: Arc<Vec<Resource>>,
    /// The objects of files with several, by path.
    loaded: Mutex<HashMap<PathBuf, Arc<ObjectsByName>>>,
}

/// The objects of a resource by namespace and name.
pub type ObjectsByName = BTreeMap<String, BTreeMap<String, Arc<Value>>>;

/// Why a profile, or something of it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", file.display())]
    Unreadable { file: PathBuf, cause: String },
    /// A file is not YAML, or has other content.
    #[error("{}: {cause}", file.display())]
    Content { file: PathBuf, cause: String },
    /// The description cannot be used.
    #[error("{}: {cause}", file.display())]
    Description { file: PathBuf, cause: DescriptionError },
    /// The profile has no objects of a resource.
    #[error("the profile {} has no {what}", folder.display())]
    NotSaved { folder: PathBuf, what: String },
    /// The objects of a resource could not be read from the cluster.
    #[error("the profile {} has no {what}, which could not be read from the cluster: {why}", folder.display())]
    NotRead { folder: PathBuf, what: String, why: String },
}

impl Profile {
    /// Opens the profile in a folder.
    ///
    /// # Errors
    /// Returns an error if the folder has no profile.
    pub fn open(folder: &Path) -> Result<Self, ProfileError> {
        let file = folder.join(DESCRIPTION);
        let description = Description::from_value(&read_value(&file)?)
            .map_err(|cause| ProfileError::Description { file: file.clone(), cause })?;
        let file = folder.join(RESOURCES);
        let value = read_value(&file)?;
        let content = |cause: String| ProfileError::Content { file: file.clone(), cause };
        let items = value.get("resources").and_then(Value::as_array);
        let items = items.ok_or_else(|| content("resources is not a list".to_owned()))?;
        let resource = |(index, item): (usize, &Value)| {
            let cause =
                || format!("resources[{index}] lacks its version, plural or kind, or a member has another type");
            Resource::from_value(item).ok_or_else(|| content(cause()))
        };
        let resources = Arc::new(items.iter().enumerate().map(resource).collect::<Result<Vec<_>, _>>()?);
        Ok(Self { folder: folder.to_owned(), description, resources, loaded: Mutex::default() })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the resources that the cluster serves, in its order.
    pub fn resources(&self) -> Arc<Vec<Resource>> {
        Arc::clone(&self.resources)
    }

    /// Returns true if a profile never has the objects at a path, so that nothing is known of them.
    pub fn lacks(&self, path: &str) -> bool {
        let Some(request) = RequestPath::parse(path) else { return true };
        self.find_params(&request).is_none() && matches!(self.find(&request), Err(ProfileError::NotSaved { .. }))
    }

    /// Returns the object or the list at a path; `None` if the cluster does not have it.
    ///
    /// # Errors
    /// Returns an error if the profile does not have the objects, or a file cannot be read.
    pub fn get(&self, path: &str) -> Result<Option<Value>, ProfileError> {
        let not_saved = |what: &str| ProfileError::NotSaved { folder: self.folder.clone(), what: what.to_owned() };
        if let Some((group, version)) = published_schemas::parse_path(path) {
            return self.openapi(&group, &version)?.map(Some).ok_or_else(|| not_saved(path));
        }
        let request = RequestPath::parse(path).ok_or_else(|| not_saved(path))?;
        if let Some((params, resource)) = self.find_params(&request) {
            let objects = self.params(params)?;
            return Ok(requested(&objects, resource, &request));
        }
        let Some((saved, resource)) = self.find(&request)? else { return Ok(None) };
        if let (true, Some(name)) = (saved.is_separate, &request.name) {
            return read_if_present(&self.folder.join(file_of(saved, &resource.kind, name)));
        }
        let objects = if saved.is_separate {
            Arc::new(self.read_separate(saved, resource)?)
        } else {
            self.objects(&file_of(saved, "", ""))?
        };
        Ok(requested(&objects, resource, &request))
    }

    /// Returns the published schemas of an aggregated API; `None` if they are not saved.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn openapi(&self, group: &str, version: &str) -> Result<Option<Value>, ProfileError> {
        read_if_present(&self.folder.join(file_of_openapi(group, version)))
    }

    /// Returns the saved params of a kind.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn params(&self, params: &SavedParams) -> Result<Arc<ObjectsByName>, ProfileError> {
        self.objects(&file_of_params(params))
    }

    /// Returns the saved params that answer a request.
    fn find_params(&self, request: &RequestPath) -> Option<(&SavedParams, &Resource)> {
        let has_name = |params: &SavedParams| match (&params.names, &request.name) {
            (None, _) => true,
            (Some(names), Some(name)) => names.contains(name),
            (Some(_), None) => false,
        };
        let is_it = |group: &str, version: &str, plural: &str| {
            (group, version, plural) == (&request.group, &request.version, &request.plural)
        };
        let mut saved = self.description.params.iter();
        let params = saved.find(|own| is_it(&own.group, &own.version, &own.plural) && has_name(own))?;
        let mut resources = self.resources.iter();
        Some((params, resources.find(|own| is_it(&own.group, &own.version, &own.plural))?))
    }

    /// Returns the saved resource for a request, in the version in which it is saved; `None` if the cluster does not serve it.
    fn find(&self, request: &RequestPath) -> Result<Option<(SavedResource, &Resource)>, ProfileError> {
        let is_it = |resource: &&Resource| resource.group == request.group && resource.plural == request.plural;
        let served = self.resources.iter().find(|resource| is_it(resource) && resource.version == request.version);
        let name = Resource { group: request.group.clone(), plural: request.plural.clone(), ..Resource::default() };
        let what = name.qualified();
        let folder = self.folder.clone();
        if let Some(why) = self.description.unread.get(&what) {
            return Err(ProfileError::NotRead { folder, what, why: why.clone() });
        }
        let Some(served) = served else { return Ok(None) };
        let saved = SavedResource::find(&request.group, &request.plural);
        let saved = saved.filter(|saved| self.description.saved.contains(&saved.qualified()));
        // The objects are saved in the preferred version, which comes first.
        let is_preferred = self.resources.iter().find(is_it).is_some_and(|first| first.version == request.version);
        match saved.filter(|_| is_preferred) {
            Some(saved) => Ok(Some((saved, served))),
            None => Err(ProfileError::NotSaved { folder, what }),
        }
    }

    /// Reads the objects in a file of the profile, once.
    fn objects(&self, file: &Path) -> Result<Arc<ObjectsByName>, ProfileError> {
        let mut loaded = lock::lock(&self.loaded);
        if let Some(objects) = loaded.get(file) {
            return Ok(Arc::clone(objects));
        }
        let objects = Arc::new(read_together(&self.folder.join(file))?);
        loaded.insert(file.to_owned(), Arc::clone(&objects));
        Ok(objects)
    }

    fn read_separate(&self, saved: SavedResource, resource: &Resource) -> Result<ObjectsByName, ProfileError> {
        let folder = self.folder.join(saved.folder);
        let mut objects = ObjectsByName::new();
        for file in files(&folder)? {
            let object = read_value(&file)?;
            if object.str_at(&["kind"]) == Some(&resource.kind) {
                add(&mut objects, object);
            }
        }
        Ok(objects)
    }
}

/// Returns the path of a file in a profile: that of an object, or of all objects of a resource.
pub fn file_of(resource: SavedResource, kind: &str, name: &str) -> PathBuf {
    let folder = Path::new(resource.folder);
    if !resource.is_separate {
        return folder.join(format!("{}.yaml", resource.qualified()));
    }
    // Policies and bindings may have the same name.
    let prefix = if resource.folder == "crds" { String::new() } else { format!("{}.", kind.to_lowercase()) };
    folder.join(format!("{prefix}{}.yaml", encoded(name)))
}

/// Returns the path of the file with the saved params of a kind in a profile.
pub fn file_of_params(params: &SavedParams) -> PathBuf {
    Path::new(PARAMS).join(format!("{}.yaml", params.qualified()))
}

/// Returns the path of the file with the schemas of a group and version in a profile.
pub fn file_of_openapi(group: &str, version: &str) -> PathBuf {
    Path::new(OPENAPI).join(format!("{}.yaml", encoded(&format!("{group}.{version}"))))
}

/// Returns the folders with the objects of a profile.
pub fn folders() -> BTreeSet<&'static str> {
    SavedResource::ALL.iter().map(|resource| resource.folder).chain([PARAMS, OPENAPI]).collect()
}

/// Returns the files of a folder in the order of their names; none if there is no folder.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, ProfileError> {
    let unreadable = |error: &io::Error| ProfileError::Unreadable { file: folder.to_owned(), cause: error.to_string() };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(&error)),
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = paths.map_err(|error| unreadable(&error))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    Ok(paths)
}

/// Returns all objects of the files in the folders of a profile.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn all_objects(folder: &Path) -> Result<Vec<Value>, ProfileError> {
    let mut found = Vec::new();
    for part in folders() {
        for file in files(&folder.join(part))? {
            found.extend(read_all(&file)?);
        }
    }
    Ok(found)
}

/// Returns the object or the list that a request reads; `None` for an object that is not there.
fn requested(objects: &ObjectsByName, resource: &Resource, request: &RequestPath) -> Option<Value> {
    let within = |namespace: &str| objects.get(namespace);
    match (&request.namespace, &request.name) {
        (namespace, Some(name)) => {
            let found = within(namespace.as_deref().unwrap_or_default())?.get(name)?;
            Some(Value::clone(found))
        }
        (Some(namespace), None) => Some(list(resource, within(namespace).into_iter().flatten())),
        (None, None) => Some(list(resource, objects.values().flatten())),
    }
}

fn list<'a>(resource: &Resource, objects: impl Iterator<Item = (&'a String, &'a Arc<Value>)>) -> Value {
    let items: Vec<Value> = objects.map(|(_, object)| Value::clone(object)).collect();
    let api_version = crdx_value::group_version::api_version(&resource.group, &resource.version);
    object([
        ("apiVersion", Value::from(api_version)),
        ("kind", format!("{}List", resource.kind).into()),
        ("metadata", Value::Object(Map::new())),
        ("items", Value::Array(items)),
    ])
}

fn add(objects: &mut ObjectsByName, object: Value) {
    let text = |key: &str| object.str_at(&["metadata", key]).unwrap_or_default().to_owned();
    objects.entry(text("namespace")).or_default().insert(text("name"), Arc::new(object));
}

/// Reads the objects in a file; none if it does not exist.
fn read_together(file: &Path) -> Result<ObjectsByName, ProfileError> {
    let mut objects = ObjectsByName::new();
    if file.exists() {
        read_all(file)?.into_iter().for_each(|object| add(&mut objects, object));
    }
    Ok(objects)
}

fn read_all(file: &Path) -> Result<Vec<Value>, ProfileError> {
    let bytes = read_bytes(file)?;
    let content = |cause: String| ProfileError::Content { file: file.to_owned(), cause };
    let mut all = Vec::new();
    for chunk in Chunks::new(bytes.as_slice()) {
        let chunk = chunk.map_err(|error| content(error.to_string()))?;
        all.push(chunk.read().map_err(|error| content(error.to_string()))?.value);
    }
    all.retain(|value| !value.is_null());
    if all.iter().any(|value| value.as_object().is_none()) {
        return Err(content("a document is not an object".to_owned()));
    }
    Ok(all)
}

fn read_if_present(file: &Path) -> Result<Option<Value>, ProfileError> {
    if file.exists() { read_value(file).map(Some) } else { Ok(None) }
}

fn read_value(file: &Path) -> Result<Value, ProfileError> {
    yaml::read(&read_bytes(file)?)
        .map_err(|error| ProfileError::Content { file: file.to_owned(), cause: error.to_string() })
}

fn read_bytes(file: &Path) -> Result<Vec<u8>, ProfileError> {
    read_regular(file).map_err(|error| ProfileError::Unreadable { file: file.to_owned(), cause: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn profile(dir: &Path) -> Profile {
        let write = |name: &str, text: &str| {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            DESCRIPTION,
            "apiVersion: crdx/v1\nkind: ClusterProfile\nsaved: [namespaces, limitranges, customresourcedefinitions.apiextensions.k8s.io]\nunread: {resourcequotas: forbidden}\n",
        );
        let resource = |group: &str, version: &str, plural: &str, kind: &str| {
            format!("- {{group: '{group}', version: {version}, plural: {plural}, kind: {kind}}}\n")
        };
        let resources = [
            resource("", "v1", "namespaces", "Namespace"),
            resource("", "v1", "limitranges", "LimitRange"),
            resource("", "v1", "resourcequotas", "ResourceQuota"),
            resource("", "v1", "secrets", "Secret"),
            resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"),
        ];
        write(RESOURCES, &format!("resources:\n{}", resources.concat()));
        write(
            "cluster/namespaces.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n",
        );
        write("cluster/limitranges.yaml", "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: a}\n");
        write(
            "crds/c.example.com.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: c.example.com}\n",
        );
        Profile::open(dir).unwrap()
    }

    fn names(value: Option<Value>) -> Vec<String> {
        let value = value.unwrap();
        let items = value.get("items").and_then(Value::as_array).unwrap();
        items.iter().map(|item| item.str_at(&["metadata", "name"]).unwrap().to_owned()).collect()
    }

    #[test]
    fn requests_are_answered_as_by_the_cluster() {
        let dir = tempfile::tempdir().unwrap();
        let profile = profile(dir.path());
        let get = |path: &str| profile.get(path).unwrap();
        assert_eq!(names(get("/api/v1/namespaces?limit=500")), ["a", "b"]);
        assert_eq!(get("/api/v1/namespaces/a").unwrap().str_at(&["metadata", "name"]), Some("a"));
        assert_eq!(get("/api/v1/namespaces/c"), None);
        assert_eq!(names(get("/api/v1/namespaces/a/limitranges")), ["l"]);
        assert_eq!(names(get("/api/v1/namespaces/b/limitranges")), [""; 0]);
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        assert_eq!(names(get(definitions)), ["c.example.com"]);
        assert!(get(&format!("{definitions}/c.example.com")).is_some() && get(&format!("{definitions}/d")).is_none());
        // The cluster does not serve it.
        assert_eq!(get("/apis/policy/v1/namespaces/a/poddisruptionbudgets"), None);
    }

    #[test]
    fn what_is_not_saved_is_an_error_and_never_absent() {
        let dir = tempfile::tempdir().unwrap();
        let profile = profile(dir.path());
        let secret = profile.get("/api/v1/namespaces/a/secrets/s").unwrap_err();
        assert!(matches!(secret, ProfileError::NotSaved { .. }), "{secret}");
        let quota = profile.get("/api/v1/namespaces/a/resourcequotas").unwrap_err();
        assert!(quota.to_string().ends_with("could not be read from the cluster: forbidden"), "{quota}");
        assert!(matches!(profile.get("/metrics"), Err(ProfileError::NotSaved { .. })));
        let lacks = |plural: &str| profile.lacks(&format!("/api/v1/{plural}"));
        assert!(lacks("secrets") && !lacks("namespaces") && !lacks("resourcequotas"));
        fs::write(dir.path().join("cluster/limitranges.yaml"), "a: [").unwrap();
        assert!(matches!(profile.get("/api/v1/limitranges"), Err(ProfileError::Content { .. })));
        assert!(Profile::open(&dir.path().join("none")).is_err());
    }

    #[test]
    fn members_of_other_types_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let profile = profile(dir.path());
        fs::write(dir.path().join("cluster/limitranges.yaml"), "- a\n").unwrap();
        let error = profile.get("/api/v1/limitranges").unwrap_err().to_string();
        assert!(error.ends_with("limitranges.yaml: a document is not an object"), "{error}");
        let resource = "{version: v1, plural: pods, kind: Pod";
        let types = "resources[0] lacks its version, plural or kind, or a member has another type";
        for (text, cause) in [
            ("resources: {}\n".to_owned(), "resources is not a list"),
            ("[]\n".to_owned(), "resources is not a list"),
            (format!("resources: [{resource}, namespaced: 'true'}}]\n"), types),
            (format!("resources: [{resource}, verbs: get}}]\n"), types),
            (format!("resources: [{resource}, verbs: [1]}}]\n"), types),
            ("resources: [{plural: pods, kind: Pod}]\n".to_owned(), types),
        ] {
            fs::write(dir.path().join(RESOURCES), &text).unwrap();
            let error = Profile::open(dir.path()).unwrap_err().to_string();
            assert!(error.ends_with(&format!("{RESOURCES}: {cause}")), "{text}: {error}");
        }
    }
}
