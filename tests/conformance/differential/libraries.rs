//! Random calls of the libraries of Kubernetes and of the newer parts of CEL: URLs, addresses, networks, quantities,
//! versions, formats, optionals, sets, lists and loops with two variables; and expressions with errors of syntax and type.

use super::expressions::{Kind, expression as plain};
use super::mutate::Rng;
use super::texts::{Text, literal};
use super::{signatures, tokens};

const FORMATS: [&str; 20] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
    "email",
    "ipv4",
    "nothing",
    "dns1123Label",
    "qualifiedName",
    "labelValue",
    "date",
];

fn text(kind: Text, depth: usize, rng: &mut Rng) -> String {
    match rng.below(8) {
        0 if depth > 0 => plain(Kind::Text, depth, rng),
        1 => (*rng.pick(&["self.s", "self.e"])).to_owned(),
        _ => literal(kind, rng),
    }
}

/// One of the kinds of texts that `format.` validates.
fn formatted(rng: &mut Rng) -> Text {
    *rng.pick(&[Text::Name, Text::Name, Text::Url, Text::Uuid, Text::Base64, Text::Time, Text::Address])
}

fn url(depth: usize, rng: &mut Rng) -> String {
    format!("url({})", text(Text::Url, depth, rng))
}

fn ip(depth: usize, rng: &mut Rng) -> String {
    if rng.chance(4) {
        format!("{}.ip()", cidr(depth, rng))
    } else {
        format!("ip({})", text(Text::Address, depth, rng))
    }
}

fn cidr(depth: usize, rng: &mut Rng) -> String {
    let of = format!("cidr({})", text(Text::Network, depth, rng));
    if rng.chance(4) { format!("{of}.masked()") } else { of }
}

fn quantity(depth: usize, rng: &mut Rng) -> String {
    if depth > 0 && rng.chance(4) {
        let other = if rng.chance(2) { quantity(depth - 1, rng) } else { plain(Kind::Int, depth - 1, rng) };
        return format!("{}.{}({other})", quantity(depth - 1, rng), rng.pick(&["add", "sub"]));
    }
    format!("quantity({})", text(Text::Quantity, depth, rng))
}

fn semver(depth: usize, rng: &mut Rng) -> String {
    let normalize = rng.pick(&["", "", ", true", ", false"]);
    format!("semver({}{normalize})", text(Text::Version, depth, rng))
}

fn optional(depth: usize, rng: &mut Rng) -> String {
    let d = depth.saturating_sub(1);
    match rng.below(14) {
        0 => "optional.none()".to_owned(),
        1 => format!("optional.of({})", plain(Kind::Int, d, rng)),
        2 => format!("optional.ofNonZeroValue({})", plain(Kind::Int, d, rng)),
        4 => "self.?absent".to_owned(),
        5 => "self.?o.?a".to_owned(),
        6 => format!("self.m[?{}]", plain(Kind::Text, d, rng)),
        7 => format!("self.l[?{}]", plain(Kind::Int, d, rng)),
        8 if depth > 0 => format!("{}.or({})", optional(d, rng), optional(d, rng)),
        9 if depth > 0 => format!("{}.optMap(x, x + {})", optional(d, rng), plain(Kind::Int, d, rng)),
        10 if depth > 0 => format!("{}.optFlatMap(x, {})", optional(d, rng), optional(d, rng)),
        11 => format!("{}.first()", plain(Kind::Ints, d, rng)),
        12 => format!("{}.last()", plain(Kind::Ints, d, rng)),
        _ => "self.?opt".to_owned(),
    }
}

