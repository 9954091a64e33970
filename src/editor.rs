//! A language server: the findings of `validate` as diagnostics, hover texts and completion from CRDs.
//!
//! [`session`] speaks the protocol. It keeps the open files as [`text`], simulates them with [`check`], turns items into
//! [`finding`]s, and finds the schema of the field under the cursor with [`schema`] for [`hover`] and [`completion`].
//! [`workspace`] finds the CRDs of the workspace, [`settings`] reads the client's options.
//!
//! Nothing is written, and no request leaves the machine.

mod check;
mod completion;
mod cursor;
mod finding;
mod hover;
mod schema;
mod session;
mod settings;
mod text;
mod uri;
mod workspace;

pub use session::{Error, serve, serve_stdio};
pub use settings::Settings;
