//! Objects that new admission policies deny and the old ones allow: creates and updates of custom resources and of built-in kinds.
//!
//! [`candidates`] changes valid objects where the expressions of the policies read them; [`probe`] sends them to servers with the
//! policies.

mod candidates;
mod probe;

use super::answer::{Answer, Effort, MAX_STARTS, MEMORY, Unknown, size};
use super::probe::Counterexample;
use super::random::Random;
use super::shrink;
use crate::examples::changes::changed;
use crate::examples::{self, Checker, Example, ExampleFields};
use crate::report::SourceLocation;
use crate::simulation::admission::{Admission, MatchingPolicy};
use candidates::Candidates;
use crdx_server::crd;
use crdx_server::policies::model::PolicyKind;
use crdx_server::policies::request::Kind;
use crdx_server::policies::type_checking::KnownType;
use crdx_server::server::Timestamp;
use crdx_types::resources::of_kind;
use crdx_value::release::Release;
use crdx_value::steps::Steps;
use crdx_value::{Value, json};
pub use probe::PolicyFailure;
use probe::{PolicyProbe, PolicyRequest, PolicyServers, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// One of this many requests is reserved for updates.
const UPDATES: usize = 4;

/// The policies to compare, and what they are simulated with.
#[derive(Clone, Copy, Debug)]
pub struct PolicyUpgrade<'a> {
    /// The old policies, if there are any.
    pub old: Option<&'a Admission>,
    /// The new policies.
    pub new: &'a Admission,
    /// The CRDs of custom resources.
    pub definitions: &'a [Value],
    /// The release of the server.
    pub release: Release,
    /// The time of the requests.
    pub now: Timestamp,
}

/// The answers for one kind that the new policies match.
#[derive(Clone, Debug, PartialEq)]
pub struct KindPolicies {
    /// The kind.
    pub kind: Kind,
    /// An object that all new policies allow.
    pub allowed: Answer,
    /// For each policy, a create or update that it denies and the old policies allow.
    pub policies: Vec<PolicyAnswer>,
    /// The number of valid objects that were sent.
    pub tries: usize,
}

/// The answer for one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyAnswer {
    /// The name of the policy.
    pub name: String,
    /// Its source location.
    pub location: SourceLocation,
    /// The effect of its failed validations.
    pub failure: PolicyFailure,
    /// The smallest create or update that fails it.
    pub answer: Answer,
}

impl PolicyUpgrade<'_> {
    /// Searches for objects of each kind that a new validating policy names.
    pub fn search(&self, effort: Effort) -> Vec<KindPolicies> {
        let decoded = self.definitions.iter().filter_map(|crd| Some((crd, crd::decode(crd).ok()?.crd)));
        let of_crds = decoded
            .flat_map(|(crd, typed)| KnownType::of_definition(&typed).into_iter().map(move |kind| (kind, Some(crd))));
        let kinds = of_crds.chain(KnownType::built_in(self.release).map(|kind| (kind, None)));
        let servers = PolicyServers::new(self);
        kinds.filter_map(|(kind, crd)| self.kind(&servers, &kind, crd, effort)).collect()
    }

    fn kind(
        &self,
        servers: &PolicyServers<'_>,
        known: &KnownType,
        definition: Option<&Value>,
        effort: Effort,
    ) -> Option<KindPolicies> {
        let kind = &known.kind;
        let matching = self.new.matching(&kind.group, known.plural());
        let matching: Vec<MatchingPolicy> =
            matching.into_iter().filter(|policy| policy.kind == PolicyKind::Validating).collect();
        if matching.is_empty() {
            return None;
        }
        let bases = self.bases(kind, definition);
        let unknown = |unknown| KindPolicies {
            kind: kind.clone(),
            allowed: Answer::CannotTell(unknown),
            policies: Vec::new(),
            tries: 0,
        };
        let probe = servers.probe(known, definition).filter(|_| !bases.is_empty());
        let (Some(probe), Some(schema)) = (probe, known.schema(self.release)) else {
            return Some(unknown(Unknown::NoObject));
        };
        let expressions: BTreeSet<&String> = matching.iter().flat_map(|policy| &policy.expressions).collect();
        let candidates = Candidates::new(&schema, expressions);
        let mut run = Run::new(&probe, &candidates, effort);
        // Updates need different valid objects, which the creates find.
        let of_writes = matching.iter().filter(|policy| policy.matches_create || policy.matches_update);
        run.creates(&bases, of_writes.count());
        let of_updates = matching.iter().filter(|policy| policy.matches_update);
        run.updates(&of_updates.map(|policy| policy.name.as_str()).collect());
        Some(run.answers(kind.clone(), matching))
    }

    /// Returns valid objects from which the search starts.
    fn bases(&self, kind: &Kind, definition: Option<&Value>) -> Vec<Value> {
        if let Some(definition) = definition {
            let Ok(checker) = Checker::new(definition, Some(&kind.version), self.release) else { return Vec::new() };
            let both = [ExampleFields::Minimal, ExampleFields::Full].into_iter();
            let examples = both.filter_map(|fields| examples::example(&checker, fields).ok());
            return examples.filter(|one| one.rejection.is_none()).map(|one| one.object).collect();
        }
        let minor = self.release.minor().number().into();
        let resource = of_kind(&kind.api_version(), &kind.kind, minor).filter(|resource| resource.writable);
        let example = resource.and_then(|resource| examples::built_in(resource, self.release));
        example.into_iter().filter(|Example { rejection, .. }| rejection.is_none()).map(|one| one.object).collect()
    }
}

