//! Cluster IPs and families of a Service (`ValidateServiceClusterIPsRelatedFields`,
//! `validateUpgradeDowngradeClusterIPs` and `initIPFamilyFields` in `pkg/registry/core/service/storage`), in a cluster
//! with IPv4 alone.

use super::is_headless;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::network;
use crdx_value::Value;
use crdx_value::field::{BadValue, FieldError};
use crdx_value::release::Release;
use std::collections::HashSet;
use std::net::IpAddr;

const FIXED: &str = "may not change once set";
const FAMILIES: &[&str] = &["IPv4", "IPv6"];

fn is_external_name(spec: &FieldValue<'_, '_>) -> bool {
    spec.child("type").text() == "ExternalName"
}

/// The cluster IPs of a Service: `clusterIP` and `clusterIPs`.
#[derive(PartialEq)]
struct Addresses<'v> {
    single: &'v str,
    all: Vec<&'v str>,
}

impl<'v> Addresses<'v> {
    fn given(spec: &FieldValue<'v, '_>) -> Self {
        let all = spec.child("clusterIPs").value.as_array().unwrap_or_default();
        let single = spec.child("clusterIP").value.as_str().unwrap_or_default();
        Self { single, all: all.iter().filter_map(|address| address.as_str()).collect() }
    }

    /// The addresses as the server completes them (`patchAllocatedValues` and `NormalizeClusterIPs`).
    fn completed(spec: &FieldValue<'v, '_>, old: Option<&FieldValue<'v, '_>>) -> Self {
        let mut new = Self::given(spec);
        let Some(old_spec) = old else {
            if new.all.is_empty() && !new.single.is_empty() {
                new.all = vec![new.single];
            }
            return new;
        };
        let old = Self::completed(old_spec, None);
        if !is_external_name(spec) && !is_external_name(old_spec) {
            if new.single.is_empty() {
                new.single = old.single;
            }
            if new.all.is_empty() && new.single == old.single {
                new.all.clone_from(&old.all);
            }
        }
        if new.single == old.single {
            if new.all.is_empty() {
                new.all = old.all;
            }
        } else if new.all == old.all {
            let is_cleared = !old.single.is_empty() && new.single.is_empty();
            new.all = if is_cleared { Vec::new() } else { vec![new.single] };
        }
        new
    }
}

/// The specification with the addresses as the server completes them; `None` if it has them.
pub fn complete(spec: &FieldValue<'_, '_>, old: Option<&FieldValue<'_, '_>>) -> Option<Value> {
    let (given, completed) = (Addresses::given(spec), Addresses::completed(spec, old));
    if given == completed {
        return None;
    }
    let mut members = spec.value.as_object()?.clone();
    members.insert("clusterIP".to_owned(), completed.single.into());
    members.insert("clusterIPs".to_owned(), completed.all.into_iter().map(Value::from).collect::<Vec<_>>().into());
    Some(Value::Object(members))
}

/// The errors of the initialization (`initIPFamilyFields`). The first group of errors ends it.
pub fn initialize(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: Option<&FieldValue<'_, '_>>) {
    if is_external_name(spec) {
        return;
    }
    validate(errors, spec, old);
    if errors.list.is_empty() {
        policy(errors, spec, old);
        configured(errors, spec);
    }
}

/// Returns true if only the families of the cluster are a reason to reject a new Service.
pub fn needs_other_families(spec: &FieldValue<'_, '_>, release: Release) -> bool {
    let (mut always, mut here) = (Errors::new(release), Errors::new(release));
    if !is_external_name(spec) {
        validate(&mut always, spec, None);
        policy(&mut always, spec, None);
        configured(&mut here, spec);
    }
    always.list.is_empty() && !here.list.is_empty()
}

/// A headless Service without selector
fn is_unselective(spec: &FieldValue<'_, '_>) -> bool {
    spec.child("clusterIP").text() == "None" && spec.child("selector").len() == 0
}

/// The policy of a Service, or its default
fn effective_policy<'v>(spec: &FieldValue<'v, '_>) -> &'v str {
    match spec.child("ipFamilyPolicy").text() {
        "" if is_unselective(spec) => "RequireDualStack",
        "" => "SingleStack",
        text => text,
    }
}

/// The numbers of addresses and families that the policy of a new Service allows
fn policy(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: Option<&FieldValue<'_, '_>>) {
    let (policy, families) = (spec.child("ipFamilyPolicy"), spec.child("ipFamilies"));
    let ips = Addresses::given(spec).all;
    let effective = effective_policy(spec);
    let shown = BadValue::from(effective);
    if effective == "SingleStack" && old.is_none() {
        for (is_wrong, what) in [(ips.len() == 2, "cluster IPs"), (families.len() == 2, "IP families")] {
            if is_wrong {
                let detail =
                    format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
                errors.invalid_value(&policy.path, shown.clone(), detail);
            }
        }
    }
}

/// The families that a cluster with IPv4 alone does not have
fn configured(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let (list, families) = (spec.child("clusterIPs"), spec.child("ipFamilies"));
    let ips = Addresses::given(spec).all;
    for (at, ip) in ips.iter().enumerate().take_while(|(_, ip)| **ip != "None").skip(families.len()) {
        if !network::parse_ip(ip).is_some_and(network::is_ipv4) {
            let bad = BadValue::strings(ips.iter().copied(), errors.release);
            errors.invalid_value(&list.path.index(at), bad, "IPv6 is not configured on this cluster");
        }
    }
    if !errors.list.is_empty() || is_unselective(spec) {
        return;
    }
    let effective = effective_policy(spec);
    if effective == "RequireDualStack" {
        let policy = spec.child("ipFamilyPolicy");
        errors.invalid_value(&policy.path, effective, "this cluster is not configured for dual-stack services");
    }
    for family in families.items().filter(|family| family.text() != "IPv4") {
        errors.invalid(&family, "not configured on this cluster");
    }
}

