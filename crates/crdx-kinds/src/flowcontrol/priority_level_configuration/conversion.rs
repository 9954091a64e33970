//! Conversion of `PriorityLevelConfiguration`s between `flowcontrol.apiserver.k8s.io/v1beta3` and the stored form, `v1`
//! (`pkg/apis/flowcontrol/v1beta3/{conversion,defaults}.go`). The shares of `v1beta3` have a default instead of zero, unless
//! an annotation says that zero is meant.

use crdx_server::server::{Conversion, ConversionUse, ConvertedKind};
use crdx_value::release::Release;
use crdx_value::{Map, Value};

const PRESERVES_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const SHARES: &str = "nominalConcurrencyShares";

/// The conversion of an older version.
#[derive(Debug)]
pub(super) struct OldLevel;

impl Conversion for OldLevel {
    fn default(&self, mut object: Value, converted: &ConvertedKind<'_>, set_defaults: &dyn Fn(&mut Value)) -> Value {
        let means_zero = means_zero(&object);
        set_defaults(&mut object);
        if means_zero {
            set_zero(&mut object);
        }
        converted.kind.encode(&to_v1beta3(&object))
    }

    fn to_stored(&self, object: &Value, _: &ConvertedKind<'_>) -> Option<Value> {
        Some(to_v1(object))
    }

    fn of_stored(&self, stored: &Value, _: Release, _: ConversionUse) -> Option<Value> {
        Some(to_v1beta3(stored))
    }
}

fn limited(level: &mut Value) -> Option<&mut Map> {
    level.get_mut("spec")?.get_mut("limited")?.as_object_mut()
}

fn is_zero(shares: Option<&Value>) -> bool {
    shares.is_none_or(|shares| shares.is_null() || *shares == Value::Int(0))
}

/// Returns true if zero shares of `v1beta3` are no absent ones.
fn means_zero(level: &Value) -> bool {
    level.at(&["metadata", "annotations", PRESERVES_ZERO]).is_some()
        && level.at(&["spec", "limited"]).is_some_and(|limited| is_zero(limited.get(SHARES)))
}

/// Sets the shares to zero.
fn set_zero(level: &mut Value) {
    if let Some(limited) = limited(level) {
        limited.insert(SHARES.to_owned(), Value::Int(0));
    }
}

/// Converts from `v1beta3`; the caller encodes the result.
fn to_v1(level: &Value) -> Value {
    let mut level = level.clone();
    if let Some(metadata) = level.get_mut("metadata").and_then(Value::as_object_mut)
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
        && annotations.remove(PRESERVES_ZERO).is_some()
        && annotations.is_empty()
    {
        metadata.remove("annotations");
    }
    if limited(&mut level).is_some_and(|limited| is_zero(limited.get(SHARES))) {
        set_zero(&mut level);
    }
    level
}

/// Converts from `v1`; the caller encodes the result.
fn to_v1beta3(level: &Value) -> Value {
    let mut level = to_v1(level);
    if limited(&mut level).is_some_and(|limited| is_zero(limited.get(SHARES))) {
        level.insert_at(&["metadata", "annotations", PRESERVES_ZERO], "".into());
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn level(annotations: &str, limited: &str) -> Value {
        let text = format!(
            r#"{{"metadata":{{"name":"a","annotations":{annotations}}},"spec":{{"type":"Limited","limited":{limited}}}}}"#
        );
        read(text.as_bytes()).unwrap()
    }

    /// The shares and the annotations of a level of `v1beta3` with its defaults, and the shares of its stored form.
    fn completed(annotations: &str, limited: &str) -> (Option<i64>, Option<Value>, Option<i64>) {
        let group = "flowcontrol.apiserver.k8s.io";
        let (kind, plural) = ("PriorityLevelConfiguration", "prioritylevelconfigurations");
        let kind = crate::KINDS.kind(group, "v1beta3", kind, plural, "1.31".parse().unwrap()).unwrap();
        let level = kind.complete(&level(annotations, limited));
        let stored = kind.stored(&level).unwrap();
        assert_eq!(stored.str_at(&["apiVersion"]), Some("flowcontrol.apiserver.k8s.io/v1"));
        assert_eq!(stored.at(&["metadata", "annotations", PRESERVES_ZERO]), None);
        assert_eq!(kind.restored(&stored).as_ref(), Some(&level));
        let shares = |level: &Value| level.at(&["spec", "limited", SHARES]).and_then(Value::as_int);
        (shares(&level), level.at(&["metadata", "annotations"]).cloned(), shares(&stored))
    }

    #[test]
    fn absent_shares_are_zero_only_with_the_annotation() {
        let annotation = format!(r#"{{"{PRESERVES_ZERO}":""}}"#);
        assert_eq!(completed("{}", "{}"), (Some(30), None, Some(30)));
        assert_eq!(completed("{}", r#"{"nominalConcurrencyShares":0}"#), (Some(30), None, Some(30)));
        let zero = (Some(0), Some(read(annotation.as_bytes()).unwrap()), Some(0));
        assert_eq!(completed(&annotation, "{}"), zero);
        assert_eq!(completed(&annotation, r#"{"nominalConcurrencyShares":7}"#), (Some(7), None, Some(7)));
    }
}
