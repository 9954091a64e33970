//! Makes the settings of the file and the variables the defaults of a command's flags. A flag that is given always takes
//! precedence, because clap uses a default only for a flag without a value.

use crate::commands::command_line::Args;
use crate::commands::definitions::is_path;
use clap::ArgMatches;
use clap::parser::ValueSource;
use crdx_input::InputOptions;
use crdx_input::configuration::{
    ConfigurationError, Lookup, Origin, SettingKey, Settings, check_paths, check_targets, of_variables,
};
use crdx_input::remote::url::is_url;
use crdx_value::release::ReleaseSet;
use crdx_value::suggest::{closest, did_you_mean};
use std::env;
use std::path::Path;

/// Flags that select a cluster, so that no profile of the settings is read.
const CLUSTERS: [&str; 4] = ["kubeconfig", "context", "cluster", "server"];

/// Commands without settings: they run also when the file is invalid.
const WITHOUT: [&str; 6] = ["version", "completion", "__complete", "config", "discover", "mcp"];

/// Reads the settings that apply in the working directory.
///
/// # Errors
/// The file or a variable is invalid.
pub fn read(args: &Args) -> Result<Settings, ConfigurationError> {
    let directory = env::current_dir().unwrap_or_default();
    let variables = of_variables(&|name| env::var_os(name))?;
    // The language server reads the file of the workspace that the editor opens.
    #[cfg(feature = "lsp")]
    let is_server = matches!(args.command, crate::commands::command_line::Command::Lsp(_));
    #[cfg(not(feature = "lsp"))]
    let is_server = false;
    let settings = if is_server { Settings::default() } else { lookup(args).read(&directory, true)? };
    Ok(settings.overridden_by(variables))
}

/// Returns which file is read: as the flags say, otherwise as the variables say.
pub fn lookup(args: &Args) -> Lookup {
    if args.global.config.is_some() || args.global.no_config {
        return Lookup { file: args.global.config.clone(), no_file: args.global.no_config };
    }
    let text =
        |name| env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned());
    let no_file = text("CRDX_NO_CONFIG").is_some_and(|value| value != "0" && value != "false");
    Lookup { file: text("CRDX_CONFIG"), no_file }
}

/// Returns true if a command has settings.
pub fn applies_to(command: &str) -> bool {
    !WITHOUT.contains(&command)
}

/// Returns the definition of the command line with the settings as defaults of the flags of `command`. `given` is the result
/// of parsing the command line without them.
pub fn with_defaults(
    definition: clap::Command,
    command: &str,
    settings: &Settings,
    given: &ArgMatches,
) -> clap::Command {
    definition.mut_subcommand(command, |definition| {
        let mut definition = definition;
        for key in SettingKey::ALL {
            let values = values(key, command, settings, given, &definition);
            if !values.is_empty() {
                definition = definition.mut_arg(key.argument(), |arg| {
                    let hides = arg.get_action().takes_values();
                    arg.default_values(values).hide_default_value(hides)
                });
            }
        }
        definition
    })
}

