//! The requests for each object of an input on one release.

mod other_file;

use super::admission::Admission;
use super::built_in_server::BuiltInServer;
use super::context::SimulationContext;
use super::context::Updates;
use super::earlier_object::EarlierObject;
use super::existing::PendingObject;
use super::known_cluster::created::Created;
use super::known_cluster::given::GivenObjects;
use super::known_cluster::live::LiveObjects;
use super::object_store::ObjectStore;
use super::prepared::{Prepared, PreparedObject, Submitted};
use super::request_lock::RequestLock;
use super::server_configuration::ServerConfiguration;
use super::server_settings::{self, ServedSettings, UnsimulatedSettings};
use super::simulated::{Before, Simulated};
use super::turns::{Done, Turn};
use super::{encrypted, submit};
use crate::cluster::Cluster;
use crate::kubectl::Action;
use crate::kubectl::request::RequestOptions;
use crate::report::{ObjectReport, Remark, SourceLocation, Verdict};
use crate::simulation::identity::{self, Namespace};
use crate::simulation::object::Object;
use crate::simulation::resource::SimulatedResource;
use crdx_server::server::{Operation, Server};
use other_file::OtherFile;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, OnceLock};

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct SimulatorSettings {
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
    /// The cluster from which missing CRDs are read, if allowed.
    pub cluster: Option<Arc<dyn Cluster>>,
    /// The objects of the cluster on which answers depend, as far as files give them.
    pub given: Arc<GivenObjects>,
    /// The objects that were read from the cluster, if its existing objects are read.
    pub live: Option<Arc<LiveObjects>>,
    /// The settings of the server that the simulation does not follow.
    pub unsimulated: Arc<UnsimulatedSettings>,
    /// The APIs, cluster IPs and node ports of the server.
    pub served: Arc<ServedSettings>,
    /// Returns the projects of a catalog of CRDs that define kinds of an API group.
    pub projects_of_group: fn(&str) -> Vec<String>,
}

/// Simulates objects with a known CRD on one release, in any order.
#[derive(Debug)]
pub struct Simulator {
    /// The settings of the run.
    pub settings: SimulatorSettings,
    /// The server.
    pub server: Arc<Server>,
    /// The options of the server.
    pub configuration: ServerConfiguration,
    /// The request to send, and the existing objects.
    pub updates: Updates,
    /// Stored objects for later inputs with the same name. They are not kept in the server, to limit its memory.
    pub store: Box<dyn ObjectStore>,
    /// The lock of the server.
    pub lock: Arc<RequestLock>,
    /// The server for built-in kinds.
    pub built_in: Arc<BuiltInServer>,
    /// The policies that admit objects, if there are any.
    pub admission: OnceLock<Arc<Admission>>,
}

/// An object that is sent, with its location and the objects of earlier inputs.
#[derive(Clone)]
struct PlacedObject<'a> {
    object: Object,
    resource: Submitted,
    location: &'a SourceLocation,
    created: &'a Created,
}

impl Simulator {
    /// Creates a simulator with the same server for another input.
    pub fn again(&self) -> Self {
        let Updates { request_kind, existing, compares } = &self.updates;
        Self {
            settings: self.settings.clone(),
            server: Arc::clone(&self.server),
            configuration: self.configuration.clone(),
            updates: Updates { request_kind: request_kind.clone(), existing: existing.again(), compares: *compares },
            store: self.store.empty(),
            lock: Arc::clone(&self.lock),
            built_in: Arc::clone(&self.built_in),
            admission: self.admission.clone(),
        }
    }

    /// Returns another server for custom resources, with the same policies and no CRDs.
    pub(super) fn another_server(&self) -> Server {
        self.configuration.another_server(self.admission.get().map(Arc::as_ref), &self.settings.namespace)
    }

    /// Simulates a prepared object, after the objects with the same name that were prepared before.
    pub fn simulate(&self, prepared: Prepared) -> ObjectReport {
        match prepared {
            Prepared::Report(item) => *item,
            Prepared::Object(prepared) => self.submit(*prepared).item,
        }
    }

