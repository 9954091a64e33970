//! One server with its open watches.

use crate::frame::Frame;
use crdx_server::policies::authorizer::Rules;
use crdx_server::server::http::wire;
use crdx_server::server::{
    Body, Calls, Method, Namespaces, Progress, Reply, Request, Response, SYSTEM_NAMESPACES, Server, Timestamp, Watch,
};
use crdx_value::release::Release;
use crdx_value::{Value, object};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

/// The reason why the settings start no server.
#[derive(Debug, thiserror::Error)]
#[error("kubernetesVersion {0:?} is not simulated")]
pub struct UnknownVersion(String);

/// A server with its open watches.
#[derive(Debug)]
pub struct Session {
    server: Server,
    /// The watches by the IDs of their requests.
    watches: BTreeMap<i64, Box<Watch>>,
}

impl Session {
    /// Starts a server: `kubernetesVersion` (`1.37`), and `seed` for UIDs and generated names.
    ///
    /// # Errors
    /// Returns an error for a version that is not simulated.
    pub fn new(settings: &Value) -> Result<Self, UnknownVersion> {
        let version = settings.str_at(&["kubernetesVersion"]).unwrap_or_default();
        let release = if version.is_empty() { Ok(Release::NEWEST) } else { version.parse() };
        let release = release.map_err(|_| UnknownVersion(version.to_owned()))?;
        let seed = settings.get("seed").and_then(Value::as_int).unwrap_or_default();
        let server = crdx_kinds::builder(release, seed.cast_unsigned())
            .created_at(now())
            .with_namespaces(Namespaces::Finalized, &SYSTEM_NAMESPACES.map(str::to_owned))
            .with_policies(Arc::new(Rules::allow_all()))
            .with_policy_validation()
            .with_built_in_kinds()
            .with_content_validation()
            .with_generated_fields()
            .build();
        Ok(Self { server, watches: BTreeMap::new() })
    }

    /// Handles a frame: a request, or with `end` the end of a watch. Returns the reply and the events that it causes.
    pub fn answer(&mut self, frame: Frame) -> Vec<Frame> {
        let id = frame.header.get("id").and_then(Value::as_int).unwrap_or_default();
        if frame.header.get("end").is_some() {
            self.watches.remove(&id);
            return Vec::new();
        }
        let mut replies = vec![self.reply(id, &request(frame))];
        self.server.run_controllers(now());
        self.events(&mut replies);
        replies
    }

    fn reply(&mut self, id: i64, request: &Request) -> Frame {
        match self.server.reply_with(request, &Calls::default()) {
            Reply::Whole(response) => whole(id, response),
            Reply::Stream(watch) => {
                let started = started(id, &watch);
                self.watches.insert(id, watch);
                started
            }
            // No webhook is called, and nothing pauses.
            Reply::Pending(_) | Reply::Paused(_) => whole(id, Response::timeout()),
        }
    }

    /// Appends the events that the watches have not sent yet, and the ends of watches.
    fn events(&mut self, replies: &mut Vec<Frame>) {
        let (now, context) = (now(), Context::from_waker(Waker::noop()));
        self.watches.retain(|id, watch| {
            loop {
                match watch.poll(now, &context) {
                    Poll::Ready(Some(Progress::Event(text))) => {
                        replies.push(Frame { header: object([("id", *id)]), body: text.to_vec() });
                    }
                    Poll::Ready(Some(Progress::Pending(_)) | None) => {
                        let header = object([("id", Value::Int(*id)), ("last", true.into())]);
                        replies.push(Frame { header, body: Vec::new() });
                        return false;
                    }
                    Poll::Pending => return true,
                }
            }
        });
    }
}

fn request(frame: Frame) -> Request {
    let text = |key: &str| frame.header.str_at(&[key]).map(str::to_owned);
    let method = Method::from_name(frame.header.str_at(&["method"]).unwrap_or_default());
    let path = text("path").unwrap_or_default();
    Request {
        content_type: text("contentType"),
        accept: text("accept"),
        user_agent: text("userAgent"),
        now: now(),
        ..Request::new(method, &path, if frame.body.is_empty() { Body::Empty } else { Body::Bytes(frame.body) })
    }
}

