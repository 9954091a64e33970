//! URLs (`net/url`), with Go's error messages.

use super::Ip;
use crdx_value::GoError;
use crdx_value::quote::go_quote;
use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

/// `kubernetes.URL`
#[derive(Clone, Debug, Default)]
pub struct Url {
    scheme: String,
    opaque: Option<String>,
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    omit_host: bool,
    /// The path as written, and decoded.
    path: (String, Vec<u8>),
    force_query: bool,
    query: String,
    fragment: (String, Vec<u8>),
}

/// `url.ParseRequestURI`: an absolute URL or path; a `#` does not start a fragment.
pub fn parse_request_uri(text: &str) -> Result<Url, GoError> {
    parse(text, UrlSyntax::RequestUri).map_err(|e| format!("parse {}: {e}", go_quote(text)).into())
}

impl Url {
    /// `url.Parse` of a text that `url.ParseRequestURI` accepts, as in the CEL library.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        parse_request_uri(text)?;
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = parse(rest, UrlSyntax::Reference).map_err(|e| format!("parse {}: {e}", go_quote(rest)))?;
        let decoded =
            unescape(fragment, UrlComponent::Fragment).map_err(|e| format!("parse {}: {e}", go_quote(text)))?;
        url.fragment = (fragment.to_owned(), decoded);
        Ok(url)
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host and port.
    pub fn host(&self) -> String {
        text(&self.host)
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> String {
        let (host, _) = self.host_and_port();
        host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).map(str::to_owned).unwrap_or(host)
    }

    /// The port; empty if there is none.
    pub fn port(&self) -> String {
        self.host_and_port().1
    }

    fn host_and_port(&self) -> (String, String) {
        let host = self.host();
        match host.rsplit_once(':') {
            Some((before, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (before.to_owned(), port.to_owned()),
            _ => (host, String::new()),
        }
    }

    /// The path as written if that is a valid encoding, otherwise encoded anew.
    pub(crate) fn escaped_path(&self) -> String {
        let (written, decoded) = &self.path;
        if decoded == b"*" { "*".to_owned() } else { escaped(written, decoded, UrlComponent::Path) }
    }

    /// The values of each query parameter.
    pub fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Ok(key), Ok(value)) = (unescape(key, UrlComponent::Query), unescape(value, UrlComponent::Query)) {
                values.entry(text(&key)).or_default().push(text(&value));
            }
        }
        values
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if let Some(opaque) = &self.opaque {
            f.write_str(opaque)?;
        } else {
            let has_host = !self.host.is_empty() || self.user.is_some();
            let path = self.escaped_path();
            if has_host || !self.scheme.is_empty() && !self.omit_host && !path.is_empty() {
                f.write_str("//")?;
            }
            if let Some((name, password)) = &self.user {
                f.write_str(&escape(name, UrlComponent::User))?;
                if let Some(password) = password {
                    write!(f, ":{}", escape(password, UrlComponent::User))?;
                }
                f.write_str("@")?;
            }
            f.write_str(&escape(&self.host, UrlComponent::Host))?;
            f.write_str(&path)?;
        }
        if self.force_query || !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        if !self.fragment.1.is_empty() {
            write!(f, "#{}", escaped(&self.fragment.0, &self.fragment.1, UrlComponent::Fragment))?;
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The forms of a URL that a text may have.
#[derive(Clone, Copy, PartialEq)]
enum UrlSyntax {
    /// Any URL, also a relative one.
    Reference,
    /// An absolute URI or an absolute path, as in a request line.
    RequestUri,
}

fn parse(raw: &str, syntax: UrlSyntax) -> Result<Url, GoError> {
    if raw.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".into());
    }
    if raw.is_empty() && syntax == UrlSyntax::RequestUri {
        return Err("empty url".into());
    }
    let mut url = Url::default();
    if raw == "*" {
        url.path = ("*".to_owned(), b"*".to_vec());
        return Ok(url);
    }
    let (scheme, mut rest) = split_scheme(raw)?;
    url.scheme = scheme.to_ascii_lowercase();
    if let Some(before) = rest.strip_suffix('?').filter(|before| !before.contains('?')) {
        url.force_query = true;
        rest = before;
    } else if let Some((before, query)) = rest.split_once('?') {
        query.clone_into(&mut url.query);
        rest = before;
    }
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            url.opaque = (!rest.is_empty()).then(|| rest.to_owned());
            return Ok(url);
        }
        if syntax == UrlSyntax::RequestUri {
            return Err("invalid URI for request".into());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".into());
        }
    }
    let may_have_host = !url.scheme.is_empty() || syntax == UrlSyntax::Reference && !rest.starts_with("///");
    if let Some(after) = rest.strip_prefix("//").filter(|_| may_have_host) {
        let end = after.find('/').unwrap_or(after.len());
        let (authority, path) = after.split_at_checked(end).unwrap_or((after, ""));
        rest = path;
        (url.user, url.host) = parse_authority(&url.scheme, authority)?;
    } else if !url.scheme.is_empty() && rest.starts_with('/') {
        url.omit_host = true;
    }
    url.path = (rest.to_owned(), unescape(rest, UrlComponent::Path)?);
    Ok(url)
}

