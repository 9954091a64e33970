//! An apply creates the object that it names if there is none, and updates it otherwise (`applyPatcher` in
//! `endpoints/handlers/patch.go`, `createNewObject` in the same file).

use super::apply::Config;
use crate::server::admission::{Operation, Review};
use crate::server::http::answer::Answer;
use crate::server::http::context::Context;
use crate::server::http::options::WriteOptions;
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::Registry;
use crate::server::registry::create::CreateOrigin;
use crate::server::registry::size::ManagedFields;
use crate::server::registry::store;
use crate::server::registry::strategy::Strategy;
use crate::server::registry::update::Update;
use crdx_value::Value;

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Handles an apply.
    pub(super) fn apply(&self, ctx: &mut Context<'_>, options: &WriteOptions) -> Result<Answer, Refusal> {
        let config = Config::read(ctx)?;
        let creates = self.strategy.creates_by_apply();
        let key = store::key(&ctx.target.namespace, &ctx.target.name);
        let review = self.review(Operation::Create, options);
        loop {
            if creates && self.strategy.objects().get(&key).is_none() {
                let object = self.apply_new(ctx, &config, &review, options)?;
                match self.store_new(ctx, object, CreateOrigin::Applied, &review, options) {
                    // Another thread created the object in the meantime.
                    Err(refusal) if refusal.reason == Reason::AlreadyExists => continue,
                    result => return result,
                }
            }
            let mut transform =
                |ctx: &mut Context<'_>, existing: &Value| self.applied(ctx, &config, Some(existing), options);
            let update = Update { decoded: false, uid: "", managed_fields: ManagedFields::Kept, options };
            match self.update(ctx, &update, &mut transform) {
                // Another thread removed the object in the meantime.
                Err(refusal) if creates && refusal.reason == Reason::NotFound => {}
                result => return result,
            }
        }
    }

    /// Creates the new object of an apply and runs mutating admission.
    fn apply_new(
        &self,
        ctx: &mut Context<'_>,
        config: &Config<'_>,
        review: &Review<'_>,
        options: &WriteOptions,
    ) -> Result<S::Object, Refusal> {
        let mut object = self.applied(ctx, config, None, options)?;
        self.admit_new_of_update(ctx, &mut object, review)?;
        Ok(object)
    }
}
