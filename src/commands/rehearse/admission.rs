//! The admission policies and webhook configurations of an operator before and after its upgrade, and the effect of the new ones on the
//! next write of stored objects.

use super::report::policies;
use super::side::{OperatorSide, kind_and_name};
use crdx_engine::rehearsal::policies::{Effects, PolicyRehearsal, ReadDefinition};
use crdx_engine::report::admission::PolicyChange;
use crdx_engine::report::{ObjectReport, RunNote, SourceLocation, Verdict};
use crdx_engine::simulation::admission::{Admission, Objects};
use crdx_engine::simulation::identity::FieldLocator;
use crdx_engine::simulation::object::Object;
use crdx_output::secrets;
use crdx_runner::simulation::admission::{self as reading, Reading};
use crdx_server::policies::GROUP;
use crdx_server::server::{Server, Timestamp};
use crdx_types::resources::plural;
use crdx_value::Value;
use crdx_value::release::Release;

/// The difference between a new object and the old one of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionChange {
    Added,
    Changed,
    Unchanged,
    /// Only the old side has it.
    Removed,
}

impl AdmissionChange {
    /// Returns the word for it, which is also its value in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
        }
    }

    fn between<T: PartialEq>(old: Option<&T>, new: &T) -> Self {
        match old {
            None => Self::Added,
            Some(old) if old == new => Self::Unchanged,
            Some(_) => Self::Changed,
        }
    }
}

/// A policy, a binding or a webhook configuration.
#[derive(Clone, Debug)]
pub struct AdmissionObject {
    pub kind: String,
    pub name: String,
    pub location: SourceLocation,
    pub change: AdmissionChange,
    /// The webhooks of a configuration.
    pub webhooks: Vec<ChangedWebhook>,
}

impl AdmissionObject {
    /// Returns true if it is a webhook configuration.
    pub fn has_webhooks(&self) -> bool {
        self.kind.ends_with("WebhookConfiguration")
    }

    /// Returns the resource that `kubectl delete` takes.
    pub fn resource(&self) -> String {
        plural(&self.kind)
    }
}

/// A webhook of a configuration.
#[derive(Clone, Debug)]
pub struct ChangedWebhook {
    pub name: String,
    pub change: AdmissionChange,
    /// True if the server rejects writes while the webhook does not answer.
    pub fails_closed: bool,
    /// The Service that it calls, as `NAMESPACE/NAME`; `None` for a URL.
    pub service: Option<String>,
}

/// The policies and webhook configurations of both sides.
#[derive(Default)]
pub struct AdmissionUpgrade<'a> {
    new: Option<Admission>,
    old: Option<Admission>,
    sides: Option<&'a Sides<'a>>,
    /// The objects of the new side, then those that only the old side has.
    pub objects: Vec<AdmissionObject>,
    /// The objects that the server would refuse.
    pub refused: Vec<ObjectReport>,
    /// Notes about policies without an effect.
    pub notes: Vec<RunNote>,
}

/// The inputs that both sides share.
pub struct Sides<'a> {
    pub reading: Reading<'a>,
    pub now: Timestamp,
}

impl<'a> AdmissionUpgrade<'a> {
    /// Prepares the policies and webhooks of both sides, each with its CRDs and release.
    pub fn new(
        sides: &'a Sides<'a>,
        (new, new_release): (&OperatorSide, Release),
        (old, old_release): (&OperatorSide, Release),
    ) -> Self {
        let mut upgrade = Self { sides: Some(sides), ..Self::default() };
        if !new.has_admission() && !old.has_admission() {
            return upgrade;
        }
        let mut refused = Vec::new();
        let mut show = |item: ObjectReport| refused.push(item);
        upgrade.new = prepared(sides, new, new_release, &mut show, &mut upgrade.notes);
        // The old objects were accepted once; a note about them does not help.
        upgrade.old = prepared(sides, old, old_release, &mut |_| (), &mut Vec::new());
        upgrade.refused = refused;
        let without_effect = upgrade.new.as_ref().and_then(Admission::without_effect);
        upgrade.notes.extend(without_effect.map(|message| RunNote { kind: "unboundPolicies", message }));
        let server = |admission: &Option<Admission>, release| {
            let namespace = sides.reading.namespace;
            admission.as_ref().map(|admission| admission.server(Server::builder(release, 0), sides.now, namespace))
        };
        let servers = (server(&upgrade.old, old_release), server(&upgrade.new, new_release));
        let before: Vec<(&Object, Value)> =
            old.admission().map(|object| (object, stored(servers.0.as_ref(), object))).collect();
        let same = |one: &Object, other: &Object| kind_and_name(one) == kind_and_name(other);
        for object in new.admission() {
            let after = stored(servers.1.as_ref(), object);
            let old = before.iter().find(|(old, _)| same(old, object)).map(|(_, stored)| stored);
            upgrade.objects.push(changed(object, old, &after));
        }
        let is_new = |object: &Object| new.admission().any(|other| same(other, object));
        let removed = before.iter().filter(|(object, _)| !is_new(object));
        upgrade.objects.extend(removed.map(|(object, stored)| removed_object(object, stored)));
        upgrade
    }

