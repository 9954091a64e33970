//! Simulates the requests of kubectl for the objects of an input, one object after the other: the engine of `validate` and
//! `diff`.
//!
//! [`OrderedState`] has what depends on the order of the input: it creates CRDs and prepares objects. A [`Simulator`] sends
//! prepared objects to the servers of one release, in any order and on any thread: [`submit`] those with a CRD, [`builtin`]
//! those of built-in kinds. [`admission`] has the policies, [`existing`] the objects that exist before, [`turns`] orders
//! objects with the same name, [`lists`] checks lists as kubectl does, and [`unfold`] reads their items.
//!
//! The caller reads the documents, starts threads, and implements [`Cluster`] and
//! [`ObjectStore`](object_store::ObjectStore).

pub mod admission;
pub mod built_in_server;
pub mod builtin;
mod context;
mod definition_update;
mod earlier_object;
pub mod existing;
mod generated_name;
pub mod known_cluster;
mod kubectl_errors;
mod list_models;
pub mod lists;
mod name_hash;
pub mod object_store;
mod ordered_state;
pub mod pod_classes;
mod prepared;
mod simulated;
mod stored_location;
mod submit;
mod turns;
pub mod unfold;
mod unsent;

use crate::cluster::Cluster;
use crate::kubectl::request::RequestOptions;
use crate::report::{ObjectReport, Remark, Verdict};
use crate::simulation::identity::{self, Namespace};
use crate::simulation::object::{Kind, Object};
use admission::Admission;
use built_in_server::BuiltInServer;
use context::SimulationContext;
pub use context::{CompareOptions, Updates};
use crdx_server::server::Server;
use crdx_value::Value;
use earlier_object::EarlierObject;
use existing::PendingObject;
use known_cluster::created::Created;
use known_cluster::given::GivenObjects;
use known_cluster::live::LiveObjects;
use object_store::ObjectStore;
pub use ordered_state::{Destination, OrderedState};
pub use prepared::{Prepared, PreparedBuiltIn, PreparedObject};
use simulated::{Before, Simulated};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, OnceLock};
use turns::{Done, Turn};

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The default namespace of objects.
    pub namespace: String,
    /// The options of requests.
    pub request_options: RequestOptions,
    /// True to include the last-applied annotation in results.
    pub show_last_applied: bool,
    /// True to report the Scale of each object.
    pub scale: bool,
    /// True to skip objects without a CRD.
    pub ignore_missing: bool,
    /// The options for built-in kinds.
    pub builtin: builtin::Rules,
    /// The cluster from which missing CRDs are read, if allowed.
    pub cluster: Option<Arc<dyn Cluster>>,
    /// The objects of the cluster on which answers depend, as far as files give them.
    pub given: Arc<GivenObjects>,
    /// The objects that were read from the cluster, if its existing objects are read.
    pub live: Option<Arc<LiveObjects>>,
}

/// Simulates objects with a known CRD on one release, in any order.
#[derive(Debug)]
pub struct Simulator {
    /// The settings of the run.
    pub settings: Settings,
    /// The server.
    pub server: Arc<Server>,
    /// The request to send, and the existing objects.
    pub updates: Updates,
    /// Stored objects for later inputs with the same name. They are not kept in the server, to limit its memory.
    pub store: Box<dyn ObjectStore>,
    /// The server for updates of built-in kinds.
    pub built_in: Arc<BuiltInServer>,
    /// The policies that admit objects, if there are any.
    pub admission: OnceLock<Arc<Admission>>,
}

/// Refers an object to the first input with the same name, and lets the next one begin. `earlier` is the result of the turn
/// before.
fn end_turn(turn: Option<Turn>, earlier: Option<Done>, simulated: &mut Simulated) {
    let Some(turn) = turn else { return };
    let Simulated { item, stored } = simulated;
    let first = earlier.and_then(|done| done.first);
    item.remarks.extend(first.clone().map(Remark::SameObject));
    turn.done(Done { first: first.or_else(|| Some(item.location.without_excerpt())), stored: *stored });
}

impl Simulator {
    /// Creates a simulator with the same server for another input.
    pub fn again(&self) -> Self {
        let Updates { request_kind, existing, compares } = &self.updates;
        Self {
            settings: self.settings.clone(),
            server: Arc::clone(&self.server),
            updates: Updates { request_kind: request_kind.clone(), existing: existing.again(), compares: *compares },
            store: self.store.empty(),
            built_in: Arc::clone(&self.built_in),
            admission: self.admission.clone(),
        }
    }