fn split_scheme(raw: &str) -> Result<(&str, &str), GoError> {
    for (i, c) in raw.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if i > 0 => {}
            ':' if i == 0 => return Err("missing protocol scheme".into()),
            ':' => return Ok(raw.split_once(':').unwrap_or(("", raw))),
            _ => break,
        }
    }
    Ok(("", raw))
}

type User = Option<(Vec<u8>, Option<Vec<u8>>)>;

fn parse_authority(scheme: &str, authority: &str) -> Result<(User, Vec<u8>), GoError> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Ok((None, parse_host(scheme, authority)?));
    };
    let host = parse_host(scheme, host)?;
    if !user.chars().all(|c| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c)) {
        return Err("net/url: invalid userinfo".into());
    }
    let user = match user.split_once(':') {
        Some((name, password)) => (unescape(name, UrlComponent::User)?, Some(unescape(password, UrlComponent::User)?)),
        None => (unescape(user, UrlComponent::User)?, None),
    };
    Ok((Some(user), host))
}

fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, GoError> {
    match host.rfind('[') {
        Some(0) => return parse_ip_literal(host),
        Some(_) => return Err("invalid IP-literal".into()),
        None => {}
    }
    if let Some(first) = host.find(':') {
        // Lists of hosts with ports are accepted, except for http and https.
        let strict = scheme == "http" || scheme == "https";
        let colon = if strict { first } else { host.rfind(':').unwrap_or(first) };
        check_port(host.get(colon..).unwrap_or_default())?;
    }
    unescape(host, UrlComponent::Host)
}

fn parse_ip_literal(host: &str) -> Result<Vec<u8>, GoError> {
    let (inside, port) = host.rsplit_once(']').ok_or("missing ']' in host")?;
    let inside = inside.strip_prefix('[').unwrap_or(inside);
    check_port(port)?;
    let port = unescape(port, UrlComponent::Host)?;
    let name = match inside.find("%25").and_then(|at| inside.split_at_checked(at)) {
        Some((address, zone)) => [unescape(address, UrlComponent::Host)?, unescape(zone, UrlComponent::Zone)?].concat(),
        None => unescape(inside, UrlComponent::Host)?,
    };
    match Ip::parse_any(&text(&name)).map_err(|e| format!("invalid host: {e}"))? {
        address if address.is_ipv4() => Err("invalid IP-literal".into()),
        _ => Ok([b"[", name.as_slice(), b"]", &port].concat()),
    }
}

