//! IP addresses and CIDR networks (`net/netip`), with Go's error messages.

use crate::GoError;
use crate::quote::go_quote;
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// `net.IP`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip(pub IpAddr);

/// `net.CIDR`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Ip {
    /// Parses an address; zones and IPv4-mapped IPv6 addresses are rejected.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        let quoted = go_quote(text);
        let (address, zone) = parse_address(text)
            .map_err(|e| format!("IP Address {quoted} parse error during conversion from string: {e}"))?;
        if zone {
            return Err(format!("IP address {quoted} with zone value is not allowed").into());
        }
        if is_mapped(address) {
            return Err(format!("IPv4-mapped IPv6 address {quoted} is not allowed").into());
        }
        Ok(Self(address))
    }

    /// `netip.ParseAddr`, which accepts zones and IPv4-mapped addresses.
    pub fn parse_any(text: &str) -> Result<IpAddr, GoError> {
        parse_address(text).map(|(address, _)| address)
    }

    /// The number of bytes.
    pub fn size(self) -> u64 {
        if self.0.is_ipv4() { 4 } else { 16 }
    }

    /// `169.254.0.0/16` or `fe80::/10`
    pub fn is_link_local_unicast(self) -> bool {
        match self.0 {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        }
    }

    /// `224.0.0.0/24` or `ff02::/16`
    pub fn is_link_local_multicast(self) -> bool {
        match self.0 {
            IpAddr::V4(ip) => matches!(ip.octets(), [224, 0, 0, _]),
            IpAddr::V6(ip) => ip.segments().first().is_some_and(|s| s & 0xff0f == 0xff02),
        }
    }

    /// Neither unspecified, broadcast, loopback, multicast nor link-local; private addresses are global.
    pub fn is_global_unicast(self) -> bool {
        !self.0.is_unspecified()
            && self.0 != IpAddr::V4(Ipv4Addr::BROADCAST)
            && !self.0.is_loopback()
            && !self.0.is_multicast()
            && !self.is_link_local_unicast()
    }
}

impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Cidr {
    /// Parses `address/bits`; the address may have bits set after the prefix.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        let quoted = go_quote(text);
        let cidr = parse_prefix(text).map_err(|e| {
            format!("network address parse error during conversion from string: netip.ParsePrefix({quoted}): {e}")
        })?;
        if is_mapped(cidr.address) {
            return Err(format!("IPv4-mapped IPv6 address {quoted} is not allowed").into());
        }
        Ok(cidr)
    }

    /// The address before the slash.
    pub fn ip(self) -> Ip {
        Ip(self.address)
    }

    /// The number after the slash.
    pub fn prefix_length(self) -> u8 {
        self.bits
    }

    /// The number of bytes of the prefix.
    pub fn size(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }

    /// The network with the bits after the prefix cleared.
    pub fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from_bits(prefix32(ip.to_bits(), self.bits))),
            IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(prefix128(ip.to_bits(), self.bits))),
        };
        Self { address, ..self }
    }

    /// Returns true if the network contains the address.
    pub fn contains_ip(self, ip: Ip) -> bool {
        self.shares_prefix(ip.0, self.bits)
    }

    /// Returns true if the network contains all of `other`.
    pub fn contains_cidr(self, other: Self) -> bool {
        self.bits <= other.bits && self.shares_prefix(other.address, self.bits)
    }

    fn shares_prefix(self, other: IpAddr, bits: u8) -> bool {
        match (self.address, other) {
            (IpAddr::V4(a), IpAddr::V4(b)) => prefix32(a.to_bits(), bits) == prefix32(b.to_bits(), bits),
            (IpAddr::V6(a), IpAddr::V6(b)) => prefix128(a.to_bits(), bits) == prefix128(b.to_bits(), bits),
            _ => false,
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

fn prefix32(address: u32, bits: u8) -> u32 {
    address & u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0)
}

fn prefix128(address: u128, bits: u8) -> u128 {
    address & u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0)
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some())
}

fn parse_prefix(text: &str) -> Result<Cidr, GoError> {
    let (address, bits_text) = text.rsplit_once('/').ok_or("no '/'")?;
    let (address, zone) = parse_address(address)?;
    if zone {
        return Err("IPv6 zones cannot be present in a prefix".into());
    }
    let bad = || format!("bad bits after slash: {}", go_quote(bits_text));
    // A prefix length of more than one character must not start with a sign or zero.
    if bits_text.len() > 1 && !bits_text.starts_with(|c: char| ('1'..='9').contains(&c)) {
        return Err(bad().into());
    }
    let bits: i64 = bits_text.parse().map_err(|_| bad())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    if !(0..=most).contains(&bits) {
        return Err("prefix length out of range".into());
    }
    Ok(Cidr { address, bits: bits as u8 })
}

/// Parses an address. The flag is true if it has a zone.
fn parse_address(text: &str) -> Result<(IpAddr, bool), GoError> {
    let error = |message: &str| GoError::from(format!("ParseAddr({}): {message}", go_quote(text)));
    match text.bytes().find(|b| matches!(b, b'.' | b':' | b'%')) {
        Some(b'.') => {
            let [a, b, c, d] = parse_v4(text).map_err(|e| error(e.as_str()))?;
            Ok((IpAddr::V4(Ipv4Addr::new(a, b, c, d)), false))
        }
        Some(b':') => {
            let (rest, zone) = match text.split_once('%') {
                Some((_, "")) => return Err(error("zone must be a non-empty string")),
                Some((rest, _)) => (rest, true),
                None => (text, false),
            };
            parse_v6(rest).map(|ip| (IpAddr::V6(ip), zone)).map_err(|e| error(e.as_str()))
        }
        Some(_) => Err(error("missing IPv6 address")),
        None => Err(error("unable to parse IP")),
    }
}

