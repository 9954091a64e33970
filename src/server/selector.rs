//! Label and field selectors: `k8s.io/apimachinery/pkg/labels` and `pkg/fields`, with their error texts.

mod field;
mod label;

pub(super) use field::FieldSelector;
pub(super) use label::LabelSelector;
