//! What the threads of a run share: the server, its CRDs, and how an object is judged with them.

use super::admission::Admission;
use super::builtin;
use super::definitions::{Definitions, Installed, Route};
use super::filter::Unwanted;
use super::judge::{self, Before, Court, Namespace, Updates};
use super::live::Live;
use super::object::{Kind, Object};
use super::olds::Coming;
use super::turns::{Done, Turn, Turns};
use crate::cluster;
use crate::input::shelf::Shelf;
use crate::kubectl::FieldValidation;
use crate::kubectl::request::{self, Manner};
use crate::kubectl::update::{self, Way};
use crate::output::excerpt::Spot;
use crate::output::report::{Item, Remark, Verdict};
use crate::server::{ResponseBody, Server};
use crate::suggest;
use crate::value::Value;
use crate::value::group_version::api_version;
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, OnceLock};

/// What a run is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of objects that name none.
    pub namespace: String,
    /// How creates are sent.
    pub manner: Manner,
    /// Whether results keep the last-applied annotation.
    pub show_bookkeeping: bool,
    /// Whether a missing CRD makes a kind one to skip.
    pub ignore_missing: bool,
    /// How objects of built-in kinds are judged.
    pub builtin: builtin::Rules,
    /// The cluster to ask for missing CRDs, if any may be asked.
    pub cluster: Option<Arc<Live>>,
}

/// What needs no order: judging an object whose CRD is known, as one release does.
#[derive(Debug)]
pub struct Judge {
    /// What the run was told.
    pub settings: Settings,
    /// The server.
    pub server: Server,
    /// Which request is sent, and the existing objects.
    pub updates: Updates,
    /// What objects left behind for later inputs of their name: it does not stay in the server, where memory would grow.
    pub shelf: Shelf,
    /// The policies that admit objects, if there are any.
    pub admission: OnceLock<Admission>,
}

impl Judge {
    /// What the server would do with an object.
    pub fn judge(&self, ready: Ready) -> Item {
        let Ready { mut object, route, turn, coming } = ready;
        let earlier = turn.as_ref().and_then(Turn::wait);
        let namespace = if route.namespaced { Namespace::Or(&self.settings.namespace) } else { Namespace::None };
        let identity = judge::identity(object.value(), namespace);
        let warnings = std::mem::take(&mut object.warnings);
        let value = object.take_value();
        let finder = object.finder();
        let known = identity.clone();
        // One object must never take the others with it.
        let before = Before { stored: earlier.as_ref().and_then(|done| done.stored), coming };
        let judged = panic::catch_unwind(AssertUnwindSafe(|| {
            judge::judge(self.court(), &route, value, identity, before, &finder)
        }));
        let (mut item, stored) = judged.unwrap_or_else(|_| {
            let mut item = object.item(known, Verdict::CannotTell, "kubectl-crdx itself failed on this object");
            item.help = Some("this is a bug: please report it, with the object and its CRD".to_owned());
            (item, None)
        });
        item.warnings.extend(warnings);
        if let Some(turn) = turn {
            let first = earlier.map(|done| done.first);
            item.remarks.extend(first.clone().map(Remark::SameObject));
            turn.done(Done { first: first.unwrap_or_else(|| item.spot.clone()), stored });
        }
        item
    }

    /// What the server's decoder makes of an object of a built-in kind.
    pub fn decode(&self, object: Object, kind: &Kind) -> Item {
        let identity = judge::identity(object.value(), Namespace::Own);
        let spot = judge::Places::start(&object.finder());
        let judge = || builtin::judge(self.settings.builtin, &self.settings.namespace, object, kind);
        panic::catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| {
            let mut item = Item::new(spot, Verdict::CannotTell, "kubectl-crdx itself failed on this object");
            item.identity = identity;
            item.help = Some("this is a bug: please report it, with the object".to_owned());
            item
        })
    }

    fn court(&self) -> Court<'_> {
        Court {
            server: &self.server,
            manner: self.settings.manner,
            shelf: &self.shelf,
            updates: &self.updates,
            show_bookkeeping: self.settings.show_bookkeeping,
            namespace: &self.settings.namespace,
            admission: self.admission.get(),
        }
    }
}

/// What needs order: the CRDs, and names that come again.
#[derive(Debug, Default)]
pub struct Known {
    definitions: Definitions,
    /// By group and kind: where the first error of a CRD is that the server would refuse.
    invalid: BTreeMap<(String, String), Spot>,
    /// Why the cluster did not give the CRD of a group and kind.
    refused: BTreeMap<(String, String), cluster::Error>,
    turns: Turns,
}

/// An object that is to be judged.
#[derive(Debug)]
pub struct Ready {
    object: Object,
    route: Arc<Route>,
    /// Its turn among the inputs of its name, if there may be several.
    turn: Option<Turn>,
    /// The object as it is in the cluster, on its way.
    coming: Option<Coming>,
}

