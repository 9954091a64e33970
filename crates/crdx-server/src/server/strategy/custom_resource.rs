//! Custom resources and their status (`registry/customresource/{strategy,status_strategy}.go`), and built-in kinds that
//! are served in the same way.

mod decode;
mod managed_fields;

use super::built_in_kind::BuiltInKind;
use super::strategic_merge;
use crate::apply::field_manager;
use crate::pipeline::metadata as validation;
use crate::pipeline::{self, Verdict};
use crate::server::http::answer::{TYPED_LIST, UNSTRUCTURED_LIST};
use crate::server::http::body;
use crate::server::http::calls::Calls;
use crate::server::http::context::Context;
use crate::server::http::negotiate::{self, Input};
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::{ListOptions, WriteOptions};
use crate::server::http::request::Method;
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::Refusal;
use crate::server::http::table::Columns;
use crate::server::metadata;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::registry::rest;
use crate::server::registry::store::{Collection, StoredObject};
use crate::server::registry::strategy::{Existing, ListType, ReadStrategy, Strategy};
use crate::server::registry::written::Written;
use crate::server::scope::{GroupResource, RequestScope};
use crate::server::strategy::namespace;
use crate::server::strategy::namespace_rule::Namespaces;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::{Serving, Version};
use crate::server::strategy::subresource::Subresource;
use crate::server::strategy::typed_resource::decode as typed_decode;
use crdx_text::strict::StrictError;
use crdx_value::field::{ErrorList, FieldPath};
use crdx_value::release::{Release, V1_34};
use crdx_value::steps::Spent;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object};
use std::sync::Arc;

/// The strategy of one version.
#[derive(Clone, Debug)]
pub(in crate::server) struct CustomResource {
    /// The compiled CRD.
    pub serving: Arc<Serving>,
    /// The version of the request.
    pub version: Arc<Version>,
    /// The resources of the server.
    pub resources: Arc<Resources>,
    /// The part of the object that the request writes.
    pub subresource: Subresource,
    /// The answers of webhooks.
    pub calls: Calls,
}

impl CustomResource {
    /// The Go type of a built-in kind that is served like a custom resource: of Namespaces.
    fn go_type(&self, release: Release) -> Option<BuiltInKind> {
        let Serving { group, kind, plural, built_in, .. } = &*self.serving;
        let has_type = built_in.has_go_type();
        has_type
            .then(|| BuiltInKind::new(self.resources.kinds, group, &self.version.name, kind, plural, release))
            .flatten()
    }

    /// Sets the defaults of a built-in kind.
    fn defaulted(&self, mut object: Value) -> Value {
        self.serving.built_in.default(&mut object);
        object
    }

    /// The errors of the prefix of a generated name.
    fn prefix_errors(&self, object: &Value) -> ErrorList {
        let (metadata, path) = (validation::Metadata::from_object(object), FieldPath::new("metadata"));
        let rule = self.serving.built_in.name_rule();
        validation::validate_prefix(metadata, rule, &path, self.version.stages.release())
    }

    /// Adds the validation of a built-in kind to the verdict.
    fn validate_built_in(&self, object: &Value, old: Option<&Value>, verdict: &mut Verdict) {
        let release = self.version.stages.release();
        let Serving { group, kind, built_in, .. } = &*self.serving;
        if built_in.has_go_type() {
            verdict.errors.extend(self.resources.kinds.content.validate((group, kind), object, None, old, release));
        }
        let (errors, warnings) = built_in.validate(object, old, release);
        verdict.errors.extend(errors);
        verdict.warnings_if_accepted.extend(warnings);
    }
}

