//! `coordination.k8s.io` (`pkg/apis/coordination/validation`).

pub(crate) mod lease;
