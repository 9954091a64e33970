//! The known parts of the object that admission policies see when an object of a built-in kind is created.
//!
//! The server decodes the body into a Go type, sets defaults, and lets admission plugins and a registry strategy change
//! the value. Policies see the result as `runtime.DefaultUnstructuredConverter` writes it. Decoding and writing are
//! reproduced here from the table of types: unknown fields and zero values that Go omits are absent, other zero values
//! are present. Everything that the other steps may change is unknown ([`Gaps`]):
//!
//! - an absent field that the server may set, or a present one that it may drop or replace
//!   ([`super::set_fields`]);
//! - lists and maps of a Pod that admission plugins extend, labels and annotations that the server adds, status, and
//!   the metadata that every create sets;
//! - quantities and times that are not in the form in which Go writes them.

use super::custom::Custom;
use super::set_fields;
use super::types::{Definition, Field, Struct, Type, TypeId, Types};
use crdx_cel::value::{Gaps, UsedGap};
use crdx_value::{Map, Value};

/// The maximum depth of known values; deeper ones are unknown.
const MAX_DEPTH: usize = 200;

/// Metadata that every create sets or resets.
const SET_ON_CREATE: &[&str] = &[
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The kinds whose labels are those of the request.
const KEEP_LABELS: &[&str] = &[
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "CronJob",
    "DaemonSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "Ingress",
    "NetworkPolicy",
    "Pod",
    "PodDisruptionBudget",
    "ReplicaSet",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
    "StatefulSet",
];

/// The kinds whose annotations are those of the request.
const KEEP_ANNOTATIONS: &[&str] = &[
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "CronJob",
    "DaemonSet",
    "Deployment",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "ReplicaSet",
    "Role",
    "RoleBinding",
    "Secret",
    "ServiceAccount",
    "StatefulSet",
];

/// Lists and maps of a Pod that admission plugins extend (`ServiceAccount`, `DefaultTolerationSeconds`, `LimitRanger`,
/// `PodNodeSelector`, `RuntimeClass`), and that defaulting extends (requests by limits).
const EXTENDED_IN_PODS: &[(&str, &str)] = &[
    ("core/v1.Container", "volumeMounts"),
    ("core/v1.PodSpec", "imagePullSecrets"),
    ("core/v1.PodSpec", "nodeSelector"),
    ("core/v1.PodSpec", "overhead"),
    ("core/v1.PodSpec", "tolerations"),
    ("core/v1.PodSpec", "volumes"),
    ("core/v1.ResourceRequirements", "limits"),
    ("core/v1.ResourceRequirements", "requests"),
];

/// Fields that conversion or a strategy rewrites whatever their value is.
const REWRITTEN: &[(&str, &str)] = &[
    // `stringData` becomes part of `data`.
    ("core/v1.Secret", "data"),
    ("core/v1.Secret", "stringData"),
    // An alias of serviceAccountName.
    ("core/v1.PodSpec", "serviceAccount"),
    // The request's user.
    ("certificates/v1.CertificateSigningRequestSpec", "extra"),
    ("certificates/v1.CertificateSigningRequestSpec", "groups"),
    ("certificates/v1.CertificateSigningRequestSpec", "uid"),
    ("certificates/v1.CertificateSigningRequestSpec", "username"),
];

/// An object as policies see it on create, with what is not known of it.
#[derive(Debug)]
pub struct Unstructured {
    /// The object.
    pub object: Value,
    /// Its unknown parts.
    pub gaps: Gaps,
}

/// The object of a kind whose type in the table is `type_name`, from a body that decodes; `None` for a type that is not
/// in the table.
pub fn unstructured(types: &'static Types, type_name: &str, kind: &str, body: &Value) -> Option<Unstructured> {
    let id = types.id(type_name)?;
    let Some(Definition::Struct(root)) = types.definition(id) else { return None };
    let used = UsedGap::default();
    let finder = GapFinder { types, kind, in_pod: type_name == "core/v1.Pod", used: used.clone() };
    let (object, mut gaps) = finder.object(id, root, body.as_object(), "", 0);
    // The server sets the kind from the matched version.
    let Value::Object(mut members) = object else { return None };
    for key in ["apiVersion", "kind"] {
        members.insert(key.to_owned(), body.get(key).cloned().unwrap_or_default());
        gaps.unset.remove(key);
        gaps.members.remove(key);
    }
    gaps.used = used;
    Some(Unstructured { object: Value::Object(members), gaps })
}

struct GapFinder<'k> {
    types: &'static Types,
    kind: &'k str,
    in_pod: bool,
    used: UsedGap,
}

