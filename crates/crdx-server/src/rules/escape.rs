//! Property names as CEL identifiers (`k8s.io/apiserver/pkg/cel/escaping.go`).

use crdx_cel::syntax::is_reserved;

/// The CEL identifier for a property name; `None` if the name cannot be escaped.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '_' if rest.next_if_eq(&'_').is_some() => out.push_str("__underscores__"),
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => out.push(c),
            _ => return None,
        }
    }
    Some(out)
}

/// The property name of an escaped identifier; `None` for an invalid escape sequence.
pub fn unescape(identifier: &str) -> Option<String> {
    let mut out = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while let Some((before, after)) = rest.split_once("__") {
        // An escape sequence is the shortest `__…__` without underscores in between.
        let end = after.find('_').filter(|end| *end > 0 && after.get(*end..*end + 2) == Some("__"));
        let Some(end) = end else {
            // Not an escape sequence: continue after the first underscore.
            out.push_str(before);
            out.push('_');
            rest = rest.get(before.len() + 1..)?;
            continue;
        };
        out.push_str(before);
        let (word, remaining) = (after.get(..end)?, after.get(end + 2..)?);
        match word {
            "underscores" => out.push_str("__"),
            "dot" => out.push('.'),
            "dash" => out.push('-'),
            "slash" => out.push('/'),
            _ if is_reserved(word) && word.len() + 4 == identifier.len() => out.push_str(word),
            _ => return None,
        }
        rest = remaining;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{escape, unescape};

    #[test]
    fn names_come_back() {
        for (name, escaped) in [
            ("a", "a"),
            ("a.b-c/d", "a__dot__b__dash__c__slash__d"),
            ("__k", "__underscores__k"),
            ("___", "__underscores___"),
            ("namespace", "__namespace__"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).as_deref(), Some(name));
        }
        assert_eq!(escape("1a"), None);
        assert_eq!(escape("a b"), None);
        assert_eq!(unescape("__nope__"), None);
    }
}
