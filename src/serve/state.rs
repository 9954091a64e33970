//! `--state`: persists the store in one file.
//!
//! The file is a log of JSON lines: a header, then one line per commit; the last line of a key is valid. A commit is
//! written to the file before its response and before any other client can read it, so a crash of this process loses no
//! acknowledged write. The file is synced to disk (`fsync`) once a second, so a power failure may lose the writes of
//! the last second. An incomplete last line is dropped: its request had no response.
//!
//! When the file has doubled in size it is compacted: rewritten without superseded lines. Meanwhile commits are written
//! to `FILE.tail`, which is appended at the end. One rename replaces the old file by the new one. A tail that exists at
//! start is read after the file. `FILE.lock` prevents another process from opening the file.

mod line;

use crate::server::{Commit, Journal, Server, Timestamp};
use line::{Index, LineError};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

const HEADER: &str = "{\"kubectlCrdxState\":1}\n";
/// A file shorter than this is not compacted.
const MIN_COMPACTED: u64 = 4 << 20;

/// An open state file.
#[derive(Debug)]
pub struct State {
    path: PathBuf,
    log: Mutex<Log>,
    /// The reason why the file cannot be written any more.
    failure: OnceLock<String>,
    /// The lock, held while the file is open.
    _lock: File,
}

/// The file being written.
#[derive(Debug)]
struct Log {
    file: File,
    bytes: u64,
    /// The length at which the file is compacted.
    compact_at: u64,
    /// True if some writes may not have been synced to disk.
    unsynced: bool,
}

