//! Collects the kinds seen in a run and reports cluster behaviour that is not simulated.

use super::live::Live;
use crdx_builtin::service_account;
use crdx_cluster::Written;
use crdx_engine::kubectl::Subresource;
use crdx_engine::report::admission::{Webhook, counted};
use crdx_engine::report::{Action, ObjectReport, Remark, RunNote, Verdict};
use crdx_engine::simulation::built_in::service_allocations;
use crdx_engine::simulation::definitions::Definitions;
use crdx_engine::simulation::pod_classes::{self, Class};
use crdx_server::crd;
use crdx_types::{groups, resources};
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use std::collections::{BTreeMap, BTreeSet};

/// The number of classes, service accounts or Services that a note names.
const MOST_NAMES: usize = 20;

/// The kinds seen so far.
#[derive(Debug, Default)]
pub struct SeenKinds {
    /// By group and kind; fields are empty until they are known.
    kinds: BTreeMap<(String, String), Written>,
    /// The Namespaces among the inputs.
    namespaces: BTreeSet<String>,
    /// Parts of policies that were not evaluated and do not affect a verdict: the unknown input and how to provide it,
    /// with the number of objects.
    undecided: BTreeMap<(String, String), usize>,
    /// The webhooks that would be called or may be called, with the number of objects.
    webhooks: BTreeMap<Webhook, usize>,
    /// The number of objects of built-in kinds that were decoded.
    decoded: usize,
    /// The classes that new Pods name.
    classes: BTreeSet<Class>,
    /// The classes among the inputs and those of other files.
    created_classes: BTreeSet<Class>,
    /// The service accounts that new Pods name, with their namespaces.
    service_accounts: BTreeSet<String>,
    /// The service accounts among the inputs, with their namespaces.
    created_service_accounts: BTreeSet<String>,
    /// The number of objects that differ from those of the same name in other files, and a text about the first.
    conflicting: (usize, String),
    /// New Services with the cluster IPs and node ports that they name.
    services: BTreeSet<String>,
}

impl SeenKinds {
    /// Records an item.
    pub fn add(&mut self, item: &ObjectReport, subresource: Option<Subresource>) {
        for undecided in item.admission.iter().flat_map(|admission| &admission.undecided).filter(|u| !u.decides) {
            *self.undecided.entry((undecided.message.clone(), undecided.help.clone())).or_default() += 1;
        }
        for webhook in item.admission.iter().flat_map(|admission| &admission.webhooks) {
            *self.webhooks.entry(webhook.clone()).or_default() += 1;
        }
        self.add_conflicts(item);
        self.decoded += usize::from(item.verdict == Verdict::Decodes && groups::is_built_in(item.identity.group()));
        self.add_built_in(item);
        let identity = &item.identity;
        if identity.kind == "Namespace" && identity.api_version == "v1" {
            self.namespaces.insert(identity.name.clone());
        }
        if item.answer.is_none() || !matches!(item.verdict, Verdict::Accepted | Verdict::Rejected) {
            return;
        }
        let kind = self.kinds.entry((identity.group().to_owned(), identity.kind.clone())).or_default();
        if let Some((_, version)) = identity.api_version.split_once('/')
            && !kind.versions.contains(version)
        {
            kind.versions.insert(version.to_owned());
        }
        kind.creates |= item.action == Action::Create && subresource.is_none();
        // kubectl sends no request if nothing would change.
        kind.updates |= item.action == Action::Update;
        kind.subresource = match subresource {
            Some(Subresource::Status) => "status",
            Some(Subresource::Scale) => "scale",
            None => "",
        };
        if let Some(namespace) = &identity.namespace
            && !kind.namespaces.contains(namespace)
        {
            kind.namespaces.insert(namespace.clone());
        }
    }

    fn add_conflicts(&mut self, item: &ObjectReport) {
        for remark in &item.remarks {
            let Remark::ConflictingObject(other) = remark else { continue };
            let (count, first) = &mut self.conflicting;
            *count += 1;
            if first.is_empty() {
                *first = format!("{} in {other} and {}", item.called(), item.location.without_excerpt());
            }
        }
    }

    /// The note about objects that several files have.
    fn conflicts(&self) -> Option<RunNote> {
        let (count, first) = &self.conflicting;
        let names = match count {
            0 => return None,
            1 => format!("two files have different objects of one name, {first}"),
            n => format!("{n} objects differ from those of the same name in other files, the first of them {first}"),
        };
        let message = format!(
            "{names}; each was validated on its own. If the files are for different clusters, give the directory of each with --target"
        );
        Some(RunNote { kind: "conflictingObjects", message })
    }

