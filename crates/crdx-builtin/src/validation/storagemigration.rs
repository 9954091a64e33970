//! `storagemigration.k8s.io` (`pkg/apis/storagemigration/validation`).

pub(crate) mod storage_version_migration;
