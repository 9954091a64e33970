//! The interface between the verbs and a resource: the strategies of `k8s.io/apiserver/pkg/registry/rest`
//! (`RESTCreateStrategy`, `RESTUpdateStrategy`, `RESTDeleteStrategy`) together with parts of `handlers.RequestScope`
//! (decoder, field manager, names for admission).

use crate::apply::updater::Versions;
use crate::pipeline::Verdict;
use crate::server::http::context::Context;
use crate::server::http::delete_options::DeleteOptions;
use crate::server::http::negotiate::{self, Input};
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::{ListOptions, WriteOptions};
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::Refusal;
use crate::server::http::table::Columns;
use crate::server::metadata::{HasMetadata, Object};
use crate::server::registry::etcd;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::registry::rest;
use crate::server::registry::store::{Collection, StoredObject};
use crate::server::registry::written::Written;
use crate::server::scope::GroupResource;
use crate::server::scope::RequestScope;
use crdx_text::strict::StrictError;
use crdx_value::steps::Spent;
use crdx_value::{Map, Value};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::{Arc, MutexGuard};

/// The part of a strategy that get, list and watch need, for one version of a resource.
pub(in crate::server) trait ReadStrategy: Debug + Send + Sync {
    /// A key as error messages show it.
    fn shown_key(&self, key: &str, dry_run: bool) -> String {
        let resource = self.resource();
        if dry_run { rest::dry_key(resource, key) } else { rest::etcd_key(resource, key) }
    }

    /// The group and resource, for messages.
    fn resource(&self) -> GroupResource<'_>;

    /// Returns true if the resource is namespaced.
    fn is_namespaced(&self) -> bool;

    /// The stored objects.
    fn objects(&self) -> &Arc<Collection>;

    /// Converts a stored object to this version.
    ///
    /// # Errors
    /// Returns a refusal if the object cannot be decoded or converted.
    fn read(&self, stored: &StoredObject) -> Result<Arc<Value>, Refusal>;

    /// Rejects field selectors on fields that are not selectable.
    ///
    /// # Errors
    /// Returns 400 Bad Request for the first such field.
    fn check_fields(&self, fields: &FieldSelector) -> Result<(), Refusal>;

    /// Returns true if the selectors match an object.
    ///
    /// # Errors
    /// Returns a refusal if a selectable field does not have exactly one value.
    fn selects(&self, object: &Value, options: &ListOptions) -> Result<bool, Refusal>;

    /// The columns of the resource's Table.
    fn columns(&self) -> &Columns;

    /// Returns true if objects are also returned as a Table (`TableConvertor`).
    fn has_table(&self) -> bool {
        true
    }

    /// The type of the resource's lists.
    fn list_type(&self) -> ListType<'_>;

    /// The object of a bookmark event: type and metadata only.
    fn bookmark(&self, metadata: Map) -> Value;

    /// A number that identifies the compiled CRD version; results read with the same tag are interchangeable.
    fn tag(&self) -> u64 {
        0
    }

    /// Returns true once this compiled version is no longer served, which ends its watches.
    fn is_retired(&self) -> bool {
        false
    }
}

/// The type of a resource's lists.
#[derive(Clone, Debug)]
pub(in crate::server) struct ListType<'a> {
    /// `apiVersion`
    pub api_version: Cow<'a, str>,
    pub kind: &'a str,
    /// The Go type, which one error message contains.
    pub go_type: &'static str,
}

/// The interface between the verbs and one version of a resource or subresource.
///
/// Objects pass through three forms: [`Strategy::Object`], which a request writes and the strategy validates;
/// [`Value`], the JSON that admission and field managers see; and [`Written`], which is stored. For a subresource with
/// its own kind, requests see a view of the existing object ([`Strategy::view`]), and the object they write is merged
/// into the existing object ([`Strategy::merge`]).
pub(in crate::server) trait Strategy: ReadStrategy + Versions {
    /// The type of objects during preparation and validation.
    type Object: Object;

    /// The group, version, resource, kind and subresource of requests.
    fn scope(&self) -> RequestScope<'_>;

    // Requests

    /// Determines the format of a body.
    ///
    /// # Errors
    /// Returns 415 Unsupported Media Type for any other format.
    fn input(&self, content_type: Option<&str>) -> Result<Input, Refusal> {
        negotiate::input(content_type)
    }