fn at(message: &str, rest: &str) -> GoError {
    format!("{message} (at {})", go_quote(rest)).into()
}

fn parse_v4(text: &str) -> Result<[u8; 4], GoError> {
    let mut fields = [0_u8; 4];
    let (mut value, mut digits, mut position) = (0_u32, 0, 0);
    let mut previous = None;
    for (i, c) in text.char_indices() {
        let rest = text.get(i..).unwrap_or_default();
        if let Some(digit) = c.to_digit(10) {
            if digits == 1 && value == 0 {
                return Err("IPv4 field has octet with leading zero".into());
            }
            value = value * 10 + digit;
            digits += 1;
            if value > 255 {
                return Err("IPv4 field has value >255".into());
            }
        } else if c == '.' {
            if i == 0 || i + 1 == text.len() || previous == Some('.') {
                return Err(at("IPv4 field must have at least one digit", rest));
            }
            if position == 3 {
                return Err("IPv4 address too long".into());
            }
            if let Some(field) = fields.get_mut(position) {
                *field = value as u8;
            }
            position += 1;
            (value, digits) = (0, 0);
        } else {
            return Err(at("unexpected character", rest));
        }
        previous = Some(c);
    }
    if position < 3 {
        return Err("IPv4 address too short".into());
    }
    let [.., last] = &mut fields;
    *last = value as u8;
    Ok(fields)
}

fn parse_v6(text: &str) -> Result<Ipv6Addr, GoError> {
    let mut bytes = Vec::with_capacity(16);
    let mut ellipsis = None;
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("::") {
        ellipsis = Some(0);
        rest = after;
        if rest.is_empty() {
            return Ok(Ipv6Addr::UNSPECIFIED);
        }
    }
    while bytes.len() < 16 {
        let (mut width, mut group) = (0, 0_u32);
        for digit in rest.chars().map_while(|c| c.to_digit(16)) {
            if width > 3 {
                return Err(at("each group must have 4 or less digits", rest));
            }
            group = group << 4 | digit;
            width += 1;
        }
        if width == 0 {
            return Err(at("each colon-separated field must have at least one digit", rest));
        }
        let after = rest.get(width..).unwrap_or_default();
        if after.starts_with('.') {
            if ellipsis.is_none() && bytes.len() != 12 {
                return Err(at("embedded IPv4 address must replace the final 2 fields of the address", rest));
            }
            if bytes.len() > 12 {
                return Err(at("too many hex fields to fit an embedded IPv4 at the end of the address", rest));
            }
            bytes.extend(parse_v4(rest)?);
            rest = "";
            break;
        }
        bytes.extend((group as u16).to_be_bytes());
        rest = after;
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(':') else {
            return Err(at("unexpected character, want colon", rest));
        };
        if after.is_empty() {
            return Err(at("colon must be followed by more characters", rest));
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis.is_some() {
                return Err(at("multiple :: in address", rest));
            }
            ellipsis = Some(bytes.len());
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(at("trailing garbage after address", rest));
    }
    match ellipsis {
        None if bytes.len() < 16 => return Err("address string too short".into()),
        Some(_) if bytes.len() >= 16 => return Err("the :: must expand to at least one field of zeros".into()),
        Some(position) => {
            let zeros = 16 - bytes.len();
            bytes.splice(position..position, std::iter::repeat_n(0, zeros));
        }
        None => {}
    }
    let octets: [u8; 16] = bytes.try_into().map_err(|_| "address string too short".to_owned())?;
    Ok(Ipv6Addr::from(octets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_like_go() {
        for (text, shown) in [
            ("1.2.3.4", "1.2.3.4"),
            ("::", "::"),
            ("FE80::1", "fe80::1"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::1.2.3.4", "::102:304"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ] {
            assert_eq!(Ip::parse(text).map(|ip| ip.to_string()), Ok(shown.to_owned()));
        }
        for (text, error) in [
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("01.2.3.4", "IPv4 field has octet with leading zero"),
            ("1.2.3.256", "IPv4 field has value >255"),
            ("1..2.3", "IPv4 field must have at least one digit (at \".2.3\")"),
            ("1:2", "address string too short"),
            (":1", "each colon-separated field must have at least one digit (at \":1\")"),
            ("12345::", "each group must have 4 or less digits (at \"12345::\")"),
            ("1::2::3", "multiple :: in address (at \":3\")"),
            ("fe80::1%", "zone must be a non-empty string"),
            ("%eth0", "missing IPv6 address"),
        ] {
            let quoted = go_quote(text);
            assert_eq!(
                Ip::parse(text),
                Err(format!(
                    "IP Address {quoted} parse error during conversion from string: ParseAddr({quoted}): {error}"
                )
                .into())
            );
        }
        assert_eq!(
            Ip::parse("::ffff:1.2.3.4"),
            Err("IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed".into())
        );
    }

    #[test]
    fn networks_contain_by_prefix() {
        let net = Cidr::parse("192.168.1.1/16").expect("reads");
        assert_eq!(net.masked().to_string(), "192.168.0.0/16");
        assert!(net.contains_ip(Ip::parse("192.168.200.1").expect("reads")));
        assert!(net.contains_cidr(Cidr::parse("192.168.3.0/24").expect("reads")));
        assert!(!net.contains_cidr(Cidr::parse("192.0.0.0/8").expect("reads")));
        assert!(!net.contains_ip(Ip::parse("::").expect("reads")));
        assert!(Cidr::parse("::/129").is_err_and(|e| e.as_str().ends_with("prefix length out of range")));
        assert!(Cidr::parse("1.2.3.4/08").is_err_and(|e| e.as_str().ends_with("bad bits after slash: \"08\"")));
    }
}
