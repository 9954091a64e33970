//! Faults of clusters, connections, certificates and credential plugins: each run ends, with exit code 2 and a message, or
//! with the right result after a retry.

use super::connection::with_tls;
use super::fake::{Fake, Reply};
use super::{DEFINITION, TestDir, WIDGETS, cluster, crd, object, status, widget};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SerialNumber, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A page of objects `FROM…`, and further members of its metadata.
fn page(from: usize, count: usize, more: &str) -> String {
    let items: Vec<String> = (from..from + count).map(|n| widget(&format!("w{n}"), 7)).collect();
    format!(r#"{{"kind":"WidgetList","metadata":{{"resourceVersion":"9"{more}}},"items":[{}]}}"#, items.join(","))
}

/// A cluster whose second page is `second`.
fn paged(second: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Fake {
    Fake::serve(move |path, before| match path.split_once('?') {
        Some((WIDGETS, "limit=500")) => Reply::Json(200, page(0, 3, r#","continue":"two""#)),
        Some((WIDGETS, _)) => second(before),
        _ => cluster(path),
    })
}

#[test]
fn requests_are_retried_only_if_the_server_says_so() {
    const A: &str = "/apis/fake.example.com/v1/namespaces/default/widgets/a";
    let place = TestDir::new("server-errors");
    let line = |fake: &Fake| format!("validate -f a.yaml -s {} --no-cache", fake.url);
    let with = |reply: fn(usize) -> Reply| {
        Fake::serve(move |path, before| if path == A { reply(before) } else { cluster(path) })
    };
    let fails = with(|_| status(500, "etcdserver: leader changed"));
    let says = [
        "answered 500",
        "etcdserver: leader changed",
        "help: the server, or a proxy in front of it, failed: run it again",
    ];
    place.run(&line(&fails)).ends(2, &says);
    assert_eq!(fails.count(A), 1);
    // client-go repeats a request after any answer of 500 and above with Retry-After.
    for code in [500, 503] {
        let late = Fake::serve(move |path, before| match path {
            A if before < 2 => Reply::Later(code, 0),
            _ => cluster(path),
        });
        place.run(&line(&late)).ends(0, &["1 accepted"]);
        assert_eq!(late.count(A), 3);
    }
    let proxy = with(|_| Reply::Text(502, "<html>Bad Gateway</html>"));
    place.run(&line(&proxy)).ends(2, &["answered 502", "<html>Bad Gateway</html>", "run it again"]);
    let busy = with(|_| Reply::Later(429, 0));
    let start = Instant::now();
    place.run(&line(&busy)).ends(2, &["answered 429", "try again later"]);
    assert_eq!(busy.count(A), 5);
    assert!(start.elapsed() < Duration::from_mins(1));
}

#[test]
fn an_expired_list_is_incomplete() {
    let place = TestDir::new("expired-list");
    place.write("new.yaml", &crd("", 5));
    let expired = || status(410, "The provided continue parameter is too old");
    let fake = paged(move |_| expired());
    let line = format!("rehearse new.yaml -s {} --no-cache", fake.url);
    let says =
        ["answered 410", "the list took too long and its snapshot is gone: run it again", "only 3 objects were read"];
    place.run(&line).ends(2, &says);
    let said = place.run(&format!("get widgets -A -s {} --no-cache", fake.url)).ends(2, &["snapshot is gone"]);
    assert_eq!(said.out.lines().count(), 4, "{}", said.out);
    // The second answer has no token either.
    let twice = paged(|before| {
        let more = if before == 0 { r#","metadata":{"continue":"newer"}"# } else { "" };
        Reply::Json(410, format!(r#"{{"kind":"Status","code":410,"message":"expired"{more}}}"#))
    });
    place.run(&format!("rehearse new.yaml -s {} --no-cache", twice.url)).ends(2, &["answered 410", "only 3 objects"]);
}

#[test]
fn a_page_that_is_not_a_list_is_an_error() {
    let place = TestDir::new("pages");
    place.write("new.yaml", &crd("", 5));
    let cases = [
        (paged(|_| Reply::Json(200, page(3, 3, "").split_at(200).0.to_owned())), "is not JSON"),
        (paged(|_| Reply::Json(200, "{}".to_owned())), "is not a list"),
        (paged(|_| Reply::Json(200, r#"{"kind":"Status","status":"Success"}"#.to_owned())), "is not a list"),
        (
            paged(|_| Reply::Json(200, page(3, 3, r#","continue":"two""#))),
            "does not end: a page has its own continue token",
        ),
        (paged(|_| Reply::Cut(page(3, 3, ""))), "the connection failed"),
    ];
    for (fake, says) in cases {
        let says = [says, "only 3 objects were read; the results cover only these", "help: "];
        place.run(&format!("rehearse new.yaml -s {} --no-cache", fake.url)).ends(2, &says);
        place.run(&format!("get widgets -A -s {} --no-cache", fake.url)).ends(2, &says[..1]);
    }
    // The first page: no objects is another answer than no list.
    let empty = Fake::serve(
        |path, _| if path.starts_with(WIDGETS) { Reply::Json(200, "{}".to_owned()) } else { cluster(path) },
    );
    place.run(&format!("rehearse new.yaml -s {} --no-cache", empty.url)).ends(2, &["is not a list"]);
}

#[test]
fn a_crd_that_changes_between_pages_leaves_the_verdict_open() {
    let place = TestDir::new("changed");
    place.write("new.yaml", &crd("", 9));
    let with = |later: fn() -> Reply| {
        Fake::serve(move |path, before| match path.split_once('?') {
            Some((WIDGETS, "limit=500")) => Reply::Json(200, page(0, 3, r#","continue":"two""#)),
            Some((WIDGETS, _)) => Reply::Json(200, page(3, 3, "")),
            _ if path == DEFINITION && before > 0 => later(),
            _ => cluster(path),
        })
    };
    for flag in ["", " --no-cache"] {
        let line = |fake: &Fake| format!("rehearse new.yaml -s {}{flag}", fake.url);
        let other = with(|| Reply::Json(200, crd("2", 20)));
        place
            .run(&line(&other))
            .ends(2, &["the CRD was changed in the cluster while its objects were read", "run it again"]);
        // A change of its metadata or status.
        let same = with(|| Reply::Json(200, crd("2", 10)));
        place.run(&line(&same)).ends(0, &["6 objects"]);
        let gone = with(|| status(404, "not found"));
        place.run(&line(&gone)).ends(2, &["the CRD was changed in the cluster"]);
        let unknown = with(|| status(403, "no way"));
        place.run(&line(&unknown)).ends(2, &["whether the CRD changed while its objects were read is unknown", "403"]);
    }
    let stopped = paged(|_| status(404, "not found"));
    let says =
        ["the cluster stopped serving /apis/fake.example.com/v1/widgets while the list was read", "run it again"];
    place.run(&format!("rehearse new.yaml -s {} --no-cache", stopped.url)).ends(2, &says);
}

/// A cluster that resets some connections: dropping a socket with unread data sends RST.
fn resetting(reset: impl Fn(usize) -> bool + Send + Sync + 'static) -> Fake {
    let connections = AtomicUsize::new(0);
    let over = move |stream: std::net::TcpStream| {
        if reset(connections.fetch_add(1, Ordering::SeqCst)) {
            stream.shutdown(Shutdown::Both).unwrap();
        }
        stream
    };
    // Every connection has one request.
    Fake::serve_over("http", over, |path, _| match cluster(path) {
        Reply::Json(200, body) => Reply::Headed("connection: close\r\n", body),
        other => other,
    })
}

#[test]
fn a_reset_connection_is_opened_again() {
    let place = TestDir::new("resets");
    let line = |fake: &Fake| format!("validate -f a.yaml -s {} --no-cache", fake.url);
    let some = resetting(|n| n == 1 || n == 3);
    place.run(&line(&some)).ends(0, &["default/a", "1 accepted"]);
    let all = resetting(|_| true);
    place.run(&line(&all)).ends(2, &["cannot reach the cluster at http://127.0.0.1:", "check --context and --server"]);
    let later = resetting(|n| n > 0);
    let says = ["the connection failed during GET /", "run it again"];
    place.run(&line(&later)).ends(2, &says);
    // A connection that the server closed while it was idle.
    let closed =
        Fake::serve(|path, before| if before == 0 && path == DEFINITION { Reply::Close } else { cluster(path) });
    place.run(&line(&closed)).ends(0, &["1 accepted"]);
}

fn issuer(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for 127.0.0.1 and its key, valid until the beginning of a year.
fn certificate(issuer: &CertifiedIssuer<'static, KeyPair>, serial: u64, end: i32) -> (rcgen::Certificate, KeyPair) {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.serial_number = Some(SerialNumber::from(serial));
    (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(end, 1, 1));
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, issuer).unwrap(), key)
}

/// A cluster with a server certificate that is valid until `end`, which accepts the client certificates of `clients`, if
/// any, other than those with serial number 7.
fn with_certificates(
    issuer: &CertifiedIssuer<'static, KeyPair>,
    end: i32,
    clients: Option<&CertifiedIssuer<'static, KeyPair>>,
) -> Fake {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
    let config = match clients {
        None => config.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots.add(clients.der().clone()).unwrap();
            let revoked = rcgen::RevokedCertParams {
                serial_number: SerialNumber::from(7),
                revocation_time: date_time_ymd(2020, 1, 1),
                reason_code: None,
                invalidity_date: None,
            };
            let list = rcgen::CertificateRevocationListParams {
                this_update: date_time_ymd(2020, 1, 1),
                next_update: date_time_ymd(2100, 1, 1),
                crl_number: SerialNumber::from(1),
                issuing_distribution_point: None,
                revoked_certs: vec![revoked],
                key_identifier_method: rcgen::KeyIdMethod::Sha256,
            };
            let list = list.signed_by(clients).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            config.with_client_cert_verifier(verifier.with_crls([list.der().clone()]).build().unwrap())
        }
    };
    let (own, key) = certificate(issuer, 2, end);
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = Arc::new(config.with_single_cert(vec![own.der().clone()], key).unwrap());
    let over = move |stream| StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
    Fake::serve_over("https", over, |path, _| cluster(path))
}

#[test]
fn a_refused_certificate_is_named() {
    let place = TestDir::new("certificates");
    let (own, other) = (issuer("own"), issuer("other"));
    place.write("ca.crt", &own.pem());
    for (name, issuer, serial, end) in
        [("good", &own, 3, 2100), ("revoked", &own, 7, 2100), ("expired", &own, 4, 2020), ("foreign", &other, 5, 2100)]
    {
        let (certificate, key) = certificate(issuer, serial, end);
        place.write(&format!("{name}.crt"), &certificate.pem());
        place.write(&format!("{name}.key"), &key.serialize_pem());
    }
    let line = |fake: &Fake, more: &str| format!("validate -f a.yaml -s {} --no-cache {more}", fake.url);
    let authority = "--certificate-authority ca.crt";
    let expired = with_certificates(&own, 2020, None);
    let says =
        ["cannot reach the cluster at https://127.0.0.1:", "the certificate of the server has expired: renew it"];
    place.run(&line(&expired, authority)).ends(2, &says);
    let fine = with_certificates(&own, 2100, None);
    place.run(&line(&fine, authority)).ends(0, &["1 accepted"]);
    let says = ["UnknownIssuer", "give the authority that signed the certificate of the server"];
    place.run(&line(&fine, "")).ends(2, &says);
    let says = ["not valid for name", "use a name of the certificate"];
    place.run(&line(&fine, &format!("{authority} --tls-server-name other.example.com"))).ends(2, &says);
    let strict = with_certificates(&own, 2100, Some(&own));
    let client = |name: &str| format!("{authority} --client-certificate {name}.crt --client-key {name}.key");
    place.run(&line(&strict, &client("good"))).ends(0, &["1 accepted"]);
    for (more, alert) in [
        (client("revoked"), "CertificateRevoked"),
        (client("expired"), "CertificateExpired"),
        (client("foreign"), "UnknownCA"),
        (authority.to_owned(), "CertificateRequired"),
    ] {
        let says = [alert, "the server rejects the client certificate: log in again"];
        place.run(&line(&strict, &more)).ends(2, &says);
    }
}

#[cfg(unix)]
#[test]
fn a_credential_plugin_that_hangs_is_given_up() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    let place = TestDir::new("hanging-plugin");
    let fake = with_tls(|path, _| cluster(path));
    place.write(
        "config",
        &format!(
            "current-context: c\nclusters:\n- name: c\n  cluster: {{server: \"{}\", insecure-skip-tls-verify: true}}\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user:\n    exec: {{apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: IfAvailable}}\n",
            fake.url
        ),
    );
    let script = |text: &str| {
        let path = place.write("login", &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let line = "validate -f - --kubeconfig config --no-cache --request-timeout 1s";
    script("exec sleep 600");
    let says = [
        "the credential plugin",
        "did not end within 1 s",
        "run it by hand, or give it more time with --request-timeout",
    ];
    place.run_with(line, &[], &object("a", 4)).ends(2, &says);
    assert_eq!(fake.paths(), [""; 0]);
    // The first tokens expire at once, and the plugin hangs when it is asked for another.
    script(
        r#"echo >>runs; test $(wc -l <runs) -gt 2 && exec sleep 600
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}}'"#,
    );
    place.run_with(line, &[], &object("a", 4)).ends(2, &["within 1 s"]);
}