    /// Decodes and defaults the object of a POST or PUT, at the version of the URL.
    ///
    /// # Errors
    /// Returns 400 Bad Request for a body that cannot be decoded or has another type.
    fn decode(&self, ctx: &mut Context<'_>, input: Input, options: &WriteOptions) -> Result<Self::Object, Refusal>;

    /// Decodes the result of a JSON or merge patch; `strict` are the duplicate fields found in the patch.
    ///
    /// # Errors
    /// Returns 422 Invalid if the patched object cannot be decoded.
    fn decode_patched(
        &self,
        ctx: &mut Context<'_>,
        patched: PatchedObject<'_>,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<Self::Object, Refusal>;

    /// Returns true if strategic merge patches are accepted.
    fn accepts_strategic_merge(&self) -> bool {
        false
    }

    /// Applies a strategic merge patch and decodes the result; `strict` are the duplicate fields found in the patch.
    ///
    /// # Errors
    /// Returns a refusal if the patch cannot be applied or its result cannot be decoded.
    fn merge_strategically(
        &self,
        _ctx: &mut Context<'_>,
        _current: Value,
        _patch: &Value,
        _strict: Vec<StrictError>,
        _options: &WriteOptions,
    ) -> Result<Self::Object, Refusal> {
        Err(Refusal::unsupported_media_type(&[]))
    }

    /// Decodes the result of an apply of `patch`.
    ///
    /// # Errors
    /// Returns 500 if the object cannot be converted.
    fn decode_applied(
        &self,
        _ctx: &mut Context<'_>,
        applied: Value,
        _patch: &Value,
        _options: &WriteOptions,
    ) -> Result<Self::Object, Refusal> {
        Ok(Self::Object::of_value(applied)?)
    }

    /// Sets the schema's defaults, after a mutation by admission.
    ///
    /// # Errors
    /// Returns an error if the defaults need more memory than an object that can be stored.
    fn default(&self, _object: &mut Value, _notes: &mut ObjectNotes) -> Result<(), Spent> {
        Ok(())
    }

    /// Sets the defaults after an apply; `merged` is the object before its conversion, which may have empty lists and maps that
    /// the converted object omits.
    ///
    /// # Errors
    /// Returns the same error as [`Self::default`].
    fn default_applied(&self, object: &mut Value, _merged: &Value, notes: &mut ObjectNotes) -> Result<(), Spent> {
        self.default(object, notes)
    }

    // Managed fields

    /// An empty object, with which the field manager compares a new object.
    fn empty_object(&self) -> Value;

    /// The form of the object that the field manager sees, if it is not the object itself.
    fn managed_form(&self, _object: &Self::Object, _notes: &ObjectNotes) -> Option<Value> {
        None
    }

    // Create

    /// Rejects a new object before admission.
    ///
    /// # Errors
    /// Returns a refusal if the object is rejected.
    fn check_create(&self, _ctx: &Context<'_>, _object: &Self::Object) -> Result<(), Refusal> {
        Ok(())
    }

    /// `BeginCreate` of the store, before anything of the object is validated.
    ///
    /// # Errors
    /// Returns a refusal if something cannot be allocated for the object.
    fn begin_create(&self, _ctx: &Context<'_>, _object: &mut Self::Object) -> Result<(), Refusal> {
        Ok(())
    }

    /// `PrepareForCreate`
    fn prepare_create(&self, object: &mut Self::Object, notes: &mut ObjectNotes);

    /// `Validate` and `WarningsOnCreate`
    fn validate_create(&self, object: &Self::Object, notes: &ObjectNotes) -> Verdict;

    // Update

    /// Rejects an object without a type.
    ///
    /// # Errors
    /// Returns a refusal if the object has no apiVersion.
    fn check_type(&self, _object: &Self::Object) -> Result<(), Refusal> {
        Ok(())
    }

    /// Decodes a stored object for comparison in an update.
    ///
    /// # Errors
    /// Returns a refusal if the object cannot be decoded.
    fn existing(&self, stored: &StoredObject) -> Result<Existing<Self::Object>, Refusal>;

    /// `AllowUnconditionalUpdate`: returns true if an update may omit the resourceVersion.
    fn allows_unconditional_update(&self) -> bool {
        false
    }

    /// `AllowCreateOnUpdate`: returns true if a PUT creates an object that does not exist.
    fn allows_create_on_update(&self) -> bool {
        false
    }

    /// Returns true if an apply creates an object that does not exist (`forceAllowCreate`).
    fn creates_by_apply(&self) -> bool {
        self.scope().subresource.is_empty()
    }

    /// `BeginUpdate` of the store, before anything of the object is validated.
    ///
    /// # Errors
    /// Returns a refusal if something cannot be allocated for the object.
    fn begin_update(&self, _ctx: &Context<'_>, _object: &mut Self::Object, _old: &Self::Object) -> Result<(), Refusal> {
        Ok(())
    }

    /// `PrepareForUpdate`
    fn prepare_update(&self, object: &mut Self::Object, old: &Self::Object, notes: &ObjectNotes);

    /// `ValidateUpdate` and `WarningsOnUpdate`
    fn validate_update(&self, object: &Self::Object, old: &Self::Object, notes: &ObjectNotes) -> Verdict;

    /// The refusal of an invalid object.
    fn invalid(&self, object: &Self::Object, errors: crdx_value::field::ErrorList) -> Refusal;

    // Subresources with a kind of their own

    /// The view of an existing object that requests see.
    ///
    /// # Errors
    /// Returns a refusal if the object has no such view.
    fn view(&self, object: &Arc<Value>) -> Result<Arc<Value>, Refusal> {
        Ok(Arc::clone(object))
    }

    /// Merges the written object into the existing object.
    ///
    /// # Errors
    /// Returns a refusal if the written object cannot be merged.
    fn merge(&self, _existing: &Value, written: Self::Object) -> Result<Self::Object, Refusal> {
        Ok(written)
    }

    /// The view of an object that validating admission sees.
    ///
    /// # Errors
    /// Returns a refusal if the object has no such view.
    fn admitted<'v>(&self, object: &'v Value) -> Result<Cow<'v, Value>, Refusal> {
        Ok(Cow::Borrowed(object))
    }

