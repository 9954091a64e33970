//! A `kube::Client` whose requests the server answers in process, watches included.

mod content;

use super::manifest::MAX_DEPTH;
use super::request::MANAGER;
use super::{ApiServer, large_stack, response};
use bytes::Bytes;
use content::ResponseBody;
use crdx_server::server::http::wire;
use crdx_server::server::{Body, Method, Reply, Request, Response as Answer, Watch};
use crdx_value::quote::go_quote;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

impl ApiServer {
    /// A client of this server for controllers built with [`kube`]. It opens no socket: requests are values, and a watch
    /// gets its events when they are stored. Its requests are those of the user of this handle's
    /// [`RequestOptions`](super::RequestOptions), and its default namespace is the handle's.
    ///
    /// Must be called in a tokio runtime. The package that uses it also depends on `k8s-openapi` with the feature of one
    /// version, as [`kube`] requires.
    ///
    /// ```
    /// use kube::api::{Api, ApiResource, DynamicObject, PostParams};
    /// use kube::core::GroupVersionKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let server = crdx::ApiServer::new();
    /// # server.install(include_str!("../../tests/kites.yaml"))?;
    /// let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("toys.example.com", "v1", "Kite"));
    /// let kites: Api<DynamicObject> = Api::default_namespaced_with(server.kube_client(), &resource);
    /// let kite = kites.create(&PostParams::default(), &DynamicObject::new("dragon", &resource)).await?;
    /// assert_eq!(kite.data["spec"]["length"], 10);
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    pub fn kube_client(&self) -> kube::Client {
        kube::Client::new(Service { server: self.clone() }, self.options.namespace.clone())
    }
}

/// Answers requests as a server behind a connection does.
#[derive(Clone, Debug)]
struct Service {
    server: ApiServer,
}

type Answered = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

impl tower_service::Service<http::Request<kube::client::Body>> for Service {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Answered;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<kube::client::Body>) -> Self::Future {
        let server = self.server.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            Ok(match body.collect_bytes().await {
                Ok(body) => answer(&server, &parts, &body),
                Err(error) => {
                    plain(StatusCode::BAD_REQUEST, format!("the body of the request cannot be read: {error}"))
                }
            })
        })
    }
}

fn answer(server: &ApiServer, parts: &http::request::Parts, body: &Bytes) -> Response<ResponseBody> {
    let text = |name: HeaderName| Some(String::from_utf8_lossy(parts.headers.get(name)?.as_bytes()).into_owned());
    if is_deep(body) {
        return plain(StatusCode::BAD_REQUEST, format!("cannot tell: the body nests more than {MAX_DEPTH} levels"));
    }
    let request = Request {
        content_type: text(header::CONTENT_TYPE),
        accept: text(header::ACCEPT),
        user_agent: text(header::USER_AGENT).or_else(|| Some(MANAGER.to_owned())),
        user: server.options.user.clone(),
        now: server.clock.now(),
        ..Request::new(
            Method::from_name(parts.method.as_str()),
            parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str),
            if body.is_empty() { Body::Empty } else { Body::Bytes(body.to_vec()) },
        )
    };
    let reply = large_stack::run(|| {
        let reply = server.server.reply(&request);
        if matches!(reply, Reply::Whole(_)) {
            // A CRD is served as soon as its create is answered, and no test waits for it.
            server.server.run_controllers(request.now);
        }
        Ok(reply)
    });
    match reply {
        Ok(Reply::Whole(answer)) => match response::check(&answer.trace) {
            Ok(()) => whole(answer),
            Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        },
        Ok(Reply::Stream(watch)) => stream(*watch, server),
        // Without webhooks to call and pauses, the server answers at once.
        Ok(Reply::Pending(_) | Reply::Paused(_)) => whole(Answer::timeout()),
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// Returns true if a body nests more than [`MAX_DEPTH`] levels. Brackets in strings count, too, so the limit is higher.
fn is_deep(body: &[u8]) -> bool {
    let step = |depth: usize, byte: &u8| match byte {
        b'{' | b'[' => depth + 1,
        b'}' | b']' => depth.saturating_sub(1),
        _ => depth,
    };
    let depths = body.iter().scan(0, |depth, byte| {
        *depth = step(*depth, byte);
        Some(*depth)
    });
    depths.max().is_some_and(|deepest| deepest > MAX_DEPTH)
}

fn whole(answer: Answer) -> Response<ResponseBody> {
    let (content_type, bytes) = wire::encode(answer.body, answer.format);
    let mut response = Response::new(ResponseBody::Whole(Some(bytes.into())));
    *response.status_mut() = StatusCode::from_u16(answer.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static(content_type));
    add_warnings(headers, &answer.warnings);
    response
}

fn stream(watch: Watch, server: &ApiServer) -> Response<ResponseBody> {
    let warnings = watch.warnings().to_vec();
    let mut response = Response::new(ResponseBody::stream(watch, server.clock.clone()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    add_warnings(response.headers_mut(), &warnings);
    response
}

fn add_warnings(headers: &mut HeaderMap, warnings: &[String]) {
    for warning in warnings {
        if let Ok(value) = HeaderValue::from_str(&format!("299 - {}", go_quote(warning))) {
            headers.append(header::WARNING, value);
        }
    }
}

/// A response that is not the server's.
fn plain(code: StatusCode, text: String) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Whole(Some(text.into())));
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
