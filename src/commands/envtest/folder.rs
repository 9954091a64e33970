//! The folder of programs, `k8s/VERSION-OS-ARCH`, as setup-envtest writes it.
//!
//! On Unix the programs are symbolic links to the path by which this program was found, so that they start the new
//! version after an upgrade. Elsewhere they are copies.

use super::error::EnvtestError;
use crdx_value::release::Release;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The files that [`write`] wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The folder.
    pub dir: PathBuf,
    /// The names and paths of the programs; without kubectl if there is none on `PATH`.
    pub programs: Vec<(&'static str, PathBuf)>,
}

/// Writes the folder of a release below `base`. `program` is the first word of this program's command line.
///
/// # Errors
/// Returns an error if a file cannot be written, or was not written by this command.
pub fn write(base: &Path, release: Release, program: &Path) -> Result<Written, EnvtestError> {
    let base = std::path::absolute(base).map_err(|error| EnvtestError::Path { path: base.to_owned(), error })?;
    let dir = base.join("k8s").join(name(release));
    fs::create_dir_all(&dir).map_err(|error| EnvtestError::io("cannot create", &dir, error))?;
    let own = own_path(program).map_err(EnvtestError::Program)?;
    let link_program = |name: &str, target: &Path| {
        let path = dir.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        link(target, &path).map(|()| path)
    };
    let mut programs =
        vec![("etcd", link_program("etcd", &own)?), ("kube-apiserver", link_program("kube-apiserver", &own)?)];
    let kubectl = match on_path(OsStr::new(&format!("kubectl{}", env::consts::EXE_SUFFIX))) {
        // A kubectl in this folder is found again if the folder is on PATH.
        Some(found) if found.parent() != Some(&dir) => Some(link_program("kubectl", &found)?),
        found => found,
    };
    programs.extend(kubectl.map(|path| ("kubectl", path)));
    Ok(Written { dir, programs })
}

/// The name of the folder: the version, and the system by Go's names.
fn name(release: Release) -> String {
    let system = match env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    };
    format!("{}-{system}-{machine}", release.full_version())
}

/// The release of the folder that contains a program: `None` if its name begins with no version.
///
/// # Errors
/// A version that is not simulated.
pub fn release(program: &Path) -> Result<Option<Release>, EnvtestError> {
    let found = if program.components().count() > 1 { Some(program.to_owned()) } else { on_path(program.as_os_str()) };
    let Some(dir) = found.as_deref().and_then(Path::parent) else { return Ok(None) };
    // The folder itself may be a link with another name.
    let real = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    for folder in [dir, &real] {
        if let Some(version) = folder.file_name().and_then(OsStr::to_str).and_then(version) {
            let release = version.parse().map_err(|error| EnvtestError::Version { path: folder.to_owned(), error });
            return release.map(Some);
        }
    }
    Ok(None)
}

/// The version at the beginning of `1.33.0-linux-amd64` or `v1.33.0`.
fn version(name: &str) -> Option<&str> {
    let version = name.split('-').next()?;
    let numbers = version.strip_prefix('v').unwrap_or(version);
    let is_version = numbers.split('.').count() == 3 && numbers.split('.').all(|part| part.parse::<u32>().is_ok());
    is_version.then_some(version)
}

/// The path of this program as the user finds it. A package manager keeps that path across upgrades, while the path of
/// the file may contain a version.
fn own_path(program: &Path) -> io::Result<PathBuf> {
    let exe = env::current_exe()?;
    let found =
        if program.components().count() > 1 { std::path::absolute(program).ok() } else { on_path(program.as_os_str()) };
    let is_own =
        |path: &PathBuf| fs::canonicalize(path).ok().is_some_and(|path| Some(path) == fs::canonicalize(&exe).ok());
    Ok(found.filter(is_own).unwrap_or(exe))
}

/// The file with this name in the first directory of `PATH` that has one.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
        .and_then(|file| std::path::absolute(file).ok())
}

/// Makes `path` start the program `target`. Replaces only links.
#[cfg(unix)]
fn link(target: &Path, path: &Path) -> Result<(), EnvtestError> {
    if fs::read_link(path).is_ok_and(|present| present == target) {
        return Ok(());
    }
    if fs::symlink_metadata(path).is_ok_and(|present| !present.is_symlink()) {
        return Err(EnvtestError::Foreign { path: path.to_owned(), kind: "link" });
    }
    // Other tests may be starting the program at this moment.
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let linked = std::os::unix::fs::symlink(target, &temporary).and_then(|()| fs::rename(&temporary, path));
    linked.map_err(|error| EnvtestError::io("cannot write", path, error))
}

/// Makes `path` start the program `target`. Replaces only folders of this command, which have a file with its name.
#[cfg(not(unix))]
fn link(target: &Path, path: &Path) -> Result<(), EnvtestError> {
    let mark = path.with_file_name("kubectl-crdx.txt");
    if path.exists() && !mark.exists() {
        return Err(EnvtestError::Foreign { path: path.to_owned(), kind: "copy" });
    }
    let copied = fs::write(&mark, "These programs are copies of kubectl-crdx.\n").and_then(|()| fs::copy(target, path));
    copied.map(|_| ()).map_err(|error| EnvtestError::io("cannot write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_names_the_release() {
        let of = |path: &str| release(Path::new(path)).map_err(|error| error.to_string());
        assert_eq!(of("/x/k8s/1.33.0-linux-amd64/kube-apiserver"), Ok(Release::new(33)));
        assert_eq!(of("/x/v1.34.9/kube-apiserver"), Ok(Release::new(34)));
        assert_eq!(of("/x/bin/kube-apiserver"), Ok(None));
        assert_eq!(of("/x/1.2-beta/kube-apiserver"), Ok(None));
        let old = of("/x/1.20.2-linux-amd64/kube-apiserver").unwrap_err();
        assert!(
            old.starts_with("the folder /x/1.20.2-linux-amd64: no Kubernetes version \"1.20.2\" to simulate"),
            "{old}"
        );
        for known in Release::known() {
            assert_eq!(of(&format!("/x/{}/kube-apiserver", name(known))), Ok(Some(known)));
        }
    }

    #[test]
    fn other_files_are_not_replaced() {
        let base = tempfile::tempdir().unwrap();
        let written = write(base.path(), Release::NEWEST, Path::new("kubectl-crdx")).unwrap();
        assert_eq!(write(base.path(), Release::NEWEST, Path::new("kubectl-crdx")).unwrap(), written);
        let etcd = written.dir.join(format!("etcd{}", env::consts::EXE_SUFFIX));
        fs::remove_file(&etcd).unwrap();
        fs::write(&etcd, "real").unwrap();
        let error = write(base.path(), Release::NEWEST, Path::new("kubectl-crdx")).unwrap_err().to_string();
        assert!(error.ends_with("name another directory with --dir"), "{error}");
        assert_eq!(fs::read_to_string(&etcd).unwrap(), "real");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_folder_has_its_version() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("1.32.1-linux-amd64");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, base.path().join("current")).unwrap();
        assert_eq!(release(&base.path().join("current/kube-apiserver")).unwrap(), Release::new(32));
    }
}
