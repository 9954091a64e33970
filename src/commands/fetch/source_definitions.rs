//! The CRDs of a download.

use super::FetchProblem;
use crdx_engine::documents::InputEntry;
use crdx_input::{Ignore, Input, InputOptions};
use crdx_value::Value;
use std::collections::BTreeMap;

/// The CRDs of a download, or of a path inside of it, by name, with the files that they are in.
#[derive(Default)]
pub struct SourceDefinitions(BTreeMap<String, (String, Value)>);

impl SourceDefinitions {
    /// Reads the CRDs at a path inside of a download, or all of them.
    ///
    /// # Errors
    /// It cannot be read, it has none, as a page for people such as that of a login, or it has two that differ for one name.
    pub fn read(name: &str, inside: Option<&str>, content: Vec<u8>, ignore: &Ignore) -> Result<Self, FetchProblem> {
        let mut found = Self::default();
        let options = InputOptions { ignore: ignore.clone(), ..InputOptions::default() }.of_definitions();
        for entry in Input::of_download(name, inside, content, options) {
            match entry {
                InputEntry::Document(document) if document.is_definition() => {
                    found.add(name, &document.source, document.value)?;
                }
                InputEntry::Problem(note) => {
                    let help =
                        note.hint.clone().unwrap_or_else(|| "check the URL, and open it in a browser".to_owned());
                    let at = note.position.map_or_else(String::new, |at| format!("{}:{at}: ", note.source));
                    return Err(FetchProblem::new(format!("{name} is not used: {at}{}", note.message), help));
                }
                InputEntry::Document(_) | InputEntry::Warning(_) => {}
            }
        }
        if found.0.is_empty() {
            let help = "check the URL, and open it in a browser";
            return Err(FetchProblem::new(format!("there is no CustomResourceDefinition in {name}"), help));
        }
        Ok(found)
    }

    /// The number of CRDs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn add(&mut self, download: &str, source: &str, definition: Value) -> Result<(), FetchProblem> {
        let name = definition.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let own = source.strip_prefix(download).unwrap_or(source).trim_start_matches('/').to_owned();
        match self.0.get(&name) {
            Some((first, known)) if *known != definition => Err(choice(download, &name, first, &own)),
            Some(_) => Ok(()),
            None => {
                self.0.insert(name, (own, definition));
                Ok(())
            }
        }
    }
}

/// The error for two CRDs of one name, such as those of two channels of a project: the user has to choose.
fn choice(download: &str, name: &str, first: &str, second: &str) -> FetchProblem {
    let message =
        format!("{download} is not used: it has two CRDs called {name} that differ, in {first} and in {second}");
    let directory = |path: &str| path.rsplit_once('/').map_or(String::new(), |(directory, _)| directory.to_owned());
    let (mut a, mut b) = (directory(first), directory(second));
    if a == b || a.is_empty() || b.is_empty() {
        (a, b) = (first.to_owned(), second.to_owned());
    }
    let help = if first.is_empty() || second.is_empty() {
        "save the file, remove one of them, and name the saved file".to_owned()
    } else {
        // The directory at the top often has the version.
        let below = |path: &str| path.split_once('/').map_or(path, |(_, below)| below).to_owned();
        let (a, b) = (below(&a), below(&b));
        format!("choose one: {download}//{a} or {download}//{b}; or leave files out with --ignore or the key `ignore`")
    };
    FetchProblem::new(message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_with_two_crds_of_a_name_needs_a_choice() {
        let help = |first: &str, second: &str| choice("https://h/x", "a.b", first, second).help;
        let directories = help("p-1/crd/standard/a.yaml", "p-1/crd/experimental/a.yaml");
        assert!(
            directories.starts_with("choose one: https://h/x//crd/standard or https://h/x//crd/experimental;"),
            "{directories}"
        );
        let files = help("p-1/crd/a.yaml", "p-1/crd/b.yaml");
        assert!(files.starts_with("choose one: https://h/x//crd/a.yaml or https://h/x//crd/b.yaml;"), "{files}");
        assert!(help("", "").starts_with("save the file"));
    }
}
