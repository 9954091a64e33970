//! Stores objects without validation, as if they had existed before the current CRD, which may reject them. Also
//! validates an object without a write request.

use crate::crd::{self, CustomResourceDefinition};
use crate::pipeline::{self, Verdict};
use crate::server::Server;
use crate::server::http::calls::Calls;
use crate::server::metadata;
use crate::server::registry::revision::parse_revision;
use crate::server::registry::store;
use crate::server::strategy::serving::storage::integral_floats;
use crate::server::strategy::serving::{Serving, Version};
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::lock::lock;
use crdx_value::time::Timestamp;
use std::sync::Arc;

const DELETION: &str = "deletionTimestamp";

/// The reason why an object or a CRD cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// The server serves no such CRD.
    #[error("there is no CRD {0}")]
    NoDefinition(String),
    /// The object has no name.
    #[error("a stored object has a name")]
    NoName,
    /// The CRD does not have the version of the object.
    #[error("its CRD has no version {0}")]
    NoVersion(String),
    /// The server could not decode it; the server's message.
    #[error("{0}")]
    NotDecoded(GoError),
}

impl Server {
    /// Stores `object` as a custom resource of the CRD named `definition` (`plural.group`), replacing any existing
    /// object. Its resourceVersion is kept; if it has none, a new one is assigned.
    ///
    /// # Errors
    /// The object could not have been stored.
    pub fn seed(&self, definition: &str, namespace: &str, object: Value) -> Result<(), SeedError> {
        let (serving, StoredForm { raw, read }) = self.form(definition, namespace, object)?;
        let namespace = if serving.namespaced { namespace } else { "" };
        let revision = parse_revision(metadata::text(&raw, "resourceVersion")).ok().filter(|r| *r > 0);
        let key = store::key(namespace, metadata::text(&raw, "name"));
        let stored = serving.objects.seed(&key, raw, revision, &self.resources().storage.revision);
        let read = match read {
            ReadForm::Unknown => return Ok(()),
            ReadForm::Same => stored.raw(),
            ReadForm::Other(mut read) => {
                metadata::set_text(&mut read, "resourceVersion", &stored.revision.to_string());
                Arc::new(read)
            }
        };
        if let Some(storage) = serving.storage() {
            stored.cache_read(storage.tag(), &read);
        }
        Ok(())
    }

    /// Converts `object` to the form in which [`Server::seed`] stores it, without a resourceVersion that it does not
    /// have.
    ///
    /// # Errors
    /// The object could not have been stored.
    pub fn stored_form(&self, definition: &str, namespace: &str, object: Value) -> Result<StoredForm, SeedError> {
        self.form(definition, namespace, object).map(|(_, form)| form)
    }

    fn form(&self, definition: &str, namespace: &str, object: Value) -> Result<(Arc<Serving>, StoredForm), SeedError> {
        let serving = self.resources().get(definition).ok_or_else(|| SeedError::NoDefinition(definition.to_owned()))?;
        if metadata::text(&object, "name").is_empty() {
            return Err(SeedError::NoName);
        }
        let form = stored_form(&serving, if serving.namespaced { namespace } else { "" }, object)?;
        Ok((serving, form))
    }

    /// Returns the stored object, in the storage version.
    pub fn stored(&self, definition: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let serving = self.resources().get(definition)?;
        let key = store::key(if serving.namespaced { namespace } else { "" }, name);
        serving.objects.get(&key).map(|stored| stored.raw())
    }

    /// Returns the stored CRD with this name (`plural.group`).
    pub fn stored_definition(&self, name: &str) -> Option<Arc<Value>> {
        self.resources().definitions.objects.get(name).map(|stored| stored.raw())
    }

    /// The CRD with this name (`plural.group`) as JSON, if it is served.
    pub fn definition(&self, name: &str) -> Option<Value> {
        Some(self.resources().get(name)?.crd.to_value())
    }

    /// Returns true if the objects of the CRD with this name (`plural.group`) are served in a version.
    pub fn serves(&self, definition: &str, version: &str) -> bool {
        let serving = self.resources().get(definition);
        serving.is_some_and(|serving| serving.version(version).is_some_and(|version| version.served))
    }