impl ReadStrategy for CustomResource {
    /// The server of CRDs alone has a prefix of its own in etcd.
    fn shown_key(&self, key: &str, dry_run: bool) -> String {
        match (dry_run, self.resources.serves_built_in_kinds) {
            (true, _) => rest::dry_key(self.resource(), key),
            (false, true) => format!("/registry{}", rest::dry_key(self.resource(), key)),
            (false, false) => rest::etcd_key(self.resource(), key),
        }
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

    /// `ConvertFieldLabel`
    fn check_fields(&self, fields: &FieldSelector) -> Result<(), Refusal> {
        for field in fields.fields() {
            let known = field == "metadata.name"
                || self.serving.namespaced && field == "metadata.namespace"
                || self.version.selectable.iter().any(|(name, _)| name == field);
            if !known {
                return Err(Refusal::bad_request(format!("field label not supported: {field}")));
            }
        }
        Ok(())
    }

    fn selects(&self, object: &Value, options: &ListOptions) -> Result<bool, Refusal> {
        if !options.labels.selects(object) {
            return Ok(false);
        }
        if options.fields.is_empty() {
            return Ok(true);
        }
        // The server computes all selectable fields of every object, and fails if any of them fails.
        for (name, _) in &self.version.selectable {
            self.version.field(object, name).map_err(Refusal::unclassified)?;
        }
        Ok(options.fields.matches(|field| self.version.field(object, field).unwrap_or_default()))
    }

    fn columns(&self) -> &Columns {
        &self.version.columns
    }

    fn has_table(&self) -> bool {
        matches!(self.subresource, Subresource::None | Subresource::Status)
    }

    fn list_type(&self) -> ListType<'_> {
        let api_version = self.serving.api_version(&self.version).into();
        let go_type = if self.serving.built_in.has_go_type() { TYPED_LIST } else { UNSTRUCTURED_LIST };
        ListType { api_version, kind: &self.serving.list_kind, go_type }
    }

    fn bookmark(&self, metadata: Map) -> Value {
        object([
            ("apiVersion", Value::from(self.serving.api_version(&self.version))),
            ("kind", Value::from(self.serving.kind.as_str())),
            ("metadata", Value::Object(metadata)),
        ])
    }

    fn tag(&self) -> u64 {
        self.version.tag()
    }

    fn is_retired(&self) -> bool {
        self.serving.is_retired()
    }
}

impl Strategy for CustomResource {
    type Object = Value;