    /// Simulates a prepared object, after the objects with the same name that were prepared before.
    pub fn simulate(&self, prepared: Prepared) -> ObjectReport {
        match prepared {
            Prepared::Report(item) => *item,
            Prepared::CustomResource(prepared) => self.simulate_custom_resource(*prepared),
            Prepared::BuiltIn(prepared) => self.simulate_built_in(*prepared).item,
        }
    }

    fn simulate_custom_resource(&self, prepared: PreparedObject) -> ObjectReport {
        let PreparedObject { mut object, identity, route, turn, pending, created } = prepared;
        let earlier = turn.as_ref().and_then(Turn::wait);
        let warnings = std::mem::take(&mut object.warnings);
        let value = object.take_value();
        let finder = object.finder();
        let known = identity.clone();
        // A panic in the simulation of one object must not affect the others.
        let stored = earlier.as_ref().map_or(EarlierObject::None, |done| done.stored);
        let before = Before { stored, pending };
        let simulated = panic::catch_unwind(AssertUnwindSafe(|| {
            submit::submit(self.context(), &route, value, identity, (before, &created), &finder)
        }));
        let mut simulated = simulated.unwrap_or_else(|_| {
            let mut item = object.item(known, Verdict::CannotTell, "kubectl-crdx itself failed on this object");
            item.help = Some("this is a bug: please report it, with the object and its CRD".to_owned());
            item.into()
        });
        simulated.item.warnings.extend(warnings);
        end_turn(turn, earlier, &mut simulated);
        simulated.item
    }

    /// Validates an object of a built-in kind. Also returns the object that is stored for later inputs.
    fn simulate_built_in(&self, prepared: PreparedBuiltIn) -> Simulated {
        let PreparedBuiltIn { object, kind, created, turn, pending } = prepared;
        let earlier = turn.as_ref().and_then(Turn::wait);
        let stored = earlier.as_ref().map_or(EarlierObject::None, |done| done.stored);
        let before = Before { stored, pending };
        let is_plain = kubectl_errors::has_plain_metadata(object.value());
        let source = (!is_plain).then(|| object.document.source_only());
        let prefix = generated_name::prefix(object.value());
        let mut simulated = self.decode_object(object, &kind, &created, before);
        // The server rejects every object whose metadata kubectl cannot decode.
        let rejected = source.filter(|_| simulated.item.verdict == Verdict::Rejected);
        let undecodable = |source| kubectl_errors::undecodable_source(source, &simulated.item);
        if let Some(undecodable) = rejected.and_then(undecodable) {
            simulated.item = undecodable;
        } else if let Some(prefix) = prefix {
            generated_name::complete(&mut simulated.item, &prefix, self.settings.builtin.verb);
        }
        end_turn(turn, earlier, &mut simulated);
        simulated
    }

    fn decode_object(&self, object: Object, kind: &Kind, earlier: &Created, before: Before) -> Simulated {
        let identity = identity::identity(object.value(), Namespace::Own);
        let location = identity::FieldLocator::start(&object.finder());
        let decode = || builtin::decode(self.settings.builtin, self.context(), object, kind, earlier, before);
        panic::catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| {
            let mut item =
                ObjectReport::new(location, Verdict::CannotTell, "kubectl-crdx itself failed on this object");
            item.identity = identity;
            item.help = Some("this is a bug: please report it, with the object".to_owned());
            item.into()
        })
    }

    /// Returns the existing object of a built-in kind in the cluster, if the request for an object depends on it.
    fn pending(&self, object: &Value, kind: &Kind) -> Option<PendingObject> {
        let Settings { builtin, namespace, .. } = &self.settings;
        builtin::pending(*builtin, &self.updates.existing, namespace, object, kind)
    }

    fn context(&self) -> SimulationContext<'_> {
        SimulationContext {
            server: &self.server,
            request_options: self.settings.request_options,
            store: &*self.store,
            built_in: &self.built_in,
            updates: &self.updates,
            show_last_applied: self.settings.show_last_applied,
            scale: self.settings.scale,
            namespace: &self.settings.namespace,
            admission: self.admission.get().map(Arc::as_ref),
            cluster: self.settings.cluster.as_deref(),
            given: &self.settings.given,
            live: self.settings.live.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests;
