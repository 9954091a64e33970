//! `scheduling.k8s.io` (`pkg/apis/scheduling/validation`).

pub(crate) mod priority_class;
