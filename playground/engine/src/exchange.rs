//! HTTP requests to a server of their own. The tests of the page replay recorded requests with it.

use crate::request::Request;
use crdx_server::server::{Body, Method, Request as HttpRequest, ResponseBody, Server};
use crdx_value::time::Timestamp;
use crdx_value::{Value, object};

/// 2026-01-01T00:00:00Z.
const NOW: Timestamp = Timestamp { seconds: 1_767_225_600, nanos: 0 };

/// The server of the exchanges so far.
#[derive(Debug, Default)]
pub struct Exchanges {
    server: Option<Server>,
}

impl Exchanges {
    /// Sends requests and returns the responses. A request `{"reset": true}` replaces the server by an empty one.
    pub fn answer(&mut self, request: &Request) -> Value {
        let responses = request.exchanges.iter().map(|exchange| self.one(exchange, request)).collect();
        object([("responses", Value::Array(responses))])
    }

    fn one(&mut self, exchange: &Value, request: &Request) -> Value {
        if exchange.get("reset").is_some() {
            self.server = None;
            return Value::Null;
        }
        let text = |key: &str| exchange.str_at(&[key]);
        let server = self.server.get_or_insert_with(|| Server::new(request.release, 0));
        let body: Body = text("body").unwrap_or_default().into();
        let mut http = HttpRequest::new(
            Method::from_name(text("method").unwrap_or_default()),
            text("path").unwrap_or_default(),
            body,
        );
        http.content_type = text("contentType").map(str::to_owned);
        http.accept = text("accept").map(str::to_owned);
        http.now = NOW;
        let response = server.handle(&http);
        let body = match response.body {
            ResponseBody::Json(body) => crdx_value::json::to_string(&body),
            ResponseBody::Text(text) => text,
        };
        object([
            ("code", i64::from(response.code).into()),
            ("body", body.into()),
            ("warnings", crate::documents::texts(&response.warnings)),
        ])
    }
}
