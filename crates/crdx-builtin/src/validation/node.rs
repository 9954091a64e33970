//! `node.k8s.io` (`pkg/apis/node/validation`).

pub(crate) mod runtime_class;
