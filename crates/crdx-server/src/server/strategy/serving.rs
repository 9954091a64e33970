//! The compiled form of a CRD, shared by all requests (`getOrCreateServingInfoFor` in
//! `apiserver/customresource_handler.go`).

pub(in crate::server) mod storage;

use crate::apply::types;
use crate::crd::{CustomResourceDefinition, Spec};
use crate::pipeline::{self, Decoded, Facts, ObjectOrigin, ResourceVersion, ScalePaths};
use crate::server::http::calls::{Calls, Reviewed};
use crate::server::http::status::Refusal;
use crate::server::http::table::Columns;
use crate::server::metadata;
use crate::server::registry::store::{Collection, StoredObject};
use crate::server::scope::GroupResource;
use crate::server::scope::{GroupVersionKind, GroupVersionResource, RequestScope};
use crate::server::strategy::built_in::{BuiltIn, Custom};
use crate::server::strategy::built_in_kind::BuiltInKind;
use crate::server::strategy::subresource::Subresource;
use crate::webhooks::call;
use crate::webhooks::conversion::{self, Converter};
use crdx_types::merge::{Type, TypeRef};
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::group_version::{self, api_version, rank};
use crdx_value::jsonpath::{self, Item, JsonPath};
use crdx_value::release::{Release, V1_37};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A compiled CRD.
#[derive(Debug)]
pub(in crate::server) struct Serving {
    /// The stored CRD.
    pub crd: Arc<CustomResourceDefinition>,
    /// `spec.group`
    pub group: String,
    /// The accepted plural.
    pub plural: String,
    /// The accepted kind.
    pub kind: String,
    /// The accepted list kind.
    pub list_kind: String,
    /// True if the resource is namespaced.
    pub namespaced: bool,
    /// True if the CRD is being deleted.
    pub terminating: bool,
    /// True if the server cannot compile some version of the CRD, although it accepted it (`getOrCreateServingInfoFor`).
    pub unservable: bool,
    /// The versions, in the order of the CRD.
    pub versions: Vec<Arc<Version>>,
    /// The collection of stored objects.
    pub objects: Arc<Collection>,
    /// The behaviour of a built-in kind, or the default behaviour of custom resources.
    pub built_in: &'static dyn BuiltIn,
    /// The Go types of a built-in kind that is served with them, one for each version.
    pub typed: Vec<Arc<BuiltInKind>>,
    /// The webhook that converts objects.
    converter: Option<Converter>,
    retired: Arc<AtomicBool>,
}

/// A compiled version of a CRD.
#[derive(Debug)]
pub(in crate::server) struct Version {
    /// The name of the version.
    pub name: String,
    /// True if the version is served.
    pub served: bool,
    /// True for the storage version.
    pub storage: bool,
    /// The version as the pipeline uses it.
    pub stages: Arc<ResourceVersion>,
    /// The columns of its Table.
    pub columns: Columns,
    /// The selectable fields: names without the leading dot, and parsed paths or their parse errors.
    pub selectable: Vec<(String, Result<JsonPath, GoError>)>,
    /// The deprecation warning, if the version is deprecated.
    pub deprecation: Option<String>,
    /// Identifies cached results that were read through this compiled version.
    tag: u64,
    merge_type: OnceLock<TypeRef>,
}

impl Serving {
    /// Compiles a CRD.
    pub fn compile(crd: Arc<CustomResourceDefinition>, objects: Arc<Collection>, release: Release) -> Self {
        let spec = &crd.spec;
        let names = &crd.status.accepted_names;
        let compile = |name: &str| Arc::new(Version::compile(&crd, name, objects.next_id(), release));
        let versions = spec.versions.iter().map(|v| compile(&v.name)).collect();
        Self {
            group: spec.group.clone(),
            plural: names.plural.clone(),
            kind: names.kind.clone(),
            list_kind: names.list_kind.clone(),
            namespaced: spec.namespaced(),
            terminating: is_terminating(&crd),
            unservable: spec.unservable_version().is_some(),
            versions,
            objects,
            built_in: &Custom,
            typed: Vec::new(),
            converter: Converter::from_crd(&crd, release),
            retired: Arc::default(),
            crd,
        }
    }

