//! `LimitRange`s in a namespace: the defaults of Pods, and the limits of Pods and claims
//! (`plugin/pkg/admission/limitranger` in `k8s.io/kubernetes`).

mod comparison;

use crate::amounts::of_pod;
use comparison::{Comparison, Missing, observed_ratio};
use crdx_types::amounts::{Amounts, amounts, is_less, quantity};
use crdx_value::field::STEPS_OF_A_BYTE;
use crdx_value::release::Release;
use crdx_value::steps::{Spent, Steps, memory};
use crdx_value::{Map, Value};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The annotation in which the plugin describes its changes.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Sets the default requests and limits of the containers of a new Pod (`PodMutateLimitFunc`). Returns true if there are
/// any. Each container gets all defaults, so that their number is not bounded by the sizes of the objects.
///
/// # Errors
/// Returns an error if the defaults need more steps than are left.
pub fn set_defaults(range: &Value, pod: &mut Value, steps: &Steps) -> Result<bool, Spent> {
    let (mut requests, mut limits) = (Map::new(), Map::new());
    for limit in of_type(range, "Container") {
        requests.extend(members(limit, "defaultRequest").map(|(name, value)| (name.clone(), value.clone())));
        limits.extend(members(limit, "default").map(|(name, value)| (name.clone(), value.clone())));
    }
    let defaults = (requests.len() + limits.len()) as u64;
    let mut changes = Vec::new();
    for (list, prefix) in [("containers", "container"), ("initContainers", "init container")] {
        let containers = pod.get_mut("spec").and_then(|spec| spec.get_mut(list));
        let Some(Value::Array(containers)) = containers else { continue };
        for container in containers {
            steps.take(defaults)?;
            let name = container.str_at(&["name"]).unwrap_or_default().to_owned();
            let requested = add_absent(container, "requests", &requests, steps)?;
            let limited = add_absent(container, "limits", &limits, steps)?;
            for (added, what) in [(requested, "request"), (limited, "limit")] {
                if !added.is_empty() {
                    changes.push(format!("{} {what} for {prefix} {name}", added.join(", ")));
                }
            }
        }
    }
    if changes.is_empty() {
        return Ok(false);
    }
    let text = format!("LimitRanger plugin set: {}", changes.join("; "));
    pod.insert_at(&["metadata", "annotations", ANNOTATION], text.into());
    Ok(true)
}

/// Adds amounts that a container does not have. Returns their names.
fn add_absent(container: &mut Value, key: &str, defaults: &Map, steps: &Steps) -> Result<Vec<String>, Spent> {
    let own = container.at(&["resources", key]).and_then(Value::as_object);
    let absent = defaults.iter().filter(|(name, _)| own.is_none_or(|own| !own.contains_key(name.as_str())));
    let absent: Vec<(String, Value)> = absent.map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in &absent {
        steps.take(STEPS_OF_A_BYTE * (name.len() + memory(value)) as u64)?;
        container.insert_at(&["resources", key, name], value.clone());
    }
    Ok(absent.into_iter().map(|(name, _)| name).collect())
}

