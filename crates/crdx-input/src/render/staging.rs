//! The temporary files that exist while a program renders: the values of a release, a copy of a chart whose own values are replaced,
//! and the kustomization that has what Flux adds to another one.

use super::find::RenderTarget;
use super::flux::FluxKustomization;
use super::program::RenderError;
use super::release::{HelmRelease, ValuesFiles};
use super::repository_path::in_repository;
use super::values::merge;
use crate::archive::{self, Member};
use crdx_files::open::read_small;
use crdx_text::yaml;
use crdx_value::{Map, Value, json};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// The largest file with values that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The deepest directory of a chart.
const MAX_DEPTH: usize = 32;

/// The temporary files for a program.
#[derive(Debug)]
pub struct Staged {
    /// The directory or the file to render.
    pub path: PathBuf,
    values: Option<NamedTempFile>,
    /// Kept until the program has ended.
    _directory: Option<TempDir>,
}

impl Staged {
    /// Writes what a program needs.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn new(target: &RenderTarget) -> Result<Self, RenderError> {
        let values = target.release.as_deref().map(values_file).transpose()?;
        let release = target.release.as_deref().filter(|release| !release.values_files.names.is_empty());
        let flux = target.flux.as_deref().filter(|flux| !flux.changes.is_empty());
        let (path, directory) = match (release, flux) {
            (Some(release), _) => with_values(&target.directory, &release.values_files)?,
            (None, Some(flux)) => with_changes(&target.directory, flux)?,
            (None, None) => return Ok(Self { path: target.directory.clone(), values, _directory: None }),
        };
        Ok(Self { path, values, _directory: Some(directory) })
    }

    /// Returns the file with the values of a release.
    pub fn values(&self) -> Option<&Path> {
        self.values.as_ref().map(NamedTempFile::path)
    }
}

/// Writes the values of a release.
fn values_file(release: &HelmRelease) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(json::to_string(&release.values).as_bytes())?;
    Ok(file)
}

/// Copies a chart, and replaces its values as source-controller does.
fn with_values(chart: &Path, files: &ValuesFiles) -> Result<(PathBuf, TempDir), RenderError> {
    let directory = TempDir::new()?;
    let is_packed = chart.is_file();
    let copy = if is_packed {
        let content = read_small(chart, archive::LIMIT)?;
        let members = archive::files(&content).map_err(io::Error::other)?;
        directory.path().join(unpack(&members, directory.path())?)
    } else {
        let copy = directory.path().join("chart");
        copy_directory(chart, &copy, &mut archive::LIMIT.clone(), 0)?;
        copy
    };
    let mut values = Value::Object(Map::new());
    for name in &files.names {
        // Those of a repository of charts are in the chart, others in the repository that has the chart.
        let file = if is_packed { inside(Path::new(name)).map(|name| copy.join(name)) } else { in_repository(name) };
        let missing = || RenderError::Values(name.clone());
        match file.filter(|file| file.is_file()) {
            Some(file) => {
                merge(&mut values, yaml::read(&read_small(&file, LARGEST)?).map_err(|_| missing())?);
            }
            None if files.may_be_missing => {}
            None => return Err(missing()),
        }
    }
    fs::write(copy.join("values.yaml"), json::to_string(&values))?;
    Ok((copy, directory))
}

/// Writes the files of a packed chart to a directory. Returns the name of the directory of the chart.
fn unpack(members: &[Member], directory: &Path) -> io::Result<String> {
    let mut top = None;
    for Member { name, content } in members {
        // The paths of an archive do not lead out of it.
        let file = directory.join(name);
        fs::create_dir_all(file.parent().unwrap_or(directory))?;
        fs::write(file, content)?;
        top = top.or_else(|| name.strip_suffix("/Chart.yaml").filter(|top| !top.contains('/')).map(str::to_owned));
    }
    top.ok_or_else(|| io::Error::other("the archive has no Chart.yaml"))
}

/// Copies a directory with at most `left` bytes.
fn copy_directory(from: &Path, to: &Path, left: &mut u64, depth: usize) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let (metadata, copy) = (fs::metadata(&path)?, to.join(path.file_name().unwrap_or_default()));
        if metadata.is_dir() && depth < MAX_DEPTH {
            copy_directory(&path, &copy, left, depth + 1)?;
        } else if metadata.is_file() {
            *left = left.checked_sub(metadata.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            fs::copy(&path, copy)?;
        }
    }
    Ok(())
}

