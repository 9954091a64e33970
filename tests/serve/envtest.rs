//! Tests of `kubectl crdx envtest`: the programs that it writes, started and asked as envtest does.

use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The folder of a release below `base`.
fn folder(base: &Path, version: &str) -> PathBuf {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    let output = command.args(["envtest", "--kubernetes-version", version, "--dir"]).arg(base).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A program that is killed at the end.
struct Program(Child);

impl Program {
    fn start(path: &Path, args: &[String]) -> Self {
        Self(Command::new(path).args(args).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Ends it as envtest does.
    fn stop(mut self) {
        assert!(Command::new("kill").arg(self.0.id().to_string()).status().unwrap().success());
        assert!((0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            self.0.try_wait().unwrap().is_some()
        }));
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a request and returns the code and the body of the response.
fn exchange(mut stream: impl Read + Write, request: &str) -> (u16, String) {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A server that closes the connection without a notice is no error here.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn connect(port: u16) -> TcpStream {
    let stream = (0..1000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    let stream = stream.expect("the program does not listen");
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// An authority for certificates of clients, as envtest makes one.
struct Authority(Issuer<'static, KeyPair>, String);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        Self(Issuer::new(params, key), certificate)
    }

    fn certificate(&self, name: &str, group: &str) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.der().clone(), PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap())
    }
}

/// A running kube-apiserver with the authority of its clients.
struct ApiServer {
    program: Program,
    port: u16,
    authority: Authority,
    certificates: tempfile::TempDir,
}

impl ApiServer {
    fn start(folder: &Path) -> Self {
        let certificates = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let port = free_port();
        let file = |name: &str, text: &str| {
            let path = certificates.path().join(name);
            fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let authorities = file("client-ca.crt", &authority.1);
        let tokens = file("tokens.csv", "secret,robot,1,\"dev,ops\"\n");
        let args = [
            "--allow-privileged=true".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--cert-dir={}", certificates.path().display()),
            format!("--client-ca-file={authorities}"),
            format!("--token-auth-file={tokens}"),
            "--etcd-servers=http://127.0.0.1:1".to_owned(),
            format!("--secure-port={port}"),
        ];
        let program = Program::start(&folder.join("kube-apiserver"), &args);
        drop(connect(port));
        Self { program, port, authority, certificates }
    }

    /// Sends a request with JSON over TLS.
    fn call(
        &self,
        identity: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>,
        (method, path): (&str, &str),
        headers: &str,
        body: &Value,
    ) -> (u16, Value) {
        let mut roots = RootCertStore::empty();
        let own = fs::read(self.certificates.path().join("apiserver.crt")).unwrap();
        roots.add(CertificateDer::from_pem_slice(&own).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots);
        let config = match identity {
            Some((certificate, key)) => config.with_client_auth_cert(vec![certificate], key).unwrap(),
            None => config.with_no_client_auth(),
        };
        let name = ServerName::try_from("localhost").unwrap();
        let tls = ClientConnection::new(Arc::new(config), name).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        let (code, body) = exchange(StreamOwned::new(tls, connect(self.port)), &request);
        (code, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }

    /// The user as which the server sees a client.
    fn user(&self, identity: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>, headers: &str) -> (u16, Value) {
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let (code, answer) = self.call(identity, ("POST", path), headers, &review);
        (code, if code == 201 { answer["status"]["userInfo"].clone() } else { answer["message"].clone() })
    }
}

#[test]
fn the_folder_has_links_and_a_version() {
    let base = tempfile::tempdir().unwrap();
    let folder = folder(base.path(), "1.34");
    assert!(folder.starts_with(base.path().join("k8s")), "{folder:?}");
    assert!(folder.file_name().unwrap().to_str().unwrap().starts_with("1.34."));
    let run = |name: &str, args: &[&str]| {
        let output = Command::new(folder.join(name)).args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, version, _) = run("kube-apiserver", &["--version"]);
    assert_eq!(code, Some(0));
    assert!(version.starts_with("Kubernetes v1.34."), "{version}");
    // envtest looks for these flags in the help.
    let (code, help, _) = run("kube-apiserver", &["--help"]);
    assert!(code == Some(0) && !help.contains("--insecure-port"));
    let (code, help, _) = run("etcd", &["--help"]);
    assert!(code == Some(0) && help.lines().any(|line| line.trim_start().starts_with("--unsafe-no-fsync")));
    for (program, flag, problem) in [
        ("kube-apiserver", "--secure-port=x", "error: --secure-port: \"x\" is not a number in its range\n"),
        (
            "kube-apiserver",
            "serve",
            "error: \"serve\" is not a flag: flags begin with -- and take their value as --NAME=VALUE\n",
        ),
        (
            "etcd",
            "--listen-client-urls=http://192.0.2.1:1",
            "error: 192.0.2.1 is not an address of the loopback: use 127.0.0.1 or ::1\n",
        ),
    ] {
        if flag.contains("192.0.2.1") {
            assert_eq!(run(program, &[flag]).0, Some(2));
            continue;
        }
        assert_eq!(run(program, &[flag]), (Some(2), String::new(), problem.to_owned()), "{program} {flag}");
    }
}

#[test]
fn etcd_is_healthy() {
    let base = tempfile::tempdir().unwrap();
    let port = free_port();
    let args = [
        format!("--listen-client-urls=http://127.0.0.1:{port}"),
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        "--unsafe-no-fsync=true".to_owned(),
        format!("--data-dir={}", base.path().display()),
    ];
    let etcd = Program::start(&folder(base.path(), "1.37").join("etcd"), &args);
    let request = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(exchange(connect(port), request), (200, r#"{"health":"true","reason":""}"#.to_owned()));
    etcd.stop();
}

#[test]
fn certificates_and_tokens_name_users() {
    let base = tempfile::tempdir().unwrap();
    let server = ApiServer::start(&folder(base.path(), "1.37"));
    let admin = || Some(server.authority.certificate("admin", "system:masters"));
    let (code, user) = server.user(admin(), "");
    assert_eq!(code, 201, "{user}");
    let id = user["extra"]["authentication.kubernetes.io/credential-id"][0].as_str().unwrap().to_owned();
    assert!(id.starts_with("X509SHA256=") && id.len() == "X509SHA256=".len() + 64, "{id}");
    let extra = json!({"authentication.kubernetes.io/credential-id": [id]});
    assert_eq!(
        user,
        json!({"username": "admin", "groups": ["system:masters", "system:authenticated"], "extra": extra})
    );
    let (code, user) = server.user(None, "Authorization: Bearer secret\r\n");
    assert_eq!((code, &user["username"]), (201, &json!("robot")));
    let unauthorized = (401, json!("Unauthorized"));
    assert_eq!(server.user(None, "Authorization: Bearer other\r\n"), unauthorized);
    assert_eq!(server.user(Some(Authority::new().certificate("admin", "system:masters")), ""), unauthorized);
    let (code, message) = server.user(None, "");
    assert_eq!(code, 403);
    assert_eq!(
        message,
        "selfsubjectreviews.authentication.k8s.io is forbidden: User \"system:anonymous\" cannot create resource \"selfsubjectreviews\" in API group \"authentication.k8s.io\" at the cluster scope"
    );
    assert_eq!(server.user(None, "Impersonate-User: admin\r\n").0, 403);
    let (code, user) = server.user(admin(), "Impersonate-User: jane\r\n");
    assert_eq!((code, &user["username"]), (201, &json!("jane")));
    for path in ["/healthz", "/readyz", "/livez"] {
        assert_eq!(server.call(None, ("GET", path), "", &Value::Null), (200, json!("ok")), "{path}");
    }
    server.program.stop();
}

#[test]
fn namespaces_have_a_life_cycle() {
    let base = tempfile::tempdir().unwrap();
    let server = ApiServer::start(&folder(base.path(), "1.36"));
    let send = |method: &str, path: &str, body: &Value| {
        server.call(Some(server.authority.certificate("admin", "system:masters")), (method, path), "", body)
    };
    let (_, version) = send("GET", "/version", &Value::Null);
    assert_eq!(version["minor"], "36");
    let (_, list) = send("GET", "/api/v1/namespaces", &Value::Null);
    let names: Vec<&str> =
        list["items"].as_array().unwrap().iter().map(|n| n["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
    assert_eq!(send("DELETE", "/api/v1/namespaces/kube-system", &Value::Null).0, 403);
    let north = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "north"}});
    assert_eq!(send("POST", "/api/v1/namespaces", &north).0, 201);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let maps = "/api/v1/namespaces/north/configmaps";
    assert_eq!(send("POST", maps, &map).0, 201);
    // Built-in kinds are served, and their objects stay in a namespace that is being deleted, without controllers.
    let (code, service) = send("GET", "/api/v1/namespaces/default/services/kubernetes", &Value::Null);
    assert_eq!((code, &service["spec"]["ports"][0]["port"]), (200, &json!(443)));
    let deployments = "/apis/apps/v1/namespaces/north/deployments";
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let (code, created) = send("POST", deployments, &deployment);
    assert_eq!((code, &created["spec"]["replicas"]), (201, &json!(1)), "{created}");
    let (code, deleted) = send("DELETE", "/api/v1/namespaces/north", &Value::Null);
    assert_eq!((code, &deleted["status"]["phase"]), (200, &json!("Terminating")));
    let (code, left) = send("GET", "/api/v1/namespaces/north", &Value::Null);
    assert_eq!((code, &left["spec"]["finalizers"]), (200, &json!(["kubernetes"])));
    let (code, status) = send("POST", maps, &map);
    assert_eq!((code, &status["reason"]), (403, &json!("Forbidden")));
    assert_eq!(send("GET", &format!("{deployments}/d"), &Value::Null).0, 200);
    assert_eq!(send("DELETE", &format!("{deployments}/d"), &Value::Null).0, 200);
    assert_eq!(send("PUT", "/api/v1/namespaces/north/finalize", &north).0, 200);
    assert_eq!(send("GET", "/api/v1/namespaces/north", &Value::Null).0, 404);
    let (code, status) = send("POST", maps, &map);
    assert_eq!((code, &status["message"]), (404, &json!("namespaces \"north\" not found")));
    server.program.stop();
    // Every start has a fresh state.
    let server = ApiServer::start(&folder(base.path(), "1.36"));
    let admin = server.authority.certificate("admin", "system:masters");
    let (_, list) = server.call(Some(admin), ("GET", "/api/v1/namespaces"), "", &Value::Null);
    assert_eq!(list["items"].as_array().unwrap().len(), 4);
}
