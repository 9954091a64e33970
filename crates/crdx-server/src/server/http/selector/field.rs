//! Field selectors: `a=b,c!=d`, with `\` before `,`, `=` and `\` in values (`k8s.io/apimachinery/pkg/fields/selector.go`).

use crdx_value::GoError;

/// A parsed field selector.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq)]
struct Term {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Parses a selector.
    ///
    /// # Errors
    /// Returns the server's error message.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        let mut parts = split_terms(text);
        parts.sort_unstable();
        let mut terms = Vec::new();
        for part in parts {
            if part.is_empty() {
                continue;
            }
            let Some((field, equal, raw)) = split_term(part) else {
                return Err(format!("invalid selector: '{text}'; can't understand '{part}'").into());
            };
            let value = unescape_value(raw)?;
            // A lone `=` selects everything.
            if !field.is_empty() || !value.is_empty() {
                terms.push(Term { field: field.to_owned(), value, equal });
            }
        }
        Ok(Self { terms })
    }

    /// The selector `metadata.name=name`.
    pub fn name(name: &str) -> Self {
        Self { terms: vec![Term { field: "metadata.name".to_owned(), value: name.to_owned(), equal: true }] }
    }

    /// Returns true if the selector is empty.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The fields of the selector, in the order in which the server checks them.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|t| t.field.as_str())
    }

    /// The value that the selector requires for `field`, if any.
    pub(crate) fn required_value(&self, field: &str) -> Option<&str> {
        self.terms.iter().find(|t| t.equal && t.field == field).map(|t| t.value.as_str())
    }

    /// Returns true if the selector selects an object; `value_of` returns the values of its fields.
    pub fn matches<'a>(&self, value_of: impl Fn(&str) -> std::borrow::Cow<'a, str>) -> bool {
        self.terms.iter().all(|t| (value_of(&t.field) == t.value) == t.equal)
    }
}

fn split_terms(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut escaped = false;
    let mut at = 0;
    for c in text.chars() {
        let here = at;
        at += c.len_utf8();
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                let consumed = text.len() - rest.len();
                if let Some((term, _)) = rest.split_at_checked(here - consumed) {
                    out.push(term);
                }
                rest = text.get(at..).unwrap_or_default();
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        out.push(rest);
    }
    out
}

fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    for (i, c) in term.char_indices() {
        let (left, right) = term.split_at_checked(i)?;
        if let Some(value) = right.strip_prefix("!=") {
            return Some((left, false, value));
        }
        if c == '=' {
            return Some((left, true, right.strip_prefix("==").or_else(|| right.strip_prefix('='))?));
        }
    }
    None
}

fn unescape_value(text: &str) -> Result<String, GoError> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('\\' | ',' | '=')) => out.push(next),
                Some(next) => return Err(format!("invalid field selector: invalid escape sequence: \\{next}").into()),
                None => return Err("invalid field selector: invalid escape sequence: \\".into()),
            },
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {}", c as u32).into());
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn terms_are_split_escaped_and_matched() {
        let s = FieldSelector::parse("b==x\\,y,a!=1,").unwrap();
        assert_eq!(s.fields().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(s.required_value("b"), Some("x,y"));
        assert!(s.matches(|f| Cow::Borrowed(if f == "b" { "x,y" } else { "2" })));
        assert!(!s.matches(|_| Cow::Borrowed("1")));
    }

    #[test]
    fn errors_are_the_servers() {
        assert_eq!(FieldSelector::parse("a").unwrap_err().as_str(), "invalid selector: 'a'; can't understand 'a'");
        assert_eq!(
            FieldSelector::parse("a=b=c").unwrap_err().as_str(),
            "invalid field selector: unescaped character in value: 61"
        );
        assert_eq!(
            FieldSelector::parse("a=\\x").unwrap_err().as_str(),
            "invalid field selector: invalid escape sequence: \\x"
        );
    }
}