    /// The same compiled form with a CRD whose changes do not affect objects.
    pub(crate) fn with_definition(&self, crd: Arc<CustomResourceDefinition>) -> Self {
        Self {
            terminating: is_terminating(&crd),
            group: self.group.clone(),
            plural: self.plural.clone(),
            kind: self.kind.clone(),
            list_kind: self.list_kind.clone(),
            namespaced: self.namespaced,
            unservable: self.unservable,
            versions: self.versions.clone(),
            objects: Arc::clone(&self.objects),
            built_in: self.built_in,
            typed: self.typed.clone(),
            converter: self.converter.clone(),
            retired: Arc::clone(&self.retired),
            crd,
        }
    }

    /// The same compiled form with the behaviour of a built-in kind.
    pub fn built_in(mut self, built_in: &'static dyn BuiltIn) -> Self {
        self.built_in = built_in;
        self
    }

    /// The same compiled form with the Go types of a built-in kind.
    pub fn typed(mut self, kinds: Vec<BuiltInKind>) -> Self {
        self.typed = kinds.into_iter().map(Arc::new).collect();
        self
    }

    /// The Go type of a version of a built-in kind.
    pub(crate) fn typed_version(&self, version: &str) -> Option<&Arc<BuiltInKind>> {
        self.typed.iter().find(|kind| kind.endpoint.version == version)
    }

    /// The Go type of a built-in kind with this `apiVersion`.
    pub(crate) fn typed_at(&self, api_version: &str) -> Option<&Arc<BuiltInKind>> {
        let (group, version) = group_version::split(api_version);
        (group == self.group).then(|| self.typed_version(version))?
    }

    /// The group, version, resource, kind and subresource of a request for a version.
    pub fn scope<'s>(&'s self, version: &'s Version, subresource: Subresource) -> RequestScope<'s> {
        let Self { group, plural, kind, .. } = self;
        let version = version.name.as_str();
        RequestScope {
            resource: GroupVersionResource { group, version, resource: plural },
            subresource: subresource.name(),
            kind: GroupVersionKind { group, version, kind },
        }
    }

    /// The subresources of a built-in kind besides `status` that are written as the whole object.
    pub(crate) fn subresources(&self) -> impl Iterator<Item = Subresource> {
        self.typed.first().into_iter().flat_map(|kind| kind.subresources())
    }

