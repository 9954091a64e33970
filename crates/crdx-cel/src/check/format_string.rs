//! Checks calls of `"…%d…".format([…])` with literal arguments: each clause must match the type of its argument.

use super::message::declared_name;
use crate::{
    ast::{CheckedAst, Expr, ExprId, ExprKind},
    types::Type,
};
use crdx_value::GoError;

/// The error in a format string or its arguments: the id of the node (`None` for the call itself) and the message.
pub(super) fn problem(checked: &CheckedAst, format: &str, args: &[Expr]) -> Option<(Option<ExprId>, String)> {
    let mut seen = 0;
    let mut rest = format.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            continue;
        }
        let Some(next) = rest.first() else { return Some((None, "unexpected end of string".to_owned())) };
        if *next == b'%' {
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let Some(arg) = args.get(seen) else { return Some((None, format!("index {seen} out of range"))) };
        seen += 1;
        let clause = match clause(&mut rest) {
            Ok(clause) => clause,
            Err(message) => return Some((None, format!("could not parse formatting clause: {message}"))),
        };
        if let Err((id, message)) = fits(checked, clause, arg) {
            return Some((Some(id), format!("error during formatting: {message}")));
        }
    }
    (args.len() > seen).then(|| {
        let count = args.len();
        (None, format!("too many arguments supplied to string.format (expected {seen}, got {count})"))
    })
}

/// Parses a clause after its `%`, including its precision.
fn clause(rest: &mut &[u8]) -> Result<u8, GoError> {
    if let Some(precision) = rest.strip_prefix(b".") {
        let digits = precision.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, after) = precision.split_at_checked(digits).unwrap_or_default();
        let error = |message: String| format!("error while parsing precision: {message}");
        if after.is_empty() {
            return Err(error("could not find end of precision specifier".to_owned()).into());
        }
        let digits = String::from_utf8_lossy(digits);
        if digits.parse::<i64>().is_err() {
            let reason = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
            let reason = format!("strconv.Atoi: parsing \"{digits}\": {reason}");
            return Err(error(format!("error while converting precision to integer: {reason}")).into());
        }
        *rest = after;
    }
    let (clause, after) = rest.split_first().ok_or("unexpected end of string")?;
    *rest = after;
    if b"sdfebxXo".contains(clause) {
        Ok(*clause)
    } else {
        Err(format!("unrecognized formatting clause \"{}\"", char::from(*clause)).into())
    }
}

fn fits(checked: &CheckedAst, clause: u8, arg: &Expr) -> Result<(), (ExprId, String)> {
    let type_ = checked.type_of(arg.id);
    let (fits, text) = match clause {
        b's' => return fits_text(checked, arg),
        b'd' => (matches!(type_, Type::Int | Type::Uint), "decimal clause can only be used on integers"),
        b'f' => (matches!(type_, Type::Double | Type::String), "fixed-point clause can only be used on doubles"),
        b'e' => (matches!(type_, Type::Double | Type::String), "scientific clause can only be used on doubles"),
        b'b' => {
            (matches!(type_, Type::Int | Type::Uint | Type::Bool), "only integers and bools can be formatted as binary")
        }
        b'o' => (matches!(type_, Type::Int | Type::Uint), "octal clause can only be used on integers"),
        _ => (
            matches!(type_, Type::Int | Type::Uint | Type::String | Type::Bytes),
            "only integers, byte buffers, and strings can be formatted as hex",
        ),
    };
    if fits || *type_ == Type::Dyn {
        return Ok(());
    }
    Err((arg.id, format!("{text}, was given {}", declared_name(type_))))
}

/// `%s` accepts nearly every type, also nested in list and map literals.
fn fits_text(checked: &CheckedAst, arg: &Expr) -> Result<(), (ExprId, String)> {
    let type_ = checked.type_of(arg.id);
    if matches!(type_, Type::Optional(_) | Type::Opaque(_) | Type::Object(_) | Type::Any | Type::Error) {
        let name = declared_name(type_);
        return Err((
            arg.id,
            format!(
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and \
                 timestamps, was given {name}"
            ),
        ));
    }
    match &arg.kind {
        ExprKind::List { elements, .. } => elements.iter().try_for_each(|element| fits_text(checked, element)),
        ExprKind::Map(entries) => entries.iter().try_for_each(|entry| {
            fits_text(checked, &entry.key)?;
            fits_text(checked, &entry.value)
        }),
        _ => Ok(()),
    }
}
