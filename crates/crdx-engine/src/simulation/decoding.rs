//! Objects of built-in kinds whose request is not answered: those of resources that only answer requests, those that only the
//! cluster serves, and those of which it is not known whether they exist. The server would reject what it cannot decode.

pub(super) mod decoded;

use super::built_in::size;
use super::context::SimulationContext;
use super::identity::{self, FieldLocator, Namespace};
use super::known_cluster::KnownCluster;
use super::object::{Kind, Object};
use super::resource::SimulatedResource;
use super::served::{deprecation, no_matches, not_served};
use super::unsent::Unsent;
use crate::cluster::{self, Cluster};
use crate::kubectl::Verb;
use crate::report::{ASK_THE_CLUSTER, Identity, ObjectReport, ServerResponse, Verdict};
use crate::simulation::kubectl_errors;
use crdx_server::apply::client_side;
use crdx_server::cluster_state::{Lookup, NAMESPACES, is_terminating};
use crdx_types::resources::{self, ApiResource};
use crdx_types::table::{self, KindRow};
use crdx_types::types::Types;
use crdx_types::{Endpoint, decode};
use crdx_value::group_version::{self, api_version};
use crdx_value::{Value, json, quote};
use decoded::{PUBLISHED_SCHEMA, decoded_item, undecodable_item};

/// An object whose request is not answered.
#[derive(Clone, Copy)]
pub struct UnansweredObject<'a> {
    pub context: SimulationContext<'a>,
    /// The known state of the cluster.
    pub cluster: &'a KnownCluster,
    pub locator: &'a dyn FieldLocator,
}

/// The reason why a request is not answered.
pub enum Unanswered {
    /// Such requests are not simulated.
    NotSimulated,
    /// The existing object is not known.
    NotKnown(Unsent),
}