fn check_port(text: &str) -> Result<(), GoError> {
    let valid = text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    if valid { Ok(()) } else { Err(format!("invalid port {} after host", go_quote(text)).into()) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlComponent {
    Path,
    Host,
    Zone,
    User,
    Query,
    Fragment,
}

impl UrlComponent {
    /// Returns true if the byte may be written unescaped.
    fn allows(self, b: u8) -> bool {
        if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) {
            return true;
        }
        let others: &[u8] = match self {
            Self::Path => b"$&+,/:;=@",
            Self::Host | Self::Zone => b"!\"$&'()*+,:;<=>[]",
            Self::User => b"$&+,;=",
            Self::Query => b"",
            Self::Fragment => b"!$&()*+,/:;=?@",
        };
        others.contains(&b)
    }
}

fn hex(b: Option<u8>) -> Option<u8> {
    char::from(b?).to_digit(16).map(|d| d as u8)
}

fn unescape(written: &str, part: UrlComponent) -> Result<Vec<u8>, GoError> {
    let bytes = written.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    let in_host = matches!(part, UrlComponent::Host | UrlComponent::Zone);
    while let Some(b) = bytes.get(i).copied() {
        i += 1;
        match b {
            b'%' => {
                let bad = || {
                    let shown = bytes.get(i - 1..(i + 2).min(bytes.len())).unwrap_or_default();
                    format!("invalid URL escape {}", go_quote(&text(shown)))
                };
                let (Some(high), Some(low)) = (hex(bytes.get(i).copied()), hex(bytes.get(i + 1).copied())) else {
                    return Err(bad().into());
                };
                let byte = high << 4 | low;
                let refused = match part {
                    // In a host, only non-ASCII bytes, and the percent sign of a zone, may be percent-encoded.
                    UrlComponent::Host => high < 8 && byte != b'%',
                    UrlComponent::Zone => byte != b'%' && byte != b' ' && !UrlComponent::Host.allows(byte),
                    _ => false,
                };
                if refused {
                    return Err(bad().into());
                }
                out.push(byte);
                i += 2;
            }
            b'+' if part == UrlComponent::Query => out.push(b' '),
            _ if in_host && b.is_ascii() && !part.allows(b) => {
                return Err(format!("invalid character {} in host name", go_quote(&char::from(b).to_string())).into());
            }
            _ => out.push(b),
        }
    }
    Ok(out)
}

fn escape(decoded: &[u8], part: UrlComponent) -> String {
    let mut out = String::with_capacity(decoded.len());
    for b in decoded {
        if part.allows(*b) {
            out.push(char::from(*b));
        } else {
            let _ = write!(out, "%{b:02X}");
        }
    }
    out
}

/// The text as written if it is a valid encoding, otherwise encoded anew.
fn escaped(written: &str, decoded: &[u8], part: UrlComponent) -> String {
    let valid = written.bytes().all(|b| b"!$&'()*+,;=:@[]%".contains(&b) || part.allows(b));
    if valid { written.to_owned() } else { escape(decoded, part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_go() {
        let url = Url::parse("HTTPS://us%20er:p@[fe80::1%25en0]:8080/a%2Fb c?x=1&x=2&y=%41;&z#f r").expect("reads");
        assert_eq!(url.scheme(), "https");
        assert_eq!(url.host(), "[fe80::1%en0]:8080");
        assert_eq!(url.hostname(), "fe80::1%en0");
        assert_eq!(url.port(), "8080");
        assert_eq!(url.escaped_path(), "/a/b%20c");
        let query = url.query();
        assert_eq!(query.get("x"), Some(&vec!["1".to_owned(), "2".to_owned()]));
        assert_eq!(query.len(), 2);
        assert_eq!(url.to_string(), "https://us%20er:p@[fe80::1%25en0]:8080/a/b%20c?x=1&x=2&y=%41;&z#f%20r");
        assert_eq!(Url::parse("mailto:a@b").expect("reads").to_string(), "mailto:a@b");
        assert_eq!(Url::parse("/p%41?").expect("reads").to_string(), "/p%41?");
    }

    #[test]
    fn errors_are_those_of_go() {
        for (text, error) in [
            ("", "empty url"),
            ("a b", "invalid URI for request"),
            (":x", "missing protocol scheme"),
            ("http://a:b/", "invalid port \":b\" after host"),
            ("http://a:1:2/", "invalid port \":1:2\" after host"),
            ("http://[::1/", "missing ']' in host"),
            ("http://a b/", "invalid character \" \" in host name"),
            ("/%zz", "invalid URL escape \"%zz\""),
            ("/%4", "invalid URL escape \"%4\""),
            ("http://a%41/", "invalid URL escape \"%41\""),
        ] {
            let expected = format!("parse {}: {error}", go_quote(text));
            assert_eq!(Url::parse(text).map(|u| u.to_string()), Err(expected.into()));
        }
    }
}
