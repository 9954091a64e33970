//! Resolves the paths of `-f` to files, and reports those that cannot be read.

pub mod commits;
mod definitions;

use super::content::NoObject;
use super::decode::Decoder;
use super::git::Commit;
use super::ignore::is_never_read;
use super::invalid_bytes::InvalidBytes;
use super::patterns::{self, MAX_DEPTH, Matches, PatternError, Visits};
use super::remote::Remote;
use super::remote::url::{self, is_url};
use super::render::Renderer;
use super::render::find::{self, RenderProgram, RenderTarget, Root};
use super::render::normal;
use super::{Ignore, InputOptions};
use super::{archive, catalog, kustomize, packed_path};
use crdx_engine::documents::{Note, Stop};
use crdx_files::open::regular;
use crdx_text::ErrorKind;
use crdx_text::documents::Chunk;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use definitions::{Definitions, PackedSource, of_download};

/// The file extensions that are read in a directory.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// The source of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// Standard input.
    Stdin,
    File(PathBuf),
    /// The output of kustomize for a directory.
    Kustomization(PathBuf),
    /// A file of a commit, with the name of the commit.
    Committed {
        commit: Arc<Commit>,
        /// The name with which it was given.
        name: Arc<str>,
        /// The file.
        path: PathBuf,
    },
    /// A file of an archive, or a download.
    Memory {
        /// The name for messages.
        name: Arc<str>,
        content: Arc<[u8]>,
    },
}

impl InputSource {
    /// `-`, or the path.
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::Stdin => "-".into(),
            Self::File(path) | Self::Kustomization(path) => path.display().to_string().into(),
            Self::Committed { name, path, .. } => format!("git:{name}:{}", path.display()).into(),
            Self::Memory { name, .. } => Arc::clone(name),
        }
    }

    /// The file from which the source is rendered: the kustomization in a directory.
    pub fn origin(&self) -> Option<PathBuf> {
        let Self::Kustomization(directory) = self else { return None };
        kustomize::file(directory)
    }

    /// Opens the source; its bytes are converted to UTF-8 as kubectl does. A pipe can be the user's input, but not a file
    /// found in a directory. `invalid` gets the bytes that are not UTF-8.
    pub fn open(&self, only_regular: bool, invalid: &InvalidBytes) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Stdin => Ok(Box::new(Decoder::new(io::stdin(), invalid))),
            Self::File(path) => {
                let file = if only_regular { regular(path)? } else { File::open(path)? };
                if file.metadata()?.is_dir() {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                Ok(Box::new(Decoder::new(file, invalid)))
            }
            Self::Kustomization(directory) => Ok(Box::new(kustomize::build(directory)?)),
            Self::Committed { commit, path, .. } => {
                let content = commit.content(path).map_err(io::Error::other)?;
                Ok(Box::new(Decoder::new(io::Cursor::new(content), invalid)))
            }
            Self::Memory { content, .. } => Ok(Box::new(Decoder::new(Cursor::new(Arc::clone(content)), invalid))),
        }
    }
}

/// A step of reading paths.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadStep {
    /// Reads a source named on the command line.
    Named(InputSource),
    /// Reads a file found in a directory, a commit or an archive.
    Found(InputSource),
    /// Reads the CRDs of an archive or of a download.
    Definitions(Definitions),
    /// Renders a directory; true if it was named on the command line.
    Render(RenderTarget, bool),
    /// Counts a file with objects that is in a rendered directory and not part of what is rendered.
    LeftOut(PathBuf),
    /// Skips a file of a directory that has no object.
    Skip(PathBuf, NoObject),
    /// Reports a path that cannot be read.
    Problem(Note),
    /// The following files are from one directory.
    DirectoryStart,
    /// The end of a directory that was named on the command line, or of all matches of a pattern; the note says that there
    /// was no object.
    DirectoryEnd(Note),
}

