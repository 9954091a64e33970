//! Sends requests to a CRD API server, in process or over HTTP, and normalizes responses so that runs can be compared.

use crate::conformance::varying;
use crdx_value::release::Release;
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// A response.
pub struct Reply {
    pub code: u16,
    pub body: Value,
    pub warnings: Vec<String>,
}

/// A client of a server.
pub trait Client {
    /// Sends a request; returns the status code, the bytes of the body as sent over HTTP, and the warnings.
    fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        content_type: Option<&str>,
        accept: &str,
    ) -> Answer;
    /// Sends a request with a text and parses the answer.
    fn call(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&str>,
        content_type: Option<&str>,
        accept: &str,
    ) -> Reply {
        let answer = self.send(method, path, body.map(str::as_bytes), content_type, accept);
        let body = if answer.code == 0 { Value::Null } else { parse(&String::from_utf8_lossy(&answer.data)) };
        Reply { code: answer.code, body, warnings: answer.warnings }
    }
    /// Waits until a server with background controllers has settled.
    fn settle(&self) {}
}

/// Parses JSON, the events of a watch (as an array), or plain text (as a JSON string).
pub fn parse(text: &str) -> Value {
    let events = || text.lines().map(|line| serde_json::from_str(line).ok()).collect::<Option<Vec<Value>>>();
    let is_event = |line: &Value| line.get("type").is_some() && line.get("object").is_some();
    match events() {
        Some(events) if !events.is_empty() && events.iter().all(is_event) => Value::Array(events),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
}

/// The simulated server, without sockets.
pub struct InProcess {
    server: crdx_server::server::Server,
    /// Every denial by policies in the last answer, as the server writes it.
    pub denials: Vec<String>,
}

impl InProcess {
    /// Creates a server for a release.
    pub fn of(release: Release) -> Self {
        Self::with(crdx_server::server::Server::new(release, 1))
    }

    /// A server of any kind.
    pub fn with(server: crdx_server::server::Server) -> Self {
        Self { server, denials: Vec::new() }
    }
}

impl Default for InProcess {
    fn default() -> Self {
        Self::of(Release::NEWEST)
    }
}

impl Client for InProcess {
    fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        content_type: Option<&str>,
        accept: &str,
    ) -> Answer {
        use crdx_server::server::{Body, Method, Request, Timestamp, http::wire};
        let known = Method::from_name(method);
        assert_ne!(known, Method::Other, "no such method: {method}");
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let response = self.server.handle(&Request {
            method: known,
            path: path.to_owned(),
            content_type: content_type.map(str::to_owned),
            accept: Some(accept.to_owned()),
            user_agent: Some("conformance/1".to_owned()),
            user: None,
            skips_admission: false,
            skips_validation: false,
            hides_dry_run: false,
            applied_before: None,
            is_encoded: false,
            empties: None,
            cluster_state: None,
            body: body.map_or(Body::Empty, |bytes| Body::Bytes(bytes.to_vec())),
            now: Timestamp { seconds: now.as_secs().cast_signed(), nanos: 0 },
        });
        let found = response.trace.policies.as_ref();
        self.denials = found
            .map(|found| found.denials.iter().map(crdx_server::policies::denial::Origin::cause).collect())
            .unwrap_or_default();
        let (_, data) = wire::encode(response.body, response.format);
        Answer { code: response.code, data, warnings: response.warnings, closes: false }
    }
}

/// A server at a loopback port. The connection is kept for the next request.
pub struct Http {
    host: String,
    connection: Option<BufReader<TcpStream>>,
    /// How long the server's background controllers need after a write.
    settles_for: Duration,
}

impl Http {
    pub fn new(url: &str) -> Self {
        let host = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { host, connection: None, settles_for: Duration::from_millis(100) }
    }

    pub fn settling_for(self, settles_for: Duration) -> Self {
        Self { settles_for, ..self }
    }

