//! CRDs and their status (`registry/customresourcedefinition/{etcd,strategy}.go`). The [`crate::server::controllers`]
//! run after each write.

mod decode;
mod empty_lists;
mod managed_fields;
mod stored;

use super::strategic_merge;
use crate::crd::{self, CustomResourceDefinition, conditions, strategy, validation};
use crate::pipeline::Verdict;
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::delete_options::DeleteOptions;
use crate::server::http::negotiate::Input;
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::{ListOptions, WriteOptions};
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::Refusal;
use crate::server::http::table::Columns;
use crate::server::metadata;
use crate::server::registry::etcd;
use crate::server::registry::patch;
use crate::server::registry::patched_object::PatchedObject;
use crate::server::registry::store::{Collection, StoredObject};
use crate::server::registry::strategy::{Existing, ListType, ReadStrategy, Strategy};
use crate::server::registry::written::Written;
use crate::server::scope::GroupResource;
use crate::server::scope::{GroupVersionKind, GroupVersionResource, RequestScope};
use crate::server::strategy::definitions::typed;
use crate::server::strategy::resources::Resources;
use crdx_text::malformed::MalformedStrings;
use crdx_text::strict::StrictError;
use crdx_types::strategic;
use crdx_types::types::Types;
use crdx_value::field::ErrorList;
use crdx_value::lock::lock;
use crdx_value::release::{Gate, Release, V1_37};
use crdx_value::steps::Spent;
use crdx_value::{Map, Value, number, object};
pub(in crate::server) use managed_fields::update_by_controller;
use std::sync::{Arc, MutexGuard};

/// The group and resource, for messages.
pub(in crate::server) const RESOURCE: GroupResource<'static> =
    GroupResource { group: crd::GROUP, resource: "customresourcedefinitions" };
const KIND: &str = "CustomResourceDefinition";

/// The strategy of CRDs or of their status.
#[derive(Debug)]
pub(in crate::server) struct DefinitionStrategy {
    resources: Arc<Resources>,
    columns: Columns,
    is_status: bool,
    release: Release,
}

impl DefinitionStrategy {
    /// Creates the strategy of CRDs or, if `is_status`, of their status.
    pub fn new(resources: &Arc<Resources>, is_status: bool) -> Self {
        let release = resources.settings.release;
        Self { resources: Arc::clone(resources), columns: Columns::of_definitions(release), is_status, release }
    }
}

impl ReadStrategy for DefinitionStrategy {
    fn resource(&self) -> GroupResource<'_> {
        RESOURCE
    }

    fn is_namespaced(&self) -> bool {
        false
    }

    fn objects(&self) -> &Arc<Collection> {
        &self.resources.definitions.objects
    }

    fn read(&self, stored: &StoredObject) -> Result<Arc<Value>, Refusal> {
        Ok(stored.raw())
    }

    fn check_fields(&self, fields: &FieldSelector) -> Result<(), Refusal> {
        for field in fields.fields() {
            if !matches!(field, "metadata.name" | "metadata.namespace") {
                return Err(Refusal::bad_request(format!(
                    "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                    crdx_value::quote::go_quote(field)
                )));
            }
        }
        Ok(())
    }

    fn selects(&self, definition: &Value, options: &ListOptions) -> Result<bool, Refusal> {
        Ok(options.labels.selects(definition)
            && options.fields.matches(|field| match field {
                "metadata.name" => metadata::text(definition, "name").into(),
                _ => "".into(),
            }))
    }

    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn list_type(&self) -> ListType<'_> {
        ListType {
            api_version: "apiextensions.k8s.io/v1".into(),
            kind: "CustomResourceDefinitionList",
            go_type: "*apiextensions.CustomResourceDefinitionList",
        }
    }

    /// A CRD that has only this metadata, as Go encodes it.
    fn bookmark(&self, metadata: Map) -> Value {
        let names = || object([("plural", ""), ("kind", "")]);
        let spec = [("group", Value::from("")), ("names", names()), ("scope", "".into()), ("versions", Value::Null)];
        let status = [("conditions", Value::Null), ("acceptedNames", names()), ("storedVersions", Value::Null)];
        object([
            ("kind", Value::from(KIND)),
            ("apiVersion", "apiextensions.k8s.io/v1".into()),
            ("metadata", Value::Object(metadata)),
            ("spec", object(spec)),
            ("status", object(status)),
        ])
    }
}

