//! The URLs of this repository, by which a `GitRepository` of Flux may name it.

use crdx_files::open::read_small;
use crdx_files::project;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest configuration of git that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The URLs of this repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryUrls {
    urls: BTreeSet<String>,
    /// True if the user gave them, so that there are no others.
    are_given: bool,
}

/// The repository that a URL names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedRepository {
    This,
    Another,
    /// Either: it has a path of the same name.
    Unknown,
}

/// The next step if it is not known whether a URL names this repository.
pub fn hint(url: &str) -> String {
    format!("give the URL of this repository: --repository-url {url}, or another one")
}

impl RepositoryUrls {
    /// Returns the given URLs; without any, those of the remotes of the repository that has a directory without links.
    pub fn new(given: &[String], directory: &Path) -> Self {
        let are_given = !given.is_empty();
        let urls = if are_given { given.to_vec() } else { remotes(directory).unwrap_or_default() };
        Self { urls: urls.iter().map(|url| normalized(url)).collect(), are_given }
    }

    /// Returns the URLs of remotes.
    #[cfg(test)]
    pub fn of_remotes(urls: &[&str]) -> Self {
        Self { urls: urls.iter().map(|url| normalized(url)).collect(), are_given: false }
    }

    /// Returns which repository a URL names. `is_here` is true if this one has the path that is read from it. A repository with the
    /// same last name may be a fork or a mirror.
    pub fn named(&self, url: &str, is_here: bool) -> NamedRepository {
        let url = normalized(url);
        let name = |url: &str| url.rsplit('/').next().map(str::to_owned);
        let is_unknown = url.contains("${") || self.urls.is_empty();
        if is_unknown || self.urls.contains(&url) {
            return NamedRepository::This;
        }
        if self.are_given || !is_here {
            return NamedRepository::Another;
        }
        let is_copy = self.urls.iter().any(|other| name(other) == name(&url));
        if is_copy { NamedRepository::This } else { NamedRepository::Unknown }
    }
}

/// Returns the host and the path of a URL of git, also in the form `git@HOST:PATH`.
fn normalized(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or((None, url), |(scheme, rest)| (Some(scheme), rest));
    let (authority, path) = match (rest.split_once('/'), rest.split_once(':')) {
        (_, Some((host, path))) if scheme.is_none() && !host.contains('/') => (host, path),
        (Some((authority, path)), _) => (authority, path),
        (None, _) => (rest, ""),
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let path = path.trim_matches('/');
    format!("{}/{}", host.to_lowercase(), path.strip_suffix(".git").unwrap_or(path))
}

/// Returns the URLs of the remotes of a repository.
fn remotes(directory: &Path) -> Option<Vec<String>> {
    let text = read_small(&configuration(project::repository(directory)?)?, LARGEST).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut is_remote = false;
    let mut urls = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_remote = line.starts_with("[remote ");
        } else if let Some((name, value)) = line.split_once('=')
            && is_remote
            && name.trim().eq_ignore_ascii_case("url")
        {
            urls.push(value.trim().trim_matches('"').to_owned());
        }
    }
    Some(urls)
}

/// Returns the file with the configuration of a repository, which may be a worktree of another one.
fn configuration(root: &Path) -> Option<PathBuf> {
    let own = root.join(".git");
    if own.is_dir() {
        return Some(own.join("config"));
    }
    let text = |path: &Path| Some(String::from_utf8_lossy(&read_small(path, LARGEST).ok()?).trim().to_owned());
    let directory = root.join(text(&own)?.strip_prefix("gitdir:")?.trim());
    let common = text(&directory.join("commondir")).map_or_else(|| directory.clone(), |path| directory.join(path));
    fs::canonicalize(common.join("config")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_url_are_equal() {
        for url in [
            "https://github.com/a/b",
            "https://user:token@GitHub.com/a/b.git",
            "ssh://git@github.com:22/a/b.git/",
            "git@github.com:a/b.git",
        ] {
            assert_eq!(normalized(url), "github.com/a/b", "{url}");
        }
        assert_eq!(normalized("file:///srv/git/b.git"), "/srv/git/b");
    }

    #[test]
    fn a_url_names_this_repository_or_another_one() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let config = "[core]\n\turl = x\n[remote \"origin\"]\n\turl = git@github.com:a/fleet.git\n\tfetch = +refs\n";
        fs::write(dir.path().join(".git/config"), config).unwrap();
        let urls = RepositoryUrls::new(&[], dir.path());
        for (url, is_here, expected) in [
            ("https://github.com/a/fleet", true, NamedRepository::This),
            ("https://github.com/fork/fleet", true, NamedRepository::This),
            ("https://github.com/a/other", true, NamedRepository::Unknown),
            ("https://github.com/a/other", false, NamedRepository::Another),
            ("https://github.com/${OWNER}/other", true, NamedRepository::This),
        ] {
            assert_eq!(urls.named(url, is_here), expected, "{url}");
        }
        let given = RepositoryUrls::new(&["https://git.example.com/b".to_owned()], dir.path());
        assert_eq!(given.named("ssh://git@git.example.com/b", true), NamedRepository::This);
        assert_eq!(given.named("https://github.com/a/fleet", true), NamedRepository::Another);
        assert_eq!(RepositoryUrls::default().named("https://github.com/a/b", true), NamedRepository::This);
    }

    #[test]
    fn a_worktree_has_the_remotes_of_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("main/.git/worktrees/w")).unwrap();
        fs::create_dir(at("w")).unwrap();
        fs::write(at("main/.git/config"), "[remote \"o\"]\nurl = https://example.com/a\n").unwrap();
        fs::write(at("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        fs::write(at("w/.git"), format!("gitdir: {}\n", at("main/.git/worktrees/w").display())).unwrap();
        assert_eq!(remotes(&at("w")), Some(vec!["https://example.com/a".to_owned()]));
    }
}
