//! The string functions of cel-go's extension library, version 2 (`ext/strings.go`). Positions count code points.

use super::positions::{offset, out_of_range};
use super::regex::PART;
use super::{CallCost, Overload, format_string};
use crate::value::{Error, Fuel, Text, Value};
use crdx_value::release::{Minor, V1_33};
use std::fmt::Write as _;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::member("charAt", "string_char_at_int", "(string, int) -> string", CallCost::One, char_at),
    Overload::member("lowerAscii", "string_lower_ascii", "(string) -> string", CallCost::Transform, lower_ascii),
    Overload::member(
        "replace",
        "string_replace_string_string",
        "(string, string, string) -> string",
        CallCost::Replace,
        super::unfueled,
    )
    .fueled(replace),
    Overload::member(
        "replace",
        "string_replace_string_string_int",
        "(string, string, string, int) -> string",
        CallCost::Replace,
        super::unfueled,
    )
    .fueled(replace),
    Overload::member(
        "split",
        "string_split_string",
        "(string, string) -> list(string)",
        CallCost::Split,
        super::unfueled,
    )
    .fueled(split),
    Overload::member(
        "split",
        "string_split_string_int",
        "(string, string, int) -> list(string)",
        CallCost::Split,
        super::unfueled,
    )
    .fueled(split),
    Overload::member("substring", "string_substring_int", "(string, int) -> string", CallCost::Transform, substring),
    Overload::member(
        "substring",
        "string_substring_int_int",
        "(string, int, int) -> string",
        CallCost::Transform,
        substring,
    ),
    Overload::member("trim", "string_trim", "(string) -> string", CallCost::Transform, trim),
    Overload::member("upperAscii", "string_upper_ascii", "(string) -> string", CallCost::Transform, upper_ascii),
    Overload::member("format", "string_format", "(string, list(dyn)) -> string", CallCost::Scan(0), super::unfueled)
        .fueled(format_string::format)
        .since(Minor(29))
        .from_server(V1_33),
    Overload::member("format", "string_format", "(string, list(dyn)) -> string", CallCost::Scan(0), super::unfueled)
        .fueled(format_string::format_with_spaces)
        .since(Minor(29))
        .until_server(V1_33),
    Overload::global("strings.quote", "strings_quote", "(string) -> string", CallCost::Scan(0), quote).since(Minor(29)),
    Overload::member("join", "list_join", "(list(string)) -> string", CallCost::Join, join),
    Overload::member("join", "list_join_string", "(list(string), string) -> string", CallCost::Join, join),
];

/// The maximum length of the result of `join` in bytes; longer results would exceed the cost limit by far.
const MAX_BYTES: usize = 64 << 20;

fn char_at<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [Value::String(text), Value::Int(index)] = args else {
        return Err(Error::no_such_overload());
    };
    let start = offset(text, *index).ok_or_else(|| out_of_range(*index))?;
    let width = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    Ok(Value::String(text.slice(start..start + width)))
}

fn lower_ascii<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ok(Value::string(text.to_ascii_lowercase())),
        _ => Err(Error::no_such_overload()),
    }
}

fn upper_ascii<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::String(text)] => Ok(Value::string(text.to_ascii_uppercase())),
        _ => Err(Error::no_such_overload()),
    }
}

fn trim<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [Value::String(text)] = args else {
        return Err(Error::no_such_overload());
    };
    let start = text.len() - text.trim_start().len();
    Ok(Value::String(text.slice(start..start + text.trim().len())))
}

fn replace<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let (text, old, new, limit) = match args {
        [Value::String(text), Value::String(old), Value::String(new)] => (text, old, new, -1),
        [Value::String(text), Value::String(old), Value::String(new), Value::Int(limit)] => (text, old, new, *limit),
        _ => return Err(Error::no_such_overload()),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let most = if old.is_empty() { text.len() + 1 } else { text.len() / old.len() };
    // The price does not depend on the result, so its length is determined before it is computed.
    let mut length = text.len();
    if most.min(limit).saturating_mul(new.len()) > text.len() {
        length = length.saturating_add(text.matches(&**old).take(limit).count().saturating_mul(new.len()));
    }
    fuel.write(length)?;
    Ok(Value::string(text.replacen(&**old, new, limit)))
}

