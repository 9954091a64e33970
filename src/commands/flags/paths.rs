//! The files and directories that a command reads, as positional arguments or with `-f`.

use super::rendering::{LoadRestrictor, Rendering};
use clap::Args as ClapArgs;
use crdx_input::render::{ChartValues, RenderSettings, Renderer};
use crdx_input::{Ignore, InputOptions, PatternError};
use crdx_output::printable::complain;
use crdx_value::release::ReleaseSet;
use std::path::PathBuf;

/// The inputs of a command. Every command that reads objects or CRDs and has no other positional argument has these.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Paths {
    /// Files or directories to read (YAML or JSON), `-` for standard input
    #[arg(value_name = "PATH")]
    pub positional: Vec<String>,
    /// A file or directory to read, `-` for standard input; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "PATH", help_heading = "Files")]
    pub filenames: Vec<String>,
    /// Build this directory with `kubectl kustomize` or `kustomize build`, and read the result; may be repeated
    #[arg(short = 'k', long, value_name = "DIR", help_heading = "Files")]
    pub kustomize: Vec<PathBuf>,
    /// Render directories that have a Chart.yaml or a kustomization.yaml with `helm template` and `kustomize build` (or
    /// `kubectl kustomize`), and report findings in the templates, resources and patches; only a flag, because it runs
    /// programs
    #[arg(long, help_heading = "Files")]
    pub render: bool,
    /// What helm and kustomize are called with.
    #[command(flatten)]
    pub rendering: Rendering,
    /// The options for reading them.
    #[command(flatten)]
    pub reading: Reading,
}

/// The options for reading files and directories, for every command that reads objects.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Reading {
    /// Read subdirectories, too
    #[arg(short = 'R', long, help_heading = "Files")]
    pub recursive: bool,
    /// Leave out files and directories that match this .gitignore pattern, relative to the working directory; may be
    /// repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern, help_heading = "Files")]
    pub ignore: Vec<String>,
    /// Skip documents that are not Kubernetes objects, such as Helm values, even in files that are named explicitly; in
    /// directories they are always skipped
    #[arg(long, help_heading = "Files")]
    pub skip_non_objects: bool,
    /// The directory to which the patterns of `ignore` are relative, if it is not the working directory.
    #[arg(skip)]
    pub ignore_directory: Option<PathBuf>,
    /// The file with the settings of the project, if there is one.
    #[arg(skip)]
    pub settings_file: Option<String>,
    /// The restrictions that the settings of the project impose, for results to show.
    #[arg(skip)]
    pub restrictions: Option<String>,
}

impl Reading {
    /// Returns the options for the input; clones share the count of skipped documents.
    pub fn options(&self) -> InputOptions {
        InputOptions {
            recursive: self.recursive,
            skip_non_objects: self.skip_non_objects,
            // Each pattern was checked when the arguments were parsed.
            ignore: Ignore::in_directory(&self.ignore, self.ignore_directory.as_deref()).unwrap_or_default(),
            restrictions: self.restrictions.clone(),
            ..InputOptions::default()
        }
    }
}

/// Prints the collected warnings about inputs, and the number of documents that were skipped because they are not
/// Kubernetes objects.
pub fn report_notes(options: &InputOptions) {
    for warning in options.warnings.take() {
        complain!("warning: {warning}");
    }
    if let Some(message) = options.skipped.message() {
        complain!("note: {message}");
    }
    for (_, note) in options.render.iter().flat_map(Renderer::notes) {
        complain!("note: {note}");
    }
    if let Some(restrictions) = &options.restrictions {
        complain!("note: {restrictions}");
    }
}

fn pattern(text: &str) -> Result<String, PatternError> {
    let text = text.to_owned();
    Ignore::new(std::slice::from_ref(&text))?;
    Ok(text)
}

impl Paths {
    /// Returns all paths in the order in which they are read: those of `-f` first, so that `-f a b` reads `a` before
    /// `b`.
    pub fn all(&self) -> Vec<String> {
        self.filenames.iter().chain(&self.positional).cloned().collect()
    }

    /// Returns true if nothing is to be read.
    pub fn is_empty(&self) -> bool {
        self.filenames.is_empty() && self.positional.is_empty() && self.kustomize.is_empty()
    }

