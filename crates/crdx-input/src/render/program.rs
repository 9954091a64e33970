//! Runs the programs that render: without a shell and without input, with a time limit and a limit for their output.

use super::flux::FluxDoubt;
use super::output::Output;
use crate::archive;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The time limit. kustomize may download bases.
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// The limit for the output in bytes.
const SIZE_LIMIT: u64 = 100 << 20;

/// The number of bytes of messages that are shown: the last ones, because they have the reason.
const SHOWN: usize = 4 << 10;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The name, which is searched on the PATH.
    pub program: &'static str,
    pub arguments: Vec<String>,
}

impl std::fmt::Display for Invocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.program, self.arguments.join(" "))
    }
}

/// The reason why a directory is not rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// None of the programs is installed.
    #[error("{} {} not on the PATH", .0.join(" and "), if .0.len() == 1 { "is" } else { "are" })]
    NotInstalled(Vec<&'static str>),
    /// A program cannot be started.
    #[error("{program} cannot be started: {error}")]
    Start {
        /// The name.
        program: &'static str,
        /// The reason.
        error: io::Error,
    },
    /// A program fails.
    #[error("`{invocation}` failed ({status}){}{messages}", if .messages.is_empty() { "" } else { ":\n" })]
    Failed {
        /// The program.
        invocation: Invocation,
        /// The exit code or signal.
        status: ExitStatus,
        /// The end of its messages.
        messages: String,
    },
    /// A program does not end in time.
    #[error("`{0}` did not end within {1} seconds")]
    TimedOut(Invocation, u64),
    /// The output is too large.
    #[error("`{0}` printed more than {mb} MB", mb = SIZE_LIMIT >> 20)]
    TooLarge(Invocation),
    /// The files to render are too large to be copied.
    #[error("the files that it is rendered from have more than {mb} MB, so that they are not copied for it", mb = archive::LIMIT >> 20)]
    TooLargeToCopy,
    /// A file that replaces the values of a chart is missing.
    #[error("there is no file {0} with values for the chart")]
    Values(String),
    /// It is not known what Flux builds.
    #[error(transparent)]
    Flux(#[from] FluxDoubt),
    /// The output, or a file for the program, cannot be stored.
    #[error(transparent)]
    Store(#[from] io::Error),
}

impl RenderError {
    /// The error of a copy.
    pub fn of_copy(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::FileTooLarge { Self::TooLargeToCopy } else { Self::Store(error) }
    }

    /// Changes the paths in what a program was called with and printed.
    #[must_use]
    pub fn with_paths(mut self, changed: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Failed { invocation, messages, .. } => {
                *messages = changed(messages);
                invocation.change_paths(changed);
            }
            Self::TimedOut(invocation, _) | Self::TooLarge(invocation) => invocation.change_paths(changed),
            _ => {}
        }
        self
    }
}

impl Invocation {
    fn change_paths(&mut self, changed: impl Fn(&str) -> String) {
        self.arguments.iter_mut().for_each(|argument| *argument = changed(argument));
    }
}

/// The limits of a program.
#[derive(Clone, Copy, Debug)]
struct Limits {
    time: Duration,
    size: u64,
}

/// Runs the first of `invocations` that is installed, and returns its output.
///
/// # Errors
/// None is installed, or the program fails, takes too long or prints too much.
pub fn run(invocations: &[Invocation]) -> Result<Output, RenderError> {
    let limits = Limits { time: TIME_LIMIT, size: SIZE_LIMIT };
    for invocation in invocations {
        let mut command = Command::new(invocation.program);
        command.args(&invocation.arguments);
        match started(&mut command) {
            Ok(child) => return finished(child, invocation, limits),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(RenderError::Start { program: invocation.program, error }),
        }
    }
    Err(RenderError::NotInstalled(invocations.iter().map(|one| one.program).collect()))
}

fn started(command: &mut Command) -> io::Result<Child> {
    // git, with which kustomize downloads bases, must not ask for a password.
    let command = command.env("GIT_TERMINAL_PROMPT", "0");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn finished(mut child: Child, invocation: &Invocation, limits: Limits) -> Result<Output, RenderError> {
    let (output, messages) = (child.stdout.take(), child.stderr.take());
    // Programs started by this one may keep its output open when it is killed, so that a thread may read until they end.
    let messages = in_thread(move || messages.map(last_bytes).unwrap_or_default())?;
    let output = in_thread(move || output.map_or_else(|| Ok(Some(Output::default())), |it| stored(it, limits.size)))?;
    let stored = output.recv_timeout(limits.time);
    if !matches!(stored, Ok(Ok(Some(_)))) {
        let _ = child.kill();
    }
    let timed_out = || RenderError::TimedOut(invocation.clone(), limits.time.as_secs());
    let status = ended(&mut child, limits.time)?.ok_or_else(timed_out)?;
    let output = stored.map_err(|_| timed_out())??.ok_or_else(|| RenderError::TooLarge(invocation.clone()))?;
    if status.success() {
        return Ok(output);
    }
    let messages = messages.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    let messages = String::from_utf8_lossy(&messages).trim().to_owned();
    Err(RenderError::Failed { invocation: invocation.clone(), status, messages })
}

/// Waits for the end of a program, which may close its output earlier; `None` if it had to be killed.
fn ended(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Sends the result of `action`.
fn in_thread<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> io::Result<mpsc::Receiver<T>> {
    let (send, receive) = mpsc::channel();
    let run = move || {
        // The receiver is gone after the time limit.
        let _ = send.send(action());
    };
    thread::Builder::new().spawn(run).map(|_| receive)
}

/// Stores what a program prints; `None` if it is more than `limit` bytes.
fn stored(mut reader: impl Read, limit: u64) -> io::Result<Option<Output>> {
    let (mut output, mut buffer) = (Output::default(), vec![0; 64 << 10]);
    loop {
        let count = reader.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { return Ok(Some(output)) };
        output.append(bytes)?;
        if output.length() > limit {
            return Ok(None);
        }
    }
}

/// The last bytes of a stream.
fn last_bytes(mut reader: impl Read) -> Vec<u8> {
    let (mut last, mut buffer) = (Vec::new(), vec![0; SHOWN]);
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        last.extend_from_slice(buffer.get(..count).unwrap_or_default());
        last.drain(..last.len().saturating_sub(SHOWN));
    }
    last
}

/// Returns a directory as an argument, which must not be taken for a flag.
pub fn argument(directory: &Path) -> String {
    let text = directory.display().to_string();
    if text.starts_with('-') { format!("./{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn run_script(script: &str) -> Result<Output, RenderError> {
        let limits = Limits { time: Duration::from_secs(5), size: 1 << 20 };
        let invocation = Invocation { program: "sh", arguments: vec!["-c".to_owned(), script.to_owned()] };
        let mut command = Command::new(invocation.program);
        finished(started(command.args(&invocation.arguments)).unwrap(), &invocation, limits)
    }

    #[cfg(unix)]
    #[test]
    fn the_output_of_a_program_that_succeeds_is_kept() {
        let output = run_script("echo a; echo noise >&2; read line || echo b").unwrap();
        assert_eq!(output.lines(2, 1), ["a", "b"], "there is no input");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_fails_shows_the_end_of_its_messages() {
        let error = run_script("yes note | head -c 100000 >&2; echo 'the reason' >&2; exit 3").unwrap_err().to_string();
        assert!(error.starts_with("`sh -c yes note"), "{error}");
        assert!(error.contains("failed (exit status: 3):\n") && error.ends_with("the reason"), "{error}");
        assert!(error.len() < 2 * SHOWN, "{}", error.len());
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_does_not_end_or_prints_too_much_is_stopped() {
        assert!(matches!(run_script("yes"), Err(RenderError::TooLarge(_))));
        assert!(matches!(run_script("echo a; exec sleep 600"), Err(RenderError::TimedOut(_, 5))));
        assert!(
            matches!(run_script("sleep 30 & echo a; wait"), Err(RenderError::TimedOut(_, 5))),
            "a child keeps it open"
        );
        assert!(matches!(run_script("exec >&- 2>&-; exec sleep 600"), Err(RenderError::TimedOut(_, 5))));
    }

    #[test]
    fn a_missing_program_is_named() {
        let missing = |program| Invocation { program, arguments: Vec::new() };
        let error = run(&[missing("crdx-no-such-a"), missing("crdx-no-such-b")]).unwrap_err();
        assert_eq!(error.to_string(), "crdx-no-such-a and crdx-no-such-b are not on the PATH");
    }
}