/// The steps for reading `paths`, with directories expanded to their files.
pub fn expand(paths: &[String], options: &InputOptions) -> Vec<ReadStep> {
    let mut steps = Vec::new();
    let mut stdin_seen = false;
    let visits = Visits::default();
    for path in paths {
        if path == "-" {
            if !stdin_seen {
                steps.push(ReadStep::Named(InputSource::Stdin));
            }
            stdin_seen = true;
        } else if options.reads_commits && commits::is_as_of_commit(path) {
            commits::expand(path, options, &mut steps);
        } else if is_url(path) {
            steps.push(expand_url(path, options));
        } else if options.reads_archives() && catalog::is_entry(path) && !Path::new(path).exists() {
            steps.extend(expand_entry(path, options));
        } else if options.reads_archives()
            && let (archive, Some(inside)) = packed_path::split(path)
        {
            steps.push(expand_archive(&archive, inside));
        } else if !options.ignore.matches(Path::new(path)) {
            expand_path(path, options, &visits, &mut steps);
        }
    }
    skip_inputs(&mut steps);
    remove_parts(&mut steps, options);
    steps
}

/// Skips the files in directories that a kustomization among the steps uses as patches or inputs, not as resources: kustomize
/// makes objects of them.
fn skip_inputs(steps: &mut [ReadStep]) {
    let kustomizations = steps.iter().filter_map(|step| match step {
        ReadStep::Found(InputSource::File(path)) if kustomize::is_file(path) => Some(path.clone()),
        ReadStep::Render(target, _) => kustomize::file(&target.directory),
        _ => None,
    });
    let inputs = find::inputs(kustomizations);
    if inputs.is_empty() {
        return;
    }
    for step in steps {
        if let ReadStep::Found(InputSource::File(path)) = step
            && inputs.contains(&normal(path))
        {
            *step = ReadStep::Skip(std::mem::take(path), NoObject::KustomizeInput);
        }
    }
}

/// Removes kustomizations that others are built from, unless they were named on the command line.
fn remove_parts(steps: &mut Vec<ReadStep>, options: &InputOptions) {
    let mut directories = kustomizations(steps);
    if !directories.is_empty() && !options.other_targets.is_empty() {
        let others: Vec<String> = options.other_targets.iter().map(|path| path.display().to_string()).collect();
        let render = options.render.clone();
        directories.extend(kustomizations(&expand(&others, &InputOptions { render, ..true.into() })));
    }
    if directories.len() > 1 {
        let parts = find::parts(&directories);
        steps.retain(|step| !matches!(step, ReadStep::Render(target, false) if parts.contains(&target.directory)));
    }
}

/// Returns the directories with kustomizations that are rendered.
fn kustomizations(steps: &[ReadStep]) -> Vec<PathBuf> {
    let directories = steps.iter().filter_map(|step| match step {
        ReadStep::Render(RenderTarget { directory, kind: RenderProgram::Kustomization, .. }, _) => {
            Some(directory.clone())
        }
        _ => None,
    });
    directories.collect()
}

/// The step for a URL. Only CRDs can be fetched.
fn expand_url(url: &str, options: &InputOptions) -> ReadStep {
    if !options.reads_archives() {
        let name = url::name(url);
        let hint = format!("download it yourself: curl -fsSL {name} | kubectl crdx … -f -; only --crds takes URLs");
        return ReadStep::Problem(note(&name, format!("{name} is a URL, which is not fetched"), Some(hint)));
    }
    let (url, inside) = packed_path::split(url);
    let (url, inside) = (url.as_str(), inside.map(str::to_owned));
    match Remote::find(url, options.directory.as_deref()) {
        Ok(remote) => ReadStep::Definitions(Definitions::Remote { url: url.to_owned(), remote, inside }),
        Err(error) => ReadStep::Problem(note(&url::name(url), error.to_string(), Some(error.hint(url)))),
    }
}

/// The steps for an entry of the catalog, whose sources are in the lock.
fn expand_entry(entry: &str, options: &InputOptions) -> Vec<ReadStep> {
    match Remote::sources(entry, options.directory.as_deref()) {
        Ok(sources) => sources.iter().map(|source| expand_url(source, options)).collect(),
        Err(error) => vec![ReadStep::Problem(note(entry, error.to_string(), Some(error.hint(entry))))],
    }
}