    /// Ends the watches of this compiled form, because the CRD was replaced or deleted.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
        self.objects.wake();
    }

    /// Returns true after [`Serving::retire`].
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }

    /// Returns true if the CRD's names are accepted or the CRD is established.
    pub fn is_served(&self) -> bool {
        self.crd.is_true("NamesAccepted") || self.crd.is_true("Established")
    }

    /// The version with this name.
    pub fn version(&self, name: &str) -> Option<&Arc<Version>> {
        self.versions.iter().find(|v| v.name == name)
    }

    /// The storage version.
    pub fn storage(&self) -> Option<&Arc<Version>> {
        self.versions.iter().find(|v| v.storage)
    }

    /// The group and resource, for messages.
    pub fn resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.group, resource: &self.plural }
    }

    /// The pipeline for an object with this `apiVersion`: that of the object's own version or, if there is no such
    /// version, of `requested`.
    pub(crate) fn stages_for<'a>(&'a self, api_version: &str, requested: &'a Version) -> &'a ResourceVersion {
        self.version_of(api_version).map_or(&*requested.stages, |v| &*v.stages)
    }

    /// Converts a stored object to `version`: decodes and defaults it in its stored version, then converts it.
    pub fn read(&self, stored: &StoredObject, version: &Version, calls: &Calls) -> Result<Arc<Value>, Refusal> {
        if let Some(object) = stored.cached_read(version.tag) {
            return Ok(object);
        }
        if let Some(kind) = self.typed_version(&version.name) {
            let object = kind.restored(&stored.raw()).map_or_else(|| stored.raw(), Arc::new);
            stored.cache_read(version.tag, &object);
            return Ok(object);
        }
        let decoded = self.decode_stored(&stored.raw(), version, calls).map_err(|refusal| {
            // `AllowUnsafeMalformedObjectDeletion` is on since 1.37.
            let wraps = calls.are_made() && !calls.is_waiting() && version.stages.release().since(V1_37);
            if wraps { Refusal::undecodable(stored.revision, &refusal.message) } else { refusal }
        })?;
        let object = match decoded {
            Some(object) => Arc::new(object),
            None => stored.raw(),
        };
        stored.cache_read(version.tag, &object);
        Ok(object)
    }

    /// The object that a read of `raw` at `version` returns; `None` if it equals `raw`.
    pub(crate) fn decode_stored(
        &self,
        raw: &Value,
        version: &Version,
        calls: &Calls,
    ) -> Result<Option<Value>, Refusal> {
        let api_version = raw.str_at(&["apiVersion"]).unwrap_or_default();
        let stages = self.stages_for(api_version, version);
        let decoded = pipeline::decode(stages, raw.clone(), ObjectOrigin::Storage);
        let mut object = decoded.map_err(|e| Refusal::internal(e.message))?.object;
        pipeline::default(stages, &mut object)?;
        if !self.built_in.has_generation() {
            metadata::set(&mut object, "generation", metadata::get(raw, "generation").cloned());
        }
        let object = self.convert(object, version, calls)?;
        Ok((object != *raw).then_some(object))
    }

    /// Converts an object to `version`, then prunes fields that the version does not declare.
    pub fn convert(&self, object: Value, version: &Version, calls: &Calls) -> Result<Value, Refusal> {
        Ok(self.convert_from(ObjectOrigin::Conversion, object, version, calls)?.object)
    }

    /// Converts an object to the storage version. Returns it with the paths of the pruned fields, unless a webhook converts
    /// objects, which may have moved fields.
    pub fn convert_to_storage(
        &self,
        object: Value,
        storage: &Version,
        calls: &Calls,
    ) -> Result<(Value, Vec<String>), Refusal> {
        let source = if self.converter.is_some() { ObjectOrigin::Conversion } else { ObjectOrigin::ReportedConversion };
        let decoded = self.convert_from(source, object, storage, calls)?;
        Ok((decoded.object, decoded.unknown))
    }

    fn convert_from(
        &self,
        source: ObjectOrigin,
        object: Value,
        version: &Version,
        calls: &Calls,
    ) -> Result<Decoded, Refusal> {
        let object = self.convert_type(object, &self.api_version(version), calls)?;
        pipeline::decode(&version.stages, object, source).map_err(|error| Refusal::unclassified(error.message))
    }

    /// Converts an object to another version as its definition says: by the webhook, or by setting the apiVersion.
    pub(crate) fn convert_type(&self, mut object: Value, wanted: &str, calls: &Calls) -> Result<Value, Refusal> {
        let have = object.str_at(&["apiVersion"]).unwrap_or_default();
        if have == wanted {
            return Ok(object);
        }
        if let (Some(from), Some(to)) = (self.typed_at(have), self.typed_at(wanted)) {
            return Ok(from.to_version(to, object));
        }
        if self.version_of(have).is_none() {
            return Err(Refusal::unclassified(format!("request to convert CR from an invalid group/version: {have}")));
        }
        if let Some(converter) = self.converter.as_ref().filter(|_| calls.are_made() && !conversion::is_empty(&object))
        {
            return convert_by_webhook(converter, &object, wanted, calls);
        }
        if let Some(members) = object.as_object_mut() {
            members.insert("apiVersion".to_owned(), Value::from(wanted));
        }
        Ok(object)
    }

    /// The version with this `apiVersion`.
    pub fn version_of(&self, api_version: &str) -> Option<&Arc<Version>> {
        let (group, version) = group_version::split(api_version);
        (group == self.group).then(|| self.version(version))?
    }

    /// `group/version`, or only the version in the core group.
    pub fn api_version(&self, version: &Version) -> String {
        api_version(&self.group, &version.name)
    }
}

/// `webhookConverter.Convert`
fn convert_by_webhook(converter: &Converter, object: &Value, wanted: &str, calls: &Calls) -> Result<Value, Refusal> {
    // Fails only for a definition that accepts no known version of reviews.
    converter.review(object, wanted, "").map_err(Refusal::unclassified)?;
    let review =
        |uid: &str| converter.review(object, wanted, uid).map(|review| call::body(&review)).unwrap_or_default();
    let Reviewed { uid, outcome } = calls.ask(&converter.target, conversion::TIMEOUT_SECONDS, review)?;
    converter.converted(object, wanted, &uid, &outcome).map_err(Refusal::unclassified)
}

