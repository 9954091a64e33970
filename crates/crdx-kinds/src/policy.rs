//! `policy`.

pub(crate) mod pod_disruption_budget;
