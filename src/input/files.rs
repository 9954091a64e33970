//! Which files `-f` names, and what to say when one cannot be read.

use super::Note;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The endings that count in a directory.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// How deep directories are followed.
const MAX_DEPTH: usize = 256;

/// Where documents come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// `-`, or the path.
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::Stdin => "-".into(),
            Self::File(path) => path.display().to_string().into(),
        }
    }

    /// Opens it.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Stdin => Ok(Box::new(io::stdin())),
            Self::File(path) => {
                let file = File::open(path)?;
                if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(Box::new(file)) }
            }
        }
    }
}

/// The files that `paths` name, directories replaced by what is in them.
pub fn expand(paths: &[String], recursive: bool) -> Vec<Result<Source, Note>> {
    let mut sources = Vec::new();
    let mut stdin_seen = false;
    for path in paths {
        if path == "-" {
            if !stdin_seen {
                sources.push(Ok(Source::Stdin));
            }
            stdin_seen = true;
        } else if path.starts_with("http://") || path.starts_with("https://") {
            let hint = format!("fetch it yourself: curl -fsSL {path} | kubectl crdx … -f -");
            sources.push(Err(note(path, "addresses are not fetched".to_owned(), Some(hint))));
        } else {
            expand_path(path, recursive, &mut sources);
        }
    }
    sources
}

fn expand_path(path: &str, recursive: bool, sources: &mut Vec<Result<Source, Note>>) {
    match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => match pattern(path) {
            Some(files) if !files.is_empty() => sources.extend(files.into_iter().map(|f| Ok(Source::File(f)))),
            Some(_) => {
                let hint = "check the pattern; name directories to read all files in them".to_owned();
                sources.push(Err(note(path, "no file matches the pattern".to_owned(), Some(hint))));
            }
            None => sources.push(Err(unreadable(path, &e))),
        },
        Err(e) => sources.push(Err(unreadable(path, &e))),
        Ok(found) if found.is_dir() => {
            let before = sources.len();
            let mut has_directories = false;
            walk(Path::new(path), recursive, 0, &mut has_directories, sources);
            if sources.len() == before {
                let hint = if has_directories && !recursive {
                    "add -R to look into the directories below it"
                } else {
                    "files must end in .json, .yaml or .yml to be found in a directory"
                };
                let message = "no .json, .yaml or .yml file in this directory".to_owned();
                sources.push(Err(note(path, message, Some(hint.to_owned()))));
            }
        }
        Ok(_) => sources.push(Ok(Source::File(path.into()))),
    }
}

/// The files of a directory in the order of their names, directories in their place.
fn walk(
    directory: &Path,
    recursive: bool,
    depth: usize,
    has_directories: &mut bool,
    sources: &mut Vec<Result<Source, Note>>,
) {
    let entries = match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(e) => {
            sources.push(Err(unreadable(&directory.display().to_string(), &e)));
            return;
        }
    };
    let mut entries: Vec<(PathBuf, bool)> =
        entries.into_iter().map(|e| (e.path(), e.file_type().is_ok_and(|t| t.is_dir()))).collect();
    entries.sort();
    for (path, is_directory) in entries {
        if is_directory {
            *has_directories = true;
            if recursive && depth < MAX_DEPTH {
                walk(&path, recursive, depth + 1, has_directories, sources);
            }
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| ENDINGS.contains(&e)) {
            sources.push(Ok(Source::File(path)));
        }
    }
}

/// The files a pattern like `dir/*.yaml` matches; `None` if it is no pattern. Only the last part may be one.
fn pattern(path: &str) -> Option<Vec<PathBuf>> {
    let path = Path::new(path);
    let name = path.file_name()?.to_str()?;
    if !name.contains(['*', '?']) {
        return None;
    }
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
    let mut found: Vec<PathBuf> = fs::read_dir(directory.unwrap_or(Path::new(".")))
        .ok()?
        .flatten()
        .filter(|e| e.file_name().to_str().is_some_and(|f| matches(name.as_bytes(), f.as_bytes())))
        .map(|e| directory.map_or_else(|| e.file_name().into(), |d| d.join(e.file_name())))
        .collect();
    found.sort();
    Some(found)
}

