//! Random calls of every function in the CEL libraries, built from the signatures of its overloads.

use super::expressions::{Kind, expression as plain};
use super::mutate::Rng;
use super::texts::{Text, literal};
use crdx_cel::library::{Overload, overloads};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static OVERLOADS: LazyLock<Vec<&'static Overload>> =
    LazyLock::new(|| overloads().filter(|overload| !overload.function.contains('@')).collect());

/// The types that type parameters stand for.
const TYPES: [&str; 16] = [
    "int",
    "int",
    "string",
    "string",
    "uint",
    "double",
    "bytes",
    "bool",
    "timestamp",
    "duration",
    "list(int)",
    "map(string, int)",
    "dyn",
    "optional(int)",
    "net.IP",
    "kubernetes.Quantity",
];

const PATTERNS: [&str; 24] = [
    "'^[a-z]+$'",
    "'a*'",
    "'(a|b)+?'",
    "r'\\d{2,3}'",
    "'[^a-c]'",
    "'('",
    "'[z-a]'",
    "'x{1001}'",
    "'(?i)ABC'",
    "'(?P<n>a)(b)?'",
    "'(?<n>a)'",
    "'(?=a)'",
    "r'\\pL+'",
    "r'\\p{Greek}'",
    "r'\\Q.*\\E'",
    "r'\\bx\\B'",
    "'[[:alpha:]]'",
    "'(?s:.)$'",
    "'a**'",
    "r'\\8'",
    "''",
    "'(((a{2}){3}){9})'",
    "'é|😀'",
    "self.s",
];

const FORMATS: [&str; 22] = [
    "'%s'",
    "'%d'",
    "'%x'",
    "'%X'",
    "'%o'",
    "'%b'",
    "'%e'",
    "'%f'",
    "'%.3f'",
    "'%.2e'",
    "'%.0f'",
    "'%.400f'",
    "'%s %s'",
    "'%%'",
    "'%'",
    "'%q'",
    "'%.s'",
    "'%-5d'",
    "'a%sb%dc'",
    "'%.99999999999f'",
    "'é%s'",
    "''",
];

const ADDRESSES: [&str; 5] = ["'10.0.0.1'", "'::1'", "'fe80::1'", "'127.0.0.1'", "'2001:db8::1'"];
const NETWORKS: [&str; 4] = ["'10.0.0.0/8'", "'10.1.2.3/24'", "'2001:db8::/32'", "'::/0'"];
const URLS: [&str; 5] = [
    "'https://u:p@example.com:80/a?x=1#f'",
    "'/a/b'",
    "'http://[::1]:8080/'",
    "'https://user@h'",
    "'http://h/%41?a=b&a=c'",
];
const QUANTITIES: [&str; 9] =
    ["'1'", "'1.5Gi'", "'-200m'", "'1e3'", "'50k'", "'9223372036854775807'", "'0'", "'12345678901234567890'", "'1Ki'"];
const VERSIONS: [&str; 7] =
    ["'1.2.3'", "'1.2.3-alpha.1'", "'1.2.3-alpha.b'", "'0.0.1+x'", "'10.0.0'", "'1.2.3-1.x+y.2'", "'1.2.3-rc'"];

const FORMAT_NAMES: [&str; 8] = [
    "'dns1123Label'",
    "'dns1123Subdomain'",
    "'qualifiedName'",
    "'labelValue'",
    "'uuid'",
    "'date'",
    "'email'",
    "self.s",
];

/// The name of a type and its parameters.
fn parts(type_: &str) -> (&str, Vec<&str>) {
    match type_.split_once('(') {
        Some((name, rest)) => (name, split(rest.strip_suffix(')').unwrap())),
        None => (type_, Vec::new()),
    }
}

/// Splits at commas outside parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut out, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        out.push(text[start..].trim());
    }
    out
}

fn is_parameter(type_: &str) -> bool {
    type_.len() == 1
}

/// The types that type parameters of a signature stand for.
type Bound = BTreeMap<String, String>;

/// Returns true if a type of a signature can stand for another type.
fn fits(pattern: &str, type_: &str, bound: &mut Bound) -> bool {
    if is_parameter(pattern) {
        return bound.entry(pattern.to_owned()).or_insert_with(|| type_.to_owned()) == type_;
    }
    let ((name, inner), (other, others)) = (parts(pattern), parts(type_));
    name == other && inner.len() == others.len() && inner.iter().zip(others).all(|(a, b)| fits(a, b, bound))
}