/// The step for a path inside of an archive.
fn expand_archive(archive: &str, inside: &str) -> ReadStep {
    match fs::metadata(archive) {
        Ok(_) => ReadStep::Definitions(Definitions::Archive { path: archive.into(), inside: Some(inside.to_owned()) }),
        Err(error) => ReadStep::Problem(unreadable(archive, &error)),
    }
}

fn expand_path(path: &str, options: &InputOptions, visits: &Visits, steps: &mut Vec<ReadStep>) {
    match fs::metadata(path) {
        // On Windows, a name with a wildcard is not valid.
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename) => {
            match patterns::expand(Path::new(path), &options.ignore, visits) {
                Ok(Some(matches)) => expand_matches(path, matches, options, steps),
                Ok(None) => steps.push(ReadStep::Problem(unreadable(path, &e))),
                Err(error) => {
                    let hint = match error {
                        PatternError::Syntax(_) => "quote a character of a name with brackets: [{] is a brace",
                        PatternError::TooLong => "shorten it",
                        PatternError::TooManyVisits => "name directories, or use fewer patterns with `*` and `**`",
                    };
                    let message = format!("the pattern {} {error}", shortened(path));
                    steps.push(ReadStep::Problem(note(path, message, Some(hint.to_owned()))));
                }
            }
        }
        Err(e) => steps.push(ReadStep::Problem(unreadable(path, &e))),
        Ok(found) if found.is_dir() => {
            let start = steps.len();
            steps.push(ReadStep::DirectoryStart);
            let end = match directory(Path::new(path), options, steps) {
                None => ReadStep::DirectoryEnd(without_object(path, is_rendered(steps.get(start..)))),
                // Other targets have its files.
                Some(LEFT_OUT) if options.may_be_empty => ReadStep::DirectoryEnd(without_object(path, false)),
                Some(hint) => {
                    let message = "no .json, .yaml or .yml file in this directory".to_owned();
                    ReadStep::Problem(note(path, message, Some(hint.to_owned())))
                }
            };
            steps.push(end);
        }
        Ok(found) if options.reads_archives() && found.is_file() && archive::has_ending(path) => {
            steps.push(ReadStep::Definitions(Definitions::Archive { path: path.into(), inside: None }));
        }
        Ok(_) => steps.push(ReadStep::Named(InputSource::File(path.into()))),
    }
}

/// Adds the files that match a pattern, and those of the directories that match it. A directory may have no files if
/// another match has some.
fn expand_matches(pattern: &str, matches: Matches, options: &InputOptions, steps: &mut Vec<ReadStep>) {
    let Matches { paths, recursive, unreadable: problems, too_deep: deep } = matches;
    let options = InputOptions { recursive: options.recursive || recursive, ..options.clone() };
    let (before, mut hint) = (steps.len(), None);
    steps.push(ReadStep::DirectoryStart);
    let start = steps.len();
    steps
        .extend(problems.iter().map(|(path, error)| ReadStep::Problem(unreadable(&path.display().to_string(), error))));
    steps.extend(deep.iter().map(|path| ReadStep::Problem(too_deep(path))));
    let is_empty = paths.is_empty();
    let (mut has_directories, mut has_ignored) = (false, false);
    for path in paths {
        if options.ignore.matches(&path) {
            has_ignored = true;
        } else if path.is_dir() {
            has_directories = true;
            hint = hint.or(directory(&path, &options, steps));
        } else if options.reads_archives() && archive::has_ending(&path.to_string_lossy()) {
            steps.push(ReadStep::Definitions(Definitions::Archive { path, inside: None }));
        } else {
            steps.push(ReadStep::Named(InputSource::File(path)));
        }
    }
    if steps.len() > start || (has_ignored && hint.is_none()) {
        if has_directories {
            steps.push(ReadStep::DirectoryEnd(without_object(pattern, is_rendered(steps.get(start..)))));
        } else {
            steps.remove(before);
        }
        return;
    }
    let (what, hint) = if is_empty {
        ("file matches the pattern", "check the pattern; name directories to read all files in them")
    } else {
        (".json, .yaml or .yml file in the directories that match the pattern", hint.unwrap_or_default())
    };
    steps.push(ReadStep::Problem(note(pattern, format!("no {what} {}", shortened(pattern)), Some(hint.to_owned()))));
}

