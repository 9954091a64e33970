//! All paths that a command line names, which are checked before a command runs.

use super::Command;
use crate::commands::diff::args::Diff;
use crate::commands::flags::{Inputs, Paths, Reading, Target, targets};
use crate::commands::validate::args::Validate;
use crdx_engine::documents::Note;
use crdx_input::files::commits;
use crdx_input::profile::DESCRIPTION;
use crdx_input::{InputOptions, files};
use std::path::Path;

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

    fn add_inputs(self, inputs: &Inputs, old: &[String]) -> Self {
        let common = self.add(&inputs.paths.all()).add_crds(&inputs.crds).add(&inputs.policies.policies);
        if inputs.resolved.is_empty() {
            return common.add(old);
        }
        let add = |all: Self, one: &Target| all.add(&one.paths).add_crds(&one.crds).add(&one.policies).add(&one.old);
        inputs.resolved.iter().fold(common, add)
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
fn resolve(old: &[String], inputs: &[String], builds: Option<&'static str>) -> Result<Vec<String>, Note> {
    let mut resolved = Vec::new();
    for path in old {
        match commits::as_of_commit(path, inputs) {
            None => resolved.push(path.clone()),
            Some(paths) => match builds {
                Some(what) => {
                    let message = format!("--old {path} cannot read what {what}");
                    let hint = "build the old objects yourself, and give them with --old".to_owned();
                    return Err(files::note(path, message, Some(hint)));
                }
                None => resolved.extend(paths?),
            },
        }
    }
    Ok(resolved)
}

/// Resolves the targets and the existing objects of objects that are updated.
fn resolve_inputs(inputs: &mut Inputs, old: &mut Vec<String>) -> Result<(), Note> {
    let builds = builds(&inputs.paths);
    let mut targets = targets(inputs)?;
    for target in &mut targets {
        let given = if target.old.is_empty() { &*old } else { &target.old };
        target.old = resolve(given, &target.paths, builds)?;
    }
    if targets.is_empty() {
        *old = resolve(old, &inputs.paths.all(), builds)?;
    }
    inputs.resolved = targets;
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
    /// Resolves targets, and replaces `--old git:REF` by the paths of the inputs as of that commit.
    ///
    /// # Errors
    /// There is no such commit, it cannot have the inputs, or several targets would read standard input.
    pub fn resolve_paths(&mut self) -> Result<(), Note> {
        match self {
            Self::Validate(Validate { inputs, updates, .. }) | Self::Diff(Diff { inputs, updates, .. }) => {
                resolve_inputs(inputs, &mut updates.old)?;
            }
            Self::Lint(args) => args.old = resolve(&args.old, &args.paths.all(), builds(&args.paths))?,
            Self::Rehearse(args) => {
                args.old = resolve(args.old.as_slice(), args.definition.as_slice(), None)?.pop();
            }
            Self::Prove(args) => {
                let old = resolve(std::slice::from_ref(&args.old), std::slice::from_ref(&args.new), None)?;
                args.old = old.into_iter().next().unwrap_or_default();
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns true for a command that reads objects and has neither paths nor targets.
    pub fn lacks_paths(&self) -> bool {
        let lacks =
            |inputs: &Inputs| inputs.paths.is_empty() && inputs.targets.is_empty() && inputs.configured.is_empty();
        match self {
            Self::Validate(args) => lacks(&args.inputs),
            Self::Diff(args) => lacks(&args.inputs),
            Self::Lint(args) => args.paths.is_empty(),
            _ => false,
        }
    }

    /// Returns the inputs of a command that has targets.
    pub fn inputs_mut(&mut self) -> Option<&mut Inputs> {
        match self {
            Self::Validate(args) => Some(&mut args.inputs),
            Self::Diff(args) => Some(&mut args.inputs),
            _ => None,
        }
    }

    /// Returns the errors about paths that do not exist and patterns that match nothing. A command that started without
    /// one of its inputs would report errors about others, such as objects without a CRD.
    ///
    /// Directories of `-k` are left to kustomize, which also reads repositories.
    pub fn missing_paths(&self) -> Vec<Note> {
        let GivenPaths { mut definitions, mut others } = self.given_paths();
        for paths in [&mut definitions, &mut others] {
            paths.retain(|path| !commits::is_as_of_commit(path));
        }
        let mut missing = files::missing(&others, &InputOptions::default());
        missing.extend(files::missing(&definitions, &InputOptions::default().of_definitions()));
        missing
    }

    /// Returns an error for a profile that does not exist, and for more than the command reads.
    pub fn profile_error(&self) -> Option<Note> {
        let (profiles, reads_several) = match self {
            Self::Validate(args) => (&args.cluster.profile, true),
            Self::Diff(args) => (&args.cluster.profile, true),
            Self::Get(args) => (&args.cluster.profile, false),
            Self::Scale(args) => (&args.cluster.profile, false),
            Self::Rehearse(args) => (&args.cluster.profile, false),
            Self::Lint(args) => (&args.cluster.profile, false),
            Self::Explain(args) => (&args.cluster.profile, false),
            Self::Example(args) => (&args.cluster.profile, false),
            Self::Schema(args) => (&args.cluster.profile, false),
            Self::Openapi(args) => (&args.cluster.profile, false),
            #[cfg(feature = "serve")]
            Self::Serve(args) => (&args.cluster.profile, false),
            Self::Test(args) => (&args.profile, false),
            // `fetch` writes it.
            _ => return None,
        };
        let problem = |folder: &Path, message: String, help: &str| {
            Some(files::note(&folder.display().to_string(), message, Some(help.to_owned())))
        };
        if let Some(folder) = profiles.iter().find(|folder| !folder.join(DESCRIPTION).is_file()) {
            let help = "write one with kubectl crdx fetch --from-cluster --profile FOLDER";
            return problem(folder, "there is no profile in this folder".to_owned(), help);
        }
        let second = profiles.get(1).filter(|_| !reads_several)?;
        problem(second, "this command reads one profile".to_owned(), "give --profile once")
    }

    fn given_paths(&self) -> GivenPaths {
        let none = GivenPaths::default();
        match self {
            Self::Validate(args) => none.add_inputs(&args.inputs, &args.updates.old),
            Self::Diff(args) => none.add_inputs(&args.inputs, &args.updates.old),
            Self::Get(args) => none.add(&args.files.filenames).add_crds(&args.files.crds).add_crds(&args.new_crds),
            Self::Scale(args) => {
                none.add(&args.files.filenames).add_crds(&args.files.crds).add(&args.policies.policies)
            }
            Self::Rehearse(args) => {
                let definitions = none.add(args.definition.as_slice()).add(args.old.as_slice()).add_crds(&args.crds);
                definitions.add(&args.filenames).add(&args.policies.policies)
            }
            Self::Prove(args) => none.add(&[args.old.clone(), args.new.clone()]),
            Self::Cel(args) => none.add(args.filename.as_slice()).add(args.old.as_slice()).add_crds(&args.crds),
            Self::Lint(args) => none.add_crds(&args.paths.all()).add_crds(&args.old).add_crds(&args.crds),
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
            Self::Prove(args) => Some(&mut args.reading),
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
