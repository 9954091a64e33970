//! The address families of the Services of a cluster, and the ranges of their cluster IPs.

use crdx_value::Value;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `IPFamily`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpFamily {
    /// `IPv4`
    V4,
    /// `IPv6`
    V6,
}

impl IpFamily {
    /// Returns the name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    /// Returns the family with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::V4, Self::V6].into_iter().find(|family| family.name() == name)
    }

    /// Returns the family of a valid address. An IPv4 address in an IPv6 address is one of IPv4, as in Go.
    pub fn of_address(text: &str) -> Self {
        match text.parse() {
            Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_none() => Self::V6,
            _ => Self::V4,
        }
    }

    /// Returns the other family.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::V4 => Self::V6,
            Self::V6 => Self::V4,
        }
    }
}

/// The families of the addresses that an API server allocates (`--service-cluster-ip-range`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceFamilies {
    /// The family of a Service that asks for none.
    pub primary: IpFamily,
    /// True if both families have a range.
    pub is_dual: bool,
}

/// IPv4 alone, the default of API servers.
impl Default for ServiceFamilies {
    fn default() -> Self {
        Self { primary: IpFamily::V4, is_dual: false }
    }
}

impl ServiceFamilies {
    /// Returns the families of one or two ranges such as `10.96.0.0/12`; `None` for other texts.
    pub fn of_ranges<'a>(ranges: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let families: Option<Vec<IpFamily>> =
            ranges.into_iter().map(|range| Some(ServiceRange::parse(range.trim())?.family())).collect();
        Self::of(families?)
    }

    /// Returns the families of one range, or of one range of each family; `None` for others.
    pub fn of(families: impl IntoIterator<Item = IpFamily>) -> Option<Self> {
        let mut families = families.into_iter();
        let primary = families.next()?;
        match (families.next(), families.next()) {
            (None, _) => Some(Self { primary, is_dual: false }),
            (Some(second), None) if second != primary => Some(Self { primary, is_dual: true }),
            _ => None,
        }
    }

    /// Returns the families of a `ServiceCIDR`, if it is the one that API servers make of their flag.
    pub fn of_service_cidr(object: &Value) -> Option<Self> {
        let ranges = object.at(&["spec", "cidrs"])?.as_array()?.iter().filter_map(Value::as_str);
        (object.str_at(&["metadata", "name"]) == Some("kubernetes")).then(|| Self::of_ranges(ranges)).flatten()
    }

    /// Returns the families with these names; `None` if there is none, or an unknown one.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let families: Vec<IpFamily> = names.into_iter().map(IpFamily::of_name).collect::<Option<_>>()?;
        Some(Self { primary: *families.first()?, is_dual: families.len() > 1 })
    }

    /// Returns true if addresses of the family are allocated.
    pub fn has(self, family: IpFamily) -> bool {
        self.is_dual || family == self.primary
    }
}

/// A range of cluster IPs such as `10.96.0.0/12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceRange {
    address: IpAddr,
    /// The number of bits that all addresses share; at most 32 or 128.
    length: u8,
}

impl ServiceRange {
    /// Reads a range; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let (address, length): (IpAddr, u8) = (address.parse().ok()?, length.parse().ok()?);
        let bits = if address.is_ipv4() { 32 } else { 128 };
        (length <= bits).then_some(Self { address, length })
    }

    /// Returns the ranges of a `ServiceCIDR` from which addresses can be allocated (`syncAllocators`): none if it is not ready
    /// or is being deleted.
    pub fn of_service_cidr(object: &Value) -> Vec<Self> {
        let conditions = object.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition.str_at(&["type"]) == Some("Ready"));
        let is_ready = ready.is_none_or(|condition| condition.str_at(&["status"]) == Some("True"));
        if !is_ready || object.str_at(&["metadata", "deletionTimestamp"]).is_some() {
            return Vec::new();
        }
        let ranges = object.at(&["spec", "cidrs"]).and_then(Value::as_array).unwrap_or_default();
        ranges.iter().filter_map(|range| Self::parse(range.as_str()?)).collect()
    }

    /// Returns the range from which a cluster without ranges of its own allocates.
    pub fn default_of(family: IpFamily) -> Self {
        match family {
            IpFamily::V4 => Self { address: Ipv4Addr::new(10, 0, 0, 0).into(), length: 16 },
            IpFamily::V6 => Self { address: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0).into(), length: 112 },
        }
    }

    /// The address at an index, counted from the address of the network.
    pub fn address(self, index: u32) -> IpAddr {
        let length = self.length.into();
        match self.address {
            IpAddr::V4(address) => {
                let network = address.to_bits() & !u32::MAX.checked_shr(length).unwrap_or_default();
                Ipv4Addr::from_bits(network.wrapping_add(index)).into()
            }
            IpAddr::V6(address) => {
                let network = address.to_bits() & !u128::MAX.checked_shr(length).unwrap_or_default();
                Ipv6Addr::from_bits(network.wrapping_add(index.into())).into()
            }
        }
    }

    /// The index of the last address that can be a cluster IP; 0 if there is none.
    pub fn last_index(self) -> u32 {
        let length = self.length.into();
        match self.address {
            IpAddr::V4(_) => u32::MAX.checked_shr(length).unwrap_or_default().saturating_sub(1),
            IpAddr::V6(_) => u32::try_from(u128::MAX.checked_shr(length).unwrap_or_default()).unwrap_or(u32::MAX),
        }
    }

    /// The family of the addresses.
    pub fn family(self) -> IpFamily {
        if self.address.is_ipv4() { IpFamily::V4 } else { IpFamily::V6 }
    }

    /// Returns true if an address of the range can be a cluster IP: its first address cannot, nor the last one of IPv4
    /// (`PrefixContainsIP` in `pkg/api/servicecidr`).
    pub fn has(self, address: IpAddr) -> bool {
        let length = self.length.into();
        match (self.address, address) {
            (IpAddr::V4(range), IpAddr::V4(address)) => {
                let hosts = u32::MAX.checked_shr(length).unwrap_or_default();
                let (range, address) = (range.to_bits(), address.to_bits());
                range & !hosts == address & !hosts && address & hosts != 0 && address & hosts != hosts
            }
            (IpAddr::V6(range), IpAddr::V6(address)) => {
                let hosts = u128::MAX.checked_shr(length).unwrap_or_default();
                let (range, address) = (range.to_bits(), address.to_bits());
                range & !hosts == address & !hosts && address & hosts != 0
            }
            _ => false,
        }
    }
}

