//! `shardSelector`, which selects objects by ranges of the hash of a field: `k8s.io/apiserver/pkg/sharding` and `k8s.io/apimachinery/pkg/sharding`. The gate
//! `ShardedListAndWatch` is enabled by default since 1.38.

use crate::server::metadata;
use crdx_cel::ast::{Expr, ExprKind, Literal};
use crdx_cel::syntax::{self, MacroSet, ParseOptions, ParserVersion};
use crdx_value::hash::fnv1a;
use crdx_value::quote::go_quote;
use crdx_value::{GoError, Value};

/// The upper bound of the last range, 2^64.
const END: &str = "0x10000000000000000";

/// Ranges of the hash of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct ShardSelector {
    ranges: Vec<Range>,
}

#[derive(Clone, Debug, PartialEq)]
struct Range {
    field: &'static str,
    start: String,
    end: String,
}

impl ShardSelector {
    /// Reads the parameter; an empty one selects every object.
    ///
    /// # Errors
    /// Returns the message of the server.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        Self::parse_expression(text).map_err(|error| format!("invalid shard selector: {error}").into())
    }

    fn parse_expression(text: &str) -> Result<Self, GoError> {
        let text = text.trim();
        if text.is_empty() {
            return Err("empty shard selector is not allowed; omit the parameter for unfiltered lists".into());
        }
        let options =
            ParseOptions { optional_syntax: false, macros: MacroSet::default(), version: ParserVersion::V0_29 };
        let parsed = syntax::parse(text, options).map_err(|issues| {
            let first = issues.as_slice().first().map(|issue| issue.message.clone()).unwrap_or_default();
            format!("CEL parse error: {first}")
        })?;
        let mut ranges = Vec::new();
        // The operands of `||`, from left to right.
        let mut operands = vec![&parsed.expr];
        while let Some(expr) = operands.pop() {
            match &expr.kind {
                ExprKind::Call { function, args, .. } if function == "_||_" => operands.extend(args.iter().rev()),
                ExprKind::Call { function, args, .. } if function == "shardRange" => ranges.push(range(args)?),
                ExprKind::Call { function, .. } => {
                    let name = go_quote(function);
                    return Err(format!("unsupported function {name}; only shardRange() and || are allowed").into());
                }
                _ => {
                    let kind = kind(expr);
                    return Err(format!(
                        "unexpected expression kind {kind}; expected shardRange() call or || operator"
                    )
                    .into());
                }
            }
        }
        if let Some(first) = ranges.first()
            && let Some(other) = ranges.iter().find(|range| range.field != first.field)
        {
            let (first, other) = (go_quote(first.field), go_quote(other.field));
            return Err(format!("all shard ranges must use the same field, got {first} and {other}").into());
        }
        Ok(Self { ranges })
    }

    /// Returns true if every object is selected.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns true if the object is selected.
    pub fn selects(&self, object: &Value) -> bool {
        let Some(first) = self.ranges.first() else { return true };
        let name = first.field.rsplit('.').next().unwrap_or_default();
        // `HashField`
        let hash = format!("0x{:016x}", fnv1a(metadata::text(object, name).bytes()));
        self.ranges.iter().any(|range| !is_less(&hash, &range.start) && is_less(&hash, &range.end))
    }

    /// The selector in the metadata of a list.
    pub fn text(&self) -> String {
        let shown = |range: &Range| format!("shardRange({}, '{}', '{}')", range.field, range.start, range.end);
        self.ranges.iter().map(shown).collect::<Vec<_>>().join(" || ")
    }
}

/// The order of hexadecimal numbers with a prefix (`HexLess`).
fn is_less(a: &str, b: &str) -> bool {
    if a.len() == b.len() { a < b } else { a.len() < b.len() }
}

/// cel-go's number of the kind of an expression (`ast.ExprKind`).
fn kind(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Unspecified => 0,
        ExprKind::Call { .. } => 1,
        ExprKind::Comprehension(_) => 2,
        ExprKind::Ident(_) => 3,
        ExprKind::List { .. } => 4,
        ExprKind::Literal(_) => 5,
        ExprKind::Map(_) => 6,
        ExprKind::Select { .. } => 7,
        ExprKind::Struct { .. } => 8,
    }
}

