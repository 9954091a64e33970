//! URL decoding as in `net/url`. The query is an ordered list of parameters.

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
            if let (Some(key), Some(value)) = (unescape(key, true), unescape(value, true)) {
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

/// Percent-decodes a text; in a query, `+` is a space. Returns `None` for a malformed escape. Bytes that are not UTF-8
/// become U+FFFD.
pub(in crate::server) fn unescape(text: &str, query: bool) -> Option<String> {
    if !text.contains(['%', '+']) {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        match b {
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                out.push((high * 16 + low) as u8);
            }
            b'+' if query => out.push(b' '),
            other => out.push(other),
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
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
        assert_eq!(unescape("a%2Fb+c", false).as_deref(), Some("a/b+c"));
    }
}
