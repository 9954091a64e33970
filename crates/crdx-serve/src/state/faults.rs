//! Tests with a disk in memory on which any operation fails: with an error, after a part of its bytes, or because the
//! process is killed. Afterwards the file is opened as it is after a crash of the process and after a power failure.

use super::*;
use crate::ServeOptions;
use crdx_server::server::{Method, Request, ResponseBody};
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

const CRD: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"kites.toys.example.com"},"spec":{"group":"toys.example.com","scope":"Cluster",
    "names":{"plural":"kites","kind":"Kite"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}"#;
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const KITES: &str = "/apis/toys.example.com/v1/kites";
const FILE: &str = "state";

/// A fault of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It has no effect and returns this error; later operations succeed.
    Error(io::ErrorKind),
    /// The disk is full from now on: a write stores only this many bytes.
    Full(usize),
    /// The process is killed after a write stored this many bytes.
    Killed(usize),
}

/// The bytes that are still there when the file is opened again.
#[derive(Clone, Copy, Debug)]
enum AfterCrash {
    /// Everything, after a crash of the process.
    Everything,
    /// Synced names, synced bytes, and at most this many bytes more, after a power failure.
    Synced(usize),
}

#[derive(Clone, Debug, Default)]
struct Bytes {
    all: Vec<u8>,
    synced: usize,
}

type Names = BTreeMap<PathBuf, usize>;

#[derive(Debug, Default)]
struct Memory {
    files: Vec<Bytes>,
    names: Names,
    synced_names: Names,
    /// The number of operations, and the ones that failed.
    operations: usize,
    failed: Vec<&'static str>,
    /// The operation that fails, and how.
    fault: Option<(usize, Fault)>,
    is_killed: bool,
}

impl Memory {
    /// Counts an operation. Returns the number of bytes that a write may store before the error.
    fn operation(&mut self, name: &'static str) -> Result<(), (usize, io::Error)> {
        self.operations += 1;
        let Some((at, fault)) = self.fault else { return Ok(()) };
        let failure = match fault {
            _ if self.is_killed => Some((0, io::ErrorKind::Other)),
            _ if self.operations < at => None,
            Fault::Error(kind) => (self.operations == at).then_some((0, kind)),
            Fault::Full(bytes) if matches!(name, "create" | "write") => {
                Some((if self.operations == at { bytes } else { 0 }, io::ErrorKind::StorageFull))
            }
            Fault::Full(_) => None,
            Fault::Killed(bytes) => {
                self.is_killed = true;
                Some((bytes, io::ErrorKind::Other))
            }
        };
        match failure {
            Some((bytes, kind)) => {
                self.failed.push(name);
                Err((bytes, kind.into()))
            }
            None => Ok(()),
        }
    }

    fn after(&self, survives: AfterCrash) -> Self {
        let AfterCrash::Synced(more) = survives else {
            return Self {
                files: self.files.clone(),
                names: self.names.clone(),
                synced_names: self.names.clone(),
                ..Self::default()
            };
        };
        let kept = |file: &Bytes| file.all.iter().take(file.synced + more).copied().collect::<Vec<u8>>();
        let files = self.files.iter().map(|file| Bytes { synced: kept(file).len(), all: kept(file) }).collect();
        Self { files, names: self.synced_names.clone(), synced_names: self.synced_names.clone(), ..Self::default() }
    }
}

#[derive(Clone, Debug, Default)]
struct MemoryDisk(Arc<Mutex<Memory>>);

#[derive(Debug)]
struct MemoryFile {
    disk: MemoryDisk,
    file: usize,
}

impl MemoryDisk {
    fn new(memory: Memory) -> Self {
        Self(Arc::new(Mutex::new(memory)))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap()
    }

    fn operation(&self, name: &'static str) -> io::Result<MutexGuard<'_, Memory>> {
        let mut memory = self.memory();
        memory.operation(name).map_err(|(_, error)| error)?;
        Ok(memory)
    }

    fn file(&self, file: usize) -> Arc<dyn DiskFile> {
        Arc::new(MemoryFile { disk: self.clone(), file })
    }
}

impl Disk for MemoryDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let memory = self.operation("read")?;
        let file = memory.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(memory.files[*file].all.clone())
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let mut memory = self.operation("create")?;
        let file = memory.files.len();
        memory.files.push(Bytes::default());
        memory.names.insert(path.to_owned(), file);
        Ok(self.file(file))
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let memory = self.operation("open")?;
        let file = memory.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.file(*file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut memory = self.operation("rename")?;
        let file = memory.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        memory.names.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut memory = self.operation("remove")?;
        memory.names.remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        let mut memory = self.operation("sync directory")?;
        memory.synced_names = memory.names.clone();
        Ok(())
    }
}

