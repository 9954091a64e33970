//! Built-in kinds: decodes the body of a request for a Deployment, a Service and similar kinds like the API server.
//!
//! Decoding is simulated (`k8s.io/apimachinery/pkg/runtime/serializer/json`, and the error responses of `createHandler`):
//! unknown and duplicate fields, wrong types, malformed quantities, timestamps and base64; and what a server without
//! validation needs: defaults, strategic merge patches and merge types. The server's validation of these kinds is
//! hand-written Go code and is not simulated.
//!
//! - [`table`] has the Go types of every supported release, as text. It is parsed when the first built-in kind is
//!   decoded.
//! - [`types`] builds the types of one release from the table.
//! - [`resources`] has the names and subresources of every supported release.
//! - [`decode`] decodes the kind of a body, then the body as that kind.
//! - `reader` interprets a JSON text by a type; [`conforms`] checks without a text that there is nothing to find.
//! - [`encode`] encodes values as the server returns them, and [`defaults`] sets their defaults.
//! - [`strategic`] applies strategic merge patches, [`merge_type`] has the types of server-side apply, and [`restore`] reads
//!   the results of both.
//! - [`protobuf`] decodes Protobuf.
//! - [`go_type`] shows the types to decoders that are elsewhere.
//! - [`service_families`] has the address families on which Services depend.
//! - `custom` has the types with their own `UnmarshalJSON`.

pub mod amounts;
pub mod conforms;
mod custom;
pub mod decode;
pub mod defaults;
pub mod empties;
pub mod encode;
pub mod equal;
pub mod go_type;
pub mod groups;
pub mod merge;
pub mod merge_type;
pub mod meta;
pub mod openapi;
pub mod protobuf;
mod reader;
pub mod releases;
pub mod resources;
pub mod restore;
pub mod reviews;
pub mod service_families;
pub mod strategic;
pub mod table;
pub mod types;

pub use decode::{BadRequest, Decoded, Endpoint};
pub use reader::{DecodeError, Missing, Strict};