    /// The response to a GET of an object.
    ///
    /// # Errors
    /// Returns a refusal if the object has no such view.
    fn get_answer(&self, object: Arc<Value>) -> Result<Arc<Value>, Refusal> {
        Ok(object)
    }

    /// The response to a write of an object.
    ///
    /// # Errors
    /// Returns a refusal if the object has no such view.
    fn write_answer(&self, object: Arc<Value>) -> Result<Arc<Value>, Refusal> {
        Ok(object)
    }

    // Delete

    /// Rejects the DELETE of one object, whether it exists or not.
    ///
    /// # Errors
    /// Returns 403 Forbidden for an object that the server needs.
    fn check_delete(&self, _name: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// `CheckGracefulDelete`: the grace period in seconds of a first DELETE, if the kind has grace periods; `requested`
    /// is the one in the request.
    fn grace_period(&self, _object: &Self::Object, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// `ReturnDeletedObject`: returns true if a DELETE returns the removed object and not a `Status`.
    fn returns_deleted(&self) -> bool {
        false
    }

    /// Checks the preconditions of a DELETE before the registry does.
    ///
    /// # Errors
    /// Returns 409 Conflict if a precondition fails.
    fn check_preconditions(&self, existing: &Value, options: &DeleteOptions) -> Result<(), Refusal> {
        rest::check_preconditions(self.scope(), existing, options)
    }

    /// Marks the object as being deleted on its first DELETE, for resources that do not leave this to the object's
    /// finalizers.
    fn mark_deleting(&self, _existing: &Self::Object, _now: &str) -> Option<Self::Object> {
        None
    }

    /// Returns true if an object that [`Self::mark_deleting`] marks gets the finalizers of the delete options.
    fn takes_finalizers_of_deletion(&self) -> bool {
        false
    }

    /// Returns true if an update may remove an object that is being deleted and has no finalizers in its metadata.
    fn may_be_removed(&self, _object: &Value) -> bool {
        true
    }

    // Storage

    /// A lock held from reading the existing object to the commit, for resources whose writes affect each other.
    fn lock(&self) -> Option<MutexGuard<'_, ()>> {
        None
    }

    /// Converts an object to its stored form. `decoded` is true if the object comes from a request decoder and nothing
    /// was added since, so that decoding it again can only add defaults.
    ///
    /// # Errors
    /// Returns a refusal if the object cannot be converted to the storage version.
    fn written(&self, object: Value, decoded: bool) -> Result<Written, Refusal>;

    /// The response to a dry run, which stores nothing.
    ///
    /// # Errors
    /// See [`Strategy::written`].
    fn dry_run(&self, object: Value, decoded: bool) -> Result<Written, Refusal> {
        self.written(object, decoded)
    }

    /// The prefix of the keys of etcd, before the namespace and name.
    fn etcd_prefix(&self) -> String {
        let GroupResource { group, resource } = self.resource();
        format!("/registry/{group}/{resource}/")
    }

    /// The length of a stored object as etcd has it, in bytes. Custom resources are stored as JSON.
    fn stored_length(&self, raw: &Value) -> usize {
        etcd::json_length(raw)
    }

    /// Called before a new object is stored.
    fn before_insert(&self, _ctx: &Context<'_>) {}

    /// Called after an object was stored; `shown` is the object at the version of the request.
    fn committed(&self, stored: &StoredObject, shown: &Arc<Value>);

    /// Called after an object was removed.
    fn removed(&self, ctx: &Context<'_>, name: &str);
}

/// The stored object that an update replaces.
#[derive(Clone, Debug)]
pub(in crate::server) struct Existing<O> {
    /// The object at the version of the request.
    pub value: Arc<Value>,
    /// The object in the form used for validation.
    pub object: Arc<O>,
}

impl<O: HasMetadata> HasMetadata for Existing<O> {
    fn metadata(&self) -> Option<&Map> {
        self.value.metadata()
    }
}