fn whole(id: i64, response: Response) -> Frame {
    let (content_type, body) = wire::encode(response.body, response.format);
    let mut headers: Vec<Value> = response.headers.into_iter().map(|(name, value)| pair(name, &value)).collect();
    let has_type = headers.iter().any(is_content_type);
    if !has_type && !body.is_empty() {
        headers.push(pair("Content-Type", content_type));
    }
    let warnings: Vec<Value> = response.warnings.into_iter().map(Value::from).collect();
    let header = object([
        ("id", Value::Int(id)),
        ("code", Value::Int(response.code.into())),
        ("headers", headers.into()),
        ("warnings", warnings.into()),
        ("last", true.into()),
    ]);
    Frame { header, body }
}

/// The reply to a watch: its events follow, until one has `last`.
fn started(id: i64, watch: &Watch) -> Frame {
    let warnings: Vec<Value> = watch.warnings().iter().map(|warning| warning.as_str().into()).collect();
    let timeout = i64::try_from(watch.timeout().as_millis()).unwrap_or(i64::MAX);
    let header = object([
        ("id", Value::Int(id)),
        ("code", Value::Int(200)),
        ("headers", vec![pair("Content-Type", "application/json")].into()),
        ("warnings", warnings.into()),
        ("timeoutMilliseconds", Value::Int(timeout)),
    ]);
    Frame { header, body: Vec::new() }
}

fn pair(name: &str, value: &str) -> Value {
    vec![Value::from(name), Value::from(value)].into()
}

fn is_content_type(header: &Value) -> bool {
    let name = header.as_array().and_then(|pair| pair.first()?.as_str());
    name.is_some_and(|name| name.eq_ignore_ascii_case("content-type"))
}

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: now.as_secs().cast_signed(), nanos: now.subsec_nanos() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    const MAPS: &str = "/api/v1/namespaces/default/configmaps";

    fn session() -> Session {
        Session::new(&json::read(br#"{"kubernetesVersion":"1.37","seed":1}"#).unwrap()).unwrap()
    }

    fn send(session: &mut Session, id: i64, method: &str, path: &str, body: &str) -> Vec<Frame> {
        let header = format!(r#"{{"id":{id},"method":"{method}","path":"{path}","contentType":"application/json"}}"#);
        session.answer(Frame { header: json::read(header.as_bytes()).unwrap(), body: body.as_bytes().to_vec() })
    }

    #[test]
    fn events_follow_the_reply_to_the_write_that_causes_them() {
        let mut session = session();
        let started = send(&mut session, 1, "GET", &format!("{MAPS}?watch=true&resourceVersion=0"), "");
        assert_eq!(started[0].header.get("code"), Some(&Value::Int(200)));
        let replies = send(&mut session, 2, "POST", MAPS, r#"{"metadata":{"name":"a"}}"#);
        assert_eq!(replies.len(), 2, "{replies:?}");
        assert_eq!(replies[0].header.get("code"), Some(&Value::Int(201)));
        assert_eq!(replies[1].header.get("id"), Some(&Value::Int(1)));
        assert!(replies[1].body.starts_with(br#"{"type":"ADDED""#));

        let end = json::read(br#"{"id":1,"end":true}"#).unwrap();
        assert!(session.answer(Frame { header: end, body: Vec::new() }).is_empty());
        assert_eq!(send(&mut session, 3, "DELETE", &format!("{MAPS}/a"), "").len(), 1, "the watch has ended");
    }

    #[test]
    fn other_versions_are_refused() {
        let settings = json::read(br#"{"kubernetesVersion":"1.2"}"#).unwrap();
        assert_eq!(Session::new(&settings).unwrap_err().to_string(), "kubernetesVersion \"1.2\" is not simulated");
    }
}
