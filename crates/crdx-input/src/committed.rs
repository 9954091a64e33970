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
const VARIABLES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
];

/// Settings that take precedence over those of the repository, which may be anybody's. `cat-file` needs none of the
/// programs that a configuration can name.
const SETTINGS: &[&str] = &[
    // A folder that merely looks like a bare repository, such as one inside a checkout, is not read.
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.askPass=false",
    "core.alternateRefsCommand=",
    "core.pager=cat",
    "credential.helper=",
    "diff.external=",
    "protocol.allow=never",
];

/// The content of a file in `HEAD`. `None` if the file is not in it or too large, there is no repository or no git, or git
/// does not answer in time. Nothing is written, and nothing is fetched.
pub fn committed(file: &Path) -> Option<Vec<u8>> {
    let (directory, name) = (file.parent()?, file.file_name()?.to_str()?);
    run(directory, &["cat-file", "blob", &format!("HEAD:./{name}")], LIMIT)
}

/// Runs git in a directory and returns its output; `None` if it fails, does not answer in time or writes too much.
pub(super) fn run(directory: &Path, arguments: &[&str], limit: Duration) -> Option<Vec<u8>> {
    finished(git(directory).args(arguments).spawn().ok()?, limit)
}

/// Returns the git command in a directory, which takes no settings from it that could run a program.
fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command
        .arg("-C")
        .arg(directory)
        .args(["--no-pager", "--no-replace-objects", "--literal-pathspecs"])
        .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
        // A repository's own `protocol.NAME.allow` overrides `protocol.allow`; this variable overrides both.
        .env("GIT_ALLOW_PROTOCOL", "")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The output of a program that succeeds in time; otherwise it is killed.
fn finished(mut child: Child, limit: Duration) -> Option<Vec<u8>> {
    let output = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    let read = move || {
        let mut content = Vec::new();
        let is_read = output.take(LARGEST + 1).read_to_end(&mut content).is_ok();
        let _ = send.send((is_read && content.len() as u64 <= LARGEST).then_some(content));
    };
    let content = thread::Builder::new().spawn(read).ok().and_then(|_| receive.recv_timeout(limit).ok().flatten());
    if content.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    content.filter(|_| status.success())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::fs;

    pub fn git(folder: &Path, arguments: &[&str]) {
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
    fn the_configuration_of_a_repository_runs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (file, marker) = (folder.path().join("a.yaml"), folder.path().join("marker"));
        fs::write(&file, "a: 1\n").unwrap();
        git(folder.path(), &["init", "-q"]);
        fs::write(folder.path().join(".gitattributes"), "* filter=evil diff=evil\n").unwrap();
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-qm", "a"]);
        let touch = format!("touch {}", marker.display());
        let remote = format!("ext::sh -c touch% {}", marker.display());
        for (key, value) in [
            ("core.fsmonitor", touch.as_str()),
            ("core.sshCommand", &touch),
            ("core.gitProxy", &touch),
            ("core.askPass", &touch),
            ("core.pager", &touch),
            ("core.editor", &touch),
            ("core.alternateRefsCommand", &touch),
            ("core.hooksPath", folder.path().to_str().unwrap()),
            ("credential.helper", &format!("!{touch}")),
            ("diff.external", &touch),
            ("diff.evil.textconv", &touch),
            ("diff.evil.command", &touch),
            ("filter.evil.smudge", &touch),
            ("filter.evil.process", &touch),
            ("gpg.program", &touch),
            ("uploadpack.packObjectsHook", &touch),
            ("alias.cat-file", &format!("!{touch}")),
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", &remote),
            ("remote.origin.uploadpack", &touch),
            ("protocol.allow", "always"),
            ("protocol.ext.allow", "always"),
            ("protocol.file.allow", "always"),
        ] {
            git(folder.path(), &["config", key, value]);
        }
        assert_eq!(committed(&file).as_deref(), Some(&b"a: 1\n"[..]));
        // A missing blob is fetched from the remote of a partial clone, by whatever the remote's URL says.
        let blob =
            Command::new("git").arg("-C").arg(folder.path()).args(["rev-parse", "HEAD:a.yaml"]).output().unwrap();
        let blob = String::from_utf8(blob.stdout).unwrap();
        let (start, end) = blob.trim().split_at(2);
        fs::remove_file(folder.path().join(".git/objects").join(start).join(end)).unwrap();
        for url in [remote.as_str(), folder.path().to_str().unwrap(), "ssh://a@b.invalid/c", "git://b.invalid/c"] {
            git(folder.path(), &["config", "remote.origin.url", url]);
            assert_eq!(committed(&file), None, "{url}");
        }
        assert!(!marker.exists());
        // Without these precautions, git runs the URL: the test would notice.
        git(folder.path(), &["config", "remote.origin.url", &remote]);
        let mut careless = Command::new("git");
        careless.arg("-C").arg(folder.path()).args(["cat-file", "blob", "HEAD:a.yaml"]).output().unwrap();
        assert!(marker.exists());
    }

    #[test]
    fn a_folder_that_looks_like_a_bare_repository_is_not_one() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, file) = (folder.path().join("inner"), folder.path().join("inner/a.yaml"));
        fs::create_dir(&inner).unwrap();
        fs::write(&file, "a: 1\n").unwrap();
        git(&inner, &["init", "-q"]);
        git(&inner, &["add", "."]);
        git(&inner, &["commit", "-qm", "a"]);
        let bare = folder.path().join("bare");
        git(folder.path(), &["clone", "-q", "--bare", "inner", "bare"]);
        assert_eq!(committed(&bare.join("a.yaml")), None);
        assert!(committed(&file).is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_fails_or_hangs_has_no_output() {
        let run = |script: &str| {
            let child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
            finished(child, LIMIT)
        };
        assert_eq!(run("echo a").as_deref(), Some(&b"a\n"[..]));
        assert_eq!(run("echo a; exit 1"), None);
        assert_eq!(run("exec sleep 60"), None);
    }
}
