//! Decodes JSON like the API server (`sigs.k8s.io/json`, a fork of Go's `encoding/json`): int64 and float64 are
//! distinct, the last of duplicate keys is used, the maximum depth is 10,000, and error messages are Go's.
//!
//! The decoder has some peculiarities: invalid UTF-8 and lone surrogates become U+FFFD; a syntax error anywhere takes
//! precedence over other errors; `1e3` is a float although it is integral; `1` with 400 zeros is an error.

pub mod cursor;
pub mod jsontext;
pub mod write;

use super::strict::StrictError;
use super::{Error, ErrorKind, Position, lossy};
use crdx_value::{Map, Value, number, quote};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The maximum nesting depth of arrays and objects.
pub const MAX_DEPTH: usize = 10_000;

/// The maximum number of duplicate keys in a strict error.
const MAX_DUPLICATES: usize = 100;

/// The result of strict decoding.
#[derive(Clone, Debug, PartialEq)]
pub struct Strict {
    /// The value, with the last of duplicate keys.
    pub value: Value,
    /// The repeated fields.
    pub errors: Vec<StrictError>,
}

/// Decodes a JSON text; nothing but white space may follow the value.
pub fn read(text: &[u8]) -> Result<Value, Error> {
    Ok(read_strict(text)?.value)
}

/// Decodes a JSON text and reports duplicate keys.
pub fn read_strict(text: &[u8]) -> Result<Strict, Error> {
    let mut reader = JsonReader::new(text, 0);
    let value = reader.only_value()?;
    reader.finish(value)
}

/// Decodes the JSON of a manifest as the server decodes it after kubectl, which decodes it and writes it again: `1.0`, `1e3`
/// and `-0.0` are sent as the integers `1`, `1000` and `-0`.
///
/// # Errors
/// As for [`read_strict`].
pub(crate) fn read_manifest(text: &[u8]) -> Result<Strict, Error> {
    let mut reader = JsonReader { written_again: true, ..JsonReader::new(text, 0) };
    let value = reader.only_value()?;
    reader.finish(value)
}

/// Decodes a JSON text in which numbers may be out of range: they are null.
///
/// # Errors
/// Returns Go's message for the first syntax error.
pub fn read_with_any_number(text: &[u8]) -> Result<Value, Error> {
    JsonReader::new(text, 0).only_value()
}

/// Checks the syntax of a JSON text (`checkValid` in `encoding/json`). Numbers may be of any size.
///
/// # Errors
/// Returns Go's message for the first syntax error.
pub fn check(text: &[u8]) -> Result<(), Error> {
    JsonReader { syntax_only: true, ..JsonReader::new(text, 0) }.only_value().map(drop)
}

/// An incomplete array or object. They are on an explicit stack, so that deep nesting cannot overflow the call stack.
enum Open {
    Array(Vec<Value>),
    /// The members so far, the key whose value comes next, and the offset of the object.
    Object(Map, String, usize),
}

struct JsonReader<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open>,
    /// The first number out of range, which is reported only if the syntax is valid.
    out_of_range: Option<Error>,
    duplicates: Vec<StrictError>,
    /// The paths of the duplicates.
    seen: BTreeSet<String>,
    /// The repeated keys, with the offsets of their objects.
    repeated: BTreeSet<(usize, String)>,
    /// True to check only the syntax, without building values and finding duplicates.
    syntax_only: bool,
    /// True if a float becomes what Go writes for it, which may be an integer.
    written_again: bool,
    /// True if errors are those of Go 1.27 ([`jsontext`]).
    is_go_1_27: bool,
}

impl<'a> JsonReader<'a> {
    fn new(text: &'a [u8], at: usize) -> Self {
        let (out_of_range, duplicates, seen, repeated) = Default::default();
        let (syntax_only, written_again, is_go_1_27) = (false, false, false);
        let open = Vec::new();
        Self { text, at, open, out_of_range, duplicates, seen, repeated, syntax_only, written_again, is_go_1_27 }
    }

