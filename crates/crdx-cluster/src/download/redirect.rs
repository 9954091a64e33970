//! Where a redirect leads.

use http::Uri;

/// The target of a redirect.
#[derive(Debug, PartialEq, Eq)]
pub struct Redirect {
    pub url: Uri,
    /// True if host and port are those of the redirected URL.
    pub is_same_host: bool,
}

/// The reason why a redirect is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// The target has another scheme.
    #[error("it is redirected to another scheme, which is not followed")]
    Scheme,
    /// The target is not a URL.
    #[error("it is redirected to something that is not a URL")]
    Invalid,
}

/// Returns the URL that `location`, a URL or a reference, means in an answer to `from`.
pub fn followed(from: &Uri, location: &str) -> Result<Redirect, RedirectError> {
    let location = location.split('#').next().unwrap_or_default();
    let scheme = from.scheme_str().unwrap_or_default();
    let host = from.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let path = from.path();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    // The order of RFC 3986, section 5.2.2.
    let text = match location {
        "" => return Err(RedirectError::Invalid),
        absolute if has_scheme(absolute) => absolute.to_owned(),
        reference if reference.starts_with("//") => format!("{scheme}:{reference}"),
        reference if reference.starts_with('/') => format!("{scheme}://{host}{reference}"),
        reference if reference.starts_with('?') => format!("{scheme}://{host}{path}{reference}"),
        reference => format!("{scheme}://{host}{folder}/{reference}"),
    };
    let is_scheme = |start: &str| start.eq_ignore_ascii_case(scheme);
    if !text.split_once(':').is_some_and(|(start, _)| is_scheme(start)) {
        return Err(RedirectError::Scheme);
    }
    let url: Uri = text.parse().map_err(|_| RedirectError::Invalid)?;
    let authority = url.authority().ok_or(RedirectError::Invalid)?;
    // Nobody but the user names users and passwords.
    if url.host().is_none_or(str::is_empty) || authority.as_str().contains('@') {
        return Err(RedirectError::Invalid);
    }
    let is_same_host = authority.as_str().eq_ignore_ascii_case(host);
    Ok(Redirect { url, is_same_host })
}

fn has_scheme(reference: &str) -> bool {
    let start = reference.split([':', '/', '?']).next().unwrap_or_default();
    let is_scheme = start.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) && !start.is_empty();
    is_scheme && reference.get(start.len()..).is_some_and(|rest| rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_resolved() {
        let from: Uri = "https://h:1/a/b?q".parse().unwrap();
        let target = |location: &str| followed(&from, location).map(|to| (to.url.to_string(), to.is_same_host));
        let same = |url: &str| Ok((url.to_owned(), true));
        assert_eq!(target("/x"), same("https://h:1/x"));
        assert_eq!(target("x?y#z"), same("https://h:1/a/x?y"));
        assert_eq!(target("?y"), same("https://h:1/a/b?y"));
        assert_eq!(target("HTTPS://H:1/x"), Ok(("https://H:1/x".to_owned(), true)));
        assert_eq!(target("//other/x"), Ok(("https://other/x".to_owned(), false)));
        assert_eq!(target("https://h/x"), Ok(("https://h/x".to_owned(), false)), "another port is another host");
        for other in ["http://h:1/x", "file:///etc/passwd", "ftp://h/x", "data:x"] {
            assert_eq!(target(other), Err(RedirectError::Scheme), "{other}");
        }
        for wrong in ["", "https://", "https://me:secret@h:1/x", "//"] {
            assert_eq!(target(wrong), Err(RedirectError::Invalid), "{wrong:?}");
        }
    }
}
