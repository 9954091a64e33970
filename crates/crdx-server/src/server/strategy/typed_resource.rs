//! Built-in kinds that are served with their Go types: decoding, defaults and patches follow the type. What differs between
//! kinds is in their [`KindStrategy`](super::built_in_kind::kind_strategy::KindStrategy).

pub(in crate::server) mod decode;
mod deletion_time;
mod generate_name;
mod managed_fields;
mod prepare;
mod selector;
mod serve;

pub(in crate::server) use serve::{definition, serve};

use crate::cluster_state::{Lookup, NAMESPACES, SERVICE_CIDRS, Unread, Wanted};
use crate::pipeline::Verdict;
use crate::pipeline::metadata::{self as validation, Metadata, MetadataValidation, NameRule};
use crate::server::http::answer::TYPED_LIST;
use crate::server::http::calls::Calls;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::{ListOptions, WriteOptions};
use crate::server::http::selector::{FieldSelector, label_selector_of};
use crate::server::http::status::Refusal;
use crate::server::http::table::Columns;
use crate::server::http::user::UserInfo;
use crate::server::metadata;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::registry::rest::stored_key;
use crate::server::registry::store::{Collection, StoredObject};
use crate::server::registry::strategy::{Existing, ListType, ReadStrategy, Strategy};
use crate::server::registry::written::Written;
use crate::server::scope::GroupResource;
use crate::server::scope::RequestScope;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crate::server::strategy::built_in_kind::kind_strategy::{AllocationError, AllocationRequest, KindRequest};
use crate::server::strategy::namespace;
use crate::server::strategy::namespace::SYSTEM_NAMESPACES;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::scale::Scalable;
use crate::server::strategy::serving::{Serving, Version};
use crate::server::strategy::strategic_merge;
use crate::server::strategy::subresource::Subresource;
use crdx_text::strict::StrictError;
use crdx_types::Endpoint;
use crdx_types::empties::Empties;
use crdx_types::encode::Encoded;
use crdx_value::field::{ErrorList, FieldError, FieldPath, names, remove_repeated};
use crdx_value::release::{Release, V1_37};
use crdx_value::steps::Spent;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object};
use std::sync::Arc;

/// The strategy of a built-in kind.
#[derive(Debug)]
pub(in crate::server) struct TypedResource {
    serving: Arc<Serving>,
    version: Arc<Version>,
    kind: Arc<BuiltInKind>,
    subresource: Subresource,
    resources: Arc<Resources>,
    calls: Calls,
    now: Timestamp,
    /// The user of the request, if objects of the kind name it.
    user: Option<UserInfo>,
    /// True for a dry run that the answer shows.
    dry_run: bool,
    /// The Namespace of the object, if the strategy of the kind depends on it.
    namespace: Option<Lookup<Arc<Value>>>,
}

impl TypedResource {
    /// Creates the strategy; `None` for a custom resource.
    pub fn new(
        serving: Arc<Serving>,
        version: Arc<Version>,
        subresource: Subresource,
        ctx: &Context<'_>,
        resources: &Arc<Resources>,
    ) -> Option<Self> {
        let kind = Arc::clone(serving.typed_version(&version.name)?);
        let user = kind.behaviour.names_user.then(|| ctx.user().clone());
        let namespace = kind.behaviour.depends_on_namespace.then(|| namespace_of(ctx, resources));
        Some(Self {
            serving,
            version,
            kind,
            subresource,
            resources: Arc::clone(resources),
            calls: ctx.calls.clone(),
            now: ctx.request.now,
            user,
            dry_run: !ctx.request.hides_dry_run && ctx.query.all("dryRun").any(|value| value == "All"),
            namespace,
        })
    }

    /// An object as its Go type encodes it.
    pub fn encode(&self, object: &Value) -> Value {
        self.kind.encode(object)
    }

    /// [`KindStrategy::validate_bound`](super::built_in_kind::kind_strategy::KindStrategy::validate_bound)
    pub fn validate_bound(&self, object: &Value, old: &Value) -> ErrorList {
        self.kind.strategy.validate_bound(object, old, self.release())
    }

    /// The simulated release.
    pub fn release(&self) -> Release {
        self.version.stages.release()
    }
}

impl ReadStrategy for TypedResource {
    fn shown_key(&self, key: &str, dry_run: bool) -> String {
        stored_key(self.resource(), key, dry_run)
    }

