//! `apiVersion` from its parts, and its parts from it.

/// `group/version`, or the version alone in the core group (`schema.GroupVersion.String`).
#[must_use]
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Group and version of an `apiVersion`, which is not checked.
#[must_use]
pub fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// Group and version of an `apiVersion`, both empty for the empty text (`schema.ParseGroupVersion`).
///
/// # Errors
/// Go's text for an `apiVersion` with more than one slash.
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
