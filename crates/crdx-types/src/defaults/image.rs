//! References to images (`ParseNormalizedNamed` of `github.com/distribution/reference`). The default pull policy depends on
//! the tag.

/// The domain of a reference that names none, and its older name.
const DEFAULT_DOMAINS: [&str; 2] = ["docker.io", "index.docker.io"];

/// The first part of the path of images of the default domain that have one part.
const LIBRARY: &str = "library/";

/// The maximum length of the path in bytes.
const LONGEST_PATH: usize = 255;

/// The tag of an image (`parsers.ParseImageName`): `latest` if it has neither tag nor digest; `None` if the reference is
/// malformed.
pub(super) fn tag(image: &str) -> Option<&str> {
    if image.len() == 64 && is_lower_hex(image) {
        return None;
    }
    let (domain, rest) = match image.split_once('/') {
        Some((domain, rest)) if is_domain(domain) => (domain, rest),
        _ => ("docker.io", image),
    };
    let (name, digest) = rest.split_once('@').map_or((rest, None), |(name, digest)| (name, Some(digest)));
    let (path, tag) = name.split_once(':').map_or((name, None), |(path, tag)| (path, Some(tag)));
    let has_host = is_host(domain);
    let mut length = path.len();
    if DEFAULT_DOMAINS.contains(&domain) && !path.contains('/') {
        length += LIBRARY.len();
    }
    if !has_host {
        length += domain.len() + 1;
    }
    let is_valid = (has_host || is_component(domain))
        && path.split('/').all(is_component)
        && length <= LONGEST_PATH
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    is_valid.then(|| tag.unwrap_or(if digest.is_some() { "" } else { "latest" }))
}

/// Returns true if the first part of a reference is its domain and not a part of the path (`splitDockerDomain`).
fn is_domain(part: &str) -> bool {
    part == "localhost" || part.contains(['.', ':']) || part.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// `domainAndPort`
fn is_host(text: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_address = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
        let has_port = || rest.strip_prefix(':').is_some_and(is_port);
        return !address.is_empty() && address.bytes().all(is_address) && (rest.is_empty() || has_port());
    }
    let is_label = |label: &str| {
        let ends = [label.bytes().next(), label.bytes().next_back()];
        ends.iter().all(|end| end.is_some_and(|byte| byte.is_ascii_alphanumeric()))
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    host.split('.').all(is_label) && port.is_none_or(is_port)
}

/// `pathComponent`: words of lower-case letters and digits, separated by `.`, `_`, `__` or dashes.
fn is_component(text: &str) -> bool {
    let mut rest = text;
    loop {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if after.len() == rest.len() {
            return false;
        }
        if after.is_empty() {
            return true;
        }
        let dashes = after.trim_start_matches('-');
        rest = match after.strip_prefix("__").or_else(|| after.strip_prefix(['.', '_'])) {
            Some(next) => next,
            None if dashes.len() < after.len() => dashes,
            None => return false,
        };
    }
}

/// `[\w][\w.-]{0,127}`
fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= 128
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

/// `Digest.Validate` of `github.com/opencontainers/go-digest`
fn is_digest(text: &str) -> bool {
    let lengths = [("sha256:", 64), ("sha384:", 96), ("sha512:", 128)];
    lengths.iter().any(|(algorithm, length)| {
        text.strip_prefix(algorithm).is_some_and(|hash| hash.len() == *length && is_lower_hex(hash))
    })
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_without_tag_and_digest_are_the_latest() {
        for (image, expected) in [
            ("nginx", Some("latest")),
            ("nginx:1.2", Some("1.2")),
            ("localhost:5000/a/b", Some("latest")),
            ("localhost:5000/a/b:latest", Some("latest")),
            ("Example.com/a__b/c-d", Some("latest")),
            ("[::1]:5000/a", Some("latest")),
            ("registry_1.example/a", Some("latest")),
        ] {
            assert_eq!(tag(image), expected, "{image}");
        }
        let digest = format!("a:latest@sha256:{}", "0a".repeat(32));
        assert_eq!((tag(&digest), tag(&digest.replace(":latest", ""))), (Some("latest"), Some("")));
    }

    #[test]
    fn malformed_references_have_no_tag() {
        let (hash, long) = ("0a".repeat(32), "a".repeat(248));
        for image in [
            "",
            "A B",
            "-1s",
            "a..b",
            "a_-b",
            "a/B",
            "a:",
            "a:-x",
            "a@sha256:0123",
            "a@md5:0123",
            "/a",
            "a/",
            "[x]/a",
            "a:b:c",
            "https://example.com/a",
            &hash,
            &long,
        ] {
            assert_eq!(tag(image), None, "{image}");
        }
        assert_eq!(tag(&"a".repeat(247)), Some("latest"));
    }
}
