//! What differs from resource to resource, as the verbs ask for it: the strategies of `k8s.io/apiserver/pkg/registry/rest`
//! (`RESTCreateStrategy`, `RESTUpdateStrategy`, `RESTDeleteStrategy`) together with the parts of a `handlers.RequestScope`
//! (decoder, field manager, names for admission).

use crate::apply::updater::Versions;
use crate::pipeline::Verdict;
use crate::server::Server;
use crate::server::admission::RequestScope;
use crate::server::http::context::Context;
use crate::server::http::delete_options::DeleteOptions;
use crate::server::http::negotiate::{self, Input};
use crate::server::http::options::{ListOptions, WriteOptions};
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::{GroupResource, Refusal};
use crate::server::http::table::Columns;
use crate::server::registry::metadata::{HasMetadata, Object};
use crate::server::registry::rest;
use crate::server::registry::store::{Collection, Stored};
use crate::server::registry::written::Written;
use crate::value::{Map, Value};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::{Arc, MutexGuard};

/// What get, list and watch ask about a resource at one version.
pub(in crate::server) trait ReadStrategy: Debug + Send + Sync {
    /// The resource, for messages.
    fn resource(&self) -> GroupResource<'_>;

    /// Whether objects are in namespaces.
    fn is_namespaced(&self) -> bool;

    /// The stored objects.
    fn objects(&self) -> &Arc<Collection>;

    /// A stored object as the version shows it.
    ///
    /// # Errors
    /// An object that cannot be decoded or converted.
    fn read(&self, stored: &Stored) -> Result<Arc<Value>, Refusal>;

    /// Refuses field selectors by other fields than those that select.
    ///
    /// # Errors
    /// 400 for the first such field.
    fn check_fields(&self, fields: &FieldSelector) -> Result<(), Refusal>;

    /// Whether the selectors select an object.
    ///
    /// # Errors
    /// A selectable field without a single value.
    fn selects(&self, object: &Value, options: &ListOptions) -> Result<bool, Refusal>;

    /// The columns of a table.
    fn columns(&self) -> &Columns;

    /// The type of lists.
    fn list_type(&self) -> ListType<'_>;

    /// The object of a bookmark: nothing but type and metadata.
    fn bookmark(&self, metadata: Map) -> Value;

    /// Differs for compilations of a definition that show objects in another way.
    fn tag(&self) -> u64 {
        0
    }

    /// Whether the resource is no longer served in this way, which ends watches.
    fn is_retired(&self) -> bool {
        false
    }
}

/// The type of a resource's lists.
#[derive(Clone, Debug)]
pub(in crate::server) struct ListType<'a> {
    /// `apiVersion`
    pub api_version: Cow<'a, str>,
    /// `kind`
    pub kind: &'a str,
    /// The Go type, which one refusal names.
    pub go_type: &'static str,
}

/// What the verbs ask about a resource, or one of its subresources, at one version.
///
/// Objects pass through three forms: what a request writes and a strategy validates ([`Strategy::Object`]), the JSON that
/// admission and field managers see ([`Value`]), and what is stored ([`Written`]). For a subresource with a kind of its
/// own, requests see a view of the existing object ([`Strategy::view`]) and what they write is merged into the object
/// ([`Strategy::merge`]).
pub(in crate::server) trait Strategy: ReadStrategy + Versions {
    /// The object while it is prepared and validated.
    type Object: Object;

    /// Group, version, resource, kind and subresource of requests.
    fn scope(&self) -> RequestScope<'_>;

    // Requests

    /// The format of a body.
    ///
    /// # Errors
    /// 415
    fn input(&self, content_type: Option<&str>) -> Result<Input, Refusal> {
        negotiate::input(content_type)
    }

