//! The scale subresource (`ScaleREST` in `registry/customresource/etcd.go`). A Scale is a view of the object at the
//! paths in the CRD; writing a Scale updates the object.

mod managed_fields;
pub(in crate::server) mod object;
mod typed;

use super::built_in_kind::BuiltInKind;
use super::custom_resource::CustomResource;
use super::strategic_merge;
use super::typed_resource::decode;
use crate::apply::field_manager;
use crate::apply::set::Set;
use crate::apply::types;
use crate::apply::updater::Versions;
use crate::pipeline::metadata::{self as validation, Metadata, MetadataValidation, NameRule};
use crate::pipeline::{ScalePaths, Verdict};
use crate::server::http::context::Context;
use crate::server::http::negotiate::Input;
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::{ListOptions, WriteOptions};
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::Refusal;
use crate::server::http::table::Columns;
use crate::server::metadata;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::registry::store::{Collection, StoredObject};
use crate::server::registry::strategy::{Existing, ListType, ReadStrategy, Strategy};
use crate::server::registry::written::Written;
use crate::server::scope::GroupResource;
use crate::server::scope::{GroupVersionKind, RequestScope};
use crate::server::strategy::serving::{Serving, Version};
use crdx_text::strict::StrictError;
use crdx_types::merge::Type;
use crdx_value::GoError;
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::{Map, Value};
use managed_fields::ScaleFields;
use object::{Scale, set_nested};
use std::borrow::Cow;
use std::sync::Arc;

const API_VERSION: &str = "autoscaling/v1";

/// The sentinel for replicas that were not set.
const UNSET: i64 = i32::MIN as i64;

/// A resource with a scale subresource.
pub(in crate::server) trait Scalable: Strategy<Object = Value> {
    /// The compiled CRD.
    fn serving(&self) -> &Arc<Serving>;

    /// The version of the request.
    fn version(&self) -> &Arc<Version>;

    /// The selector of an object, if it is not text at the path of the CRD.
    fn selector(&self, _object: &Value) -> Option<String> {
        None
    }

    /// The Go type of the Scale, for a built-in kind. The server knows a Scale of other kinds only as JSON.
    fn scale_kind(&self) -> Option<BuiltInKind> {
        None
    }
}

impl Scalable for CustomResource {
    fn serving(&self) -> &Arc<Serving> {
        &self.serving
    }

    fn version(&self) -> &Arc<Version> {
        &self.version
    }
}

/// The strategy of the scale subresource of a resource.
#[derive(Debug)]
pub(in crate::server) struct ScaleOf<P> {
    parent: P,
    paths: ScalePaths,
    columns: Columns,
    kind: Option<BuiltInKind>,
}

impl<P: Scalable> ScaleOf<P> {
    /// Creates the strategy; `None` for a version without the subresource.
    pub fn new(parent: P) -> Option<Self> {
        let paths = parent.version().scale()?.clone();
        let kind = parent.scale_kind();
        Some(Self { parent, paths, columns: Columns::of_scale(), kind })
    }

    fn scale(&self, object: &Value) -> Result<Scale, Refusal> {
        self.scale_of(object).map_err(Refusal::unclassified)
    }

    fn scale_of(&self, object: &Value) -> Result<Scale, GoError> {
        let scale = Scale::from_object(object, &self.paths)?;
        Ok(match self.parent.selector(object) {
            Some(selector) => scale.with_selector(selector),
            None => scale,
        })
    }

