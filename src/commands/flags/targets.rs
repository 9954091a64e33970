//! `--target` and the targets of the settings: parts of the input that are validated on their own, as for clusters of their own.

use super::Inputs;
use crdx_engine::documents::Note;
use crdx_input::InputOptions;
use crdx_input::configuration::TargetSettings;
use crdx_input::files::{self, ReadStep};
use crdx_input::render::{ChartValues, normal};
use crdx_value::release::ReleaseSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The paths of one target, and what differs from other targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The name in results; `None` for paths of no target.
    pub name: Option<Arc<str>>,
    pub paths: Vec<String>,
    /// CRDs in addition to those of all targets.
    pub crds: Vec<String>,
    /// Policies in addition to those of all targets.
    pub policies: Vec<String>,
    /// The existing objects.
    pub old: Vec<String>,
    /// The simulated versions, if they are those of this target.
    pub releases: Option<ReleaseSet>,
    /// The default namespace, if it is that of this target.
    pub namespace: Option<String>,
    /// Values for charts in addition to those of all targets.
    pub values: ChartValues,
    /// Files and directories of other targets.
    pub left_out: Vec<PathBuf>,
}

/// Returns the targets of a command line; none if everything is validated together.
///
/// # Errors
/// Standard input would be read more than once.
pub fn targets(inputs: &Inputs) -> Result<Vec<Target>, Note> {
    let common = inputs.paths.all();
    Ok(if inputs.targets.is_empty() {
        if inputs.configured.is_empty() {
            return Ok(Vec::new());
        }
        of_settings(&inputs.configured, &common, &inputs.paths.reading.options())
    } else {
        let mut targets: Vec<Target> =
            inputs.targets.iter().flat_map(|given| of_flag(given, &inputs.configured)).collect();
        if let Some(stdin) = common.iter().find(|path| *path == "-").filter(|_| targets.len() > 1) {
            let hint = "name files: every target reads the paths that belong to no target".to_owned();
            return Err(files::note(stdin, "standard input can be read by one target only".to_owned(), Some(hint)));
        }
        for target in &mut targets {
            target.paths.extend(common.iter().cloned());
        }
        targets
    })
}

/// Returns the targets of a value of `--target`: the target of the settings with this name, or a path, or each match of a pattern.
fn of_flag(given: &str, configured: &[TargetSettings]) -> Vec<Target> {
    let named: Vec<Target> =
        configured.iter().flat_map(of_entry).filter(|one| one.name.as_deref() == Some(given)).collect();
    if named.is_empty() { each_match(given) } else { named }
}

/// Returns a target for a path, or for each match of a pattern.
fn each_match(path: &str) -> Vec<Target> {
    let matches = files::matching(path);
    let paths: Vec<String> = if matches.is_empty() {
        vec![path.to_owned()]
    } else {
        matches.iter().map(|path| path.display().to_string()).collect()
    };
    paths.into_iter().map(|path| Target { name: Some(name(&path)), paths: vec![path], ..Target::default() }).collect()
}

/// The name of a target with this path.
fn name(path: &str) -> Arc<str> {
    let name = path.trim_end_matches(['/', '\\']);
    if name.is_empty() { path.into() } else { name.into() }
}

fn of_entry(entry: &TargetSettings) -> Vec<Target> {
    if entry.is_each {
        return entry.paths.iter().flat_map(|path| each_match(path)).collect();
    }
    let own_name = entry.name.as_deref().or_else(|| entry.paths.first().map(String::as_str)).unwrap_or_default();
    vec![Target {
        name: Some(name(own_name)),
        paths: entry.paths.clone(),
        crds: entry.crds.clone(),
        policies: entry.policies.clone(),
        old: entry.old.clone(),
        releases: entry.kubernetes_version.as_deref().and_then(|versions| versions.parse().ok()),
        namespace: entry.namespace.clone(),
        values: entry.values.clone(),
        left_out: Vec::new(),
    }]
}

