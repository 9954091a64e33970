//! `ServiceCIDR`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{immutable, network};
use crdx_value::Value;
use crdx_value::field::ROOT;

const ONE_PER_FAMILY: &str = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

/// `ValidateServiceCIDR` and `ValidateServiceCIDRUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let cidrs = spec.child("cidrs");
    let Some(old) = old else { return validate_cidrs(errors, &spec) };
    let old = FieldValue::new(old.at(&["spec", "cidrs"]), ROOT);
    let is_extended = old.len() == 1 && cidrs.len() == 2;
    if old.len() != cidrs.len() && !is_extended {
        return errors.invalid_typed(&cidrs, "[]string", immutable::IMMUTABLE);
    }
    for (new, old) in cidrs.items().collect::<Vec<_>>().iter().zip(old.texts()) {
        if new.text() != old {
            errors.invalid(new, immutable::IMMUTABLE);
        }
    }
    if is_extended {
        validate_cidrs(errors, &spec);
    }
}

/// `validateServiceCIDRSpec`
fn validate_cidrs(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let cidrs = spec.child("cidrs");
    match cidrs.len() {
        0 => return errors.required(&cidrs, "at least one CIDR required"),
        1 | 2 => {}
        _ => {
            let shown = errors.typed(spec, "networking.ServiceCIDRSpec");
            return errors.invalid_value(&cidrs.path, shown, "may only hold up to 2 values");
        }
    }
    for cidr in cidrs.items() {
        network::canonical_cidr(errors, &cidr);
    }
    let families: Vec<_> =
        cidrs.texts().map(|text| network::parse_cidr(text).map(|(address, _)| network::is_ipv4(address))).collect();
    if let [Some(first), Some(second)] = families.as_slice()
        && first == second
    {
        errors.invalid_typed(&cidrs, "[]string", ONE_PER_FAMILY);
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn cidrs(cidrs: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"cidrs":{cidrs}}}}}"#)
    }

    #[test]
    fn a_service_cidr_has_a_cidr_of_each_family() {
        let create = |list: &str| created("networking.k8s.io/v1", "ServiceCIDR", &cidrs(list), "1.37");
        assert_eq!(create(r#"["10.0.0.0/24","2001:db8::/64"]"#), [""; 0]);
        assert_eq!(create("[]"), ["spec.cidrs: Required value: at least one CIDR required"]);
        assert_eq!(
            create(r#"["10.0.0.0/24","10.0.1.0/24"]"#),
            [
                r#"spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"#
            ]
        );
        assert_eq!(
            create(r#"["10.0.0.0/24","2001:db8::/64","10.0.1.0/24"]"#),
            [
                r#"spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/24","2001:db8::/64","10.0.1.0/24"]}: may only hold up to 2 values"#
            ]
        );
        assert_eq!(create(r#"["x","10.0.0.0/24"]"#).len(), 1);
    }

    #[test]
    fn only_a_second_cidr_can_be_added() {
        let update =
            |old: &str, new: &str| updated("networking.k8s.io/v1", "ServiceCIDR", &cidrs(old), &cidrs(new), "1.37");
        assert_eq!(update(r#"["10.0.0.0/24"]"#, r#"["10.0.0.0/24","2001:db8::/64"]"#), [""; 0]);
        assert_eq!(
            update(r#"["10.0.0.0/24"]"#, r#"["10.0.1.0/24"]"#),
            [r#"spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable"#]
        );
        assert_eq!(
            update(r#"["10.0.0.0/24","2001:db8::/64"]"#, r#"["10.0.0.0/24"]"#),
            [r#"spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable"#]
        );
    }
}