    fn finish(self, value: Value) -> Result<Strict, Error> {
        match self.out_of_range {
            Some(error) => Err(error),
            None => Ok(Strict { value, errors: self.duplicates }),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn error_here(&self, message: impl Into<String>) -> Error {
        Error::new(message, Some(Position::at_offset(self.text, self.at)))
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// The error `invalid character 'x' …` at the current byte.
    fn unexpected(&self, c: u8, context: &str) -> Error {
        if self.is_go_1_27 {
            return self.error_here(jsontext::unexpected(self.rest(self.at), context));
        }
        let quoted = match c {
            b'\'' => "'\\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            // Go quotes the byte rather than the character.
            c => format!("'{}'", quote::go_quote(char::from(c).encode_utf8(&mut [0; 4])).trim_matches('"')),
        };
        self.error_here(format!("invalid character {quoted} {context}"))
    }

    /// Like [`JsonReader::end_or`], inside a token that white space would end: at the end of the text Go checks a space
    /// character before 1.27.
    fn end_in_token(&self, context: &str) -> Error {
        if self.is_go_1_27 {
            return self.end_or(context);
        }
        self.unexpected(self.peek().unwrap_or(b' '), context)
    }

    fn end_or(&self, context: &str) -> Error {
        let Some(c) = self.peek() else {
            let end = Position::at_offset(self.text, self.text.len());
            return Error::new("unexpected end of JSON input", Some(end)).of_kind(ErrorKind::UnexpectedEnd);
        };
        self.unexpected(c, context)
    }

    /// The error for an escape sequence that begins at `start`, and that cannot be read at the current byte.
    fn invalid_escape(&self, start: usize, context: &str) -> Error {
        match jsontext::invalid_escape_sequence(self.rest(start)) {
            Some(message) if self.is_go_1_27 => self.error_here(message),
            _ => self.end_in_token(context),
        }
    }

    /// A value that nothing but white space may follow.
    fn only_value(&mut self) -> Result<Value, Error> {
        let value = self.value()?;
        self.skip_space();
        self.peek().map_or(Ok(value), |c| Err(self.unexpected(c, "after top-level value")))
    }

    fn value(&mut self) -> Result<Value, Error> {
        loop {
            // Reads up to a complete value, opening containers on the way.
            self.skip_space();
            let mut complete = match self.peek() {
                Some(b'{') => {
                    self.push(Open::Object(Map::new(), String::new(), self.at))?;
                    self.skip_space();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                        self.open.pop();
                        Value::Object(Map::new())
                    } else {
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.push(Open::Array(Vec::new()))?;
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                        self.open.pop();
                        Value::Array(Vec::new())
                    } else {
                        continue;
                    }
                }
                Some(b'"') => Value::String(self.string()?),
                Some(b't') => self.literal("true", Value::Bool(true))?,
                Some(b'f') => self.literal("false", Value::Bool(false))?,
                Some(b'n') => self.literal("null", Value::Null)?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => return Err(self.end_or("looking for beginning of value")),
            };
            // Adds the value to its container, and closes the containers that end after it.
            loop {
                match self.open.last_mut() {
                    None => return Ok(complete),
                    Some(Open::Array(items)) => {
                        if !self.syntax_only {
                            items.push(complete);
                        }
                        self.skip_space();
                        match self.peek() {
                            Some(b',') => {
                                self.at += 1;
                                break;
                            }
                            Some(b']') => self.at += 1,
                            _ => return Err(self.end_or("after array element")),
                        }
                    }
                    Some(Open::Object(members, key, _)) => {
                        if !self.syntax_only {
                            members.insert(std::mem::take(key), complete);
                        }
                        self.skip_space();
                        match self.peek() {
                            Some(b',') => {
                                self.at += 1;
                                self.skip_space();
                                self.key()?;
                                break;
                            }
                            Some(b'}') => self.at += 1,
                            _ => return Err(self.end_or("after object key:value pair")),
                        }
                    }
                }
                complete = match self.open.pop() {
                    Some(Open::Array(items)) => Value::Array(items),
                    Some(Open::Object(members, ..)) => Value::Object(members),
                    None => Value::Null,
                };
            }
        }
    }

    fn push(&mut self, container: Open) -> Result<(), Error> {
        if self.open.len() >= MAX_DEPTH {
            const DEPTH: &str = "exceeded max depth";
            return Err(if self.is_go_1_27 { self.error_here(DEPTH) } else { self.end_or(DEPTH) });
        }
        self.at += 1;
        self.open.push(container);
        Ok(())
    }

    /// Reads `"key":` of the innermost object.
    fn key(&mut self) -> Result<(), Error> {
        if self.peek() != Some(b'"') {
            return Err(self.end_or("looking for beginning of object key string"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.end_or("after object key"));
        }
        self.at += 1;
        if self.syntax_only {
            return Ok(());
        }
        if let Some(Open::Object(members, _, offset)) = self.open.last()
            && members.contains_key(&key)
            && self.duplicates.len() < MAX_DUPLICATES
            // A key may be repeated often, and building its path takes long in a deep object.
            && self.repeated.insert((*offset, key.clone()))
        {
            let path = self.path(&key);
            if self.seen.insert(path.clone()) {
                self.duplicates.push(StrictError::DuplicateField(path));
            }
        }
        if let Some(Open::Object(_, current, _)) = self.open.last_mut() {
            *current = key;
        }
        Ok(())
    }

    /// The path of `key` in the open containers: `a.b[2].key`.
    fn path(&self, key: &str) -> String {
        let mut path = String::new();
        let outer = self.open.len().saturating_sub(1);
        for open in self.open.iter().take(outer) {
            match open {
                Open::Array(items) => {
                    let _ = write!(path, "[{}]", items.len());
                }
                Open::Object(_, key, _) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
            }
        }
        if outer > 0 {
            path.push('.');
        }
        path.push_str(key);
        path
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, Error> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.end_in_token(&format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&mut self) -> Result<Value, Error> {
        let start = self.at;
        let mut has_fraction = false;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else if !self.digits() {
            return Err(self.end_in_token("in numeric literal"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            has_fraction = true;
            if !self.digits() {
                return Err(self.end_in_token("after decimal point in numeric literal"));
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if !self.digits() {
                return Err(self.end_in_token("in exponent of numeric literal"));
            }
        }
        if self.syntax_only {
            return Ok(Value::Null);
        }
        let literal = std::str::from_utf8(self.text.get(start..self.at).unwrap_or_default()).unwrap_or_default();
        if !has_fraction && let Ok(int) = literal.parse::<i64>() {
            return Ok(Value::Int(int));
        }
        match literal.parse::<f64>() {
            Ok(float) if float.is_finite() && self.written_again => Ok(number::to_value(float)),
            Ok(float) if float.is_finite() => Ok(Value::Float(float)),
            _ => {
                if self.out_of_range.is_none() {
                    let message = format!("json: cannot unmarshal number {literal} into Go value of type float64");
                    let error = Error::new(message, Some(Position::at_offset(self.text, start)));
                    self.out_of_range = Some(error.of_kind(ErrorKind::NumberOutOfRange));
                }
                Ok(Value::Null)
            }
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    let escape = self.at;
                    self.at += 1;
                    match self.peek() {
                        Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
                        Some(b'u') => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
                                    let context = "in \\u hexadecimal character escape";
                                    return Err(self.invalid_escape(escape, context));
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(self.invalid_escape(escape, "in string escape code")),
                    }
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(self.end_or("in string literal")),
            }
        }
        let body = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        if self.syntax_only {
            return Ok(String::new());
        }
        Ok(match (escaped, std::str::from_utf8(body)) {
            (false, Ok(text)) => text.to_owned(),
            (false, Err(_)) => lossy(body),
            (true, _) => unescape(body),
        })
    }
}

/// Unescapes a string literal whose escape sequences have been validated.
fn unescape(body: &[u8]) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.iter().position(|b| *b == b'\\') {
        let (plain, escape) = rest.split_at(at);
        out.push_str(&lossy(plain));
        rest = escape.get(2..).unwrap_or_default();
        match escape.get(1) {
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'n') => out.push('\n'),
            Some(b'r') => out.push('\r'),
            Some(b't') => out.push('\t'),
            Some(b'u') => {
                let unit = unit(rest);
                rest = rest.get(4..).unwrap_or_default();
                let second = match (unit, rest) {
                    (0xd800..=0xdbff, [b'\\', b'u', low @ ..]) => self::unit(low),
                    _ => 0,
                };
                if (0xdc00..=0xdfff).contains(&second) {
                    rest = rest.get(6..).unwrap_or_default();
                    let code = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                } else {
                    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
            Some(c) => out.push(char::from(*c)),
            None => {}
        }
    }
    out.push_str(&lossy(rest));
    out
}

/// Parses four hexadecimal digits at the start of `text`.
fn unit(text: &[u8]) -> u32 {
    let digits = text.get(..4).and_then(|d| std::str::from_utf8(d).ok());
    digits.and_then(|d| u32::from_str_radix(d, 16).ok()).unwrap_or(0)
}

/// The excerpt of a body in `unrecognized` errors: its first 30 bytes, as text if it begins with `{`, otherwise in
/// hexadecimal.
pub fn summary(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 30;
    if bytes.is_empty() {
        return "<empty>".to_owned();
    }
    let head = bytes.get(..MAX_BYTES).unwrap_or(bytes);
    let mut out = if bytes.first() == Some(&b'{') {
        lossy(head)
    } else {
        head.iter().fold(String::new(), |mut out, b| {
            let _ = write!(out, "{b:02x}");
            out
        })
    };
    if bytes.len() > MAX_BYTES {
        out.push_str(" ...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes long if the path is built for every repetition.
    #[test]
    fn a_key_repeated_deep_in_a_value_is_found_once() {
        let text = format!("{}{{{}}}{}", "{\"b\":".repeat(1000), vec!["\"k\":1"; 50_000].join(","), "}".repeat(1000));
        assert_eq!(read_strict(text.as_bytes()).unwrap().errors.len(), 1);
    }

    fn error(text: &[u8]) -> String {
        let e = read(text).unwrap_err();
        e.position.map_or(e.message.clone(), |p| format!("{p} {}", e.message))
    }

    #[test]
    fn numbers_stay_int64_or_float64() {
        let got = read(b"[1, -0, 1.0, 1e3, 9223372036854775807, 9223372036854775808, -9.5E-1]").unwrap();
        let want = [
            Value::Int(1),
            Value::Int(0),
            Value::Float(1.0),
            Value::Float(1000.0),
            Value::Int(i64::MAX),
            Value::Float(9_223_372_036_854_775_808.0),
            Value::Float(-0.95),
        ];
        assert_eq!(got, Value::Array(want.to_vec()));
    }

    #[test]
    fn strings_are_repaired_as_in_go() {
        let got = read(b"[\"\\ud83d\\ude00\\ud800x\\udc00\\u00e9\\/\", \"a\\n\xff\xed\xa0\x80\"]").unwrap();
        assert_eq!(
            got,
            Value::Array(vec!["😀\u{fffd}x\u{fffd}é/".into(), "a\n\u{fffd}\u{fffd}\u{fffd}\u{fffd}".into()])
        );
        // After a high surrogate, an escape sequence that is not its pair is decoded separately.
        assert_eq!(read(br#""\ud800\u0041\ud800\ud83d\ude00""#).unwrap(), "\u{fffd}A\u{fffd}😀".into());
    }

    #[test]
    fn duplicates_have_the_servers_paths() {
        let got = read_strict(br#"{"a":[{"b":1,"b":2,"b":3}],"a":3,"c":{"a b":1,"a b":2}}"#).unwrap();
        let texts: Vec<String> = got.errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["duplicate field \"a[0].b\"", "duplicate field \"a\"", "duplicate field \"c.a b\""]);
        assert_eq!(got.value.get("a"), Some(&Value::Int(3)));
    }

    #[test]
    fn error_messages_are_gos() {
        for (text, want) in [
            (&b"{\"a\": x}"[..], "1:7 invalid character 'x' looking for beginning of value"),
            (b"{\n\"a\" 1}", "2:5 invalid character '1' after object key"),
            (b"{\"a\":1 \"", "1:8 invalid character '\"' after object key:value pair"),
            (b"{a", "1:2 invalid character 'a' looking for beginning of object key string"),
            (b"{\"a\":1,}", "1:8 invalid character '}' looking for beginning of object key string"),
            (b"[1 2]", "1:4 invalid character '2' after array element"),
            (b"[1,]", "1:4 invalid character ']' looking for beginning of value"),
            (b"{} {}", "1:4 invalid character '{' after top-level value"),
            (b"\xc3\xa9", "1:1 invalid character '\u{c3}' looking for beginning of value"),
            (b"\"\\q\"", "1:3 invalid character 'q' in string escape code"),
            (b"\"\n\"", "1:2 invalid character '\\n' in string literal"),
            (b"\"\\u12g", "1:6 invalid character 'g' in \\u hexadecimal character escape"),
            (b"-x", "1:2 invalid character 'x' in numeric literal"),
            (b"01", "1:2 invalid character '1' after top-level value"),
            (b"1.x", "1:3 invalid character 'x' after decimal point in numeric literal"),
            (b"1ex", "1:3 invalid character 'x' in exponent of numeric literal"),
            (b"trxe", "1:3 invalid character 'x' in literal true (expecting 'u')"),
            (b"'", "1:1 invalid character '\\'' looking for beginning of value"),
            (b"", "1:1 unexpected end of JSON input"),
            (b"[tr", "1:4 invalid character ' ' in literal true (expecting 'u')"),
            (b"\"\\", "1:3 invalid character ' ' in string escape code"),
            (b"\"\\u12", "1:6 invalid character ' ' in \\u hexadecimal character escape"),
            (b"-", "1:2 invalid character ' ' in numeric literal"),
            (b"1.", "1:3 invalid character ' ' after decimal point in numeric literal"),
            (b"1e+", "1:4 invalid character ' ' in exponent of numeric literal"),
            (b"\"a", "1:3 unexpected end of JSON input"),
            (b"{\"a\":", "1:6 unexpected end of JSON input"),
            (b"[1e400]", "1:2 json: cannot unmarshal number 1e400 into Go value of type float64"),
            (b"[1e400", "1:7 unexpected end of JSON input"),
        ] {
            assert_eq!(error(text), want, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn depth_is_limited() {
        let deep = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
        assert_eq!(error(&deep(10_001)), "1:10001 invalid character '[' exceeded max depth");
        let worker = std::thread::Builder::new().stack_size(64 << 20);
        worker.spawn(move || assert!(read(&deep(10_000)).is_ok())).unwrap().join().unwrap();
    }

    #[test]
    fn summaries_are_short() {
        assert_eq!(summary(b""), "<empty>");
        assert_eq!(summary(b"[1]"), "5b315d");
        assert_eq!(summary(b"{\"a\": 1}"), "{\"a\": 1}");
        assert_eq!(summary(&[b'{'; 40]), format!("{} ...", "{".repeat(30)));
    }
}
