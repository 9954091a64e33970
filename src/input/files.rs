//! Resolves the paths of `-f` to files, and reports those that cannot be read.

use super::decode::Decoder;
use super::kustomize;
use super::{Note, Options};
use crate::files::open::regular;
use crate::text::ErrorKind;
use crate::text::documents::Chunk;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file extensions that are read in a directory.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// The maximum depth of directories.
const MAX_DEPTH: usize = 256;

/// The source of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// The output of kustomize for a directory.
    Kustomization(PathBuf),
}

impl Source {
    /// `-`, or the path.
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::Stdin => "-".into(),
            Self::File(path) | Self::Kustomization(path) => path.display().to_string().into(),
        }
    }

    /// Opens the source; its bytes are converted to UTF-8 as kubectl does. A pipe can be the user's input, but not a file
    /// found in a directory.
    pub fn open(&self, only_regular: bool) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Stdin => Ok(Box::new(Decoder::new(io::stdin()))),
            Self::File(path) => {
                let file = if only_regular { regular(path)? } else { File::open(path)? };
                if file.metadata()?.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                Ok(Box::new(Decoder::new(file)))
            }
            Self::Kustomization(directory) => Ok(Box::new(kustomize::build(directory)?)),
        }
    }
}

/// A step of reading paths.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Reads a source named on the command line.
    Named(Source),
    /// Reads a file found in a directory.
    Found(PathBuf),
    /// Skips a directory entry that is not a regular file.
    NoFile(PathBuf),
    /// Reports a path that cannot be read.
    Problem(Note),
    /// The following files are from one directory.
    DirectoryStart,
    /// The end of a directory that was named on the command line.
    DirectoryEnd(String),
}

/// The steps for reading `paths`, with directories expanded to their files.
pub fn expand(paths: &[String], options: &Options) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut stdin_seen = false;
    for path in paths {
        if path == "-" {
            if !stdin_seen {
                steps.push(Step::Named(Source::Stdin));
            }
            stdin_seen = true;
        } else if path.starts_with("http://") || path.starts_with("https://") {
            let hint = format!("fetch it yourself: curl -fsSL {path} | kubectl crdx … -f -");
            steps.push(Step::Problem(note(path, "URLs are not fetched".to_owned(), Some(hint))));
        } else if !options.ignore.matches(Path::new(path)) {
            expand_path(path, options, &mut steps);
        }
    }
    steps
}

fn expand_path(path: &str, options: &Options, steps: &mut Vec<Step>) {
    match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => match pattern(path) {
            Some(files) if !files.is_empty() => {
                let kept = files.into_iter().filter(|file| !options.ignore.matches(file));
                steps.extend(kept.map(|file| Step::Named(Source::File(file))));
            }
            Some(_) => {
                let hint = "check the pattern; name directories to read all files in them".to_owned();
                steps.push(Step::Problem(note(path, "no file matches the pattern".to_owned(), Some(hint))));
            }
            None => steps.push(Step::Problem(unreadable(path, &e))),
        },
        Err(e) => steps.push(Step::Problem(unreadable(path, &e))),
        Ok(found) if found.is_dir() => {
            steps.push(Step::DirectoryStart);
            let before = steps.len();
            let mut walk = Walk { options, has_directories: false, has_ignored: false, steps };
            walk.directory(Path::new(path), 0);
            let Walk { has_directories, has_ignored, .. } = walk;
            if steps.len() > before {
                steps.push(Step::DirectoryEnd(path.to_owned()));
                return;
            }
            let hint = if has_directories && !options.recursive {
                "add -R to read its subdirectories"
            } else if has_ignored {
                "all files in it are left out with --ignore"
            } else {
                "files must end in .json, .yaml or .yml to be found in a directory"
            };
            let message = "no .json, .yaml or .yml file in this directory".to_owned();
            steps.push(Step::Problem(note(path, message, Some(hint.to_owned()))));
        }
        Ok(_) => steps.push(Step::Named(Source::File(path.into()))),
    }
}

/// Walks a directory in the order of its names.
struct Walk<'a> {
    options: &'a Options,
    has_directories: bool,
    has_ignored: bool,
    steps: &'a mut Vec<Step>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, depth: usize) {
        let entries = match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(e) => return self.steps.push(Step::Problem(unreadable(&directory.display().to_string(), &e))),
        };
        // Symbolic links to directories are not followed, as in kubectl (`filepath.Walk`).
        let mut entries: Vec<(PathBuf, bool)> =
            entries.into_iter().map(|e| (e.path(), e.file_type().is_ok_and(|t| t.is_dir()))).collect();
        entries.sort();
        for (path, is_directory) in entries {
            let has_ending = || path.extension().and_then(|e| e.to_str()).is_some_and(|e| ENDINGS.contains(&e));
            if !is_directory && !has_ending() {
                continue;
            }
            if self.options.ignore.matches_entry(&path, is_directory) {
                self.has_ignored = true;
            } else if is_directory {
                self.has_directories = true;
                if self.options.recursive && depth < MAX_DEPTH {
                    self.directory(&path, depth + 1);
                }
            } else {
                // Opening a pipe would wait for its writer, and a device may never end.
                let special = fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir());
                self.steps.push(if special { Step::NoFile(path) } else { Step::Found(path) });
            }
        }
    }
}

/// The files that match a pattern like `dir/*.yaml`; `None` if the path is not a pattern. Only the last component may
/// be one.
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