    /// Simulates the request for an object. Also returns the object that is stored for later inputs.
    pub(super) fn submit(&self, prepared: PreparedObject) -> Simulated {
        let PreparedObject { object, resource, created, turn, pending } = prepared;
        let earlier = turn.as_ref().and_then(Turn::wait);
        let location = identity::FieldLocator::start(&object.finder());
        let object = PlacedObject { object, resource, location: &location, created: &created };
        let (simulated, last) = match earlier.as_ref().and_then(|done| self.other_file(done, &location)) {
            Some(other) => other_file::submit(self, object, other),
            None => self.submit_after(object, earlier.as_ref(), pending),
        };
        if let Some(turn) = turn {
            let last = last.or_else(|| Some(location.without_excerpt()));
            let first = earlier.and_then(|done| done.first).or_else(|| last.clone());
            turn.done(Done { first, last, stored: simulated.stored });
        }
        simulated
    }

    /// Returns the earlier object of the same name in another file. Files may be for different clusters, so that it is no existing
    /// object; existing objects that are given, and requests that create nothing, are for one cluster.
    fn other_file(&self, earlier: &Done, location: &SourceLocation) -> Option<OtherFile> {
        let last = earlier.last.as_ref().filter(|last| last.source != location.source)?;
        let is_one_cluster = self.updates.existing.is_given() || !self.updates.request_kind.may_create();
        let has_object = matches!(earlier.stored, EarlierObject::At(_));
        (has_object && !is_one_cluster).then(|| OtherFile { location: last.clone(), stored: earlier.stored })
    }

    /// Sends an object, which updates the one that an earlier input stored. `None` for the location says that it is that of this
    /// object.
    fn submit_after(
        &self,
        object: PlacedObject<'_>,
        earlier: Option<&Done>,
        pending: Option<PendingObject>,
    ) -> (Simulated, Option<SourceLocation>) {
        let stored = earlier.map_or(EarlierObject::None, |done| done.stored);
        let mut simulated = self.send(object, Before { stored, pending });
        simulated.item.remarks.extend(earlier.and_then(|done| done.first.clone()).map(Remark::SameObject));
        // After a rejection, the earlier object is still stored.
        let last = earlier.filter(|_| simulated.item.verdict == Verdict::Rejected).and_then(|done| done.last.clone());
        (simulated, last)
    }

    /// Sends an object whose state before is known.
    fn send(&self, object: PlacedObject<'_>, before: Before) -> Simulated {
        let PlacedObject { object, resource, location, created } = object;
        let (encrypted, has_rules) = (
            Arc::clone(&object.document.encrypted),
            matches!(resource, Submitted::Known(SimulatedResource::Defined(_), _)),
        );
        let own_identity = identity::identity(object.value(), Namespace::Own);
        let [of_create, of_update] = [Operation::Create, Operation::Update]
            .map(|operation| self.settings.unsimulated.deciding(object.value(), operation));
        let root = object.document.is_rendered.then_some(&*location.source);
        let context = SimulationContext { root, ..self.context() };
        // A panic in the simulation of one object must not affect the others.
        let simulated = panic::catch_unwind(AssertUnwindSafe(|| match resource {
            Submitted::Known(resource, identity) => {
                submit::submit(context, &resource, object, identity, (before, created))
            }
            Submitted::NotServed(kind) => submit::submit_unserved(context, object, &kind, created),
        }));
        let mut simulated = simulated.unwrap_or_else(|_| {
            let reason = "kubectl-crdx itself failed on this object";
            let mut item = ObjectReport::new(location.clone(), Verdict::CannotTell, reason);
            item.identity = own_identity;
            item.help = Some("this is a bug: please report it, with the object and its CRD".to_owned());
            item.into()
        });
        encrypted::complete(&mut simulated.item, &encrypted, has_rules);
        let setting = if simulated.item.action == Action::Create { of_create } else { of_update };
        if let Some(setting) = setting {
            server_settings::leave_undecided(&mut simulated.item, &setting);
        }
        simulated
    }

    pub(super) fn context(&self) -> SimulationContext<'_> {
        SimulationContext {
            server: &self.server,
            request_options: self.settings.request_options,
            store: &*self.store,
            lock: &self.lock,
            built_in: &self.built_in,
            updates: &self.updates,
            show_last_applied: self.settings.show_last_applied,
            scale: self.settings.scale,
            namespace: &self.settings.namespace,
            root: None,
            admission: self.admission.get().map(Arc::as_ref),
            cluster: self.settings.cluster.as_deref(),
            given: &self.settings.given,
            live: self.settings.live.as_ref(),
            served: &self.settings.served,
        }
    }
}

#[cfg(test)]
mod tests;
