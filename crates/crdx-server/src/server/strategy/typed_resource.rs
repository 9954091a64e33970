//! Built-in kinds that are served with their Go types: decoding, defaults and patches follow the type. Their content is
//! validated by `crdx_builtin::validation`. The behaviour of each kind is in [`behaviour`](super::built_in_kind::behaviour).

mod app_armor;
mod certificate_request;
mod conversion;
mod copy;
pub(in crate::server) mod decode;
mod deletion_time;
mod device_access;
mod disabled_fields;
mod emptied;
mod field_paths;
mod generate_name;
mod generated;
mod kind_fields;
mod managed_fields;
mod pod_parts;
mod pod_resources;
mod pods;
mod prepare;
mod selector;
mod serve;
pub(in crate::server) mod services;
mod status;
#[cfg(test)]
mod tests;
mod volume_claims;

pub(in crate::server) use serve::{definition, serve};

use crate::pipeline::Verdict;
use crate::pipeline::metadata::{self as validation, Metadata, NameRule};
use crate::server::http::answer::TYPED_LIST;
use crate::server::http::calls::Calls;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::options::{ListOptions, WriteOptions};
use crate::server::http::selector::{FieldSelector, label_selector_of};
use crate::server::http::status::Refusal;
use crate::server::http::table::Columns;
use crate::server::http::user::UserInfo;
use crate::server::metadata;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::registry::rest::stored_key;
use crate::server::registry::store::{Collection, Stored};
use crate::server::registry::strategy::{Existing, ListType, ReadStrategy, Strategy};
use crate::server::registry::written::Written;
use crate::server::scope::GroupResource;
use crate::server::scope::RequestScope;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crate::server::strategy::content;
use crate::server::strategy::namespace;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::scale::Scalable;
use crate::server::strategy::serving::{Serving, Version};
use crate::server::strategy::strategic_merge;
use crate::server::strategy::subresource::Subresource;
use crdx_builtin::admin_access;
use crdx_text::strict::StrictError;
use crdx_types::Endpoint;
use crdx_types::empties::Empties;
use crdx_types::encode::Encoded;
use crdx_value::field::{ErrorList, FieldError, FieldPath, names, remove_repeated};
use crdx_value::release::{Release, V1_37};
use crdx_value::steps::Spent;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object, time};
use prepare::Request;
use services::{AllocationError, Services};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// The user of the request, for `CertificateSigningRequest`s.
    user: Option<UserInfo>,
    /// The empty lists and maps of the request's object. Its encoded form omits them.
    empties: Mutex<Option<Arc<Empties>>>,
    /// The warnings about fields that the preparation of a new object changed.
    prepared_warnings: Mutex<Vec<String>>,
    /// True if the labels of the request's Job are those of its template.
    shares_labels: AtomicBool,
    /// True for a dry run that the answer shows.
    dry_run: bool,
    /// The Namespace of an object that may request the access of an administrator to devices.
    namespace: Option<Arc<Value>>,
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
        let requests_devices = admin_access::applies(&kind.endpoint.group, &kind.endpoint.kind);
        let namespace = requests_devices.then(|| device_access::namespace(ctx, resources)).flatten();
        Some(Self {
            serving,
            version,
            kind,
            subresource,
            resources: Arc::clone(resources),
            calls: ctx.calls.clone(),
            now: ctx.request.now,
            user,
            empties: Mutex::default(),
            prepared_warnings: Mutex::default(),
            shares_labels: AtomicBool::default(),
            dry_run: !ctx.request.hides_dry_run && ctx.query.all("dryRun").any(|value| value == "All"),
            namespace,
        })
    }

    /// An object as its Go type encodes it.
    pub fn encode(&self, object: &Value) -> Value {
        self.kind.encode(object)
    }

    fn release(&self) -> Release {
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

    fn read(&self, stored: &Stored) -> Result<Arc<Value>, Refusal> {
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
        match conversion::error(&self.kind, &decoded.object) {
            Some(error) => Err(decode::not_handled(&self.kind, &error)),
            None => Ok(self.complete(decoded)),
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
        Ok(self.complete(self.kind.encoded(&object)))
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
        match conversion::error(&self.kind, &merged) {
            Some(error) => Err(Refusal::unclassified(error)),
            None => Ok(self.complete(self.kind.encoded(&merged))),
        }
    }

    fn default(&self, object: &mut Value) -> Result<(), Spent> {
        self.note_shared_labels(object);
        *object = self.kind.complete(object);
        self.complete_pods(object);
        Ok(())
    }

    fn default_applied(&self, object: &mut Value, merged: &Value) -> Result<(), Spent> {
        self.default(object)?;
        self.note_empties(self.kind.encoded(merged).empties);
        self.default_times(object);
        Ok(())
    }

    fn empty_object(&self) -> Value {
        self.kind.encode(&Value::Object(Map::new()))
    }

    /// An object whose empty lists and maps are owned or compared, unlike absent ones.
    fn managed_form(&self, object: &Value) -> Option<Value> {
        self.given_empties()?.restored(object, self.kind.merge_type().resolve())
    }

    fn admit_create(&self, object: &mut Value) {
        if self.resources.allocations.is_some() {
            generated::admit(&self.kind, object, self.given_empties().as_deref());
        }
    }

    fn begin_create(&self, object: &mut Value) -> Result<(), Refusal> {
        // The store of the status allocates nothing.
        let Some(services) = self.services().filter(|_| self.subresource == Subresource::None) else { return Ok(()) };
        services.create(object).map_err(|error| self.unallocated(object, error))
    }

    fn prepare_create(&self, object: &mut Value) {
        if self.kind.endpoint.kind == "Pod" && self.resources.validates_content {
            let warnings = content::app_armor_warnings(object, self.release());
            *self.prepared_warnings.lock().unwrap_or_else(PoisonError::into_inner) = warnings;
        }
        let empties = self.given_empties();
        self.kind.change_stored(object, |kind, stored| {
            prepare::create(kind, stored, self.request(empties.as_deref()));
        });
        if self.resources.allocations.is_some() {
            let shares_labels = self.shares_labels.load(Ordering::Relaxed);
            generated::create(&self.kind, object, (self.now, self.release()), shares_labels);
        }
        if let Some(user) = &self.user {
            certificate_request::name_user(object, user);
        }
    }

    fn validate_create(&self, object: &Value) -> Verdict {
        let (path, rule) = (FieldPath::new("metadata"), self.kind.behaviour.name);
        let metadata = Metadata::from_object(object);
        let mut errors = device_access::errors(self, object, None);
        errors.extend(validation::validate(metadata, self.serving.namespaced, rule, &path, self.release()));
        self.check_finalizers(metadata, &path, &mut errors);
        self.verdict(object, None, errors)
    }

    fn existing(&self, stored: &Stored) -> Result<Existing<Value>, Refusal> {
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

    fn begin_update(&self, object: &mut Value, old: &Value) -> Result<(), Refusal> {
        let Some(services) = self.services().filter(|_| self.subresource == Subresource::None) else { return Ok(()) };
        services.update(object, old).map_err(|error| self.unallocated(object, error))
    }

    fn prepare_update(&self, object: &mut Value, old: &Value) {
        if self.user.is_some() {
            return certificate_request::prepare_update(object, old, self.subresource, &time::format(self.now));
        }
        let stored_old = self.kind.stored_fields(old);
        let old = stored_old.as_ref().unwrap_or(old);
        if self.resources.allocations.is_some() {
            generated::update(&self.kind, object, old);
        }
        self.kind.change_stored(object, |kind, stored| self.prepare_update_as(kind, stored, old));
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Verdict {
        let empties = self.given_empties();
        let timed = empties.and_then(|empties| deletion_time::with_fraction(object, old, &empties));
        let (new, existing) = (Metadata::from_object(timed.as_ref().unwrap_or(object)), Metadata::from_object(old));
        let mut errors = match &self.user {
            Some(_) => certificate_request::validate_update(object, old, self.subresource, self.release()),
            None => device_access::errors(self, object, Some(old)),
        };
        let (path, release) = (FieldPath::new("metadata"), self.release());
        // `validateCommonFields`, then the strategy.
        errors.extend(validation::validate(new, self.serving.namespaced, NameRule::PathSegment, &path, release));
        errors.extend(validation::validate_update(new, existing, &path, release));
        self.check_finalizers(new, &path, &mut errors);
        if self.subresource == Subresource::None {
            let rule = (self.kind.endpoint.kind.as_str(), self.kind.behaviour.name);
            generate_name::validate_update(rule, new, &path, release, &mut errors);
        }
        self.verdict(object, Some(old), errors)
    }

    fn invalid(&self, object: &Value, errors: ErrorList) -> Refusal {
        // The internal type of an Event is that of the core group.
        let group = if self.serving.kind == "Event" { "" } else { &self.serving.group };
        let of = GroupResource { group, resource: &self.serving.kind };
        Refusal::invalid(of, metadata::text(object, "name"), errors)
    }

    fn grace_period(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        self.kind.behaviour.has_grace_period.then(|| prepare::grace_period_of_pod(object, requested))
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

    fn committed(&self, stored: &Stored, shown: &Arc<Value>) {
        self.version.cache_read(stored, shown);
    }

    fn removed(&self, ctx: &Context<'_>, name: &str) {
        self.resources.removed(&self.serving, &ctx.target.namespace, name, ctx.request.now);
    }
}

impl TypedResource {
    /// The Services, if this is their strategy and their addresses are allocated.
    fn services(&self) -> Option<Services<'_>> {
        let allocations = self.resources.allocations.as_ref().filter(|_| self.kind.endpoint.kind == "Service")?;
        Some(Services {
            allocations,
            objects: &self.serving.objects,
            release: self.release(),
            validates: self.resources.validates_content,
            dry_run: self.dry_run,
        })
    }

    fn unallocated(&self, object: &Value, error: AllocationError) -> Refusal {
        match error {
            AllocationError::Invalid(errors) => self.invalid(object, errors),
            AllocationError::Internal(text) => Refusal::internal(text),
            AllocationError::Unclassified(text) => Refusal::unclassified(text),
        }
    }

    /// The empty lists and maps of the request's object.
    fn given_empties(&self) -> Option<Arc<Empties>> {
        self.empties.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the empty lists and maps of the request's object for validation.
    fn note_empties(&self, empties: Option<Empties>) {
        if self.resources.validates_content {
            *self.empties.lock().unwrap_or_else(PoisonError::into_inner) = empties.map(Arc::new);
        }
    }

    /// Encodes and defaults a decoded object, and keeps the places of its empty lists and maps for validation.
    fn complete(&self, Encoded { object, empties, .. }: Encoded) -> Value {
        self.note_shared_labels(&object);
        let mut object = self.kind.default_request(object, empties.as_ref());
        self.note_empties(empties);
        self.complete_pods(&mut object);
        self.default_times(&mut object);
        object
    }

    fn default_times(&self, object: &mut Value) {
        if self.resources.allocations.is_some() {
            generated::default_times(&self.kind, object, self.now);
        }
    }

    /// Notes that the labels of a Job are those of its template: the default is the map of the template itself
    /// (`SetDefaults_Job`), so labels that are added to the template are also labels of the Job.
    fn note_shared_labels(&self, object: &Value) {
        if self.kind.endpoint.kind == "Job" {
            let is_empty = |path: &[&str]| object.at(path).and_then(Value::as_object).is_none_or(Map::is_empty);
            let shares = is_empty(&["metadata", "labels"]) && !is_empty(&["spec", "template", "metadata", "labels"]);
            self.shares_labels.store(shares, Ordering::Relaxed);
        }
    }

    /// The request of this strategy, with the empty lists and maps of its object.
    fn request<'r>(&self, empties: Option<&'r Empties>) -> Request<'r> {
        let changes_fields = self.resources.allocations.is_some();
        Request { release: self.release(), now: self.now, empties, changes_fields }
    }

    /// Completes a Pod, and drops what releases drop from Pods and their templates when they decode them.
    fn complete_pods(&self, object: &mut Value) {
        if self.resources.allocations.is_none() {
            return;
        }
        let kind = self.kind.endpoint.kind.as_str();
        disabled_fields::drop_decoded(kind, object, self.release());
        if kind == "Pod" {
            pod_resources::default(object, self.release());
        }
    }

    fn prepare_update_as(&self, kind: &BuiltInKind, object: &mut Value, old: &Value) {
        match self.subresource {
            Subresource::None | Subresource::Finalize | Subresource::Approval => {
                let empties = self.given_empties();
                prepare::update(kind, object, old, self.request(empties.as_deref()));
            }
            Subresource::EphemeralContainers | Subresource::Resize => {
                prepare::update_part(kind, object, old, (self.subresource, self.request(None)));
            }
            Subresource::Status => {
                prepare::update_status(kind, object, old);
                let empties = self.given_empties();
                status::prepare(kind, object, old, (self.release(), self.now), empties.as_deref());
            }
        }
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

    /// Since 1.37 every strategy in `pkg/registry` embeds `rest.DeclarativeValidation`, which passes errors through
    /// `FilterCoveredHandwrittenErrors`. That keeps one of several errors with the same text.
    fn filters_errors(&self) -> bool {
        self.release().since(V1_37) && self.kind.endpoint.group != "apiregistration.k8s.io"
    }

    /// Adds what the behaviour of the kind validates, such as expressions of policies.
    fn verdict(&self, object: &Value, old: Option<&Value>, mut errors: ErrorList) -> Verdict {
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
            let empties = self.given_empties();
            let content = content::validate((group, kind), object, empties.as_deref(), old, self.release());
            let is_event = kind == "Event" && group.is_empty();
            if old.is_none() && !content.is_empty() && (is_event || kind == "PodDisruptionBudget") {
                // Its strategy does not validate the metadata, which are validated after it succeeded (`BeforeCreate`).
                errors.clear();
            }
            errors.extend(content);
            warnings
                .extend(std::mem::take(&mut *self.prepared_warnings.lock().unwrap_or_else(PoisonError::into_inner)));
            // The server looks for warnings only if there are no errors.
            if errors.is_empty() {
                warnings.extend(content::warnings((group, kind), object, old, self.release()));
            }
        }
        if let (true, Some(old)) = (self.resources.validates_content, old) {
            let empties = self.given_empties();
            let (empties, release) = (empties.as_deref(), self.release());
            errors.extend(match self.subresource {
                Subresource::EphemeralContainers => {
                    content::validate_ephemeral_containers(object, empties, old, release)
                }
                Subresource::Resize => content::validate_resize(object, empties, old, release),
                _ => ErrorList::new(),
            });
        }
        if let (Subresource::Status, true, Some(old)) = (self.subresource, self.resources.validates_content, old) {
            let Endpoint { group, kind, .. } = &self.kind.endpoint;
            let (empties, at) = (self.given_empties(), (self.release(), self.now));
            errors.extend(content::validate_status((group, kind), object, empties.as_deref(), old, at));
            if errors.is_empty() {
                warnings.extend(content::status_warnings((group, kind), object, self.release()));
                warnings.extend(self.serving.built_in.status_warnings(object, old, self.release()));
            }
        }
        if self.filters_errors() {
            remove_repeated(&mut errors);
        }
        Verdict { errors, warnings_if_accepted: warnings, ..Verdict::default() }
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
        BuiltInKind::new("autoscaling", "v1", "Scale", "scales", self.release())
    }
}
