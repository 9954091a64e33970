//! Admission webhooks and conversion webhooks: which requests they are called for, what is sent to them and what their
//! answers mean (`k8s.io/apiserver/pkg/admission/plugin/webhook`, `apiextensions-apiserver/pkg/apiserver/conversion`).
//!
//! Pure functions: nothing here calls a webhook.
//!
//! ```text
//! model        the webhooks of a configuration as typed values
//! matching     whether a webhook is called for a request
//! review       AdmissionReview: what is sent and what the answer means
//! conversion   ConversionReview: the same for conversion webhooks
//! call         a call of a webhook and its result
//! ```

pub mod call;
pub mod conversion;
pub mod matching;
pub mod model;
pub mod review;
