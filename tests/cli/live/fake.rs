//! A small API server with canned responses, which records its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A canned response.
pub enum Reply {
    /// A status code and a body.
    Json(u16, String),
    /// Status 200 with additional headers, each with its line break, and a body.
    Headed(&'static str, String),
    /// A status code, additional headers, each with its line break, and a body.
    Coded(u16, &'static str, String),
    /// A status code with `Retry-After` in seconds.
    Later(u16, u64),
    /// A status code and a body that is not JSON.
    Text(u16, &'static str),
    /// A truncated body: the connection breaks before its end.
    Cut(String),
    /// The connection is closed instead of a response.
    Close,
    /// No response.
    Silence,
    /// Whatever the function writes; then the connection is closed.
    Raw(fn(&mut dyn Write) -> std::io::Result<()>),
}

/// A recorded request: the path with its query, and the request head.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub method: String,
    pub path: String,
    pub head: String,
}

pub struct Fake {
    pub url: String,
    asked: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl Fake {
    /// Serves on a free port until the test ends. `answer` receives the path with its query, and the number of earlier
    /// requests for it.
    pub fn serve(answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve_over("http", |stream| stream, answer)
    }

    /// Like [`Fake::serve`], over another kind of stream.
    pub fn serve_over<S: Read + Write>(
        scheme: &str,
        over: impl Fn(TcpStream) -> S + Send + Sync + 'static,
        answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<RecordedRequest>>>::default();
        let (over, answer, log) = (Arc::new(over), Arc::new(answer), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (over, answer, log) = (Arc::clone(&over), Arc::clone(&answer), Arc::clone(&log));
                thread::spawn(move || talk(over(stream), &*answer, &log));
            }
        });
        Self { url, asked }
    }

    pub fn asked(&self) -> Vec<RecordedRequest> {
        self.asked.lock().unwrap().clone()
    }

    pub fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|a| a.path).collect()
    }

    /// The number of requests for a path, with any query.
    pub fn count(&self, path: &str) -> usize {
        self.paths().iter().filter(|p| p.split('?').next() == Some(path)).count()
    }

    pub fn forget(&self) {
        self.asked.lock().unwrap().clear();
    }
}

fn talk(stream: impl Read + Write, answer: &dyn Fn(&str, usize) -> Reply, log: &Mutex<Vec<RecordedRequest>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line == "\r\n" => break,
                Ok(_) => head.push_str(&line),
            }
        }
        let mut words = head.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let before = {
            let mut log = log.lock().unwrap();
            let before = log.iter().filter(|a| a.path == path).count();
            log.push(RecordedRequest { method, path: path.clone(), head });
            before
        };
        let mut send = |code: u16, more: &str, length: usize, body: &str| {
            let head = format!(
                "HTTP/1.1 {code} x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{more}\r\n"
            );
            let out = reader.get_mut();
            out.write_all((head + body).as_bytes()).and_then(|()| out.flush()).is_ok()
        };
        let goes_on = match answer(&path, before) {
            Reply::Json(code, body) => send(code, "", body.len(), &body),
            Reply::Coded(code, more, body) => send(code, more, body.len(), &body),
            Reply::Headed(more, body) => send(200, more, body.len(), &body),
            Reply::Later(code, seconds) => send(code, &format!("retry-after: {seconds}\r\n"), 2, "{}"),
            Reply::Text(code, body) => send(code, "", body.len(), body),
            Reply::Close => false,
            Reply::Cut(body) => {
                send(200, "", body.len() + 100, &body);
                false
            }
            Reply::Raw(write) => {
                let _ = write(reader.get_mut());
                false
            }
            Reply::Silence => {
                thread::sleep(std::time::Duration::from_mins(10));
                false
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// A proxy that records the requests passing through it.
pub struct Proxy {
    pub url: String,
    asked: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl Proxy {
    /// Starts a proxy on a free port in front of the server at `url`.
    pub fn before(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<RecordedRequest>>>::default();
        let (server, log) = (url.trim_start_matches("http://").trim_end_matches('/').to_owned(), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (server, log) = (server.clone(), Arc::clone(&log));
                thread::spawn(move || pass(&stream, &server, &log));
            }
        });
        Self { url: own, asked }
    }

    pub fn asked(&self) -> Vec<RecordedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

/// Forwards the only request of a connection; the response ends with the connection.
fn pass(stream: &TcpStream, server: &str, log: &Mutex<Vec<RecordedRequest>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0_u64);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut words = head.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    log.lock().unwrap().push(RecordedRequest { method, path, head: head.clone() });
    let mut upstream = TcpStream::connect(server).ok()?;
    upstream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).ok()?;
    std::io::copy(&mut reader.take(length), &mut upstream).ok()?;
    let mut out = stream;
    std::io::copy(&mut upstream, &mut out).ok()?;
    Some(())
}