impl UnansweredObject<'_> {
    /// Returns the item of an object of a built-in resource: rejected if the server rejects it whatever exists.
    pub fn of_resource(
        self,
        resource: &ApiResource,
        object: Value,
        identity: Identity,
        reason: Unanswered,
    ) -> ObjectReport {
        let minor = self.context.server.release().minor().number().into();
        let row = table::table().kind(&identity.api_version, resource.kind, minor);
        let mut item = self.item(identity, row);
        if let Some(answer) = not_allowed(resource, self.context.updates.request_kind.verb) {
            item.reject_with(answer);
            return item;
        }
        self.decode(&mut item, object, (resource.kind, resource.plural), resource.readable, reason);
        item
    }

    /// Returns the item of an object of a kind that only the cluster serves, or that no server serves.
    pub fn of_kind(
        context: SimulationContext<'_>,
        cluster: &KnownCluster,
        object: &mut Object,
        (group, version, kind): &Kind,
    ) -> ObjectReport {
        let plural = resources::plural(kind);
        if let Some(item) = unserved(context, object, ((group, version, kind), &plural), false) {
            return item;
        }
        let own = identity::identity(object.value(), Namespace::Own);
        let release = context.server.release();
        let minor = release.minor().number().into();
        let row = table::table().kind(&api_version(group, version), kind, minor).filter(|row| row.served);
        let Some(row) = row else {
            let reason = format!("Kubernetes {release} has no type for it, but the cluster serves it");
            let mut item = object.item(own, Verdict::CannotTell, reason);
            item.help = Some(ASK_THE_CLUSTER.to_owned());
            return item;
        };
        let namespace = if row.cluster { Namespace::None } else { Namespace::Or(context.namespace) };
        let identity = identity::identity(object.value(), namespace);
        let value = object.take_value();
        let unanswered = UnansweredObject { context, cluster, locator: &object.finder() };
        let mut item = unanswered.item(identity, Some(row));
        unanswered.decode(&mut item, value, (kind, &plural), true, Unanswered::NotSimulated);
        item
    }

    /// Returns the item of an object that cannot be read, if its namespace accepts no new object.
    pub fn refused_by_namespace(
        self,
        resource: &SimulatedResource,
        identity: &Identity,
        unread: &Unsent,
    ) -> Option<ObjectReport> {
        let mut item = self.item(identity.clone(), None);
        self.check_namespace(&mut item, resource.plural(), Some(unread));
        (item.verdict != Verdict::Decodes).then_some(item)
    }

    fn item(self, identity: Identity, row: Option<&KindRow>) -> ObjectReport {
        let mut item = ObjectReport::new(self.locator.start(), Verdict::Decodes, "");
        let minor = self.context.server.release().minor().number().into();
        item.warnings.extend(row.and_then(|row| deprecation(row, &identity, minor, self.locator)));
        item.identity = identity;
        item
    }

    /// Completes the item of an object.
    fn decode(self, item: &mut ObjectReport, object: Value, kind: (&str, &str), is_stored: bool, reason: Unanswered) {
        let Self { context, locator, .. } = self;
        let verb = context.updates.request_kind.verb;
        let is_simulated = matches!(reason, Unanswered::NotKnown(_));
        let is_plain = kubectl_errors::has_plain_metadata(&object);
        self.decode_body(item, object, kind.0);
        // kubectl sends no request that has no path, whatever the server would reject in the object.
        kubectl_errors::require_request_path(item, verb, locator);
        // Objects that are not stored need no name.
        if item.identity.name.is_empty() && item.verdict == Verdict::Decodes && !is_simulated && is_stored {
            kubectl_errors::require_name_of_create(item, locator);
        }
        let unread = match &reason {
            Unanswered::NotSimulated => None,
            Unanswered::NotKnown(unsent) => Some(unsent),
        };
        self.check_namespace(item, kind.1, unread);
        self.leave_undecided(item, kind.1, unread);
        if let Unanswered::NotKnown(unsent) = reason
            && item.verdict == Verdict::Decodes
        {
            let error = unsent.into_error();
            (item.verdict, item.reason, item.help) = (Verdict::CannotTell, error.message, error.help);
        }
        if item.verdict == Verdict::Rejected {
            kubectl_errors::replace(item, verb, is_plain, locator);
        }
        // Validation, not the published schema, is what decides.
        if is_simulated {
            item.warnings.retain(|warning| warning.kind != PUBLISHED_SCHEMA);
        }
    }

    /// Decodes an object as kubectl sends it.
    fn decode_body(self, item: &mut ObjectReport, mut object: Value, kind: &str) {
        let Self { context, locator, .. } = self;
        // Any text of kubectl's last-applied annotation can be decoded.
        if context.updates.request_kind.verb == Verb::Apply {
            client_side::drop_nulls(&mut object);
        }
        let types = Types::for_release(context.server.release().minor().number().into());
        let (group, version) = group_version::split(&item.identity.api_version);
        let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
        let body = json::to_string(&object) + "\n";
        if size::reject_body(item, body.as_bytes()) {
            return;
        }
        match decode::decode(types, &endpoint, body.as_bytes()) {
            Ok(decoded) => decoded_item(item, &decoded, context.request_options.level, types, locator),
            Err(refusal) => undecodable_item(item, refusal, locator),
        }
        if item.verdict == Verdict::Decodes {
            size::check_stored(item, &object, body.as_bytes());
        }
    }

    /// Rejects a new object if its namespace does not accept it.
    fn check_namespace(self, item: &mut ObjectReport, plural: &str, unread: Option<&Unsent>) {
        let may_create = self.context.updates.request_kind.may_create();
        let namespace = item.identity.namespace.clone().filter(|_| may_create && item.verdict == Verdict::Decodes);
        let Some(namespace) = namespace else { return };
        match (self.cluster.read_object(NAMESPACES, "", &namespace), unread) {
            (Lookup::Absent, _) => {
                let message = format!("namespaces {} not found", quote::go_quote(&namespace));
                item.reject_with(ServerResponse { code: 404, reason: "NotFound".to_owned(), message });
            }
            // Objects in a namespace that is being deleted can still be updated.
            (Lookup::Found(object), Some(unread)) if is_terminating(&object) => {
                let cluster::Error { message, help, .. } = unread.to_error();
                (item.verdict, item.help) = (Verdict::CannotTell, help);
                item.reason = format!("its namespace is being deleted, and the object cannot be read: {message}");
            }
            (Lookup::Found(object), None) if is_terminating(&object) => {
                let reason =
                    format!("unable to create new content in namespace {namespace} because it is being terminated");
                item.reject_with(ServerResponse::forbidden(plural, &item.identity.name, &reason));
            }
            (Lookup::Found(_) | Lookup::Unknown, _) => {}
        }
    }

    /// Leaves the verdict on a decoded object open if policies match it.
    fn leave_undecided(self, item: &mut ObjectReport, plural: &str, unread: Option<&Unsent>) {
        let group = item.identity.group();
        let is_matched = self.context.admission.is_some_and(|admission| admission.may_match(group, plural));
        if !is_matched || item.verdict != Verdict::Decodes {
            return;
        }
        let reason = match unread {
            Some(unread) => format!("it is not known whether it exists: {}", unread.to_error().message),
            None => "this request for it is not simulated".to_owned(),
        };
        item.verdict = Verdict::CannotTell;
        item.reason = format!("admission policies match it, and {reason}");
        item.help = Some(ASK_THE_CLUSTER.to_owned());
    }
}