/// Where an object goes.
pub enum Destination {
    /// Judged already.
    Item(Box<Item>),
    /// To the server.
    Judge(Box<Object>, Arc<Route>),
    /// To the decoder of built-in kinds.
    Builtin(Box<Object>, Kind),
    /// Its CRD is not known.
    Unknown(Box<Object>, Kind),
}

impl Known {
    /// Where an object goes; a CRD is created on the way.
    pub fn destination(&mut self, judge: &Judge, object: Object) -> Destination {
        if object.is_definition() {
            let identity = judge::identity(object.value(), Namespace::None);
            let update = judge::judge_definition(judge.court(), object.value(), &identity, &object.finder());
            // Also one that is there already has to be known for the objects behind it.
            let mut item = self.install(judge, object, Some(&judge.updates.way), judge.settings.manner.level);
            if let Some(mut update) = update
                && matches!(item.verdict, Verdict::Accepted | Verdict::Rejected)
            {
                update.warnings.extend(item.warnings.into_iter().filter(|w| w.kind == "Input"));
                item = update;
            }
            return Destination::Item(Box::new(item));
        }
        let kind = match object.kind() {
            Ok(kind) => kind,
            Err(item) => return Destination::Item(item),
        };
        if let Some(route) = self.definitions.route(&kind.0, &kind.2) {
            return Destination::Judge(Box::new(object), Arc::clone(route));
        }
        if builtin::owns(&kind.0) {
            return Destination::Builtin(Box::new(object), kind);
        }
        Destination::Unknown(Box::new(object), kind)
    }

    /// Leaves an object out; a CRD still defines its kind. What is reported of it, if anything is.
    pub fn leave_out(&mut self, judge: &Judge, mut object: Object, why: Unwanted) -> Option<Item> {
        let identity = judge::identity(object.value(), Namespace::Own);
        let item = match why {
            Unwanted::Kind => Some(object.item(identity, Verdict::Skipped, "its kind is skipped with --skip")),
            Unwanted::Labels => None,
        };
        if object.is_definition() {
            let installed = self.install(judge, object, None, FieldValidation::Ignore);
            if matches!(installed.verdict, Verdict::Rejected | Verdict::CannotTell) {
                return Some(installed);
            }
        }
        item
    }

    /// Makes an object ready to be judged: it gets its turn, and the cluster is asked for what it would update, unless
    /// that is `coming` already. One whose name is yet to be made needs neither.
    pub fn ready(&mut self, judge: &Judge, object: Object, route: Arc<Route>, coming: &mut Option<Coming>) -> Ready {
        let namespace = if route.namespaced { Namespace::Or(&judge.settings.namespace) } else { Namespace::None };
        let identity = judge::identity(object.value(), namespace);
        if object.value().str_at(&["metadata", "name"]).is_none_or(str::is_empty) {
            return Ready { object, route, turn: None, coming: None };
        }
        let namespace = identity.namespace.as_deref().unwrap_or_default();
        let turn = self.turns.next(format!("{}/{}/{namespace}/{}", identity.group(), route.plural, identity.name));
        // Who comes later mostly finds what the first leaves behind.
        let coming = turn.is_first().then(|| {
            if coming.is_none() {
                *coming = judge.updates.olds.ask(&identity, &route.plural);
            }
            coming.clone()
        });
        let coming = coming.flatten();
        Ready { object, route, turn: Some(turn), coming }
    }

    /// The CRDs.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Gives policies the CRDs of their params.
    pub fn define_params(&self, admission: &mut Admission) {
        let kinds: Vec<_> = admission.param_kinds().cloned().collect();
        for kind in kinds {
            if let Some(route) = self.definitions.route(&kind.group, &kind.kind) {
                admission.define(kind, Arc::clone(route));
            }
        }
    }

    /// Whether a CRD defines the kind.
    pub fn knows(&self, kind: &Kind) -> bool {
        self.definitions.route(&kind.0, &kind.2).is_some()
    }

    /// Remembers why the cluster did not give a CRD.
    pub fn refuse(&mut self, kind: &Kind, error: cluster::Error) {
        self.refused.insert((kind.0.clone(), kind.2.clone()), error);
    }