fn inside(path: &Path) -> Option<PathBuf> {
    let path = super::normal(path);
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

/// Writes a kustomization that is built from another one, with what Flux adds to it.
fn with_changes(built: &Path, flux: &FluxKustomization) -> io::Result<(PathBuf, TempDir)> {
    let directory = TempDir::new()?;
    let path = fs::canonicalize(directory.path())?;
    // kustomize takes only relative paths of directories.
    let built = relative(&path, &fs::canonicalize(built)?);
    let mut members = flux.changes.clone();
    members.insert("apiVersion".to_owned(), "kustomize.config.k8s.io/v1beta1".into());
    members.insert("kind".to_owned(), "Kustomization".into());
    let text = |path: &Path| Value::from(path.to_string_lossy().into_owned());
    members.insert("resources".to_owned(), vec![text(&built)].into());
    if let Some(Value::Array(components)) = members.get_mut("components") {
        for component in components {
            if let Some(name) = component.as_str().filter(|name| !name.contains("://")) {
                *component = text(&super::normal(&built.join(name)));
            }
        }
    }
    fs::write(path.join("kustomization.yaml"), json::to_string(&Value::Object(members)))?;
    Ok((path, directory))
}

/// Returns a path without links as seen from another one.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let names =
        |path: &Path| -> PathBuf { path.components().filter(|part| matches!(part, Component::Normal(_))).collect() };
    let above: PathBuf = names(from).iter().map(|_| "..").collect();
    above.join(names(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::tarball;
    use crdx_engine::report::SourceLocation;
    use std::sync::Arc;

    fn release(files: &[&str], may_be_missing: bool) -> HelmRelease {
        HelmRelease {
            name: "a".to_owned(),
            namespace: "a".into(),
            values: Value::Object(Map::new()),
            values_files: ValuesFiles { names: files.iter().map(ToString::to_string).collect(), may_be_missing },
            location: SourceLocation::line(&"a.yaml".into(), 1),
            is_packed: true,
        }
    }

    /// The `values.yaml` of a packed chart that a release is rendered with.
    fn staged(files: &[&str], may_be_missing: bool) -> Result<String, RenderError> {
        let dir = tempfile::tempdir().unwrap();
        let chart = dir.path().join("web.tgz");
        let members: [(&str, &[u8]); 4] = [
            ("web/Chart.yaml", b"name: web\n"),
            ("web/values.yaml", b"{a: 1, b: {c: 2}}\n"),
            ("web/ha.yaml", b"b: {d: 3}\n"),
            ("web/templates/_a.tpl", b"{{ define \"a\" }}"),
        ];
        fs::write(&chart, tarball(&members)).unwrap();
        let release = Some(Arc::new(release(files, may_be_missing)));
        let target = RenderTarget { release, ..RenderTarget::of_chart(chart) };
        let staged = Staged::new(&target)?;
        assert!(staged.path.join("templates/_a.tpl").is_file());
        Ok(fs::read_to_string(staged.path.join("values.yaml")).unwrap())
    }

    #[test]
    fn files_replace_the_values_of_a_chart() {
        assert_eq!(staged(&["ha.yaml"], false).unwrap(), r#"{"b":{"d":3}}"#);
        assert_eq!(staged(&["./values.yaml", "ha.yaml"], false).unwrap(), r#"{"a":1,"b":{"c":2,"d":3}}"#);
        assert_eq!(staged(&["ha.yaml", "none.yaml"], true).unwrap(), r#"{"b":{"d":3}}"#);
        for name in ["none.yaml", "../web.tgz"] {
            let error = staged(&[name], false).unwrap_err();
            assert_eq!(error.to_string(), format!("there is no file {name} with values for the chart"));
        }
    }

    #[test]
    fn what_flux_adds_is_a_kustomization_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let changes = yaml::read(b"{namespace: a, components: [../c]}").unwrap();
        let flux = FluxKustomization { changes: changes.as_object().unwrap().clone(), ..Default::default() };
        let (path, _directory) = with_changes(dir.path(), &flux).unwrap();
        let value = yaml::read(&fs::read(path.join("kustomization.yaml")).unwrap()).unwrap();
        let first = |member: &str| path.join(value.get(member).unwrap().as_array().unwrap()[0].as_str().unwrap());
        assert_eq!(fs::canonicalize(first("resources")).unwrap(), fs::canonicalize(dir.path()).unwrap());
        assert!(first("components").ends_with("c") && value.str_at(&["namespace"]) == Some("a"));
    }

    #[test]
    fn a_path_is_seen_from_another_one() {
        assert_eq!(relative(Path::new("/tmp/a"), Path::new("/work/b")), Path::new("../../work/b"));
    }
}
