//! `batch` (`pkg/apis/batch/validation`).

pub(crate) mod cron;
pub(crate) mod cron_job;
pub(crate) mod job;
