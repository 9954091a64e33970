//! Values at the paths of reports. Keys may have any characters.

use crdx_value::Value;

/// Returns the value at a path.
pub fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if path.is_empty() {
        return Some(value);
    }
    match value {
        Value::Object(members) => members.iter().find_map(|(key, below)| at(below, below_key(path, key)?)),
        Value::Array(items) => {
            let (index, rest) = below_index(path)?;
            at(items.get(index)?, rest)
        }
        _ => None,
    }
}

/// As [`at`], to change the value.
pub fn at_mut<'v>(value: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    if path.is_empty() {
        return Some(value);
    }
    match value {
        Value::Object(members) => members.iter_mut().find_map(|(key, below)| at_mut(below, below_key(path, key)?)),
        Value::Array(items) => {
            let (index, rest) = below_index(path)?;
            at_mut(items.get_mut(index)?, rest)
        }
        _ => None,
    }
}

/// Splits a path that begins with an index into the index and the rest.
pub fn split_index(path: &str) -> Option<(usize, &str)> {
    let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

fn below_index(path: &str) -> Option<(usize, &str)> {
    split_index(path).map(|(index, rest)| (index, rest.strip_prefix('.').unwrap_or(rest)))
}

fn below_key<'p>(path: &'p str, key: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(key)?;
    let is_whole_key = rest.is_empty() || rest.starts_with(['.', '[']);
    is_whole_key.then(|| rest.strip_prefix('.').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn keys_may_have_dots_and_brackets() {
        let mut value = json::read(br#"{"a":{"b":[{"c.d":1},{"e[0]":[2]}]},"a.x":3}"#).unwrap();
        for (path, number) in [("a.b[0].c.d", 1), ("a.b[1].e[0][0]", 2), ("a.x", 3)] {
            assert_eq!(at(&value, path), Some(&Value::Int(number)), "{path}");
            assert_eq!(at_mut(&mut value, path), Some(&mut Value::Int(number)), "{path}");
        }
        for path in ["a.c", "a.b[2]", "a.b[x]", "a.b[0]c", "b"] {
            assert_eq!(at(&value, path), None, "{path}");
        }
    }
}
