//! The supported releases. docs/ADD-A-RELEASE.md lists everything else that a new row needs.

use super::gate::Gate::{
    self, AllowUnsafeMalformedObjectDeletion, CrdObservedGenerationTracking, CrdValidationRatcheting,
    CustomResourceFieldSelectors, MutatingAdmissionPolicy,
};
use super::{Minor, V1_30, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36, V1_37};

/// A supported release.
#[derive(Debug)]
pub struct ReleaseRow {
    /// The minor version.
    pub minor: Minor,
    /// The patch release whose source and behaviour are simulated.
    pub patch: u8,
    /// The source line in `k8s.io/apimachinery/pkg/runtime/scheme.go` that some error messages contain as the name of a
    /// scheme (`NewScheme` calls `naming.GetNameFromCallsite` there).
    pub(super) scheme_line: u8,
    /// The gates that are enabled by default.
    pub(super) gates: &'static [Gate],
}

/// The supported releases, oldest first, without gaps.
pub const RELEASES: [ReleaseRow; 8] = [
    row(V1_30, 14, 100, &[CrdValidationRatcheting]),
    row(V1_31, 14, 100, &[CrdValidationRatcheting, CustomResourceFieldSelectors]),
    row(V1_32, 13, 100, &[CrdValidationRatcheting, CustomResourceFieldSelectors]),
    row(V1_33, 13, 110, &[CrdValidationRatcheting, CustomResourceFieldSelectors]),
    row(V1_34, 13, 110, &[CrdValidationRatcheting, CustomResourceFieldSelectors]),
    row(V1_35, 10, 111, &[CrdValidationRatcheting, CustomResourceFieldSelectors]),
    row(
        V1_36,
        6,
        111,
        &[
            CrdValidationRatcheting,
            CustomResourceFieldSelectors,
            CrdObservedGenerationTracking,
            MutatingAdmissionPolicy,
        ],
    ),
    row(
        V1_37,
        2,
        111,
        &[
            CrdValidationRatcheting,
            CustomResourceFieldSelectors,
            CrdObservedGenerationTracking,
            MutatingAdmissionPolicy,
            AllowUnsafeMalformedObjectDeletion,
        ],
    ),
];

/// The release of the OpenAPI documents in the server's crate, which are changed into those of older releases.
pub const DOCUMENTS: Minor = V1_37;

const fn row(minor: Minor, patch: u8, scheme_line: u8, gates: &'static [Gate]) -> ReleaseRow {
    ReleaseRow { minor, patch, scheme_line, gates }
}
