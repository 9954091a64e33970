//! Plain text responses.

use crate::server::http::response::{Format, Response, ResponseBody, Trace};

/// A plain text response.
pub(in crate::server) fn text(code: u16, text: String, content_type: &str) -> Response {
    Response {
        code,
        body: ResponseBody::Text(text),
        format: Format::Json,
        headers: vec![("content-type", content_type.to_owned())],
        warnings: Vec::new(),
        trace: Trace::default(),
    }
}

/// The response of Go's router to a path that has no handler.
pub(in crate::server) fn not_found_page() -> Response {
    let mut page = text(404, "404 page not found\n".to_owned(), "text/plain; charset=utf-8");
    page.headers.push(("x-content-type-options", "nosniff".to_owned()));
    page
}