/// The reason why a state file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another process uses it.
    #[error("{} is in use: stop the other serve, or use another file", .0.display())]
    InUse(PathBuf),
    /// It is a file of another kind.
    #[error("{} is not a state file of kubectl crdx: choose another name", .0.display())]
    OtherFormat(PathBuf),
    /// One of its lines cannot be restored.
    #[error("{}: {error}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The error of the line.
        error: LineError,
    },
    /// The operating system refuses an operation.
    #[error("cannot {operation} {}: {error}", path.display())]
    Io {
        /// The operation.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl State {
    /// Opens or creates the file, restores its objects into `server` and persists commits from now on. Also returns the
    /// objects that could not be restored.
    ///
    /// # Errors
    /// Returns an error if the file is not a state file, is corrupt or is in use.
    pub fn open(path: &Path, server: &Server, now: Timestamp) -> Result<(Arc<Self>, Vec<String>), StateError> {
        let failed = |operation| move |error| StateError::Io { operation, path: path.to_owned(), error };
        let lock = beside(path, "lock");
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let lock = open.map_err(failed("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StateError::InUse(path.to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let log = read(path).map_err(failed("read"))?;
        let tail = read(&beside(path, "tail")).map_err(failed("read the tail of"))?;
        let index = index(path, &log.text, &tail.text)?;
        let kept = index.kept().map_err(|error| StateError::Line { path: path.to_owned(), error })?;
        if log.truncated || log.text.is_empty() || !tail.text.is_empty() || !index.is_clean() {
            replace(path, &index).map_err(failed("write"))?;
        }
        let file = append(path).map_err(failed("write"))?;
        let bytes = file.metadata().map_err(failed("read"))?.len();
        let state = Arc::new(Self {
            path: path.to_owned(),
            log: Mutex::new(Log { file, bytes, compact_at: (bytes * 2).max(MIN_COMPACTED), unsynced: false }),
            failure: OnceLock::new(),
            _lock: lock,
        });
        let journal: Arc<dyn Journal> = Arc::clone(&state) as _;
        let orphans = server.restore_from(journal, kept, index.revision(), now);
        Ok((state, orphans))
    }

    /// Returns the reason why the file cannot be written any more; from then on, every request must fail.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Syncs and, if needed, compacts the file. Must be called once a second, on a thread that may block.
    pub fn maintain(&self) {
        self.sync();
        let log = self.log();
        if log.bytes >= log.compact_at {
            self.compact(log);
        }
    }

    /// Syncs the file to disk.
    pub fn sync(&self) {
        let mut log = self.log();
        if !std::mem::take(&mut log.unsynced) {
            return;
        }
        let Ok(file) = log.file.try_clone() else { return };
        drop(log);
        if let Err(e) = file.sync_data() {
            self.fail(&e);
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: &io::Error) {
        let _ = self.failure.set(format!("the state file {} cannot be written: {error}", self.path.display()));
    }

    fn append(&self, line: &[u8]) {
        let mut log = self.log();
        if self.failure.get().is_some() {
            return;
        }
        match log.file.write_all(line) {
            Ok(()) => {
                log.bytes += line.len() as u64;
                log.unsynced = true;
            }
            Err(e) => self.fail(&e),
        }
    }

    /// Compacts the file. Commits wait only while the tail is appended.
    fn compact(&self, mut log: MutexGuard<'_, Log>) {
        let tail = beside(&self.path, "tail");
        match File::create(&tail) {
            Ok(file) => log.file = file,
            Err(e) => return self.postpone(log, &e),
        }
        drop(log);
        let rewritten = (|| {
            let old = read(&self.path)?;
            let index = index(&self.path, &old.text, "").map_err(io::Error::other)?;
            let new = beside(&self.path, "new");
            write(&new, &index)?;
            // The lock blocks commits from here on.
            let mut log = self.log();
            let mut file = append(&new)?;
            file.write_all(read(&tail)?.text.as_bytes())?;
            file.sync_data()?;
            fs::rename(&new, &self.path)?;
            sync_directory(&self.path)?;
            log.bytes = file.metadata()?.len();
            log.compact_at = (log.bytes * 2).max(MIN_COMPACTED);
            log.file = file;
            // A tail left in place would be read after newer commits at the next start.
            if let Err(e) = fs::remove_file(&tail).or_else(|_| File::create(&tail).map(drop)) {
                self.fail(&e);
            }
            Ok(())
        })();
        if let Err(e) = rewritten {
            self.postpone(self.log(), &e);
        }
    }

    /// Disables compaction after an error: the file and its tail are complete, only longer than needed.
    fn postpone(&self, mut log: MutexGuard<'_, Log>, error: &io::Error) {
        log.compact_at = u64::MAX;
        eprintln!("warning: {} cannot be written anew and grows: {error}", self.path.display());
    }
}

impl Journal for State {
    fn commit(&self, commit: &Commit<'_>) {
        self.append(&line::write(commit));
    }
}

fn index<'a>(path: &Path, text: &'a str, tail: &'a str) -> Result<Index<'a>, StateError> {
    let mut index = Index::default();
    let body = match text.strip_prefix(HEADER) {
        Some(body) => body,
        None if text.is_empty() => "",
        None => return Err(StateError::OtherFormat(path.to_owned())),
    };
    let read = index.read(body, 2).and_then(|()| index.read(tail, 1));
    read.map_err(|error| StateError::Line { path: path.to_owned(), error })?;
    Ok(index)
}

/// Replaces `path` by the compacted file and removes the tail.
fn replace(path: &Path, index: &Index<'_>) -> io::Result<()> {
    let new = beside(path, "new");
    write(&new, index)?;
    fs::rename(&new, path)?;
    sync_directory(path)?;
    match fs::remove_file(beside(path, "tail")) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn write(path: &Path, index: &Index<'_>) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create(path)?);
    file.write_all(HEADER.as_bytes())?;
    index.write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()
}

/// The complete lines of a state file.
#[derive(Default)]
struct StateFile {
    /// The text up to the end of the last complete line.
    text: String,
    /// True if an incomplete line follows.
    truncated: bool,
}

/// Reads a file; empty if the file does not exist.
fn read(path: &Path) -> io::Result<StateFile> {
    let mut bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(StateFile::default()),
        Err(e) => return Err(e),
    };
    let length = bytes.len();
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    // A file without any line is not a state file, unless the header itself is incomplete.
    if whole > 0 || HEADER.as_bytes().starts_with(&bytes) {
        bytes.truncate(whole);
    }
    let truncated = bytes.len() < length;
    let text = String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))?;
    Ok(StateFile { text, truncated })
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Returns `FILE.suffix`, in the same directory.
fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    name.into()
}

/// Syncs the directory, so that a new file name is stored on disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Release;
    use crate::server::{Method, Request, ResponseBody};
    use crate::value::Value;

    const CRD: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
        "metadata":{"name":"kites.toys.example.com"},"spec":{"group":"toys.example.com","scope":"Cluster",
        "names":{"plural":"kites","kind":"Kite"},"versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
    const KITES: &str = "/apis/toys.example.com/v1/kites";

    fn open(path: &Path) -> (Server, Arc<State>) {
        let server = Server::new(Release::NEWEST, 1);
        let (state, orphans) = State::open(path, &server, Timestamp::default()).unwrap();
        assert_eq!(orphans, [""; 0]);
        (server, state)
    }

    fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
        let response = server.handle(&Request::new(method, path, body));
        match response.body {
            ResponseBody::Json(body) => (response.code, Arc::unwrap_or_clone(body)),
            ResponseBody::Text(text) => panic!("{text}"),
        }
    }

    fn create(server: &Server, name: &str) {
        let kite = format!(r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"{name}"}}}}"#);
        assert_eq!(send(server, Method::Post, KITES, &kite).0, 201);
    }

    fn names(server: &Server) -> Vec<String> {
        let (_, list) = send(server, Method::Get, KITES, "");
        let items = list.get("items").and_then(Value::as_array).unwrap();
        items.iter().map(|o| o.str_at(&["metadata", "name"]).unwrap().to_owned()).collect()
    }

    fn with_kites(path: &Path) -> (Server, Arc<State>) {
        let (server, state) = open(path);
        assert_eq!(send(&server, Method::Post, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD).0, 201);
        for name in ["a", "b", "c"] {
            create(&server, name);
        }
        (server, state)
    }

    /// Closes the file; the server also refers to it.
    fn close(server: Server, state: Arc<State>) {
        drop(server);
        drop(state);
    }

    #[test]
    fn what_was_stored_is_there_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let (server, state) = with_kites(&path);
        assert_eq!(send(&server, Method::Delete, &format!("{KITES}/b"), "").0, 200);
        let before = send(&server, Method::Get, KITES, "");
        close(server, state);
        let (server, state) = open(&path);
        assert_eq!(send(&server, Method::Get, KITES, ""), before);
        create(&server, "d");
        close(server, state);
        assert_eq!(names(&open(&path).0), ["a", "c", "d"]);
    }

    #[test]
    fn a_line_without_an_end_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let (server, state) = with_kites(&path);
        close(server, state);
        let whole = fs::read(&path).unwrap();
        let last = whole.iter().take(whole.len() - 1).rposition(|b| *b == b'\n').unwrap() + 1;
        for length in [last, last + 1, last + 20, whole.len() - 1] {
            fs::write(&path, whole.get(..length).unwrap()).unwrap();
            let (server, state) = open(&path);
            assert_eq!(names(&server), ["a", "b"], "{length}");
            create(&server, "z");
            close(server, state);
            assert_eq!(names(&open(&path).0), ["a", "b", "z"], "{length}");
        }
    }

    #[test]
    fn a_file_written_anew_holds_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let (server, state) = with_kites(&path);
        for _ in 0..20 {
            create(&server, "x");
            assert_eq!(send(&server, Method::Delete, &format!("{KITES}/x"), "").0, 200);
        }
        let before = fs::metadata(&path).unwrap().len();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..50 {
                    create(&server, &format!("w{i}"));
                }
            });
            for _ in 0..10 {
                state.compact(state.log());
            }
        });
        state.compact(state.log());
        assert_eq!(state.failure(), None);
        create(&server, "y");
        let expected = names(&server);
        assert_eq!(expected.len(), 54);
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < 60, "{lines} lines, {before} bytes before");
        close(server, state);
        assert!(!beside(&path, "tail").exists());
        assert_eq!(names(&open(&path).0), expected);
    }

    #[test]
    fn a_tail_is_read_after_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let (server, state) = with_kites(&path);
        // Simulates a crash during compaction: some commits are in the tail only.
        state.log().file = File::create(beside(&path, "tail")).unwrap();
        create(&server, "d");
        assert_eq!(send(&server, Method::Delete, &format!("{KITES}/a"), "").0, 200);
        close(server, state);
        let (server, state) = open(&path);
        assert_eq!(names(&server), ["b", "c", "d"]);
        assert!(!beside(&path, "tail").exists());
        close(server, state);
        assert_eq!(names(&open(&path).0), ["b", "c", "d"]);
    }

    #[test]
    fn other_files_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        for other in ["kind: Config", "kind: Config\n", "{}\n{}\n"] {
            fs::write(&path, other).unwrap();
            let error = State::open(&path, &Server::new(Release::NEWEST, 1), Timestamp::default()).unwrap_err();
            assert!(matches!(error, StateError::OtherFormat(_)), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
        fs::remove_file(&path).unwrap();
        let (_server, _state) = open(&path);
        let error = State::open(&path, &Server::new(Release::NEWEST, 1), Timestamp::default()).unwrap_err();
        assert!(matches!(error, StateError::InUse(_)), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let (server, state) = with_kites(&directory.path().join("state"));
        state.log().file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        create(&server, "d");
        assert!(state.failure().unwrap().contains("cannot be written: No space left"));
    }
}
