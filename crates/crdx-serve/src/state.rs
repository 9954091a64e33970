//! `--state`: persists the store in one file.
//!
//! The file is a log of JSON lines: a header, then one line per commit; the last line of a key is valid. Every line has a
//! checksum, so that a damaged line is an error and not another object. A commit is
//! written to the file before its response and before any other client can read it, so a crash of this process loses no
//! acknowledged write. The file is synced to disk (`fsync`) once a second, so a power failure may lose the writes of
//! the last second. An incomplete last line is dropped: its request had no response.
//!
//! When the file has doubled in size it is compacted: rewritten without superseded lines. Meanwhile commits are written
//! to `FILE.tail`, which is appended at the end. One rename replaces the old file by the new one. A tail that exists at
//! start is read after the file. A [`lock`] prevents another process from opening the file.
//!
//! After a failed write or sync, nothing more is written and every request fails ([`StateFailure`]), because the content
//! of the file after the error is unknown until it is read again.

mod disk;
mod failure;
#[cfg(test)]
mod faults;
mod line;
mod lock;
mod note;
#[cfg(test)]
mod tests;

use crdx_files::open;
use crdx_output::printable::complain;
use crdx_server::server::{Commit, Journal, Server, ServerBuilder};
use crdx_value::lock::lock;
use disk::{Appender, Disk, DiskFile, FileSystem, with_suffix};
pub use failure::{StateError, StateFailure};
use line::{Index, LineFormat};
use lock::{Lock, LockError};
pub use note::StateNote;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

const HEADER: &str = "{\"kubectlCrdxState\":2}\n";
/// The header of files whose lines have no checksums.
const EARLIER_HEADER: &str = "{\"kubectlCrdxState\":1}\n";
/// A file shorter than this is not compacted.
const MIN_COMPACTED: u64 = 4 << 20;

/// An open state file.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    disk: Box<dyn Disk>,
    log: Mutex<Log>,
    failure: OnceLock<StateFailure>,
}

/// A state file and the server whose objects it persists.
#[derive(Debug)]
pub struct Opened {
    pub server: Server,
    /// The file.
    pub state: Arc<StateFile>,
    /// The names of the objects that could not be restored.
    pub orphans: Vec<String>,
    /// What the user should know about the file.
    pub notes: Vec<StateNote>,
}

/// The file being written.
#[derive(Debug)]
struct Log {
    file: Arc<dyn DiskFile>,
    bytes: u64,
    /// The length at which the file is compacted.
    compact_at: u64,
    /// True if some writes may not have been synced to disk.
    unsynced: bool,
}

impl StateFile {
    /// Opens or creates the file and builds a server with its objects, whose commits are persisted.
    ///
    /// # Errors
    /// Returns an error if the file is not a state file, is corrupt or is in use.
    pub fn open(path: &Path, server: ServerBuilder) -> Result<Opened, StateError> {
        let failed = |operation| move |error| StateError::Io { operation, path: path.to_owned(), error };
        let resolved = open::resolved(path).map_err(failed("find"))?;
        let lock = Lock::acquire(&resolved).map_err(|error| match error {
            LockError::InUse => StateError::InUse(path.to_owned()),
            LockError::Io(error) => failed("open")(error),
        })?;
        let was_open = lock.was_open.map(StateNote::WasOpen);
        let mut opened = Self::open_on(Box::new(FileSystem(lock)), &resolved, server)?;
        opened.notes.extend(was_open);
        Ok(opened)
    }