/// A value with its unknown parts.
type PartialValue = (Value, Gaps);

impl GapFinder<'_> {
    fn gaps(&self, path: &str) -> Gaps {
        Gaps { path: path.to_owned(), used: self.used.clone(), ..Gaps::default() }
    }

    fn unknown(&self, value: Value, path: &str) -> PartialValue {
        (value, Gaps { whole: true, ..self.gaps(path) })
    }

    fn known(&self, value: Value, path: &str) -> PartialValue {
        (value, self.gaps(path))
    }

    /// A struct; `None` for its zero value.
    fn object(&self, id: TypeId, s: &'static Struct, members: Option<&Map>, path: &str, depth: usize) -> PartialValue {
        let type_name = self.types.name(id);
        let (mut out, mut gaps) = (Map::new(), self.gaps(path));
        for field in &s.fields {
            let path = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
            let raw = members.and_then(|members| members.get(field.name)).filter(|raw| !raw.is_null());
            match self.field((type_name, field), raw, &path, depth) {
                Presence::Absent => {}
                Presence::MayBeSet => {
                    gaps.unset.insert(field.name);
                }
                Presence::Value((value, inner)) => {
                    out.insert(field.name.to_owned(), value);
                    if !inner.is_empty() {
                        gaps.members.insert(field.name.to_owned(), inner);
                    }
                }
            }
        }
        (Value::Object(out), gaps)
    }

    fn field(
        &self,
        (type_name, field): (&'static str, &'static Field),
        raw: Option<&Value>,
        path: &str,
        depth: usize,
    ) -> Presence {
        let type_and_field = (type_name, field.name);
        let in_metadata = type_name == "meta/v1.ObjectMeta";
        if path == "status"
            || (in_metadata && SET_ON_CREATE.contains(&field.name))
            || REWRITTEN.contains(&type_and_field)
            || (in_metadata && raw.is_none() && field.name == "name")
        {
            return raw.map_or(Presence::MayBeSet, |raw| Presence::Value(self.unknown(raw.clone(), path)));
        }
        let keeps = match field.name {
            "labels" if in_metadata => Some(self.keeps(KEEP_LABELS, path)),
            "annotations" if in_metadata => Some(self.keeps(KEEP_ANNOTATIONS, path)),
            // The namespace is that of the URL; templates have none.
            "name" | "namespace" | "generateName" if in_metadata => Some(true),
            _ => None,
        };
        let may_be_set = keeps.map_or_else(|| self.may_be_set(type_and_field), |keeps| !keeps);
        let raw = raw.filter(|raw| !(field.omits_zero() && self.is_zero(&field.type_, raw)));
        let Some(raw) = raw else {
            return match self.struct_of(&field.type_) {
                // Go never omits a struct.
                Some((id, s)) => Presence::Value(self.object(id, s, None, path, depth + 1)),
                None if may_be_set => Presence::MayBeSet,
                None if field.omits_zero() => Presence::Absent,
                None => self.zero(&field.type_, path).map_or(Presence::MayBeSet, Presence::Value),
            };
        };
        if set_fields::may_be_dropped(type_name, field.name) && keeps.is_none() {
            return Presence::Value(self.unknown(raw.clone(), path));
        }
        let (value, mut gaps) = self.value(&field.type_, raw, path, depth + 1);
        gaps.open |= keeps == Some(false) || (self.in_pod && EXTENDED_IN_PODS.contains(&type_and_field));
        Presence::Value((value, gaps))
    }

    /// Returns true if labels or annotations at a path are those of the request: of the object itself, or of the
    /// template of a workload.
    fn keeps(&self, kinds: &[&str], path: &str) -> bool {
        kinds.contains(&self.kind) && (path.starts_with("metadata.") || path.starts_with("spec.template.metadata."))
    }

    fn may_be_set(&self, type_and_field: (&str, &str)) -> bool {
        set_fields::may_be_set(type_and_field.0, type_and_field.1)
            || (self.in_pod && EXTENDED_IN_PODS.contains(&type_and_field))
    }

    /// A value that is not null.
    fn value(&self, type_: &'static Type, raw: &Value, path: &str, depth: usize) -> PartialValue {
        if depth > MAX_DEPTH {
            return self.unknown(raw.clone(), path);
        }
        match (type_, raw) {
            (Type::Pointer(target), _) => self.value(target, raw, path, depth + 1),
            (Type::List(item), Value::Array(items)) => {
                let (mut out, mut gaps) = (Vec::with_capacity(items.len()), self.gaps(path));
                for (index, raw) in items.iter().enumerate() {
                    let (value, inner) = self.element(item, raw, &format!("{path}[{index}]"), depth);
                    out.push(value);
                    if !inner.is_empty() {
                        gaps.items.insert(index, inner);
                    }
                }
                (Value::Array(out), gaps)
            }
            (Type::Map(_, item), Value::Object(members)) => {
                let (mut out, mut gaps) = (Map::new(), self.gaps(path));
                for (key, raw) in members {
                    let (value, inner) = self.element(item, raw, &format!("{path}[{key}]"), depth);
                    out.insert(key.clone(), value);
                    if !inner.is_empty() {
                        gaps.members.insert(key.clone(), inner);
                    }
                }
                (Value::Object(out), gaps)
            }
            (Type::Named(id), _) => match self.types.definition(*id) {
                Some(Definition::Struct(s)) => self.object(*id, s, raw.as_object(), path, depth),
                Some(Definition::Named { of, .. }) => self.value(of, raw, path, depth + 1),
                Some(Definition::Custom(custom)) if is_canonical(*custom, raw) => self.known(raw.clone(), path),
                _ => self.unknown(raw.clone(), path),
            },
            (Type::Bool, Value::Bool(_))
            | (Type::String, Value::String(_))
            | (Type::Int(_) | Type::Uint(_), Value::Int(_)) => self.known(raw.clone(), path),
            // Bytes, floats, and numbers beyond int64.
            _ => self.unknown(raw.clone(), path),
        }
    }

    /// An item of a list or map, which may be null.
    fn element(&self, type_: &'static Type, raw: &Value, path: &str, depth: usize) -> PartialValue {
        if !raw.is_null() {
            return self.value(type_, raw, path, depth + 1);
        }
        match self.struct_of(type_) {
            Some((id, s)) => self.object(id, s, None, path, depth + 1),
            None => self.zero(type_, path).unwrap_or_else(|| self.unknown(Value::Null, path)),
        }
    }

    /// The struct of a type that is not a pointer.
    fn struct_of(&self, type_: &Type) -> Option<(TypeId, &'static Struct)> {
        let Type::Named(id) = type_ else { return None };
        match self.types.definition(*id)? {
            Definition::Struct(s) => Some((*id, s)),
            Definition::Named { of, .. } => self.struct_of(of),
            Definition::Custom(_) => None,
        }
    }

    /// The zero value of a type other than a struct; `None` if its form is not known.
    fn zero(&self, type_: &Type, path: &str) -> Option<PartialValue> {
        let value = match type_ {
            Type::Bool => Value::Bool(false),
            Type::String => Value::String(String::new()),
            Type::Int(_) | Type::Uint(_) => Value::Int(0),
            Type::Pointer(_) | Type::List(_) | Type::Map(..) => Value::Null,
            Type::Float(_) => return None,
            Type::Named(id) => match self.types.definition(*id)? {
                Definition::Named { of, .. } => return self.zero(of, path),
                Definition::Custom(Custom::IntOrString) => Value::Int(0),
                _ => return None,
            },
        };
        Some(self.known(value, path))
    }

    /// Returns true if Go omits the value with `omitempty`.
    fn is_zero(&self, type_: &Type, raw: &Value) -> bool {
        match type_ {
            Type::Pointer(_) => false,
            Type::Named(id) => match self.types.definition(*id) {
                Some(Definition::Named { of, .. }) => self.is_zero(of, raw),
                _ => false,
            },
            _ => match raw {
                Value::Bool(b) => !b,
                Value::Int(i) => *i == 0,
                Value::Float(f) => *f == 0.0,
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Object(members) => members.is_empty(),
                Value::Null => true,
            },
        }
    }
}