/// `ValidateServiceClusterIPsRelatedFields`
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: Option<&FieldValue<'_, '_>>) {
    if is_external_name(spec) {
        return;
    }
    let list = spec.child("clusterIPs");
    let Addresses { single, all: ips } = Addresses::given(spec);
    let shown = BadValue::strings(ips.iter().copied(), errors.release);
    if single.is_empty() {
        if !ips.is_empty() {
            errors.invalid_value(&list.path, shown.clone(), "must be empty when `clusterIP` is not specified");
        }
    } else if ips.is_empty() {
        errors.required(&list, "");
    } else if ips.first() != Some(&single) {
        errors.invalid_value(&list.path, shown.clone(), "first value must match `clusterIP`");
    }
    let (families, policy) = (spec.child("ipFamilies"), spec.child("ipFamilyPolicy"));
    let mut seen = HashSet::new();
    for family in families.items() {
        errors.supported(&family, FAMILIES);
        if !seen.insert(family.text()) {
            errors.duplicate(&family);
        }
    }
    if policy.is_set() {
        errors.supported(&policy, &["PreferDualStack", "RequireDualStack", "SingleStack"]);
    }
    let existing = old.map(|old| Addresses::completed(old, None).all).unwrap_or_default();
    let before = errors.list.len();
    let mut is_misplaced = false;
    for (at, ip) in ips.iter().enumerate() {
        if at == 0 && *ip == "None" {
            is_misplaced = ips.len() > 1;
            continue;
        }
        let value = crdx_value::Value::from(*ip);
        if !existing.contains(ip) {
            network::legacy_ip(errors, &FieldValue::new(Some(&value), list.path.index(at)));
        }
    }
    let has_invalid = errors.list.len() > before || is_misplaced;
    if is_misplaced {
        let detail = "'None' must be the first and only value";
        errors.invalid_value(&list.path, shown.clone(), detail);
    }
    if ips.len() > 2 {
        errors.invalid_value(&list.path, shown.clone(), "may only hold up to 2 values");
    }
    if has_invalid {
        return;
    }
    let parsed: Vec<Option<IpAddr>> = ips.iter().map(|ip| network::parse_ip(ip)).collect();
    let is_v4 = |ip: &Option<IpAddr>| ip.is_some_and(network::is_ipv4);
    if ips.len() > 1 && (parsed.iter().all(is_v4) || !parsed.iter().any(is_v4)) {
        let detail = "may specify no more than one IP for each IP family";
        errors.invalid_value(&list.path, shown, detail);
    }
    if !is_headless(spec) {
        for (at, ((ip, address), family)) in ips.iter().zip(&parsed).zip(families.texts()).enumerate() {
            let matches = match family {
                "IPv4" => is_v4(address),
                "IPv6" => !is_v4(address),
                _ => true,
            };
            if !matches {
                let detail = format!("expected an {family} value as indicated by `ipFamilies[{at}]`");
                errors.list.push(FieldError::invalid(&list.path.index(at), *ip, detail));
            }
        }
    }
}

/// `validateUpgradeDowngradeClusterIPs` and `validateUpgradeDowngradeIPFamilies`. Absent values are kept.
pub fn update(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    if is_external_name(spec) || is_external_name(old) {
        return;
    }
    let (is_new_headless, is_old_headless) = (is_headless(spec), is_headless(old));
    let (new_ips, old_ips) = (Addresses::given(spec).all, Addresses::completed(old, None).all);
    let list = spec.child("clusterIPs");
    let shown = BadValue::strings(new_ips.iter().copied(), errors.release);
    let stays_headless = is_new_headless && is_old_headless;
    if !stays_headless && !new_ips.is_empty() {
        let compared = if new_ips.len() == old_ips.len() { old_ips.len() } else { old_ips.len().min(1) };
        let pairs = old_ips.iter().zip(&new_ips).take(compared).enumerate();
        for (at, _) in pairs.filter(|(_, (old, new))| old != new) {
            errors.invalid_value(&list.path.index(at), shown.clone(), FIXED);
        }
    }
    if is_new_headless || is_old_headless {
        return;
    }
    let (new_families, old_families) = (spec.child("ipFamilies"), old.child("ipFamilies"));
    let same_length = new_families.len() == old_families.len();
    let compared = if same_length { old_families.len() } else { 1 };
    let pairs = old_families.texts().zip(new_families.texts()).take(compared);
    for _ in pairs.filter(|(old, new)| old != new) {
        let bad = if same_length { BadValue::strings(new_families.texts(), errors.release) } else { shown.clone() };
        errors.invalid_value(&new_families.path.index(0), bad, FIXED);
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::updated;

    const OLD: &str =
        r#"{"spec":{"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"],"ports":[{"port":80}]}}"#;

    #[test]
    fn a_changed_cluster_ip_replaces_the_list() {
        let update = |new: &str| updated("v1", "Service", OLD, &OLD.replace(r#""clusterIP":"10.0.0.5""#, new), "1.37");
        assert_eq!(
            update(r#""clusterIP":"None""#),
            [r#"spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set"#]
        );
        let invalid = [
            r#"spec.clusterIPs[0]: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"#,
        ];
        assert_eq!(update(r#""clusterIP":"a""#), invalid);
        assert_eq!(update(r#""clusterIP":"10.0.0.5""#), Vec::<String>::new());
        assert_eq!(update(r#""clusterIP":"""#), Vec::<String>::new());
    }
}