/// Returns the values of a key for a command; an empty list if the command does not use them.
fn values(
    key: SettingKey,
    command: &str,
    settings: &Settings,
    given: &ArgMatches,
    definition: &clap::Command,
) -> Vec<String> {
    let Some(arg) = definition.get_arguments().find(|arg| arg.get_id() == key.argument()) else { return Vec::new() };
    let values = settings.values(key);
    let is_used = match (key, command) {
        // A role for named resources must not permit more.
        (SettingKey::Crds, "rbac") => !has(given, "resources"),
        // Paths are read themselves; names need the CRDs.
        (SettingKey::Crds, "example" | "schema" | "openapi") => words(given).iter().any(|word| !is_path(word)),
        (SettingKey::Paths, "validate" | "diff") => !names_inputs(given),
        (SettingKey::Offline, "validate" | "diff") => !names_cluster(given),
        // Suites name their CRDs themselves. `--policies` of `rehearse` and `prove` are the new ones, and `--old` is one CRD; `--old`
        // of `cel` is one object. Other commands read what they are given, and live objects unless a
        // flag forbids it. The profile of `fetch` is written; `get` and `scale` show objects that a profile does not have.
        (SettingKey::Crds, "test")
        | (SettingKey::Policies | SettingKey::Old, "rehearse" | "prove")
        | (SettingKey::Old, "cel")
        | (SettingKey::Profile, "fetch" | "get" | "scale")
        // The effects of an upgrade are not the findings of the manifests.
        | (SettingKey::Baseline, "rehearse")
        | (SettingKey::Paths | SettingKey::Offline, _) => false,
        // `--live` and `--convert` exclude `--old`.
        (SettingKey::Old | SettingKey::Crds, "lint") => {
            !(is_given(given, "convert") || key == SettingKey::Old && is_given(given, "live"))
        }
        (SettingKey::Profile, _) if CLUSTERS.iter().any(|flag| is_given(given, flag)) => false,
        // Without `--live`, `lint` reads no cluster.
        (SettingKey::Profile, "lint") => is_given(given, "live"),
        (SettingKey::Output, "lint") if is_given(given, "convert") => false,
        (SettingKey::Output, "test") if has(given, "init") => false,
        _ => true,
    };
    if !is_used {
        return Vec::new();
    }
    match key {
        SettingKey::Output => format(command, values, arg).into_iter().collect(),
        // Some commands simulate one version: the newest. Of several, `rehearse` would be the rehearsal of an upgrade.
        SettingKey::KubernetesVersion if !matches!(command, "validate" | "lint" | "test" | "lsp") => {
            let newest = |text: &String| text.parse::<ReleaseSet>().ok().map(|set| set.newest().minor().to_string());
            values.iter().filter_map(newest).collect()
        }
        _ if key.is_boolean() => values.last().cloned().into_iter().collect(),
        _ => values.to_vec(),
    }
}

/// Returns the output format of a command: its own, or the one of all commands if this one has it.
fn format(command: &str, values: &[String], arg: &clap::Arg) -> Option<String> {
    let own = values.iter().find_map(|value| value.strip_prefix(command)?.strip_prefix('='));
    let common = || {
        let known = arg.get_possible_values();
        values.iter().find(|value| !value.contains('=') && known.iter().any(|known| known.matches(value, true)))
    };
    own.map(str::to_owned).or_else(|| common().cloned())
}

/// The key `output` has a command or a format that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("error: output: unknown {part} {word:?}\n --> {origin}\nhelp: {help}")]
pub struct OutputSettingError {
    /// `command` or `format`
    part: &'static str,
    word: String,
    origin: Box<Origin>,
    help: String,
}

/// Checks the commands and formats of the key `output`, which only the definition of the command line knows.
///
/// # Errors
/// Returns an error for an unknown command or format.
pub fn check_output(settings: &Settings, definition: &clap::Command) -> Result<(), OutputSettingError> {
    let Some(setting) = settings.settings.get(&SettingKey::Output) else { return Ok(()) };
    let unknown = |part, word: &str, known: Vec<String>| {
        let help = closest(word, known.iter().map(String::as_str))
            .map_or_else(|| format!("give one of {}", known.join(", ")), did_you_mean);
        Err(OutputSettingError { part, word: word.to_owned(), origin: Box::new(setting.origin.clone()), help })
    };
    let formats = |command: &clap::Command| -> Vec<String> {
        let args = command.get_arguments().filter(|arg| arg.get_id() == "output");
        let values = args.flat_map(clap::Arg::get_possible_values);
        values.map(|value| value.get_name().to_owned()).collect()
    };
    let commands =
        || definition.get_subcommands().filter(|command| command.get_arguments().any(|arg| arg.get_id() == "output"));
    for value in &setting.values {
        match value.split_once('=') {
            None => {
                let mut known: Vec<String> = commands().flat_map(formats).collect();
                known.sort();
                known.dedup();
                if !known.contains(&value.to_lowercase()) {
                    return unknown("format", value, known);
                }
            }
            Some((name, format)) => {
                let Some(command) = commands().find(|command| command.get_name() == name) else {
                    return unknown("command", name, commands().map(|command| command.get_name().to_owned()).collect());
                };
                let known = formats(command);
                // The formats of `get` are templates, too.
                if !known.is_empty() && !known.contains(&format.to_lowercase()) {
                    return unknown("format", format, known);
                }
            }
        }
    }
    Ok(())
}

