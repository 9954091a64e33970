//! The families and cluster IPs of a Service (`normalizeClusterIPs`, `initIPFamilyFields` and `defaultOnReadIPFamilies` in
//! `pkg/registry/core/service/storage`).

use super::{is_headless, needs_cluster_ip, text};
use crdx_types::service_families::{IpFamily, ServiceFamilies};
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::release::Release;
use crdx_value::{Map, Value};

const POLICY: &str = "ipFamilyPolicy";
pub(super) const FAMILIES: &str = "ipFamilies";
pub(super) const ADDRESSES: &str = "clusterIPs";
const SINGLE: &str = "SingleStack";
const PREFER_DUAL: &str = "PreferDualStack";
const REQUIRE_DUAL: &str = "RequireDualStack";

/// The strings of a list.
pub(super) fn texts(spec: &Map, field: &str) -> Vec<String> {
    let items = spec.get(field).and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(super) fn set_texts<T: Into<Value>>(spec: &mut Map, field: &str, texts: impl IntoIterator<Item = T>) {
    spec.insert(field.to_owned(), texts.into_iter().map(Into::into).collect::<Vec<Value>>().into());
}

/// Makes `clusterIPs` agree with `clusterIP`, which old clients set alone.
pub(super) fn normalize(spec: &mut Map, old: Option<&Map>) {
    let (address, addresses) = (text(spec, "clusterIP").to_owned(), texts(spec, ADDRESSES));
    let Some(old) = old else {
        if !address.is_empty() && addresses.is_empty() {
            set_texts(spec, ADDRESSES, [address]);
        }
        return;
    };
    let (old_address, old_addresses) = (text(old, "clusterIP"), texts(old, ADDRESSES));
    if address == old_address {
        if addresses.is_empty() && !old_addresses.is_empty() {
            set_texts(spec, ADDRESSES, old_addresses);
        }
    } else if addresses == old_addresses {
        if address.is_empty() {
            spec.remove(ADDRESSES);
        } else {
            set_texts(spec, ADDRESSES, [address]);
        }
    }
}

/// A stored Service with the fields that it may lack, because it was written before they existed; `None` if it has them.
pub(super) fn restored(old: &Map, families: ServiceFamilies) -> Option<Map> {
    let is_complete = !texts(old, FAMILIES).is_empty() && !texts(old, ADDRESSES).is_empty();
    if is_complete || !needs_cluster_ip(old) {
        return None;
    }
    let mut restored = old.clone();
    normalize(&mut restored, None);
    if texts(old, FAMILIES).is_empty() {
        let addresses = texts(&restored, ADDRESSES);
        let found = match (is_headless(old), is_unselective(old)) {
            (true, true) => vec![families.primary, families.primary.other()],
            (true, false) => vec![families.primary],
            _ => addresses.iter().map(|address| IpFamily::of_address(address)).collect(),
        };
        let policy = match found.len() {
            0 => None,
            1 => Some(SINGLE),
            _ => Some(REQUIRE_DUAL),
        };
        if let Some(policy) = policy {
            restored.insert(POLICY.to_owned(), policy.into());
            set_texts(&mut restored, FAMILIES, found.into_iter().map(IpFamily::name));
        }
    }
    Some(restored)
}

/// True for a headless Service without selector, whose families need not be those of the cluster.
fn is_unselective(spec: &Map) -> bool {
    is_headless(spec) && spec.get("selector").and_then(Value::as_object).is_none_or(Map::is_empty)
}

/// `isMatchingPreferDualStackClusterIPFields`: an update that keeps the preference, the addresses and the families, which
/// does not follow a change of the cluster.
pub(super) fn keeps_preference(spec: &Map, old: &Map) -> bool {
    let prefers = |spec: &Map| text(spec, POLICY) == PREFER_DUAL;
    let may_prefer = |spec: &Map| spec.get(POLICY).is_none_or(Value::is_null) || prefers(spec);
    let same = |field| texts(spec, field) == texts(old, field);
    matches!(text(spec, "type"), "ClusterIP" | "NodePort" | "LoadBalancer")
        && text(spec, "type") == text(old, "type")
        && prefers(spec)
        && may_prefer(old)
        && same(ADDRESSES)
        && same(FAMILIES)
}

/// Completes the policy and the families of a Service; `validate` finds the errors in its fields (which
/// `ValidateServiceClusterIPsRelatedFields` reports).
///
/// # Errors
/// Returns why these fields do not fit each other, or the families of the cluster.
pub(super) fn initialize(
    spec: &mut Value,
    old: Option<&Map>,
    families: ServiceFamilies,
    release: Release,
    validate: &dyn Fn(&Value) -> ErrorList,
) -> Result<(), ErrorList> {
    let Some(members) = spec.as_object_mut() else { return Ok(()) };
    if old.is_some_and(|old| keeps_preference(members, old)) {
        return Ok(());
    }
    if members.get(POLICY).is_none_or(Value::is_null) {
        let before = old.map(|old| text(old, POLICY)).filter(|policy| !policy.is_empty());
        let policy = before.unwrap_or(if is_unselective(members) { REQUIRE_DUAL } else { SINGLE });
        members.insert(POLICY.to_owned(), policy.into());
    }
    let found = validate(spec);
    if !found.is_empty() {
        return Err(found);
    }
    let Some(spec) = spec.as_object_mut() else { return Ok(()) };
    let mut errors = ErrorList::new();
    if let Some(old) = old {
        fit_update(spec, old, &mut errors);
    }
    infer_families(spec, families, release, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let policy = text(spec, POLICY).to_owned();
    let mut wanted = texts(spec, FAMILIES);
    let may_be_any = is_unselective(spec);
    if !may_be_any {
        check_cluster(&policy, &wanted, families, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
    }
    if wanted.is_empty() {
        wanted.push(families.primary.name().to_owned());
    }
    if let ([family], true) = (wanted.as_slice(), policy != SINGLE && (may_be_any || families.is_dual)) {
        let other = IpFamily::of_name(family).unwrap_or(families.primary).other();
        wanted.push(other.name().to_owned());
    }
    set_texts(spec, FAMILIES, wanted);
    Ok(())
}

/// Releases what an update to a single family leaves out. Other updates must keep both.
fn fit_update(spec: &mut Map, old: &Map, errors: &mut ErrorList) {
    for (field, secondary) in [(ADDRESSES, "cluster IP"), (FAMILIES, "IP family")] {
        let (new, old) = (texts(spec, field), texts(old, field));
        if text(spec, POLICY) == SINGLE {
            if new == old && new.len() > 1 {
                set_texts(spec, field, new.into_iter().take(1));
            }
        } else if !new.is_empty() && new.len() < old.len() {
            errors.push(policy_error(
                text(spec, POLICY),
                format!("must be 'SingleStack' to release the secondary {secondary}"),
            ));
        }
    }
}

/// Derives the families from the addresses, and checks their number.
fn infer_families(spec: &mut Map, families: ServiceFamilies, release: Release, errors: &mut ErrorList) {
    let (addresses, mut wanted) = (texts(spec, ADDRESSES), texts(spec, FAMILIES));
    if text(spec, POLICY) == SINGLE {
        for (count, name) in [(addresses.len(), "cluster IPs"), (wanted.len(), "IP families")] {
            if count == 2 {
                let detail =
                    format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {name} are specified");
                errors.push(policy_error(SINGLE, detail));
            }
        }
    }
    for (at, address) in addresses.iter().enumerate().take_while(|(_, address)| *address != "None") {
        if at < wanted.len() {
            continue;
        }
        let family = IpFamily::of_address(address);
        if families.has(family) {
            wanted.push(family.name().to_owned());
        } else {
            let path = FieldPath::new("spec");
            let shown = BadValue::strings(addresses.iter().map(String::as_str), release);
            let detail = format!("{} is not configured on this cluster", family.name());
            errors.push(FieldError::invalid(&path.child(ADDRESSES).index(at), shown, detail));
        }
    }
    if !wanted.is_empty() {
        set_texts(spec, FAMILIES, wanted);
    }
}

/// Reports what the cluster does not have.
fn check_cluster(policy: &str, wanted: &[String], families: ServiceFamilies, errors: &mut ErrorList) {
    if policy == REQUIRE_DUAL && !families.is_dual {
        errors.push(policy_error(policy, "this cluster is not configured for dual-stack services".to_owned()));
    }
    for (at, name) in wanted.iter().enumerate() {
        if !IpFamily::of_name(name).is_some_and(|family| families.has(family)) {
            let path = FieldPath::new("spec");
            let detail = "not configured on this cluster";
            errors.push(FieldError::invalid(&path.child(FAMILIES).index(at), name.as_str(), detail));
        }
    }
}

fn policy_error(policy: &str, detail: String) -> FieldError {
    FieldError::invalid(&FieldPath::new("spec").child(POLICY), policy, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    const DUAL: ServiceFamilies = ServiceFamilies { primary: IpFamily::V4, is_dual: true };
    const IPV6: ServiceFamilies = ServiceFamilies { primary: IpFamily::V6, is_dual: false };

    fn members(text: &str) -> Map {
        read(text.as_bytes()).unwrap().as_object().unwrap().clone()
    }

    /// The policy and the families, such as `SingleStack IPv4`, or the errors in lines.
    fn initialized(spec: &str, old: Option<&str>, families: ServiceFamilies) -> String {
        let (mut spec, old) = (read(spec.as_bytes()).unwrap(), old.map(members));
        match initialize(&mut spec, old.as_ref(), families, Release::NEWEST, &|_| ErrorList::new()) {
            Ok(()) => {
                let spec = spec.as_object().unwrap();
                format!("{} {}", text(spec, POLICY), texts(spec, FAMILIES).join(","))
            }
            Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn a_new_service_has_the_families_of_the_cluster() {
        let selects = r#"{"selector":{"a":"b"}}"#;
        assert_eq!(initialized(selects, None, DUAL), "SingleStack IPv4");
        assert_eq!(initialized(selects, None, IPV6), "SingleStack IPv6");
        let prefers = r#"{"selector":{"a":"b"},"ipFamilyPolicy":"PreferDualStack"}"#;
        assert_eq!(initialized(prefers, None, DUAL), "PreferDualStack IPv4,IPv6");
        assert_eq!(initialized(prefers, None, IPV6), "PreferDualStack IPv6");
        let given = r#"{"selector":{"a":"b"},"ipFamilyPolicy":"RequireDualStack","clusterIPs":["fd00::5"]}"#;
        assert_eq!(initialized(given, None, DUAL), "RequireDualStack IPv6,IPv4");
    }

    #[test]
    fn a_service_without_selector_may_have_other_families() {
        let headless = r#"{"clusterIP":"None","clusterIPs":["None"]}"#;
        assert_eq!(initialized(headless, None, IPV6), "RequireDualStack IPv6,IPv4");
        let single =
            r#"{"clusterIP":"None","clusterIPs":["None"],"ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4"]}"#;
        assert_eq!(initialized(single, None, IPV6), "SingleStack IPv4");
    }

    #[test]
    fn what_the_cluster_does_not_have_is_an_error() {
        let requires = r#"{"selector":{"a":"b"},"ipFamilyPolicy":"RequireDualStack","ipFamilies":["IPv4"]}"#;
        assert_eq!(
            initialized(requires, None, IPV6),
            r#"spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services
spec.ipFamilies[0]: Invalid value: "IPv4": not configured on this cluster"#
        );
        assert_eq!(
            initialized(r#"{"selector":{"a":"b"},"clusterIPs":["10.0.0.5"]}"#, None, IPV6),
            r#"spec.clusterIPs[0]: Invalid value: ["10.0.0.5"]: IPv4 is not configured on this cluster"#
        );
    }

    #[test]
    fn an_update_gives_up_a_family_with_the_policy_of_one() {
        let old = r#"{"type":"ClusterIP","selector":{"a":"b"},"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5"],
            "ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"RequireDualStack"}"#;
        assert_eq!(initialized(&old.replace("RequireDual", "Single"), Some(old), DUAL), "SingleStack IPv4");
        let fewer = old.replace(r#"["IPv4","IPv6"]"#, r#"["IPv4"]"#);
        assert_eq!(
            initialized(&fewer, Some(old), DUAL),
            r#"spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary IP family"#
        );
        let single = r#"{"type":"ClusterIP","selector":{"a":"b"},"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],
            "ipFamilies":["IPv4"],"ipFamilyPolicy":"PreferDualStack"}"#;
        assert_eq!(initialized(single, Some(single), DUAL), "PreferDualStack IPv4");
    }

    #[test]
    fn a_changed_cluster_ip_replaces_the_list() {
        let old = members(r#"{"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"]}"#);
        let addresses = |new: &str| {
            let mut new = members(new);
            normalize(&mut new, Some(&old));
            texts(&new, ADDRESSES)
        };
        assert_eq!(addresses(r#"{"clusterIP":"None","clusterIPs":["10.0.0.5"]}"#), ["None"]);
        assert_eq!(addresses(r#"{"clusterIP":"10.0.0.5"}"#), ["10.0.0.5"]);
        assert!(addresses(r#"{"clusterIP":"","clusterIPs":["10.0.0.5"]}"#).is_empty());
    }

    #[test]
    fn an_older_stored_service_gets_its_families() {
        let restored = |old: &str| super::restored(&members(old), DUAL).map(|spec| texts(&spec, FAMILIES));
        assert_eq!(restored(r#"{"clusterIP":"fd00::5"}"#), Some(vec!["IPv6".to_owned()]));
        assert_eq!(restored(r#"{"clusterIP":"None"}"#), Some(vec!["IPv4".to_owned(), "IPv6".to_owned()]));
        assert_eq!(restored(r#"{"clusterIP":"fd00::5","clusterIPs":["fd00::5"],"ipFamilies":["IPv6"]}"#), None);
        assert_eq!(restored(r#"{"type":"ExternalName"}"#), None);
    }
}
