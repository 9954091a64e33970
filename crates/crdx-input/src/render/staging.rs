//! The temporary files that exist while a program renders: the values of a release, and copies of a chart whose own values are
//! replaced and of a kustomization that Flux changes.

use super::copy::{self, Copy};
use super::find::{self, RenderTarget};
use super::flux::FluxKustomization;
use super::lexical::normal;
use super::program::RenderError;
use super::release::{HelmRelease, ValuesFiles};
use super::repository_path::in_repository;
use super::values::merge;
use crate::archive::{self, Member};
use crate::kustomize;
use crdx_files::open::read_small;
use crdx_text::yaml;
use crdx_value::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::iter;
use std::path::{Component, Path, PathBuf};
use tempfile::{NamedTempFile, TempDir};

/// The largest file with values that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The temporary files for a program.
#[derive(Debug)]
pub struct Staged {
    /// The directory or the file to render.
    pub path: PathBuf,
    values: Option<NamedTempFile>,
    /// The paths of copies, and those that messages show in their place.
    originals: Vec<(PathBuf, PathBuf)>,
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
        let mut staged = match (release, flux) {
            (Some(release), _) => with_values(&target.directory, &release.values_files)?,
            (None, Some(flux)) => with_changes(&target.directory, flux)?,
            (None, None) => {
                Self { path: target.directory.clone(), values: None, originals: Vec::new(), _directory: None }
            }
        };
        staged.originals.extend(values.as_ref().map(|file| (file.path().to_owned(), "VALUES".into())));
        Ok(Self { values, ..staged })
    }

    /// A copy in a directory that is deleted with it.
    fn copy(path: PathBuf, original: &Path, directory: TempDir) -> Self {
        let originals = vec![(path.clone(), original.to_owned())];
        Self { path, values: None, originals, _directory: Some(directory) }
    }

    /// Returns the file with the values of a release.
    pub fn values(&self) -> Option<&Path> {
        self.values.as_ref().map(NamedTempFile::path)
    }

    /// Returns a text with the original paths in the place of temporary ones.
    pub fn with_originals(&self, text: &str) -> String {
        self.originals.iter().fold(text.to_owned(), |text, (copy, original)| {
            text.replace(&*copy.to_string_lossy(), &original.to_string_lossy())
        })
    }
}

/// Writes the values of a release.
fn values_file(release: &HelmRelease) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(json::to_string(&release.values).as_bytes())?;
    Ok(file)
}

/// Copies a chart, and replaces its values as source-controller does.
fn with_values(chart: &Path, files: &ValuesFiles) -> Result<Staged, RenderError> {
    let directory = TempDir::new()?;
    let is_packed = chart.is_file();
    let copy = if is_packed {
        let content = read_small(chart, archive::LIMIT)?;
        let members = archive::files(&content).map_err(io::Error::other)?;
        directory.path().join(unpack(&members, directory.path())?)
    } else {
        let copy = directory.path().join("chart");
        Copy { left: archive::LIMIT, within: None }.copy(chart, &copy).map_err(RenderError::of_copy)?;
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
    Ok(Staged::copy(copy, chart, directory))
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

fn inside(path: &Path) -> Option<PathBuf> {
    let path = normal(path);
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

/// Copies what a kustomization is built from, and changes it as Flux does.
fn with_changes(built: &Path, flux: &FluxKustomization) -> Result<Staged, RenderError> {
    let directory = TempDir::new()?;
    let to = fs::canonicalize(directory.path())?;
    let root = fs::canonicalize(Path::new(".").join(in_repository(".").unwrap_or_default()))?;
    let components = flux.changes.components().map(|name| normal(&built.join(name)));
    let named = find::named_by(iter::once(built.to_owned()).chain(components).collect());
    let inside: BTreeSet<PathBuf> = named.iter().filter_map(|path| copy::relative(path, &root)).collect();
    let mut copy = Copy { left: archive::LIMIT, within: Some(root.clone()) };
    let mut last: Option<&PathBuf> = None;
    // A directory precedes what is in it.
    for path in &inside {
        if last.is_none_or(|above| !path.starts_with(above)) {
            copy.copy(&root.join(path), &to.join(path)).map_err(RenderError::of_copy)?;
            last = Some(path);
        }
    }
    let outside = || io::Error::other("the directory is not in this repository");
    let path = to.join(copy::relative(built, &root).ok_or_else(outside)?);
    if let Some(file) = kustomize::file(&path)
        && let Ok(own) = yaml::read(&read_small(&file, LARGEST)?)
    {
        let changed = flux.changes.applied(own, |component| path.join(component).exists());
        fs::write(file, json::to_string(&changed))?;
    }
    let mut staged = Staged::copy(path, built, directory);
    staged.originals.push((to, root));
    Ok(staged)
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
}
