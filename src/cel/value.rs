//! What expressions compute with.
//!
//! A value borrows from the JSON document and the program it came from (`'a`); nothing of the document is copied, and lists, maps and
//! objects are read through their declared type only when an expression looks at them. Follows cel-go's `common/types` and
//! `k8s.io/apiserver/pkg/cel/common/valuesunstructured.go`.

mod error;
mod text;

pub use error::Error;
pub use text::Text;

/// A CEL value.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(Text<'a>),
}
