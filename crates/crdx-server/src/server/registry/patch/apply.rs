//! Server-side apply (`applyPatcher` in `endpoints/handlers/patch.go`): the configuration, and the object that results
//! from it. [`create_or_update`](super::create_or_update) stores the object.

use crate::server::http::context::Context;
use crate::server::http::object_checks;
use crate::server::http::options::{FieldValidation, WriteOptions};
use crate::server::http::request::Body;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::registry::Registry;
use crate::server::registry::managed_fields;
use crate::server::registry::strategy::Strategy;
use crdx_text as text;
use crdx_value::json::go_kind;
use crdx_value::release::V1_37;
use crdx_value::{Map, Value};

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Applies the configuration to the existing object `live`, or creates an object if `live` is `None`.
    pub(super) fn applied(
        &self,
        ctx: &mut Context<'_>,
        config: &Config<'_>,
        live: Option<&Value>,
        options: &WriteOptions,
    ) -> Result<S::Object, Refusal> {
        let patch = config.value()?;
        let applied = managed_fields::apply(&*self.strategy, ctx, live, &patch, options)?;
        let mut object = self.strategy.decode_applied(ctx, applied, &patch, options)?;
        config.check_duplicates(ctx, options)?;
        let uid = metadata::text(&object, "uid");
        if live.is_none() && !uid.is_empty() {
            let reason =
                format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
            return Err(Refusal::conflict(self.strategy.resource(), &ctx.target.name, &reason));
        }
        object_checks::match_namespace(&mut object, &ctx.target.namespace)?;
        object_checks::check_name(&object, &ctx.target.name)?;
        if live.is_some() {
            object_checks::dedup_owners(ctx, &mut object, true);
        }
        Ok(object)
    }
}

/// The apply configuration in the request body.
pub(super) struct Config<'b> {
    body: &'b Body,
    /// The name of the configuration in error messages: `YAML` before 1.37.
    label: &'static str,
}

impl<'b> Config<'b> {
    /// Reads the body. Since 1.37, a body that does not look like JSON must be YAML that can be converted to JSON.
    pub fn read(ctx: &Context<'b>) -> Result<Self, Refusal> {
        let checked_first = ctx.release().since(V1_37);
        if let Body::Bytes(bytes) = &ctx.request.body
            && checked_first
            && !text::looks_like_json(bytes)
        {
            text::yaml::read(bytes)
                .map_err(|e| Refusal::bad_request(format!("error encoding patch: {}", e.message)))?;
        }
        Ok(Self { body: &ctx.request.body, label: if checked_first { "patch" } else { "YAML" } })
    }

    /// Decodes the configuration.
    fn value(&self) -> Result<Value, Refusal> {
        let what = self.label;
        let refused = |reason: String| Refusal::bad_request(format!("error decoding {what}: {reason}"));
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
                go_kind(&other)
            ))),
        }
    }

    /// Reports duplicate keys, as an error or as warnings.
    fn check_duplicates(&self, ctx: &mut Context<'_>, options: &WriteOptions) -> Result<(), Refusal> {
        if !options.field_validation.is_enabled() {
            return Ok(());
        }
        let Body::Bytes(bytes) = self.body else { return Ok(()) };
        let Some(error) = text::yaml::read_strict(bytes).ok().and_then(|read| read.error()) else { return Ok(()) };
        if options.field_validation == FieldValidation::Strict {
            let label = &self.label;
            let text = format!("error strict decoding {label}: error converting YAML to JSON: {error}");
            return Err(Refusal::bad_request(text));
        }
        ctx.warn_strict(&[error]);
        Ok(())
    }
}