/// Returns the error of an object that does not keep to the limits (`PodValidateLimitFunc` and
/// `PersistentVolumeClaimValidateLimitFunc`). Each container is compared with all limits. Amounts that an update of `old` does not
/// change are not compared; before 1.38, there is no `old`.
///
/// # Errors
/// Returns an error if the comparisons or their errors need more steps than are left.
pub fn violation(
    range: &Value,
    kind: &str,
    (object, old): (&Value, Option<&Value>),
    release: Release,
    steps: &Steps,
) -> Result<Option<String>, Spent> {
    let mut errors = Violations { list: Vec::new(), release, steps };
    let minor = release.minor();
    match kind {
        "Pod" => {
            for limit in of_type(range, "Container") {
                for list in ["containers", "initContainers"] {
                    let old = old.map(|old| items(old, &["spec", list])).unwrap_or_default();
                    steps.take(old.len() as u64)?;
                    let by_name: BTreeMap<&str, &Value> =
                        old.iter().rev().filter_map(|one| Some((one.str_at(&["name"])?, one))).collect();
                    for container in items(object, &["spec", list]) {
                        let of = |container: &Value| {
                            ["requests", "limits"].map(|key| amounts(container, &["resources", key], minor))
                        };
                        let before = container.str_at(&["name"]).and_then(|name| by_name.get(name));
                        errors.check(limit, "Container", &of(container), before.map(|one| of(one)).as_ref())?;
                    }
                }
            }
            for limit in of_type(range, "Pod") {
                let of = |pod: &Value| ["requests", "limits"].map(|key| of_pod(pod, key, minor, is_of_pods));
                errors.check(limit, "Pod", &of(object), old.map(of).as_ref())?;
            }
        }
        "PersistentVolumeClaim" => {
            let of = |claim: &Value| [amounts(claim, &["spec", "resources", "requests"], minor)];
            for limit in of_type(range, "PersistentVolumeClaim") {
                errors.check(limit, "PersistentVolumeClaim", &of(object), old.map(of).as_ref())?;
            }
        }
        _ => {}
    }
    // `NewAggregate`
    let mut seen = BTreeSet::new();
    let mut errors = errors.list;
    errors.retain(|error| seen.insert(error.clone()));
    Ok(match errors.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    })
}

/// Returns true for a resource that limits count for a whole Pod (`isSupportedPodLevelResource`): unlike quotas, they do not
/// count its huge pages.
fn is_of_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory")
}

/// The errors about limits.
struct Violations<'s> {
    list: Vec<String>,
    release: Release,
    steps: &'s Steps,
}

impl Violations<'_> {
    fn extend(&mut self, error: Option<String>) -> Result<(), Spent> {
        let Some(error) = error else { return Ok(()) };
        self.steps.take(STEPS_OF_A_BYTE * error.len() as u64)?;
        self.list.push(error);
        Ok(())
    }

    /// Checks the requests and the limits, or only the requests, against one limit, except for those that are the same in `old`.
    fn check<const N: usize>(
        &mut self,
        limit: &Value,
        type_: &str,
        given: &[Amounts; N],
        old: Option<&[Amounts; N]>,
    ) -> Result<(), Spent> {
        let (none, minor) = (Amounts::new(), self.release.minor());
        let (requests, limits) = (given.first().unwrap_or(&none), given.get(1));
        let most = limits.unwrap_or(&none);
        let is_same = |(new, old): (&Amounts, &Amounts), name: &str| match (new.get(name), old.get(name)) {
            (Some(new), Some(old)) => !is_less(new, old) && !is_less(old, new),
            // `unchangedRequest` needs both requests.
            (None, None) => limits.is_some(),
            _ => false,
        };
        let is_kept = |name: &str| old.is_some_and(|old| given.iter().zip(old).all(|pair| is_same(pair, name)));
        let quantities = |key| {
            let quantities = members(limit, key).filter_map(|(name, value)| Some((name, quantity(value, minor)?)));
            quantities.filter(|(name, _)| !is_kept(name))
        };
        self.steps.take(
            ["min", "max", "maxLimitRequestRatio"].map(|key| members(limit, key).count()).iter().sum::<usize>() as u64,
        )?;
        for (name, least) in quantities("min") {
            let prefix = format!("minimum {name} usage per {type_} is {least}");
            let found = Comparison::new(requests.get(name), most.get(name), &least, self.release);
            self.extend(match (found.request, found.limit) {
                (None, _) => Some(format!("{prefix}.  No request is specified")),
                (Some((request, Ordering::Less)), _) => Some(format!("{prefix}, but request is {request}")),
                (_, Some((limit, Ordering::Less))) => Some(format!("{prefix}, but limit is {limit}")),
                _ => None,
            })?;
        }
        for (name, max) in quantities("max") {
            let prefix = format!("maximum {name} usage per {type_} is {max}");
            let limit = most.get(name).filter(|_| limits.is_some());
            let found = Comparison::new(requests.get(name), limit, &max, self.release);
            self.extend(match (found.request, found.limit) {
                (None, _) if limits.is_none() => Some(format!("{prefix}.  No request is specified")),
                (_, None) if limits.is_some() => Some(format!("{prefix}.  No limit is specified")),
                (_, Some((limit, Ordering::Greater))) => Some(format!("{prefix}, but limit is {limit}")),
                (Some((request, Ordering::Greater)), _) => Some(format!("{prefix}, but request is {request}")),
                _ => None,
            })?;
        }
        for (name, ratio) in quantities("maxLimitRequestRatio").filter(|_| limits.is_some()) {
            let prefix = format!("{name} max limit to request ratio per {type_} is {ratio}");
            self.extend(match observed_ratio(requests.get(name), most.get(name), &ratio, self.release) {
                Err(Missing::Request) => Some(format!("{prefix}, but no request is specified or request is 0")),
                Err(Missing::Limit) => Some(format!("{prefix}, but no limit is specified or limit is 0")),
                Ok(Some(observed)) => Some(format!("{prefix}, but provided ratio is {observed:.6}")),
                Ok(None) => None,
            })?;
        }
        Ok(())
    }
}