/// Tells a command which file with settings it may watch.
pub fn name_file(args: &mut Args, settings: &Settings) {
    if let Some(file) = args.command.settings_file_mut() {
        *file = settings.file.as_deref().map(str::to_owned);
    }
}

/// Completes the arguments with what is not a flag: the directory to which patterns are relative, and the restrictions that
/// results must show.
///
/// # Errors
/// The file names a path that it may not name.
pub fn complete(args: &mut Args, settings: &Settings, parsed: &ArgMatches) -> Result<(), ConfigurationError> {
    let is_default = |key: SettingKey| {
        let matches = parsed.subcommand().map(|(_, matches)| matches);
        let has_it = |matches: &&ArgMatches| matches.ids().any(|id| id.as_str() == key.argument());
        matches.filter(has_it).and_then(|matches| matches.value_source(key.argument()))
            == Some(ValueSource::DefaultValue)
    };
    let paths = SettingKey::ALL.into_iter().filter(|key| key.is_paths() && is_default(*key));
    let has_version = !is_default(SettingKey::KubernetesVersion) && has_value(parsed, SettingKey::KubernetesVersion);
    let has_old = !is_default(SettingKey::Old) && has_value(parsed, SettingKey::Old);
    if let Some(inputs) = args.command.inputs_mut() {
        inputs.configured.clone_from(&settings.targets);
        for target in &mut inputs.configured {
            // A flag takes precedence.
            target.kubernetes_version.take_if(|_| has_version);
            if has_old {
                target.old.clear();
            }
        }
        check_targets(settings, &inputs.paths.reading.options())?;
    }
    let Some(reading) = args.command.reading_mut() else {
        return check_paths(settings, paths, &InputOptions::default());
    };
    let is_of_file = |key: SettingKey| {
        let origin = settings.settings.get(&key).map(|setting| &setting.origin);
        matches!(origin, Some(Origin::File(_)))
    };
    if is_default(SettingKey::Ignore) && is_of_file(SettingKey::Ignore) {
        reading.ignore_directory.clone_from(&settings.directory);
    }
    reading.restrictions = settings.restrictions(is_default);
    check_paths(settings, paths, &reading.options())
}

/// Returns true if the argument of a key has a value.
fn has_value(parsed: &ArgMatches, key: SettingKey) -> bool {
    let matches = parsed.subcommand().map(|(_, matches)| matches);
    matches.is_some_and(|matches| matches.try_contains_id(key.argument()).unwrap_or_default())
}

/// Returns true if the command has an argument, and the command line gives it.
fn is_given(given: &ArgMatches, id: &str) -> bool {
    given.try_contains_id(id).is_ok() && given.value_source(id) == Some(ValueSource::CommandLine)
}

/// Returns true if the command line says what to read.
fn names_inputs(given: &ArgMatches) -> bool {
    ["positional", "filenames", "kustomize", "targets"].iter().any(|id| is_given(given, id))
}

/// Returns true if a flag of the command line selects a cluster.
fn names_cluster(given: &ArgMatches) -> bool {
    CLUSTERS.iter().any(|id| is_given(given, id))
}

fn has(given: &ArgMatches, id: &str) -> bool {
    given.try_contains_id(id).unwrap_or_default()
}

fn words(given: &ArgMatches) -> Vec<String> {
    given.get_many::<String>("words").into_iter().flatten().cloned().collect()
}

/// Describes a path that does not exist and is not on the command line.
pub fn origin(settings: &Settings, path: &str) -> String {
    // The message about a URL says how to download it.
    let origin = settings.origin_of_path(path).filter(|_| !Path::new(path).exists() && !is_url(path));
    match origin {
        Some(origin @ Origin::File(_)) => format!("\nhelp: {origin} names it; correct it, or give --no-config"),
        Some(Origin::Variable(name)) => format!("\nhelp: the variable {name} names it; correct or unset it"),
        None => String::new(),
    }
}
