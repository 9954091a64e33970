//! `policy` (`pkg/apis/policy/validation`).

pub(crate) mod pod_disruption_budget;