    /// Checks the Scale of a built-in kind (`scaleUpdatedObjectInfo` in `pkg/registry/*/*/storage`, `ValidateScale`).
    fn check_typed(&self, existing: &Value, scale: &Value) -> Result<(), Refusal> {
        let (path, release) = (FieldPath::new("metadata"), self.parent.version().stages.release());
        let mut errors = validation::validate(
            Metadata::from_object(scale),
            true,
            NameRule::Subdomain,
            &path,
            release,
            MetadataValidation::Handwritten,
        );
        if let Some(replicas @ ..0) = scale.at(&["spec", "replicas"]).and_then(Value::as_int) {
            let spec = FieldPath::new("spec");
            let detail = "must be greater than or equal to 0";
            errors.push(FieldError::invalid(&spec.child("replicas"), replicas, detail));
        }
        let name = metadata::text(existing, "name");
        if !errors.is_empty() {
            return Err(Refusal::invalid(GroupResource { group: "autoscaling", resource: "Scale" }, name, errors));
        }
        let (wanted, uid) = (metadata::text(scale, "uid"), metadata::text(existing, "uid"));
        if wanted.is_empty() || wanted == uid {
            return Ok(());
        }
        let GroupResource { group, resource } = self.resource();
        let of = GroupResource { group, resource: &format!("{resource}/scale") };
        let detail = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}");
        Err(Refusal::conflict(of, name, &detail))
    }

    fn fields(&self, object: &Value) -> Result<ScaleFields<'_>, Refusal> {
        ScaleFields::new(self.parent.serving(), self.parent.version(), object)
    }
}

impl<P: Scalable> ReadStrategy for ScaleOf<P> {
    fn shown_key(&self, key: &str, dry_run: bool) -> String {
        self.parent.shown_key(key, dry_run)
    }

    fn resource(&self) -> GroupResource<'_> {
        self.parent.resource()
    }

    fn is_namespaced(&self) -> bool {
        self.parent.is_namespaced()
    }

    fn objects(&self) -> &Arc<Collection> {
        self.parent.objects()
    }

    fn read(&self, stored: &StoredObject) -> Result<Arc<Value>, Refusal> {
        self.parent.read(stored)
    }

    fn check_fields(&self, fields: &FieldSelector) -> Result<(), Refusal> {
        self.parent.check_fields(fields)
    }

    fn selects(&self, object: &Value, options: &ListOptions) -> Result<bool, Refusal> {
        self.parent.selects(object, options)
    }

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn list_type(&self) -> ListType<'_> {
        self.parent.list_type()
    }

    fn bookmark(&self, metadata: Map) -> Value {
        self.parent.bookmark(metadata)
    }
}

/// The fields of a Scale have their own field owners; `autoscaling/v1` counts as another version of the object.
impl<P: Scalable> Versions for ScaleOf<P> {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        if api_version == API_VERSION {
            Some(types::of_scale(self.parent.version().stages.release()).resolve())
        } else {
            self.parent.type_of(api_version)
        }
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, GoError> {
        match &self.kind {
            Some(kind) if api_version == API_VERSION => kind.convert(object),
            _ => self.parent.convert(object, api_version),
        }
    }

    fn ignored(&self, _: &str) -> Option<&Set> {
        None
    }
}

impl<P: Scalable> Strategy for ScaleOf<P> {
    type Object = Value;

