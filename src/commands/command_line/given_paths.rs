//! All paths that a command line names, which are checked before a command runs.

use super::Command;
use crate::commands::flags::{Inputs, Reading};
use crate::input::{Note, Options, files};

/// The files, directories and patterns of a command line.
#[derive(Debug, Default)]
struct GivenPaths(Vec<String>);

impl GivenPaths {
    fn add(mut self, paths: &[String]) -> Self {
        for path in paths {
            if !self.0.contains(path) {
                self.0.push(path.clone());
            }
        }
        self
    }

    fn add_inputs(self, inputs: &Inputs) -> Self {
        self.add(&inputs.paths.all()).add(&inputs.crds).add(&inputs.policies.policies)
    }
}

impl Command {
    /// Returns the errors about paths that do not exist and patterns that match nothing. A command that started without
    /// one of its inputs would report errors about others, such as objects without a CRD.
    ///
    /// Directories of `-k` are left to kustomize, which also reads repositories.
    pub fn missing_paths(&self) -> Vec<Note> {
        files::missing(&self.given_paths().0, &Options::default())
    }

    fn given_paths(&self) -> GivenPaths {
        let none = GivenPaths::default();
        match self {
            Self::Validate(args) => none.add_inputs(&args.inputs).add(&args.updates.old),
            Self::Diff(args) => none.add_inputs(&args.inputs).add(&args.updates.old),
            Self::Get(args) => none.add(&args.filenames).add(&args.crds).add(&args.new_crds),
            Self::Scale(args) => none.add(&args.filenames).add(&args.crds).add(&args.policies.policies),
            Self::Rehearse(args) => {
                let definitions = none.add(args.definition.as_slice()).add(args.old.as_slice()).add(&args.crds);
                definitions.add(&args.filenames).add(&args.policies.policies)
            }
            Self::Cel(args) => none.add(args.filename.as_slice()).add(args.old.as_slice()).add(&args.crds),
            Self::Lint(args) => none.add(&args.paths.all()).add(&args.old).add(&args.crds),
            Self::Test(args) => none.add(&args.paths).add(&args.crds).add(args.init.as_slice()),
            Self::Explain(args) => none.add(&args.crds),
            Self::Rbac(args) => none.add(&args.crds),
            Self::Example(args) => none.add(&args.crds),
            Self::Schema(args) => none.add(&args.crds),
            Self::Openapi(args) => none.add(&args.crds),
            Self::Serve(args) => none.add(&args.load),
            // The language server reports problems in the editor.
            Self::Lsp(_)
            | Self::Envtest(_)
            | Self::Config(_)
            | Self::Version(_)
            | Self::Completion(_)
            | Self::Complete(_) => none,
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
            Self::Serve(args) => Some(&mut args.reading),
            _ => None,
        }
    }
}
