//! `indexOf` and `lastIndexOf` of strings (`ext/strings.go` of cel-go). Positions count code points.

use super::{CallCost, Overload};
use crate::value::{Error, Value};
use crdx_value::release::{Minor, V1_32, V1_34, V1_37};

const NO_START: &str = "(string, string) -> int";
const WITH_START: &str = "(string, string, int) -> int";

macro_rules! rows {
    ($($since:literal before $until:expr),*) => {
        &[$(
            row("indexOf", "string_index_of_string", NO_START, index_of::<$since>, $since, $until),
            row("indexOf", "string_index_of_string_int", WITH_START, index_of::<$since>, $since, $until),
            row("lastIndexOf", "string_last_index_of_string", NO_START, last_index_of::<$since>, $since, $until),
            row("lastIndexOf", "string_last_index_of_string_int", WITH_START, last_index_of::<$since>, $since, $until),
        )*]
    };
}

pub(crate) const FUNCTIONS: &[Overload] =
    rows![0 before V1_32, 32 before V1_34, 34 before V1_37, 37 before Minor::NEVER];

const fn row(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    call: super::Function,
    since: u16,
    until: Minor,
) -> Overload {
    Overload::member(function, id, signature, CallCost::Walk, call).from_server(Minor(since)).until_server(until)
}

pub(super) fn out_of_range(index: i64) -> Error {
    Error::new(format!("index out of range: {index}"))
}

/// The byte offset of the code point at `index`; `index` may also be the length.
pub(super) fn offset(text: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).ok()?;
    if text.is_ascii() {
        return (index <= text.len()).then_some(index);
    }
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(index)
}

fn count(text: &str) -> i64 {
    text.chars().count() as i64
}

/// The cases common to both directions on a server of version `SINCE`: the index of an empty substring, and a start
/// position past the end.
fn trivial<const SINCE: u16>(text: &str, part: &str, from: i64) -> Result<Option<i64>, Error> {
    let length = count(text);
    if Minor(SINCE) < V1_37 && part.is_empty() {
        return Ok(Some(from));
    }
    if from < 0 || Minor(SINCE) < V1_32 && from >= length {
        return Err(out_of_range(from));
    }
    if part.is_empty() {
        return Ok(Some(from.min(length)));
    }
    Ok((from >= length).then_some(-1))
}

fn index_of<'a, const SINCE: u16>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let (text, part, from) = match args {
        [Value::String(text), Value::String(part)] => (text, part, 0),
        [Value::String(text), Value::String(part), Value::Int(from)] => (text, part, *from),
        _ => return Err(Error::no_such_overload()),
    };
    if let Some(found) = trivial::<SINCE>(text, part, from)? {
        return Ok(Value::Int(found));
    }
    let start = offset(text, from).unwrap_or(text.len());
    let found = text.get(start..).and_then(|rest| rest.find(&**part)).and_then(|at| text.get(..start + at));
    Ok(Value::Int(found.map_or(-1, count)))
}

fn last_index_of<'a, const SINCE: u16>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let (text, part, from) = match args {
        [Value::String(text), Value::String(part)] if part.is_empty() => return Ok(Value::Int(count(text))),
        [Value::String(text), Value::String(part)] if Minor(SINCE) >= V1_34 && text.len() < part.len() => {
            return Ok(Value::Int(-1));
        }
        [Value::String(text), Value::String(part)] => (text, part, count(text) - 1),
        [Value::String(text), Value::String(part), Value::Int(from)] => (text, part, *from),
        _ => return Err(Error::no_such_overload()),
    };
    if let Some(found) = trivial::<SINCE>(text, part, from)? {
        return Ok(Value::Int(found));
    }
    // A match that starts at or before `from` ends at most `part.len()` bytes after it. This offset may be within a
    // code point.
    let end = (offset(text, from).unwrap_or(text.len()) + part.len()).min(text.len());
    let end = (0..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let found = text.get(..end).and_then(|head| head.rfind(&**part));
    Ok(Value::Int(found.and_then(|at| text.get(..at)).map_or(-1, count)))
}

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;
    use crate::value::{Fuel, Value};
    use crdx_value::release::Minor;

    fn on(server: u16, id: &str, args: &[Value<'static>]) -> String {
        let row = FUNCTIONS.iter().find(|row| row.id == id && row.is_of(Minor(server), Minor(server)));
        let call = row.and_then(|row| row.call).expect(id);
        call.compute(args, &Fuel::default()).map_or_else(|e| e.to_string(), |v| v.to_string())
    }

    fn call(id: &str, args: &[Value<'static>]) -> String {
        on(37, id, args)
    }

    fn s(text: &'static str) -> Value<'static> {
        Value::string(text)
    }

    #[test]
    fn positions_count_code_points() {
        assert_eq!(call("string_index_of_string", &[s("ππa"), s("a")]), "2");
        assert_eq!(call("string_index_of_string_int", &[s("aba"), s("a"), Value::Int(1)]), "2");
        assert_eq!(call("string_index_of_string_int", &[s("aba"), s(""), Value::Int(9)]), "3");
        assert_eq!(call("string_index_of_string_int", &[s("aba"), s("a"), Value::Int(-1)]), "index out of range: -1");
        assert_eq!(call("string_last_index_of_string", &[s("πaπa"), s("πa")]), "2");
        assert_eq!(call("string_last_index_of_string_int", &[s("πaπa"), s("πa"), Value::Int(1)]), "0");
        assert_eq!(call("string_last_index_of_string_int", &[s("abab"), s("ab"), Value::Int(2)]), "2");
        assert_eq!(call("string_last_index_of_string_int", &[s("ab"), s("abc"), Value::Int(1)]), "-1");
        assert_eq!(call("string_last_index_of_string_int", &[s("ta©o©αT"), s("©"), Value::Int(3)]), "2");
        assert_eq!(call("string_last_index_of_string_int", &[s("aaa"), s("aa"), Value::Int(0)]), "0");
    }

    #[test]
    fn the_end_is_treated_by_version() {
        let past = [s("aba"), s("a"), Value::Int(9)];
        assert_eq!(on(31, "string_index_of_string_int", &past), "index out of range: 9");
        assert_eq!(on(32, "string_index_of_string_int", &past), "-1");
        let empty = [s("aba"), s(""), Value::Int(9)];
        assert_eq!(on(36, "string_index_of_string_int", &empty), "9");
        assert_eq!(on(33, "string_last_index_of_string", &[s(""), s("a")]), "index out of range: -1");
        assert_eq!(on(34, "string_last_index_of_string", &[s(""), s("a")]), "-1");
    }
}