    /// Removes an object from the store if it exists.
    pub fn withdraw(&self, definition: &str, namespace: &str, name: &str) {
        let Some(serving) = self.resources().get(definition) else { return };
        let key = store::key(if serving.namespaced { namespace } else { "" }, name);
        if let Some(stored) = serving.objects.get(&key) {
            // An object that was written in the meantime is kept.
            serving.objects.forget(&key, &stored, &self.resources().storage.revision);
        }
    }

    /// Stores a CRD, with its status if it has one, and serves it. The controllers do not finalize a CRD that is being
    /// deleted: its objects may follow.
    ///
    /// # Errors
    /// The CRD cannot be decoded.
    pub fn seed_definition(&self, definition: &Value, now: Timestamp) -> Result<(), SeedError> {
        let decoded = crd::decode(definition).map_err(|error| SeedError::NotDecoded(error.to_string().into()))?;
        self.seed_decoded_definition(decoded.crd, now);
        Ok(())
    }

    /// As [`Server::seed_definition`], for a decoded CRD.
    pub fn seed_decoded_definition(&self, mut crd: CustomResourceDefinition, now: Timestamp) {
        if crd.status.stored_versions.is_empty() {
            let storage = crd.spec.versions.iter().filter(|v| v.storage).map(|v| v.name.clone());
            crd.status.stored_versions = storage.collect();
        }
        let name = crd.name().to_owned();
        let deleted = crd.metadata.remove(DELETION).filter(|time| !time.is_null());
        let value = crd.to_value();
        let revision = parse_revision(metadata::text(&value, "resourceVersion")).ok().filter(|r| *r > 0);
        {
            let _writing = lock(&self.resources().definitions.writing);
            let definitions = &self.resources().definitions;
            let stored = definitions.objects.seed(&name, value, revision, &self.resources().storage.revision);
            definitions.validated(&crd);
            definitions.committed(&stored);
        }
        self.resources().written_definitions.add(&name);
        self.run_controllers(now);
        if let Some(time) = deleted {
            let _writing = lock(&self.resources().definitions.writing);
            if let Some(stored) = self.stored_definition(&name) {
                let mut crd = (*stored).clone();
                metadata::set(&mut crd, DELETION, Some(time));
                self.resources().definitions.objects.seed(&name, crd, revision, &self.resources().storage.revision);
            }
            self.resources().serve_definition(&name);
        }
    }

    /// Validates an object of `version`, including its status and without ratcheting. Returns `None` if the version
    /// does not exist.
    pub fn validate_object(&self, definition: &str, version: &str, object: &Value) -> Option<Verdict> {
        let serving = self.resources().get(definition)?;
        let version = Arc::clone(serving.version(version)?);
        Some(pipeline::validate_create(&version.stages, object))
    }
}

/// An object as etcd would store it.
#[derive(Debug)]
pub struct StoredForm {
    /// The object in the storage version.
    pub raw: Value,
    /// The object as a read at the storage version returns it.
    pub read: ReadForm,
}

/// A stored object as a read returns it.
#[derive(Debug)]
pub enum ReadForm {
    /// The stored object.
    Same,
    /// Another object, for example because of defaults.
    Other(Value),
    /// It is not known before the object is decoded.
    Unknown,
}

