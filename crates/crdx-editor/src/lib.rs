//! A language server: the findings of `validate`, `lint` and `test` as diagnostics, and what CRDs define for hover,
//! completion and navigation.
//!
//! ```text
//! serve       begins a session with a client                                 plan       the CRDs and policies of a session
//! session     messages and other events in, diagnostics and responses out    requests   the responses
//! background  threads: messages, git, the cluster                            protocol   the protocol's JSON
//! files       the open files and their committed versions                    settings   the options of the client
//! text        a text, edited with the protocol's positions                   workspace  finds the files with CRDs
//! check       checks a file with the engines of the commands                 live       the CRDs of the cluster
//! finding     their results with ranges                                      fix        changes that correct a finding
//! cursor      the field at a position                                        schema     its schema
//! messages    what the client sends
//! kinds       the kinds of CRDs and of Kubernetes                            built_in   the schemas of the latter
//! hover, completion, skeleton, definition, symbols, defaults                 the content of responses
//! ```
//!
//! The only file that is written is the cache of a cluster's CRDs. A cluster is contacted only with `--live`, and only read.

mod background;
mod built_in;
mod check;
mod cluster;
mod completion;
mod cursor;
mod defaults;
mod definition;
mod files;
mod finding;
mod fix;
mod hover;
mod kinds;
mod live;
mod messages;
mod plan;
mod protocol;
mod requests;
mod schema;
mod serve;
mod served_kind;
mod session;
mod settings;
mod skeleton;
mod suggestion;
mod symbols;
mod text;
mod transport;
mod uri;
mod workspace;

pub use messages::{Position, Range, TextChange};
pub use serve::{Error, serve, serve_stdio};
pub use settings::Settings;
pub use text::Text;
