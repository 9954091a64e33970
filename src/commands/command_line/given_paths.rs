//! All paths that a command line names, which are checked before a command runs.

use super::Command;
use crate::commands::diff::args::Diff;
use crate::commands::flags::{Inputs, Paths, Reading};
use crate::commands::validate::args::Validate;
use crdx_engine::documents::Note;
use crdx_input::files::commits;
use crdx_input::{Options, files};

/// The files, directories and patterns of a command line.
#[derive(Debug, Default)]
struct GivenPaths {
    /// Those of CRDs, which may be URLs.
    definitions: Vec<String>,
    others: Vec<String>,
}

impl GivenPaths {
    fn add(mut self, paths: &[String]) -> Self {
        add_new(&mut self.others, paths);
        self
    }

    fn add_crds(mut self, paths: &[String]) -> Self {
        add_new(&mut self.definitions, paths);
        self
    }

    fn add_inputs(self, inputs: &Inputs) -> Self {
        self.add(&inputs.paths.all()).add_crds(&inputs.crds).add(&inputs.policies.policies)
    }
}

fn add_new(all: &mut Vec<String>, paths: &[String]) {
    for path in paths {
        if !all.contains(path) {
            all.push(path.clone());
        }
    }
}

/// Replaces each `git:REF` in `old` by the inputs as of that commit.
fn resolve(old: &mut Vec<String>, inputs: &[String], builds: Option<&'static str>) -> Result<(), Note> {
    let mut resolved = Vec::new();
    for path in old.drain(..) {
        match commits::as_of_commit(&path, inputs) {
            None => resolved.push(path),
            Some(paths) => match builds {
                Some(what) => {
                    let message = format!("--old {path} cannot read what {what}");
                    let hint = "build the old objects yourself, and give them with --old".to_owned();
                    return Err(files::note(&path, message, Some(hint)));
                }
                None => resolved.extend(paths?),
            },
        }
    }
    *old = resolved;
    Ok(())
}

/// Returns what makes the objects, if they are not those of files.
fn builds(paths: &Paths) -> Option<&'static str> {
    if paths.render {
        return Some("--render renders");
    }
    (!paths.kustomize.is_empty()).then_some("kustomize builds")
}

impl Command {
    /// Replaces `--old git:REF` by the paths of the inputs as of that commit.
    ///
    /// # Errors
    /// There is no such commit, or it cannot have the inputs.
    pub fn resolve_commits(&mut self) -> Result<(), Note> {
        match self {
            Self::Validate(Validate { inputs, updates, .. }) | Self::Diff(Diff { inputs, updates, .. }) => {
                resolve(&mut updates.old, &inputs.paths.all(), builds(&inputs.paths))
            }
            Self::Lint(args) => resolve(&mut args.old, &args.paths.all(), builds(&args.paths)),
            Self::Rehearse(args) => {
                let mut old: Vec<String> = args.old.take().into_iter().collect();
                let resolved = resolve(&mut old, args.definition.as_slice(), None);
                args.old = old.pop();
                resolved
            }
            _ => Ok(()),
        }
    }

    /// Returns the errors about paths that do not exist and patterns that match nothing. A command that started without
    /// one of its inputs would report errors about others, such as objects without a CRD.
    ///
    /// Directories of `-k` are left to kustomize, which also reads repositories.
    pub fn missing_paths(&self) -> Vec<Note> {
        let GivenPaths { definitions, mut others } = self.given_paths();
        others.retain(|path| !commits::is_as_of_commit(path));
        let mut missing = files::missing(&others, &Options::default());
        missing.extend(files::missing(&definitions, &Options::default().of_definitions()));
        missing
    }

    fn given_paths(&self) -> GivenPaths {
        let none = GivenPaths::default();
        match self {
            Self::Validate(args) => none.add_inputs(&args.inputs).add(&args.updates.old),
            Self::Diff(args) => none.add_inputs(&args.inputs).add(&args.updates.old),
            Self::Get(args) => none.add(&args.files.filenames).add_crds(&args.files.crds).add_crds(&args.new_crds),
            Self::Scale(args) => {
                none.add(&args.files.filenames).add_crds(&args.files.crds).add(&args.policies.policies)
            }
            Self::Rehearse(args) => {
                let definitions = none.add(args.definition.as_slice()).add(args.old.as_slice()).add_crds(&args.crds);
                definitions.add(&args.filenames).add(&args.policies.policies)
            }
            Self::Cel(args) => none.add(args.filename.as_slice()).add(args.old.as_slice()).add_crds(&args.crds),
            Self::Lint(args) => none.add(&args.paths.all()).add(&args.old).add_crds(&args.crds),
            Self::Test(args) => none.add(&args.paths).add_crds(&args.crds).add(args.init.as_slice()),
            Self::Explain(args) => none.add_crds(&args.crds),
            Self::Rbac(args) => none.add_crds(&args.crds),
            Self::Example(args) => none.add_crds(&args.crds),
            Self::Schema(args) => none.add_crds(&args.crds),
            Self::Openapi(args) => none.add_crds(&args.crds),
            #[cfg(feature = "serve")]
            Self::Serve(args) => none.add_crds(&args.load),
            // The other commands read no files, except the language server, which reports problems in the editor.
            _ => none,
        }
    }

    /// Returns the options for reading objects, of a command that has them.
    pub fn reading_mut(&mut self) -> Option<&mut Reading> {
        match self {
            Self::Validate(args) => Some(&mut args.inputs.paths.reading),
            Self::Diff(args) => Some(&mut args.inputs.paths.reading),
            Self::Lint(args) => Some(&mut args.paths.reading),
            Self::Get(args) => Some(&mut args.reading),
            Self::Scale(args) => Some(&mut args.reading),
            Self::Rehearse(args) => Some(&mut args.reading),
            #[cfg(feature = "serve")]
            Self::Serve(args) => Some(&mut args.reading),
            _ => None,
        }
    }

    /// Returns the argument for the file with the settings of the project, if the command can watch it.
    pub fn settings_file_mut(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::Test(args) => Some(&mut args.settings_file),
            other => other.reading_mut().map(|reading| &mut reading.settings_file),
        }
    }
}
