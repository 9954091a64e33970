//! `etcd` for envtest: answers health checks only, because the server stores its objects itself.

use super::error::EnvtestError;
use super::flags::{FlagError, Flags};
use super::folder;
use crdx_serve::etcd;
use crdx_value::release::Release;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

/// The flags that envtest sets. envtest searches the help text for `--unsafe-no-fsync`.
const HELP: &str = "Usage:
  etcd [flags]

Answers health checks for the tests of operators (kubectl crdx envtest), and stores nothing.

  --listen-client-urls 'http://localhost:2379'
    The URLs to answer on; only loopback addresses.
  --unsafe-no-fsync 'false'
    Accepted without effect, as all other flags are.
  --version
    Print the version.
";

/// Runs the program.
///
/// # Errors
/// Returns an error if the flags or the addresses are not valid.
pub fn run(flags: &Flags, program: &Path) -> Result<(), EnvtestError> {
    if flags.last("help").or_else(|| flags.last("h")).is_some() {
        print!("{HELP}");
        return Ok(());
    }
    let version = folder::release(program)?.unwrap_or(Release::NEWEST).etcd_version();
    if flags.is_on("version", false)? {
        println!("etcd Version: {version}");
        return Ok(());
    }
    let addresses = addresses(flags)?;
    match etcd::run(&addresses, version) {
        Ok(never) => match never {},
        Err(error) => Err(EnvtestError::Etcd(error)),
    }
}

/// The addresses of `--listen-client-urls`.
fn addresses(flags: &Flags) -> Result<Vec<SocketAddr>, EnvtestError> {
    let mut addresses = flags.items("listen-client-urls").map(address).collect::<Result<Vec<_>, _>>()?;
    if addresses.is_empty() {
        addresses.push(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 2379));
    }
    Ok(addresses)
}

fn address(url: &str) -> Result<SocketAddr, EnvtestError> {
    let invalid = |problem| EnvtestError::from(FlagError::value("listen-client-urls", url, problem));
    let no_url = || invalid("is not a URL such as http://127.0.0.1:2379");
    if url.starts_with("https://") {
        return Err(invalid("needs TLS, and this etcd has none: give an http:// URL"));
    }
    let rest = url.strip_prefix("http://").ok_or_else(no_url)?.trim_end_matches('/');
    if let Ok(address) = rest.parse() {
        return Ok(address);
    }
    let port = rest.strip_prefix("localhost:").and_then(|port| port.parse().ok()).ok_or_else(no_url)?;
    Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Vec<SocketAddr>, EnvtestError> {
        addresses(&Flags::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn client_urls_are_addresses() {
        let text = |words: &[&str]| of(words).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text(&[]), ["127.0.0.1:2379"]);
        let urls = "--listen-client-urls=http://127.0.0.1:34567,http://[::1]:1/,http://localhost:2";
        assert_eq!(text(&[urls]), ["127.0.0.1:34567", "[::1]:1", "127.0.0.1:2"]);
        for bad in ["x", "http://example.com:1", "http://127.0.0.1", "https://127.0.0.1:1"] {
            let error = of(&["--listen-client-urls", bad]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--listen-client-urls: {bad:?} ")), "{error}");
        }
    }

    #[test]
    fn envtest_finds_the_flag_in_the_help() {
        assert!(HELP.lines().any(|line| line.trim_start().starts_with("--unsafe-no-fsync ")));
    }
}