/// Converts the object to the storage version.
fn stored_form(serving: &Serving, namespace: &str, mut object: Value) -> Result<StoredForm, SeedError> {
    integral_floats(&mut object);
    metadata::set_text(&mut object, "namespace", namespace);
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default().to_owned();
    let own: Option<&Arc<Version>> = serving.version_of(&api_version);
    let own = own.ok_or(SeedError::NoVersion(api_version))?;
    if let Some(kind) = serving.typed_version(&own.name) {
        kind.check(&object).map_err(SeedError::NotDecoded)?;
        return Ok(StoredForm { raw: kind.stored_object(kind.complete(&object)), read: ReadForm::Unknown });
    }
    let storage = serving.storage().unwrap_or(own);
    // Decoding fails for an object that the server could not read back.
    let read = serving.decode_stored(&object, storage, &Calls::default());
    let read = read.map_err(|refusal| SeedError::NotDecoded(refusal.message.into()))?;
    Ok(if own.name == storage.name {
        StoredForm { raw: object, read: read.map_or(ReadForm::Same, ReadForm::Other) }
    } else {
        StoredForm { raw: read.unwrap_or(object), read: ReadForm::Unknown }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::fixture::{self, KITES, crd, v1};
    use crate::server::{Method, Request};
    use crdx_text::json;
    use crdx_value::release::Release;

    const SCHEMA: &str = r#"{"type":"object","properties":{"spec":{"type":"object","properties":{
        "length":{"type":"integer"},"colour":{"type":"string","enum":["red"],"default":"red"}}}}}"#;

    fn kites() -> Value {
        read(&crd("kites.toys.example.com", &v1(SCHEMA, "")))
    }

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn send(server: &Server, method: Method, body: Value) -> (u16, Value) {
        fixture::json(server.handle(&Request::new(method, &format!("{KITES}/k"), body)))
    }

    #[test]
    fn seeded_objects_are_not_validated() {
        let server = Server::new(Release::NEWEST, 0);
        server.seed_definition(&kites(), Timestamp::default()).unwrap();
        let old = read(
            r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"k","resourceVersion":"70"},
            "spec":{"length":"long","tail":1}}"#,
        );
        server.seed("kites.toys.example.com", "ns", old).unwrap();
        let (code, seen) = send(&server, Method::Get, Value::Null);
        assert_eq!(code, 200);
        assert_eq!(seen.get("spec"), Some(&read(r#"{"colour":"red","length":"long"}"#)));
        assert_eq!(metadata::text(&seen, "resourceVersion"), "70");
        let verdict = server.validate_object("kites.toys.example.com", "v1", &seen).unwrap();
        assert_eq!(verdict.errors.len(), 1);
        // An existing error is tolerated; a new error is not.
        let (code, seen) = send(&server, Method::Patch, read(r#"{"metadata":{"labels":{"a":"b"}}}"#));
        assert_eq!((code, metadata::text(&seen, "resourceVersion")), (200, "71"));
        assert_eq!(send(&server, Method::Patch, read(r#"{"spec":{"length":"longer"}}"#)).0, 422);
        server.withdraw("kites.toys.example.com", "ns", "k");
        assert_eq!(send(&server, Method::Get, Value::Null).0, 404);
    }

    #[test]
    fn a_crd_that_is_being_deleted_forbids_creates_only() {
        let server = Server::new(Release::NEWEST, 0);
        let mut crd = kites();
        metadata::set_text(&mut crd, DELETION, "2026-01-01T00:00:00Z");
        metadata::set(&mut crd, "finalizers", Some(vec![crate::crd::CLEANUP_FINALIZER.into()].into()));
        server.seed_definition(&crd, Timestamp::default()).unwrap();
        let kite = r#"{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{"name":"k"}}"#;
        server.seed("kites.toys.example.com", "ns", read(kite)).unwrap();
        let other = read(&kite.replace(r#""k""#, r#""other""#));
        let refused = server.handle(&Request::new(Method::Post, KITES, other));
        let message = r#"kites.toys.example.com "other" is forbidden: create not allowed while custom resource definition is terminating"#;
        assert_eq!((refused.code, refused.body.message()), (403, message));
        assert_eq!(send(&server, Method::Patch, read(r#"{"metadata":{"labels":{"a":"b"}}}"#)).0, 200);
        assert_eq!(send(&server, Method::Delete, Value::Null).0, 200);
        assert!(server.stored_definition("kites.toys.example.com").is_none());
    }

    #[test]
    fn invalid_stored_objects_are_refused() {
        let server = Server::new(Release::NEWEST, 0);
        server.seed_definition(&kites(), Timestamp::default()).unwrap();
        let seed = |text: &str| server.seed("kites.toys.example.com", "ns", read(text)).unwrap_err().to_string();
        assert_eq!(
            seed(r#"{"apiVersion":"toys.example.com/v2","kind":"Kite","metadata":{"name":"k"}}"#),
            "its CRD has no version toys.example.com/v2"
        );
        assert_eq!(seed(r#"{"apiVersion":"toys.example.com/v1","kind":"Kite"}"#), "a stored object has a name");
        assert!(server.seed("x.y", "ns", Value::Null).is_err());
    }
}