/// The search for one kind.
struct Run<'r> {
    probe: &'r PolicyProbe<'r>,
    candidates: &'r Candidates,
    starts: Vec<Value>,
    /// A request that fails, by policy.
    found: BTreeMap<String, (PolicyRequest, PolicyFailure)>,
    allowed: Option<Value>,
    undecided: BTreeSet<String>,
    seen: HashSet<String>,
    tries: usize,
    left: usize,
    /// The maximum number of updates.
    updates: usize,
    memory: Steps,
    random: Random,
}

impl<'r> Run<'r> {
    fn new(probe: &'r PolicyProbe<'r>, candidates: &'r Candidates, effort: Effort) -> Self {
        Self {
            probe,
            candidates,
            starts: Vec::new(),
            found: BTreeMap::new(),
            allowed: None,
            undecided: BTreeSet::new(),
            seen: HashSet::new(),
            tries: 0,
            left: effort.objects - effort.objects / UPDATES,
            updates: effort.objects / UPDATES,
            memory: Steps::new((effort.objects as u64).saturating_mul(MEMORY)),
            random: Random::new(effort.seed),
        }
    }

    /// Creates objects until `policies` policies have one that fails, and one is allowed, or the effort is spent.
    fn creates(&mut self, bases: &[Value], policies: usize) {
        for base in bases {
            self.ask(base);
        }
        for base in bases {
            for changes in self.candidates.at_each(base).flatten() {
                if self.is_over(policies) {
                    return;
                }
                self.ask(&changed(base, &changes));
            }
        }
        let mut rounds = self.left.saturating_mul(2);
        while !self.is_over(policies) && rounds > 0 {
            rounds -= 1;
            let Some(mut object) = self.random.pick(&self.starts).cloned() else { return };
            for _ in 0..=self.random.below(3) {
                let paths = self.candidates.paths(&object);
                let Some(path) = self.random.pick(&paths) else { continue };
                let changes = self.candidates.at(&object, path);
                if let Some(changes) = self.random.pick(&changes) {
                    object = changed(&object, changes);
                }
            }
            self.ask(&object);
        }
    }

    fn is_over(&self, policies: usize) -> bool {
        let is_answered = self.found.len() >= policies && self.allowed.is_some();
        self.left == 0 || self.memory.are_spent() || is_answered
    }

    fn ask(&mut self, object: &Value) {
        if self.left == 0 || self.memory.are_spent() || !self.seen.insert(json::to_string(object)) {
            return;
        }
        self.left -= 1;
        let _ = self.memory.take(size(object));
        let request = PolicyRequest { object: object.clone(), updated: None };
        let Some(verdict) = self.probe.ask(&request) else { return };
        let is_allowed = self.note(&request, verdict);
        if is_allowed && self.allowed.is_none() {
            self.allowed = Some(object.clone());
        }
        if self.starts.len() < MAX_STARTS {
            self.starts.push(object.clone());
        }
    }