    fn open_on(disk: Box<dyn Disk>, path: &Path, server: ServerBuilder) -> Result<Opened, StateError> {
        let failed = |operation| move |error| StateError::Io { operation, path: path.to_owned(), error };
        let log = read(&*disk, path).map_err(failed("read"))?;
        let tail = read(&*disk, &with_suffix(path, "tail")).map_err(failed("read the tail of"))?;
        // A file without any line is not a state file, unless the header itself is incomplete.
        let begins_header = [HEADER, EARLIER_HEADER].iter().any(|header| header.as_bytes().starts_with(&log.rest));
        if log.lines.is_empty() && !begins_header {
            return Err(StateError::OtherFormat(path.to_owned()));
        }
        let (index, format) = index(path, &log.lines, &tail.lines)?;
        let mut notes = Vec::new();
        if format == LineFormat::Unchecked {
            notes.push(StateNote::EarlierFormat);
        }
        let is_complete = log.rest.is_empty() && tail.rest.is_empty();
        if !log.lines.is_empty() && !is_complete {
            notes.push(StateNote::IncompleteLine);
        }
        let restored =
            index.restored().map_err(|error| StateError::Line { path: path.to_owned(), error: Box::new(error) })?;
        let mut bytes = log.lines.len() as u64;
        let is_whole = log.rest.is_empty() && !log.lines.is_empty() && format == LineFormat::Checked;
        if !is_whole || !tail.is_empty() || !index.is_clean() {
            bytes = replace(&*disk, path, &index).map_err(failed("write"))?;
        }
        let file = disk.append(path).map_err(failed("write"))?;
        let state = Arc::new(Self {
            path: path.to_owned(),
            disk,
            log: Mutex::new(Log { file, bytes, compact_at: compact_at(bytes), unsynced: false }),
            failure: OnceLock::new(),
        });
        let journal: Arc<dyn Journal> = Arc::clone(&state) as _;
        let (server, orphans) = server.restore(journal, restored, index.revision());
        Ok(Opened { server, state, orphans, notes })
    }

    /// Returns the reason why the file is not written any more; from then on, every request must fail.
    pub fn failure(&self) -> Option<&StateFailure> {
        self.failure.get()
    }

    /// Syncs and, if needed, compacts the file. Must be called once a second, on a thread that may block.
    pub fn maintain(&self) {
        self.sync();
        let log = self.log();
        if log.bytes >= log.compact_at && self.failure.get().is_none() {
            self.compact(log);
        }
    }

