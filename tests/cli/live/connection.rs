//! Connections to the cluster: TLS with an authority from the kubeconfig or a flag, and proxies.
//!
//! `tls/` has an authority and a server certificate for 127.0.0.1 and inside.example.com; the key of the authority was
//! discarded.

use super::fake::{Fake, Reply};
use super::{TestDir, cluster};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

pub const AUTHORITY: &str = include_str!("tls/ca.crt");

/// A cluster with TLS. Its certificate is signed by the authority in `tls/`.
pub fn with_tls(answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Fake {
    let chain = CertificateDer::pem_slice_iter(include_bytes!("tls/server.crt")).collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let over = move |stream| StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
    Fake::serve_over("https", over, answer)
}

/// A kubeconfig with one cluster and additional lines for it.
fn kubeconfig(server: &str, more: &str) -> String {
    format!(
        "current-context: c\nclusters:\n- name: c\n  cluster:\n    server: {server}\n{more}\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user: {{token: t}}\n"
    )
}

#[test]
fn the_kubeconfig_decides_how_a_certificate_is_checked() {
    let place = TestDir::new("tls");
    let fake = with_tls(|path, _| cluster(path));
    let port = fake.url.rsplit(':').next().unwrap();
    place.write("ca.crt", AUTHORITY);
    let data = base64(AUTHORITY.as_bytes());
    let by_name = format!("https://localhost:{port}");
    let unknown = ["cannot reach the cluster at https://", "certificate"];
    let line = "get widgets a --no-cache --kubeconfig config";
    for (server, more, flags, code, says) in [
        (&fake.url, format!("    certificate-authority-data: {data}"), "", 0, ["NAME", "a "]),
        (&fake.url, "    certificate-authority: ca.crt".to_owned(), "", 0, ["NAME", "a "]),
        (&fake.url, String::new(), " --certificate-authority ca.crt", 0, ["NAME", "a "]),
        (&fake.url, "    insecure-skip-tls-verify: true".to_owned(), "", 0, ["NAME", "a "]),
        (&fake.url, String::new(), " --insecure-skip-tls-verify", 0, ["NAME", "a "]),
        (
            &by_name,
            "    certificate-authority: ca.crt\n    tls-server-name: inside.example.com".to_owned(),
            "",
            0,
            ["NAME", "a "],
        ),
        (
            &by_name,
            "    certificate-authority: ca.crt".to_owned(),
            " --tls-server-name inside.example.com",
            0,
            ["NAME", "a "],
        ),
        (&fake.url, String::new(), "", 2, unknown),
        (&by_name, "    certificate-authority: ca.crt".to_owned(), "", 2, unknown),
        (&fake.url, "    certificate-authority: ca.crt".to_owned(), " --tls-server-name other.example.com", 2, unknown),
    ] {
        place.write("config", &kubeconfig(server, &more));
        fake.forget();
        place.run(&format!("{line}{flags}")).ends(code, &says);
        assert_eq!(
            fake.count("/apis/fake.example.com/v1/namespaces/default/widgets/a"),
            usize::from(code == 0),
            "{more}{flags}"
        );
    }
}

/// An HTTP proxy that connects every CONNECT request to one server.
struct Tunnel {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Tunnel {
    fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (server, log) = (server.split("://").last().unwrap().to_owned(), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (server, log) = (server.clone(), Arc::clone(&log));
                thread::spawn(move || lead(stream, &server, &log));
            }
        });
        Self { url, asked }
    }

    /// Returns true if it received a CONNECT request since the last call; asserts that the request was for `host`.
    fn led_to(&self, host: &str) -> bool {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        assert!(asked.iter().all(|line| line.starts_with(&format!("CONNECT {host} "))), "{asked:?}");
        !asked.is_empty()
    }
}

fn lead(mut client: TcpStream, server: &str, log: &Mutex<Vec<String>>) -> Option<()> {
    let head: Vec<String> = BufReader::new(client.try_clone().ok()?)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    log.lock().unwrap().push(head.first()?.clone());
    let mut upstream = TcpStream::connect(server).ok()?;
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").ok()?;
    let (mut from, mut to) = (client.try_clone().ok()?, upstream.try_clone().ok()?);
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    std::io::copy(&mut upstream, &mut client).ok()?;
    Some(())
}

#[test]
fn proxies_are_used() {
    let place = TestDir::new("proxy");
    let fake = with_tls(|path, _| cluster(path));
    let tunnel = Tunnel::to(&fake.url);
    place.write("ca.crt", AUTHORITY);
    let server = "https://inside.example.com:6443";
    let line = "get widgets a --no-cache --kubeconfig config";
    let authority = "    certificate-authority: ca.crt";
    let proxy_url = format!("{authority}\n    proxy-url: {}", tunnel.url);
    let dead = "http://127.0.0.1:1";
    for (config, env, code) in [
        (&proxy_url, vec![], 0),
        // The kubeconfig takes precedence over the environment, and NO_PROXY is ignored.
        (&proxy_url, vec![("HTTPS_PROXY", dead), ("NO_PROXY", "inside.example.com")], 0),
        (&authority.to_owned(), vec![("HTTPS_PROXY", tunnel.url.as_str())], 0),
        (&authority.to_owned(), vec![("https_proxy", tunnel.url.as_str()), ("NO_PROXY", "other.example.com")], 0),
        (&authority.to_owned(), vec![("HTTPS_PROXY", tunnel.url.as_str()), ("NO_PROXY", ".example.com")], 2),
        (&authority.to_owned(), vec![("HTTP_PROXY", tunnel.url.as_str())], 2),
    ] {
        place.write("config", &kubeconfig(server, config));
        let says = if code == 0 { "NAME" } else { "cannot reach the cluster at https://inside.example.com:6443" };
        place.run_with(line, &env, "").ends(code, &[says]);
        assert_eq!(tunnel.led_to("inside.example.com:6443"), code == 0, "{config} {env:?}");
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, i| bits << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}
