//! Answers the requests of the playground: [`Engine::answer`] takes a request in JSON and returns the answer in JSON. The page
//! shows the answers and has no logic of its own.
//!
//! ```text
//! request     what the page asks                        documents  the texts of the page, and places in them
//! session     a server with the CRDs and policies       rules      the estimated costs of the rules of a CRD
//! simulation  one request to the server and its result  stored     the stored object as YAML with marks
//! versions    the results of all releases               copies     a test case, a command
//! sorting     texts of files that are dropped            exchange   HTTP requests, for the tests of the page
//! hints       suggestions for misspelt names             messages   fields in the messages of the server
//! ```

mod copies;
mod documents;
mod exchange;
mod hints;
mod messages;
mod request;
mod rules;
mod session;
mod simulation;
mod sorting;
mod stored;
#[cfg(test)]
mod tests;
mod versions;
#[cfg(target_family = "wasm")]
mod wasm;

use crdx::Release;
use crdx_value::{Value, object};
use exchange::Exchanges;
use request::{Action, Panes, Request};
use session::Sessions;

/// Answers requests. CRDs and policies stay compiled between requests, so that an edit of the object is answered quickly.
#[derive(Debug, Default)]
pub struct Engine {
    panes: Panes,
    sessions: Sessions,
    exchanges: Exchanges,
}

impl Engine {
    /// Answers one request. Both are JSON; a request that cannot be read is answered with a member `error`. A text that a request
    /// does not have is that of the request before.
    pub fn answer(&mut self, request: &str) -> String {
        crdx_value::json::to_string(&self.answer_value(request))
    }

    fn answer_value(&mut self, text: &str) -> Value {
        let request = match crdx_text::json::read(text.as_bytes()) {
            Ok(value) => Request::of(value, &mut self.panes),
            Err(error) => Err(error.message),
        };
        match request {
            Ok(request) => match request.action {
                Action::Simulate => simulation::answer(&request, self.sessions.of(&request)),
                Action::Versions => versions::answer(&request, &mut self.sessions),
                Action::TestCase => copies::test_case(&request, self.sessions.of(&request)),
                Action::Command => copies::command(&request, self.sessions.of(&request)),
                Action::About => about(request.release),
                Action::Sort => sorting::answer(&request.texts),
                Action::Exchange => self.exchanges.answer(&request),
            },
            Err(message) => object([("error", message)]),
        }
    }
}

/// The versions of Kubernetes, their names for people, and the version to use for the one in the request.
fn about(release: Release) -> Value {
    let versions = Release::known().map(|release| release.minor().to_string()).collect::<Vec<_>>();
    let names = Release::known().map(|release| release.to_string()).collect::<Vec<_>>();
    object([
        ("versions", documents::texts(&versions)),
        ("names", documents::texts(&names)),
        ("release", release.minor().to_string().into()),
    ])
}
