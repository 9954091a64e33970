//! Label and field selectors (`k8s.io/apimachinery/pkg/labels` and `pkg/fields`), with their error messages.

mod field;
mod label;

pub(in crate::server) use field::FieldSelector;
pub use label::LabelSelector;