/// The longest pattern that a message shows, in characters.
const SHOWN: usize = 200;

/// A pattern in quotes, for messages.
fn shortened(pattern: &str) -> String {
    match pattern.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", pattern.get(..end).unwrap_or_default()),
        None => format!("{pattern:?}"),
    }
}

/// The suggestion for a directory whose files are all left out.
const LEFT_OUT: &str = "all files in it are left out with --ignore";

/// Returns true if a directory has a chart or a kustomization that is not rendered.
fn is_rendered(steps: Option<&[ReadStep]>) -> bool {
    let is_root = |step: &ReadStep| match step {
        ReadStep::Found(InputSource::File(path)) => kustomize::is_file(path) || path.ends_with("Chart.yaml"),
        _ => false,
    };
    steps.is_some_and(|steps| steps.iter().any(is_root))
}

/// Adds the files of a directory. Returns a suggestion if there are none.
fn directory(path: &Path, options: &InputOptions, steps: &mut Vec<ReadStep>) -> Option<&'static str> {
    let before = steps.len();
    let mut walk = DirectoryWalk { options, has_directories: false, has_ignored: false, steps };
    walk.directory(path, 0, None);
    let DirectoryWalk { has_directories, has_ignored, .. } = walk;
    if steps.len() > before {
        None
    } else if has_directories && !options.recursive {
        Some("add -R to read its subdirectories")
    } else if has_ignored {
        Some(LEFT_OUT)
    } else {
        Some("files must end in .json, .yaml or .yml to be found in a directory")
    }
}

/// Returns the size of all files of `paths` in bytes; `None` if one of them is not a file.
pub fn size(paths: &[String], options: &InputOptions) -> Option<u64> {
    let size = |step| match step {
        ReadStep::Named(InputSource::File(path)) | ReadStep::Found(InputSource::File(path)) => {
            fs::metadata(path).ok().map(|file| file.len())
        }
        ReadStep::Named(_) | ReadStep::Found(_) | ReadStep::Definitions(_) | ReadStep::Render(..) => None,
        ReadStep::Skip(..)
        | ReadStep::LeftOut(_)
        | ReadStep::Problem(_)
        | ReadStep::DirectoryStart
        | ReadStep::DirectoryEnd(_) => Some(0),
    };
    expand(paths, options).into_iter().map(size).sum()
}

/// Returns true if several directories are rendered: each is a target of its own.
pub fn has_several_roots(paths: &[String], options: &InputOptions) -> bool {
    let is_root = |step: &ReadStep| matches!(step, ReadStep::Render(..));
    options.render.is_some() && expand(paths, options).iter().filter(|step| is_root(step)).nth(1).is_some()
}

/// The files and directories that a pattern matches; none if the path exists or is not a pattern.
pub fn matching(path: &str) -> Vec<PathBuf> {
    if Path::new(path).exists() {
        return Vec::new();
    }
    let matches = patterns::expand(Path::new(path), &Ignore::default(), &Visits::default()).ok().flatten();
    matches.map(|matches| matches.paths).unwrap_or_default()
}

/// The notes about paths that do not exist, and patterns that match nothing.
pub fn missing(paths: &[String], options: &InputOptions) -> Vec<Note> {
    let is_literal = |path: &String| path == "-" || !is_url(path) && Path::new(path).exists();
    let paths: Vec<String> = paths.iter().filter(|path| !is_literal(path)).cloned().collect();
    let steps = expand(&paths, options).into_iter();
    steps.filter_map(|step| if let ReadStep::Problem(note) = step { Some(note) } else { None }).collect()
}

/// Walks a directory in the order of its names.
struct DirectoryWalk<'a> {
    options: &'a InputOptions,
    has_directories: bool,
    has_ignored: bool,
    steps: &'a mut Vec<ReadStep>,
}

