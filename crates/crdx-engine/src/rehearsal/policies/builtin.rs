//! The next write of stored objects of built-in kinds.

use super::{Effects, PolicyRehearsal, cannot_tell};
use crate::kubectl::request::RequestOptions;
use crate::kubectl::{FieldValidation, RequestKind, Verb};
use crate::report::{Action, ObjectReport};
use crate::simulation::answer;
use crate::simulation::built_in_server::{ExistingObject, Updated, Write, WriteOptions};
use crate::simulation::identity::{self, FieldLocator, Namespace};
use crdx_types::{resources, table::table};
use crdx_value::{Map, Value, object};

impl PolicyRehearsal<'_> {
    /// Returns the item of a stored object of a built-in kind, with the effects of the new policies. An object that no
    /// cluster has stored is completed with defaults first.
    pub(super) fn rehearse_builtin(&self, stored: &Value, locator: &dyn FieldLocator) -> (ObjectReport, Effects) {
        let own = identity::identity(stored, Namespace::Own);
        let minor = self.release.emulated().number().into();
        let row = table().kind(&own.api_version, &own.kind, minor).filter(|row| row.served);
        let Some(row) = row else {
            let reason = format!("no matches for kind \"{}\" in version \"{}\"", own.kind, own.api_version);
            return cannot_tell(own.clone(), locator, reason, None);
        };
        let namespace = if row.cluster { Namespace::None } else { Namespace::Or(self.namespace) };
        let identity = identity::identity(stored, namespace);
        let request = RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, now: self.now };
        let kind = RequestKind { verb: Verb::Replace, ..RequestKind::default() };
        let options = WriteOptions {
            release: self.release,
            request,
            kind: &kind,
            admission: Some(self.admission),
            namespace: self.namespace,
        };
        let (next, plural) = (touched(stored), resources::plural(&identity.kind));
        let write = Write {
            identity: &identity,
            kind: &identity.kind,
            plural: &plural,
            sent: &next,
            existing: Some(ExistingObject::Stored(stored)),
            cluster: Some(&self.cluster),
        };
        let (Updated::Answered(outcome), _) = self.built_in.update(options, &write) else {
            let reason = "the server could not have stored it in this version";
            let help = "give the objects as kubectl get -o yaml prints them";
            return cannot_tell(identity, locator, reason.to_owned(), Some(help));
        };
        let mut response = outcome.response;
        let (findings, effects) = self.effects(response.trace.policies.take().unwrap_or_default());
        let mut item = answer::read_built_in_response(response, identity, locator, self.release);
        item.action = Action::Update;
        item.object = None;
        (item.pruned, item.defaulted) = (Vec::new(), Vec::new());
        self.finish(item, effects, findings)
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
