//! `-k`: runs `kubectl kustomize` or `kustomize build`, whichever is installed. Its messages go to standard error.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The programs in the order in which they are tried, with the arguments before the directory.
const PROGRAMS: [(&str, &[&str]); 2] = [("kubectl", &["kustomize"]), ("kustomize", &["build"])];

/// The names of a kustomization, in the order of kustomize.
const FILES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The output of the running program; the last read fails if the program does.
#[derive(Debug)]
pub struct Build {
    child: Child,
    output: Option<ChildStdout>,
    command: String,
}

/// Returns the kustomization in a directory.
pub fn file(directory: &Path) -> Option<PathBuf> {
    FILES.iter().map(|name| directory.join(name)).find(|path| path.is_file())
}

/// Returns true for a file with the name of a kustomization.
pub fn is_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| FILES.iter().any(|own| name == *own))
}

/// Starts to build a directory.
///
/// # Errors
/// `NotFound` if neither program is installed, or why it could not be started.
pub fn build(directory: &Path) -> io::Result<Build> {
    for (program, arguments) in PROGRAMS {
        let mut command = Command::new(program);
        command.args(arguments).arg(directory).stdin(Stdio::null()).stdout(Stdio::piped());
        match command.spawn() {
            Ok(mut child) => {
                let output = child.stdout.take();
                let command = format!("{program} {} {}", arguments.join(" "), directory.display());
                return Ok(Build { child, output, command });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io::Error::other(format!("{program} cannot be started: {error}"))),
        }
    }
    Err(io::Error::other("neither kubectl nor kustomize is on the PATH: install one of them to use -k"))
}

impl Read for Build {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(output) = &mut self.output else { return Ok(0) };
        let count = output.read(out)?;
        if count > 0 || out.is_empty() {
            return Ok(count);
        }
        self.output = None;
        let status = self.child.wait()?;
        if status.success() { Ok(0) } else { Err(io::Error::other(format!("{} failed: {status}", self.command))) }
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        // The program is still running if the reader stopped early.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
