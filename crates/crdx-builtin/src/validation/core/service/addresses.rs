//! Cluster IPs and families of a Service (`ValidateServiceClusterIPsRelatedFields`, `validateUpgradeDowngradeClusterIPs` and
//! `validateUpgradeDowngradeIPFamilies`), which the server has completed.

use super::is_headless;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::network;
use crdx_value::field::{BadValue, FieldError};
use crdx_value::release::V1_33;
use std::collections::HashSet;
use std::net::IpAddr;

const FIXED: &str = "may not change once set";
const FAMILIES: &[&str] = &["IPv4", "IPv6"];

fn is_external_name(spec: &FieldValue<'_, '_>) -> bool {
    spec.child("type").text() == "ExternalName"
}

/// The addresses in `clusterIPs`
fn addresses<'v>(spec: &FieldValue<'v, '_>) -> Vec<&'v str> {
    spec.child("clusterIPs").texts().collect()
}

/// `ValidateServiceClusterIPsRelatedFields`; `existing` are the addresses of the existing object.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, existing: &[&str]) {
    if is_external_name(spec) {
        return;
    }
    let list = spec.child("clusterIPs");
    let (address, ips) = (spec.child("clusterIP"), addresses(spec));
    let single = address.text();
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
    let before = errors.list.len();
    let existing: HashSet<&str> = existing.iter().copied().collect();
    let mut is_misplaced = false;
    for (at, ip) in ips.iter().enumerate() {
        if at == 0 && *ip == "None" {
            is_misplaced = ips.len() > 1;
            continue;
        }
        let value = crdx_value::Value::from(*ip);
        // Existing addresses may have any form since 1.33.
        if !errors.release.since(V1_33) || !existing.contains(ip) {
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

/// `validateUpgradeDowngradeClusterIPs` and `validateUpgradeDowngradeIPFamilies`
pub fn update(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    if is_external_name(spec) || is_external_name(old) || is_headless(spec) && is_headless(old) {
        return;
    }
    let (new_ips, old_ips) = (addresses(spec), addresses(old));
    let [ips, families, policy] = ["clusterIPs", "ipFamilies", "ipFamilyPolicy"].map(|name| spec.child(name));
    let is_single = policy.text() == "SingleStack";
    let shown_ips = BadValue::strings(new_ips.iter().copied(), errors.release);
    let changed = Changed { old: &old_ips, new: &new_ips };
    for at in changed.positions() {
        errors.invalid_value(&ips.path.index(at), shown_ips.clone(), FIXED);
    }
    if changed.is_shorter() {
        if new_ips.is_empty() {
            errors.invalid_value(&ips.path.index(0), shown_ips.clone(), "primary clusterIP can not be unset");
        }
        if new_ips.len() == 1 && !is_single {
            errors.invalid(&policy, "must be set to 'SingleStack' when releasing the secondary clusterIP");
        }
    }
    if is_headless(spec) || is_headless(old) {
        return;
    }
    let (new, old): (Vec<&str>, Vec<&str>) = (families.texts().collect(), old.child("ipFamilies").texts().collect());
    let (changed, first) = (Changed { old: &old, new: &new }, families.path.index(0));
    for _ in changed.positions() {
        // If the number differs, the server shows the addresses.
        let bad = if new.len() == old.len() {
            BadValue::strings(new.iter().copied(), errors.release)
        } else {
            shown_ips.clone()
        };
        errors.invalid_value(&first, bad, FIXED);
    }
    if changed.is_shorter() {
        if new_ips.is_empty() {
            let bad = BadValue::strings(new.iter().copied(), errors.release);
            errors.invalid_value(&first, bad, "primary ipFamily can not be unset");
        }
        if new.len() == 1 && !is_single {
            errors.invalid(&policy, "must be set to 'SingleStack' when releasing the secondary ipFamily");
        }
    }
}

/// A list that may get or lose a second item, but not change its items.
struct Changed<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
}

impl Changed<'_> {
    /// The positions whose items changed; of lists with different lengths, the first item is compared.
    fn positions(&self) -> impl Iterator<Item = usize> {
        let compared = if self.old.len() == self.new.len() { self.old.len() } else { 1 };
        let pairs = self.old.iter().zip(self.new).take(compared).enumerate();
        pairs.filter(|(_, (old, new))| old != new).map(|(at, _)| at)
    }

    fn is_shorter(&self) -> bool {
        self.new.len() < self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::updated;

    const OLD: &str = r#"{"spec":{"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv4","IPv6"],
        "ipFamilyPolicy":"RequireDualStack","ports":[{"port":80}]}}"#;

    fn update(replaced: &[(&str, &str)]) -> Vec<String> {
        let new = replaced.iter().fold(OLD.to_owned(), |text, (from, to)| text.replace(from, to));
        updated("v1", "Service", OLD, &new, "1.37")
    }

    const NO_SECOND_ADDRESS: (&str, &str) = (r#","fd00::5""#, "");
    const NO_SECOND_FAMILY: (&str, &str) = (r#","IPv6""#, "");

    #[test]
    fn the_second_family_is_released_by_the_policy() {
        let single = ("RequireDualStack", "SingleStack");
        assert_eq!(update(&[NO_SECOND_ADDRESS, NO_SECOND_FAMILY, single]), Vec::<String>::new());
        assert_eq!(
            update(&[NO_SECOND_ADDRESS, NO_SECOND_FAMILY]),
            [
                r#"spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to 'SingleStack' when releasing the secondary clusterIP"#,
                r#"spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be set to 'SingleStack' when releasing the secondary ipFamily"#,
            ]
        );
    }

    #[test]
    fn addresses_stay() {
        assert_eq!(
            update(&[("fd00::5", "fd00::6")]),
            [r#"spec.clusterIPs[1]: Invalid value: ["10.0.0.5","fd00::6"]: may not change once set"#]
        );
        let none = update(&[(r#"["10.0.0.5","fd00::5"]"#, "[]"), (r#""clusterIP":"10.0.0.5","#, "")]);
        assert_eq!(none, ["spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset"]);
    }
}