    fn scope(&self) -> RequestScope<'_> {
        self.serving.scope(&self.version, self.subresource)
    }

    fn input(&self, content_type: Option<&str>) -> Result<Input, Refusal> {
        negotiate::input_of_objects(content_type, !self.serving.built_in.accepts_protobuf())
    }

    fn decode(&self, ctx: &mut Context<'_>, input: Input, options: &WriteOptions) -> Result<Value, Refusal> {
        if let Some(kind) = self.go_type(ctx.release()) {
            let object = typed_decode::request_object(ctx, &kind, input, options)?;
            return Ok(self.defaulted(object));
        }
        let object = decode::request_object(ctx, &self.serving, &self.version, input, options)?;
        decode::check_group_version(&object, &self.serving, &self.version)?;
        Ok(object)
    }

    fn decode_patched(
        &self,
        ctx: &mut Context<'_>,
        patched: PatchedObject<'_>,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        if let Some(kind) = self.go_type(ctx.release()) {
            let object = typed_decode::patched_object(ctx, &kind, patched, strict, options)?;
            return Ok(self.defaulted(object));
        }
        decode::patched_object(ctx, &self.serving, &self.version, patched, strict, options)
    }

    fn accepts_strategic_merge(&self) -> bool {
        self.serving.built_in.has_go_type()
    }

    fn merge_strategically(
        &self,
        ctx: &mut Context<'_>,
        current: Value,
        patch: &Value,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        let Some(kind) = self.go_type(ctx.release()) else {
            return Err(Refusal::unsupported_media_type(&[]));
        };
        strategic_merge::typed(ctx, &kind, current, patch, strict, options).map(|merged| self.defaulted(merged))
    }

    fn default(&self, object: &mut Value, _: &mut ObjectNotes) -> Result<(), Spent> {
        pipeline::default(&self.version.stages, object).map(drop)
    }

    fn empty_object(&self) -> Value {
        // The encoded form of a Go type has its structs, which nobody owns.
        match self.go_type(self.version.stages.release()) {
            Some(kind) => kind.encode(&Value::Object(Map::new())),
            None => field_manager::bare(&self.serving.api_version(&self.version), &self.serving.kind),
        }
    }

    /// Rejects creates for a CRD that is being deleted (`forbidCreateAdmission`). Before 1.34 only the create handler
    /// checked this.
    fn check_create(&self, ctx: &Context<'_>, object: &Value) -> Result<(), Refusal> {
        let is_recent = ctx.release().since(V1_34);
        if !self.serving.terminating || !is_recent && ctx.request.method != Method::Post {
            return Ok(());
        }
        let reason = "create not allowed while custom resource definition is terminating";
        if !is_recent {
            return Err(Refusal::not_allowed(self.resource(), reason));
        }
        let name = if ctx.target.name.is_empty() { metadata::text(object, "name") } else { &ctx.target.name };
        Err(Refusal::forbidden(self.resource(), name, reason))
    }

    fn prepare_create(&self, object: &mut Value, _: &mut ObjectNotes) {
        let generation = metadata::get(object, "generation").cloned();
        pipeline::prepare_create(&self.version.stages, object);
        if !self.serving.built_in.has_generation() {
            metadata::set(object, "generation", generation);
        }
        self.serving.built_in.prepare(object);
    }

    fn validate_create(&self, object: &Value, _: &ObjectNotes) -> Verdict {
        let rule = self.serving.built_in.name_rule();
        let mut verdict = pipeline::validate_named_create(&self.version.stages, object, rule);
        self.validate_built_in(object, None, &mut verdict);
        verdict
    }

    fn check_type(&self, object: &Value) -> Result<(), Refusal> {
        decode::check_type(object)
    }

    fn existing(&self, stored: &StoredObject) -> Result<Existing<Value>, Refusal> {
        let value = self.read(stored)?;
        Ok(Existing { object: Arc::clone(&value), value })
    }

    fn allows_unconditional_update(&self) -> bool {
        self.serving.built_in.allows_unconditional_update()
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, _: &ObjectNotes) {
        match self.subresource {
            Subresource::Status if self.serving.built_in.writes_metadata_with_status() => {
                pipeline::restore(object, old, "spec");
            }
            Subresource::Status => pipeline::prepare_status_update(object, old),
            _ => pipeline::prepare_update(&self.version.stages, object, old),
        }
        if !self.serving.built_in.has_generation() {
            metadata::set(object, "generation", metadata::get(old, "generation").cloned());
        }
        self.serving.built_in.prepare_update(object, old, self.subresource);
    }

    fn validate_update(&self, object: &Value, old: &Value, _: &ObjectNotes) -> Verdict {
        let (built_in, release) = (self.serving.built_in, self.version.stages.release());
        let mut verdict = if self.subresource == Subresource::Status {
            let mut verdict = pipeline::validate_status_update(&self.version.stages, object, old);
            if built_in.has_go_type() {
                let Serving { group, kind, .. } = &*self.serving;
                // No rule about a Namespace depends on the time.
                let at = (release, Timestamp::default());
                let content = self.resources.kinds.content;
                verdict.errors.extend(content.validate_status((group, kind), object, None, old, at));
            }
            verdict
        } else {
            let mut verdict = pipeline::validate_update(&self.version.stages, object, old);
            if self.subresource == Subresource::None && built_in.validates_prefix() {
                verdict.errors.extend(self.prefix_errors(object));
            }
            self.validate_built_in(object, Some(old), &mut verdict);
            verdict
        };
        if built_in.has_go_type() {
            verdict.errors = validation::without_duplicates(verdict.errors, release);
        }
        verdict
    }

    /// The error message begins with the kind in the object itself.
    fn invalid(&self, object: &Value, errors: ErrorList) -> Refusal {
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        let group = body::parse_group_version(api_version).map(|(group, _)| group).unwrap_or_default();
        let kind = object.str_at(&["kind"]).unwrap_or_default();
        Refusal::invalid(GroupResource { group, resource: kind }, metadata::text(object, "name"), errors)
    }

    fn written(&self, object: Value, decoded: bool) -> Result<Written, Refusal> {
        self.serving.written(object, &self.version, decoded, &self.calls)
    }

    fn dry_run(&self, object: Value, decoded: bool) -> Result<Written, Refusal> {
        self.serving.dry_run(object, &self.version, decoded, &self.calls)
    }

    fn mark_deleting(&self, existing: &Value, now: &str) -> Option<Value> {
        self.serving.built_in.mark_deleting(existing, now)
    }

    /// Of the objects here, only Namespaces are marked.
    fn takes_finalizers_of_deletion(&self) -> bool {
        true
    }

    fn returns_deleted(&self) -> bool {
        self.serving.built_in.returns_deleted()
    }

    fn may_be_removed(&self, object: &Value) -> bool {
        self.serving.built_in.may_be_removed(object)
    }

    fn before_insert(&self, ctx: &Context<'_>) {
        namespace::ensure(&self.resources, &ctx.target.namespace, ctx.request.now);
    }

    fn committed(&self, stored: &StoredObject, shown: &Arc<Value>) {
        self.version.cache_read(stored, shown);
        if self.resources.namespaces == Some(Namespaces::Controlled) && self.serving.built_in.awaits_finalization(shown)
        {
            self.resources.deleted_namespaces.add(metadata::text(&**shown, "name"));
        }
    }

    fn removed(&self, ctx: &Context<'_>, name: &str) {
        self.resources.removed(&self.serving, &ctx.target.namespace, name, ctx.request.now);
    }
}
