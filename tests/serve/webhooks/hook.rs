//! A webhook: a TLS server whose answers a test determines.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The certificate for `localhost`, 127.0.0.1 and `hook.system.svc`, which is also its own CA certificate.
pub const CERTIFICATE: &[u8] = include_bytes!("hook.crt");

/// An HTTP response.
pub struct Answer {
    pub code: u16,
    pub content_type: &'static str,
    pub body: String,
    pub headers: Vec<(&'static str, String)>,
}

impl From<(u16, Value)> for Answer {
    fn from((code, body): (u16, Value)) -> Self {
        Self { code, content_type: "application/json", body: body.to_string(), headers: Vec::new() }
    }
}

type Respond = dyn Fn(&str, &Value) -> Answer + Send + Sync;

/// A running webhook.
pub struct Hook {
    /// `https://127.0.0.1:PORT`
    pub url: String,
    /// The path and the review of every call.
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Hook {
    /// Starts a webhook; `respond` receives the path and the review.
    pub fn serve<A: Into<Answer>>(respond: impl Fn(&str, &Value) -> A + Send + Sync + 'static) -> Self {
        let chain = CertificateDer::pem_slice_iter(CERTIFICATE).collect::<Result<_, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("hook.key")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let respond: Arc<Respond> = Arc::new(move |path, review| respond(path, review).into());
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let calls = Arc::<Mutex<Vec<_>>>::default();
        let log = Arc::clone(&calls);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, respond, log) = (Arc::clone(&config), Arc::clone(&respond), Arc::clone(&log));
                thread::spawn(move || converse(stream, config, &*respond, &log));
            }
        });
        Self { url, calls }
    }

    /// Returns and removes the calls.
    pub fn calls(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

fn converse(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    respond: &Respond,
    log: &Mutex<Vec<(String, Value)>>,
) -> Option<()> {
    let mut stream = BufReader::new(StreamOwned::new(ServerConnection::new(config).ok()?, stream));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let review: Value = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).ok()? };
    log.lock().unwrap().push((path.clone(), review.clone()));
    let Answer { code, content_type, body, headers } = respond(path.split('?').next()?, &review);
    let mut head =
        format!("HTTP/1.1 {code} Answered\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in &headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head += "Connection: close\r\n\r\n";
    let stream = stream.get_mut();
    stream.write_all((head + &body).as_bytes()).ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()
}

/// Returns an `AdmissionReview` with this response, to which `uid` is added.
pub fn reviewed(review: &Value, mut response: Value) -> (u16, Value) {
    response["uid"] = review["request"]["uid"].clone();
    (200, json!({"kind": "AdmissionReview", "apiVersion": review["apiVersion"], "response": response}))
}

/// Returns a response that allows the request with a patch.
pub fn patched(review: &Value, patch: &Value) -> (u16, Value) {
    let patch = crdx_value::base64::Encoding::Standard.encode(patch.to_string().as_bytes());
    reviewed(review, json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
}
