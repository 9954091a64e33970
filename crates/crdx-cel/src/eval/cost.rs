//! The runtime cost of a call: the prices of the library tables applied to values (`CallCost` of cel-go and
//! Kubernetes).

use super::call::Callee;
use crate::{
    decl::ListKind,
    library::CallCost,
    value::{Error, Fuel, List, Map, Opaque, Value},
};
use crdx_value::release::{Minor, V1_32, V1_33, V1_38};

/// An argument or result of a call; `None` for an error.
type Arg<'v, 'a> = Option<&'v Value<'a>>;

/// The cost of creating a list.
pub(super) const NEW_LIST: u64 = 10;
/// The cost of creating a message.
pub(super) const NEW_MESSAGE: u64 = 40;
/// The cost of creating a map.
pub(super) const NEW_MAP: u64 = 30;

fn size(arg: Arg<'_, '_>) -> u64 {
    arg.and_then(Value::size).unwrap_or(1)
}

fn size_at(args: &[Arg<'_, '_>], index: usize) -> u64 {
    size(args.get(index).copied().flatten())
}

/// The size of an argument. From 0.23 (Kubernetes 1.33) until 0.33 (1.38), cel-go unwraps optional values; Kubernetes' functions do not.
fn size_inside(server: Minor, arg: Arg<'_, '_>) -> u64 {
    match arg {
        Some(Value::Optional(Some(inner))) if server >= V1_33 && server < V1_38 => size_inside(server, Some(inner)),
        other => size(other),
    }
}

fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

const TEXT: f64 = 0.1;

fn pattern(text: u64, pattern: u64) -> u64 {
    ((1.0 + text as f64) * TEXT).ceil() as u64 * scaled(pattern, 0.25)
}

fn new_list(factor: f64, size: u64) -> u64 {
    let factor = if factor < 0.0 { 1.0 } else { factor };
    ((size as f64 * factor) as u64).saturating_add(1 + NEW_LIST)
}

/// The part of the cost that is known before the call, so that a call that exceeds the limit is not executed. `None` if
/// the cost depends on the result.
pub(super) fn before(server: Minor, callee: &Callee, args: &[Arg<'_, '_>], fuel: &Fuel) -> Result<Option<u64>, Error> {
    let text = |index: usize| size_inside(server, args.get(index).copied().flatten());
    Ok(Some(match callee.price() {
        CallCost::One | CallCost::UrlPart { .. } => 1,
        CallCost::Free => 0,
        CallCost::Scan(index) => scaled(text(index.into()), TEXT),
        CallCost::Affix => scaled(text(0), TEXT),
        CallCost::Transform => scaled(size_at(args, 0), TEXT),
        CallCost::ScanTwice | CallCost::Replace | CallCost::Split => scaled(size_at(args, 0), 2.0 * TEXT),
        CallCost::Search => text(1),
        CallCost::Compare => compare(server, callee.function, args),
        CallCost::Concatenate => scaled(text(0).saturating_add(text(1)), TEXT),
        CallCost::Contains => scaled(text(0), TEXT) * scaled(text(1), TEXT),
        CallCost::Match | CallCost::Find => pattern(text(0), text(1)),
        CallCost::Walk => args.first().copied().flatten().map_or(1, |value| value.walk_cost(fuel)),
        CallCost::ContainsIp { parse } => {
            let parsing = if parse { scaled(size_at(args, 1), TEXT) } else { 0 };
            scaled(2 * size_at(args, 0), TEXT) + parsing
        }
        CallCost::ContainsCidr { parse } => {
            let parsing = if parse { scaled(size_at(args, 1), TEXT) } else { 0 };
            scaled(2 * size_at(args, 0), TEXT) + scaled(size_at(args, 0), TEXT) + 1 + parsing
        }
        CallCost::Validate => match args.first().copied().flatten() {
            Some(Value::Opaque(o)) => match &**o {
                Opaque::Format(format) => pattern(size_at(args, 1), format.pattern_length),
                _ => 1,
            },
            _ => 1,
        },
        CallCost::Sets(factor) => {
            let product = size_at(args, 0).wrapping_mul(size_at(args, 1));
            ((product as f64 * f64::from(factor)) as u64).saturating_add(1)
        }
        CallCost::Flatten if server >= V1_38 => flatten(args),
        CallCost::Flatten => new_list(depth(server, args)?, size_at(args, 0)),
        CallCost::Distinct => all_pairs(server, args.first().copied().flatten())?,
        CallCost::Sort(index) => all_pairs(server, args.get(usize::from(index)).copied().flatten())?,
        CallCost::Authorize => 350_000,
        CallCost::Selector => {
            let length = size_at(args, 1);
            10 + scaled(length, TEXT) + scaled(scaled(length, 0.5), 50.0)
        }
        CallCost::Join | CallCost::Slice | CallCost::Range | CallCost::Reverse => return Ok(None),
    }))
}

/// The cost of a call whose price depends on the result.
pub(super) fn after(server: Minor, callee: &Callee, result: Arg<'_, '_>) -> u64 {
    match callee.price() {
        CallCost::Join => scaled(size(result), 2.0 * TEXT),
        CallCost::Slice | CallCost::Range | CallCost::Reverse if server >= V1_38 => new_list(1.0, length(result)),
        CallCost::Slice | CallCost::Range | CallCost::Reverse => new_list(1.0, size(result)),
        _ => 0,
    }
}