fn split<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    let (text, separator, limit) = match args {
        [Value::String(text), Value::String(separator)] => (text, separator, -1),
        [Value::String(text), Value::String(separator), Value::Int(limit)] => (text, separator, *limit),
        _ => return Err(Error::no_such_overload()),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut start = 0;
    if limit == 0 || (separator.is_empty() && text.is_empty()) {
        return Ok(Value::list(parts));
    }
    while parts.len() + 1 < limit {
        let rest = text.get(start..).unwrap_or_default();
        // An empty separator splits the string into code points.
        let (end, next) = if separator.is_empty() {
            match rest.chars().next().map(char::len_utf8) {
                Some(width) if width < rest.len() => (width, width),
                _ => break,
            }
        } else {
            match rest.find(&**separator) {
                Some(at) => (at, at + separator.len()),
                None => break,
            }
        };
        fuel.spend(PART)?;
        parts.push(Value::String(text.slice(start..start + end)));
        start += next;
    }
    parts.push(Value::String(text.slice(start..text.len())));
    Ok(Value::list(parts))
}

fn substring<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let (text, start, end) = match args {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return Err(Error::no_such_overload()),
    };
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(Error::new(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let from = offset(text, start).ok_or_else(|| out_of_range(start))?;
    let to = match end {
        Some(end) => offset(text, end).ok_or_else(|| out_of_range(end))?,
        None => text.len(),
    };
    Ok(Value::String(text.slice(from..to)))
}

fn join<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let (list, separator) = match args {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, &**separator),
        _ => return Err(Error::no_such_overload()),
    };
    let mut out = String::new();
    for (i, item) in list.iter().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        match item {
            Ok(Value::String(text)) => out.push_str(&text),
            Ok(other) => return Err(Error::new(format!("join: invalid input: {}", other.plain()))),
            Err(error) => return Err(Error::new(format!("join: invalid input: {error}"))),
        }
        if out.len() > MAX_BYTES {
            return Err(Error::CostLimitExceeded);
        }
    }
    Ok(Value::string(out))
}

fn quote<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let [Value::String(text)] = args else {
        return Err(Error::no_such_overload());
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        let escape = match c {
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{b}' => 'v',
            '\\' | '"' => c,
            _ => {
                out.push(c);
                continue;
            }
        };
        let _ = write!(out, "\\{escape}");
    }
    out.push('"');
    Ok(Value::String(Text::from(out)))
}

#[cfg(test)]
mod tests {
    use crate::{
        library::overload,
        value::{Fuel, Value},
    };

    fn call(id: &str, args: &[Value<'static>]) -> String {
        let call = overload(id).and_then(|o| o.call).expect(id);
        call.compute(args, &Fuel::default()).map_or_else(|e| e.to_string(), |v| v.to_string())
    }

    fn s(text: &'static str) -> Value<'static> {
        Value::string(text)
    }

    #[test]
    fn positions_count_code_points() {
        assert_eq!(call("string_char_at_int", &[s("tacoπ"), Value::Int(4)]), "\"π\"");
        assert_eq!(call("string_char_at_int", &[s("π"), Value::Int(1)]), "\"\"");
        assert_eq!(call("string_char_at_int", &[s("π"), Value::Int(2)]), "index out of range: 2");
        assert_eq!(call("string_substring_int_int", &[s("πabc"), Value::Int(1), Value::Int(3)]), "\"ab\"");
        assert_eq!(
            call("string_substring_int_int", &[s("abc"), Value::Int(2), Value::Int(1)]),
            "invalid substring range. start: 2, end: 1"
        );
    }

    #[test]
    fn split_and_replace_equal_go() {
        for (text, separator, limit, parts) in [
            ("a,b,c", ",", -1, r#"["a", "b", "c"]"#),
            ("a,b,c", ",", 2, r#"["a", "b,c"]"#),
            ("a,b", ",", 0, "[]"),
            ("", ",", -1, r#"[""]"#),
            ("", "", -1, "[]"),
            ("aπ", "", -1, r#"["a", "π"]"#),
            ("abc", "", 2, r#"["a", "bc"]"#),
        ] {
            assert_eq!(call("string_split_string_int", &[s(text), s(separator), Value::Int(limit)]), parts);
        }
        let replace =
            |old, new, n| call("string_replace_string_string_int", &[s("abab"), s(old), s(new), Value::Int(n)]);
        assert_eq!(replace("a", "x", 1), "\"xbab\"");
        assert_eq!(replace("", "-", -1), "\"-a-b-a-b-\"");
        assert_eq!(replace("", "-", 2), "\"-a-bab\"");
        assert_eq!(
            call("list_join_string", &[Value::list(vec![s("a"), Value::Int(1)]), s("-")]),
            "join: invalid input: 1"
        );
    }
}
