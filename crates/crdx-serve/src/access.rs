//! Decides which requests are answered, to prevent DNS rebinding and cross-site requests. A web page can send requests
//! to this machine, also under a host name that its DNS server resolves to 127.0.0.1. A request is answered only if its
//! Host is a loopback address, `localhost` or a name given with `--allowed-host`, and no browser sends it on behalf of
//! another site.

use hyper::Uri;
use hyper::header::{self, HeaderMap, HeaderValue};
use std::net::IpAddr;

/// The reason why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    /// The request has more than one `Host` header.
    #[error("too many Host headers: send one")]
    ManyHosts,
    /// The `Host` is not allowed.
    #[error(
        "the request is for the host {0:?}, and kubectl crdx serve answers only for localhost and loopback addresses, so that no web page can reach it: use the URL that serve printed, or start it with --allowed-host {0}"
    )]
    Host(String),
    /// A browser sent the request on behalf of another site; the origin, if the browser sent one.
    #[error(
        "a web page of another site{} sent this request, and kubectl crdx serve does not answer those: send it from a program, or allow the page's host with --allowed-host",
        .0.as_ref().map_or_else(String::new, |origin| format!(" ({origin})"))
    )]
    CrossSite(Option<String>),
}

/// The allowed host names, in addition to loopback addresses and `localhost`.
#[derive(Debug, Default)]
pub(super) struct Access {
    allowed: Vec<String>,
}

impl Access {
    /// Allows these names, in the form that [`host_name`] returns.
    pub fn new(allowed: Vec<String>) -> Self {
        Self { allowed }
    }

    /// Checks the host and the origin of a request. A request without a `Host` is allowed: only HTTP/1.0 permits it,
    /// and browsers always send one.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next();
        if hosts.next().is_some() {
            return Err(Refused::ManyHosts);
        }
        let host = host.map(text);
        let target = uri.authority().map(|authority| authority.as_str().to_owned());
        for host in [host, target].into_iter().flatten().filter(|host| !host.is_empty()) {
            if !host_name(&host).is_some_and(|name| self.is_allowed(&name)) {
                return Err(Refused::Host(host));
            }
        }
        self.check_origin(headers)
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let origin = headers.get(header::ORIGIN).map(text);
        let name = origin.as_deref().and_then(origin_name);
        let is_given = name.as_ref().is_some_and(|name| self.allowed.contains(name));
        let cross_site = headers.get("sec-fetch-site").is_some_and(|site| site.as_bytes() == b"cross-site");
        let is_foreign = origin.is_some() && !name.is_some_and(|name| self.is_allowed(&name));
        if !is_given && (cross_site || is_foreign) { Err(Refused::CrossSite(origin)) } else { Ok(()) }
    }

    fn is_allowed(&self, name: &str) -> bool {
        name == "localhost"
            || name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
            || self.allowed.iter().any(|allowed| allowed == name)
    }
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// Returns the host of `scheme://host:port`; `None` for `null` and anything that is not a web origin.
fn origin_name(origin: &str) -> Option<String> {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
    host_name(rest)
}

/// Returns the name or address in `host`, `host:port`, `[::1]` or `[::1]:port`, in lower case and without brackets and
/// trailing dot; `None` for any other form.
pub(super) fn host_name(host: &str) -> Option<String> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<std::net::Ipv6Addr>().ok()?;
            (address, port)
        }
        None => host.split_at_checked(host.find(':').unwrap_or(host.len()))?,
    };
    let port = if port.is_empty() { port } else { port.strip_prefix(':')? };
    if name.is_empty() || !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, headers: &[(&'static str, &str)]) -> Result<(), Refused> {
        let access = Access::new(vec!["crdx.example.com".to_owned(), "192.0.2.7".to_owned()]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        access.check(&uri.parse().unwrap(), &map)
    }

    #[test]
    fn requests_for_this_machine_are_answered() {
        for host in [
            "localhost",
            "localhost:8080",
            "LocalHost",
            "localhost.",
            "localhost.:80",
            "127.0.0.1",
            "127.0.0.1:8080",
            "127.8.9.10",
            "[::1]",
            "[::1]:8080",
            "[0:0:0:0:0:0:0:1]:1",
            "[::ffff:127.0.0.1]",
            "localhost:",
            "",
            "crdx.example.com",
            "CRDX.example.com.:443",
            "192.0.2.7:80",
        ] {
            assert_eq!(check("/", &[("host", host)]), Ok(()), "{host}");
        }
        // HTTP/1.0
        assert_eq!(check("/", &[]), Ok(()));
        assert_eq!(check("http://localhost:1/apis", &[("host", "localhost:1")]), Ok(()));
    }

    #[test]
    fn requests_for_other_hosts_are_refused() {
        for host in [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "foo.localhost",
            "192.0.2.1",
            "0.0.0.0",
            "[::]",
            "[fe80::1]",
            "::1",
            "[::1",
            "[localhost]",
            "localhost:80:80",
            "localhost:x",
            "127.1",
            "2130706433",
            "localhost..",
            "a@localhost",
            "localhost/",
            "x.crdx.example.com",
            ".",
            ":80",
        ] {
            assert_eq!(check("/", &[("host", host)]), Err(Refused::Host(host.to_owned())), "{host}");
        }
        let target = check("http://evil.example/apis", &[("host", "localhost")]);
        assert_eq!(target, Err(Refused::Host("evil.example".to_owned())));
        assert_eq!(check("/", &[("host", "localhost"), ("host", "evil.example")]), Err(Refused::ManyHosts));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let with = |name: &'static str, value: &str| check("/", &[("host", "localhost"), (name, value)]);
        for site in ["none", "same-origin", "same-site"] {
            assert_eq!(with("sec-fetch-site", site), Ok(()), "{site}");
        }
        assert_eq!(with("sec-fetch-site", "cross-site"), Err(Refused::CrossSite(None)));
        for origin in ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:1", "https://crdx.example.com"] {
            assert_eq!(with("origin", origin), Ok(()), "{origin}");
        }
        for origin in
            ["https://evil.example", "http://localhost.evil.example", "null", "file://", "chrome-extension://abc"]
        {
            assert_eq!(with("origin", origin), Err(Refused::CrossSite(Some(origin.to_owned()))), "{origin}");
        }
        let allowed = [("host", "localhost"), ("sec-fetch-site", "cross-site"), ("origin", "https://crdx.example.com")];
        assert_eq!(check("/", &allowed), Ok(()));
        let local = [("host", "localhost"), ("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:3000")];
        assert_eq!(check("/", &local), Err(Refused::CrossSite(Some("http://127.0.0.1:3000".to_owned()))));
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let text = Refused::Host("evil.example".to_owned()).to_string();
        assert!(
            text.contains("for the host \"evil.example\"") && text.ends_with("--allowed-host evil.example"),
            "{text}"
        );
        let text = Refused::CrossSite(Some("https://evil.example".to_owned())).to_string();
        assert!(text.contains("(https://evil.example)") && text.contains("--allowed-host"), "{text}");
    }
}