fn compare(server: Minor, function: &str, args: &[Arg<'_, '_>]) -> u64 {
    match args {
        // Kubernetes overrides the cost of its types only for `==`, and only since 1.32.
        [Some(Value::Opaque(_)), _] if function == "_==_" && server >= V1_32 => 1,
        [a, b] => scaled(size_inside(server, *a).min(size_inside(server, *b)), TEXT),
        _ => 1,
    }
}

/// `==` and `!=`
pub(super) fn equality(server: Minor, function: &str, a: Arg<'_, '_>, b: Arg<'_, '_>) -> u64 {
    compare(server, function, &[a, b])
}

/// The length of a value since cel-go 0.33 (`Length`): that of an error is 0, and that of an optional is the length of its value.
fn length(value: Arg<'_, '_>) -> u64 {
    match value {
        None | Some(Value::Optional(None)) => 0,
        Some(Value::Optional(Some(inner))) => size(Some(inner)),
        value => size(value),
    }
}

/// `flatten` since cel-go 0.33: the length of the list times the depth, which is 1 if it is not a number.
fn flatten(args: &[Arg<'_, '_>]) -> u64 {
    let depth = match args.get(1).copied().flatten() {
        Some(Value::Int(depth)) => u64::try_from(*depth).unwrap_or(0),
        Some(Value::Uint(depth)) => *depth,
        _ => 1,
    };
    length(args.first().copied().flatten()).saturating_mul(depth).saturating_add(1 + NEW_LIST)
}

/// The depth argument of `flatten`. The server's cost tracker asserts that it is an int and panics otherwise.
fn depth(server: Minor, args: &[Arg<'_, '_>]) -> Result<f64, Error> {
    match args {
        [_, Some(Value::Int(depth))] => Ok(*depth as f64),
        [_, other] => {
            let found = other.map_or("*types.Err", |value| go_type_name(server, value));
            Err(Error::Internal(format!("interface conversion: ref.Val is {found}, not types.Int").into()))
        }
        _ => Ok(1.0),
    }
}

/// The cost of comparing all elements with each other. The server's cost tracker asserts that the argument is a list
/// and panics otherwise.
fn all_pairs(server: Minor, list: Arg<'_, '_>) -> Result<u64, Error> {
    let Some(Value::List(list)) = list else {
        let (found, missing) = match list {
            None => ("*types.Err", "Add"),
            Some(value) => (go_type_name(server, value), if adds(value) { "Contains" } else { "Add" }),
        };
        let text = format!("interface conversion: {found} is not traits.Lister: missing method {missing}");
        return Err(Error::Internal(text.into()));
    };
    let size = list.len() as u64;
    let is_text = matches!(list.get(0), Some(Ok(Value::String(_) | Value::Bytes(_))));
    Ok(new_list(if is_text { 2.0 + TEXT } else { 2.0 }, size.saturating_mul(size)))
}

fn adds(value: &Value<'_>) -> bool {
    use Value::{Bytes, Double, Duration, Int, String, Timestamp, Uint};
    matches!(value, Int(_) | Uint(_) | Double(_) | String(_) | Bytes(_) | Timestamp(_) | Duration(_))
}

/// The Go type of a value, for error messages of the server.
pub(super) fn go_type_name(server: Minor, value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Duration(_) => "types.Duration",
        Value::List(list) if list.is_strict() => match list.kind() {
            ListKind::Atomic => "*common.unstructuredList",
            ListKind::Set => "*common.unstructuredSetList",
            ListKind::Map(_) => "*common.unstructuredMapList",
        },
        Value::List(list) if list.is_joined() => "*types.concatList",
        // Since cel-go 0.33, lists and maps are generic.
        Value::List(List::Untyped(_) | List::Partial(..)) if server >= V1_38 => "*types.sliceList[interface {}]",
        Value::List(List::Range(_)) if server >= V1_38 => "*types.sliceList[int]",
        Value::List(_) if server >= V1_38 => "*types.sliceList[cel.dev/cel-go/common/types/ref.Val]",
        Value::List(_) => "*types.baseList",
        Value::Map(map) if map.is_strict() => "*common.unstructuredMap",
        Value::Map(Map::Untyped(_) | Map::Partial(..)) if server >= V1_38 => "*types.nativeMap[string,interface {}]",
        Value::Map(_) if server >= V1_38 => {
            "*types.nativeMap[cel.dev/cel-go/common/types/ref.Val,cel.dev/cel-go/common/types/ref.Val]"
        }
        Value::Map(_) => "*types.baseMap",
        Value::Type(_) => "*types.Type",
        Value::Optional(_) => "*types.Optional",
        Value::Message(message) if message.is_object() => "*dynamic.ObjectVal",
        Value::Message(_) => "*mutation.JSONPatchVal",
        Value::Opaque(o) => match &**o {
            Opaque::Url(_) => "cel.URL",
            Opaque::Ip(_) => "cel.IP",
            Opaque::Cidr(_) => "cel.CIDR",
            Opaque::Quantity { computed: true, .. } => "*cel.Quantity",
            Opaque::Quantity { .. } => "cel.Quantity",
            Opaque::Semver(_) => "cel.Semver",
            Opaque::Format(_) => "cel.Format",
            Opaque::Authorizer(_) => "library.authorizerVal",
            Opaque::PathCheck(_) => "library.pathCheckVal",
            Opaque::GroupCheck(_) => "library.groupCheckVal",
            Opaque::ResourceCheck(_) => "library.resourceCheckVal",
            Opaque::Decision(_) => "library.decisionVal",
        },
    }
}