    fn resource(&self) -> GroupResource<'_> {
        self.serving.resource()
    }

    fn is_namespaced(&self) -> bool {
        self.serving.namespaced
    }

    fn objects(&self) -> &Arc<Collection> {
        &self.serving.objects
    }

    fn read(&self, stored: &StoredObject) -> Result<Arc<Value>, Refusal> {
        self.serving.read(stored, &self.version, &self.calls)
    }

    fn check_fields(&self, fields: &FieldSelector) -> Result<(), Refusal> {
        selector::check(&self.kind, fields, self.release())
    }

    fn selects(&self, object: &Value, options: &ListOptions) -> Result<bool, Refusal> {
        let fields = &options.fields;
        Ok(options.labels.selects(object)
            && (fields.is_empty() || fields.matches(|label| selector::value(&self.kind, object, label))))
    }

    fn columns(&self) -> &Columns {
        &self.kind.columns
    }

    fn has_table(&self) -> bool {
        matches!(self.subresource, Subresource::None | Subresource::Status)
    }

    fn list_type(&self) -> ListType<'_> {
        let api_version = self.serving.api_version(&self.version).into();
        ListType { api_version, kind: &self.serving.list_kind, go_type: TYPED_LIST }
    }

    fn bookmark(&self, metadata: Map) -> Value {
        self.kind.encode(&object([("metadata", Value::Object(metadata))]))
    }

    fn tag(&self) -> u64 {
        self.version.tag()
    }

    fn is_retired(&self) -> bool {
        self.serving.is_retired()
    }
}

impl Strategy for TypedResource {
    type Object = Value;

