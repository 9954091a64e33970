//! Finds the `Kustomization` objects of Flux among the files of an input, whose `postBuild` has variables for the directories that
//! they name.

use super::lexical::normal;
use super::substitution::Variables;
use crdx_engine::documents::encrypted::is_encrypted;
use crdx_files::open::read_small;
use crdx_files::project;
use crdx_text::documents::Chunks;
use crdx_value::{Value, group_version};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The objects of files that `postBuild` needs.
#[derive(Debug, Default)]
struct FluxObjects {
    /// The `postBuild` of a directory.
    kustomizations: Vec<(PathBuf, Value)>,
    /// The data of each `ConfigMap`, by name; `None` if it is not known. Namespaces are often set by the Kustomization of the cluster.
    config_maps: BTreeMap<String, Option<BTreeMap<String, String>>>,
}

/// Returns the variables for each directory. `given` are those of the command line.
pub fn variables(files: &BTreeSet<PathBuf>, given: &BTreeMap<String, String>) -> BTreeMap<PathBuf, Variables> {
    let mut found = FluxObjects::default();
    for file in files {
        found.read(file);
    }
    let mut all: BTreeMap<PathBuf, Variables> = BTreeMap::new();
    for (directory, post_build) in &found.kustomizations {
        let variables = all.entry(directory.clone()).or_default();
        found.add(variables, post_build);
        variables.values.extend(given.clone());
    }
    all
}

impl FluxObjects {
    fn read(&mut self, file: &Path) {
        let Ok(text) = read_small(file, LARGEST) else { return };
        let has = |part: &str| crdx_text::contains(&text, part);
        if !has("postBuild:") && !has("kind: ConfigMap") {
            return;
        }
        let values =
            Chunks::new(Cursor::new(text)).map_while(Result::ok).filter_map(|chunk| Some(chunk.read().ok()?.value));
        for object in values {
            let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
            match (group_version::group(text(&["apiVersion"])), text(&["kind"])) {
                ("kustomize.toolkit.fluxcd.io", "Kustomization") => {
                    let directory = in_working_directory(Path::new(text(&["spec", "path"])));
                    let post_build = object.at(&["spec", "postBuild"]).cloned();
                    self.kustomizations.extend(directory.zip(post_build));
                }
                ("", "ConfigMap") => {
                    let data = (!is_encrypted(&object)).then(|| texts(object.get("data")));
                    // Two ConfigMaps of one name may be of two clusters.
                    let name = text(&["metadata", "name"]).to_owned();
                    let known = self.config_maps.entry(name).or_insert_with(|| data.clone());
                    if *known != data {
                        *known = None;
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the variables of a `postBuild`; those of `substitute` take precedence.
    fn add(&self, variables: &mut Variables, post_build: &Value) {
        let sources = post_build.get("substituteFrom").and_then(Value::as_array).unwrap_or_default();
        for source in sources {
            let text = |name: &str| source.str_at(&[name]).unwrap_or_default();
            match self.config_maps.get(text("name")).filter(|_| text("kind") == "ConfigMap") {
                Some(Some(data)) => variables.values.extend(data.clone()),
                _ => {
                    variables.unknown.insert(format!("{} {}", text("kind"), text("name")));
                }
            }
        }
        variables.values.extend(texts(post_build.get("substitute")));
    }
}

/// Returns the members of an object as texts, without line breaks, which Flux removes.
fn texts(object: Option<&Value>) -> BTreeMap<String, String> {
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.replace('\n', "")))).collect()
}

/// Returns a path of the repository relative to the working directory; `None` if it is outside.
fn in_working_directory(path: &Path) -> Option<PathBuf> {
    let levels = project::levels_to_root(&env::current_dir().ok()?);
    let inside = normal(path.strip_prefix("/").unwrap_or(path));
    (!inside.starts_with("..")).then(|| normal(&PathBuf::from("../".repeat(levels)).join(inside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_no_line_breaks() {
        let data = crdx_text::yaml::read(b"a: |\n  one\n  two\nb: 1\n").unwrap();
        assert_eq!(texts(Some(&data)), BTreeMap::from([("a".to_owned(), "onetwo".to_owned())]));
    }
}