    /// Returns the options for the input. Charts are rendered for these versions and this namespace, if they are given, and with
    /// the values of a target in addition.
    pub fn options(
        &self,
        releases: Option<&ReleaseSet>,
        namespace: Option<&str>,
        of_target: &ChartValues,
    ) -> InputOptions {
        let Rendering { values, set, api_versions, substitute, repository_url, enable_helm, load_restrictor } =
            &self.rendering;
        let settings = || RenderSettings {
            namespace: namespace.map(str::to_owned),
            release: releases.map(ReleaseSet::newest),
            values: ChartValues {
                files: values.iter().chain(&of_target.files).cloned().collect(),
                set: set.iter().chain(&of_target.set).cloned().collect(),
            },
            api_versions: api_versions.clone(),
            substitute: substitute.iter().cloned().collect(),
            repository_urls: repository_url.clone(),
            enable_helm: *enable_helm,
            load_restrictor: load_restrictor.map(LoadRestrictor::name),
        };
        InputOptions { render: self.render.then(|| Renderer::new(settings())), ..self.reading.options() }
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::command_line::{Args, Command};
    use clap::Parser;

    fn parse(line: &str) -> Command {
        Args::try_parse_from(line.split(' ')).unwrap().command
    }

    #[test]
    fn a_flag_takes_one_value_and_the_rest_are_paths() {
        let Command::Validate(args) = parse("crdx validate -f ok.yaml --crds crds bad.yaml --old old.yaml worse.yaml")
        else {
            panic!()
        };
        assert_eq!(args.inputs.paths.all(), ["ok.yaml", "bad.yaml", "worse.yaml"]);
        assert_eq!((args.inputs.crds, args.updates.old), (vec!["crds".to_owned()], vec!["old.yaml".to_owned()]));
    }

    #[test]
    fn a_flag_may_be_repeated() {
        let Command::Diff(args) = parse("crdx diff -f a -f b --crds c --crds d --old e --old f") else { panic!() };
        assert_eq!((args.inputs.paths.all(), args.inputs.crds, args.updates.old), (v("a b"), v("c d"), v("e f")));
        let Command::Serve(args) = parse("crdx serve --load a --load b") else { panic!() };
        assert_eq!(args.load, v("a b"));
        assert!(Args::try_parse_from("crdx serve --load a b".split(' ')).is_err());
    }

    #[test]
    fn other_positional_arguments_may_follow_a_flag() {
        let Command::Get(args) = parse("crdx get -f dir --crds crds crontabs") else { panic!() };
        assert_eq!((args.words, args.files.filenames, args.files.crds), (v("crontabs"), v("dir"), v("crds")));
        let Command::Scale(args) = parse("crdx scale --replicas 1 -f dir --crds crds crontab/a") else { panic!() };
        assert_eq!((args.words, args.files.filenames), (v("crontab/a"), v("dir")));
        let Command::Rehearse(args) = parse("crdx rehearse --old old.yaml -f objects new.yaml") else { panic!() };
        assert_eq!((args.definition.as_deref(), args.filenames), (Some("new.yaml"), v("objects")));
        let Command::Lint(args) = parse("crdx lint --old old.yaml new.yaml") else { panic!() };
        assert_eq!((args.paths.all(), args.old), (v("new.yaml"), v("old.yaml")));
        let Command::Cel(args) = parse("crdx cel -f a.yaml --crds crds self.a") else { panic!() };
        assert_eq!((args.expression.as_str(), args.crds), ("self.a", v("crds")));
        let Command::Rbac(args) = parse("crdx rbac --crds crds crontabs.example.com") else { panic!() };
        assert_eq!((args.resources, args.crds), (v("crontabs.example.com"), v("crds")));
    }

    #[test]
    fn a_command_without_a_path_is_bad_usage() {
        for command in ["validate", "diff", "lint"] {
            for (words, lacks_paths) in
                [(vec![], true), (vec!["-f", "a"], false), (vec!["a"], false), (vec!["-k", "a"], false)]
            {
                let args = Args::try_parse_from(["crdx", command].into_iter().chain(words)).unwrap();
                assert_eq!(args.command.lacks_paths(), lacks_paths, "{command}");
            }
        }
        assert!(!parse("crdx validate --target a").lacks_paths());
    }

    fn v(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }
}
