//! Label selectors: `a=b,c in (d,e),!f` (`k8s.io/apimachinery/pkg/labels/selector.go`).

use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath, ROOT, names};
use crdx_value::release::Release;
use crdx_value::sort::sort_by;
use std::collections::BTreeSet;

/// A parsed label selector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    GreaterThan,
    LessThan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Error,
    End,
    Close,
    Comma,
    Not,
    Equals,
    Greater,
    Identifier,
    In,
    Less,
    NotEquals,
    NotIn,
    Open,
}

impl LabelSelector {
    /// Parses a selector.
    ///
    /// # Errors
    /// Returns the server's error message.
    pub fn parse(text: &str, release: Release) -> Result<Self, GoError> {
        let mut parser = SelectorParser { tokens: scan(text), position: 0, release };
        let mut requirements = parser.parse()?;
        sort_by(&mut requirements, |a, b| a.key.cmp(&b.key));
        Ok(Self { requirements })
    }

    /// Returns true if the selector is empty.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns true if the selector selects an object by its labels.
    pub fn selects(&self, object: &Value) -> bool {
        self.requirements.is_empty() || self.matches(|key| object.str_at(&["metadata", "labels", key]))
    }

    /// Returns true if the selector selects an object with these labels.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|r| r.matches(label(&r.key)))
    }
}