/// Returns the answer to a request that a resource allows for no object.
fn not_allowed(resource: &ApiResource, verb: Verb) -> Option<ServerResponse> {
    let (code, reason, message) = if !resource.writable {
        (405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    } else if !resource.readable && matches!(verb, Verb::Replace | Verb::ServerSide) {
        (404, "NotFound", "the server could not find the requested resource")
    } else {
        return None;
    };
    Some(ServerResponse { code, reason: reason.to_owned(), message: message.to_owned() })
}

/// Returns the item of an object of a built-in kind that the server does not serve. `by_default` is true for the kinds that its
/// release serves without configuration.
pub fn unserved(
    context: SimulationContext<'_>,
    object: &mut Object,
    (kind, plural): ((&str, &str, &str), &str),
    by_default: bool,
) -> Option<ObjectReport> {
    let is_served = is_served(context, kind, plural, by_default);
    if matches!(is_served, Ok(true)) {
        return None;
    }
    let own = identity::identity(object.value(), Namespace::Own);
    Some(match is_served {
        Ok(_) if by_default => no_matches(object, own, "; --runtime-config of the server disables it"),
        Ok(_) => not_served(context.server.release(), own, object),
        Err(error) => {
            let mut item = object.item(own, Verdict::CannotTell, error.message);
            item.help = error.help;
            item
        }
    })
}

/// Returns true if the discovery of a cluster is that of a kube-apiserver. Others, such as control planes without workloads, do not
/// say what they lack.
fn is_whole(cluster: &dyn Cluster) -> Result<bool, cluster::Error> {
    for kind in ["Node", "Pod", "ConfigMap", "Secret"] {
        if !cluster.serves(("", "v1", kind))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_served(
    context: SimulationContext<'_>,
    kind: (&str, &str, &str),
    plural: &str,
    by_default: bool,
) -> Result<bool, cluster::Error> {
    let cluster = context.cluster.filter(|cluster| cluster.is_configured());
    if by_default && context.served.depends_on_cluster {
        return match cluster {
            Some(cluster) if is_whole(cluster)? => cluster.serves(kind),
            _ => Ok(true),
        };
    }
    let (group, version, _) = kind;
    match context.served.runtime_config.serves(group, version, plural) {
        Some(served) => Ok(served),
        None if by_default => Ok(true),
        None => cluster.map_or(Ok(false), |cluster| cluster.serves(kind)),
    }
}
