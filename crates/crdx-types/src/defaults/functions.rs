//! The defaults that depend on other fields in ways that a table cannot express.

use super::{find, image, is_empty, put};
use crdx_value::base64::Encoding;
use crdx_value::quantity::Quantity;
use crdx_value::release::Minor;
use crdx_value::{Map, Value};

/// A function of `defaults.txt`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    /// The image pull policy: `Always` for the tag `latest`, else `IfNotPresent`; the argument is the field with the image.
    PullPolicy,
    /// The requests of the containers at the path: their limits, where there is no request.
    Requests,
    /// The host ports of the containers at the path: their container ports.
    HostPorts,
    /// A map with the members of another one that it does not have.
    Merged,
    /// The data of a Secret with its `stringData`, which is not stored.
    SecretText,
    /// A list that begins with the text at the argument: the list has one item if it begins with another.
    Leading,
    /// The same for a list of objects with `ip`.
    LeadingIp,
    /// The annotation with the generation of a `DaemonSet`'s template.
    TemplateGeneration,
    /// The apiVersion and kind of claim templates.
    Claims,
    /// The mode of the addresses of a load balancer.
    IpMode,
    /// 1 instead of a negative number.
    GracePeriod,
    /// The quantities of a map, rounded up to thousandths (`SetDefaults_ResourceList`).
    Milli,
}

/// The annotation of a `DaemonSet`, which is a field in the stored form.
pub const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

impl Function {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pullPolicy" => Self::PullPolicy,
            "requests" => Self::Requests,
            "hostPorts" => Self::HostPorts,
            "merged" => Self::Merged,
            "secretText" => Self::SecretText,
            "leading" => Self::Leading,
            "leadingIP" => Self::LeadingIp,
            "templateGeneration" => Self::TemplateGeneration,
            "claims" => Self::Claims,
            "ipMode" => Self::IpMode,
            "gracePeriod" => Self::GracePeriod,
            "milli" => Self::Milli,
            _ => return None,
        })
    }

    pub fn call(self, object: &mut Value, path: &[&str], argument: &[&str], release: Minor) {
        match self {
            Self::PullPolicy => {
                if is_empty(find(object, path)) {
                    let image = find(object, argument).and_then(Value::as_str).unwrap_or_default();
                    let policy = if image::tag(image) == Some("latest") { "Always" } else { "IfNotPresent" };
                    put(object, path, policy.into());
                }
            }
            Self::Requests => each(object, path, &mut |container| {
                if let Some(resources) = container.get_mut("resources") {
                    merge(resources, &["requests"], &["limits"]);
                }
            }),
            Self::HostPorts => each(object, path, &mut |container| {
                each(container, &["ports"], &mut |port| {
                    let number = port.get("containerPort").cloned();
                    let host = port.get("hostPort").and_then(Value::as_int).unwrap_or_default();
                    if let Some(number) = number.filter(|_| host == 0) {
                        put(port, &["hostPort"], number);
                    }
                });
            }),
            Self::Merged => merge(object, path, argument),
            Self::SecretText => {
                let texts = find(object, argument).and_then(Value::as_object).cloned().unwrap_or_default();
                for (key, text) in texts {
                    let encoded = Encoding::Standard.encode(text.as_str().unwrap_or_default().as_bytes());
                    put(object, &[path, &[key.as_str()]].concat(), encoded.into());
                }
                put(object, argument, Value::Null);
            }
            Self::Leading | Self::LeadingIp => {
                let Some(text) = find(object, argument).filter(|text| !is_empty(Some(text))).cloned() else { return };
                let item = if matches!(self, Self::Leading) { text } else { crdx_value::object([("ip", text)]) };
                let first = find(object, path).and_then(Value::as_array).and_then(<[Value]>::first);
                if first != Some(&item) {
                    put(object, path, Value::Array(vec![item]));
                }
            }
            Self::TemplateGeneration => {
                let path = [path, &[TEMPLATE_GENERATION]].concat();
                if find(object, &path).is_none() {
                    put(object, &path, "0".into());
                }
            }
            Self::Claims => each(object, path, &mut |claim| {
                put(claim, &["apiVersion"], "v1".into());
                put(claim, &["kind"], "PersistentVolumeClaim".into());
            }),
            Self::IpMode => each(object, path, &mut |point| {
                if !is_empty(point.get("ip")) && find(point, &["ipMode"]).is_none() {
                    put(point, &["ipMode"], "VIP".into());
                }
            }),
            Self::GracePeriod => {
                if find(object, path).and_then(Value::as_int).is_some_and(|seconds| seconds < 0) {
                    put(object, path, Value::Int(1));
                }
            }
            Self::Milli => {
                let amounts = path.iter().try_fold(object, |value, key| value.get_mut(key));
                for amount in amounts.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
                    if let Some(rounded) = rounded(amount, release) {
                        *amount = rounded;
                    }
                }
            }
        }
    }
}

/// A quantity rounded up to thousandths, if it has a smaller fraction.
fn rounded(amount: &Value, release: Minor) -> Option<Value> {
    // Other texts have no such fraction.
    let text = amount.as_str().filter(|text| text.contains(['.', 'n', 'u', '-']))?;
    Some(Quantity::parse(text, release).ok()?.rounded_to_milli()?.to_string().into())
}

fn each(object: &mut Value, path: &[&str], act: &mut dyn FnMut(&mut Value)) {
    let list = path.iter().try_fold(object, |value, key| value.get_mut(key));
    if let Some(Value::Array(items)) = list {
        items.iter_mut().for_each(act);
    }
}

/// Adds the members of a map that another one does not have.
fn merge(object: &mut Value, path: &[&str], from: &[&str]) {
    let Some(from) = find(object, from).and_then(Value::as_object).cloned() else { return };
    let mut merged = find(object, path).and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    for (key, value) in from {
        merged.entry(key).or_insert(value);
    }
    if !merged.is_empty() {
        put(object, path, Value::Object(merged));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Types;
    use crdx_text::json;
    use crdx_value::json::to_string;
    use crdx_value::release::Release;

    /// The specification of a Pod of a release, with its defaults.
    fn defaulted(release: &str, spec: &str) -> Value {
        let release: Release = release.parse().unwrap();
        let types = Types::for_release(release.minor().number().into());
        let mut pod = json::read(format!(r#"{{"spec":{spec}}}"#).as_bytes()).unwrap();
        crate::defaults::set(types, types.id("core/v1.Pod").unwrap(), &mut pod, release);
        pod.get("spec").unwrap().clone()
    }

    #[test]
    fn a_negative_grace_period_of_a_pod_is_one_second() {
        let seconds = |given: i64| {
            let spec = defaulted("1.30", &format!(r#"{{"terminationGracePeriodSeconds":{given}}}"#));
            spec.get("terminationGracePeriodSeconds").and_then(Value::as_int)
        };
        assert_eq!((seconds(-5), seconds(0), seconds(9)), (Some(1), Some(0), Some(9)));
    }

    #[test]
    fn quantities_of_resource_lists_are_rounded_up() {
        let spec = defaulted(
            "1.37",
            r#"{"containers":[{"name":"a","image":"i","resources":{"limits":{"cpu":"1.0001","memory":"1.234"}}}],"overhead":{"cpu":"1n"}}"#,
        );
        let limits = spec.at(&["containers"]).and_then(Value::as_array).unwrap().first().unwrap();
        assert_eq!(to_string(limits.at(&["resources", "limits"]).unwrap()), r#"{"cpu":"1001m","memory":"1.234"}"#);
        assert_eq!(to_string(spec.get("overhead").unwrap()), r#"{"cpu":"1m"}"#);
    }
}
