//! Fully qualified references to images (`ParseNamed` of `github.com/distribution/reference`).

use crdx_regexp::Regexp;

/// `domainAndPort`
const HOST: &str = r"(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?";

/// `remoteName`
const PATH: &str = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*)*";
const TAG: &str = r"[\w][\w.-]{0,127}";
const DIGEST: &str = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*[:][[:xdigit:]]{32,}";

/// `DigestRegexp` of `github.com/opencontainers/go-digest`
const KNOWN_DIGEST: &str = r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+";

/// The digest algorithms, with the numbers of hexadecimal digits.
const ALGORITHMS: [(&str, usize); 3] = [("sha256", 64), ("sha384", 96), ("sha512", 128)];

const DEFAULT_DOMAIN: &str = "docker.io";
const OLD_DEFAULT_DOMAIN: &str = "index.docker.io";
const LIBRARY: &str = "library/";
const LONGEST_PATH: usize = 255;

/// The reason why a text is no fully qualified reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It is the digest of an image.
    #[error("invalid repository name ({0}), cannot specify 64-byte hexadecimal strings")]
    Identifier(String),
    /// The path has upper case letters.
    #[error("invalid reference format: repository name ({0}) must be lowercase")]
    UppercasePath(String),
    /// In lower case, it would be a reference.
    #[error("repository name must be lowercase")]
    Uppercase,
    /// It has not the form of a reference.
    #[error("invalid reference format")]
    Format,
    /// The path is too long.
    #[error("repository name must not be more than {LONGEST_PATH} characters")]
    Length,
    /// The algorithm of the digest is not known.
    #[error("unsupported digest algorithm")]
    DigestAlgorithm,
    /// The digest has not the form of digests.
    #[error("invalid checksum digest format")]
    DigestFormat,
    /// The digest has not the length that its algorithm needs.
    #[error("invalid checksum digest length")]
    DigestLength,
    /// It has no registry, or another name for the default one.
    #[error("repository name must be canonical")]
    NotCanonical,
}

/// The parts of a reference besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageReference {
    pub has_tag: bool,
    pub has_digest: bool,
}

impl ImageReference {
    /// Reads a fully qualified reference.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        if text.len() == 64 && is_lower_hex(text) {
            return Err(ReferenceError::Identifier(text.to_owned()));
        }
        let (domain, rest) = split_domain(text);
        let path = rest.split(':').next().unwrap_or_default();
        if path.to_lowercase() != path {
            return Err(ReferenceError::UppercasePath(path.to_owned()));
        }
        let full = format!("{domain}/{rest}");
        let reference = Self::split(&full)?;
        if full == text { Ok(reference) } else { Err(ReferenceError::NotCanonical) }
    }

    /// `Parse`
    fn split(text: &str) -> Result<Self, ReferenceError> {
        let (name, tag, digest) = parts(text);
        if !has_form(name, tag, digest) {
            let lower = text.to_lowercase();
            let (name, tag, digest) = parts(&lower);
            let is_form = has_form(name, tag, digest);
            return Err(if is_form { ReferenceError::Uppercase } else { ReferenceError::Format });
        }
        let (domain, path) = name.split_once('/').unwrap_or(("", name));
        let path = if matches(HOST, domain) { path } else { name };
        if path.len() > LONGEST_PATH {
            return Err(ReferenceError::Length);
        }
        digest.map_or(Ok(()), check_digest)?;
        Ok(Self { has_tag: tag.is_some(), has_digest: digest.is_some() })
    }
}

/// `splitDockerDomain`
fn split_domain(text: &str) -> (&str, String) {
    let (domain, rest) = match text.split_once('/') {
        None => return (DEFAULT_DOMAIN, format!("{LIBRARY}{text}")),
        Some((OLD_DEFAULT_DOMAIN, rest)) => (DEFAULT_DOMAIN, rest),
        Some((first, rest)) if first == "localhost" || first.contains(['.', ':']) => (first, rest),
        Some((first, rest)) if first.to_lowercase() != first => (first, rest),
        Some(_) => (DEFAULT_DOMAIN, text),
    };
    let is_library = domain == DEFAULT_DOMAIN && !rest.contains('/');
    (domain, if is_library { format!("{LIBRARY}{rest}") } else { rest.to_owned() })
}

