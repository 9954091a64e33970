//! Work that must not delay a response: reading messages, running git, and reading the cluster. Each runs on a thread and
//! sends its results to the session as [`Event`]s.

use super::cluster::{EditorCluster, Fetched};
use crdx_engine::simulation::object::Kind;
use crdx_input::committed::committed;
use crdx_value::STACK_SIZE;
use lsp_server::{Connection, Message};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// An event to which the session reacts.
#[derive(Debug)]
pub enum Event {
    /// A message of the client.
    Message(Message),
    /// The client closed the connection.
    Closed,
    /// The committed version of the file of a URI; `None` if it has none.
    Committed { uri: String, content: Option<Vec<u8>> },
    /// An answer of the cluster.
    Fetched(Fetched),
}

/// The threads of a session.
#[derive(Debug)]
pub struct Background {
    events: Sender<Event>,
    git: Option<Sender<(String, PathBuf)>>,
    cluster: Option<Sender<Vec<Kind>>>,
}

impl Background {
    /// Starts to read the messages of a connection.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(connection: &Connection) -> io::Result<(Self, Receiver<Event>)> {
        let (events, received) = mpsc::channel();
        let (messages, out) = (connection.receiver.clone(), events.clone());
        let read = move || {
            for message in messages {
                if out.send(Event::Message(message)).is_err() {
                    return;
                }
            }
            let _ = out.send(Event::Closed);
        };
        thread::Builder::new().spawn(read)?;
        Ok((Self { events, git: None, cluster: None }, received))
    }

    /// Requests the committed version of a file; returns false if no thread can answer.
    pub fn ask_git(&mut self, uri: &str, path: PathBuf) -> bool {
        let events = self.events.clone();
        let git = self.git.get_or_insert_with(|| {
            worker(events, |(uri, path): (String, PathBuf)| Event::Committed { content: committed(&path), uri })
        });
        git.send((uri.to_owned(), path)).is_ok()
    }

    /// Requests the CRDs of kinds from the cluster of the current context.
    pub fn ask_cluster(&mut self, kinds: Vec<Kind>) {
        let events = self.events.clone();
        let cluster = self.cluster.get_or_insert_with(|| {
            let mut cluster = EditorCluster::default();
            worker(events, move |kinds: Vec<Kind>| Event::Fetched(cluster.fetch(kinds)))
        });
        let _ = cluster.send(kinds);
    }
}

/// Starts a thread that answers requests one after the other. It ends with the session.
fn worker<T: Send + 'static>(events: Sender<Event>, mut answer: impl FnMut(T) -> Event + Send + 'static) -> Sender<T> {
    let (requests, received) = mpsc::channel();
    let work = move || {
        for request in received {
            if events.send(answer(request)).is_err() {
                return;
            }
        }
    };
    // Without a thread the requests stay unanswered.
    let _ = thread::Builder::new().stack_size(STACK_SIZE).spawn(work);
    requests
}
