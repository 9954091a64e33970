//! URL decoding as in `net/url`. The query is an ordered list of parameters.

use crate::server::http::address::decoded;

/// The parameters of a query, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses `a=1&b=2`. Parts with a malformed escape or a `;` are skipped, as `url.ParseQuery` does.
    pub fn parse(text: &str) -> Self {
        let mut out = Vec::new();
        for part in text.split('&') {
            if part.is_empty() || part.contains(';') {
                continue;
            }
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if let (Some(key), Some(value)) = (decoded(key, true), decoded(value, true)) {
                out.push((key, value));
            }
        }
        Self(out)
    }

    /// The first value of a parameter.
    pub fn first(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// All values of a parameter.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(k, _)| k == key).map(|(_, v)| v.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_parsed_like_go() {
        let q = Query::parse("a=1&b=x%20y+z&a=2&bad=%zz&c&d;e=1");
        assert_eq!(q.first("a"), Some("1"));
        assert_eq!(q.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(q.first("b"), Some("x y z"));
        assert_eq!(q.first("bad"), None);
        assert_eq!(q.first("c"), Some(""));
        assert_eq!(q.first("d;e"), None);
    }
}
