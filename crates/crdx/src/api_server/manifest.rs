//! The objects that callers send: texts, values and, with the feature `serde`, anything that can be serialized.

use super::{Error, ManifestError, Position};
use crdx_engine::documents::manifest_path;
use crdx_text::documents::{Chunk, Chunks};
use crdx_text::spans::Spans;
use crdx_value::Value;
use crdx_value::group_version::{self, GroupVersionKind};
use std::sync::Arc;

/// The number of levels that objects may nest. Objects of real clusters have fewer than 50; a deeper one is answered with
/// [`Error::CannotTell`], because callers compare, copy and drop objects recursively on their own stacks.
pub const MAX_DEPTH: usize = 250;

/// One or more objects to send. See [`IntoManifest`] for the types that convert to it.
///
/// ```
/// # fn main() -> Result<(), crdx::Error> {
/// let manifest = crdx::Manifest::from_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
/// # let _ = manifest;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Manifest(ManifestSource);

#[derive(Clone, Debug)]
enum ManifestSource {
    /// YAML or JSON, which may have several documents.
    Text(String),
    Value(Value),
    /// JSON, as a client sends it.
    #[cfg(feature = "serde")]
    Json(Vec<u8>),
}

impl Manifest {
    /// Creates a manifest from YAML or JSON, which is parsed when it is sent. Errors then have the line and the column.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(ManifestSource::Text(text.into()))
    }

    /// Creates a manifest from one object.
    pub fn from_value(value: Value) -> Self {
        Self(ManifestSource::Value(value))
    }

    /// Parses the documents. The items of a `List` are documents of their own.
    pub(super) fn documents(self) -> Result<Vec<Document>, Error> {
        let mut documents = Vec::new();
        match self.0 {
            ManifestSource::Text(text) => {
                for chunk in Chunks::new(text.as_bytes()) {
                    // Reading from memory does not fail.
                    let chunk = chunk.map_err(|error| ManifestError::new(error.to_string(), None))?;
                    let contents = chunk.read().map_err(|error| ManifestError::new(error.message, error.position))?;
                    let warnings = contents.duplicates.iter().map(ToString::to_string).collect();
                    unfold(contents.value, Some(&Arc::new(chunk)), warnings, &mut documents)?;
                }
            }
            ManifestSource::Value(value) => unfold(value, None, Vec::new(), &mut documents)?,
            #[cfg(feature = "serde")]
            ManifestSource::Json(json) => {
                let value = crdx_text::json::read(&json).map_err(|error| ManifestError::new(error.message, None))?;
                unfold(value, None, Vec::new(), &mut documents)?;
            }
        }
        Ok(documents)
    }

    /// Parses the only document.
    pub(super) fn document(self) -> Result<Document, Error> {
        let mut documents = self.documents()?;
        match (documents.pop(), documents.len()) {
            (Some(document), 0) => Ok(document),
            (None, _) => Err(ManifestError::new("the text has no object", None).into()),
            (Some(_), others) => {
                let message = format!("the text has {} objects: send one, or install them", others + 1);
                Err(ManifestError::new(message, None).into())
            }
        }
    }
}

/// Adds the objects of a document.
fn unfold(
    mut value: Value,
    chunk: Option<&Arc<Chunk>>,
    warnings: Vec<String>,
    documents: &mut Vec<Document>,
) -> Result<(), Error> {
    if value.is_null() {
        return Ok(());
    }
    if value.is_deeper_than(MAX_DEPTH) {
        return Err(Error::CannotTell(format!("the object nests more than {MAX_DEPTH} levels")));
    }
    let of = |value, item, warnings| Document { value, chunk: chunk.cloned(), item, warnings };
    let is_list = value.str_at(&["kind"]).is_some_and(|kind| kind.ends_with("List"));
    match value.get_mut("items").filter(|_| is_list) {
        Some(Value::Array(items)) => {
            let items = std::mem::take(items).into_iter().enumerate();
            documents.extend(items.map(|(index, item)| of(item, Some(index), Vec::new())));
        }
        _ => documents.push(of(value, None, warnings)),
    }
    Ok(())
}

