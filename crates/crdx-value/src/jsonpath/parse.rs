//! Parses templates: text and `{…}` with paths, constants and the words `range` and `end`.
//!
//! The parser is as lenient as client-go's: the parts of an action need no separator, a quoted key in brackets ends at
//! the first `]` regardless of quotes, and `['a.b[0]']` is parsed as the path `.a.b[0]`.

use super::node::{JsonPathNode, Param};
use crate::GoError;
use crate::unicode::{is_digit, is_letter};
use crate::{Value, quote};

/// The maximum nesting of filters and unions, which are parsed recursively.
const MAX_NESTING: u32 = 100;

/// Parses a template into text and actions.
pub fn parse(template: &str) -> Result<Vec<JsonPathNode>, GoError> {
    parse_nested(template, 0)
}

fn parse_nested(template: &str, nesting: u32) -> Result<Vec<JsonPathNode>, GoError> {
    if nesting > MAX_NESTING {
        return Err("expression nests too deeply".into());
    }
    let mut parser = Parser { input: template, at: 0, nesting };
    let mut root = Vec::new();
    while let Some(open) = parser.rest().find('{') {
        let text = parser.take(open);
        if !text.is_empty() {
            root.push(JsonPathNode::Text(Value::from(text)));
        }
        parser.at += 1;
        let mut action = Vec::new();
        parser.action(&mut action)?;
        root.push(JsonPathNode::List(action));
    }
    if !parser.rest().is_empty() {
        root.push(JsonPathNode::Text(Value::from(parser.rest())));
    }
    Ok(root)
}

/// Parses an expression given without braces.
fn parse_action(expression: &str, nesting: u32) -> Result<Vec<JsonPathNode>, GoError> {
    match parse_nested(&format!("{{{expression}}}"), nesting + 1)?.into_iter().next() {
        Some(JsonPathNode::List(nodes)) => Ok(nodes),
        _ => Ok(Vec::new()),
    }
}

struct Parser<'a> {
    input: &'a str,
    at: usize,
    nesting: u32,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.input.get(self.at..).unwrap_or("")
    }

    /// Consumes the next `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let text = self.input.get(self.at..self.at + length).unwrap_or("");
        self.at += length;
        text
    }

    fn take_while(&mut self, go_on: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|c| !go_on(c)).unwrap_or(rest.len()))
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Parses an action up to and including the closing brace.
    fn action(&mut self, out: &mut Vec<JsonPathNode>) -> Result<(), GoError> {
        loop {
            let rest = self.rest();
            if rest.starts_with("[?(") {
                self.filter(out)?;
                continue;
            }
            if rest.starts_with("..") {
                self.recursive(out)?;
                continue;
            }
            match self.peek() {
                None | Some('\r' | '\n') => return Err("unclosed action".into()),
                Some('}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(' ' | '@' | '$') => self.at += 1,
                Some('[') => self.array(out)?,
                Some(quote @ ('"' | '\'')) => self.quoted(out, quote)?,
                Some('.') => {
                    self.at += 1;
                    self.field(out);
                }
                Some(c) if matches!(c, '+' | '-') || is_digit(c) => self.number(out)?,
                Some(c) if c == '_' || is_letter(c) => {
                    out.push(match self.take_while(|c| !is_terminator(c)) {
                        "true" => JsonPathNode::Bool(Value::Bool(true)),
                        "false" => JsonPathNode::Bool(Value::Bool(false)),
                        name => JsonPathNode::Identifier(name.to_owned()),
                    });
                }
                Some(c) => return Err(format!("unrecognized character in action: {}", code_point(c)).into()),
            }
        }
    }

    fn recursive(&mut self, out: &mut Vec<JsonPathNode>) -> Result<(), GoError> {
        if let Some(JsonPathNode::Recursive) = out.last() {
            return Err("invalid multiple recursive descent".into());
        }
        self.at += 2;
        out.push(JsonPathNode::Recursive);
        if self.peek().is_some_and(|c| c == '_' || is_letter(c) || is_digit(c)) {
            self.field(out);
        }
        Ok(())
    }

    /// Parses a key after its dot. A backslash escapes the next character.
    fn field(&mut self, out: &mut Vec<JsonPathNode>) {
        let start = self.at;
        while let Some(c) = self.peek() {
            if c == '\\' {
                self.next();
            } else if is_terminator(c) {
                break;
            }
            self.next();
        }
        let name = self.input.get(start..self.at).unwrap_or("");
        out.push(if name == "*" { JsonPathNode::Wildcard } else { JsonPathNode::Field(name.replace('\\', "")) });
    }

    fn number(&mut self, out: &mut Vec<JsonPathNode>) -> Result<(), GoError> {
        let start = self.at;
        if let Some('+' | '-') = self.peek() {
            self.at += 1;
        }
        self.take_while(|c| c == '.' || is_digit(c));
        let text = self.input.get(start..self.at).unwrap_or("");
        if let Ok(i) = text.parse::<i64>() {
            out.push(JsonPathNode::Int(i));
            return Ok(());
        }
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => {
                out.push(JsonPathNode::Float(Value::Float(x)));
                Ok(())
            }
            _ => Err(format!("cannot parse number {text}").into()),
        }
    }

    /// Parses `[…]`: a union, a quoted key, an index or a slice.
    fn array(&mut self, out: &mut Vec<JsonPathNode>) -> Result<(), GoError> {
        let text = match self.rest().find([']', '\n']) {
            Some(end) if self.rest().as_bytes().get(end) == Some(&b']') => self.take(end + 1),
            _ => return Err("unterminated array".into()),
        };
        let text = text.get(1..text.len() - 1).unwrap_or("");
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            let parts =
                text.split(',').map(|part| parse_action(&format!("[{}]", part.trim_matches(' ')), self.nesting));
            out.push(JsonPathNode::Union(parts.collect::<Result<_, _>>()?));
            return Ok(());
        }
        if let Some(key) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''))
            && !key.contains('\'')
        {
            out.extend(parse_action(&format!(".{key}"), self.nesting)?);
            return Ok(());
        }
        let mut parts = text.splitn(4, ':');
        let texts = [parts.next(), parts.next(), parts.next()];
        if parts.next().is_some() || !texts.iter().flatten().all(|t| is_index(t)) {
            return Err(format!("invalid array index {text}").into());
        }
        out.push(JsonPathNode::Array(params(texts)?));
        Ok(())
    }

    /// Parses `[?(…)]`; one quoted string in it may contain parentheses.
    fn filter(&mut self, out: &mut Vec<JsonPathNode>) -> Result<(), GoError> {
        self.at += 3;
        let start = self.at;
        let mut quote = None;
        let mut closed = false;
        let mut previous = '(';
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated filter".into()),
                Some(c @ ('"' | '\'')) => {
                    match quote {
                        None => quote = Some(c),
                        Some(quote) if previous != '\\' && c == quote => closed = true,
                        Some(_) => {}
                    }
                    previous = c;
                }
                Some(')') if quote.is_some() == closed => break,
                Some(c) => previous = c,
            }
        }
        let text = self.input.get(start..self.at - 1).unwrap_or("");
        if self.next() != Some(']') {
            return Err("unclosed array expect ]".into());
        }
        let node = match operator(text) {
            None => JsonPathNode::Exists(parse_action(text, self.nesting)?),
            Some((left, operator, right)) => JsonPathNode::Compare {
                left: parse_action(left, self.nesting)?,
                operator: operator.to_owned(),
                right: parse_action(right, self.nesting)?,
            },
        };
        out.push(node);
        Ok(())
    }

    fn quoted(&mut self, out: &mut Vec<JsonPathNode>, quote: char) -> Result<(), GoError> {
        let start = self.at;
        self.at += 1;
        let mut previous = quote;
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated quoted string".into()),
                Some(c) if c == quote && previous != '\\' => break,
                Some(c) => previous = c,
            }
        }
        let text = self.input.get(start..self.at).unwrap_or("");
        let inner = text.get(1..text.len() - 1).unwrap_or("");
        let Some(value) = unquote(inner, quote) else {
            return Err(format!("unquote string {text} error invalid syntax").into());
        };
        out.push(JsonPathNode::Text(Value::String(value)));
        Ok(())
    }
}