impl DirectoryWalk<'_> {
    /// Adds the files of a directory. The files of a chart or a kustomization, and of the directories below it, are not read;
    /// charts and kustomizations in these directories are rendered, too.
    fn directory(&mut self, directory: &Path, depth: usize, root: Option<&Root>) {
        let own = if self.options.render.is_some() { Root::of(directory) } else { None };
        let named = depth == 0;
        let has_values = self.options.render.as_ref().is_some_and(Renderer::has_values);
        for target in own.iter().flat_map(|root| root.targets(named, has_values)) {
            self.steps.push(ReadStep::Render(target, named));
        }
        let root = own.as_ref().or(root);
        let entries = match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(e) => return self.steps.push(ReadStep::Problem(unreadable(&directory.display().to_string(), &e))),
        };
        // Symbolic links to directories are not followed, as in kubectl (`filepath.Walk`).
        let mut entries: Vec<(PathBuf, bool)> =
            entries.into_iter().map(|e| (e.path(), e.file_type().is_ok_and(|t| t.is_dir()))).collect();
        entries.sort();
        for (path, is_directory) in entries {
            if is_directory && is_never_read(&path) {
                continue;
            }
            let has_ending = || path.extension().and_then(|e| e.to_str()).is_some_and(|e| ENDINGS.contains(&e));
            if !is_directory && !has_ending() {
                continue;
            }
            if self.options.ignore.matches_entry(&path, is_directory) {
                self.has_ignored = true;
            } else if is_directory {
                self.has_directories = true;
                let is_owned = root.is_some_and(|root| root.owns(&path));
                if self.options.recursive && !is_owned {
                    if depth < MAX_DEPTH {
                        self.directory(&path, depth + 1, root);
                    } else {
                        self.steps.push(ReadStep::Problem(too_deep(&path)));
                    }
                }
            } else if let Some(root) = root {
                self.steps.extend(root.leaves_out(&path).then_some(ReadStep::LeftOut(path)));
            } else {
                // Opening a pipe would wait for its writer, and a device may never end.
                let special = fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir());
                self.steps.push(if special {
                    ReadStep::Skip(path, NoObject::NoFile)
                } else {
                    ReadStep::Found(InputSource::File(path))
                });
            }
        }
    }
}

/// A note about a whole source.
pub fn note(source: &str, message: String, hint: Option<String>) -> Note {
    let (source, stop) = (source.into(), Stop::Never);
    Note { source, position: None, message, hint, chunk: None, stop, is_joined: false, refusal: None }
}

