//! Resolves the simple paths in `fieldPath` of rules and in selectable fields (`ValidFieldPath`).

use crate::schema::{Schema, SchemaOrBool};
use crdx_value::GoError;
use std::fmt::Write as _;

/// The schema node at a path.
pub struct Resolved<'a> {
    /// The path, formatted as a field path.
    pub path: String,
    /// The first field of the path.
    pub root: String,
    /// The schema at the path, if there is one.
    pub schema: Option<&'a Schema>,
}

/// Resolves `path` in a schema.
///
/// # Errors
/// Returns the server's error message.
pub fn follow<'a>(path: &str, schema: &'a Schema, brackets: bool) -> Result<Resolved<'a>, GoError> {
    let mut tokens = Tokens { rest: path };
    let mut found = Resolved { path: String::new(), root: String::new(), schema: Some(schema) };
    let end = || "unexpected end of JSON path".to_owned();
    while let Some(token) = tokens.next() {
        match token {
            "[" => {
                if !brackets {
                    return Err("array notation is not allowed".into());
                }
                let token = tokens.next().ok_or_else(end)?;
                let quoted = token.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
                let Some(quoted) = quoted else {
                    return Err(format!("expected single quoted string but got {token}").into());
                };
                found.step(&unescape(quoted)?)?;
                let token = tokens.next().ok_or_else(end)?;
                if token != "]" {
                    return Err(format!("expected ] but got {token}").into());
                }
            }
            "." => {
                let token = tokens.next().ok_or_else(end)?;
                found.step(token)?;
            }
            _ => return Err(format!("expected [ or . but got: {token}").into()),
        }
    }
    Ok(found)
}

impl Resolved<'_> {
    fn step(&mut self, name: &str) -> Result<(), GoError> {
        let nowhere = || "does not refer to a valid field".to_owned();
        // There is no schema below `additionalProperties: true`, where the server panics.
        let schema = self.schema.ok_or_else(nowhere)?;
        if schema.properties.is_empty() {
            self.schema = match &schema.additional_properties {
                None => return Err(nowhere().into()),
                Some(SchemaOrBool::Schema(s)) => Some(s),
                Some(SchemaOrBool::Bool(_)) => None,
            };
            let _ = write!(self.path, "[{name}]");
        } else {
            self.schema = Some(schema.properties.get(name).ok_or_else(nowhere)?);
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(name);
        }
        if self.root.is_empty() {
            self.root.clone_from(&self.path);
        }
        Ok(())
    }
}

/// Splits a path into delimiters, quoted strings and the text in between.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.rest.as_bytes();
        let end = if bytes.first()? == &b'\'' {
            // Up to the closing quote, or to the end of the path if there is none.
            let close = bytes.windows(2).position(|w| matches!(w, [before, b'\''] if *before != b'\\'));
            close.map_or(bytes.len(), |i| i + 2)
        } else {
            self.rest.find(['.', '[', ']']).map_or(bytes.len(), |i| i.max(1))
        };
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(token)
    }
}

fn unescape(text: &str) -> Result<String, GoError> {
    let mut out = String::new();
    let mut error = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            // The server's regular expression requires a character other than a line break after the backslash.
            None => out.push('\\'),
            Some('\n') => out.push_str("\\\n"),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('v') => out.push('\u{b}'),
            Some(c @ ('\'' | '\\')) => out.push(c),
            // The last error is reported.
            Some(c) => error = Some(GoError::from(format!("invalid string literal: invalid escape char \\{c}"))),
        }
    }
    error.map_or(Ok(out), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let leaf = Schema { type_: "string".to_owned(), ..Schema::default() };
        let map =
            Schema { additional_properties: Some(SchemaOrBool::Schema(Box::new(leaf.clone()))), ..Schema::default() };
        let properties = [("a.b".to_owned(), Box::new(leaf)), ("m".to_owned(), Box::new(map))].into();
        let spec = Schema { properties, ..Schema::default() };
        Schema { properties: [("spec".to_owned(), Box::new(spec))].into(), ..Schema::default() }
    }

    #[test]
    fn paths_resolve_through_properties_and_maps() {
        let schema = schema();
        let found = follow(".spec['a.b']", &schema, true).map_err(|e| panic!("{e}")).unwrap();
        assert_eq!((found.path.as_str(), found.root.as_str()), ("spec.a.b", "spec"));
        assert_eq!(follow(".spec.m.x", &schema, true).map(|f| f.path), Ok("spec.m[x]".to_owned()));
    }

    #[test]
    fn errors_have_the_servers_messages() {
        let schema = schema();
        for (path, brackets, error) in [
            ("spec", true, "expected [ or . but got: spec"),
            (".", true, "unexpected end of JSON path"),
            (".nope", true, "does not refer to a valid field"),
            (".spec['a.b'", true, "unexpected end of JSON path"),
            (".spec[0]", true, "expected single quoted string but got 0"),
            (".spec['a.b']", false, "array notation is not allowed"),
            (".spec['a\\q']", true, "invalid string literal: invalid escape char \\q"),
        ] {
            assert_eq!(follow(path, &schema, brackets).map(|f| f.path), Err(error.into()), "{path}");
        }
    }
}
