//! Admission webhooks and conversion webhooks: which requests they are called for, what is sent to them and what their
//! answers mean (`k8s.io/apiserver/pkg/admission/plugin/webhook`, `apiextensions-apiserver/pkg/apiserver/conversion`).
//!
//! Pure functions: nothing here calls a webhook.
//!
//! ```text
//! model        the webhooks of a configuration as typed values
//! matching     whether a webhook is called for a request
//! ```

pub mod matching;
pub mod model;
