//! Runs a tool: a command of this program in a process of its own, whose output is bounded.

use super::tools::{Form, Tool};
use crdx_value::Value;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// The maximum length of an answer in bytes: a model has to read it.
const LONGEST: usize = 256 << 10;

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub text: String,
    /// True if the tool has no result. That objects are rejected is one.
    pub is_error: bool,
}

/// The reason why a tool has no result.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("{name} must be {expected}")]
    Type { name: &'static str, expected: &'static str },
    #[error("there is no argument {0:?}")]
    Unknown(String),
    #[error("{0} is not in the working directory: give a path of a file or directory in it")]
    Outside(String),
    #[error("{path} cannot be read: {error}")]
    Unreadable { path: String, error: io::Error },
    #[error("the command cannot be run: {0}")]
    NotRun(#[from] io::Error),
}

/// The words and the standard input of a command.
#[derive(Debug, Default, PartialEq, Eq)]
struct CommandLine {
    words: Vec<OsString>,
    input: Option<String>,
}

/// Runs a tool.
pub fn run(tool: &Tool, arguments: &Value) -> ToolResult {
    let result = env::current_dir().map_err(CallError::NotRun).and_then(|directory| {
        let line = command_line(tool, arguments, &directory)?;
        Ok(execute(line)?)
    });
    result.unwrap_or_else(|error| ToolResult { text: format!("error: {error}"), is_error: true })
}

fn command_line(tool: &Tool, arguments: &Value, directory: &Path) -> Result<CommandLine, CallError> {
    let given = arguments.as_object();
    let unknown = given.into_iter().flatten().find(|(name, _)| tool.parameters.iter().all(|one| one.name != **name));
    if let Some((name, _)) = unknown {
        return Err(CallError::Unknown(name.to_owned()));
    }
    let mut words: Vec<OsString> = [tool.name].iter().chain(tool.flags).map(OsString::from).collect();
    let mut last: Vec<OsString> = Vec::new();
    let mut input = None;
    for parameter in tool.parameters {
        let name = parameter.name;
        let Some(value) = given.and_then(|given| given.get(name)).filter(|value| !value.is_null()) else {
            if parameter.is_required {
                return Err(CallError::Missing(name));
            }
            continue;
        };
        let text = || value.as_str().ok_or(CallError::Type { name, expected: "a string" });
        match parameter.form {
            Form::PathsOf(flag) => {
                for path in paths(name, value, directory)? {
                    words.extend([flag.into(), path]);
                }
            }
            Form::Paths => last.extend(paths(name, value, directory)?),
            Form::PathOf(flag) => words.extend([flag.into(), confined(text()?, directory)?]),
            // One word, so that a value that begins with `-` is no flag.
            Form::TextOf(flag) => words.push(format!("{flag}={}", text()?).into()),
            Form::Switch(flag) => match value {
                Value::Bool(true) => words.push(flag.into()),
                Value::Bool(false) => {}
                _ => return Err(CallError::Type { name, expected: "a boolean" }),
            },
            Form::Text => last.push(text()?.into()),
            Form::Input(flag) => {
                input = Some(text()?.to_owned());
                words.extend([flag.into(), "-".into()]);
            }
        }
    }
    words.push("--".into());
    words.append(&mut last);
    Ok(CommandLine { words, input })
}

fn paths(name: &'static str, value: &Value, directory: &Path) -> Result<Vec<OsString>, CallError> {
    let wrong = || CallError::Type { name, expected: "an array of strings" };
    let paths = value.as_array().ok_or_else(wrong)?.iter();
    paths.map(|path| confined(path.as_str().ok_or_else(wrong)?, directory)).collect()
}

/// The path of a file or directory in the working directory, relative to it, without links.
fn confined(path: &str, directory: &Path) -> Result<OsString, CallError> {
    let unreadable = |error| CallError::Unreadable { path: path.to_owned(), error };
    let directory = fs::canonicalize(directory)?;
    let found = fs::canonicalize(directory.join(path)).map_err(unreadable)?;
    let inner = found.strip_prefix(&directory).map_err(|_| CallError::Outside(path.to_owned()))?;
    // `./` before a name that looks like a flag, standard input or a URL.
    Ok(PathBuf::from(".").join(inner).into_os_string())
}