/// Replaces the type parameters of a type.
fn filled(type_: &str, bound: &mut Bound, rng: &mut Rng) -> String {
    if is_parameter(type_) {
        return bound.entry(type_.to_owned()).or_insert_with(|| (*rng.pick(&TYPES)).to_owned()).clone();
    }
    let (name, inner) = parts(type_);
    if inner.is_empty() {
        return type_.to_owned();
    }
    let inner: Vec<String> = inner.iter().map(|part| filled(part, bound, rng)).collect();
    format!("{name}({})", inner.join(", "))
}

/// A call of an overload with the requested result.
fn call(type_: &str, depth: usize, rng: &mut Rng) -> Option<String> {
    let mut found = Vec::new();
    for overload in OVERLOADS.iter() {
        let (arguments, result) = overload.signature.split_once(" -> ").unwrap();
        let mut bound = Bound::new();
        if fits(result, type_, &mut bound) {
            found.push((overload, arguments, bound));
        }
    }
    if found.is_empty() {
        return None;
    }
    let (overload, arguments, mut bound) = found.swap_remove(rng.below(found.len()));
    let arguments = split(arguments.strip_prefix('(').unwrap().strip_suffix(')').unwrap());
    let types: Vec<String> = arguments.iter().map(|type_| filled(type_, &mut bound, rng)).collect();
    let mut values: Vec<String> = (0..types.len())
        .map(|index| argument(overload.function, index, &types[index], depth.saturating_sub(1), rng))
        .collect();
    if rng.chance(60) {
        values.pop();
    }
    Some(written(overload, &values, rng))
}

fn written(overload: &Overload, values: &[String], rng: &mut Rng) -> String {
    match (overload.function, values) {
        ("_?_:_", [a, b, c]) => format!("({a} ? {b} : {c})"),
        ("_[_]", [a, b]) => format!("{a}[{b}]"),
        ("_[?_]", [a, b]) => format!("{a}[?{b}]"),
        ("_?._", [a, ..]) => format!("{a}.?{}", rng.pick(&["a", "x", "opt", "absent"])),
        ("!_" | "-_", [a]) => format!("{}{a}", &overload.function[..1]),
        (operator, [a, b]) if operator.starts_with('_') => format!("({a} {} {b})", operator.trim_matches('_')),
        (function, [receiver, rest @ ..]) if overload.member || function == "indexOf" => {
            format!("{receiver}.{function}({})", rest.join(", "))
        }
        (function, values) => format!("{function}({})", values.join(", ")),
    }
}

/// An argument of a function: for texts, one that the function parses.
fn argument(function: &str, index: usize, type_: &str, depth: usize, rng: &mut Rng) -> String {
    if type_ != "string" || rng.chance(6) {
        return value(type_, depth, rng);
    }
    let kind = match (function, index) {
        ("matches" | "find" | "findAll", 1) => return (*rng.pick(&PATTERNS)).to_owned(),
        ("format", 0) => return (*rng.pick(&FORMATS)).to_owned(),
        ("format.named", _) => return (*rng.pick(&FORMAT_NAMES)).to_owned(),
        ("url" | "isURL", _) => Text::Url,
        ("ip" | "isIP" | "ip.isCanonical" | "containsIP", _) => Text::Address,
        ("cidr" | "isCIDR" | "containsCIDR", _) => Text::Network,
        ("quantity" | "isQuantity", _) => Text::Quantity,
        ("semver" | "isSemver", _) => Text::Version,
        ("timestamp", _) => Text::Time,
        ("duration", _) => Text::Span,
        ("int" | "uint" | "double", _) => Text::Number,
        ("validate", _) => *rng.pick(&[Text::Name, Text::Uuid, Text::Base64, Text::Time, Text::Url]),
        (function, 1) if function.starts_with("get") => Text::Zone,
        _ => return value(type_, depth, rng),
    };
    literal(kind, rng)
}

/// An expression of a type.
fn value(type_: &str, depth: usize, rng: &mut Rng) -> String {
    if rng.chance(11) {
        let other = *rng.pick(&TYPES);
        let made = simple(other, depth.saturating_sub(1), rng);
        return if rng.chance(3) { made } else { format!("dyn({made})") };
    }
    if depth > 0
        && rng.chance(2)
        && let Some(made) = call(type_, depth, rng)
    {
        return made;
    }
    simple(type_, depth, rng)
}

