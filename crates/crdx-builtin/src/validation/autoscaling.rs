//! `autoscaling` (`pkg/apis/autoscaling/validation`).

pub(crate) mod horizontal_pod_autoscaler;