    /// Records classes that files give.
    pub fn add_given<'v>(&mut self, classes: impl Iterator<Item = &'v Value>) {
        self.created_classes.extend(classes.filter_map(pod_classes::class));
    }

    /// Records what new objects of built-in kinds need in the cluster, and what the inputs create of it.
    fn add_built_in(&mut self, item: &ObjectReport) {
        let Some(object) = item.object.as_ref().filter(|_| item.verdict == Verdict::Accepted) else { return };
        let identity = &item.identity;
        let in_namespace = |name: &str| format!("{}/{name}", identity.namespace.as_deref().unwrap_or_default());
        match (identity.api_version.as_str(), identity.kind.as_str()) {
            ("v1", "Pod") if item.action == Action::Create => {
                self.classes.extend(pod_classes::named(object));
                let account = service_account::name(object);
                // A controller creates it in every namespace.
                if account != service_account::DEFAULT {
                    self.service_accounts.insert(in_namespace(account));
                }
            }
            ("v1", "Service") if item.action == Action::Create => {
                let named = service_allocations::named(object);
                if !named.is_empty() {
                    self.services.insert(format!("{} ({})", in_namespace(&identity.name), named.join(", ")));
                }
            }
            ("v1", "ServiceAccount") => {
                self.created_service_accounts.insert(in_namespace(&identity.name));
            }
            (_, "PriorityClass" | "RuntimeClass") => self.created_classes.extend(pod_classes::class(object)),
            _ => {}
        }
    }

    /// The notes about objects of the cluster that were not looked for.
    fn not_read(&self) -> Vec<RunNote> {
        let first = |names: &mut dyn Iterator<Item = String>| names.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
        let classes = self.classes.difference(&self.created_classes);
        let classes = first(&mut classes.map(|(kind, name)| format!("{kind} {name}")));
        let accounts = first(&mut self.service_accounts.difference(&self.created_service_accounts).cloned());
        let services = first(&mut self.services.iter().cloned());
        let notes = [
            ("classes", classes, "new Pods need classes that were not looked for"),
            ("serviceAccounts", accounts, "new Pods need service accounts that were not looked for"),
            (
                "services",
                services,
                "whether other Services have the cluster IPs and node ports of new ones was not looked for",
            ),
        ];
        let notes = notes.into_iter().filter(|(_, names, _)| !names.is_empty());
        notes.map(|(kind, names, text)| RunNote { kind, message: format!("{text}: {names}") }).collect()
    }

    /// The note that webhooks were not evaluated for objects of built-in kinds.
    pub fn built_in_note(&self) -> Option<RunNote> {
        let message =
            format!("webhooks were not evaluated for {} of kinds built into Kubernetes", counted(self.decoded));
        (self.decoded > 0).then_some(RunNote { kind: "builtinWebhooks", message })
    }

    /// Returns the notes. `definitions` are the CRDs of each simulated release. The cluster is contacted only if it was
    /// contacted before. `evaluated` is true if the cluster's policies were evaluated.
    /// `reads_cluster` is true if what new objects need was read from the cluster.
    pub fn notes(
        self,
        definitions: &[&Definitions],
        live: Option<&Live>,
        evaluated: bool,
        reads_cluster: bool,
    ) -> Vec<RunNote> {
        let conflicts = self.conflicts();
        let not_read = if reads_cluster { Vec::new() } else { self.not_read() };
        let mut converted = Vec::new();
        let mut written = Vec::new();
        for ((group, kind), mut seen) in self.kinds {
            if group == crd::GROUP {
                seen.served = vec!["v1".to_owned()];
                "customresourcedefinitions".clone_into(&mut seen.plural);
            } else if let Some(route) = definitions.iter().find_map(|known| known.route(&group, &kind)) {
                seen.plural.clone_from(&route.plural);
                seen.served.clone_from(&route.versions);
                if route.converts_by_webhook && seen.versions.iter().any(|v| *v != route.storage) {
                    converted.push(format!("{}.{group}", route.plural));
                }
            } else {
                let newest = Release::NEWEST.minor().number().into();
                let served = resources::versions_of_kind(&group, &kind, newest);
                seen.served = served.iter().map(|served| group_version::split(served).1.to_owned()).collect();
                if seen.served.is_empty() {
                    continue;
                }
                seen.plural = resources::plural(&kind);
                if seen.versions.is_empty() {
                    seen.versions.extend(seen.served.first().cloned());
                }
            }
            seen.group = group;
            if seen.creates || seen.updates {
                written.push(seen);
            }
        }
        let undecided = self.undecided.into_iter().map(|((message, help), count)| {
            let message = format!("{message}: it was not evaluated for {}; {help}", counted(count));
            RunNote { kind: "undecidedPolicy", message }
        });
        let webhooks = self.webhooks.into_iter().map(|(webhook, count)| webhook.note(count));
        let mut notes: Vec<RunNote> = conflicts.into_iter().chain(undecided).chain(webhooks).collect();
        notes.extend(not_read);
        if !converted.is_empty() {
            let message = format!(
                "conversion webhooks are not called: versions of {} convert as with strategy None",
                converted.join(", ")
            );
            notes.push(RunNote { kind: "conversion", message });
        }
        if let Some(live) = live
            && let Some(connection) = live.opened()
        {
            let unreadable = live.unreadable();
            notes.extend(connection.unsimulated(&written, &self.namespaces, &unreadable, evaluated));
        }
        notes
    }
}
