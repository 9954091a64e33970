//! The supported releases. docs/ADD-A-RELEASE.md lists everything else that a new row needs.

use super::{Minor, V1_30, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36, V1_37, V1_38};

/// A supported release.
#[derive(Debug)]
pub struct ReleaseRow {
    /// The minor version.
    pub minor: Minor,
    /// The patch release whose source and behaviour are simulated.
    pub patch: u8,
    /// The version of etcd that the release's own tests use (`hack/lib/etcd.sh`).
    pub(super) etcd: &'static str,
    /// The source line in `k8s.io/apimachinery/pkg/runtime/scheme.go` that some error messages contain as the name of a
    /// scheme (`NewScheme` calls `naming.GetNameFromCallsite` there).
    pub(super) scheme_line: u8,
}

/// The pre-release of the newest row, whose source and behaviour are simulated until its patch release is recorded; `None` if the newest row is a released version.
/// A beta is not the default, and its texts say that it is one. When it is released, set this to `None` and follow docs/ADD-A-RELEASE.md.
pub const BETA: Option<&str> = Some("beta.0");

/// The supported releases, oldest first, without gaps.
pub const RELEASES: [ReleaseRow; 9] = [
    row(V1_30, 14, "3.5.10", 100),
    row(V1_31, 14, "3.5.15", 100),
    row(V1_32, 13, "3.5.16", 100),
    row(V1_33, 13, "3.5.21", 110),
    row(V1_34, 13, "3.6.5", 110),
    row(V1_35, 10, "3.6.5", 111),
    row(V1_36, 6, "3.6.8", 111),
    row(V1_37, 2, "3.7.0", 111),
    row(V1_38, 0, "3.7.1", 110),
];

/// The release of the OpenAPI documents in the server's crate, which are changed into those of the other releases.
pub const DOCUMENTS: Minor = V1_37;

const fn row(minor: Minor, patch: u8, etcd: &'static str, scheme_line: u8) -> ReleaseRow {
    ReleaseRow { minor, patch, etcd, scheme_line }
}