    /// What is said of an object whose CRD did not come.
    pub fn without_definition(&self, judge: &Judge, mut object: Object, kind: &Kind) -> Item {
        let identity = judge::identity(object.value(), Namespace::Own);
        let (group, version, name) = kind;
        if let Some(spot) = self.invalid.get(&(group.clone(), name.clone())) {
            let reason = format!("its CRD would be refused: see {}:{}", spot.source, spot.line);
            let mut item = object.item(identity, Verdict::CannotTell, reason);
            item.help = Some("fix the CRD first; kubectl crdx lint checks it alone".to_owned());
            return item;
        }
        let kinds = self.definitions.kinds(group);
        if judge.settings.ignore_missing && kinds.is_empty() {
            return object.item(identity, Verdict::Skipped, "no CRD for it");
        }
        let refusal = self.refused.get(&(group.clone(), name.clone()));
        let none = || format!("no CRD for {} {name}", api_version(group, version));
        let reason = refusal.map_or_else(none, |error| error.message.clone());
        let help = match (refusal, &judge.settings.cluster) {
            (None, _) if !kinds.is_empty() => {
                Some(format!("give its CRD with --crds; the known CRDs of {group} define {}", kinds.join(", ")))
            }
            (Some(error), _) => {
                Some(error.help.as_ref().map_or_else(String::new, |help| format!("{help}; or ")) + OFFLINE)
            }
            (None, Some(_)) => Some(format!("the cluster has none either; {GIVE_IT}")),
            (None, None) => Some(format!("{GIVE_IT}, or ask the cluster: leave out --offline")),
        };
        let similar =
            self.definitions.similar_kind(group, name).or_else(|| self.definitions.similar_group(group, name));
        let help = match (similar.map(suggest::did_you_mean), help) {
            (Some(question), Some(help)) => Some(format!("{question} If not, {help}")),
            (None, help) => help,
            (question, None) => question,
        };
        let mut item = object.item(identity, Verdict::CannotTell, reason);
        item.help = help;
        item
    }

    /// Creates a CRD of the input; without a way the cluster is taken to have it already.
    pub fn install(&mut self, judge: &Judge, mut object: Object, way: Option<&Way>, level: FieldValidation) -> Item {
        let identity = judge::identity(object.value(), Namespace::None);
        if identity.api_version != "apiextensions.k8s.io/v1" {
            let reason = format!("CRDs of {} cannot be read", identity.api_version);
            let mut item = object.item(identity, Verdict::CannotTell, reason);
            item.help = Some("write it as apiextensions.k8s.io/v1".to_owned());
            return item;
        }
        let manner = Manner { level, dry_run: false, table: false, ..judge.settings.manner };
        // The finder needs to see that this is a CRD, so the value stays.
        let crd = object.value().clone();
        let named = |path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
        let defined = (named(&["spec", "group"]), named(&["spec", "names", "kind"]));
        let warnings = std::mem::take(&mut object.warnings);
        let finder = object.finder();
        let spot = judge::Places::start(&finder);
        let mut item = match self.definitions.install(&judge.server, crd, &spot, way, manner) {
            Installed::Answered(mut response) => {
                let findings = response.trace.policies.take();
                let mut item = judge::answered(*response, identity, &finder);
                judge::admitted(&mut item, findings, judge.admission.get());
                if let Some(stored) = &mut item.object {
                    request::forget_its_past(stored);
                    if !judge.settings.show_bookkeeping {
                        update::remove_last_applied(stored);
                    }
                }
                item
            }
            Installed::Same(first) => {
                let mut item = Item::new(spot, Verdict::Skipped, format!("the same CRD as at {first}"));
                item.identity = identity;
                item
            }
            Installed::Conflict(first) => {
                let mut item = Item::new(spot, Verdict::CannotTell, format!("another CRD of this name is at {first}"));
                item.identity = identity;
                item.help = Some("leave one of them out: only the first is used here".to_owned());
                item
            }
        };
        if item.verdict == Verdict::Rejected {
            let first = item.errors.first().and_then(|error| error.spot.clone());
            self.invalid.entry(defined).or_insert_with(|| first.unwrap_or_else(|| item.spot.clone()));
        }
        item.warnings.extend(warnings);
        item
    }

    /// Creates a CRD of the cluster.
    pub fn install_from_cluster(&mut self, judge: &Judge, kind: &Kind, crd: Value) {
        let spot = Spot::source(&Arc::from("the cluster"));
        let manner = Manner { level: FieldValidation::Ignore, dry_run: false, table: false, ..judge.settings.manner };
        let message = match self.definitions.install(&judge.server, crd, &spot, None, manner) {
            Installed::Same(_) => return,
            Installed::Answered(response) if response.code == 201 => return,
            Installed::Answered(response) => match &response.body {
                ResponseBody::Json(body) => body.str_at(&["message"]).unwrap_or_default().to_owned(),
                ResponseBody::Text(text) => text.trim().to_owned(),
            },
            Installed::Conflict(first) => format!("another CRD of this name is at {first}"),
        };
        let message = format!("the CRD that the cluster has cannot be used: {message}");
        self.refuse(kind, cluster::Error { message, ..cluster::Error::default() });
    }
}

const OFFLINE: &str = "give the CRD in a file with --crds and --offline";
const GIVE_IT: &str = "give it with --crds or among the objects, or skip such kinds with --ignore-missing-crds";
