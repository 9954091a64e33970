//! `apiVersion` from its parts.

/// `group/version`, or the version alone in the core group (`schema.GroupVersion.String`).
#[must_use]
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
