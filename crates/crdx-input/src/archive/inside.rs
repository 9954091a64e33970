//! `ARCHIVE//PATH`: a file or a directory inside of an archive or of a download.

use super::has_ending;
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

/// Returns true if a member is the file, or in the directory, at a path inside. The path may leave out the directory at the top,
/// whose name often has the version.
pub fn has(path: &str, member: &str) -> bool {
    let is_below = |name: &str| name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_below(member) || member.split_once('/').is_some_and(|(_, name)| is_below(name))
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

    #[test]
    fn the_directory_at_the_top_may_be_left_out() {
        assert!(has("config/crd", "p-1/config/crd/a.yaml") && has("p-1/config", "p-1/config/crd/a.yaml"));
        assert!(has("a.yaml", "p-1/a.yaml") && has("a.yaml", "a.yaml"));
        assert!(!has("config/crd", "p-1/config/crds/a.yaml") && !has("crd", "p-1/config/crd/a.yaml"));
    }
}
