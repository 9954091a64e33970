//! `discovery.k8s.io` (`pkg/apis/discovery/validation`).

pub(crate) mod endpoint_slice;