fn bool_of(depth: usize, rng: &mut Rng) -> String {
    let d = depth.saturating_sub(1);
    let part = rng.pick(&["getScheme", "getHost", "getHostname", "getPort", "getEscapedPath"]);
    let range =
        rng.pick(&["isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"]);
    let compare = rng.pick(&["isLessThan", "isGreaterThan"]);
    match rng.below(40) {
        0 => format!("{}.{part}() == {}", url(d, rng), text(Text::Url, d, rng)),
        1 => format!("{}.getQuery().exists(k, k == 'x')", url(d, rng)),
        2 => format!("{}.getQuery()['x'] == ['1', '2']", url(d, rng)),
        3 => format!("isURL({})", text(Text::Url, d, rng)),
        4 => format!("{} == {}", url(d, rng), url(d, rng)),
        5 | 6 => format!("{}.{range}()", ip(d, rng)),
        7 => format!("{}.family() == {}", ip(d, rng), rng.pick(&["4", "6", "self.i"])),
        8 => format!("ip.isCanonical({})", text(Text::Address, d, rng)),
        9 => format!("isIP({})", text(Text::Address, d, rng)),
        10 => format!("{} == {}", ip(d, rng), ip(d, rng)),
        11 => format!("{}.containsIP({})", cidr(d, rng), ip(d, rng)),
        12 => format!("{}.containsIP({})", cidr(d, rng), text(Text::Address, d, rng)),
        13 => format!("{}.containsCIDR({})", cidr(d, rng), cidr(d, rng)),
        14 => format!("{}.containsCIDR({})", cidr(d, rng), text(Text::Network, d, rng)),
        15 => format!("isCIDR({})", text(Text::Network, d, rng)),
        16 => format!("{} == {}", cidr(d, rng), cidr(d, rng)),
        17 | 18 => format!("{}.{compare}({})", quantity(d, rng), quantity(d, rng)),
        19 => format!("{}.isInteger()", quantity(d, rng)),
        20 => format!("{} == {}", quantity(d, rng), quantity(d, rng)),
        21 => format!("isQuantity({})", text(Text::Quantity, d, rng)),
        22 | 23 => format!("{}.{compare}({})", semver(d, rng), semver(d, rng)),
        24 => format!("isSemver({}{})", text(Text::Version, d, rng), rng.pick(&["", ", true", ", false"])),
        25 => format!("{} == {}", semver(d, rng), semver(d, rng)),
        26 | 27 => format!("format.{}().validate({}).hasValue()", rng.pick(&FORMATS), text(formatted(rng), d, rng)),
        28 => format!("format.named('{}').hasValue()", rng.pick(&FORMATS)),
        29 => format!(
            "format.named({}).value().validate({}).value().size() > 0",
            rng.pick(&["'date'", "self.s"]),
            text(Text::Unusual, d, rng)
        ),
        30 => format!(
            "sets.{}({}, {})",
            rng.pick(&["intersects", "equivalent", "contains"]),
            plain(Kind::Ints, d, rng),
            plain(Kind::Ints, d, rng)
        ),
        31 => format!("{}.hasValue()", optional(d, rng)),
        32 => format!("{} == {}", optional(d, rng), optional(d, rng)),
        33 => format!("{}.exists(i, v, i == v || v == {})", plain(Kind::Ints, d, rng), plain(Kind::Int, d, rng)),
        34 => format!("{}.existsOne(k, v, v == {})", plain(Kind::Map, d, rng), plain(Kind::Int, d, rng)),
        35 => format!(
            "type({}) == {}",
            plain(Kind::Any, d, rng),
            rng.pick(&[
                "int",
                "string",
                "type(1)",
                "list",
                "map",
                "double",
                "timestamp",
                "google.protobuf.Timestamp",
                "optional_type",
                "null_type"
            ])
        ),
        36 => format!("dyn({}) == {}", plain(Kind::Int, d, rng), plain(Kind::Double, d, rng)),
        37 => format!("{}.includes({})", plain(Kind::Ints, d, rng), plain(Kind::Int, d, rng)),
        38 => format!(
            "dyn({}) {} dyn({})",
            plain(Kind::Uint, d, rng),
            rng.pick(&["<", ">=", "=="]),
            plain(Kind::Double, d, rng)
        ),
        _ => format!("authorizer.path({}).check('get').allowed()", text(Text::Unusual, d, rng)),
    }
}

fn int_of(depth: usize, rng: &mut Rng) -> String {
    let d = depth.saturating_sub(1);
    match rng.below(16) {
        0 => format!("{}.prefixLength()", cidr(d, rng)),
        1 => format!("{}.asInteger()", quantity(d, rng)),
        2 => format!("{}.sign()", quantity(d, rng)),
        3 | 4 => format!("{}.{}()", semver(d, rng), rng.pick(&["major", "minor", "patch"])),
        5 => format!("{}.compareTo({})", semver(d, rng), semver(d, rng)),
        6 => format!("{}.compareTo({})", quantity(d, rng), quantity(d, rng)),
        7 | 8 => format!("{}.orValue({})", optional(d, rng), plain(Kind::Int, d, rng)),
        9 => format!("{}.value()", optional(d, rng)),
        10 => format!("[{}, {}].unwrapOpt().size()", optional(d, rng), optional(d, rng)),
        11 => format!("int({})", text(Text::Number, d, rng)),
        12 => format!("{}.getQuery().size()", url(d, rng)),
        13 => {
            let part = rng.pick(&["getFullYear", "getMonth", "getDate", "getDayOfWeek", "getHours", "getMilliseconds"]);
            format!("timestamp({}).{part}({})", text(Text::Time, d, rng), text(Text::Zone, d, rng))
        }
        14 => {
            let part = rng.pick(&["getHours", "getMinutes", "getSeconds", "getMilliseconds"]);
            format!("duration({}).{part}()", text(Text::Span, d, rng))
        }
        _ => format!("optional.unwrap([{}]).sum()", optional(d, rng)),
    }
}