/// An object, and the text from which it was parsed.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub value: Value,
    chunk: Option<Arc<Chunk>>,
    /// Its index, if it is an item of a list.
    item: Option<usize>,
    /// Warnings about the text that kubectl accepts silently.
    pub warnings: Vec<String>,
}

impl Document {
    /// The group, the version and the kind.
    pub fn kind(&self) -> Result<GroupVersionKind, Error> {
        let text = |key: &str| match self.value.str_at(&[key]) {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(ManifestError::new(format!("the object has no {key}"), self.position(""))),
        };
        let (group, version) = group_version::split(text("apiVersion")?);
        Ok(GroupVersionKind { group, version, kind: text("kind")? }.map(str::to_owned))
    }

    pub fn text(&self, path: &[&str]) -> &str {
        self.value.str_at(path).unwrap_or_default()
    }

    /// Returns true for a CRD.
    pub fn is_definition(&self) -> bool {
        self.text(&["kind"]) == "CustomResourceDefinition"
    }

    /// The position of the field at a path of the server, or of its nearest ancestor; `None` without a text.
    pub fn position(&self, path: &str) -> Option<Position> {
        self.locate(path, false)
    }

    /// Like [`Self::position`], but of the name of the field.
    pub fn name_position(&self, path: &str) -> Option<Position> {
        self.locate(path, true)
    }

    fn locate(&self, path: &str, is_name: bool) -> Option<Position> {
        let chunk = self.chunk.as_ref()?;
        let path = if self.is_definition() { manifest_path::of_internal(path) } else { path.into() };
        let prefix = self.item.map_or_else(String::new, |item| format!("items[{item}]"));
        let found = Spans::new(&chunk.text, chunk.syntax).locate_in(&prefix, &path);
        Some(found.shown(&chunk.text, is_name).start.within(chunk.start))
    }
}

/// Types that can be sent as objects.
///
/// | type | meaning |
/// |---|---|
/// | `&str`, `String`, `&String` | YAML or JSON |
/// | [`Value`], `&Value` | an object |
/// | [`Manifest`] | any of these |
/// | `&T` where `T: serde::Serialize` | with the feature `serde`: types of `k8s-openapi`, types that derive kube's `CustomResource`, `serde_json::Value`, … |
pub trait IntoManifest {
    /// Converts the value.
    ///
    /// # Errors
    /// Returns [`Error::Manifest`] for a value that cannot be serialized.
    fn into_manifest(self) -> Result<Manifest, Error>;
}

impl IntoManifest for Manifest {
    fn into_manifest(self) -> Result<Manifest, Error> {
        Ok(self)
    }
}

impl IntoManifest for &str {
    fn into_manifest(self) -> Result<Manifest, Error> {
        Ok(Manifest::from_text(self))
    }
}

impl IntoManifest for String {
    fn into_manifest(self) -> Result<Manifest, Error> {
        Ok(Manifest::from_text(self))
    }
}

impl IntoManifest for Value {
    fn into_manifest(self) -> Result<Manifest, Error> {
        Ok(Manifest::from_value(self))
    }
}

#[cfg(not(feature = "serde"))]
impl IntoManifest for &String {
    fn into_manifest(self) -> Result<Manifest, Error> {
        Ok(Manifest::from_text(self))
    }
}

#[cfg(not(feature = "serde"))]
impl IntoManifest for &Value {
    fn into_manifest(self) -> Result<Manifest, Error> {
        Ok(Manifest::from_value(self.clone()))
    }
}

/// Sends the JSON of the value, as a client of a real server does.
#[cfg(feature = "serde")]
impl<T: serde::Serialize> IntoManifest for &T {
    fn into_manifest(self) -> Result<Manifest, Error> {
        let error = |error: serde_json::Error| ManifestError::new(error.to_string(), None);
        let json = serde_json::to_vec(self).map_err(error)?;
        // A string is a text in YAML or JSON.
        if json.starts_with(b"\"") {
            return Ok(Manifest::from_text(serde_json::from_slice::<String>(&json).map_err(error)?));
        }
        Ok(Manifest(ManifestSource::Json(json)))
    }
}
