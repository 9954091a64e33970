//! Admission webhooks and conversion webhooks: the requests they are called for, the reviews they receive and the
//! meaning of their answers (`k8s.io/apiserver/pkg/admission/plugin/webhook`,
//! `apiextensions-apiserver/pkg/apiserver/conversion`).
//!
//! This module consists of pure functions and makes no network calls.
//!
//! ```text
//! model        the webhooks of a configuration as typed values
//! matching     whether a webhook is called for a request
//! review       AdmissionReview: the request to a webhook and its answer
//! conversion   ConversionReview: the same for conversion webhooks
//! call         a call of a webhook and its result
//! ```

pub mod call;
pub mod conversion;
pub mod matching;
pub mod model;
pub mod review;