    /// Sends a request on a connection; returns nothing if the server closes the connection without an answer, as it does
    /// when it panics.
    fn exchange(connection: &mut BufReader<TcpStream>, request: &[u8]) -> Option<Answer> {
        connection.get_mut().write_all(request).ok()?;
        let mut line = String::new();
        connection.read_line(&mut line).ok()?;
        let code = line.split(' ').nth(1)?.parse().unwrap();
        let mut answer = Answer { code, warnings: Vec::new(), data: Vec::new(), closes: false };
        let (mut chunked, mut length) = (false, None);
        loop {
            line.clear();
            connection.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "warning" => answer.warnings.push(
                    serde_json::from_str(value.trim_start_matches("299 - ")).unwrap_or_else(|_| value.to_owned()),
                ),
                "transfer-encoding" => chunked = value == "chunked",
                "content-length" => length = Some(value.parse().unwrap()),
                "connection" => answer.closes = value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        if chunked {
            loop {
                line.clear();
                connection.read_line(&mut line).unwrap();
                let length = usize::from_str_radix(line.trim(), 16).unwrap();
                let mut chunk = vec![0; length + 2];
                connection.read_exact(&mut chunk).unwrap();
                if length == 0 {
                    break;
                }
                answer.data.extend_from_slice(&chunk[..length]);
            }
        } else if let Some(length) = length {
            answer.data.resize(length, 0);
            connection.read_exact(&mut answer.data).unwrap();
        } else if code != 204 && code != 304 {
            connection.read_to_end(&mut answer.data).unwrap();
            answer.closes = true;
        }
        Some(answer)
    }
}

/// A response as sent; its code is 0 if the server closes the connection without one.
pub struct Answer {
    pub code: u16,
    pub warnings: Vec<String>,
    pub data: Vec<u8>,
    /// The server closes the connection.
    closes: bool,
}

impl Client for Http {
    fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        content_type: Option<&str>,
        accept: &str,
    ) -> Answer {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\nUser-Agent: conformance/1\r\n",
            self.host
        );
        if let Some(body) = body {
            let _ = write!(head, "Content-Type: {}\r\n", content_type.unwrap_or("application/json"));
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        let request = [format!("{head}\r\n").as_bytes(), body.unwrap_or_default()].concat();
        // The server may have closed the connection after the last answer, so a second attempt uses a new one.
        let kept = self.connection.take().and_then(|mut kept| {
            let answer = Self::exchange(&mut kept, &request)?;
            Some((kept, answer))
        });
        let answered = kept.or_else(|| {
            let stream = TcpStream::connect(&self.host).unwrap();
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            let mut connection = BufReader::new(stream);
            let answer = Self::exchange(&mut connection, &request)?;
            Some((connection, answer))
        });
        let Some((connection, answer)) = answered else {
            return Answer { code: 0, warnings: Vec::new(), data: Vec::new(), closes: true };
        };
        self.connection = (!answer.closes).then_some(connection);
        answer
    }

    fn settle(&self) {
        std::thread::sleep(self.settles_for);
    }
}

/// Replaces values that vary between runs by `"*"`, and removes managedFields unless requested.
pub fn normalise(mut body: Value, managed_fields: bool) -> Value {
    for event in body.as_array_mut().into_iter().flatten() {
        scrub(&mut event["object"]);
    }
    if body.is_object() {
        let mut managers = body.pointer_mut("/metadata/managedFields").map(Value::take);
        scrub(&mut body);
        if managed_fields && let Some(managers) = &mut managers {
            for manager in managers.as_array_mut().into_iter().flatten() {
                if manager.get("time").is_some() {
                    manager["time"] = json!("*");
                }
                // The manager has the name of the server's executable, which is kube-apiserver in a cluster.
                if manager["manager"].as_str().is_some_and(|name| name.starts_with("apiserver")) {
                    manager["manager"] = json!("kube-apiserver");
                }
            }
            // The server sorts entries by time, so the order would depend on when a second ends.
            if let Some(managers) = managers.as_array_mut() {
                managers.sort_by_key(|m| {
                    ["operation", "manager", "apiVersion", "subresource"]
                        .map(|key| m[key].as_str().unwrap_or_default().to_owned())
                });
            }
            body["metadata"]["managedFields"] = managers.clone();
        }
    }
    body
}