    /// The object of a POST or PUT, with defaults, in the version of the URL.
    ///
    /// # Errors
    /// 400 for a body that cannot be read or has another type.
    fn decode(&self, ctx: &mut Context<'_>, input: Input, options: &WriteOptions) -> Result<Self::Object, Refusal>;

    /// The object that a JSON or merge patch made; `strict` are the duplicate fields found in the patch.
    ///
    /// # Errors
    /// 422 for a patched object that cannot be read.
    fn decode_patched(
        &self,
        ctx: &mut Context<'_>,
        patched: Value,
        strict: Vec<String>,
        options: &WriteOptions,
    ) -> Result<Self::Object, Refusal>;

    /// The object that an apply of `patch` made.
    ///
    /// # Errors
    /// 500 for an object that cannot be converted.
    fn decode_applied(
        &self,
        ctx: &mut Context<'_>,
        applied: Value,
        patch: &Value,
        options: &WriteOptions,
    ) -> Result<Self::Object, Refusal>;

    /// Sets the schema's defaults, after an apply or a mutation by admission.
    fn default(&self, _object: &mut Value) {}

    // Managed fields

    /// An object before anything is set, with which field managers compare a new one.
    fn empty_object(&self) -> Value;

    /// The object as the field manager sees it, where that is not the object itself.
    fn managed_form(&self, _object: &Self::Object) -> Option<Value> {
        None
    }

    // Create

    /// Refuses a new object before admission.
    ///
    /// # Errors
    /// The refusal of the request.
    fn check_create(&self, _ctx: &Context<'_>, _object: &Self::Object) -> Result<(), Refusal> {
        Ok(())
    }

    /// `PrepareForCreate`
    fn prepare_create(&self, object: &mut Self::Object);

    /// `Validate` and `WarningsOnCreate`
    fn validate_create(&self, object: &Self::Object) -> Verdict;

    // Update

    /// A stored object as an update compares it.
    ///
    /// # Errors
    /// An object that cannot be read.
    fn existing(&self, stored: &Stored) -> Result<Existing<Self::Object>, Refusal>;

    /// `AllowUnconditionalUpdate`: whether an update need not name the revision it replaces.
    fn allows_unconditional_update(&self) -> bool {
        false
    }

    /// `PrepareForUpdate`
    fn prepare_update(&self, object: &mut Self::Object, old: &Self::Object);

    /// `ValidateUpdate` and `WarningsOnUpdate`
    fn validate_update(&self, object: &Self::Object, old: &Self::Object) -> Verdict;

    /// The refusal of an invalid object.
    fn invalid(&self, object: &Self::Object, errors: crate::field::ErrorList) -> Refusal;

    // Subresources with a kind of their own

    /// What requests see of an existing object.
    ///
    /// # Errors
    /// An object of which there is no view.
    fn view(&self, object: &Arc<Value>) -> Result<Arc<Value>, Refusal> {
        Ok(Arc::clone(object))
    }

    /// The whole object with what a request wrote.
    ///
    /// # Errors
    /// A written object that cannot be merged.
    fn merge(&self, _existing: &Value, written: Self::Object) -> Result<Self::Object, Refusal> {
        Ok(written)
    }

    /// What validating admission sees of an object.
    ///
    /// # Errors
    /// An object of which there is no view.
    fn admitted<'v>(&self, object: &'v Value) -> Result<Cow<'v, Value>, Refusal> {
        Ok(Cow::Borrowed(object))
    }

    /// The answer to a GET of an object.
    ///
    /// # Errors
    /// An object of which there is no view.
    fn get_answer(&self, object: Arc<Value>) -> Result<Arc<Value>, Refusal> {
        Ok(object)
    }

    /// The answer to a write of an object.
    ///
    /// # Errors
    /// An object of which there is no view.
    fn write_answer(&self, object: Arc<Value>) -> Result<Arc<Value>, Refusal> {
        Ok(object)
    }

    // Delete

    /// The object must be the one that the options of a DELETE name.
    ///
    /// # Errors
    /// 409
    fn check_preconditions(&self, existing: &Value, options: &DeleteOptions) -> Result<(), Refusal> {
        rest::check_preconditions(self.scope(), existing, options)
    }

    /// What the first DELETE of this object makes of it, where that is not up to its finalizers.
    fn mark_deleting(&self, _existing: &Self::Object, _now: &str) -> Option<Self::Object> {
        None
    }

    // Storage

    /// Held from reading the existing object to the commit, for resources whose writes concern each other.
    fn lock<'s>(&self, _server: &'s Server) -> Option<MutexGuard<'s, ()>> {
        None
    }

    /// What becomes of an object when it is stored. `decoded` says that it came from a request's decoder and nothing was
    /// added since, so that decoding it again changes nothing but defaults.
    ///
    /// # Errors
    /// An object that cannot be converted to the storage version.
    fn written(&self, object: Value, decoded: bool) -> Result<Written, Refusal>;

    /// What a dry run of a create answers, for which nothing is stored.
    ///
    /// # Errors
    /// As for [`Strategy::written`].
    fn dry_run(&self, object: Value, decoded: bool) -> Result<Arc<Value>, Refusal> {
        self.written(object, decoded).map(Written::shown)
    }

    /// An object was stored, and the writer sees `shown`.
    fn committed(&self, server: &Server, stored: &Stored, shown: &Arc<Value>);

    /// An object was removed.
    fn removed(&self, ctx: &Context<'_>, name: &str);
}

/// A stored object that an update is about to replace.
#[derive(Clone, Debug)]
pub(in crate::server) struct Existing<O> {
    /// As the version of the request shows it.
    pub value: Arc<Value>,
    /// The same in the form that is validated.
    pub object: Arc<O>,
}

impl<O: HasMetadata> HasMetadata for Existing<O> {
    fn metadata(&self) -> Option<&Map> {
        self.value.metadata()
    }
}
