//! Reads and writes of objects (`k8s.io/apiserver/pkg/registry/generic/registry`): [`Registry`] has one file per verb,
//! a [`Strategy`](strategy::Strategy) implements the differences between resources, and [`store`] replaces etcd.

pub(in crate::server) mod consistent_read;
mod corrupt;
mod create;
mod delete;
pub(in crate::server) mod etcd;
mod get;
mod graceful;
mod guaranteed_update;
pub(in crate::server) mod journal;
mod list;
pub(in crate::server) mod managed_fields;
pub(in crate::server) mod patch;
pub(in crate::server) mod patched_object;
pub(in crate::server) mod rest;
pub(in crate::server) mod revision;
mod size;
pub(in crate::server) mod storage;
pub(in crate::server) mod store;
pub(in crate::server) mod strategy;
mod update;
pub(in crate::server) mod watch;
pub(in crate::server) mod written;

use crate::pipeline::Verdict;
use crate::server::admission::{Chain, Mutation, Review};
use crate::server::http::answer::Answer;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Output;
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::response::Response;
use crate::server::http::status::Refusal;
use crate::server::metadata::Object;
use crdx_value::Value;
use crdx_value::field::ErrorType;
use std::sync::Arc;
use storage::Storage;
use store::{Raced, StoredObject};
use strategy::Strategy;
use written::Written;

/// The verb of a request, except watch, which [`Registry::watch`] handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Verb {
    /// GET of an object
    Get,
    /// GET of a collection
    List,
    /// POST
    Create,
    /// PUT
    Update,
    Patch(patch::PatchType),
    /// DELETE of an object
    Delete,
    DeleteCollection,
}

/// The verbs of one version of a resource or subresource. Requests for objects go through a `dyn` strategy, so that the
/// verbs are compiled once.
#[derive(Debug)]
pub(in crate::server) struct Registry<'s, S: ?Sized> {
    strategy: Box<S>,
    storage: &'s Storage,
    admission: &'s Chain,
}

impl<'s, S: ?Sized> Registry<'s, S> {
    /// Creates the registry for the resource of a strategy.
    pub fn new(strategy: Box<S>, storage: &'s Storage, admission: &'s Chain) -> Self {
        Self { strategy, storage, admission }
    }
}

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// The strategy of the resource.
    pub fn strategy(&self) -> &S {
        &self.strategy
    }

    /// Handles a request.
    ///
    /// # Errors
    /// Returns a refusal if the request is rejected.
    pub fn answer(&self, ctx: &mut Context<'_>, verb: Verb) -> Result<Answer, Refusal> {
        match verb {
            Verb::Get => self.get(ctx),
            Verb::List => self.list(ctx),
            Verb::Create => self.create(ctx),
            Verb::Update => self.put(ctx),
            Verb::Patch(kind) => self.patch(ctx, kind),
            Verb::Delete => self.delete(ctx),
            Verb::DeleteCollection => self.delete_collection(ctx),
        }
    }

    /// Writes an answer, or the refusal, in the negotiated format.
    pub fn respond(&self, ctx: Context<'_>, output: &Output, answer: Result<Answer, Refusal>) -> Response {
        ctx.respond(output, Some(self.strategy.columns()), answer)
    }

    /// Runs mutating admission. Plugins change JSON values, so a typed object is encoded for them.
    fn mutate(
        &self,
        ctx: &mut Context<'_>,
        review: &Review<'_>,
        old: Option<&Value>,
        object: &mut S::Object,
    ) -> Result<Mutation, Refusal> {
        let default = |object: &mut Value, notes: &mut ObjectNotes| self.strategy.default(object, notes);
        if let Some(object) = object.as_value_mut() {
            return review.mutate(ctx, old, object, &default);
        }
        if !review.is_needed(ctx) {
            return Ok(Mutation::Unchanged);
        }
        let mut value = object.clone().into_value();
        let mutation = review.mutate(ctx, old, &mut value, &default)?;
        if mutation == Mutation::Changed {
            *object = S::Object::of_value(value)?;
        }
        Ok(mutation)
    }

    /// Adds the warnings of a verdict, or rejects the object if the verdict has errors.
    fn check(&self, ctx: &mut Context<'_>, object: &S::Object, verdict: Verdict) -> Result<(), Refusal> {
        ctx.trace.cost += verdict.cost;
        for warning in verdict.warnings {
            ctx.warn(warning);
        }
        if verdict.errors.iter().any(|error| error.kind == ErrorType::Unfinished) {
            return Err(Refusal::unfinished());
        }
        if !verdict.errors.is_empty() {
            return Err(self.strategy.invalid(object, verdict.errors));
        }
        for warning in verdict.warnings_if_accepted {
            ctx.warn(warning);
        }
        if !verdict.unknown.is_empty() {
            ctx.trace.needs.get_or_insert_default().unknown.extend(verdict.unknown);
        }
        Ok(())
    }

    /// Stores an object if the object at `key` is still `expected`, and returns the stored object at the version of the
    /// request.
    ///
    /// # Errors
    /// Returns 409 Conflict if another write was committed first.
    pub fn commit(
        &self,
        key: &str,
        expected: Option<&Arc<StoredObject>>,
        written: Written,
    ) -> Result<Arc<Value>, Raced> {
        let (stored, shown) = written.put(self.strategy.objects(), key, expected, &self.storage.revision)?;
        self.strategy.committed(&stored, &shown);
        Ok(shown)
    }
}
