//! The CRDs that were read from the cluster, and when they are requested again.

use super::cluster::{Fetched, Identity};
use crdx_engine::simulation::object::Kind;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// A CRD is requested again when its last answer is older than this.
const KEPT: Duration = Duration::from_mins(1);

/// The CRDs of a cluster.
#[derive(Debug, Default)]
pub struct Live {
    identity: Option<Identity>,
    /// By group and kind.
    requested: HashMap<(String, String), Instant>,
    definitions: BTreeMap<(String, String), (Kind, Value)>,
    /// The problem that was reported last.
    problem: Option<String>,
}

/// The effect of an answer.
#[derive(Debug, Default, PartialEq)]
pub struct LiveChanges {
    /// CRDs that were not known.
    pub added: Vec<(Kind, Value)>,
    /// True if a CRD or the release changed, so that all CRDs must be read again.
    pub is_stale: bool,
    pub problem: Option<String>,
    /// A note about the release.
    pub note: Option<String>,
}

impl Live {
    /// Returns the kinds to request (those of `unknown`, and those whose CRD is old) and records the requests.
    pub fn due(&mut self, unknown: &[Kind], now: Instant) -> Vec<Kind> {
        let known = self.definitions.values().map(|(kind, _)| kind.clone());
        let mut due = Vec::new();
        for kind in unknown.iter().cloned().chain(known).collect::<Vec<_>>() {
            let key = (kind.0.clone(), kind.2.clone());
            if self.requested.get(&key).is_none_or(|requested| now.duration_since(*requested) > KEPT) {
                self.requested.insert(key, now);
                due.push(kind);
            }
        }
        due
    }

    /// Keeps an answer.
    pub fn update(&mut self, fetched: Fetched) -> LiveChanges {
        let mut learned = LiveChanges::default();
        let mut problem = None;
        match fetched.cluster {
            Err(error) => problem = Some(error.message),
            Ok(identity) => {
                if self.identity.as_ref() != Some(&identity) {
                    // Another cluster has other CRDs.
                    let is_first = self.identity.is_none();
                    learned.is_stale = !is_first || identity.simulated.release != Release::NEWEST;
                    learned.note.clone_from(&identity.simulated.note);
                    self.definitions.clear();
                    self.identity = Some(identity);
                }
            }
        }
        for (kind, found) in fetched.definitions {
            let key = (kind.0.clone(), kind.2.clone());
            match found {
                Err(error) => problem = Some(error.message),
                Ok(None) => learned.is_stale |= self.definitions.remove(&key).is_some(),
                Ok(Some(definition)) => match self.definitions.insert(key, (kind.clone(), definition.clone())) {
                    None => learned.added.push((kind, definition)),
                    Some((_, known)) => learned.is_stale |= known != definition,
                },
            }
        }
        if problem != self.problem {
            learned.problem.clone_from(&problem);
            self.problem = problem;
        }
        learned
    }

    /// The release of the cluster.
    pub fn release(&self) -> Option<Release> {
        self.identity.as_ref().map(|identity| identity.simulated.release)
    }

    /// The CRDs.
    pub fn definitions(&self) -> impl Iterator<Item = &(Kind, Value)> {
        self.definitions.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_cluster::{Error, Simulated};

    fn kind(name: &str) -> Kind {
        ("example.com".to_owned(), "v1".to_owned(), name.to_owned())
    }

    fn fetched(url: &str, definitions: Vec<(Kind, Option<Value>)>) -> Fetched {
        let simulated = Simulated { release: Release::NEWEST, note: None };
        Fetched {
            cluster: Ok(Identity { url: url.to_owned(), simulated }),
            definitions: definitions.into_iter().map(|(kind, found)| (kind, Ok(found))).collect(),
        }
    }

    #[test]
    fn a_kind_is_requested_again_after_a_while() {
        let mut live = Live::default();
        let start = Instant::now();
        assert_eq!(live.due(&[kind("A")], start), [kind("A")]);
        assert_eq!(live.due(&[kind("A")], start), []);
        let learned = live.update(fetched("a", vec![(kind("A"), Some(Value::from(1)))]));
        assert_eq!((learned.added.len(), learned.is_stale), (1, false));
        let later = start + KEPT + Duration::from_secs(1);
        assert_eq!(live.due(&[], later), [kind("A")], "also a kind that is known");
        assert_eq!(live.update(fetched("a", vec![(kind("A"), Some(Value::from(1)))])), LiveChanges::default());
        assert!(live.update(fetched("a", vec![(kind("A"), Some(Value::from(2)))])).is_stale);
        assert!(live.update(fetched("a", vec![(kind("A"), None)])).is_stale);
        assert_eq!(live.definitions().count(), 0);
    }

    #[test]
    fn another_cluster_has_other_definitions() {
        let mut live = Live::default();
        live.update(fetched("a", vec![(kind("A"), Some(Value::from(1)))]));
        let learned = live.update(fetched("b", vec![(kind("B"), Some(Value::from(1)))]));
        assert!(learned.is_stale);
        assert_eq!(live.definitions().map(|(kind, _)| kind.2.as_str()).collect::<Vec<_>>(), ["B"]);
    }

    #[test]
    fn a_problem_is_reported_once() {
        let mut live = Live::default();
        let failed = || Fetched {
            cluster: Err(Error { message: "no".to_owned(), ..Error::default() }),
            definitions: Vec::new(),
        };
        assert_eq!(live.update(failed()).problem.as_deref(), Some("no"));
        assert_eq!(live.update(failed()).problem, None);
        assert_eq!(live.update(fetched("a", Vec::new())).problem, None);
        assert_eq!(live.update(failed()).problem.as_deref(), Some("no"));
    }
}
