//! The committed version of a file (`HEAD`), read with git. git runs as a process, without a shell.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The time limit of git.
const LIMIT: Duration = Duration::from_secs(2);

/// The largest version that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// Variables of a running git command, such as one that started the editor; they would select another repository.
const VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"];

/// The content of a file in `HEAD`. `None` if the file is not in it or too large, there is no repository or no git, or git
/// does not answer in time. Nothing is written, and nothing is fetched.
pub fn committed(file: &Path) -> Option<Vec<u8>> {
    let (directory, name) = (file.parent()?, file.file_name()?.to_str()?);
    let mut command = Command::new("git");
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    let child = command
        .arg("-C")
        .arg(directory)
        .args(["--no-pager", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never"])
        .args(["cat-file", "blob", &format!("HEAD:./{name}")])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    finished(child.ok()?)
}

/// The output of a program that succeeds in time; otherwise it is killed.
fn finished(mut child: Child) -> Option<Vec<u8>> {
    let output = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    let read = move || {
        let mut content = Vec::new();
        let is_read = output.take(LARGEST + 1).read_to_end(&mut content).is_ok();
        let _ = send.send((is_read && content.len() as u64 <= LARGEST).then_some(content));
    };
    let content = thread::Builder::new().spawn(read).ok().and_then(|_| receive.recv_timeout(LIMIT).ok().flatten());
    if content.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    content.filter(|_| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn git(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").arg("-C").arg(folder).args(identity).args(arguments).output().unwrap().status;
        assert!(status.success(), "{arguments:?}");
    }

    #[test]
    fn the_version_of_the_last_commit_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/a $(x) ü.yaml");
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, "a: 1\r\n").unwrap();
        assert_eq!(committed(&file), None, "there is no repository");
        git(folder.path(), &["init", "-q"]);
        assert_eq!(committed(&file), None, "there is no commit");
        git(folder.path(), &["-c", "core.autocrlf=false", "add", "."]);
        git(folder.path(), &["commit", "-qm", "a"]);
        fs::write(&file, "a: 2\n").unwrap();
        assert_eq!(committed(&file).as_deref(), Some(&b"a: 1\r\n"[..]));
        assert_eq!(committed(&folder.path().join("deep/other.yaml")), None, "the file is untracked");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_fails_or_hangs_has_no_output() {
        let run = |script: &str| {
            let child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
            finished(child)
        };
        assert_eq!(run("echo a").as_deref(), Some(&b"a\n"[..]));
        assert_eq!(run("echo a; exit 1"), None);
        assert_eq!(run("exec sleep 60"), None);
    }
}