/// The note about a directory whose files are not searched.
fn too_deep(directory: &Path) -> Note {
    let path = directory.display().to_string();
    let message = format!("directories below {path} are not read: they are more than {MAX_DEPTH} deep");
    note(&path, message, Some("name this directory itself, or leave it out with --ignore".to_owned()))
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

/// The note about a directory, or the matches of a pattern, without objects.
fn without_object(directory: &str, is_rendered: bool) -> Note {
    let hint = if is_rendered {
        "its objects are made by helm or kustomize: add --render"
    } else {
        "all documents in it are skipped: name a directory with objects, or add -R to read its subdirectories"
    };
    note(directory, "there is no Kubernetes object in this directory".to_owned(), Some(hint.to_owned()))
}

/// The help line for a chunk that cannot be read.
pub fn hint(chunk: &Chunk, kind: ErrorKind) -> Option<String> {
    let text = chunk.text.as_slice();
    let hint = if chunk.is_too_large() {
        "split it into several documents, or leave the file out with --ignore"
    } else if is_gzip(text) {
        "this is a gzip file: gunzip it first"
    } else if is_zip(text) {
        "this is a zip file: unpack it first"
    } else if text.contains(&0) {
        "this is not a text file"
    } else if text.split(|byte| *byte == b'\n').any(is_conflict_marker) {
        "this file has markers of a merge conflict (`<<<<<<<`): resolve the conflict"
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

/// Returns true for the first line of a conflict that git left in a file.
fn is_conflict_marker(line: &[u8]) -> bool {
    line.starts_with(b"<<<<<<< ")
}

fn is_gzip(text: &[u8]) -> bool {
    // Bytes that are not UTF-8 were replaced when the file was decoded.
    text.starts_with(b"\x1f\x8b") || text.starts_with(b"\x1f\xef\xbf\xbd\x08")
}

fn is_zip(text: &[u8]) -> bool {
    text.starts_with(b"PK\x03\x04")
}

/// Returns true if a chunk that cannot be parsed is a text of a size that this program reads.
pub fn is_text(chunk: &Chunk, kind: ErrorKind) -> bool {
    let text = chunk.text.as_slice();
    let is_read = !matches!(kind, ErrorKind::Encoding | ErrorKind::Expansion) && !chunk.is_too_large();
    is_read && !is_gzip(text) && !is_zip(text) && !text.contains(&0)
}

/// Reads what says how the directories of an input are rendered, if it is rendered.
pub fn prepare_rendering(paths: &[String], options: &InputOptions) {
    if let Some(renderer) = &options.render {
        renderer.read_flux(&yaml_files(&expand(paths, options)));
    }
}

/// Returns the YAML files of an input, and those of the kustomizations that are rendered.
fn yaml_files(steps: &[ReadStep]) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for step in steps {
        match step {
            ReadStep::Named(InputSource::File(path)) | ReadStep::Found(InputSource::File(path)) => {
                files.insert(path.clone());
            }
            ReadStep::Render(target, _) => files.extend(find::files(target)),
            _ => {}
        }
    }
    files.retain(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::{Position, Syntax};

    /// The files of the steps, and the messages of problems.
    fn names(path: &Path, options: impl Into<InputOptions>, base: &Path) -> Vec<String> {
        let base = format!("{}/", base.display());
        let show = |step| match step {
            ReadStep::Named(source) | ReadStep::Found(source) => Some(source.name().replace(&base, "")),
            ReadStep::Skip(path, _) => Some(format!("no file: {}", path.display().to_string().replace(&base, ""))),
            ReadStep::Problem(note) => Some(note.message),
            ReadStep::Render(target, _) => Some(format!("{:?} {}", target.kind, target.name().replace(&base, ""))),
            ReadStep::LeftOut(path) => Some(format!("left out: {}", path.display().to_string().replace(&base, ""))),
            ReadStep::Definitions(_) | ReadStep::DirectoryStart | ReadStep::DirectoryEnd(_) => None,
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
        let options = InputOptions { recursive: true, ignore, ..InputOptions::default() };
        assert_eq!(names(base, options.clone(), base), ["b/1.yaml", "b/2.yml", "c.yaml", "none/below/q.yaml"]);
        assert_eq!(names(&base.join("a.json"), options, base), [""; 0], "named files are left out, too");
        assert_eq!(names(&base.join("x.txt"), false, base), ["x.txt"]);
        assert_eq!(names(&base.join("b/?.y*ml"), false, base), ["b/1.yaml", "b/2.yml"]);
        let none = expand(&[base.join("none").display().to_string()], &InputOptions::default());
        let hint = |step: &ReadStep| if let ReadStep::Problem(note) = step { note.hint.clone() } else { None };
        assert_eq!(none.iter().find_map(hint).as_deref(), Some("add -R to read its subdirectories"));
        assert!(names(&base.join("gone"), false, base)[0].contains("does not exist"));
        assert_eq!(
            expand(&["-".to_owned(), "-".to_owned()], &InputOptions::default()),
            [ReadStep::Named(InputSource::Stdin)]
        );
        assert_eq!(names(Path::new("https://x/y"), false, base), ["https://x/y is a URL, which is not fetched"]);
    }

    #[test]
    fn the_bytes_of_objects_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.yaml"), "apiVersion: v1\nkind: ConfigMap\n").unwrap();
        fs::write(dir.path().join("b.yaml"), "apiVersion: v1\nkind: Secret\n").unwrap();
        let paths = [dir.path().display().to_string()];
        let read = crate::ReadBytes::default();
        let options = InputOptions { read: Some(read.clone()), ..InputOptions::default() };
        assert_eq!(size(&paths, &options), Some(59));
        assert_eq!(crate::required::Sources::open_all(&paths, options.clone()).count(), 2);
        assert_eq!(read.get(), 59);
        let required = crate::required::Required::Definition;
        assert!(crate::required::Sources::open(&paths, options.clone(), required, "--crds").count() > 0);
        assert_eq!(read.get(), 59, "CRDs do not count");
        assert_eq!(size(&["-".to_owned()], &options), None);
    }

    #[test]
    fn directories_that_are_too_deep_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", MAX_DEPTH + 1).collect();
        let reported = |path: PathBuf, recursive: bool| {
            let options = InputOptions { recursive, ..InputOptions::default() };
            let steps = expand(&[path.display().to_string()], &options).into_iter();
            let notes =
                steps.filter_map(|step| if let ReadStep::Problem(note) = step { Some(note.message) } else { None });
            notes.filter(|message| message.contains("more than 256 deep")).count()
        };
        fs::create_dir_all(dir.path().join(deep.parent().unwrap())).unwrap();
        fs::write(dir.path().join("a.yaml"), "a: 1").unwrap();
        fs::write(dir.path().join(deep.parent().unwrap()).join("b.yaml"), "a: 1").unwrap();
        assert_eq!(reported(dir.path().to_owned(), true), 0);
        assert_eq!(names(dir.path(), true, dir.path()).len(), 2);
        fs::create_dir_all(dir.path().join(&deep)).unwrap();
        assert_eq!(reported(dir.path().to_owned(), true), 1);
        assert_eq!(reported(dir.path().to_owned(), false), 0);
        assert_eq!(reported(dir.path().join("**/*.yaml"), false), 1);
    }

    #[test]
    fn patterns_match_files_and_directories() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        for name in ["a/crds/1.yaml", "a/crds/deep/2.yml", "b/crds/3.json", "c/crds/notes.txt", "c/[x].yaml"] {
            fs::create_dir_all(base.join(name).parent().unwrap()).unwrap();
            fs::write(base.join(name), "a: 1").unwrap();
        }
        let found = |pattern: &str, recursive: bool| names(&base.join(pattern), recursive, base);
        assert_eq!(found("*/crds", false), ["a/crds/1.yaml", "b/crds/3.json"]);
        assert_eq!(found("*/crds", true), ["a/crds/1.yaml", "a/crds/deep/2.yml", "b/crds/3.json"]);
        assert_eq!(found("a/**", false), ["a/crds/1.yaml", "a/crds/deep/2.yml"]);
        assert_eq!(found("**/*.y*ml", false), ["a/crds/1.yaml", "a/crds/deep/2.yml", "c/[x].yaml"]);
        assert_eq!(found("c/[x].yaml", false), ["c/[x].yaml"], "a name with brackets that exists");
        // A pattern may be no valid name: too long, or on Windows any name with a wildcard.
        assert_eq!(found(&format!("a/crds/{{1,{}}}.yaml", "x".repeat(300)), false), ["a/crds/1.yaml"]);
        let starts = |pattern: &str, start: &str| assert!(found(pattern, false)[0].starts_with(start), "{pattern}");
        starts("c/*s", "no .json, .yaml or .yml file in the directories that match the pattern ");
        starts("*/nothing", "no file matches the pattern ");
        starts("a{b", "the pattern ");
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
    fn hints_say_what_to_do() {
        let hint = |text: &[u8]| {
            let chunk = Chunk::new(text.to_vec(), Position::default(), Syntax::Yaml);
            super::hint(&chunk, ErrorKind::Other)
        };
        assert_eq!(hint(b"\x1f\x8b\x08").as_deref(), Some("this is a gzip file: gunzip it first"));
        let conflict = hint(b"a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n");
        assert!(conflict.is_some_and(|hint| hint.contains("merge conflict")));
        assert_eq!(hint(b"a"), None);
    }
}