/// The CIDR of the network, such as `10.96.0.0/12`.
impl fmt::Display for ServiceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address(0), self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_range_are_counted_from_its_network() {
        let of = |text: &str| ServiceRange::parse(text).unwrap();
        let shown = |text: &str, index| of(text).address(index).to_string();
        assert_eq!((shown("10.0.0.9/24", 0), shown("10.0.0.9/24", 2)), ("10.0.0.0".to_owned(), "10.0.0.2".to_owned()));
        assert_eq!(shown("fd00::1/112", 1), "fd00::1");
        assert_eq!(of("10.0.0.9/24").to_string(), "10.0.0.0/24");
        let last = |text: &str| of(text).last_index();
        assert_eq!((last("10.0.0.0/24"), last("10.0.0.0/31"), last("10.0.0.1/32")), (254, 0, 0));
        assert_eq!((last("fd00::/112"), last("fd00::/64"), last("fd00::1/128")), (0xffff, u32::MAX, 0));
    }

    #[test]
    fn ranges_have_cluster_ips() {
        let is_in = |range: &str, address: &str| {
            ServiceRange::parse(range).is_some_and(|range| range.has(address.parse().unwrap()))
        };
        assert!(is_in("10.96.0.0/12", "10.111.255.254") && !is_in("10.96.0.0/12", "10.112.0.1"));
        assert!(!is_in("10.96.0.0/12", "10.96.0.0") && !is_in("10.96.0.0/12", "10.111.255.255"));
        assert!(is_in("fd00::/108", "fd00::f:1") && !is_in("fd00::/108", "fd00::10:1"));
        assert!(is_in("fd00::/108", "fd00::f:ffff") && !is_in("fd00::/108", "fd00::"));
        assert!(is_in("0.0.0.0/0", "1.2.3.4") && !is_in("1.2.3.4/32", "1.2.3.4") && !is_in("1.2.3.4/32", "1.2.3.5"));
        assert!(!is_in("10.0.0.0/8", "::1") && !is_in("10.0.0.0/33", "10.0.0.1") && !is_in("10.0.0.0", "10.0.0.1"));
    }

    #[test]
    fn ranges_have_families() {
        let of = |text: &str| ServiceFamilies::of_ranges(text.split(','));
        assert_eq!(of("10.96.0.0/12"), Some(ServiceFamilies::default()));
        assert_eq!(of("fd00::/108"), Some(ServiceFamilies { primary: IpFamily::V6, is_dual: false }));
        assert_eq!(of("fd00::/108, 10.0.0.0/24"), Some(ServiceFamilies { primary: IpFamily::V6, is_dual: true }));
        for text in ["", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/8,10.1.0.0/16", "10.0.0.0/8,fd00::/108,fd01::/108"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_in_an_address_is_one_of_ipv4() {
        assert_eq!(IpFamily::of_address("::ffff:1.2.3.4"), IpFamily::V4);
        assert_eq!(IpFamily::of_address("fd00::1"), IpFamily::V6);
        assert_eq!(IpFamily::of_address("10.0.0.1").other(), IpFamily::V6);
    }
}