    fn scope(&self) -> RequestScope<'_> {
        self.serving.scope(&self.version, self.subresource)
    }

    fn decode(&self, ctx: &mut Context<'_>, input: Input, options: &WriteOptions) -> Result<Value, Refusal> {
        let decoded = decode::decoded_object(ctx, &self.kind, input, options)?;
        match self.kind.strategy.conversion_error(&decoded.object) {
            Some(error) => Err(decode::not_handled(&self.kind, &error)),
            None => Ok(self.complete(decoded, &mut ctx.notes)),
        }
    }

    fn decode_patched(
        &self,
        ctx: &mut Context<'_>,
        patched: PatchedObject<'_>,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        let object = decode::decoded_patch(ctx, &self.kind, patched, strict, options)?;
        Ok(self.complete(self.kind.encoded(&object), &mut ctx.notes))
    }

    fn accepts_strategic_merge(&self) -> bool {
        true
    }

    fn merge_strategically(
        &self,
        ctx: &mut Context<'_>,
        current: Value,
        patch: &Value,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        let merged = strategic_merge::checked(ctx, &self.kind, current, patch, strict, options)?;
        match self.kind.strategy.conversion_error(&merged) {
            Some(error) => Err(Refusal::unclassified(error)),
            None => Ok(self.complete(self.kind.encoded(&merged), &mut ctx.notes)),
        }
    }

    fn default(&self, object: &mut Value, notes: &mut ObjectNotes) -> Result<(), Spent> {
        notes.shares_labels = self.kind.strategy.shares_labels(object);
        *object = self.kind.complete(object);
        self.complete_decoded(object);
        Ok(())
    }

    fn default_applied(&self, object: &mut Value, merged: &Value, notes: &mut ObjectNotes) -> Result<(), Spent> {
        self.default(object, notes)?;
        self.note_empties(self.kind.encoded(merged).empties, notes);
        self.default_times(object);
        Ok(())
    }

    fn empty_object(&self) -> Value {
        self.kind.encode(&Value::Object(Map::new()))
    }

    /// An object whose empty lists and maps are owned or compared, unlike absent ones.
    fn managed_form(&self, object: &Value, notes: &ObjectNotes) -> Option<Value> {
        notes.empties.as_ref()?.restored(object, self.kind.merge_type().resolve())
    }

    fn begin_create(&self, ctx: &Context<'_>, object: &mut Value) -> Result<(), Refusal> {
        self.allocate(ctx, object, None)
    }

    fn prepare_create(&self, object: &mut Value, notes: &mut ObjectNotes) {
        if self.resources.validates_content {
            notes.warnings = self.kind.strategy.early_warnings(object, self.release());
        }
        self.kind.change_stored(object, |kind, stored| {
            prepare::create(stored, &self.request(kind, notes));
        });
    }

    fn validate_create(&self, object: &Value, notes: &ObjectNotes) -> Verdict {
        let (path, rule) = (FieldPath::new("metadata"), self.kind.behaviour.name);
        let metadata = Metadata::from_object(object);
        let mut errors = self.early_errors(object, None, notes);
        errors.extend(validation::validate(
            metadata,
            self.serving.namespaced,
            rule,
            &path,
            self.release(),
            MetadataValidation::declared(self.release()),
        ));
        self.check_finalizers(metadata, &path, &mut errors);
        self.verdict(object, None, errors, notes)
    }

    fn existing(&self, stored: &StoredObject) -> Result<Existing<Value>, Refusal> {
        let value = self.read(stored)?;
        Ok(Existing { object: Arc::clone(&value), value })
    }

    fn allows_unconditional_update(&self) -> bool {
        !self.kind.behaviour.needs_revision
    }

    fn allows_create_on_update(&self) -> bool {
        matches!(self.subresource, Subresource::None | Subresource::Status) && self.kind.behaviour.creates_on_update
    }

    fn creates_by_apply(&self) -> bool {
        let applies_status = self.subresource == Subresource::Status && self.kind.behaviour.applies_new_status;
        self.subresource == Subresource::None || applies_status || self.allows_create_on_update()
    }

    fn begin_update(&self, ctx: &Context<'_>, object: &mut Value, old: &Value) -> Result<(), Refusal> {
        self.allocate(ctx, object, Some(old))
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, notes: &ObjectNotes) {
        if self.kind.behaviour.prepares_updates_alone {
            return self.kind.strategy.prepare_update(object, old, &self.request(&self.kind, notes));
        }
        let stored_old = self.kind.stored_fields(old);
        let old = stored_old.as_ref().unwrap_or(old);
        self.kind.change_stored(object, |kind, stored| {
            prepare::update(stored, old, &self.request(kind, notes));
        });
    }

    fn validate_update(&self, object: &Value, old: &Value, notes: &ObjectNotes) -> Verdict {
        let timed = notes.empties.as_ref().and_then(|empties| deletion_time::with_fraction(object, old, empties));
        let (new, existing) = (Metadata::from_object(timed.as_ref().unwrap_or(object)), Metadata::from_object(old));
        let mut errors = self.early_errors(object, Some(old), notes);
        let (path, release) = (FieldPath::new("metadata"), self.release());
        // `validateCommonFields`, then the strategy. Errors about what generated code validates are its own.
        let rules = MetadataValidation::declared_for_owners(new, existing, release);
        errors.extend(validation::validate(new, self.serving.namespaced, NameRule::PathSegment, &path, release, rules));
        errors.extend(validation::validate_update_declaratively(new, existing, &path, release));
        self.check_finalizers(new, &path, &mut errors);
        if self.subresource == Subresource::None {
            generate_name::validate_update(self.kind.behaviour, new, &path, release, &mut errors);
        }
        self.verdict(object, Some(old), errors, notes)
    }

    fn invalid(&self, object: &Value, errors: ErrorList) -> Refusal {
        let group = self.kind.behaviour.stored_group.unwrap_or(&self.serving.group);
        let of = GroupResource { group, resource: &self.serving.kind };
        Refusal::invalid(of, metadata::text(object, "name"), errors)
    }

    fn check_delete(&self, name: &str) -> Result<(), Refusal> {
        match self.kind.strategy.deletion_refusal(name) {
            Some(reason) => Err(Refusal::forbidden(self.resource(), name, reason)),
            None => Ok(()),
        }
    }

    fn grace_period(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        self.kind.strategy.grace_period(object, requested)
    }

    fn returns_deleted(&self) -> bool {
        self.kind.behaviour.returns_deleted
    }

    fn written(&self, mut object: Value, _: bool) -> Result<Written, Refusal> {
        // Storage removes it (`PrepareObjectForStorage`), so that only the answer to a dry run of an update has it.
        if !self.dry_run {
            metadata::set(&mut object, "selfLink", None);
        }
        Ok(match self.kind.stored(&object) {
            Some(raw) => Written { shown: self.kind.restored(&raw).or(Some(object)), raw, dropped: Vec::new() },
            None => Written { raw: object, shown: None, dropped: Vec::new() },
        })
    }

    fn before_insert(&self, ctx: &Context<'_>) {
        namespace::ensure(&self.resources, &ctx.target.namespace, ctx.request.now);
    }

    fn committed(&self, stored: &StoredObject, shown: &Arc<Value>) {
        self.version.cache_read(stored, shown);
    }

    fn removed(&self, ctx: &Context<'_>, name: &str) {
        self.resources.removed(&self.serving, &ctx.target.namespace, name, ctx.request.now);
    }
}

