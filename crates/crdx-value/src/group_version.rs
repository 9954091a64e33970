//! Groups, versions, kinds and resources (`schema` of apimachinery): composes and splits `apiVersion`, and ranks versions.

use crate::GoError;
use std::cmp::Reverse;
use std::fmt;

/// A kind in a version of an API group. The texts are owned or borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionKind<T = String> {
    /// The group; empty for the core group.
    pub group: T,
    /// The version.
    pub version: T,
    /// The kind.
    pub kind: T,
}

/// A resource in a version of an API group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionResource<T = String> {
    /// The group; empty for the core group.
    pub group: T,
    /// The version.
    pub version: T,
    /// The plural.
    pub resource: T,
}

/// A resource in any version of an API group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupResource<T = String> {
    /// The group; empty for the core group.
    pub group: T,
    /// The plural.
    pub resource: T,
}

/// A kind in any version of an API group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind<T = String> {
    /// The group; empty for the core group.
    pub group: T,
    /// The kind.
    pub kind: T,
}

impl<T> GroupVersionKind<T> {
    /// Converts each text.
    pub fn map<U>(self, text: impl Fn(T) -> U) -> GroupVersionKind<U> {
        GroupVersionKind { group: text(self.group), version: text(self.version), kind: text(self.kind) }
    }
}

impl<T: AsRef<str>> GroupVersionKind<T> {
    /// `apiVersion`
    pub fn api_version(&self) -> String {
        api_version(self.group.as_ref(), self.version.as_ref())
    }

    /// The same with borrowed texts.
    pub fn borrowed(&self) -> GroupVersionKind<&str> {
        GroupVersionKind { group: self.group.as_ref(), version: self.version.as_ref(), kind: self.kind.as_ref() }
    }

    /// The kind in any version.
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind { group: self.group.as_ref(), kind: self.kind.as_ref() }
    }
}

impl<T: fmt::Display> fmt::Display for GroupVersionKind<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

impl<T: AsRef<str>> fmt::Display for GroupResource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.group.as_ref(), self.resource.as_ref()) {
            ("", resource) => f.write_str(resource),
            (group, resource) => write!(f, "{resource}.{group}"),
        }
    }
}

impl<T: AsRef<str>> fmt::Display for GroupKind<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        GroupResource { group: self.group.as_ref(), resource: self.kind.as_ref() }.fmt(f)
    }
}

/// `group/version`, or only the version in the core group (`schema.GroupVersion.String`).
#[must_use]
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { [group, "/", version].concat() }
}

/// Splits an `apiVersion` into group and version without validation.
#[must_use]
pub fn split(api_version: &str) -> (&str, &str) {
    // Faster for short texts than `split_once`.
    let slash = api_version.bytes().position(|c| c == b'/');
    let parts = slash.and_then(|at| Some((api_version.get(..at)?, api_version.get(at + 1..)?)));
    parts.unwrap_or(("", api_version))
}

/// The group of an `apiVersion`; empty for the core group.
#[must_use]
pub fn group(api_version: &str) -> &str {
    split(api_version).0
}

/// Parses an `apiVersion` into group and version; both are empty for an empty text (`schema.ParseGroupVersion`).
///
/// # Errors
/// Returns Go's message for an `apiVersion` with more than one slash.
pub fn parse(text: &str) -> Result<(&str, &str), GoError> {
    if text == "/" {
        return Ok(("", ""));
    }
    let (group, version) = split(text);
    if version.bytes().any(|c| c == b'/') {
        return Err(format!("unexpected GroupVersion string: {text}").into());
    }
    Ok((group, version))
}

/// The sort key of version names: GA before beta before alpha before all others, higher numbers first, other names in
/// reverse alphabetical order (`CompareKubeAwareVersionStrings`).
#[must_use]
pub fn rank(version: &str) -> (u8, u64, u64, Reverse<&str>) {
    parse_version(version).map_or((0, 0, 0, Reverse(version)), |(kind, major, minor)| (kind, major, minor, Reverse("")))
}

fn parse_version(version: &str) -> Option<(u8, u64, u64)> {
    let number = |text: &str| -> Option<u64> {
        (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let rest = version.strip_prefix('v')?;
    for (word, kind) in [("alpha", 1), ("beta", 2)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((kind, number(major)?, number(minor)?));
        }
    }
    Some((3, number(rest)?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_in_apimachinery() {
        let kind = GroupVersionKind { group: "apps", version: "v1", kind: "Deployment" };
        assert_eq!(kind.to_string(), "apps/v1, Kind=Deployment");
        assert_eq!(kind.api_version(), "apps/v1");
        assert_eq!(kind.map(str::to_owned).borrowed(), kind);
        assert_eq!(kind.group_kind().to_string(), "Deployment.apps");
        assert_eq!(GroupResource { group: "", resource: "pods" }.to_string(), "pods");
        assert_eq!(GroupResource { group: "apps", resource: "deployments" }.to_string(), "deployments.apps");
    }

    #[test]
    fn versions_are_ranked_as_kubernetes_does() {
        let mut names = ["foo10", "v1", "v11alpha2", "v10beta3", "v2", "v3beta1", "foo1", "v12alpha1", "v11beta2"];
        names.sort_by(|a, b| rank(b).cmp(&rank(a)));
        assert_eq!(names, ["v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]);
    }
}