fn scrub(body: &mut Value) {
    if let Some(meta) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "selfLink"] {
            if meta.get(key).is_some_and(|v| !v.is_null()) {
                meta.insert(key.to_owned(), json!("*"));
            }
        }
        meta.remove("managedFields");
        if let (Some(prefix), Some(name)) =
            (meta.get("generateName").and_then(Value::as_str), meta.get("name").and_then(Value::as_str))
            && name.len() == prefix.len() + 5
            && name.starts_with(prefix)
        {
            meta.insert("name".to_owned(), json!(format!("{prefix}*****")));
        }
        if meta.get("continue").is_some_and(|v| v != "") {
            meta.insert("continue".to_owned(), json!("*"));
        }
    }
    let kind = body["kind"].as_str().unwrap_or_default().to_owned();
    match kind.as_str() {
        "Table" => scrub_table(body),
        "Status" => scrub_status(body),
        _ => {}
    }
    // The items of a CRD list have no kind.
    scrub_conditions(body);
    if kind.ends_with("List") {
        for item in body.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
            scrub(item);
        }
    }
}

fn scrub_table(table: &mut Value) {
    let definitions = table["columnDefinitions"].as_array().cloned().unwrap_or_default();
    for row in table["rows"].as_array_mut().into_iter().flatten() {
        if let Some(object) = row.get_mut("object") {
            scrub(object);
        }
        for (cell, definition) in row["cells"].as_array_mut().into_iter().flatten().zip(&definitions) {
            let date = definition["format"] == "date" || definition["type"] == "date";
            if date && cell.as_str().is_some_and(|text| varying::AGE_OR_TIME.is_match(text)) {
                *cell = json!("*");
            }
        }
    }
}

fn scrub_conditions(crd: &mut Value) {
    if let Some(conditions) = crd.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        conditions.sort_by_key(|c| c["type"].to_string());
        for condition in conditions {
            if condition.get("lastTransitionTime").is_some() {
                condition["lastTransitionTime"] = json!("*");
            }
        }
    }
}

/// The server reports multiple field errors in random order, and quotes the whole patched object in errors of invalid
/// patches.
fn scrub_status(status: &mut Value) {
    // The errors of an apply patch are in random order, too.
    let sorted = |text: &str| match text.split_once(": errors:\n") {
        Some((head, errors)) => {
            let mut lines: Vec<&str> = errors.split('\n').collect();
            lines.sort_unstable();
            format!("{head}: errors:\n{}", lines.join("\n"))
        }
        None => text.to_owned(),
    };
    let clean = |text: &str| {
        let text = &*sorted(text);
        let text = varying::QUOTED_OBJECT.replace(text, "${1}Invalid value: \"*\": ");
        let text = varying::SELF_TYPE.replace_all(&text, "selfType*").into_owned();
        let text = varying::UID.replace_all(&text, "*").into_owned();
        let text = varying::ADDRESS.replace_all(&text, "(*)").into_owned();
        varying::RECORD.replace_all(&text, "${1}*)").into_owned()
    };
    if let Some(message) = status["message"].as_str() {
        status["message"] = json!(clean(message));
    }
    if let Some(details) = status.get_mut("details").and_then(Value::as_object_mut) {
        if details.contains_key("uid") {
            details.insert("uid".to_owned(), json!("*"));
        }
        if let Some(causes) = details.get_mut("causes").and_then(Value::as_array_mut) {
            for cause in causes.iter_mut() {
                if let Some(message) = cause["message"].as_str() {
                    cause["message"] = json!(clean(message));
                }
            }
            let text = |c: &Value, key: &str| c[key].as_str().unwrap_or_default().to_owned();
            causes.sort_by_key(|c| (text(c, "field"), text(c, "reason"), text(c, "message")));
            if causes.len() > 1
                && let Some(message) = status["message"].as_str()
            {
                status["message"] = json!(varying::SEVERAL_ERRORS.replace(message, "${1}[*]"));
            }
        }
    }
}