impl TypedResource {
    /// Allocates addresses and ports. The store of the status allocates nothing.
    fn allocate(&self, ctx: &Context<'_>, object: &mut Value, old: Option<&Value>) -> Result<(), Refusal> {
        let allocates = self.kind.behaviour.allocates && self.subresource == Subresource::None;
        let Some(allocator) = self.resources.allocations.as_ref().filter(|_| allocates) else { return Ok(()) };
        let ranges = self.resources.get(&[SERVICE_CIDRS.resource, ".", SERVICE_CIDRS.group].concat());
        let each = |objects: &Collection, see: &mut dyn FnMut(&Value)| {
            objects.all().iter().for_each(|stored| see(&stored.raw()));
        };
        let request = AllocationRequest {
            each_stored: &|see| each(&self.serving.objects, see),
            each_service_cidr: &|see| ranges.iter().for_each(|ranges| each(&ranges.objects, see)),
            list: &|of, namespace| ctx.cluster.list(of, namespace).map_err(|_| Unread),
            release: self.release(),
            validates: self.resources.validates_content,
            dry_run: self.dry_run,
        };
        allocator.allocate(object, old, &request).map_err(|error| match error {
            AllocationError::Invalid(errors) => self.invalid(object, errors),
            AllocationError::Internal(text) => Refusal::internal(text),
            AllocationError::Unclassified(text) => Refusal::unclassified(text),
            AllocationError::Unread(Unread) => Refusal::waiting(),
        })
    }

    /// Keeps the empty lists and maps of the request's object for validation.
    fn note_empties(&self, empties: Option<Empties>, notes: &mut ObjectNotes) {
        if self.resources.validates_content {
            notes.empties = empties;
        }
    }

    /// Encodes and defaults a decoded object, and keeps the places of its empty lists and maps for validation.
    fn complete(&self, Encoded { object, empties, .. }: Encoded, notes: &mut ObjectNotes) -> Value {
        notes.shares_labels = self.kind.strategy.shares_labels(&object);
        let mut object = self.kind.default_request(object, empties.as_ref());
        self.note_empties(empties, notes);
        self.complete_decoded(&mut object);
        self.default_times(&mut object);
        object
    }

    fn default_times(&self, object: &mut Value) {
        if self.resources.allocations.is_some() {
            self.kind.strategy.default_times(object, self.now);
        }
    }

