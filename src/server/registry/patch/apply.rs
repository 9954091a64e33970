//! Server-side apply (`applyPatcher` of `endpoints/handlers/patch.go`): what it sends is read, applied, and stored as a
//! patch is, or as a new object.

use crate::release::V1_37;
use crate::server::Body;
use crate::server::http::body;
use crate::server::http::context::{Answer, Context};
use crate::server::http::options::{FieldValidation, WriteOptions};
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::create;
use crate::server::registry::decode;
use crate::server::registry::managed_fields::{Ownership, Subresource};
use crate::server::registry::metadata;
use crate::server::registry::revision::parse_revision;
use crate::server::registry::serving::{Serving, Version};
use crate::server::registry::store;
use crate::server::registry::update::{Part, Update};
use crate::text;
use crate::value::{Map, Value};
use std::sync::Arc;

/// Answers an apply of an object or its status.
pub(super) fn apply(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    part: Part,
    options: &WriteOptions,
) -> Result<Answer, Refusal> {
    let config = Config::read(ctx)?;
    let subresource = if part == Part::Status { Subresource::Status } else { Subresource::None };
    let ownership = Ownership { serving, version, subresource };
    let update = Update { serving, version, part, decoded: false, uid: "", options };
    let key = store::key(&ctx.target.namespace, &ctx.target.name);
    loop {
        if part == Part::Object && serving.objects.get(&key).is_none() {
            let object = config.create(ctx, &ownership, options)?;
            match create::store_new(ctx, serving, version, object, false, options) {
                Err(refusal) if refusal.reason == Reason::AlreadyExists => continue,
                result => return result.map(|o| Answer::object(201, o)),
            }
        }
        let mut transform =
            |ctx: &mut Context<'_>, existing: &Arc<Value>| config.apply(ctx, &ownership, Some(existing), options);
        match update.run(ctx, &mut transform) {
            // Somebody removed it meanwhile.
            Err(refusal) if part == Part::Object && refusal.reason == Reason::NotFound => {}
            result => return result.map(|o| Answer::object(200, o)),
        }
    }
}

/// What an apply sends.
pub(in crate::server) struct Config<'b> {
    body: &'b Body,
    /// What errors call it: before 1.37 only `YAML`.
    called: &'static str,
}

impl<'b> Config<'b> {
    /// Of a request; what is not JSON at first sight must be YAML that JSON can hold.
    pub fn read(ctx: &Context<'b>) -> Result<Self, Refusal> {
        let checked_first = ctx.release().since(V1_37);
        if let Body::Bytes(bytes) = &ctx.request.body
            && checked_first
            && !text::looks_like_json(bytes)
        {
            text::yaml::read(bytes)
                .map_err(|e| Refusal::bad_request(format!("error encoding patch: {}", e.message)))?;
        }
        Ok(Self { body: &ctx.request.body, called: if checked_first { "patch" } else { "YAML" } })
    }

    /// The object.
    pub fn value(&self) -> Result<Value, Refusal> {
        let what = self.called;
        let refused = |why: String| Refusal::bad_request(format!("error decoding {what}: {why}"));
        let value = match self.body {
            Body::Empty => Value::Null,
            Body::Value(value) => value.clone(),
            Body::Bytes(bytes) => {
                text::yaml::read(bytes).map_err(|e| refused(format!("error converting YAML to JSON: {}", e.message)))?
            }
        };
        match value {
            Value::Object(_) => Ok(value),
            Value::Null => Ok(Value::Object(Map::new())),
            other => Err(refused(format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                body::go_kind(&other)
            ))),
        }
    }

    /// Tells about keys that are there twice.
    pub fn check_duplicates(&self, ctx: &mut Context<'_>, options: &WriteOptions) -> Result<(), Refusal> {
        if !options.field_validation.looks() {
            return Ok(());
        }
        let Body::Bytes(bytes) = self.body else { return Ok(()) };
        let Some(error) = text::yaml::read_strict(bytes).ok().and_then(|read| read.error()) else { return Ok(()) };
        let error = format!("error converting YAML to JSON: {error}");
        if options.field_validation == FieldValidation::Strict {
            return Err(Refusal::bad_request(format!("error strict decoding {}: {error}", self.called)));
        }
        ctx.warn_strict(&[error]);
        Ok(())
    }

    /// The object that it makes of an existing one, or of nothing.
    pub fn apply(
        &self,
        ctx: &mut Context<'_>,
        ownership: &Ownership<'_>,
        live: Option<&Value>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        let mut object = ownership.apply(ctx, live, &self.value()?, options)?;
        self.check_duplicates(ctx, options)?;
        let uid = metadata::text(&object, "uid");
        if live.is_none() && !uid.is_empty() {
            let why =
                format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
            return Err(Refusal::conflict(ownership.serving.resource(), &ctx.target.name, &why));
        }
        decode::match_namespace(&mut object, &ctx.target.namespace.clone())?;
        decode::check_name(&object, &ctx.target.name)?;
        if live.is_some() {
            decode::dedup_owners(ctx, &mut object, true);
        }
        Ok(object)
    }

    /// The new object that it makes.
    fn create(
        &self,
        ctx: &mut Context<'_>,
        ownership: &Ownership<'_>,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        let serving = ownership.serving;
        let mut object = self.apply(ctx, ownership, None, options)?;
        create::admit_new(ctx, serving, ownership.version, &mut object, options)?;
        decode::dedup_owners(ctx, &mut object, true);
        parse_revision(metadata::text(&object, "resourceVersion")).map_err(Refusal::unclassified)?;
        metadata::set(&mut object, "resourceVersion", None);
        metadata::wipe_system_fields(&mut object);
        Ok(object)
    }
}