impl Version {
    fn compile(crd: &CustomResourceDefinition, name: &str, tag: u64, release: Release) -> Self {
        let spec = &crd.spec;
        let subresources = spec.subresources(name);
        let facts = Facts {
            group: spec.group.clone(),
            version: name.to_owned(),
            kind: crd.status.accepted_names.kind.clone(),
            resource: crd.status.accepted_names.plural.clone(),
            namespaced: spec.namespaced(),
            preserve_unknown_fields: spec.preserves_unknown_fields(),
            status_subresource: subresources.is_some_and(|s| s.status),
            scale: subresources.and_then(|s| s.scale.as_ref()).map(|s| ScalePaths {
                spec_replicas: s.spec_replicas_path.clone(),
                status_replicas: s.status_replicas_path.clone(),
                label_selector: s.label_selector_path.clone(),
            }),
            schema: spec.schema(name).cloned(),
        };
        let selectable = spec.selectable_fields(name).iter().map(|path| {
            let name = path.strip_prefix('.').unwrap_or(path).to_owned();
            (name, JsonPath::parse(&format!("{{{path}}}")).map(|p| p.allow_missing_keys(true)))
        });
        let version = spec.version(name);
        Self {
            name: name.to_owned(),
            served: version.is_some_and(|v| v.served),
            storage: version.is_some_and(|v| v.storage),
            stages: Arc::new(ResourceVersion::new(facts, release)),
            columns: Columns::new(spec.columns(name)),
            selectable: selectable.collect(),
            deprecation: version
                .filter(|v| v.deprecated)
                .map(|v| v.deprecation_warning.clone().unwrap_or_else(|| default_deprecation_warning(name, spec))),
            tag,
            merge_type: OnceLock::new(),
        }
    }

    /// Identifies this compiled version.
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Caches the result of reading a stored object at this version.
    pub(crate) fn cache_read(&self, stored: &StoredObject, shown: &Arc<Value>) {
        stored.cache_read(self.tag, shown);
    }

    /// The merge type for server-side apply, built on first use.
    pub fn merge_type(&self) -> &Type {
        self.merge_type_ref().resolve()
    }

    /// Like [`Version::merge_type`], as a shared pointer.
    pub(crate) fn merge_type_ref(&self) -> &TypeRef {
        let facts = &self.stages.facts;
        let compile =
            || types::of_resource(facts.schema.as_deref(), facts.preserve_unknown_fields, self.stages.release);
        self.merge_type.get_or_init(compile)
    }

    /// The paths of the scale subresource.
    pub fn scale(&self) -> Option<&ScalePaths> {
        self.stages.facts.scale.as_ref()
    }

    /// Returns true if status is a subresource.
    pub(crate) fn has_status(&self) -> bool {
        self.stages.facts.status_subresource
    }

    /// The string that selectors compare for a selectable field.
    ///
    /// # Errors
    /// Returns a text if the path does not select exactly one value.
    pub fn field<'a>(&self, object: &'a Value, field: &str) -> Result<std::borrow::Cow<'a, str>, GoError> {
        match field {
            "metadata.name" => return Ok(metadata::text(object, "name").into()),
            "metadata.namespace" => return Ok(metadata::text(object, "namespace").into()),
            _ => {}
        }
        let Some((_, path)) = self.selectable.iter().find(|(name, _)| name == field) else { return Ok("".into()) };
        let path = path.as_ref().map_err(|e| format!("unexpected error parsing jsonPath: {e}"))?;
        let found = path.find(object).map_err(|e| format!("unexpected error finding value with jsonPath: {e}"))?;
        match found.as_slice() {
            [] => Ok("".into()),
            [first] if first.is_empty() => Ok("".into()),
            [first] if first.len() == 1 => Ok(first.first().map(|item| field_text(*item)).unwrap_or_default().into()),
            [first, ..] if first.is_empty() => Ok("".into()),
            _ => Err("unexpectedly received more than one JSON path result".into()),
        }
    }
}

/// The string that selectors compare for a value: `fmt.Sprint`, or empty for null.
fn field_text(item: Item<'_>) -> String {
    match item {
        Item::Missing | Item::Value(Value::Null) => String::new(),
        item => jsonpath::go_value(item),
    }
}

fn is_terminating(crd: &CustomResourceDefinition) -> bool {
    crd.is_true("Terminating") || crd.metadata.contains_key("deletionTimestamp")
}

/// `defaultDeprecationWarning`
fn default_deprecation_warning(deprecated: &str, spec: &Spec) -> String {
    let mut out = format!("{}/{deprecated} {} is deprecated", spec.group, spec.names.kind);
    let better = spec
        .versions
        .iter()
        .filter(|v| v.served && !v.deprecated && rank(&v.name) > rank(deprecated))
        .max_by(|a, b| rank(&a.name).cmp(&rank(&b.name)));
    if let Some(v) = better {
        let _ = write!(out, "; use {}/{} {}", spec.group, v.name, spec.names.kind);
    }
    out
}
