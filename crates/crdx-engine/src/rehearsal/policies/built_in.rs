//! The next write of stored objects of built-in kinds.

use super::{Effects, PolicyRehearsal, cannot_tell};
use crate::kubectl::request::RequestOptions;
use crate::kubectl::send::send;
use crate::kubectl::{FieldValidation, RequestKind, Verb};
use crate::report::{Action, Identity, ObjectReport};
use crate::simulation::admission::Admission;
use crate::simulation::answer;
use crate::simulation::identity::{self, FieldLocator, Namespace};
use crate::simulation::kubectl_errors;
use crate::simulation::resource::SimulatedResource;
use crate::simulation::submit::exchange::{Address, Exchange, ExistingObject};
use crdx_server::server::Response;
use crdx_value::{Map, Value, group_version, object};

impl PolicyRehearsal<'_> {
    /// Returns the item of a stored object of a built-in kind, with the effects of the new policies. An object that no
    /// cluster has stored is completed with defaults first.
    pub(super) fn rehearse_built_in(&self, stored: &Value, locator: &dyn FieldLocator) -> (ObjectReport, Effects) {
        let own = identity::identity(stored, Namespace::Own);
        let (group, version) = group_version::split(&own.api_version);
        let kind = (group.to_owned(), version.to_owned(), own.kind.clone());
        let Some(resource) = SimulatedResource::built_in(&kind, self.release) else {
            let reason = format!("no matches for kind \"{}\" in version \"{}\"", own.kind, own.api_version);
            return cannot_tell(own, locator, reason, None);
        };
        let identity = resource.identity(stored, self.namespace);
        let Some(mut response) = self.replace(&resource, &identity, stored, Some(self.admission)) else {
            let reason = "the server could not have stored it in this version";
            let help = "give the objects as kubectl get -o yaml prints them";
            return cannot_tell(identity, locator, reason.to_owned(), Some(help));
        };
        let is_accepted_without =
            || self.replace(&resource, &identity, stored, None).is_some_and(|response| response.code < 300);
        let findings = response.trace.policies.take().unwrap_or_default();
        let (findings, effects) = self.effects(findings, response.code, is_accepted_without);
        let mut item = answer::read_built_in_response(response, identity, locator, self.release);
        item.action = Action::Update;
        item.object = None;
        (item.pruned, item.defaulted) = (Vec::new(), Vec::new());
        self.finish(item, effects, findings)
    }

    /// Replaces a stored object, which changes a label; `None` if no server could have stored it.
    fn replace(
        &self,
        resource: &SimulatedResource,
        identity: &Identity,
        stored: &Value,
        admission: Option<&Admission>,
    ) -> Option<Response> {
        let options = RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, now: self.now };
        let kind = RequestKind { verb: Verb::Replace, ..RequestKind::default() };
        let server = self.built_in.server(admission, self.namespace);
        let address = Address::new(resource, identity, &identity.name);
        let exchange =
            Exchange::begin(server, (resource, identity, &address), (Some(self.built_in.lock()), true), true);
        let is_stored = exchange.store(ExistingObject::Stored(stored.clone()), &kind, options).is_ok();
        let target = address.target(resource.patch(self.release), Some(&self.cluster));
        let next = kubectl_errors::in_namespace(touched(stored), identity);
        let sent = is_stored.then(|| send(server, target, next, &kind, options));
        exchange.end();
        sent?.ok().map(|outcome| outcome.response)
    }
}

/// The object with the label that the rehearsal adds.
fn touched(stored: &Value) -> Value {
    let mut next = stored.clone();
    let metadata = next.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        let labels = metadata.entry("labels".to_owned()).or_insert_with(|| Value::Object(Map::new()));
        match labels.as_object_mut() {
            Some(labels) => drop(labels.insert("crdx-rehearsal".to_owned(), "touched".into())),
            None => *labels = object([("crdx-rehearsal", "touched")]),
        }
    }
    next
}