fn execute(line: CommandLine) -> io::Result<ToolResult> {
    let mut command = Command::new(env::current_exe()?);
    // No cluster: neither that of a kubeconfig nor that of a pod.
    command.env("KUBECONFIG", if cfg!(windows) { "NUL" } else { "/dev/null" }).env_remove("KUBERNETES_SERVICE_HOST");
    command.args(&line.words).env("NO_COLOR", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (input, errors) = (child.stdin.take(), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(move || {
            let (Some(mut input), Some(text)) = (input, line.input) else { return };
            // The command may end before it has read everything.
            let _ = input.write_all(text.as_bytes());
        });
        let errors = scope.spawn(move || errors.map(bounded).unwrap_or_default());
        let output = child.stdout.take().map(bounded).unwrap_or_default();
        let errors = errors.join().unwrap_or_default();
        result(&mut child, &output, &errors)
    })
}

/// Reads a stream to its end, of which the beginning is kept.
fn bounded(mut stream: impl Read) -> String {
    let mut kept = Vec::new();
    let _ = stream.by_ref().take(LONGEST as u64).read_to_end(&mut kept);
    let more = io::copy(&mut stream, &mut io::sink()).unwrap_or_default();
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if more > 0 {
        text.push_str("\n… the rest is left out: give fewer objects\n");
    }
    text
}

fn result(child: &mut Child, output: &str, errors: &str) -> io::Result<ToolResult> {
    let code = child.wait()?.code();
    let text = [output, errors].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    // 1 says that an object is rejected or differs.
    Ok(ToolResult { text, is_error: output.is_empty() && code != Some(0) })
}

#[cfg(test)]
mod tests {
    use super::super::tools::ALL;
    use super::*;
    use crdx_text::json::read;

    fn words(tool: &str, arguments: &str, directory: &Path) -> Result<Vec<String>, CallError> {
        let tool = ALL.iter().find(|one| one.name == tool).unwrap();
        let line = command_line(tool, &read(arguments.as_bytes()).unwrap(), directory)?;
        Ok(line.words.iter().map(|word| word.to_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn arguments_become_flags() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("crds")).unwrap();
        fs::write(directory.path().join("-o"), "").unwrap();
        let arguments = r#"{"paths":["-o"],"crds":["crds"],"kubernetesVersion":"1.36"}"#;
        assert_eq!(
            words("validate", arguments, directory.path()).unwrap(),
            ["validate", "-o", "json", "--offline", "--crds", "./crds", "--kubernetes-version=1.36", "--", "./-o"]
        );
        let cel = words("cel", r#"{"expression":"--help","manifest":"a: 1"}"#, directory.path()).unwrap();
        assert_eq!(cel, ["cel", "-o", "json", "-f", "-", "--", "--help"]);
    }

    #[test]
    fn only_files_of_the_working_directory_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(directory.path().join("secret.yaml"), "").unwrap();
        for path in ["../secret.yaml", "/etc/passwd", ".."] {
            let error = words("validate", &format!(r#"{{"paths":["{path}"]}}"#), &inner).unwrap_err().to_string();
            assert!(error.contains("is not in the working directory"), "{error}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret.yaml", inner.join("link.yaml")).unwrap();
            assert!(
                words("validate", r#"{"old":"link.yaml"}"#, &inner)
                    .unwrap_err()
                    .to_string()
                    .contains("working directory")
            );
        }
        for url in ["https://example.com/crd.yaml", "git:HEAD"] {
            assert!(
                words("lint", &format!(r#"{{"paths":["{url}"]}}"#), &inner)
                    .unwrap_err()
                    .to_string()
                    .contains("cannot be read")
            );
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = |tool, arguments| words(tool, arguments, directory.path()).unwrap_err().to_string();
        assert_eq!(error("cel", "{}"), "expression is missing");
        assert_eq!(error("validate", r#"{"paths":"a"}"#), "paths must be an array of strings");
        assert_eq!(error("example", r#"{"type":"a","minimal":"yes"}"#), "minimal must be a boolean");
        assert_eq!(error("lint", r#"{"server":"a"}"#), "there is no argument \"server\"");
    }

    #[test]
    fn long_output_is_bounded() {
        let text = bounded(&vec![b'a'; LONGEST + 10][..]);
        assert!(text.len() < LONGEST + 100 && text.ends_with("give fewer objects\n"));
    }
}
