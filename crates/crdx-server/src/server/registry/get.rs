//! GET of one object: `endpoints/handlers/get.go`.

use super::{Registry, corrupt};
use crate::server::http::answer::Answer;
use crate::server::http::context::Context;
use crate::server::http::options::check_export;
use crate::server::http::status::Refusal;
use crate::server::registry::revision::{check_not_ahead, invalid_revision, invalid_revision_error, parse_revision};
use crate::server::registry::store;
use crate::server::registry::strategy::Strategy;
use crdx_value::release::V1_38;

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Handles a GET of one object.
    pub(super) fn get(&self, ctx: &Context<'_>) -> Result<Answer, Refusal> {
        let name = ctx.name()?;
        check_export(&ctx.query)?;
        let key = store::checked_key(&ctx.target.namespace, &name)?;
        if let Some(text) = ctx.query.first("resourceVersion") {
            let wanted = parse_revision(text).map_err(|detail| {
                // Since 1.38, `InterpretGetError` classifies it.
                if ctx.release().since(V1_38) {
                    let errors = vec![invalid_revision_error(text, &detail)];
                    return Refusal::invalid(self.strategy.resource(), &name, errors);
                }
                Refusal::unclassified(invalid_revision(text, &detail))
            })?;
            check_not_ahead(&self.storage.revision, wanted)?;
        }
        let Some(stored) = self.strategy.objects().get(&key) else {
            return Err(Refusal::not_found(self.strategy.resource(), &name));
        };
        let read = self.strategy.read(&stored);
        let object = read.map_err(|refusal| corrupt::of_object(refusal, self.strategy.resource(), &key))?;
        Ok(Answer::object(200, self.strategy.get_answer(object)?))
    }
}