impl Requirement {
    fn matches(&self, value: Option<&str>) -> bool {
        let ordered = |wanted: fn(i64, i64) -> bool| {
            let number = |text: &str| parse_int(text);
            match (value.and_then(number), self.values.first().and_then(|v| number(v))) {
                (Some(have), Some(limit)) => wanted(have, limit),
                _ => false,
            }
        };
        match self.operator {
            Operator::In => value.is_some_and(|v| self.values.contains(v)),
            Operator::NotIn => value.is_none_or(|v| !self.values.contains(v)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => ordered(|have, limit| have > limit),
            Operator::LessThan => ordered(|have, limit| have < limit),
        }
    }
}

/// `strconv.ParseInt(s, 10, 64)`
fn parse_int(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn is_symbol(b: char) -> bool {
    matches!(b, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

fn is_blank(b: char) -> bool {
    matches!(b, ' ' | '\t' | '\r' | '\n')
}

/// Splits a selector into tokens and their texts; the last token is [`Token::End`]. As in the server's lexer, a NUL
/// character ends the current token; at the start of a token it ends the input.
fn scan(text: &str) -> Vec<(Token, String)> {
    let mut out = Vec::new();
    let mut rest = text.trim_start_matches(is_blank);
    while let Some(first) = rest.chars().next().filter(|first| *first != '\0') {
        let (token, length) = if is_symbol(first) { scan_symbol(rest) } else { scan_word(rest) };
        let (literal, tail) = rest.split_at_checked(length.max(1)).unwrap_or((rest, ""));
        if token == Token::Error {
            out.push((token, format!("error expected: keyword found '{literal}'")));
        } else {
            out.push((token, literal.to_owned()));
        }
        rest = tail.strip_prefix('\0').unwrap_or(tail).trim_start_matches(is_blank);
    }
    out.push((Token::End, String::new()));
    out
}

fn scan_word(rest: &str) -> (Token, usize) {
    let length = rest.find(|c| is_symbol(c) || is_blank(c) || c == '\0').unwrap_or(rest.len());
    let token = match rest.get(..length) {
        Some("in") => Token::In,
        Some("notin") => Token::NotIn,
        _ => Token::Identifier,
    };
    (token, length)
}

/// Every single symbol is a token, so at most two symbols are combined.
fn scan_symbol(rest: &str) -> (Token, usize) {
    for (text, token) in [("==", Token::Equals), ("!=", Token::NotEquals)] {
        if rest.starts_with(text) {
            return (token, 2);
        }
    }
    let token = match rest.chars().next() {
        Some(')') => Token::Close,
        Some(',') => Token::Comma,
        Some('!') => Token::Not,
        Some('=') => Token::Equals,
        Some('>') => Token::Greater,
        Some('<') => Token::Less,
        Some('(') => Token::Open,
        _ => Token::Error,
    };
    (token, 1)
}

struct SelectorParser {
    release: Release,
    tokens: Vec<(Token, String)>,
    position: usize,
}

impl SelectorParser {
    /// Returns the next token without consuming it. If values are expected, `in` and `notin` are identifiers.
    fn ahead(&self, values: bool) -> (Token, String) {
        let (token, literal) = self.tokens.get(self.position).cloned().unwrap_or((Token::End, String::new()));
        (if values && matches!(token, Token::In | Token::NotIn) { Token::Identifier } else { token }, literal)
    }

    fn consume(&mut self, values: bool) -> (Token, String) {
        let out = self.ahead(values);
        self.position += 1;
        out
    }

    fn parse(&mut self) -> Result<Vec<Requirement>, GoError> {
        let mut out = Vec::new();
        loop {
            let (token, literal) = self.ahead(true);
            match token {
                Token::Identifier | Token::Not => {
                    out.push(
                        self.requirement().map_err(|e| GoError::from(format!("unable to parse requirement: {e}")))?,
                    );
                    let (token, literal) = self.consume(true);
                    match token {
                        Token::End => return Ok(out),
                        Token::Comma => {
                            let (next, literal) = self.ahead(true);
                            if !matches!(next, Token::Identifier | Token::Not) {
                                return Err(format!("found '{literal}', expected: identifier after ','").into());
                            }
                        }
                        _ => return Err(format!("found '{literal}', expected: ',' or 'end of string'").into()),
                    }
                }
                Token::End => return Ok(out),
                _ => return Err(format!("found '{literal}', expected: !, identifier, or 'end of string'").into()),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, GoError> {
        let (mut token, mut key) = self.consume(true);
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.consume(true);
        }
        if token != Token::Identifier {
            return Err(format!("found '{key}', expected: identifier").into());
        }
        if let Some(error) = check_key(&key, &ROOT, self.release) {
            return Err(error.to_string().into());
        }
        if negated {
            return new_requirement(key, Operator::DoesNotExist, BTreeSet::new(), self.release);
        }
        if matches!(self.ahead(true).0, Token::End | Token::Comma) {
            return new_requirement(key, Operator::Exists, BTreeSet::new(), self.release);
        }
        let (token, literal) = self.consume(false);
        let (operator, set) = match token {
            Token::In => (Operator::In, true),
            Token::NotIn => (Operator::NotIn, true),
            Token::Equals => (Operator::In, false),
            Token::NotEquals => (Operator::NotIn, false),
            Token::Greater => (Operator::GreaterThan, false),
            Token::Less => (Operator::LessThan, false),
            _ => return Err(format!("found '{literal}', expected: in, notin, =, ==, !=, gt, lt").into()),
        };
        let values = if set { self.values()? } else { self.exact_value()? };
        new_requirement(key, operator, values, self.release)
    }

    fn values(&mut self) -> Result<BTreeSet<String>, GoError> {
        let (token, literal) = self.consume(true);
        if token != Token::Open {
            return Err(format!("found '{literal}' expected: '('").into());
        }
        let (token, literal) = self.ahead(true);
        match token {
            Token::Identifier | Token::Comma => {
                let values = self.identifiers()?;
                if self.consume(true).0 != Token::Close {
                    return Err(format!("found '{literal}', expected: ')'").into());
                }
                Ok(values)
            }
            Token::Close => {
                self.consume(true);
                Ok(BTreeSet::from([String::new()]))
            }
            _ => Err(format!("found '{literal}', expected: ',', ')' or identifier").into()),
        }
    }

    fn identifiers(&mut self) -> Result<BTreeSet<String>, GoError> {
        let mut out = BTreeSet::new();
        loop {
            let (token, literal) = self.consume(true);
            match token {
                Token::Identifier => {
                    out.insert(literal);
                    let (next, literal) = self.ahead(true);
                    match next {
                        Token::Comma => {}
                        Token::Close => return Ok(out),
                        _ => return Err(format!("found '{literal}', expected: ',' or ')'").into()),
                    }
                }
                Token::Comma => {
                    if out.is_empty() {
                        out.insert(String::new());
                    }
                    match self.ahead(true).0 {
                        Token::Close => {
                            out.insert(String::new());
                            return Ok(out);
                        }
                        Token::Comma => {
                            out.insert(String::new());
                        }
                        _ => {}
                    }
                }
                _ => return Err(format!("found '{literal}', expected: ',', or identifier").into()),
            }
        }
    }

    fn exact_value(&mut self) -> Result<BTreeSet<String>, GoError> {
        if matches!(self.ahead(true).0, Token::End | Token::Comma) {
            return Ok(BTreeSet::from([String::new()]));
        }
        let (token, literal) = self.consume(true);
        if token == Token::Identifier {
            return Ok(BTreeSet::from([literal]));
        }
        Err(format!("found '{literal}', expected: identifier").into())
    }
}

fn new_requirement(
    key: String,
    operator: Operator,
    values: BTreeSet<String>,
    release: Release,
) -> Result<Requirement, GoError> {
    let path = FieldPath::new("values");
    let mut errors = Vec::new();
    errors.extend(check_key(&key, &FieldPath::new("key"), release));
    if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
        for (i, value) in values.iter().enumerate() {
            if parse_int(value).is_none() {
                let text = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push(FieldError::invalid(&path.index(i), value.as_str(), text));
            }
        }
    }
    for (i, value) in values.iter().enumerate() {
        let problems = names::label_value(value, release);
        if !problems.is_empty() {
            errors.push(FieldError::invalid(&path.index(i).key(&key), value.as_str(), problems.join("; ")));
        }
    }
    match crate::server::http::status::aggregate(&errors) {
        Some(text) => Err(text.into()),
        None => Ok(Requirement { key, operator, values }),
    }
}

fn check_key(key: &str, path: &FieldPath<'_>, release: Release) -> Option<FieldError> {
    let problems = names::qualified_name(key, release);
    (!problems.is_empty()).then(|| FieldError::invalid(path, key, problems.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let find = |key: &str| labels.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        LabelSelector::parse(selector, Release::NEWEST).unwrap().matches(find)
    }

    #[test]
    fn operators_select() {
        let labels = [("a", "1"), ("b", "x")];
        for yes in ["", "a", "a=1", "a==1", "a!=2", "a in (1,2)", "c notin (1)", "!c", "a>0", "a<2,b=x", "in!=a"] {
            assert!(selects(yes, &labels), "{yes}");
        }
        for no in ["c", "a=2", "a!=1", "a in ()", "a notin (1)", "!a", "a>1", "b>0"] {
            assert!(!selects(no, &labels), "{no}");
        }
    }

    #[test]
    fn errors_are_the_servers() {
        for (text, error) in [
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"),
            ("(", "found '(', expected: !, identifier, or 'end of string'"),
            ("a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("a ! b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"),
            (
                "a>x",
                "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
            ),
        ] {
            assert_eq!(LabelSelector::parse(text, Release::NEWEST).unwrap_err(), error.into());
        }
        let error = LabelSelector::parse("-a", Release::NEWEST).unwrap_err();
        assert!(
            error
                .as_str()
                .starts_with("unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of"),
            "{error}"
        );
    }
}