    /// Updates valid objects to others, until each of the policies has a request that fails or the effort is spent.
    fn updates(&mut self, policies: &BTreeSet<&str>) {
        let starts = std::mem::take(&mut self.starts);
        let memory_left = Steps::new((self.updates as u64).saturating_mul(MEMORY));
        let pairs = (0..starts.len()).flat_map(|by| starts.iter().zip(starts.iter().cycle().skip(by)));
        for (from, to) in pairs.take(self.updates) {
            if memory_left.are_spent() || policies.iter().all(|policy| self.found.contains_key(*policy)) {
                return;
            }
            let _ = memory_left.take(size(from).saturating_add(size(to)));
            // An update keeps the name.
            let mut to = to.clone();
            if let Some(name) = from.at(&["metadata", "name"]) {
                to.insert_at(&["metadata", "name"], name.clone());
            }
            let request = PolicyRequest { object: from.clone(), updated: Some(to) };
            if let Some(verdict) = self.probe.ask(&request) {
                self.note(&request, verdict);
            }
        }
    }

    /// Keeps a request for each policy for which it fails more severely than before. Returns true if the policies allow it.
    fn note(&mut self, request: &PolicyRequest, Verdict { failures, undecided }: Verdict) -> bool {
        self.tries += 1;
        let is_denied = failures.values().any(|(failure, _)| *failure == PolicyFailure::Denied);
        let is_allowed = !is_denied && undecided.is_empty();
        self.undecided.extend(undecided);
        let is_more_severe = |known: Option<PolicyFailure>, failure| known.is_none_or(|known| failure < known);
        let known =
            |found: &BTreeMap<String, (PolicyRequest, PolicyFailure)>, name: &String| found.get(name).map(|one| one.1);
        let is_news = failures.iter().any(|(name, (failure, _))| is_more_severe(known(&self.found, name), *failure));
        if is_news && let Some(old) = self.probe.old_failures(request) {
            for (name, (failure, _)) in failures {
                let before = old.get(&name).map(|one| one.0);
                if is_more_severe(before, failure) && is_more_severe(known(&self.found, &name), failure) {
                    self.found.insert(name, (request.clone(), failure));
                }
            }
        }
        is_allowed
    }

    fn answers(mut self, kind: Kind, matching: Vec<MatchingPolicy>) -> KindPolicies {
        let none = |tries: usize| if tries == 0 { Answer::CannotTell(Unknown::NoObject) } else { Answer::NoneFound };
        let found = std::mem::take(&mut self.found);
        let policies = matching.into_iter().map(|policy| {
            let MatchingPolicy { name, location, matches_create, matches_update, .. } = policy;
            let (failure, answer) = match found.get(&name) {
                Some((request, failure)) => (*failure, self.smallest(&name, request.clone(), *failure)),
                None if !matches_create && !matches_update => {
                    (PolicyFailure::Denied, Answer::CannotTell(Unknown::NoWrite))
                }
                None if self.undecided.contains(&name) => {
                    (PolicyFailure::Denied, Answer::CannotTell(Unknown::PolicyInput))
                }
                None => (PolicyFailure::Denied, none(self.tries)),
            };
            PolicyAnswer { name, location, failure, answer }
        });
        let policies = policies.collect();
        let allowed = self.allowed.take().map(|object| Counterexample { object, updated: None, details: Vec::new() });
        let unknown =
            if self.undecided.is_empty() { none(self.tries) } else { Answer::CannotTell(Unknown::PolicyInput) };
        let allowed = allowed.map_or(unknown, |found| Answer::Found(Box::new(found)));
        KindPolicies { kind, allowed, policies, tries: self.tries }
    }

    /// Returns the smallest objects of a request for which the policy fails, with its message.
    fn smallest(&self, name: &str, mut request: PolicyRequest, failure: PolicyFailure) -> Answer {
        let message = |request: &PolicyRequest| {
            let mut failures = self.probe.ask(request)?.failures;
            let (_, message) = failures.remove(name).filter(|(own, _)| *own == failure)?;
            let old = self.probe.old_failures(request)?;
            old.get(name).is_none_or(|(before, _)| failure < *before).then_some(message)
        };
        let with =
            |request: &PolicyRequest, object: &Value| PolicyRequest { object: object.clone(), ..request.clone() };
        let object = shrink::shrunk(request.object.clone(), |object| message(&with(&request, object)).is_some());
        request.object = object;
        if let Some(updated) = request.updated.clone() {
            let to = |updated: &Value| PolicyRequest { updated: Some(updated.clone()), ..request.clone() };
            request.updated = Some(shrink::shrunk(updated, |updated| message(&to(updated)).is_some()));
        }
        let details = message(&request).into_iter().collect();
        Answer::Found(Box::new(request.into_counterexample(details)))
    }
}

#[cfg(test)]
mod tests;