/// Whether `name` fits a pattern of `*` and `?`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where the last star was, and how much of the name it takes.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == b'?' || name.get(n) == Some(c) => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, n) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == b'*')
}

fn note(source: &str, message: String, hint: Option<String>) -> Note {
    Note { source: source.into(), position: None, message, hint, chunk: None }
}

/// The note about a source that cannot be read.
pub fn unreadable(source: &str, error: &io::Error) -> Note {
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound => {
            (format!("the path {source:?} does not exist"), "check its spelling; paths begin at the working directory")
        }
        io::ErrorKind::PermissionDenied => {
            (format!("{source} may not be read"), "check the permissions of the file and its directories")
        }
        _ => (format!("{source} cannot be read: {error}"), ""),
    };
    note(source, message, (!hint.is_empty()).then(|| hint.to_owned()))
}

/// The note about a source without objects.
pub fn empty(source: &str) -> Note {
    let name = if source == "-" { "standard input" } else { source };
    let hint = "it is empty, or holds only comments and separators".to_owned();
    note(source, format!("there is no object in {name}"), Some(hint))
}

/// What to do about text that cannot be read.
pub fn hint(text: &[u8], message: &str) -> Option<String> {
    let hint = if text.starts_with(b"\x1f\x8b") {
        "this is a gzip file: gunzip it first"
    } else if text.starts_with(b"PK\x03\x04") {
        "this is a zip file: unpack it first"
    } else if text.contains(&0) {
        "this is not a text file"
    } else if message.contains("invalid Yaml document separator") {
        "a line that begins with `---` separates documents and may hold only a comment; indent it if it belongs to a text"
    } else if message.contains("UTF-8") {
        "save the file as UTF-8"
    } else if message.contains("found character that cannot start any token") && text.contains(&b'\t') {
        "YAML is not indented with tabs: use spaces"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: Vec<Result<Source, Note>>, base: &Path) -> Vec<String> {
        let base = format!("{}/", base.display());
        let show = |s: Result<Source, Note>| s.map_or_else(|n| n.message, |s| s.name().replace(&base, ""));
        found.into_iter().map(show).collect()
    }

    #[test]
    fn directories_give_their_files_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        fs::create_dir_all(base.join("b/deep")).unwrap();
        fs::create_dir_all(base.join("none/below")).unwrap();
        for name in ["c.yaml", "a.json", "x.txt", "b/2.yml", "b/1.yaml", "b/deep/z.yaml", "none/below/q.yaml"] {
            fs::write(base.join(name), "a: 1").unwrap();
        }
        let path = |name: &str| vec![base.join(name).display().to_string()];
        assert_eq!(names(expand(&path("."), false), &base.join(".")), ["a.json", "c.yaml"]);
        assert_eq!(
            names(expand(&path("."), true), &base.join(".")),
            ["a.json", "b/1.yaml", "b/2.yml", "b/deep/z.yaml", "c.yaml", "none/below/q.yaml"]
        );
        assert_eq!(names(expand(&path("x.txt"), false), base), ["x.txt"]);
        assert_eq!(names(expand(&path("b/?.y*ml"), false), base), ["b/1.yaml", "b/2.yml"]);
        let none = expand(&path("none"), false);
        assert_eq!(none[0].as_ref().unwrap_err().hint.as_deref(), Some("add -R to look into the directories below it"));
        assert!(names(expand(&path("gone"), false), base)[0].contains("does not exist"));
        assert_eq!(names(expand(&["-".to_owned(), "-".to_owned()], false), base), ["-"]);
        assert_eq!(names(expand(&["https://x/y".to_owned()], false), base), ["addresses are not fetched"]);
    }

    #[test]
    fn patterns() {
        for (pattern, name, want) in [
            ("*.yaml", "a.yaml", true),
            ("a*b*c", "axbxbc", true),
            ("?", "", false),
            ("*", "", true),
            ("a*", "b", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), want, "{pattern} {name}");
        }
    }

    #[test]
    fn hints_say_what_to_do() {
        assert_eq!(hint(b"\x1f\x8b\x08", "x").as_deref(), Some("this is a gzip file: gunzip it first"));
        assert_eq!(hint(b"a", "x"), None);
    }
}