impl DiskFile for MemoryFile {
    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut memory = self.disk.memory();
        let result = memory.operation("write");
        let stored = result.as_ref().map_or_else(|(stored, _)| (*stored).min(bytes.len()), |()| bytes.len());
        memory.files[self.file].all.extend_from_slice(&bytes[..stored]);
        result.map_err(|(_, error)| error)
    }

    fn sync(&self) -> io::Result<()> {
        let mut memory = self.disk.operation("sync")?;
        let file = &mut memory.files[self.file];
        file.synced = file.all.len();
        Ok(())
    }
}

/// The states of an object in the order of its writes; `None` where it was removed.
#[derive(Debug, Default)]
struct History {
    states: Vec<Option<Value>>,
    /// The number of states that were acknowledged.
    acknowledged: usize,
    /// The number of acknowledged states that were synced.
    synced: usize,
}

#[derive(Debug, Default)]
struct Client {
    histories: BTreeMap<&'static str, History>,
    acknowledged: usize,
}

fn send(server: &Server, method: Method, path: &str, body: &str) -> (u16, Value) {
    let mut request = Request::new(method, path, body);
    if method == Method::Patch {
        request.content_type = Some("application/merge-patch+json".to_owned());
    }
    let response = server.handle(&request);
    match response.body {
        ResponseBody::Json(body) => (response.code, Arc::unwrap_or_clone(body)),
        // A path of a CRD that was lost.
        ResponseBody::Text(text) => (response.code, Value::from(text.as_str())),
    }
}

impl Client {
    /// Sends a write, which is acknowledged unless the state file failed.
    fn write(&mut self, server: &Server, state: &StateFile, name: &'static str, method: Method, body: &str) {
        let path = if method == Method::Post { KITES.to_owned() } else { format!("{KITES}/{name}") };
        let (code, object) = send(server, method, &path, body);
        let is_acknowledged = state.failure().is_none();
        if code >= 400 {
            // An earlier write of the same object was lost.
            assert!(self.histories.get(name).is_none_or(|h| h.acknowledged < h.states.len()), "{name}: {code}");
            return;
        }
        let history = self.histories.entry(name).or_default();
        history.states.push((method != Method::Delete).then_some(object));
        if is_acknowledged {
            history.acknowledged = history.states.len();
            self.acknowledged += 1;
        }
    }

