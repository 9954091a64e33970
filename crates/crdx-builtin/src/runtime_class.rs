//! The `RuntimeClass` of new Pods: its overhead and scheduling become those of the Pod (`plugin/pkg/admission/runtimeclass`
//! in `k8s.io/kubernetes`).

use crdx_types::amounts::amounts;
use crdx_value::release::{Release, V1_31};
use crdx_value::steps::{Spent, Steps};
use crdx_value::{Map, Value};
use std::cell::Cell;

const MISMATCH: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const WITHOUT_CLASS: &str = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

/// The reason why a Pod is not admitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The Pod does not agree with its class.
    #[error("{0}")]
    Mismatch(String),
    /// Merging the tolerations needs too many steps.
    #[error(transparent)]
    Unfinished(#[from] Spent),
}

/// Returns the name of the class of a Pod; `None` if it names none.
pub fn class_name(pod: &Value) -> Option<&str> {
    pod.str_at(&["spec", "runtimeClassName"])
}

/// Sets the overhead of a new Pod to that of its class, and merges the node selector and the tolerations of the class into
/// its own (`setOverhead`, `setScheduling`).
///
/// # Errors
/// Returns the reason why a Pod is refused that has another overhead, or another value in its node selector.
pub fn admit(pod: &mut Value, class: &Value, release: Release) -> Result<(), Refused> {
    if let Some(overhead) = class.get("overhead") {
        let own = pod.at(&["spec", "overhead"]).and_then(Value::as_object);
        // Before 1.31 an empty overhead must match, too.
        let is_given = own.is_some_and(|own| !own.is_empty() || !release.since(V1_31));
        if is_given && has_other_overhead(pod, class, release) {
            return Err(Refused::Mismatch(MISMATCH.to_owned()));
        }
        match overhead.get("podFixed") {
            Some(fixed) => pod.insert_at(&["spec", "overhead"], fixed.clone()),
            None => remove(pod, "overhead"),
        }
    }
    class.get("scheduling").map_or(Ok(()), |scheduling| set_scheduling(pod, scheduling))
}

/// Returns the reason why a Pod is refused whose overhead is not that of its class; `class` is `None` for a Pod without
/// class (`validateOverhead`).
pub fn overhead_refusal(pod: &Value, class: Option<&Value>, release: Release) -> Option<&'static str> {
    match class.filter(|class| class.get("overhead").is_some()) {
        Some(class) => has_other_overhead(pod, class, release).then_some(MISMATCH),
        None => pod.at(&["spec", "overhead"]).is_some_and(|own| !own.is_null()).then_some(WITHOUT_CLASS),
    }
}

fn has_other_overhead(pod: &Value, class: &Value, release: Release) -> bool {
    let of = |object, path: &[&str]| amounts(object, path, release.minor());
    let (own, fixed) = (of(pod, &["spec", "overhead"]), of(class, &["overhead", "podFixed"]));
    let same =
        own.iter().zip(&fixed).all(|((name, amount), (other, fixed))| name == other && amount.compare(fixed).is_eq());
    own.len() != fixed.len() || !same
}

fn set_scheduling(pod: &mut Value, scheduling: &Value) -> Result<(), Refused> {
    let members = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut selector = members(pod.at(&["spec", "nodeSelector"]));
    for (key, value) in &members(scheduling.get("nodeSelector")) {
        if let Some(own) = selector.get(key).filter(|own| *own != value) {
            let (own, value) = (own.as_str().unwrap_or_default(), value.as_str().unwrap_or_default());
            return Err(Refused::Mismatch(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own}"
            )));
        }
        selector.insert(key.clone(), value.clone());
    }
    let items = |value: Option<&Value>| value.and_then(Value::as_array).unwrap_or_default().to_vec();
    let mut tolerations = items(pod.at(&["spec", "tolerations"]));
    tolerations.extend(items(scheduling.get("tolerations")));
    set(pod, "nodeSelector", selector, Map::is_empty);
    set(pod, "tolerations", merge_tolerations(&tolerations, &Steps::of_request())?, Vec::is_empty);
    Ok(())
}

