//! The reply of the server to a request.

use crate::server::http::calls::Call;
use crate::server::http::paused::Paused;
use crate::server::http::response::Response;
use crate::server::registry::watch::Watch;

/// A response, a stream of events, or what the caller has to do first.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one reply exists per request, and most are whole")]
pub enum Reply {
    /// A complete response.
    Whole(Response),
    /// A watch stream: status 200, one JSON object per line.
    Stream(Box<Watch>),
    /// The request needs the answers of webhooks: make these calls, give the outcomes to its
    /// [`Calls`](crate::server::Calls) and send it again. Nothing was stored.
    Pending(Vec<Call>),
    /// The request waits between two writes: wait as long as it says, then let the server resume it
    /// ([`Server::resume`](crate::server::Server::resume)).
    Paused(Box<Paused>),
}

impl From<Result<Box<Watch>, Box<Response>>> for Reply {
    fn from(watch: Result<Box<Watch>, Box<Response>>) -> Self {
        match watch {
            Ok(watch) => Self::Stream(watch),
            Err(response) => Self::Whole(*response),
        }
    }
}