    fn scope(&self) -> RequestScope<'_> {
        let kind = GroupVersionKind { group: "autoscaling", version: "v1", kind: "Scale" };
        RequestScope { subresource: "scale", kind, ..self.parent.scope() }
    }

    fn decode(&self, ctx: &mut Context<'_>, input: Input, options: &WriteOptions) -> Result<Value, Refusal> {
        match &self.kind {
            Some(kind) => decode::request_object(ctx, kind, input, options),
            None => typed::request_scale(ctx, input, options),
        }
    }

    fn decode_patched(
        &self,
        ctx: &mut Context<'_>,
        patched: PatchedObject<'_>,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        match &self.kind {
            Some(kind) => decode::patched_object(ctx, kind, patched, strict, options),
            None => typed::patched_scale(ctx, patched, strict, options),
        }
    }

    fn accepts_strategic_merge(&self) -> bool {
        self.kind.is_some()
    }

    fn merge_strategically(
        &self,
        ctx: &mut Context<'_>,
        current: Value,
        patch: &Value,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        match &self.kind {
            Some(kind) => strategic_merge::typed(ctx, kind, current, patch, strict, options),
            None => Err(Refusal::unsupported_media_type(&[])),
        }
    }

    fn empty_object(&self) -> Value {
        field_manager::bare(API_VERSION, "Scale")
    }

    /// A Scale as the server's Go type encodes it: zero replicas are omitted.
    fn managed_form(&self, scale: &Value, _: &ObjectNotes) -> Option<Value> {
        let replicas = scale.at(&["spec", "replicas"]).and_then(Value::as_int).unwrap_or_default();
        let spec: Map = (replicas != 0).then(|| ("replicas".to_owned(), Value::Int(replicas))).into_iter().collect();
        Some(crdx_value::object([
            ("kind", Value::from("Scale")),
            ("apiVersion", Value::from(API_VERSION)),
            ("metadata", Value::Object(Map::new())),
            ("spec", Value::Object(spec)),
        ]))
    }

    fn prepare_create(&self, object: &mut Value, notes: &mut ObjectNotes) {
        self.parent.prepare_create(object, notes);
    }

    fn validate_create(&self, object: &Value, notes: &ObjectNotes) -> Verdict {
        self.parent.validate_create(object, notes)
    }

    fn existing(&self, stored: &StoredObject) -> Result<Existing<Value>, Refusal> {
        self.parent.existing(stored)
    }

    fn allows_unconditional_update(&self) -> bool {
        self.parent.allows_unconditional_update()
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, notes: &ObjectNotes) {
        self.parent.prepare_update(object, old, notes);
    }

    fn validate_update(&self, object: &Value, old: &Value, notes: &ObjectNotes) -> Verdict {
        self.parent.validate_update(object, old, notes)
    }

    fn invalid(&self, object: &Value, errors: ErrorList) -> Refusal {
        self.parent.invalid(object, errors)
    }

    fn view(&self, object: &Arc<Value>) -> Result<Arc<Value>, Refusal> {
        let mut current = self.scale(object)?;
        if !current.found {
            current.replicas = UNSET;
        }
        let fields = self.fields(object)?;
        let mut current = current.into_value();
        fields.show(&mut current);
        Ok(Arc::new(current))
    }

    /// `scaleUpdatedObjectInfo`
    fn merge(&self, existing: &Value, scale: Value) -> Result<Value, Refusal> {
        if self.kind.is_some() {
            self.check_typed(existing, &scale)?;
        }
        let path = &self.paths.spec_replicas;
        let replicas = scale.at(&["spec", "replicas"]).and_then(Value::as_int).unwrap_or_default();
        if replicas == UNSET {
            return Err(Refusal::bad_request(format!("the spec replicas field \"{path}\" cannot be empty")));
        }
        let mut object = existing.clone();
        set_nested(&mut object, path, Value::Int(replicas)).map_err(Refusal::unclassified)?;
        let revision = metadata::text(&scale, "resourceVersion");
        if !revision.is_empty() {
            metadata::set_text(&mut object, "resourceVersion", revision);
        }
        self.fields(existing)?.transfer(&scale, &mut object)?;
        Ok(object)
    }

    /// `toScaleUpdateValidation`
    fn admitted<'v>(&self, object: &'v Value) -> Result<Cow<'v, Value>, Refusal> {
        Ok(Cow::Owned(self.scale(object)?.into_value()))
    }

    fn get_answer(&self, object: Arc<Value>) -> Result<Arc<Value>, Refusal> {
        let scale = self.scale(&object)?;
        if !scale.found {
            let path = &self.paths.spec_replicas;
            return Err(Refusal::internal(format!("the spec replicas field \"{path}\" does not exist")));
        }
        Ok(Arc::new(scale.into_value()))
    }

    fn write_answer(&self, object: Arc<Value>) -> Result<Arc<Value>, Refusal> {
        let scale = self.scale_of(&object).map_err(Refusal::bad_request)?;
        Ok(Arc::new(scale.into_value()))
    }

    /// The written replicas were not decoded with the object's schema, which may not specify their path.
    fn written(&self, object: Value, _: bool) -> Result<Written, Refusal> {
        self.parent.written(object, false)
    }

    fn before_insert(&self, ctx: &Context<'_>) {
        self.parent.before_insert(ctx);
    }

    fn committed(&self, stored: &StoredObject, shown: &Arc<Value>) {
        self.parent.committed(stored, shown);
    }

    fn removed(&self, ctx: &Context<'_>, name: &str) {
        self.parent.removed(ctx, name);
    }
}
