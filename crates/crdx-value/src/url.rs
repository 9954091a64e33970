//! Parses URLs like Go's `net/url`, with its error messages.

use super::quote::go_quote;
use crate::GoError;

/// A parsed URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// The scheme, in lower case.
    pub scheme: String,
    /// The opaque part of a URL whose scheme is not followed by a slash.
    pub opaque: String,
    /// The user info, as written.
    pub user: Option<String>,
    /// The host and port, unescaped.
    pub host: String,
    /// The path, unescaped.
    pub path: Vec<u8>,
    /// The query, as written.
    pub query: String,
    /// The fragment, as written.
    pub fragment: String,
}

impl Url {
    /// `url.Parse`.
    ///
    /// # Errors
    /// Returns Go's message.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = parse(rest, UrlSyntax::Reference).map_err(|e| format!("parse {}: {e}", go_quote(rest)))?;
        if !fragment.is_empty() {
            unescape(fragment, UrlComponent::Path).map_err(|e| format!("parse {}: {e}", go_quote(text)))?;
            fragment.clone_into(&mut url.fragment);
        }
        Ok(url)
    }

    /// `url.ParseRequestURI`: an absolute URI or an absolute path, without fragment.
    ///
    /// # Errors
    /// Returns Go's message.
    pub fn parse_request_uri(text: &str) -> Result<Self, GoError> {
        parse(text, UrlSyntax::RequestUri).map_err(|e| format!("parse {}: {e}", go_quote(text)).into())
    }
}

/// The forms of a URL that a text may have.
#[derive(Clone, Copy, PartialEq)]
enum UrlSyntax {
    /// Any URL, also a relative one.
    Reference,
    /// An absolute URI or an absolute path, as in a request line.
    RequestUri,
}

fn parse(text: &str, syntax: UrlSyntax) -> Result<Url, GoError> {
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".into());
    }
    if text.is_empty() && syntax == UrlSyntax::RequestUri {
        return Err("empty url".into());
    }
    let mut url = Url::default();
    if text == "*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.query);

    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if syntax == UrlSyntax::RequestUri {
            return Err("invalid URI for request".into());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".into());
        }
    }
    if (!url.scheme.is_empty() || syntax == UrlSyntax::Reference && !rest.starts_with("///"))
        && let Some(authority) = rest.strip_prefix("//")
    {
        let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
        rest = path;
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        url.host = parse_host(&url.scheme, host)?;
        if let Some(user) = user {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            if !user.chars().all(allowed) {
                return Err("net/url: invalid userinfo".into());
            }
            for part in user.splitn(2, ':') {
                unescape(part, UrlComponent::Path)?;
            }
            url.user = Some(user.to_owned());
        }
    }
    url.path = unescape(rest, UrlComponent::Path)?;
    Ok(url)
}

fn scheme(text: &str) -> Result<(&str, &str), GoError> {
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok(text.split_once(':').unwrap_or(("", text))),
            _ => break,
        }
    }
    Ok(("", text))
}

fn parse_host(scheme: &str, host: &str) -> Result<String, GoError> {
    let optional_port = |text: &str| {
        let digits = text.is_empty() || text.strip_prefix(':').is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit()));
        if digits { Ok(()) } else { Err(format!("invalid port {} after host", go_quote(text))) }
    };
    if let Some((before, literal)) = host.rsplit_once('[') {
        if !before.is_empty() {
            return Err("invalid IP-literal".into());
        }
        let Some((literal, port)) = literal.rsplit_once(']') else {
            return Err("missing ']' in host".into());
        };
        optional_port(port)?;
        let (address, zone) = literal.split_at(literal.find("%25").unwrap_or(literal.len()));
        let mut name = unescape(address, UrlComponent::Host)?;
        name.extend(unescape(zone, UrlComponent::Zone)?);
        let name = String::from_utf8_lossy(&name).into_owned();
        let address = name.split('%').next().unwrap_or_default();
        if address.parse::<std::net::Ipv4Addr>().is_ok() {
            return Err("invalid IP-literal".into());
        }
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(format!("invalid host: ParseAddr({}): unable to parse IP", go_quote(&name)).into());
        }
        return Ok(format!("[{name}]{port}"));
    }
    if let Some(first) = host.find(':') {
        let strict = matches!(scheme, "http" | "https");
        let at = if strict { first } else { host.rfind(':').unwrap_or(first) };
        optional_port(host.split_at(at).1)?;
    }
    Ok(String::from_utf8_lossy(&unescape(host, UrlComponent::Host)?).into_owned())
}

#[derive(Clone, Copy, PartialEq)]
enum UrlComponent {
    /// Path, user info or fragment: any escape sequence is allowed.
    Path,
    Host,
    Zone,
}

/// Returns true if a host may contain the byte unescaped.
fn is_host_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&b)
}

fn unescape(text: &str, part: UrlComponent) -> Result<Vec<u8>, GoError> {
    let hex = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        if *b != b'%' {
            if part != UrlComponent::Path && b.is_ascii() && !is_host_byte(*b) {
                return Err(format!("invalid character {} in host name", go_quote(&char::from(*b).to_string())).into());
            }
            out.push(*b);
            at += 1;
            continue;
        }
        let shown = || {
            let end = (at + 3).min(bytes.len());
            let text = String::from_utf8_lossy(bytes.get(at..end).unwrap_or_default()).into_owned();
            GoError::from(format!("invalid URL escape {}", go_quote(&text)))
        };
        let (Some(high), Some(low)) = (hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) else { return Err(shown()) };
        let value = (high << 4 | low) as u8;
        let refused = match part {
            UrlComponent::Path => false,
            UrlComponent::Host => high < 8 && value != b'%',
            UrlComponent::Zone => value != b'%' && value != b' ' && value.is_ascii() && !is_host_byte(value),
        };
        if refused {
            return Err(shown());
        }
        out.push(value);
        at += 3;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_parts_are_separated() {
        let url = Url::parse("HTTPS://u:p@example.com:80/a%20b?q=1#f").unwrap();
        assert_eq!(
            url,
            Url {
                scheme: "https".to_owned(),
                user: Some("u:p".to_owned()),
                host: "example.com:80".to_owned(),
                path: b"/a b".to_vec(),
                query: "q=1".to_owned(),
                fragment: "f".to_owned(),
                ..Url::default()
            }
        );
        assert_eq!(Url::parse("mailto:a@b").unwrap().opaque, "a@b");
        assert_eq!(Url::parse("https://[::1%25en0]:1/").unwrap().host, "[::1%en0]:1");
    }

    #[test]
    fn errors_have_gos_messages() {
        for (text, error) in [
            (":x", "parse \":x\": missing protocol scheme"),
            ("a:b/c:d", ""),
            ("1a:b", "parse \"1a:b\": first path segment in URL cannot contain colon"),
            ("https://a b", "parse \"https://a b\": invalid character \" \" in host name"),
            ("https://a:x", "parse \"https://a:x\": invalid port \":x\" after host"),
            ("https://[::1", "parse \"https://[::1\": missing ']' in host"),
            ("/%zz", "parse \"/%zz\": invalid URL escape \"%zz\""),
            ("https://%41/", "parse \"https://%41/\": invalid URL escape \"%41\""),
            ("a\u{1}", "parse \"a\\x01\": net/url: invalid control character in URL"),
        ] {
            assert_eq!(Url::parse(text).err().unwrap_or_default(), error.into());
        }
        assert_eq!(Url::parse_request_uri("a").err().unwrap(), "parse \"a\": invalid URI for request".into());
    }
}