    /// Returns the new policies with their source locations.
    pub fn given(&self) -> Option<&Admission> {
        self.new.as_ref()
    }

    /// Returns a server with the old policies, which are in force while CRDs are replaced; `None` if none of them has a rule for CRDs.
    pub fn server_of_definitions(&self, release: Release) -> Option<Server> {
        let Sides { reading, now } = self.sides?;
        let old = self
            .old
            .as_ref()
            .filter(|old| old.matches_resource(crdx_server::crd::GROUP, "customresourcedefinitions"))?;
        Some(old.server(Server::builder(release, 0).without_managed_fields(), *now, reading.namespace))
    }

    /// Returns the rehearsal of objects, if there are new policies or webhooks.
    pub fn rehearsal(
        &'a self,
        (new, new_release): (&OperatorSide, Release),
        (old, old_release): (&OperatorSide, Release),
        read_definition: impl Fn() -> ReadDefinition<'a>,
    ) -> Option<AdmissionRehearsal<'a>> {
        let sides = self.sides?;
        let rehearsal = |admission, side: &OperatorSide, release| {
            let crds = side.definitions.iter().map(|one| one.value.clone());
            PolicyRehearsal::new(admission, (release, sides.now), sides.reading.namespace, crds, read_definition())
        };
        let admission = self.new.as_ref()?;
        let old = self.old.as_ref().map(|admission| rehearsal(admission, old, old_release));
        Some(AdmissionRehearsal { admission, new: rehearsal(admission, new, new_release), old })
    }
}

/// Reads the policies of one side.
fn prepared(
    sides: &Sides<'_>,
    side: &OperatorSide,
    release: Release,
    show: &mut dyn FnMut(ObjectReport),
    notes: &mut Vec<RunNote>,
) -> Option<Admission> {
    let mut objects = Objects::default();
    for object in &side.others {
        if let Ok(kind) = object.kind() {
            objects.add_document(object.clone(), &kind, sides.reading.namespace);
        }
    }
    let crds = side.definitions.iter().map(|one| one.value.clone()).collect();
    reading::standalone(&objects, &sides.reading, release, crds, sides.now, show, notes)
}

/// Returns an object as a server stores it, with defaults; as it was given, if the server refuses it.
fn stored(server: Option<&Server>, object: &Object) -> Value {
    let (kind, name) = kind_and_name(object);
    let definition = format!("{}.{}", plural(kind), GROUP);
    let stored = server.and_then(|server| server.stored(&definition, "", name));
    stored.map_or_else(|| object.value().clone(), |stored| Value::clone(&stored))
}

/// Returns the parts of a stored object that decide about requests.
fn deciding(stored: &Value) -> [Option<Value>; 2] {
    ["spec", "webhooks"].map(|member| stored.get(member).cloned())
}

fn changed(object: &Object, old: Option<&Value>, new: &Value) -> AdmissionObject {
    let (kind, name) = kind_and_name(object);
    let webhooks = webhooks(new).map(|webhook| {
        let before = old.and_then(|old| webhooks(old).find(|other| other.get("name") == webhook.get("name")));
        changed_webhook(
            webhook,
            AdmissionChange::between(before.map(without_bundle).as_ref(), &without_bundle(webhook)),
        )
    });
    let webhooks: Vec<ChangedWebhook> = webhooks.collect();
    let change = if old.is_some() && kind.ends_with("WebhookConfiguration") {
        let are_unchanged = webhooks.iter().all(|webhook| webhook.change == AdmissionChange::Unchanged);
        let same_number = old.is_some_and(|old| self::webhooks(old).count() == webhooks.len());
        if are_unchanged && same_number { AdmissionChange::Unchanged } else { AdmissionChange::Changed }
    } else {
        AdmissionChange::between(old.map(deciding).as_ref(), &deciding(new))
    };
    let location = object.finder().start();
    AdmissionObject { kind: kind.to_owned(), name: name.to_owned(), location, change, webhooks }
}

fn removed_object(object: &Object, stored: &Value) -> AdmissionObject {
    let (kind, name) = kind_and_name(object);
    let webhooks = webhooks(stored).map(|webhook| changed_webhook(webhook, AdmissionChange::Removed)).collect();
    let location = object.finder().start();
    AdmissionObject {
        kind: kind.to_owned(),
        name: name.to_owned(),
        location,
        change: AdmissionChange::Removed,
        webhooks,
    }
}