/// `parseShardRangeCall`
fn range(args: &[Expr]) -> Result<Range, GoError> {
    let [field, start, end] = args else {
        return Err(format!("shardRange() requires exactly 3 arguments, got {}", args.len()).into());
    };
    let path = field_path(field).map_err(|error| format!("shardRange() first argument: {error}"))?;
    let supported = ["object.metadata.uid", "object.metadata.namespace"];
    let Some(field) = supported.into_iter().find(|known| *known == path) else {
        let path = go_quote(&path);
        return Err(format!("unsupported field path {path}; supported: {}", supported.join(", ")).into());
    };
    let (start, end) = (hexadecimal(start, "hexStart")?, hexadecimal(end, "hexEnd")?);
    if !is_less(&start, &end) {
        return Err(format!("shard range start {start} must be less than end {end}").into());
    }
    Ok(Range { field, start, end })
}

/// `extractFieldPath`
fn field_path(mut expr: &Expr) -> Result<String, GoError> {
    let mut parts = Vec::new();
    loop {
        match &expr.kind {
            ExprKind::Select { operand, field, .. } => {
                parts.push(field.as_str());
                expr = operand;
            }
            ExprKind::Ident(name) => {
                parts.push(name);
                parts.reverse();
                return Ok(parts.join("."));
            }
            _ => {
                let kind = kind(expr);
                return Err(
                    format!("expected field path (e.g. object.metadata.uid), got expression kind {kind}").into()
                );
            }
        }
    }
}

/// `extractHexLiteral`
fn hexadecimal(expr: &Expr, name: &str) -> Result<String, GoError> {
    let text = match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => text,
        ExprKind::Literal(other) => {
            let type_ = match other {
                Literal::Null => "structpb.NullValue",
                Literal::Bool(_) => "bool",
                Literal::Int(_) => "int64",
                Literal::Uint(_) => "uint64",
                Literal::Double(_) => "float64",
                Literal::String(_) => "string",
                Literal::Bytes(_) => "[]uint8",
            };
            return Err(format!("{name} must be a string literal, got {type_}").into());
        }
        _ => {
            let kind = kind(expr);
            return Err(format!("{name} must be a string literal (e.g. '0xff'), got expression kind {kind}").into());
        }
    };
    let quoted = go_quote(text);
    let Some(digits) = text.strip_prefix("0x") else {
        return Err(format!("{name} must have '0x' prefix, got {quoted}").into());
    };
    if digits.is_empty() {
        return Err(format!("{name}: hex value is required after '0x'").into());
    }
    if digits.len() > 17 {
        let (length, digits) = (digits.len(), go_quote(digits));
        return Err(format!("{name}: hex value too long ({length} chars, max 17): {digits}").into());
    }
    if let Some(wrong) = digits.chars().find(|c| !matches!(c, '0'..='9' | 'a'..='f')) {
        return Err(format!("{name}: invalid hex character {} in {quoted}", go_quote(&wrong.to_string())).into());
    }
    if digits.len() == 17 {
        if text != END {
            return Err(format!("{name}: 17-digit hex value must be '{END}' (2^64), got {quoted}").into());
        }
    } else if digits.len() != 16 {
        let padded = go_quote(&format!("0x{digits:0>16}"));
        return Err(
            format!("{name} must be a 0x-prefixed 16-digit hex value, got {quoted} (did you mean {padded}?)").into()
        );
    }
    Ok(text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    const HALVES: [&str; 2] = [
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
        "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
    ];

    fn uid(uid: &str) -> Value {
        object([("metadata", object([("uid", uid)]))])
    }

    #[test]
    fn each_object_is_in_one_half() {
        let [low, high] = HALVES.map(|half| ShardSelector::parse(half).unwrap());
        let both = ShardSelector::parse(&HALVES.join(" || ")).unwrap();
        for id in ["", "a", "b", "7f3b", "x-y-z"] {
            assert_ne!(low.selects(&uid(id)), high.selects(&uid(id)), "{id}");
            assert!(both.selects(&uid(id)));
        }
        assert_eq!(both.text(), HALVES.join(" || "));
        assert!(ShardSelector::parse("").unwrap().is_empty());
    }

    #[test]
    fn errors_are_those_of_the_server() {
        let error = |text: &str| ShardSelector::parse(text).unwrap_err().to_string();
        let short = "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')";
        let expected = r#"invalid shard selector: hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)"#;
        assert_eq!(error(short), expected);
        assert_eq!(
            error("a(1)"),
            r#"invalid shard selector: unsupported function "a"; only shardRange() and || are allowed"#
        );
        let expected =
            "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator";
        assert_eq!(error("a"), expected);
        assert!(error("shardRange(").starts_with("invalid shard selector: CEL parse error: Syntax error"));
        let expected =
            "invalid shard selector: empty shard selector is not allowed; omit the parameter for unfiltered lists";
        assert_eq!(error(" "), expected);
    }
}
