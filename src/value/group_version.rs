//! Composes and splits `apiVersion`.

/// `group/version`, or only the version in the core group (`schema.GroupVersion.String`).
#[must_use]
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Splits an `apiVersion` into group and version without validation.
#[must_use]
pub fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Parses an `apiVersion` into group and version; both are empty for an empty text (`schema.ParseGroupVersion`).
///
/// # Errors
/// Returns Go's message for an `apiVersion` with more than one slash.
pub fn parse(text: &str) -> Result<(&str, &str), String> {
    if text == "/" {
        return Ok(("", ""));
    }
    match text.split_once('/') {
        None => Ok(("", text)),
        Some((_, version)) if version.contains('/') => Err(format!("unexpected GroupVersion string: {text}")),
        Some(parts) => Ok(parts),
    }
}