fn webhooks(configuration: &Value) -> impl Iterator<Item = &Value> {
    configuration.get("webhooks").and_then(Value::as_array).unwrap_or_default().iter()
}

/// Removes the certificates of a webhook, which programs of the cluster often set.
fn without_bundle(webhook: &Value) -> Value {
    let mut webhook = webhook.clone();
    let client = webhook.get_mut("clientConfig").and_then(Value::as_object_mut);
    client.and_then(|client| client.remove("caBundle"));
    webhook
}

fn changed_webhook(webhook: &Value, change: AdmissionChange) -> ChangedWebhook {
    let text = |path: &[&str]| webhook.str_at(path);
    let service = text(&["clientConfig", "service", "name"]);
    let namespace = text(&["clientConfig", "service", "namespace"]).unwrap_or_default();
    ChangedWebhook {
        name: text(&["name"]).unwrap_or_default().to_owned(),
        change,
        fails_closed: text(&["failurePolicy"]) != Some("Ignore"),
        service: service.map(|name| format!("{namespace}/{name}")),
    }
}

/// The effect of the new policies and webhooks on the next write of an object.
pub struct AdmissionEffect {
    /// The answer of the server.
    pub item: ObjectReport,
    /// The effects that the old policies do not have.
    pub effects: Effects,
    /// The configuration and the name of each webhook that would be called or may be called.
    pub webhooks: Vec<(String, String)>,
}

impl AdmissionEffect {
    /// Returns true if the policies deny the write, except as in the baseline, or that is unknown.
    pub fn fails(&self) -> bool {
        self.effects.cannot_tell || !(self.effects.denied.is_empty() || self.item.is_known())
    }

    /// Returns true if the policies have an effect on the object, or the effect is unknown. Those that reject it before the upgrade, too,
    /// have none.
    pub fn is_touched(&self) -> bool {
        self.effects.has_effect()
    }

    /// Returns the answer to the next write; `None` if the policies do not change it.
    pub fn next_write(&self) -> Option<&'static str> {
        match &self.effects {
            Effects { cannot_tell: true, .. } => Some("cannot tell"),
            Effects { denied, .. } if !denied.is_empty() => Some("denied"),
            _ if self.item.verdict == Verdict::Rejected => Some("rejected"),
            _ => None,
        }
    }

    /// Returns a note for a table.
    pub fn note(&self) -> String {
        let words = policies::words(&self.effects);
        match &self.item {
            item if self.effects.cannot_tell => item.reason.clone(),
            item if item.is_known() => format!("{words}; in the baseline"),
            _ => words,
        }
    }
}

/// Rehearses the next write of objects under the policies of both sides.
pub struct AdmissionRehearsal<'a> {
    admission: &'a Admission,
    new: PolicyRehearsal<'a>,
    old: Option<PolicyRehearsal<'a>>,
}

impl AdmissionRehearsal<'_> {
    /// Returns true if a new policy or webhook has a rule for a resource; without its plural name, for a resource of the group.
    pub fn takes(&self, group: &str, plural: Option<&str>) -> bool {
        match plural {
            Some(plural) => matches(self.admission, group, plural),
            None => self.admission.matches_group(group),
        }
    }

    /// Returns the effect on an object.
    pub fn rehearse(&self, object: Value, locator: &dyn FieldLocator) -> AdmissionEffect {
        let before = self.old.as_ref().map(|old| old.rehearse(object.clone(), locator));
        let (mut item, mut effects) = self.new.rehearse(object, locator);
        if let Some((old_item, old)) = before {
            let is_unchanged = |policy: &str| mutated(&item, policy) == mutated(&old_item, policy);
            effects.changed.retain(|policy| !old.changed.contains(policy) || !is_unchanged(&policy.1));
            if !old.denied.is_empty() {
                effects.denied.clear();
            }
            effects.warned.retain(|policy| !old.warned.contains(policy));
            effects.audited.retain(|policy| !old.audited.contains(policy));
        }
        let called = item.admission.iter().flat_map(|admission| &admission.webhooks);
        let webhooks = called.map(|webhook| (webhook.configuration.clone(), webhook.name.clone())).collect();
        secrets::hide_lines(&mut item);
        AdmissionEffect { item, effects, webhooks }
    }
}

/// Returns true if a policy or webhook has a rule for a resource.
pub fn matches(admission: &Admission, group: &str, plural: &str) -> bool {
    admission.matches_resource(group, plural) || admission.has_webhook_for(group, plural)
}

/// Returns the changes of a policy.
fn mutated<'i>(item: &'i ObjectReport, policy: &str) -> Vec<&'i PolicyChange> {
    let all = item.admission.iter().flat_map(|admission| &admission.mutated);
    all.filter(|change| change.policy == policy).collect()
}
