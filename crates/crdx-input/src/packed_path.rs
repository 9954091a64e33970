//! `ARCHIVE//PATH`: a file or a directory inside of an archive or of a download.

use crate::archive::has_ending;
use crate::remote::url::is_url;

/// Splits an entry of `--crds` into the archive or URL and the path inside, if it has one. A query belongs to the URL, also
/// after the path inside.
pub fn split(entry: &str) -> (String, Option<&str>) {
    let whole = || (entry.to_owned(), None);
    let is_url = is_url(entry);
    let start = if is_url { entry.find("://").map_or(0, |at| at + 3) } else { 0 };
    let end = if is_url { entry.find('?').unwrap_or(entry.len()) } else { entry.len() };
    let Some(rest) = entry.get(start..end) else { return whole() };
    let is_end = |at: &usize| is_url || entry.get(..start + at).is_some_and(has_ending);
    let Some(at) = rest.match_indices("//").map(|(at, _)| at).find(is_end) else { return whole() };
    let (archive, inside) = (entry.get(..start + at), entry.get(start + at + 2..end));
    let (Some(archive), Some(inside), Some(query)) = (archive, inside, entry.get(end..)) else { return whole() };
    (format!("{archive}{query}"), Some(inside.trim_matches('/')).filter(|inside| !inside.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_inside_follows_two_slashes() {
        let parts = |entry: &'static str| {
            let (archive, inside) = split(entry);
            (archive, inside.unwrap_or("-"))
        };
        assert_eq!(parts("https://h/x.tar.gz//config/crd"), ("https://h/x.tar.gz".to_owned(), "config/crd"));
        assert_eq!(parts("https://h/tarball/v1//crds/"), ("https://h/tarball/v1".to_owned(), "crds"));
        assert_eq!(parts("https://h/x//crds?a=b//c"), ("https://h/x?a=b//c".to_owned(), "crds"));
        assert_eq!(parts("https://h/x?a=b//c"), ("https://h/x?a=b//c".to_owned(), "-"));
        assert_eq!(parts("https://h/x//"), ("https://h/x".to_owned(), "-"));
        assert_eq!(parts("a//b.tgz//crds"), ("a//b.tgz".to_owned(), "crds"));
        assert_eq!(parts("a//b"), ("a//b".to_owned(), "-"), "two slashes in a path are one");
    }
}
