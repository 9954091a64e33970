//! `apiregistration.k8s.io` (`apis/apiregistration/validation` of `k8s.io/kube-aggregator`).

pub(crate) mod api_service;
