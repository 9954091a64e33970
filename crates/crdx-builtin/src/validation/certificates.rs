//! `certificates.k8s.io` (`pkg/apis/certificates/validation`).

pub(crate) mod certificate_signing_request;
pub(crate) mod cluster_trust_bundle;
pub(crate) mod pod_certificate_request;
pub(crate) mod signer_names;

#[cfg(test)]
mod tests;
