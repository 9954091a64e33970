//! `GuaranteedUpdate` of etcd's storage: a change of a stored object without preparation, validation and admission.

use crate::server::http::context::Context;
use crate::server::http::response::Trace;
use crate::server::http::status::Refusal;
use crate::server::registry::Registry;
use crate::server::registry::size::ManagedFields;
use crate::server::registry::store;
use crate::server::registry::strategy::Strategy;
use crdx_value::Value;
use std::sync::Arc;

/// Changes an object.
pub(in crate::server) type Change<'c> = dyn FnMut(&mut Value) -> Result<(), Refusal> + 'c;

impl<S: Strategy<Object = Value> + ?Sized> Registry<'_, S> {
    /// Changes the object with this name in the namespace of the request. Returns the changed object.
    ///
    /// # Errors
    /// Returns 404 if there is no such object, and the refusal of `change`.
    pub(crate) fn guaranteed_update(
        &self,
        ctx: &Context<'_>,
        name: &str,
        dry_run: bool,
        change: &mut Change<'_>,
    ) -> Result<Arc<Value>, Refusal> {
        let strategy = &*self.strategy;
        let key = store::checked_key(&ctx.target.namespace, name)?;
        loop {
            let stored = strategy.objects().get(&key);
            let Some(stored) = stored else { return Err(Refusal::not_found(strategy.resource(), name)) };
            let existing = strategy.read(&stored)?;
            let mut object = (*existing).clone();
            change(&mut object)?;
            let mut written = strategy.written(object, false)?;
            if dry_run {
                return Ok(written.shown());
            }
            if written.raw == *stored.raw() {
                return Ok(existing);
            }
            let expected = (key.as_str(), Some(stored.revision));
            self.check_size(&mut Trace::default(), expected, &mut written, ManagedFields::Kept)?;
            if let Ok(shown) = self.commit(&key, Some(&stored), written) {
                return Ok(shown);
            }
        }
    }

    /// The objects of a namespace.
    ///
    /// # Errors
    /// Returns the error of reading one of them.
    pub fn all(&self, namespace: &str) -> Result<Vec<Arc<Value>>, Refusal> {
        let (entries, _) = self.strategy.objects().list(&format!("{namespace}/"), "", &self.storage.revision);
        entries.iter().map(|(_, stored)| self.strategy.read(stored)).collect()
    }

    /// The object with this name in the namespace of the request.
    ///
    /// # Errors
    /// Returns 404 if there is no such object.
    pub fn find(&self, ctx: &Context<'_>, name: &str) -> Result<Arc<Value>, Refusal> {
        let key = store::checked_key(&ctx.target.namespace, name)?;
        let stored = self.strategy.objects().get(&key);
        let stored = stored.ok_or_else(|| Refusal::not_found(self.strategy.resource(), name))?;
        self.strategy.read(&stored)
    }
}