    /// The request of this strategy.
    fn request<'r>(&'r self, kind: &'r BuiltInKind, notes: &'r ObjectNotes) -> KindRequest<'r> {
        KindRequest {
            kind,
            release: self.release(),
            now: self.now,
            subresource: self.subresource,
            user: self.user.as_ref(),
            empties: notes.empties.as_ref(),
            shares_labels: notes.shares_labels,
            generates_fields: self.resources.allocations.is_some(),
        }
    }

    /// Sets and drops what the server sets and drops when it decodes an object of the kind.
    fn complete_decoded(&self, object: &mut Value) {
        if self.resources.allocations.is_some() {
            self.kind.strategy.complete_decoded(object, self.release());
        }
    }

    /// The errors that the strategy of the kind finds before those of the metadata.
    fn early_errors(&self, object: &Value, old: Option<&Value>, notes: &ObjectNotes) -> ErrorList {
        let request = self.request(&self.kind, notes);
        let mut errors = self.kind.strategy.validate(object, old, &request);
        let namespace = match self.namespace.as_ref().filter(|_| self.resources.validates_content) {
            Some(Lookup::Found(namespace)) => Some(&**namespace),
            Some(Lookup::Absent) => None,
            Some(Lookup::Unknown) | None => return errors,
        };
        errors.extend(self.kind.strategy.validate_in_namespace(object, old, namespace, &request));
        errors
    }

    /// The Namespace of the object, if it is not known and decides whether the object is accepted: one without labels refuses
    /// what one with labels may allow.
    fn unknown_namespace(&self, object: &Value, old: Option<&Value>, notes: &ObjectNotes) -> Option<Wanted> {
        let is_unknown = self.namespace == Some(Lookup::Unknown) && self.resources.validates_content;
        let errors = || {
            let request = self.request(&self.kind, notes);
            self.kind.strategy.validate_in_namespace(object, old, None, &request)
        };
        let name = metadata::text(object, "namespace");
        (is_unknown && !errors().is_empty()).then(|| Wanted::new(NAMESPACES, "", Some(name)))
    }

    /// `validateKubeFinalizerName` in `pkg/apis/core/validation`, which most kinds call
    fn check_finalizers(&self, metadata: Metadata<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
        let is_known = |name: &str| name.contains('/') || names::is_standard_finalizer(name);
        let all = metadata.finalizers().enumerate();
        let path = path.child("finalizers");
        for (at, name) in all.filter(|(_, name)| !is_known(name) && self.kind.behaviour.qualifies_finalizers) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(&path.index(at), name, detail));
        }
    }

    /// Adds what the behaviour of the kind validates, such as expressions of policies.
    fn verdict(&self, object: &Value, old: Option<&Value>, mut errors: ErrorList, notes: &ObjectNotes) -> Verdict {
        let mut warnings = Vec::new();
        let is_whole = self.subresource == Subresource::None || old.is_none();
        if is_whole {
            let (more, more_warnings) = self.serving.built_in.validate(object, old, self.release());
            errors.extend(more);
            warnings.extend(more_warnings);
        }
        if is_whole && self.resources.validates_content {
            let Endpoint { group, kind, .. } = &self.kind.endpoint;
            // Validation sees the fields of the stored form.
            let (stored, stored_old) =
                (self.kind.stored_fields(object), old.and_then(|old| self.kind.stored_fields(old)));
            let (object, old) = (stored.as_ref().unwrap_or(object), stored_old.as_ref().or(old));
            let validation = self.resources.kinds.content;
            let content = validation.validate((group, kind), object, notes.empties.as_ref(), old, self.release());
            if old.is_none() && !content.is_empty() && self.kind.behaviour.validates_metadata_last {
                errors.clear();
            }
            errors.extend(content);
            warnings.extend_from_slice(&notes.warnings);
            // The server looks for warnings only if there are no errors.
            if errors.is_empty() {
                warnings.extend(validation.warnings((group, kind), object, old, self.release()));
            }
        }
        let is_part = !is_whole && self.subresource != Subresource::Status;
        if let (true, Some(old)) = (is_part && self.resources.validates_content, old) {
            let request = self.request(&self.kind, notes);
            errors.extend(self.kind.strategy.validate_part(object, old, &request));
        }
        if let (Subresource::Status, true, Some(old)) = (self.subresource, self.resources.validates_content, old) {
            let Endpoint { group, kind, .. } = &self.kind.endpoint;
            let at = (self.release(), self.now);
            let content = self.resources.kinds.content;
            errors.extend(content.validate_status((group, kind), object, notes.empties.as_ref(), old, at));
            if errors.is_empty() {
                warnings.extend(content.status_warnings((group, kind), object, self.release()));
                warnings.extend(self.serving.built_in.status_warnings(object, old, self.release()));
            }
        }
        if self.release().since(V1_37) && !self.kind.behaviour.repeats_errors {
            remove_repeated(&mut errors);
        }
        let unknown = self.unknown_namespace(object, old, notes).into_iter().collect();
        Verdict { errors, warnings_if_accepted: warnings, unknown, ..Verdict::default() }
    }
}

impl Scalable for TypedResource {
    fn serving(&self) -> &Arc<Serving> {
        &self.serving
    }

    fn version(&self) -> &Arc<Version> {
        &self.version
    }

    fn selector(&self, object: &Value) -> Option<String> {
        label_selector_of(object)
    }

    fn scale_kind(&self) -> Option<BuiltInKind> {
        BuiltInKind::unstored("autoscaling", "v1", "Scale", self.release())
    }
}

/// Returns the Namespace of a request, as far as it is known. The attempt ends later if it has to be read first.
fn namespace_of(ctx: &Context<'_>, resources: &Resources) -> Lookup<Arc<Value>> {
    let name = &ctx.target.namespace;
    if let Some(stored) = resources.namespace(name) {
        return Lookup::Found(stored);
    }
    match ctx.cluster.object(NAMESPACES, "", name) {
        // API servers create these namespaces, without the label.
        Ok(Lookup::Unknown) if name == "default" || SYSTEM_NAMESPACES.contains(&name.as_str()) => {
            Lookup::Found(Arc::default())
        }
        Ok(known) => known,
        Err(_) => Lookup::Unknown,
    }
}