    /// Syncs the file to disk.
    pub fn sync(&self) {
        let mut log = self.log();
        if self.failure.get().is_some() || !std::mem::take(&mut log.unsynced) {
            return;
        }
        // Commits do not wait for the disk.
        let file = Arc::clone(&log.file);
        drop(log);
        if let Err(e) = file.sync() {
            self.fail(StateFailure::sync(&self.path, e));
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    fn fail(&self, failure: StateFailure) {
        let _ = self.failure.set(failure);
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
            Err(e) => self.fail(StateFailure::write(&self.path, e)),
        }
    }

    /// Compacts the file. Commits wait only while the tail is started and while it is appended.
    fn compact(&self, mut log: MutexGuard<'_, Log>) {
        if let Err(e) = self.start_tail(&mut log) {
            return self.postpone(log, &e);
        }
        drop(log);
        let rewritten = self.rewrite();
        let log = self.log();
        match rewritten {
            _ if self.failure.get().is_some() => {}
            Ok(bytes) => self.finish(log, bytes),
            Err(e) => self.postpone(log, &e),
        }
    }

    /// Directs commits to the tail.
    fn start_tail(&self, log: &mut Log) -> io::Result<()> {
        let tail = self.disk.create(&with_suffix(&self.path, "tail"))?;
        self.disk.sync_directory(&self.path)?;
        // From now on, `sync` syncs the tail.
        if std::mem::take(&mut log.unsynced)
            && let Err(e) = log.file.sync()
        {
            self.fail(StateFailure::sync(&self.path, e));
            return Ok(());
        }
        log.file = tail;
        Ok(())
    }

    /// Writes `FILE.new` from the file without its tail, and returns its length.
    fn rewrite(&self) -> io::Result<u64> {
        let old = read(&*self.disk, &self.path)?;
        let (index, _) = index(&self.path, &old.lines, "").map_err(io::Error::other)?;
        write(&*self.disk, &with_suffix(&self.path, "new"), &index)
    }

    /// Appends the tail to `FILE.new`, which has `bytes` bytes, and replaces the file by it.
    fn finish(&self, mut log: MutexGuard<'_, Log>, bytes: u64) {
        let (new, tail) = (with_suffix(&self.path, "new"), with_suffix(&self.path, "tail"));
        let replaced = (|| {
            let text = read(&*self.disk, &tail)?.lines;
            let file = self.disk.append(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync()?;
            self.disk.rename(&new, &self.path)?;
            self.disk.sync_directory(&self.path)?;
            Ok((file, bytes + text.len() as u64))
        })();
        let (file, bytes) = match replaced {
            Ok(replaced) => replaced,
            // The file, old or new, is complete together with the tail.
            Err(e) => return self.postpone(log, &e),
        };
        // A tail left in place would be read after newer commits at the next start.
        let removed = self.disk.remove(&tail).or_else(|_| self.disk.create(&tail)?.sync());
        if let Err(e) = removed.and_then(|()| self.disk.sync_directory(&self.path)) {
            return self.fail(StateFailure::sync(&self.path, e));
        }
        *log = Log { file, bytes, compact_at: compact_at(bytes), unsynced: false };
    }

    /// Disables compaction after an error: the file and its tail are complete, only longer than needed.
    fn postpone(&self, mut log: MutexGuard<'_, Log>, error: &io::Error) {
        log.compact_at = u64::MAX;
        // A partial copy only takes space.
        let _ = self.disk.remove(&with_suffix(&self.path, "new"));
        complain!("warning: {} cannot be written anew and grows: {error}", self.path.display());
    }
}

impl Journal for StateFile {
    fn commit(&self, commit: &Commit<'_>) {
        self.append(&line::write(commit));
    }
}

fn compact_at(bytes: u64) -> u64 {
    (bytes * 2).max(MIN_COMPACTED)
}

/// Reads the lines of a file, whose format is returned, and of its tail. A tail has no header. The tail of a file in the
/// earlier format remains if the process was killed while the file was converted.
fn index<'a>(path: &Path, lines: &'a str, tail: &'a str) -> Result<(Index<'a>, LineFormat), StateError> {
    let mut index = Index::default();
    let (body, format) = match (lines.strip_prefix(HEADER), lines.strip_prefix(EARLIER_HEADER)) {
        (Some(body), _) => (body, LineFormat::Checked),
        (_, Some(body)) => (body, LineFormat::Unchecked),
        _ if lines.is_empty() => ("", LineFormat::Checked),
        _ => return Err(StateError::OtherFormat(path.to_owned())),
    };
    let failed = |path: PathBuf| move |error| StateError::Line { path, error: Box::new(error) };
    index.read(body, 2, format).map_err(failed(path.to_owned()))?;
    index.read(tail, 1, LineFormat::of_tail(tail)).map_err(failed(with_suffix(path, "tail")))?;
    Ok((index, format))
}

/// Replaces `path` by the compacted file, removes the tail and returns the length of the file.
fn replace(disk: &dyn Disk, path: &Path, index: &Index<'_>) -> io::Result<u64> {
    let new = with_suffix(path, "new");
    let bytes = write(disk, &new, index).inspect_err(|_| drop(disk.remove(&new)))?;
    disk.rename(&new, path)?;
    disk.sync_directory(path)?;
    match disk.remove(&with_suffix(path, "tail")) {
        // Otherwise the old tail could be read after newer commits.
        Ok(()) => disk.sync_directory(path)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    Ok(bytes)
}

fn write(disk: &dyn Disk, path: &Path, index: &Index<'_>) -> io::Result<u64> {
    let file = disk.create(path)?;
    let mut out = io::BufWriter::new(Appender { file: &*file, bytes: 0 });
    out.write_all(HEADER.as_bytes())?;
    index.write(&mut out)?;
    let bytes = out.into_inner().map_err(io::IntoInnerError::into_error)?.bytes;
    file.sync()?;
    Ok(bytes)
}

/// The content of a state file or tail.
#[derive(Default)]
struct StateFileContent {
    /// The complete lines.
    lines: String,
    /// An incomplete last line.
    rest: Vec<u8>,
}

impl StateFileContent {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.rest.is_empty()
    }
}

/// Reads a file; empty if the file does not exist.
fn read(disk: &dyn Disk, path: &Path) -> io::Result<StateFileContent> {
    match disk.read(path) {
        Ok(bytes) => content(bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(StateFileContent::default()),
        Err(e) => Err(e),
    }
}

fn content(mut bytes: Vec<u8>) -> io::Result<StateFileContent> {
    let rest = bytes.split_off(bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1));
    let lines = String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))?;
    Ok(StateFileContent { lines, rest })
}
