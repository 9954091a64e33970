//! Collects the kinds seen in a run and reports cluster behaviour that is not simulated.

use super::live::Live;
use crate::cluster::Written;
use crdx::kubectl::Subresource;
use crdx::report::admission::{Webhook, counted};
use crdx::report::{Action, ObjectReport, RunNote, Verdict};
use crdx::simulation::definitions::Definitions;
use crdx::simulator::builtin::classes::{self, Class};
use crdx_server::crd;
use crdx_types::resources;
use crdx_value::group_version;
use crdx_value::release::Release;
use std::collections::{BTreeMap, BTreeSet};

/// The number of classes that a note names.
const MOST_CLASSES: usize = 20;

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
    /// The classes among the inputs.
    created_classes: BTreeSet<Class>,
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
        self.decoded += usize::from(item.verdict == Verdict::Decodes);
        if item.identity.kind == "Pod" && item.verdict == Verdict::Accepted && item.action == Action::Create {
            self.classes.extend(item.object.iter().flat_map(classes::named));
        }
        if matches!(item.identity.kind.as_str(), "PriorityClass" | "RuntimeClass") {
            let class = item.object.as_ref().and_then(classes::class);
            self.created_classes.extend(class);
        }
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

    /// The note that webhooks were not evaluated for objects of built-in kinds.
    pub fn builtin_note(&self) -> Option<RunNote> {
        let message =
            format!("webhooks were not evaluated for {} of kinds built into Kubernetes", counted(self.decoded));
        (self.decoded > 0).then_some(RunNote { kind: "builtinWebhooks", message })
    }

    /// Returns the notes. `definitions` are the CRDs of each simulated release. The cluster is contacted only if it was
    /// contacted before. `evaluated` is true if the cluster's policies were evaluated.
    /// `reads_cluster` is true if the classes of Pods were read from the cluster.
    pub fn notes(
        self,
        definitions: &[&Definitions],
        live: Option<&Live>,
        evaluated: bool,
        reads_cluster: bool,
    ) -> Vec<RunNote> {
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
        let classes = self.classes.difference(&self.created_classes).map(|(kind, name)| format!("{kind} {name}"));
        let classes: Vec<String> = classes.take(MOST_CLASSES).collect();
        let undecided = self.undecided.into_iter().map(|((message, help), count)| {
            let message = format!("{message}: it was not evaluated for {}; {help}", counted(count));
            RunNote { kind: "undecidedPolicy", message }
        });
        let webhooks = self.webhooks.into_iter().map(|(webhook, count)| webhook.note(count));
        let mut notes: Vec<RunNote> = undecided.chain(webhooks).collect();
        if !classes.is_empty() && !reads_cluster {
            let message = format!("new Pods need classes that were not looked for: {}", classes.join(", "));
            notes.push(RunNote { kind: "classes", message });
        }
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
