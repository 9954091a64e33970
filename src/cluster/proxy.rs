//! Selects the proxy as Go's `httpproxy.FromEnvironment` does: `HTTPS_PROXY` or `HTTP_PROXY` by the
//! scheme of the server, unless `NO_PROXY` excludes the server or its address is a loopback address.

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

/// The proxy for `server`; `var` reads the environment.
pub fn from_environment(server: &Uri, var: impl Fn(&str) -> Option<String>) -> Option<String> {
    let either = |name: &str| [name.to_uppercase(), name.to_lowercase()].iter().find_map(|n| set(var(n)));
    let proxy = either(if server.scheme_str() == Some("http") { "http_proxy" } else { "https_proxy" })?;
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let matcher = Matcher::builder().all(proxy.clone()).no(either("no_proxy").unwrap_or_default()).build();
    (!loopback && matcher.intercept(server).is_some())
        .then(|| if proxy.contains("://") { proxy } else { format!("http://{proxy}") })
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
        };
        let https = ("HTTPS_PROXY", "proxy.example.com:3128");
        let proxy = Some("http://proxy.example.com:3128".to_owned());
        assert_eq!(of("https://api.example.com:6443", &[https]), proxy);
        assert_eq!(of("http://api.example.com", &[https]), None);
        assert_eq!(of("https://127.0.0.1:6443", &[https]), None);
        assert_eq!(of("https://localhost", &[https]), None);
        assert_eq!(of("https://api.example.com", &[https, ("no_proxy", "a.org, .example.com,")]), None);
        assert_eq!(of("https://10.1.2.3", &[https, ("NO_PROXY", "10.0.0.0/8")]), None);
        assert_eq!(of("https://11.1.2.3", &[https, ("NO_PROXY", "10.0.0.0/8")]), proxy);
        assert_eq!(of("https://api.example.com", &[]), None);
    }
}
