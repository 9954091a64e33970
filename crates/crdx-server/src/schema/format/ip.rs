//! Network addresses: IPv4, IPv6, CIDR and MAC.

use std::net::Ipv6Addr;

/// `netutils.ParseIPSloppy`, for texts with a dot: accepts leading zeros and `::ffff:1.2.3.4`.
pub fn is_ipv4(text: &str) -> bool {
    text.contains('.') && is_sloppy_ip(text)
}

/// `net.ParseIP`, for texts with a colon; rejects zones.
pub(crate) fn is_ipv6(text: &str) -> bool {
    // A text with a dot before the first colon is parsed as IPv4 by Go, which fails.
    text.contains(':') && text.parse::<Ipv6Addr>().is_ok()
}

/// `netutils.ParseCIDRSloppy`
pub fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let max = if is_sloppy_ipv4(address) {
        32
    } else if is_sloppy_ipv6(address) {
        128
    } else {
        return false;
    };
    number(bits, 10).is_some_and(|(value, rest)| rest.is_empty() && value <= max)
}

/// Parses a leading number, with any number of leading zeros, and returns the rest.
fn number(text: &str, radix: u32) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let value = digits.chars().try_fold(0_u32, |value, c| {
        let value = value * radix + c.to_digit(radix)?;
        (value < 0xFF_FFFF).then_some(value)
    })?;
    (!digits.is_empty()).then_some((value, rest))
}

/// `netutils.ParseIPSloppy`: accepts leading zeros.
pub fn is_sloppy_ip(text: &str) -> bool {
    match text.bytes().find(|b| matches!(b, b'.' | b':')) {
        Some(b'.') => is_sloppy_ipv4(text),
        Some(_) => is_sloppy_ipv6(text),
        None => false,
    }
}

fn is_sloppy_ipv4(text: &str) -> bool {
    let parts = || text.split('.');
    parts().count() == 4
        && parts().all(|part| number(part, 10).is_some_and(|(value, rest)| rest.is_empty() && value < 256))
}

fn is_sloppy_ipv6(text: &str) -> bool {
    let (mut rest, mut ellipsis) = text.strip_prefix("::").map_or((text, false), |rest| (rest, true));
    if ellipsis && rest.is_empty() {
        return true;
    }
    let mut groups = 0;
    while groups < 8 {
        let Some((value, after)) = number(rest, 16) else { return false };
        if after.starts_with('.') {
            // The last two groups are written as IPv4.
            if (!ellipsis && groups != 6) || groups > 6 || !is_sloppy_ipv4(rest) {
                return false;
            }
            groups += 2;
            rest = "";
            break;
        }
        if value > 0xFFFF {
            return false;
        }
        groups += 1;
        rest = after;
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(':').filter(|after| !after.is_empty()) else { return false };
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis {
                return false;
            }
            ellipsis = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    // An ellipsis stands for at least one group.
    rest.is_empty() && (groups < 8) == ellipsis
}

/// `net.ParseMAC`: 6, 8 or 20 bytes, in groups of two digits with `:` or `-`, groups of four with `.`, or without
/// separators.
pub(crate) fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (size, separator) = match (bytes.get(2), bytes.get(4)) {
        (Some(&separator @ (b':' | b'-')), _) => (2, Some(separator)),
        (_, Some(b'.')) => (4, Some(b'.')),
        _ => (2, None),
    };
    let is_group = |group: &[u8]| group.len() == size && group.iter().all(u8::is_ascii_hexdigit);
    let groups = match separator {
        Some(separator) => {
            let mut groups = bytes.split(|b| *b == separator);
            if !groups.all(is_group) {
                return false;
            }
            bytes.split(|b| *b == separator).count()
        }
        None if bytes.chunks(size).all(is_group) => bytes.len() / size,
        None => return false,
    };
    matches!(groups * size / 2, 6 | 8 | 20)
}
