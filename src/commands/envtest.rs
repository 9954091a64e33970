//! `envtest`: writes the programs that the package envtest of controller-runtime starts. They are this program under the
//! names `etcd` and `kube-apiserver`.
//!
//! - [`folder`] writes them.
//! - [`flags`] parses their flags.
//! - [`etcd`] and [`apiserver`] run them.

mod apiserver;
pub mod args;
mod error;
mod etcd;
mod flags;
mod folder;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::OnlyJson;
use crdx_output::printable::complain;
use crdx_output::report::json as report_json;
use crdx_value::release::Release;
use crdx_value::{Value, json, object};
use error::EnvtestError;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

/// A program that envtest starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `etcd`
    Etcd,
    /// `kube-apiserver`
    KubeApiserver,
}

impl Program {
    /// The program that a command line starts, by the name of its first word.
    pub fn from_argument(program: Option<&OsString>) -> Option<Self> {
        let name = Path::new(program?).file_stem()?;
        if name == "etcd" {
            Some(Self::Etcd)
        } else if name == "kube-apiserver" {
            Some(Self::KubeApiserver)
        } else {
            None
        }
    }

    /// Runs the program until the process ends. Returns the exit code if it ends early.
    pub fn run(self, words: &[OsString]) -> u8 {
        let program = words.first().cloned().unwrap_or_default();
        let words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let done = flags::Flags::parse(&words).map_err(EnvtestError::from).and_then(|flags| match self {
            Self::Etcd => etcd::run(&flags, Path::new(&program)),
            Self::KubeApiserver => apiserver::run(&flags, Path::new(&program)),
        });
        match done {
            Ok(()) => Exit::Accepted.code(),
            Err(problem) => {
                complain!("error: {problem}");
                Exit::CannotTell.code()
            }
        }
    }
}

/// Runs the command.
pub fn run(args: &args::Envtest) -> Result<Exit, Error> {
    let release = args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
    let base = args.dir.clone().or_else(|| Some(crdx_cluster::default_cache_dir()?.join("envtest")));
    let Some(base) = base else {
        complain!("error: the user has no cache directory: name a directory with --dir");
        return Ok(Exit::CannotTell);
    };
    let program = std::env::args_os().next().unwrap_or_default();
    let written = match folder::write(&base, release, Path::new(&program)) {
        Ok(written) => written,
        Err(problem) => {
            complain!("error: {problem}");
            return Ok(Exit::CannotTell);
        }
    };
    if !written.programs.iter().any(|(name, _)| *name == "kubectl") {
        complain!("note: there is no kubectl on PATH: tests that use it fail");
    }
    match args.output {
        None => writeln!(io::stdout(), "{}", written.dir.display())?,
        Some(OnlyJson::Json) => writeln!(io::stdout(), "{}", json::to_string(&report(&written, release)))?,
    }
    Ok(Exit::Accepted)
}

/// The report of `-o json`.
fn report(written: &folder::Written, release: Release) -> Value {
    let path = |path: &Path| Value::from(path.display().to_string());
    let programs = written.programs.iter().map(|(name, at)| object([("name", Value::from(*name)), ("path", path(at))]));
    object([
        ("apiVersion", Value::from("crdx/v1")),
        ("directory", path(&written.dir)),
        ("kind", "EnvtestReport".into()),
        ("kubernetesVersions", report_json::releases([release])),
        ("programs", programs.collect::<Vec<_>>().into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_program_decides() {
        let of = |name: &str| Program::from_argument(Some(&OsString::from(name)));
        assert_eq!(of("/x/k8s/1.33.0-linux-amd64/etcd"), Some(Program::Etcd));
        assert_eq!(of("kube-apiserver"), Some(Program::KubeApiserver));
        assert_eq!(of("bin/kube-apiserver.exe"), Some(Program::KubeApiserver));
        assert_eq!(of("/usr/bin/kubectl-crdx"), None);
        assert_eq!(Program::from_argument(None), None);
    }
}