fn set<T: Into<Value>>(pod: &mut Value, field: &str, value: T, is_empty: impl Fn(&T) -> bool) {
    if is_empty(&value) { remove(pod, field) } else { pod.insert_at(&["spec", field], value.into()) }
}

fn remove(pod: &mut Value, field: &str) {
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove(field);
    }
}

/// A toleration; absent texts are empty.
#[derive(PartialEq, Eq)]
struct Toleration<'v> {
    key: &'v str,
    operator: &'v str,
    value: &'v str,
    effect: &'v str,
    seconds: Option<i64>,
}

impl<'v> Toleration<'v> {
    fn new(toleration: &'v Value) -> Self {
        let text = |field| toleration.str_at(&[field]).unwrap_or_default();
        Self {
            key: text("key"),
            operator: text("operator"),
            value: text("value"),
            effect: text("effect"),
            seconds: toleration.get("tolerationSeconds").and_then(Value::as_int),
        }
    }

    /// Returns true if it tolerates everything that another one does (`isSuperset`).
    fn includes(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        let has_key = other.key == self.key || (self.key.is_empty() && self.operator == "Exists");
        let has_effect = other.effect == self.effect || self.effect.is_empty();
        let lasts = self.effect != "NoExecute"
            || self.seconds.is_none_or(|seconds| other.seconds.is_some_and(|other| other <= seconds));
        let has_value = match self.operator {
            "Exists" => true,
            "Equal" | "" => other.operator == "Equal" && other.value == self.value,
            _ => false,
        };
        has_key && has_effect && lasts && has_value
    }
}

