//! Built-in kinds: how the API server decodes the body of a request for a Deployment, a Service and the like.
//!
//! Only decoding is simulated (`k8s.io/apimachinery/pkg/runtime/serializer/json` and what `createHandler` makes of its errors):
//! unknown and duplicate fields, wrong types, malformed quantities, times and base64. The server's validation of these kinds
//! and its defaults are hand-written Go and are not simulated.
//!
//! - [`table`] holds the Go types of every supported release, as text. It is parsed when the first built-in kind is
//!   decoded.
//! - [`types`] builds the types of one release from it.
//! - [`decode`] reads the kind of a body, then the body as that kind.
//! - `reader` is the interpreter: it walks a JSON text and a type together.
//! - `custom` has the types with their own `UnmarshalJSON`.

mod custom;
pub mod decode;
mod meta;
mod reader;
pub mod table;
pub mod types;

pub use decode::{Decoded, Endpoint, Refusal};
pub use reader::{Missing, Mistake, Strict};
