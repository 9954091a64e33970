//! Label and field selectors (`k8s.io/apimachinery/pkg/labels` and `pkg/fields`), with their error messages.

mod field;
mod label;
mod of_object;
mod shards;

pub(in crate::server) use field::FieldSelector;
pub use label::LabelSelector;
pub use of_object::of_object as label_selector_of;
pub(in crate::server) use shards::ShardSelector;