/// Returns the tolerations that no other one includes; of equal ones the first (`MergeTolerations` in
/// `pkg/util/tolerations`). The server compares each one with all others; a comparison is a step.
fn merge_tolerations(all: &[Value], steps: &Steps) -> Result<Vec<Value>, Spent> {
    let read: Vec<_> = all.iter().map(Toleration::new).collect();
    let mut merged: Vec<(usize, &Toleration<'_>)> = Vec::new();
    for (at, toleration) in read.iter().enumerate() {
        let compared = Cell::new(0);
        let includes = |one: &Toleration<'_>| {
            compared.set(compared.get() + 1);
            one.includes(toleration)
        };
        let is_included = merged.iter().any(|(_, known)| includes(known))
            || read.iter().skip(at + 1).any(|later| includes(later) && later != toleration);
        steps.take(compared.get())?;
        if !is_included {
            merged.push((at, toleration));
        }
    }
    Ok(merged.into_iter().filter_map(|(at, _)| all.get(at).cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn pod(spec: &str) -> Value {
        read(&format!(r#"{{"spec":{spec}}}"#))
    }

    fn refused<T>(reason: &str) -> Result<T, Refused> {
        Err(Refused::Mismatch(reason.to_owned()))
    }

    fn admitted(spec: &str, class: &str) -> Result<Value, Refused> {
        let mut pod = pod(spec);
        admit(&mut pod, &read(class), Release::NEWEST)?;
        Ok(pod.get("spec").cloned().unwrap_or_default())
    }

    const OVERHEAD: &str = r#"{"overhead":{"podFixed":{"cpu":"1"}}}"#;

    #[test]
    fn the_overhead_of_the_class_becomes_that_of_the_pod() {
        assert_eq!(admitted("{}", OVERHEAD), Ok(read(r#"{"overhead":{"cpu":"1"}}"#)));
        assert_eq!(admitted(r#"{"overhead":{"cpu":"1000m"}}"#, OVERHEAD), Ok(read(r#"{"overhead":{"cpu":"1"}}"#)));
        assert_eq!(admitted(r#"{"overhead":{"cpu":"2"}}"#, OVERHEAD), refused(MISMATCH));
        assert_eq!(admitted(r#"{"overhead":{"memory":"1"}}"#, OVERHEAD), refused(MISMATCH));
    }

    #[test]
    fn an_empty_overhead_must_match_before_1_31() {
        let admitted = |release: &str| {
            let release = release.parse().unwrap();
            admit(&mut pod(r#"{"overhead":{}}"#), &read(OVERHEAD), release)
        };
        assert_eq!(admitted("1.30"), refused(MISMATCH));
        assert_eq!(admitted("1.31"), Ok(()));
    }

    #[test]
    fn an_overhead_needs_a_class_with_overhead() {
        let with = pod(r#"{"overhead":{"cpu":"1"}}"#);
        assert_eq!(overhead_refusal(&with, None, Release::NEWEST), Some(WITHOUT_CLASS));
        assert_eq!(overhead_refusal(&with, Some(&read(r#"{"handler":"h"}"#)), Release::NEWEST), Some(WITHOUT_CLASS));
        assert_eq!(overhead_refusal(&with, Some(&read(OVERHEAD)), Release::NEWEST), None);
        assert_eq!(overhead_refusal(&pod("{}"), Some(&read(OVERHEAD)), Release::NEWEST), Some(MISMATCH));
        assert_eq!(overhead_refusal(&pod("{}"), None, Release::NEWEST), None);
        assert_eq!(overhead_refusal(&pod(r#"{"overhead":{}}"#), None, Release::NEWEST), Some(WITHOUT_CLASS));
    }

    #[test]
    fn node_selectors_are_merged_unless_they_conflict() {
        let class = r#"{"scheduling":{"nodeSelector":{"a":"b"}}}"#;
        assert_eq!(admitted("{}", class), Ok(read(r#"{"nodeSelector":{"a":"b"}}"#)));
        assert_eq!(admitted(r#"{"nodeSelector":{"c":"d"}}"#, class), Ok(read(r#"{"nodeSelector":{"a":"b","c":"d"}}"#)));
        let conflict = "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = x";
        assert_eq!(admitted(r#"{"nodeSelector":{"a":"x"}}"#, class), refused(conflict));
    }

    #[test]
    fn comparisons_of_many_tolerations_are_bounded() {
        let class = r#"{"scheduling":{"tolerations":[{"key":"x"}]}}"#;
        let pod = |count: usize| {
            let tolerations: Vec<String> = (0..count).map(|at| format!(r#"{{"key":"k{at}"}}"#)).collect();
            format!(r#"{{"tolerations":[{}]}}"#, tolerations.join(","))
        };
        assert!(admitted(&pod(1_000), class).is_ok());
        assert_eq!(admitted(&pod(20_000), class), Err(Refused::Unfinished(Spent)));
    }

    #[test]
    fn tolerations_that_others_include_are_removed() {
        let tolerations = |own: &str, of_class: &str| {
            let class = format!(r#"{{"scheduling":{{"tolerations":{of_class}}}}}"#);
            let spec = admitted(&format!(r#"{{"tolerations":{own}}}"#), &class).unwrap();
            spec.get("tolerations").cloned().unwrap_or_default()
        };
        let (exists, narrow) =
            (r#"{"key":"x","operator":"Exists"}"#, r#"{"key":"x","operator":"Exists","effect":"NoSchedule"}"#);
        assert_eq!(tolerations(&format!("[{narrow}]"), &format!("[{exists}]")), read(&format!("[{exists}]")));
        assert_eq!(tolerations(&format!("[{exists}]"), &format!("[{narrow},{exists}]")), read(&format!("[{exists}]")));
        let seconds =
            |n: u32| format!(r#"{{"key":"y","operator":"Exists","effect":"NoExecute","tolerationSeconds":{n}}}"#);
        assert_eq!(
            tolerations(&format!("[{}]", seconds(5)), &format!("[{}]", seconds(6))),
            read(&format!("[{}]", seconds(6)))
        );
        let equal = r#"[{"key":"z","operator":"Equal","value":"1"},{"key":"z","operator":"Equal","value":"2"}]"#;
        assert_eq!(tolerations(equal, "[]"), read(equal));
    }
}