/// A literal, a field, or a call that makes a value of a type from a literal.
fn simple(type_: &str, depth: usize, rng: &mut Rng) -> String {
    let depth = depth.saturating_sub(1);
    let kind = match type_ {
        "bool" => Kind::Bool,
        "int" => Kind::Int,
        "uint" => Kind::Uint,
        "double" => Kind::Double,
        "string" if rng.chance(3) => return literal(*rng.pick(&[Text::Unusual, Text::Name, Text::Number]), rng),
        "string" => Kind::Text,
        "bytes" => Kind::Bytes,
        "timestamp" => Kind::Time,
        "duration" => Kind::Span,
        "list(int)" if rng.chance(3) => Kind::Ints,
        "list(string)" if rng.chance(3) => Kind::Texts,
        "map(string, int)" if rng.chance(3) => Kind::Map,
        "dyn" => return format!("dyn({})", simple(rng.pick::<&str>(&TYPES[..12]), depth, rng)),
        "net.IP" => return format!("ip({})", or_valid(&ADDRESSES, Text::Address, rng)),
        "net.CIDR" => return format!("cidr({})", or_valid(&NETWORKS, Text::Network, rng)),
        "kubernetes.URL" => return format!("url({})", or_valid(&URLS, Text::Url, rng)),
        "kubernetes.Quantity" => return format!("quantity({})", or_valid(&QUANTITIES, Text::Quantity, rng)),
        "kubernetes.Semver" => return format!("semver({})", or_valid(&VERSIONS, Text::Version, rng)),
        "kubernetes.NamedFormat" => return format!("format.named({}).value()", rng.pick(&FORMAT_NAMES)),
        "kubernetes.authorization.Authorizer" => return "authorizer".to_owned(),
        other => return made_of(other, depth, rng),
    };
    plain(kind, 0, rng)
}

/// A valid text, or any text of a kind.
fn or_valid(valid: &[&str], kind: Text, rng: &mut Rng) -> String {
    if rng.chance(3) { literal(kind, rng) } else { (*rng.pick(valid)).to_owned() }
}

/// A list, map, optional or type.
fn made_of(type_: &str, depth: usize, rng: &mut Rng) -> String {
    let (name, inner) = parts(type_);
    match (name, inner.as_slice()) {
        ("list", [item]) => {
            let items: Vec<String> = (0..rng.below(4)).map(|_| value(item, depth, rng)).collect();
            format!("[{}]", items.join(", "))
        }
        ("map", [key, of]) => {
            let entries: Vec<String> = (0..rng.below(4))
                .map(|_| {
                    let mark = if rng.chance(20) { "?" } else { "" };
                    format!("{mark}{}: {}", value(key, depth, rng), value(of, depth, rng))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        ("optional", [of]) if rng.chance(2) => format!("optional.of({})", value(of, depth, rng)),
        ("optional", _) => (*rng.pick(&["optional.none()", "self.?opt", "self.?absent"])).to_owned(),
        ("type", [of]) if rng.chance(2) => format!("type({})", value(of, depth, rng)),
        ("type", _) => (*rng.pick(&["int", "string", "type", "list", "map", "dyn", "net.IP"])).to_owned(),
        _ if depth == 0 => "self.absent".to_owned(),
        _ => call(type_, depth, rng).unwrap_or_else(|| "self".to_owned()),
    }
}

/// An expression that usually has the requested type; the result of another type is compared or formatted.
pub fn expression(kind: Kind, depth: usize, rng: &mut Rng) -> String {
    let any = |rng: &mut Rng| {
        let overload = rng.pick(&OVERLOADS);
        let (_, result) = overload.signature.split_once(" -> ").unwrap();
        let mut bound = Bound::new();
        filled(result, &mut bound, rng)
    };
    let type_ = match kind {
        Kind::Bool if rng.chance(2) => "bool".to_owned(),
        Kind::Bool => {
            let type_ = any(rng);
            let operator = rng.pick(&["==", "!=", "in"]);
            let right = if *operator == "in" { format!("list({type_})") } else { type_.clone() };
            return format!("{} {operator} {}", value(&type_, depth + 1, rng), value(&right, depth, rng));
        }
        Kind::Text if rng.chance(2) => "string".to_owned(),
        Kind::Text => {
            let (first, second) = (any(rng), any(rng));
            return format!("'%s|%s'.format([{}, {}])", value(&first, depth + 1, rng), value(&second, depth, rng));
        }
        Kind::Int => "int".to_owned(),
        Kind::Uint => "uint".to_owned(),
        Kind::Double => "double".to_owned(),
        _ => any(rng),
    };
    call(&type_, depth, rng).unwrap_or_else(|| value(&type_, depth, rng))
}