/// Returns true if `name` matches a pattern of `*` and `?`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // The position of the last star, and how much of the name it matches.
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

/// A note about a whole source.
pub fn note(source: &str, message: String, hint: Option<String>) -> Note {
    Note { source: source.into(), position: None, message, hint, chunk: None }
}

/// The note about a source that cannot be read.
pub fn unreadable(source: &str, error: &io::Error) -> Note {
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound => (
            format!("the path {source:?} does not exist"),
            "check its spelling; relative paths start at the working directory",
        ),
        io::ErrorKind::PermissionDenied => (
            format!("{source} cannot be read: permission denied"),
            "check the permissions of the file and its directories",
        ),
        _ => (format!("{source} cannot be read: {error}"), ""),
    };
    note(source, message, (!hint.is_empty()).then(|| hint.to_owned()))
}

/// The note about a directory without objects.
pub fn without_object(directory: &str) -> Note {
    let hint = "all documents in it are skipped: name a directory with objects, or add -R to read its subdirectories";
    note(directory, "there is no Kubernetes object in this directory".to_owned(), Some(hint.to_owned()))
}

/// The help line for a chunk that cannot be read.
pub fn hint(chunk: &Chunk, kind: ErrorKind) -> Option<String> {
    let text = chunk.text.as_slice();
    // Bytes that are not UTF-8 were replaced when the file was decoded.
    let gzip = text.starts_with(b"\x1f\x8b") || text.starts_with(b"\x1f\xef\xbf\xbd\x08");
    let hint = if chunk.is_too_large() {
        "split it into several documents, or leave the file out with --ignore"
    } else if gzip {
        "this is a gzip file: gunzip it first"
    } else if text.starts_with(b"PK\x03\x04") {
        "this is a zip file: unpack it first"
    } else if text.contains(&0) {
        "this is not a text file"
    } else if kind == ErrorKind::Separator {
        "a line that begins with `---` separates documents and may contain only a comment; indent it if it belongs to a text"
    } else if kind == ErrorKind::Encoding {
        "save the file as UTF-8, without a byte order mark"
    } else if kind == ErrorKind::TokenStart && text.contains(&b'\t') {
        "YAML is not indented with tabs: use spaces"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Ignore;
    use crate::text::{Position, Syntax};

    /// The files of the steps, and the messages of problems.
    fn names(path: &Path, options: impl Into<Options>, base: &Path) -> Vec<String> {
        let base = format!("{}/", base.display());
        let show = |step| match step {
            Step::Named(source) => Some(source.name().replace(&base, "")),
            Step::Found(path) => Some(path.display().to_string().replace(&base, "")),
            Step::NoFile(path) => Some(format!("no file: {}", path.display().to_string().replace(&base, ""))),
            Step::Problem(note) => Some(note.message),
            Step::DirectoryStart | Step::DirectoryEnd(_) => None,
        };
        expand(&[path.display().to_string()], &options.into()).into_iter().filter_map(show).collect()
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
        assert_eq!(names(base, false, base), ["a.json", "c.yaml"]);
        let all = ["a.json", "b/1.yaml", "b/2.yml", "b/deep/z.yaml", "c.yaml", "none/below/q.yaml"];
        assert_eq!(names(base, true, base), all);
        let ignore = Ignore::new(&["deep/".to_owned(), "*.json".to_owned()]).unwrap();
        let options = Options { recursive: true, ignore, ..Options::default() };
        assert_eq!(names(base, options.clone(), base), ["b/1.yaml", "b/2.yml", "c.yaml", "none/below/q.yaml"]);
        assert_eq!(names(&base.join("a.json"), options, base), [""; 0], "named files are left out, too");
        assert_eq!(names(&base.join("x.txt"), false, base), ["x.txt"]);
        assert_eq!(names(&base.join("b/?.y*ml"), false, base), ["b/1.yaml", "b/2.yml"]);
        let none = expand(&[base.join("none").display().to_string()], &Options::default());
        let hint = |step: &Step| if let Step::Problem(note) = step { note.hint.clone() } else { None };
        assert_eq!(none.iter().find_map(hint).as_deref(), Some("add -R to read its subdirectories"));
        assert!(names(&base.join("gone"), false, base)[0].contains("does not exist"));
        assert_eq!(expand(&["-".to_owned(), "-".to_owned()], &Options::default()), [Step::Named(Source::Stdin)]);
        assert_eq!(names(Path::new("https://x/y"), false, base), ["URLs are not fetched"]);
    }

    #[cfg(unix)]
    #[test]
    fn directories_contribute_regular_files_only() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        fs::create_dir(base.join("d")).unwrap();
        fs::write(base.join("real.txt"), "a: 1").unwrap();
        std::os::unix::fs::symlink("../real.txt", base.join("d/link.yaml")).unwrap();
        std::os::unix::fs::symlink("..", base.join("d/up")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(base.join("d/socket.yaml")).unwrap();
        assert_eq!(names(&base.join("d"), true, base), ["d/link.yaml", "no file: d/socket.yaml"]);
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
        let hint = |text: &[u8]| {
            let chunk = Chunk::new(text.to_vec(), Position::default(), Syntax::Yaml);
            super::hint(&chunk, ErrorKind::Other)
        };
        assert_eq!(hint(b"\x1f\x8b\x08").as_deref(), Some("this is a gzip file: gunzip it first"));
        assert_eq!(hint(b"a"), None);
    }
}