/// Returns the targets of the settings, as far as the given paths have something of them, and the given paths that belong to no
/// target. Without given paths, all targets are validated.
fn of_settings(entries: &[TargetSettings], given: &[String], options: &InputOptions) -> Vec<Target> {
    let all: Vec<Target> = entries.iter().flat_map(of_entry).collect();
    if given.is_empty() {
        return all;
    }
    let places: Vec<Vec<PathBuf>> = all.iter().map(places).collect();
    let of_target = |(target, places): (&Target, &Vec<PathBuf>)| {
        let mut paths = Vec::new();
        for path in given.iter().filter(|path| *path != "-") {
            let place = normal(Path::new(path));
            if places.iter().any(|own| place.starts_with(own)) {
                paths.push(path.clone());
            } else {
                paths.extend(places.iter().filter(|own| is_in(own, &place)).map(|own| own.display().to_string()));
            }
        }
        (!paths.is_empty()).then(|| Target { paths, ..target.clone() })
    };
    let mut targets: Vec<Target> = all.iter().zip(&places).filter_map(of_target).collect();
    let left_out: Vec<PathBuf> = places.into_iter().flatten().collect();
    let is_rest = |path: &&String| {
        let place = normal(Path::new(path));
        *path == "-" || !left_out.iter().any(|own| place.starts_with(own))
    };
    let rest: Vec<String> = given.iter().filter(is_rest).cloned().collect();
    let options = InputOptions { ignore: options.ignore.clone().and_paths(&left_out), ..options.clone() };
    let has_files = |step: &ReadStep| matches!(step, ReadStep::Named(_) | ReadStep::Found(_) | ReadStep::Render(..));
    if files::expand(&rest, &options).iter().any(has_files) {
        targets.push(Target { paths: rest, left_out, ..Target::default() });
    }
    targets
}

/// Returns the files and directories of a target.
fn places(target: &Target) -> Vec<PathBuf> {
    let expanded = |path: &String| {
        let matches = files::matching(path);
        if matches.is_empty() { vec![PathBuf::from(path)] } else { matches }
    };
    target.paths.iter().flat_map(expanded).map(|path| normal(&path)).collect()
}

/// Returns true if a relative path is in a directory, of which `.` has an empty path.
fn is_in(path: &Path, directory: &Path) -> bool {
    path.starts_with(directory) && (path.is_relative() || directory.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::report::SourceLocation;

    fn entry(paths: &[&str]) -> TargetSettings {
        let paths = paths.iter().map(ToString::to_string).collect();
        TargetSettings { paths, ..TargetSettings::new(SourceLocation::default()) }
    }

    /// The names and paths of the targets of the settings `base, a` and `base, b` for given paths of the source code.
    fn found(given: &[&str]) -> Vec<(String, Vec<String>)> {
        let entries = [entry(&["src/commands/diff", "src/output"]), entry(&["src/commands/get", "src/output"])];
        let given: Vec<String> = given.iter().map(ToString::to_string).collect();
        let targets = of_settings(&entries, &given, &InputOptions::default());
        targets.into_iter().map(|one| (one.name.as_deref().unwrap_or_default().to_owned(), one.paths)).collect()
    }

    #[test]
    fn a_path_is_validated_in_each_target_that_has_it() {
        let paths = |paths: &[&str]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        let [diff, get] = ["src/commands/diff", "src/commands/get"].map(ToOwned::to_owned);
        assert_eq!(found(&["./src/commands/diff/a.yaml"]), [(diff.clone(), paths(&["./src/commands/diff/a.yaml"]))]);
        let both = [(diff.clone(), paths(&["src/output/x"])), (get.clone(), paths(&["src/output/x"]))];
        assert_eq!(found(&["src/output/x"]), both);
        let all = [(diff.clone(), paths(&["src/commands/diff"])), (get.clone(), paths(&["src/commands/get"]))];
        assert_eq!(found(&["src/commands"]), all);
        assert_eq!(found(&[]).len(), 2);
    }

    #[test]
    fn what_belongs_to_no_target_is_validated_too() {
        let found = found(&["src/commands/get", "Cargo.toml"]);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["src/commands/get", ""]);
        assert_eq!(found[1].1, ["Cargo.toml"]);
    }

    #[test]
    fn each_match_of_a_pattern_is_a_target() {
        let names = |given: &str| {
            let targets = of_flag(given, &[TargetSettings { name: Some("all".to_owned()), ..entry(&["src"]) }]);
            targets.into_iter().map(|one| one.name.unwrap().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names("src/commands/{diff,get}"), ["src/commands/diff", "src/commands/get"]);
        assert_eq!((names("src/"), names("all")), (vec!["src".to_owned()], vec!["all".to_owned()]));
        assert_eq!(
            of_flag("all", &[TargetSettings { name: Some("all".to_owned()), ..entry(&["src"]) }])[0].paths,
            ["src"]
        );
    }
}
