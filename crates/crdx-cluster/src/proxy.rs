//! Selects the proxy as Go's `httpproxy.FromEnvironment` does: `HTTPS_PROXY` or `HTTP_PROXY` by the
//! scheme of the server, unless `NO_PROXY` excludes the server or its address is a loopback address.

use super::Error;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

/// Parses a proxy's URL. `source` says where it is from; errors do not repeat it, because it may contain a password.
pub fn parse(proxy: &str, source: &str) -> Result<Uri, Error> {
    let url = proxy.parse::<Uri>().ok().filter(has_address);
    let reason = match url {
        Some(url) if matches!(url.scheme_str(), Some("http" | "https" | "socks5")) => return Ok(url),
        Some(_) => "is neither http, https nor socks5",
        None => "is not a URL",
    };
    Err(Error::unreachable(format!("the {source} {reason}"), "write it as http://HOST:PORT"))
}

/// Returns true if a URL has a host and, if any, a valid port.
pub fn has_address(url: &Uri) -> bool {
    let Some(authority) = url.authority() else { return false };
    let address = authority.as_str().rsplit('@').next().unwrap_or_default();
    let port = address.rsplit(']').next().and_then(|rest| rest.split_once(':'));
    !authority.host().is_empty() && port.is_none_or(|(_, port)| port.is_empty() || port.parse::<u16>().is_ok())
}

/// The proxy for `server`; `var` reads the environment.
pub fn from_environment(server: &Uri, var: impl Fn(&str) -> Option<String>) -> Result<Option<Uri>, Error> {
    let either = |name: &str| [name.to_uppercase(), name.to_lowercase()].iter().find_map(|n| set(var(n)));
    let name = if server.scheme_str() == Some("http") { "http_proxy" } else { "https_proxy" };
    let Some(proxy) = either(name) else { return Ok(None) };
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    // Only NO_PROXY is asked, so any proxy will do; the real one may be a kind that this matcher ignores.
    let matcher = Matcher::builder().all("http://proxy").no(either("no_proxy").unwrap_or_default()).build();
    if loopback || matcher.intercept(server).is_none() {
        return Ok(None);
    }
    let proxy = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
    parse(&proxy, &format!("proxy of the environment variable {}", name.to_uppercase())).map(Some)
}

fn set(value: Option<String>) -> Option<String> {
    value.filter(|v| !v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_a_proxy() {
        let of = |server: &str, set: &[(&str, &str)]| {
            from_environment(&server.parse().unwrap(), |name| {
                set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
            })
            .map(|proxy| proxy.map(|proxy| proxy.to_string()))
        };
        let https = ("HTTPS_PROXY", "proxy.example.com:3128");
        let proxy = Ok(Some("http://proxy.example.com:3128/".to_owned()));
        assert_eq!(of("https://api.example.com:6443", &[https]), proxy);
        assert_eq!(of("http://api.example.com", &[https]), Ok(None));
        assert_eq!(of("https://127.0.0.1:6443", &[https]), Ok(None));
        assert_eq!(of("https://localhost", &[https]), Ok(None));
        assert_eq!(of("https://api.example.com", &[https, ("no_proxy", "a.org, .example.com,")]), Ok(None));
        assert_eq!(of("https://10.1.2.3", &[https, ("NO_PROXY", "10.0.0.0/8")]), Ok(None));
        assert_eq!(of("https://11.1.2.3", &[https, ("NO_PROXY", "10.0.0.0/8")]), proxy);
        assert_eq!(of("https://api.example.com", &[]), Ok(None));
        for wrong in ["me:canary@proxy:x", "ftp://me:canary@proxy", "http://me:canary@", "http://me:can ary@proxy"] {
            let error = of("https://api.example.com", &[("https_proxy", wrong)]).unwrap_err();
            assert!(error.message.starts_with("the proxy of the environment variable HTTPS_PROXY is "), "{error}");
            assert!(!error.text().contains("ary"), "{error}");
        }
    }
}