/// The presence of a field.
enum Presence {
    Absent,
    MayBeSet,
    Value(PartialValue),
}

/// Returns true if Go writes the value as it was read.
fn is_canonical(custom: Custom, raw: &Value) -> bool {
    match (custom, raw) {
        (Custom::Quantity, Value::String(text)) => is_canonical_quantity(text),
        (Custom::Time, Value::String(text)) => is_canonical_time(text),
        (Custom::IntOrString, Value::Int(_) | Value::String(_)) => true,
        _ => false,
    }
}

/// Returns true if `Quantity.String` gives the same text: an integer without the factors that a larger suffix would
/// take, and not finer than milli.
fn is_canonical_quantity(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = text.strip_prefix(digits).unwrap_or_default();
    let plain = digits.len() <= 15 && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    let Ok(number) = digits.parse::<u64>() else { return false };
    match suffix {
        "" if digits == "0" => true,
        "" | "m" | "k" | "M" | "G" | "T" => plain && number % 1000 != 0,
        "Ki" | "Mi" | "Gi" | "Ti" => plain && number % 1024 != 0,
        _ => false,
    }
}

/// Returns true if a time is in UTC and without a fraction.
fn is_canonical_time(text: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00Z";
    let fits = |(b, form): (u8, &u8)| if *form == b'0' { b.is_ascii_digit() } else { b == *form };
    text.len() == FORM.len() && text.bytes().zip(FORM).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(type_name: &str, kind: &str, body: &str) -> Unstructured {
        let body = crdx_text::json::read(body.as_bytes()).unwrap();
        unstructured(Types::of(37), type_name, kind, &body).unwrap()
    }

    /// The paths that are not known, sorted; `+` marks absent fields that may be set, `*` open lists and maps.
    fn unknown(gaps: &Gaps, out: &mut Vec<String>) {
        if gaps.whole {
            out.push(gaps.path.clone());
        }
        if gaps.open {
            out.push(format!("{}*", gaps.path));
        }
        let within = if gaps.path.is_empty() { String::new() } else { format!("{}.", gaps.path) };
        out.extend(gaps.unset.iter().map(|name| format!("{within}{name}+")));
        gaps.members.values().chain(gaps.items.values()).for_each(|inner| unknown(inner, out));
        out.sort();
    }

    fn unknown_of(shown: &Unstructured) -> Vec<String> {
        let mut out = Vec::new();
        unknown(&shown.gaps, &mut out);
        out.retain(|path| !path.starts_with("metadata."));
        out
    }

    #[test]
    fn absent_fields_that_defaulting_sets_are_unknown() {
        let body = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"paused":false,"selector":{},
            "template":{"spec":{"containers":[{"name":"c","image":"i","stdin":false,"resources":{"limits":{"cpu":"1000m","memory":"1Gi"}}}]}}}}"#;
        let shown = show("apps/v1.Deployment", "Deployment", body);
        let spec = shown.object.get("spec").unwrap();
        assert!(spec.get("paused").is_none() && spec.get("strategy").is_some_and(|s| s.as_object().is_some()));
        let container = &spec.at(&["template", "spec", "containers"]).and_then(Value::as_array).unwrap()[0];
        assert!(container.get("stdin").is_none() && container.get("securityContext").is_none());
        let unknown = unknown_of(&shown);
        for path in [
            "spec.replicas+",
            "spec.revisionHistoryLimit+",
            "spec.strategy.type+",
            "spec.template.spec.containers[0].imagePullPolicy+",
            "spec.template.spec.containers[0].resources.limits[cpu]",
            "spec.template.spec.containers[0].resources.requests+",
            "spec.template.spec.securityContext+",
            "status+",
        ] {
            assert!(unknown.iter().any(|known| known == path), "{path}: {unknown:?}");
        }
        for path in ["hostNetwork+", "containers[0].securityContext+", "containers[0].livenessProbe+", "volumes*"] {
            assert!(!unknown.iter().any(|known| known.ends_with(path)), "{path}: {unknown:?}");
        }
    }

    #[test]
    fn plugins_extend_lists_of_pods() {
        let body = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{"volumes":[],"tolerations":[{"key":"x"}],
            "containers":[{"name":"c","volumeMounts":[{"name":"v","mountPath":"/v"}],"resources":{"limits":{"cpu":"1"}}}]}}"#;
        let shown = show("core/v1.Pod", "Pod", body);
        let unknown = unknown_of(&shown);
        for path in [
            "spec.volumes+",
            "spec.tolerations*",
            "spec.containers[0].volumeMounts*",
            "spec.containers[0].resources.limits*",
            "spec.containers[0].resources.requests+",
        ] {
            assert!(unknown.iter().any(|known| known == path), "{path}: {unknown:?}");
        }
        let metadata = shown.gaps.members.get("metadata").unwrap();
        assert!(
            metadata.unset.contains("uid")
                && metadata.unset.contains("annotations")
                && !metadata.members.contains_key("labels")
        );
    }

    #[test]
    fn labels_that_the_server_adds_are_unknown() {
        let open = |type_name: &str, kind: &str| {
            let body =
                format!(r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"a","labels":{{"x":"y"}}}}}}"#);
            let shown = show(type_name, kind, &body);
            shown.gaps.members["metadata"].members.get("labels").is_some_and(|labels| labels.open)
        };
        assert!(open("core/v1.Namespace", "Namespace") && open("batch/v1.Job", "Job"));
        assert!(!open("core/v1.ConfigMap", "ConfigMap") && !open("core/v1.Service", "Service"));
        let secret = show("core/v1.Secret", "Secret", r#"{"apiVersion":"v1","kind":"Secret","data":{"a":"YQ=="}}"#);
        assert!(secret.gaps.members["data"].whole && secret.gaps.unset.contains("stringData"));
    }

    #[test]
    fn canonical_quantities_and_times_are_known() {
        for text in ["0", "1", "100m", "1Gi", "500Mi", "1500m", "1k", "12G"] {
            assert!(is_canonical_quantity(text), "{text}");
        }
        for text in ["1000m", "0.5", "1024Mi", "1000", "1e3", "+1", "-1", "01", "1u", "1E", "", "Gi", "1Zi", "0m"] {
            assert!(!is_canonical_quantity(text), "{text}");
        }
        assert!(is_canonical_time("2024-01-02T03:04:05Z"));
        for text in ["2024-01-02T03:04:05+01:00", "2024-01-02T03:04:05.1Z", "2024-01-02"] {
            assert!(!is_canonical_time(text), "{text}");
        }
    }
}