fn text_of(depth: usize, rng: &mut Rng) -> String {
    let d = depth.saturating_sub(1);
    match rng.below(14) {
        0 => format!(
            "{}.{}()",
            url(d, rng),
            rng.pick(&["getScheme", "getHost", "getHostname", "getPort", "getEscapedPath"])
        ),
        1 => format!("string({})", ip(d, rng)),
        2 => format!("string({})", cidr(d, rng)),
        3 => format!("format.{}().validate({}).value().join('; ')", rng.pick(&FORMATS), text(formatted(rng), d, rng)),
        4 => format!("'%s %s'.format([{}, {}])", plain(Kind::Any, d, rng), plain(Kind::Map, d, rng)),
        5 => format!(
            "'{}'.format([{}])",
            rng.pick(&["%d", "%x", "%X", "%o", "%b", "%e", "%.3f", "%s", "%q", "%%", "%.2e", "%"]),
            plain(Kind::Any, d, rng)
        ),
        6 => format!("'{}'.format([{}])", rng.pick(&["%x", "%X", "%s"]), plain(Kind::Text, d, rng)),
        7 => {
            format!(
                "{}.split({}, {})",
                text(Text::Unusual, d, rng),
                rng.pick(&["'.'", "''", "'/'"]),
                plain(Kind::Int, d, rng)
            ) + ".join('|')"
        }
        8 => {
            format!(
                "{}.replace({}, 'x', {})",
                text(Text::Unusual, d, rng),
                rng.pick(&["'.'", "''", "'0'"]),
                plain(Kind::Int, d, rng)
            )
        }
        9 => format!(
            "{}.indexOf({}, {})",
            text(Text::Unusual, d, rng),
            rng.pick(&["'.'", "''"]),
            plain(Kind::Int, d, rng)
        ),
        10 => format!(
            "{}.findAll({}, {}).join('|')",
            text(Text::Unusual, d, rng),
            rng.pick(&["'[0-9]+'", "'(a)(b)?'"]),
            plain(Kind::Int, d, rng)
        ),
        11 => match rng.below(3) {
            0 => format!("string(timestamp({}))", plain(Kind::Int, d, rng)),
            1 => format!("string(timestamp({}))", text(Text::Time, d, rng)),
            _ => format!("string(duration({}))", text(Text::Span, d, rng)),
        },
        12 => format!("{}.join()", plain(Kind::Texts, d, rng)),
        _ => format!("string(type({}))", plain(Kind::Any, d, rng)),
    }
}

fn ints_of(depth: usize, rng: &mut Rng) -> String {
    let d = depth.saturating_sub(1);
    match rng.below(9) {
        0 => format!("[?{}, 1]", optional(d, rng)),
        1 => format!("{}.transformList(k, v, v > 0, v * 2)", plain(Kind::Map, d, rng)),
        2 => format!("[[{}], [[2]]].flatten({})", plain(Kind::Int, d, rng), plain(Kind::Int, d, rng)),
        3 => format!("{}.slice({}, {})", plain(Kind::Ints, d, rng), plain(Kind::Int, d, rng), plain(Kind::Int, d, rng)),
        4 => format!("{}.sortBy(x, -x)", plain(Kind::Ints, d, rng)),
        5 => format!("lists.range({}).map(i, i * i)", plain(Kind::Int, d, rng)),
        6 => format!("[{}, {}].unwrapOpt()", optional(d, rng), optional(d, rng)),
        7 => format!("{}.filter(x, {}.exists(y, y == x))", plain(Kind::Ints, d, rng), plain(Kind::Ints, d, rng)),
        _ => format!("{}.transformMapEntry(k, v, {{v: k}}).transformList(k, v, k)", plain(Kind::Map, d, rng)),
    }
}

/// An expression that usually has the requested type.
pub fn expression(kind: Kind, depth: usize, rng: &mut Rng) -> String {
    let made = match kind {
        kind if rng.chance(2) => signatures::expression(kind, depth, rng),
        kind if rng.chance(6) => tokens::expression(kind, depth, rng),
        Kind::Bool if rng.chance(5) => {
            let operator = rng.pick(&["&&", "||", "==", "!="]);
            format!("{} {operator} {}", bool_of(depth, rng), bool_of(depth, rng))
        }
        Kind::Bool if !rng.chance(4) => match rng.below(5) {
            0 => format!("{} {} {}", int_of(depth, rng), rng.pick(&["<", "==", ">="]), plain(Kind::Int, 1, rng)),
            1 => format!("{} == {}", text_of(depth, rng), text(Text::Unusual, depth, rng)),
            2 => format!("{} == {}", ints_of(depth, rng), plain(Kind::Ints, 1, rng)),
            _ => bool_of(depth, rng),
        },
        Kind::Int => int_of(depth, rng),
        Kind::Text => text_of(depth, rng),
        Kind::Ints => ints_of(depth, rng),
        other => plain(other, depth, rng),
    };
    if !rng.chance(14) {
        return made;
    }
    // An error of syntax.
    let mut letters: Vec<char> = made.chars().collect();
    let at = rng.below(letters.len());
    match rng.below(3) {
        0 => drop(letters.remove(at)),
        1 => letters
            .insert(at, *rng.pick(&['(', ')', '[', ']', '\'', '.', '?', '{', '+', ' ', '`', '\\', '0', 'é', '$'])),
        _ => letters.truncate(at),
    }
    letters.into_iter().collect()
}