impl Strategy for DefinitionStrategy {
    type Object = CustomResourceDefinition;

    fn scope(&self) -> RequestScope<'_> {
        let (group, version) = (crd::GROUP, "v1");
        RequestScope {
            resource: GroupVersionResource { group, version, resource: RESOURCE.resource },
            subresource: if self.is_status { "status" } else { "" },
            kind: GroupVersionKind { group, version, kind: KIND },
        }
    }

    fn decode(
        &self,
        ctx: &mut Context<'_>,
        input: Input,
        options: &WriteOptions,
    ) -> Result<CustomResourceDefinition, Refusal> {
        decode::request(ctx, input, options)
    }

    fn decode_patched(
        &self,
        ctx: &mut Context<'_>,
        patched: PatchedObject<'_>,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<CustomResourceDefinition, Refusal> {
        let text = patched.text();
        body::interpret(&patched.object, None, ctx.release())
            .and_then(|_| decode::read(ctx, patched.object, strict, decode::Text::Patched(&text), options))
            .map_err(|error| patch::refuse(&text, error))
    }

    fn merge_strategically(
        &self,
        ctx: &mut Context<'_>,
        current: Value,
        patch: &Value,
        strict: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<CustomResourceDefinition, Refusal> {
        let types = Types::for_release(ctx.release().minor().number().into());
        let before = current.clone();
        let mut merged = strategic_merge::merged(current, patch, |current, patch| {
            strategic::merge_without_strategies(types, current, patch)
        })?;
        let echo = || strategic_merge::echo(&before, patch);
        let unknown = crd::restore(&mut merged, ctx.release()).map_err(|error| {
            ctx.trace.undecodable_field = Some(error.path.into());
            patch::refuse(&echo(), error.message)
        })?;
        decode::read(ctx, merged, strict, decode::Text::Restored(&unknown), options)
            .map_err(|error| patch::refuse(&echo(), error))
    }

    fn decode_applied(
        &self,
        ctx: &mut Context<'_>,
        mut applied: Value,
        patch: &Value,
        options: &WriteOptions,
    ) -> Result<CustomResourceDefinition, Refusal> {
        let (name, type_) = (metadata::text(patch, "name"), format!("apiextensions.k8s.io/v1, Kind={KIND}"));
        let refuse = |reason: String| {
            Refusal::unclassified(format!(
                "failed to convert new object (/{name}; {type_}) to proper version: {reason}"
            ))
        };
        crd::restore(&mut applied, ctx.release()).map_err(|error| {
            ctx.trace.undecodable_field = Some(error.path.into());
            refuse(format!("unable to convert unstructured object to {type_}: {}", error.message))
        })?;
        let text = decode::Text::None(&MalformedStrings::default());
        decode::read(ctx, applied, Vec::new(), text, options).map_err(|error| refuse(error.into()))
    }

    fn default(&self, definition: &mut Value, _: &mut ObjectNotes) -> Result<(), Spent> {
        // Other errors are reported when the object is decoded after admission.
        if let Ok(decoded) = crd::decode(definition)
            && decoded.unknown.is_empty()
        {
            *definition = decoded.crd.to_value();
        }
        Ok(())
    }

    fn default_applied(&self, definition: &mut Value, merged: &Value, notes: &mut ObjectNotes) -> Result<(), Spent> {
        self.default(definition, notes)?;
        empty_lists::restore(definition, merged);
        Ok(())
    }

    fn empty_object(&self) -> Value {
        CustomResourceDefinition::default().to_value()
    }

    fn managed_form(&self, definition: &CustomResourceDefinition, _: &ObjectNotes) -> Option<Value> {
        Some(definition.to_value())
    }

    fn prepare_create(&self, definition: &mut CustomResourceDefinition, _: &mut ObjectNotes) {
        strategy::prepare_create(definition, self.release);
    }

    fn validate_create(&self, definition: &CustomResourceDefinition, _: &ObjectNotes) -> Verdict {
        let errors = validation::validate_create(definition, self.release);
        // With another gate, the stored CRD may be decoded to another form than the one whose fields were dropped.
        let gates = [Gate::CRDValidationRatcheting, Gate::CustomResourceFieldSelectors];
        if gates.into_iter().all(|gate| self.release.enables(gate)) {
            self.resources.definitions.validated(definition);
        }
        self.verdict(errors, definition, None)
    }

    fn existing(&self, stored: &StoredObject) -> Result<Existing<CustomResourceDefinition>, Refusal> {
        let definition = typed(stored).ok_or_else(|| Refusal::internal("a stored definition is unreadable"))?;
        Ok(Existing { value: stored.raw(), object: Arc::new(definition) })
    }

    fn prepare_update(
        &self,
        definition: &mut CustomResourceDefinition,
        old: &CustomResourceDefinition,
        _: &ObjectNotes,
    ) {
        if self.is_status {
            strategy::prepare_status_update(definition, old);
        } else {
            strategy::prepare_update(definition, old, self.release);
        }
    }

    fn validate_update(
        &self,
        definition: &CustomResourceDefinition,
        old: &CustomResourceDefinition,
        _: &ObjectNotes,
    ) -> Verdict {
        if self.is_status {
            let errors = validation::validate_status_update(definition, old, self.release);
            return Verdict { errors, ..Verdict::default() };
        }
        let errors = validation::validate_update(definition, old, self.release);
        self.verdict(errors, definition, Some(old))
    }

    fn invalid(&self, definition: &CustomResourceDefinition, errors: ErrorList) -> Refusal {
        let (of, name) = (GroupResource { group: crd::GROUP, resource: KIND }, definition.name());
        Refusal::invalid_quoted(of, name, &definition.malformed.quote(name), errors)
    }

    /// `REST.Delete` checks the preconditions itself, before the store does.
    fn check_preconditions(&self, existing: &Value, options: &DeleteOptions) -> Result<(), Refusal> {
        for (what, wanted, have) in [
            ("UID", &options.uid, metadata::text(existing, "uid")),
            ("ResourceVersion", &options.resource_version, metadata::text(existing, "resourceVersion")),
        ] {
            if let Some(wanted) = wanted.as_deref().filter(|w| *w != have) {
                let failed = if self.release.since(V1_37) { "precondition failed" } else { "Precondition failed" };
                let reason = format!("{failed}: {what} in precondition: {wanted}, {what} in object meta: {have}");
                return Err(Refusal::conflict(RESOURCE, metadata::text(existing, "name"), &reason));
            }
        }
        Ok(())
    }

    /// The first DELETE adds the cleanup finalizer, which keeps the CRD until its objects are deleted.
    fn mark_deleting(&self, existing: &CustomResourceDefinition, now: &str) -> Option<CustomResourceDefinition> {
        if metadata::is_deleting(existing) {
            return None;
        }
        let mut definition = existing.clone();
        metadata::set_text(&mut definition, "deletionTimestamp", now);
        conditions::deletion_requested(&mut definition, now);
        Some(definition)
    }

    fn lock(&self) -> Option<MutexGuard<'_, ()>> {
        Some(lock(&self.resources.definitions.writing))
    }

    /// Storage encodes CRDs as JSON, which cannot represent NaN and infinities.
    fn written(&self, object: Value, _: bool) -> Result<Written, Refusal> {
        if let Some(number) = non_finite(&object) {
            return Err(Refusal::unclassified(format!("json: unsupported value: {}", number::format_v(number))));
        }
        Ok(Written { raw: object, shown: None, dropped: Vec::new() })
    }

    fn stored_length(&self, raw: &Value) -> usize {
        etcd::json_length(&stored::stored(raw.clone()))
    }

    fn committed(&self, stored: &StoredObject, shown: &Arc<Value>) {
        self.resources.definitions.committed(stored);
        self.resources.definition_written(metadata::text(shown, "name"));
    }

    fn removed(&self, _: &Context<'_>, name: &str) {
        self.resources.stop_serving(name);
    }
}

/// The first number that is NaN or infinite.
fn non_finite(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) if !number.is_finite() => Some(*number),
        Value::Array(items) => items.iter().find_map(non_finite),
        Value::Object(members) => members.values().find_map(non_finite),
        _ => None,
    }
}

impl DefinitionStrategy {
    fn verdict(
        &self,
        errors: ErrorList,
        definition: &CustomResourceDefinition,
        old: Option<&CustomResourceDefinition>,
    ) -> Verdict {
        let accepted = errors.is_empty();
        let warnings = if accepted { strategy::warnings(definition, old, self.release) } else { Vec::new() };
        Verdict { errors, warnings_if_accepted: warnings, ..Verdict::default() }
    }
}