/// Formats a character like Go's `%#U`.
fn code_point(c: char) -> String {
    let code = c as u32;
    if quote::is_print(c) { format!("U+{code:04X} '{c}'") } else { format!("U+{code:04X}") }
}

/// Returns true if a character ends a key or word.
fn is_terminator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// Returns true for an optional minus sign followed by any number of digits.
fn is_index(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).bytes().all(|b| b.is_ascii_digit())
}

fn params(texts: [Option<&str>; 3]) -> Result<[Param; 3], GoError> {
    let mut params = [Param::default(); 3];
    for (param, text) in params.iter_mut().zip(texts) {
        let Some(text) = text.filter(|t| !t.is_empty()) else { continue };
        param.known = true;
        param.value = match text.parse() {
            Ok(value) => value,
            // A lone `-`, or a number out of range.
            Err(_) => return Err(format!("array index {text} is not a number").into()),
        };
    }
    // Without a colon, the end is derived from the start.
    let [start, end, _] = &mut params;
    if texts.get(1).is_some_and(Option::is_none) {
        *end = Param { value: start.value.wrapping_add(1), known: true, derived: true };
    }
    Ok(params)
}

/// Splits a comparison into the left side, the operator (the first sequence of `!<>=`) and the right side, which is
/// never empty.
fn operator(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let start = text.find(is_operator).filter(|start| *start > 0)?;
    let (left, rest) = text.split_at_checked(start)?;
    let mut end = rest.find(|c| !is_operator(c)).unwrap_or(rest.len());
    if end == rest.len() {
        end -= 1;
    }
    let (operator, right) = rest.split_at_checked(end)?;
    (!operator.is_empty()).then_some((left, operator, right))
}

/// Resolves Go's escape sequences, also in single quotes; `None` for an unknown escape sequence.
fn unquote(text: &str, quote: char) -> Option<String> {
    if !text.contains('\\') && !text.contains(quote) {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            return None;
        }
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match chars.next()? {
            'a' => out.push(0x7),
            'b' => out.push(0x8),
            'f' => out.push(0xC),
            'n' => out.push(0xA),
            'r' => out.push(0xD),
            't' => out.push(0x9),
            'v' => out.push(0xB),
            '\\' => out.push(b'\\'),
            c if c == quote => out.push(c as u8),
            'x' => out.push(u8::try_from(digits(&mut chars, 2, 16, 0)?).ok()?),
            c @ '0'..='7' => out.push(u8::try_from(digits(&mut chars, 2, 8, c.to_digit(8)?)?).ok()?),
            c @ ('u' | 'U') => {
                let c = char::from_u32(digits(&mut chars, if c == 'u' { 4 } else { 8 }, 16, 0)?)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return None,
        }
    }
    Some(String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Parses `count` digits, starting with the value `start`.
fn digits(chars: &mut std::str::Chars<'_>, count: usize, radix: u32, start: u32) -> Option<u32> {
    (0..count).try_fold(start, |value, _| Some(value.checked_mul(radix)? + chars.next()?.to_digit(radix)?))
}
