//! The metrics of `HorizontalPodAutoscaler`s: the fields of each source in `autoscaling/v1` and `autoscaling/v2`.

use crdx_value::json::to_string;
use crdx_value::sort::sort_by_key;
use crdx_value::{Map, Value, object};

/// The sources of metrics, and their fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricTable {
    sources: &'static [(&'static str, &'static [Field])],
    /// True if the sources have a `target` in `v2`.
    has_target: bool,
}

/// A field of a source.
#[derive(Debug)]
struct Field {
    v1: &'static str,
    v2: &'static [&'static str],
    zero: Zero,
}

/// The encoding of a missing value in `v1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zero {
    Omitted,
    Text,
    Quantity,
    Reference,
}

const fn field(v1: &'static str, v2: &'static [&'static str], zero: Zero) -> Field {
    Field { v1, v2, zero }
}

const NAME: Field = field("metricName", &["metric", "name"], Zero::Text);
const REFERENCE: Field = field("target", &["describedObject"], Zero::Reference);
const SELECTOR: Field = field("selector", &["metric", "selector"], Zero::Omitted);
const EXTERNAL_SELECTOR: Field = field("metricSelector", &["metric", "selector"], Zero::Omitted);
const RESOURCE: Field = field("name", &["name"], Zero::Text);
const CONTAINER: Field = field("container", &["container"], Zero::Text);
const UTILIZATION: Field = field("targetAverageUtilization", &["target", "averageUtilization"], Zero::Omitted);
const AVERAGE: Field = field("targetAverageValue", &["target", "averageValue"], Zero::Omitted);
const CURRENT_UTILIZATION: Field =
    field("currentAverageUtilization", &["current", "averageUtilization"], Zero::Omitted);
const CURRENT_AVERAGE: Field = field("currentAverageValue", &["current", "averageValue"], Zero::Quantity);
const CURRENT: Field = field("currentValue", &["current", "value"], Zero::Quantity);

/// `MetricSpec`
pub(super) const SPEC: MetricTable = MetricTable {
    has_target: true,
    sources: &[
        (
            "object",
            &[
                REFERENCE,
                NAME,
                field("targetValue", &["target", "value"], Zero::Quantity),
                SELECTOR,
                field("averageValue", &["target", "averageValue"], Zero::Omitted),
            ],
        ),
        ("pods", &[NAME, field("targetAverageValue", &["target", "averageValue"], Zero::Quantity), SELECTOR]),
        ("resource", &[RESOURCE, UTILIZATION, AVERAGE]),
        ("containerResource", &[RESOURCE, UTILIZATION, AVERAGE, CONTAINER]),
        ("external", &[NAME, EXTERNAL_SELECTOR, field("targetValue", &["target", "value"], Zero::Omitted), AVERAGE]),
    ],
};

/// `MetricStatus`
pub(super) const STATUS: MetricTable = MetricTable {
    has_target: false,
    sources: &[
        (
            "object",
            &[REFERENCE, NAME, CURRENT, SELECTOR, field("averageValue", &["current", "averageValue"], Zero::Omitted)],
        ),
        ("pods", &[NAME, CURRENT_AVERAGE, SELECTOR]),
        ("resource", &[RESOURCE, CURRENT_UTILIZATION, CURRENT_AVERAGE]),
        ("containerResource", &[RESOURCE, CURRENT_UTILIZATION, CURRENT_AVERAGE, CONTAINER]),
        (
            "external",
            &[
                NAME,
                EXTERNAL_SELECTOR,
                CURRENT,
                field("currentAverageValue", &["current", "averageValue"], Zero::Omitted),
            ],
        ),
    ],
};

impl MetricTable {
    /// Converts a metric to `v1`.
    pub(crate) fn to_v1(self, metric: &Value) -> Value {
        let mut out = Map::from([("type".to_owned(), metric.str_at(&["type"]).unwrap_or_default().into())]);
        for (source, fields) in self.sources {
            let Some(from) = metric.get(source).filter(|from| !from.is_null()) else { continue };
            let members = fields.iter().filter_map(|field| {
                let value = from.at(field.v2).filter(|value| !value.is_null()).cloned();
                Some((field.v1.to_owned(), value.or_else(|| field.zero.encoded())?))
            });
            out.insert((*source).to_owned(), Value::Object(members.collect()));
        }
        Value::Object(out)
    }

    /// Converts a metric to `v2`. With `drops_zero`, the value of an object metric that has an average is omitted if it
    /// is zero, as since 1.36.
    pub(crate) fn to_v2(self, metric: &Value, drops_zero: bool) -> Value {
        let mut out = Map::new();
        if let Some(type_) = member(metric, "type") {
            out.insert("type".to_owned(), type_.clone());
        }
        for (source, fields) in self.sources {
            let Some(from) = member(metric, source).filter(|from| !from.is_null()) else { continue };
            let mut to = Value::Object(Map::new());
            for field in *fields {
                let value = member(from, field.v1).filter(|value| !value.is_null()).cloned();
                let zero = || (field.zero == Zero::Quantity).then(|| "0".into());
                if let Some(value) = value.or_else(zero) {
                    to.insert_at(field.v2, value);
                }
            }
            if self.has_target {
                set_target_type(&mut to, source, drops_zero);
            }
            out.insert((*source).to_owned(), to);
        }
        Value::Object(out)
    }
}

/// Sets `target.type`, which `v1` does not have.
fn set_target_type(source: &mut Value, name: &str, drops_zero: bool) {
    let Some(members) = source.as_object_mut() else { return };
    let target = members.entry("target".to_owned()).or_insert_with(|| Value::Object(Map::new()));
    let Some(target) = target.as_object_mut() else { return };
    let has = |key: &str| target.contains_key(key);
    let type_ = match name {
        "object" if has("averageValue") => {
            if drops_zero && target.get("value").and_then(Value::as_str) == Some("0") {
                target.remove("value");
            }
            "AverageValue"
        }
        "object" => "Value",
        "external" if has("value") => "Value",
        "resource" | "containerResource" if has("averageUtilization") => "Utilization",
        _ => "AverageValue",
    };
    target.insert("type".to_owned(), type_.into());
}

impl Zero {
    fn encoded(self) -> Option<Value> {
        match self {
            Self::Omitted => None,
            Self::Text => Some("".into()),
            Self::Quantity => Some("0".into()),
            Self::Reference => Some(object([("kind", ""), ("name", "")])),
        }
    }
}

/// The member that `encoding/json` decodes into the field `name`: letters may differ in case.
pub(super) fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let members = value.as_object()?;
    members.get(name).or_else(|| members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
}

/// The order of fields in Go's structs: metrics, conditions, references and selectors.
const ORDER: [&str; 31] = [
    "type",
    "status",
    "lastTransitionTime",
    "reason",
    "message",
    "observedGeneration",
    "object",
    "pods",
    "resource",
    "containerResource",
    "external",
    "target",
    "kind",
    "name",
    "apiVersion",
    "metricName",
    "metricSelector",
    "targetValue",
    "currentValue",
    "targetAverageUtilization",
    "currentAverageUtilization",
    "targetAverageValue",
    "currentAverageValue",
    "container",
    "selector",
    "averageValue",
    "matchLabels",
    "matchExpressions",
    "key",
    "operator",
    "values",
];

/// The JSON of a list of metrics or conditions, with fields in the order of Go's structs.
pub(super) fn ordered(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(ordered).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            sort_by_key(&mut members, |(key, _)| ORDER.iter().position(|known| known == key));
            let members = members.into_iter().map(|(key, value)| {
                // The keys of a Go map are sorted.
                let value = if key == "matchLabels" { to_string(value) } else { ordered(value) };
                format!("\"{key}\":{value}")
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        plain => to_string(plain),
    }
}
