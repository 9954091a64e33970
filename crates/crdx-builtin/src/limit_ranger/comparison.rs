//! Comparisons of a request and a limit with what a `LimitRange` allows.

use crdx_cel::value::Quantity;
use crdx_value::quantity::MAX_MILLI_VALUE;
use crdx_value::release::{Release, V1_38};
use std::cmp::Ordering;

/// The order of a request and of a limit relative to a quantity; `None` for one that is absent.
pub(super) struct Comparison<'q> {
    pub request: Option<(&'q Quantity, Ordering)>,
    pub limit: Option<(&'q Quantity, Ordering)>,
}

impl<'q> Comparison<'q> {
    pub(super) fn new(
        request: Option<&'q Quantity>,
        limit: Option<&'q Quantity>,
        enforced: &Quantity,
        release: Release,
    ) -> Self {
        let [request_order, limit_order] = if release.since(V1_38) {
            [request, limit].map(|given| given.map_or(Ordering::Equal, |given| given.compare(enforced)))
        } else {
            let (request, limit, enforced) = in_common_units(request, limit, enforced);
            [request.cmp(&enforced), limit.cmp(&enforced)]
        };
        Self {
            request: request.map(|request| (request, request_order)),
            limit: limit.map(|limit| (limit, limit_order)),
        }
    }
}

/// The part of a ratio that is absent or 0.
#[derive(Debug, PartialEq)]
pub(super) enum Missing {
    Request,
    Limit,
}

/// The ratio of a limit to a request, if it is more than the allowed one (`limitRequestRatioConstraint`).
pub(super) fn observed_ratio(
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
    most: &Quantity,
    release: Release,
) -> Result<Option<f64>, Missing> {
    if release.since(V1_38) {
        let request = request.filter(|request| request.sign() != 0).ok_or(Missing::Request)?;
        let limit = limit.filter(|limit| limit.sign() != 0).ok_or(Missing::Limit)?;
        return Ok(limit.exceeds_product(request, most).then(|| limit.as_float() / request.as_float()));
    }
    let (request, limit, _) = in_common_units(request, limit, most);
    if request == 0 {
        return Err(Missing::Request);
    }
    if limit == 0 {
        return Err(Missing::Limit);
    }
    let ratio = limit as f64 / request as f64;
    let exceeds = if most.value() <= MAX_MILLI_VALUE {
        ratio * 1000.0 > most.milli_value() as f64
    } else {
        ratio > most.value() as f64
    };
    Ok(exceeds.then_some(ratio))
}

/// Integers in thousandths, if those of all fit in 64 bits (`requestLimitEnforcedValues`, before 1.38); absent ones are 0.
fn in_common_units(request: Option<&Quantity>, limit: Option<&Quantity>, enforced: &Quantity) -> (i64, i64, i64) {
    let in_units = |unit: fn(&Quantity) -> i64| (request.map_or(0, unit), limit.map_or(0, unit), unit(enforced));
    let (request, limit, enforced) = in_units(Quantity::value);
    if request.max(limit).max(enforced) <= MAX_MILLI_VALUE {
        in_units(Quantity::milli_value)
    } else {
        (request, limit, enforced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(limit: &str, request: &str, most: &str, release: &str) -> Option<f64> {
        let release: Release = release.parse().unwrap();
        let [limit, request, most] = [limit, request, most].map(|text| Quantity::parse(text, release.minor()).unwrap());
        observed_ratio(Some(&request), Some(&limit), &most, release).unwrap()
    }

    #[test]
    fn amounts_are_compared_in_thousandths_before_1_38() {
        let order = |release: &str| {
            let release: Release = release.parse().unwrap();
            let [given, enforced] = ["1500u", "1m"].map(|text| Quantity::parse(text, release.minor()).unwrap());
            Comparison::new(Some(&given), None, &enforced, release).request.map(|(_, order)| order)
        };
        assert_eq!((order("1.37"), order("1.38")), (Some(Ordering::Greater), Some(Ordering::Greater)));
        let order = |release: &str| {
            let release: Release = release.parse().unwrap();
            let [given, enforced] = ["1500u", "1600u"].map(|text| Quantity::parse(text, release.minor()).unwrap());
            Comparison::new(Some(&given), None, &enforced, release).request.map(|(_, order)| order)
        };
        assert_eq!((order("1.37"), order("1.38")), (Some(Ordering::Equal), Some(Ordering::Less)));
    }

    #[test]
    fn ratios_are_exact_since_1_38() {
        assert_eq!((ratio("330m", "300m", "1.1", "1.37"), ratio("330m", "300m", "1.1", "1.38")), (None, None));
        assert_eq!(ratio("3m", "2001u", "1.2", "1.37"), None, "the request is rounded up to 3m");
        assert_eq!(ratio("3m", "2001u", "1.2", "1.38").map(|ratio| ratio > 1.49), Some(true));
    }

    #[test]
    fn a_ratio_needs_both_amounts() {
        let release: Release = "1.38".parse().unwrap();
        let one = Quantity::from_int(1);
        assert_eq!(observed_ratio(None, Some(&one), &one, release), Err(Missing::Request));
        assert_eq!(observed_ratio(Some(&one), Some(&Quantity::from_int(0)), &one, release), Err(Missing::Limit));
    }
}