    fn create(&mut self, server: &Server, state: &StateFile, name: &'static str) {
        let kite = format!(r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"{name}"}}}}"#);
        self.write(server, state, name, Method::Post, &kite);
    }

    fn update(&mut self, server: &Server, state: &StateFile, name: &'static str, size: usize) {
        self.write(server, state, name, Method::Patch, &format!(r#"{{"spec":{{"size":{size}}}}}"#));
    }

    fn delete(&mut self, server: &Server, state: &StateFile, name: &'static str) {
        self.write(server, state, name, Method::Delete, "");
    }

    fn sync(&mut self, state: &StateFile) {
        state.sync();
        if state.failure().is_none() {
            self.histories.values_mut().for_each(|history| history.synced = history.acknowledged);
        }
    }

    /// Compares the objects of a server with the states that they may have.
    fn check(&self, server: &Server, survives: AfterCrash, context: &str) {
        for (name, history) in &self.histories {
            let (code, object) = send(server, Method::Get, &format!("{KITES}/{name}"), "");
            let found = (code == 200).then_some(object);
            let least = match survives {
                AfterCrash::Everything => history.acknowledged,
                AfterCrash::Synced(_) => history.synced,
            };
            // Before its first write the object does not exist.
            let states: Vec<&Option<Value>> = std::iter::once(&None).chain(&history.states).skip(least).collect();
            assert!(states.contains(&&found), "{context}: {name} is {found:?}, not one of {states:?}");
        }
    }
}

fn open(disk: &MemoryDisk) -> Result<(Server, Arc<StateFile>), StateError> {
    let options = Server::builder(Release::NEWEST, 1);
    let Opened { server, state, orphans, .. } = StateFile::open_on(Box::new(disk.clone()), Path::new(FILE), options)?;
    assert_eq!(orphans, [""; 0]);
    Ok((server, state))
}

/// Two runs of a server: writes, syncs, and a compaction during which objects are written.
fn workload(disk: &MemoryDisk, client: &mut Client) -> Result<(), StateError> {
    let (server, state) = open(disk)?;
    send(&server, Method::Post, CRDS, CRD);
    if state.failure().is_some() {
        return Ok(());
    }
    client.create(&server, &state, "a");
    client.create(&server, &state, "b");
    client.sync(&state);
    client.update(&server, &state, "a", 1);
    client.create(&server, &state, "c");
    let mut log = state.log();
    match state.start_tail(&mut log) {
        Ok(()) => {
            drop(log);
            client.update(&server, &state, "a", 2);
            client.delete(&server, &state, "b");
            let rewritten = state.rewrite();
            client.create(&server, &state, "d");
            match rewritten {
                _ if state.failure().is_some() => {}
                Ok(bytes) => state.finish(state.log(), bytes),
                Err(error) => state.postpone(state.log(), &error),
            }
        }
        Err(error) => state.postpone(log, &error),
    }
    client.update(&server, &state, "a", 3);
    client.sync(&state);
    client.delete(&server, &state, "d");
    client.update(&server, &state, "c", 4);
    drop((server, state));
    let (server, state) = open(disk)?;
    client.update(&server, &state, "c", 5);
    client.create(&server, &state, "e");
    client.sync(&state);
    client.update(&server, &state, "e", 6);
    Ok(())
}

/// Runs the workload with one fault and compares what survives. Returns false if the fault did not occur.
fn try_fault(at: usize, fault: Fault, kinds: &mut BTreeMap<&'static str, usize>) -> bool {
    let disk = MemoryDisk::new(Memory { fault: Some((at, fault)), ..Memory::default() });
    let mut client = Client::default();
    let result = workload(&disk, &mut client);
    let memory = disk.memory();
    let Some(failed) = memory.failed.first() else {
        assert!(result.is_ok());
        return false;
    };
    *kinds.entry(failed).or_default() += 1;
    for survives in
        [AfterCrash::Everything, AfterCrash::Synced(0), AfterCrash::Synced(30), AfterCrash::Synced(usize::MAX / 2)]
    {
        let context = format!("{fault:?} at operation {at} ({failed}), survives: {survives:?}");
        let disk = MemoryDisk::new(memory.after(survives));
        // The second opening reads what the first one wrote.
        for _ in 0..2 {
            let (server, state) = open(&disk).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(state.failure().is_none());
            client.check(&server, survives, &context);
        }
    }
    true
}

#[test]
fn no_acknowledged_write_is_lost_by_a_fault_at_any_operation() {
    let mut kinds = BTreeMap::new();
    for fault in [
        Fault::Error(io::ErrorKind::Other),
        Fault::Full(17),
        Fault::Killed(0),
        Fault::Killed(17),
        Fault::Killed(usize::MAX),
    ] {
        let faults = (1..1000).take_while(|at| try_fault(*at, fault, &mut kinds)).count();
        assert!(faults > 40, "{fault:?}: only {faults} operations");
    }
    println!("{} faults by operation: {kinds:?}", kinds.values().sum::<usize>());
    let names: Vec<&str> = kinds.keys().copied().collect();
    assert_eq!(names, ["create", "open", "read", "remove", "rename", "sync", "sync directory", "write"]);
}

/// A failed operation that is not part of a compaction or a start ends all writing.
#[test]
fn nothing_is_written_after_a_failed_write_or_sync() {
    for failing in ["write", "sync"] {
        let disk = MemoryDisk::default();
        let (server, state) = open(&disk).unwrap();
        let mut client = Client::default();
        assert_eq!(send(&server, Method::Post, CRDS, CRD).0, 201);
        client.create(&server, &state, "a");
        let next = disk.memory().operations + if failing == "write" { 1 } else { 2 };
        disk.memory().fault = Some((next, Fault::Error(io::ErrorKind::Other)));
        client.create(&server, &state, "b");
        client.sync(&state);
        assert_eq!(disk.memory().failed, [failing]);
        let before = disk.memory().operations;
        client.create(&server, &state, "c");
        state.log().compact_at = 0;
        state.maintain();
        assert_eq!(disk.memory().operations, before, "{failing}: the disk was used after the failure");
        let failure = state.failure().unwrap();
        let expected = if failing == "write" { "cannot be written: " } else { "cannot be synced to disk: " };
        assert!(failure.to_string().contains(expected), "{failure}");
        let kept = if failing == "write" { "are kept" } else { "may be lost" };
        assert!(failure.help().ends_with(kept) && failure.help().contains("start again"), "{}", failure.help());
        assert_eq!(client.acknowledged, if failing == "write" { 1 } else { 2 });
    }
}

/// Without a sync of the directory, a tail removed by a compaction would come back after a power failure and hide newer
/// commits.
#[test]
fn a_removed_tail_does_not_come_back() {
    let disk = MemoryDisk::default();
    let (server, state) = open(&disk).unwrap();
    let mut client = Client::default();
    send(&server, Method::Post, CRDS, CRD);
    client.create(&server, &state, "a");
    let mut log = state.log();
    state.start_tail(&mut log).unwrap();
    drop(log);
    client.update(&server, &state, "a", 1);
    let bytes = state.rewrite().unwrap();
    state.finish(state.log(), bytes);
    client.update(&server, &state, "a", 2);
    client.sync(&state);
    let after = MemoryDisk::new(disk.memory().after(AfterCrash::Synced(0)));
    assert!(!after.memory().names.contains_key(Path::new("state.tail")));
    client.check(&open(&after).unwrap().0, AfterCrash::Synced(0), "after the compaction");
}

fn http(url: &str, method: &str, path: &str, body: &str) -> BufReader<TcpStream> {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    BufReader::new(stream)
}

fn answer(url: &str, method: &str, path: &str, body: &str) -> String {
    let mut text = String::new();
    http(url, method, path, body).read_to_string(&mut text).unwrap();
    text
}

/// Clients get errors like those of an API server whose etcd fails, and watches end before an event that was not
/// persisted.
#[test]
fn every_request_fails_after_a_failed_write() {
    let disk = MemoryDisk::default();
    let (server, state) = open(&disk).unwrap();
    let options = ServeOptions { state: Some(state), ..ServeOptions::default() };
    let running = crate::start(crate::Runtime::new().unwrap(), Arc::new(server), options).unwrap();
    let url = running.url();
    let kite =
        |name: &str| format!(r#"{{"apiVersion":"toys.example.com/v1","kind":"Kite","metadata":{{"name":"{name}"}}}}"#);
    assert!(answer(&url, "POST", CRDS, CRD).starts_with("HTTP/1.1 201"));
    while !answer(&url, "GET", KITES, "").starts_with("HTTP/1.1 200") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(answer(&url, "POST", KITES, &kite("a")).starts_with("HTTP/1.1 201"));
    let mut watch = http(&url, "GET", &format!("{KITES}?watch=true&resourceVersion=0"), "");
    let mut line = String::new();
    while !line.contains("ADDED") {
        assert!(watch.read_line(&mut line).unwrap() > 0, "{line}");
    }
    let next = disk.memory().operations + 1;
    disk.memory().fault = Some((next, Fault::Full(25)));
    let refusal = r#""message":"the state file state cannot be written: no storage space: free disk space and start again; acknowledged writes are kept","reason":"InternalError","code":500}"#;
    for (method, path, body) in
        [("POST", KITES, kite("b").as_str()), ("POST", KITES, &kite("c")), ("GET", KITES, ""), ("GET", "/readyz", "")]
    {
        let answer = answer(&url, method, path, body);
        assert!(answer.starts_with("HTTP/1.1 500 ") && answer.contains(refusal), "{method} {path}: {answer}");
    }
    let mut rest = String::new();
    watch.read_to_string(&mut rest).unwrap();
    assert!(rest.contains(r#""type":"ERROR""#) && rest.contains(refusal) && !rest.contains("ADDED"), "{rest}");
    let after = MemoryDisk::new(disk.memory().after(AfterCrash::Everything));
    let (server, _state) = open(&after).unwrap();
    let (_, list) = send(&server, Method::Get, KITES, "");
    let names = list.get("items").and_then(Value::as_array).unwrap().iter().map(|o| o.str_at(&["metadata", "name"]));
    assert_eq!(names.collect::<Vec<_>>(), [Some("a")]);
}
