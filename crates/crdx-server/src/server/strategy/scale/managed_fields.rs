//! Converts managedFields between an object and its Scale.

use crate::apply::managed::Managed;
use crate::apply::scale;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::registry::managed_fields::FIELD;
use crate::server::strategy::serving::{Serving, Version};
use crdx_value::Value;
use crdx_value::release::Release;

/// The managedFields of an object and its Scale.
pub(super) struct ScaleFields<'a> {
    serving: &'a Serving,
    api_version: String,
    parent: Managed,
    release: Release,
}

impl<'a> ScaleFields<'a> {
    /// Reads the managedFields of `parent`, given at `version`.
    pub fn new(serving: &'a Serving, version: &Version, parent: &Value) -> Result<Self, Refusal> {
        let parent = Managed::read(metadata::get(parent, FIELD)).map_err(Refusal::unclassified)?;
        let release = version.stages.release();
        Ok(Self { serving, api_version: serving.api_version(version), parent, release })
    }

    /// Sets the managedFields of the Scale.
    pub fn show(&self, scale: &mut Value) {
        let managed = scale::to_scale(&self.parent, &|v| self.path(v));
        metadata::set(scale, FIELD, managed.write(self.release));
    }

    /// Transfers the managedFields of a written Scale to the object.
    pub fn transfer(self, scale: &Value, parent: &mut Value) -> Result<(), Refusal> {
        let written = Managed::read(metadata::get(scale, FIELD)).map_err(Refusal::unclassified)?;
        let managed = scale::to_parent(&self.parent, written, &self.api_version, &|v| self.path(v));
        metadata::set(parent, FIELD, managed.write(self.release));
        Ok(())
    }

    #[expect(clippy::option_option, reason = "no such version is not the same as no scale")]
    fn path(&self, api_version: &str) -> Option<Option<String>> {
        let version = self.serving.version_of(api_version)?;
        Some(version.scale().map(|paths| paths.spec_replicas.clone()))
    }
}