fn of_type<'v>(range: &'v Value, type_: &'v str) -> impl Iterator<Item = &'v Value> {
    items(range, &["spec", "limits"]).iter().filter(move |limit| limit.str_at(&["type"]) == Some(type_))
}

fn items<'v>(object: &'v Value, path: &[&str]) -> &'v [Value] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

fn members<'v>(object: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    object.get(key).and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_value::json::to_string;

    fn value(text: &str) -> Value {
        read(text.as_bytes()).unwrap()
    }

    fn range(limit: &str) -> Value {
        value(&format!(r#"{{"spec":{{"limits":[{limit}]}}}}"#))
    }

    #[test]
    fn containers_get_defaults() {
        let range =
            range(r#"{"type":"Container","default":{"cpu":"1","memory":"1Gi"},"defaultRequest":{"cpu":"500m"}}"#);
        let mut pod = value(
            r#"{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"2"}}},{"name":"d"}],"initContainers":[{"name":"i"}]}}"#,
        );
        assert_eq!(set_defaults(&range, &mut pod, &Steps::of_request()), Ok(true));
        let expected = "LimitRanger plugin set: cpu request for container c; memory limit for container c; cpu request for container d; cpu, memory limit for container d; cpu request for init container i; cpu, memory limit for init container i";
        assert_eq!(pod.str_at(&["metadata", "annotations", ANNOTATION]), Some(expected));
        let first = pod.at(&["spec", "containers"]).and_then(Value::as_array).unwrap().first().unwrap();
        assert_eq!(
            to_string(first.get("resources").unwrap()),
            r#"{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"500m"}}"#
        );
        assert_eq!(set_defaults(&range, &mut pod, &Steps::of_request()), Ok(false));
    }

    #[test]
    fn amounts_keep_to_the_limits() {
        let pod = |resources: &str| {
            value(&format!(r#"{{"spec":{{"containers":[{{"name":"c","resources":{resources}}}]}}}}"#))
        };
        let of = |limit: &str, resources: &str| {
            violation(&range(limit), "Pod", (&pod(resources), None), Release::NEWEST, &Steps::of_request()).unwrap()
        };
        let min = r#"{"type":"Container","min":{"cpu":"100m"}}"#;
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(of(min, "{}"), text("minimum cpu usage per Container is 100m.  No request is specified"));
        let low = of(min, r#"{"requests":{"cpu":"50m"}}"#);
        assert_eq!(low, text("minimum cpu usage per Container is 100m, but request is 50m"));
        assert_eq!(of(min, r#"{"requests":{"cpu":"100m"}}"#), None);
        let max = r#"{"type":"Pod","max":{"cpu":"1","memory":"1Gi"}}"#;
        assert_eq!(
            of(max, r#"{"limits":{"cpu":"2"}}"#),
            text(
                "[maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 1Gi.  No limit is specified]"
            )
        );
        let ratio = r#"{"type":"Container","maxLimitRequestRatio":{"cpu":"2"}}"#;
        let high = of(ratio, r#"{"limits":{"cpu":"1"},"requests":{"cpu":"300m"}}"#);
        assert_eq!(high, text("cpu max limit to request ratio per Container is 2, but provided ratio is 3.333333"));
        let claim = value(r#"{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}"#);
        let max = range(r#"{"type":"PersistentVolumeClaim","max":{"storage":"1Gi"}}"#);
        let expected = "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi";
        assert_eq!(
            violation(&max, "PersistentVolumeClaim", (&claim, None), Release::NEWEST, &Steps::of_request()),
            Ok(text(expected))
        );
    }

    #[test]
    fn an_update_may_keep_amounts_beyond_the_limits() {
        let pod = |resources: &str| {
            value(&format!(r#"{{"spec":{{"containers":[{{"name":"c","resources":{resources}}}]}}}}"#))
        };
        let range = range(r#"{"type":"Container","max":{"cpu":"1","memory":"1Gi"}}"#);
        let old = pod(r#"{"limits":{"cpu":"2","memory":"2Gi"}}"#);
        let update = |resources| {
            violation(&range, "Pod", (&pod(resources), Some(&old)), Release::NEWEST, &Steps::of_request()).unwrap()
        };
        assert_eq!(update(r#"{"limits":{"cpu":"2000m","memory":"2Gi"}}"#), None);
        let expected = "maximum cpu usage per Container is 1, but limit is 3";
        assert_eq!(update(r#"{"limits":{"cpu":"3","memory":"2Gi"}}"#).as_deref(), Some(expected));
        let claim = |size: &str| value(&format!(r#"{{"spec":{{"resources":{{"requests":{{"storage":"{size}"}}}}}}}}"#));
        let range = self::range(r#"{"type":"PersistentVolumeClaim","max":{"storage":"1Gi"}}"#);
        let of = |old| {
            violation(&range, "PersistentVolumeClaim", (&claim("2Gi"), old), Release::NEWEST, &Steps::of_request())
                .unwrap()
        };
        assert_eq!((of(Some(&claim("2048Mi"))), of(Some(&claim("3Gi"))).is_some()), (None, true));
    }

    #[test]
    fn limits_of_many_containers_are_bounded() {
        let names =
            |count: usize| (0..count).map(|at| format!(r#""example.com/a{at}":"1""#)).collect::<Vec<_>>().join(",");
        let pod = value(&format!(r#"{{"spec":{{"containers":[{}]}}}}"#, vec![r#"{"name":"c"}"#; 3_000].join(",")));
        let limits = |key: &str| range(&format!(r#"{{"type":"Container","{key}":{{{}}}}}"#, names(3_000)));
        assert_eq!(set_defaults(&limits("default"), &mut pod.clone(), &Steps::of_request()), Err(Spent));
        assert_eq!(violation(&limits("min"), "Pod", (&pod, None), Release::NEWEST, &Steps::of_request()), Err(Spent));
    }

    #[test]
    fn init_containers_run_one_after_the_other() {
        let pod = value(
            r#"{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[
            {"restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}},{"resources":{"requests":{"cpu":"2"}}}]}}"#,
        );
        assert_eq!(
            of_pod(&pod, "requests", Release::NEWEST.minor(), is_of_pods)
                .get("cpu")
                .map(ToString::to_string)
                .as_deref(),
            Some("2500m")
        );
    }
}