/// The name, the tag and the digest. A name has no `@`, and a tag no `/`.
fn parts(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (name, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
    let last = name.rfind('/').map_or(0, |at| at + 1);
    let colon = name.get(last..).and_then(|last_part| last_part.find(':')).map(|at| last + at);
    match colon.and_then(|at| name.split_at_checked(at)) {
        Some((path, tag)) => (path, tag.strip_prefix(':'), digest),
        None => (name, None, digest),
    }
}

fn has_form(name: &str, tag: Option<&str>, digest: Option<&str>) -> bool {
    matches(&format!("(?:{HOST}/)?{PATH}"), name)
        && tag.is_none_or(|tag| matches(TAG, tag))
        && digest.is_none_or(|digest| matches(DIGEST, digest))
}

/// `Validate` of a digest
fn check_digest(digest: &str) -> Result<(), ReferenceError> {
    let (algorithm, encoded) = digest.split_once(':').ok_or(ReferenceError::DigestFormat)?;
    match ALGORITHMS.iter().find(|(name, _)| *name == algorithm) {
        None if matches(KNOWN_DIGEST, digest) => Err(ReferenceError::DigestAlgorithm),
        None => Err(ReferenceError::DigestFormat),
        Some((_, length)) if encoded.len() != *length => Err(ReferenceError::DigestLength),
        Some(_) if !is_lower_hex(encoded) => Err(ReferenceError::DigestFormat),
        Some(_) => Ok(()),
    }
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn matches(pattern: &str, text: &str) -> bool {
    Regexp::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of `reference.ParseNamed`.
    #[test]
    fn references_are_read_as_the_library_does() {
        let sha = format!("sha256:{}", "a".repeat(64));
        let short = format!("sha256:{}", "a".repeat(63));
        let other = format!("sha1:{}", "a".repeat(40));
        let upper = format!("sha256:{}", "A".repeat(64));
        let long = format!("ghcr.io/{}@{sha}", "a".repeat(256));
        let read = |text: &str| ImageReference::parse(text).map_err(|error| error.to_string());
        let found = |has_tag, has_digest| Ok(ImageReference { has_tag, has_digest });
        assert_eq!(read(&format!("ghcr.io/a/b@{sha}")), found(false, true));
        assert_eq!(read(&format!("localhost:5000/a:v1@{sha}")), found(true, true));
        assert_eq!(read("[::1]:80/a__b"), found(false, false));
        assert_eq!(read(&format!("docker.io/library/a@{sha}")), found(false, true));
        for (text, reason) in [
            ("b", "repository name must be canonical"),
            ("index.docker.io/a/b", "repository name must be canonical"),
            ("docker.io/a", "repository name must be canonical"),
            ("GHCR.io/a", "GHCR.io/a"),
            ("ghcr.io/A", "invalid reference format: repository name (A) must be lowercase"),
            ("ghcr.io/a:V$", "invalid reference format"),
            ("", "invalid reference format"),
            ("ghcr.io/a b", "invalid reference format"),
            (&format!("ghcr.io/a@{short}"), "invalid checksum digest length"),
            (&format!("ghcr.io/a@{other}"), "unsupported digest algorithm"),
            (&format!("ghcr.io/a@{upper}"), "invalid checksum digest format"),
            (&long, "repository name must not be more than 255 characters"),
            (
                &"a".repeat(64),
                &format!("invalid repository name ({}), cannot specify 64-byte hexadecimal strings", "a".repeat(64)),
            ),
        ] {
            match read(text) {
                Err(found) => assert_eq!(found, reason, "{text}"),
                Ok(_) => assert_eq!(text, reason),
            }
        }
    }
}
