//! The commands: a folder for each, with its arguments in `args`. [`command_line`] joins the arguments of all commands, and
//! [`flags`] has those that several commands share.

mod arguments;
mod cel;
pub mod command_line;
mod complete;
mod completion;
mod config;
mod configured;
mod counterexample;
mod definitions;
mod diff;
mod discover;
#[cfg(feature = "serve")]
mod envtest;
mod error;
mod example;
mod exit;
mod explain;
mod external_diff;
#[cfg(feature = "cluster")]
mod fetch;
mod flags;
mod get;
#[cfg(feature = "cluster")]
mod kuberc;
mod lines;
mod lint;
#[cfg(feature = "serve")]
mod load_profile;
#[cfg(feature = "lsp")]
mod lsp;
mod mcp;
mod openapi;
mod options;
mod progress;
mod prove;
mod rbac;
mod rehearse;
mod scale;
mod schema;
mod search_answers;
mod selection;
#[cfg(feature = "serve")]
mod serve;
mod sink;
mod source;
mod targets;
mod terminal;
mod test;
mod unknown_flags;
mod validate;
mod version;
mod watching;

use clap::{ArgMatches, FromArgMatches};
use crdx_input::configuration::{SettingKey, Settings};
use crdx_output::printable::{complain, complain_all};
pub use error::Error;
pub use exit::Exit;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;

/// Parses a command line, runs the command and returns the process's exit code.
pub fn run(words: Vec<OsString>) -> u8 {
    #[cfg(feature = "serve")]
    if let Some(program) = envtest::Program::from_argument(words.first()) {
        return program.run(&words);
    }
    let words = arguments::normal(words);
    // The definition of the named command alone; the others would take most of the time of a start.
    let mut named = words.get(1).and_then(|word| command_line::definition_of_one(&word.to_string_lossy()));
    let words = match expanded(named.as_ref(), words) {
        Ok(words) => words,
        Err(exit) => return exit.code(),
    };
    // The file with settings whose change made a command with `--watch` start again.
    let mut restarted: Option<String> = None;
    loop {
        let read = restarted.clone().map(watching::ReadSettings::look_at);
        let exit = match once(named.as_mut(), words.clone()) {
            Ok(exit) => exit,
            Err(Error::SettingsChanged { file }) => {
                restarted = Some(file);
                continue;
            }
            // The reader closed the pipe (`| head`): stop quietly.
            Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Exit::CannotTell.code(),
            Err(error) => {
                complain_all(&error.text(false));
                Exit::CannotTell
            }
        };
        match read {
            // The new settings cannot be used, which is printed. The watch goes on when they are corrected.
            Some(settings) => settings.wait(),
            None => return exit.code(),
        }
    }
}

/// Returns the words with the defaults of the user's preferences, and their flags in the form that the parser accepts. Without a
/// command, they are returned as they are.
fn expanded(command: Option<&clap::Command>, words: Vec<OsString>) -> Result<Vec<OsString>, Exit> {
    let Some(command) = command else { return Ok(words) };
    let failed = |text: String| {
        complain!("error: {text}");
        Exit::CannotTell
    };
    #[cfg(feature = "cluster")]
    let words = kuberc::with_defaults(command, words).map_err(|error| {
        failed(format!("{error}\nhelp: correct it, give another file with --kuberc, or set KUBERC=off"))
    })?;
    arguments::pflag::canonical(command, words).map_err(|error| failed(error.to_string()))
}

/// Parses the words with the definition of one command. Only errors and help need that of all commands.
fn parse(one: Option<&mut clap::Command>, words: &[OsString]) -> Result<ArgMatches, clap::Error> {
    if let Some(Ok(parsed)) = one.map(|command| command.try_get_matches_from_mut(words)) {
        return Ok(parsed);
    }
    let named = words.iter().skip(1).find(|word| *word != "help").and_then(|word| word.to_str());
    let mut command = command_line::definition_of(named.unwrap_or_default());
    if is_plugin(words.first()) {
        command = command.bin_name("kubectl crdx");
    }
    command.try_get_matches_from(words)
}

/// Parses the words with the settings of the project, and runs the command.
fn once(one: Option<&mut clap::Command>, words: Vec<OsString>) -> Result<Exit, Error> {
    let parsed = parse(one, &words);
    let (args, settings) = match parsed.and_then(|parsed| Ok((command_line::Args::from_arg_matches(&parsed)?, parsed)))
    {
        Ok((args, parsed)) => match configure(args, &parsed, words) {
            Ok(both) => both,
            Err(exit) => return Ok(exit),
        },
        Err(mut error) => {
            unknown_flags::explain(&mut error, &named(&words));
            // Help and the version go to standard output.
            let is_shown = !error.use_stderr() && error.print().is_ok();
            if error.use_stderr() {
                let mut messages = terminal::Stream::stderr(flags::Color::Auto);
                let text = error.render();
                let text = if messages.color { text.ansi().to_string() } else { text.to_string() };
                // Writing to standard error never fails.
                let _ = messages.write.write_all(text.as_bytes()).and_then(|()| messages.write.flush());
            }
            return Ok(if is_shown { Exit::Accepted } else { Exit::CannotTell });
        }
    };
    crdx_cluster::log::set_level(args.global.verbosity);
    answer(args, &settings)
}

/// Returns the command that the words name: the first one that is no flag.
fn named(words: &[OsString]) -> String {
    let is_command = |word: &&OsString| !word.to_string_lossy().starts_with('-');
    words.iter().skip(1).find(is_command).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Completes the arguments with the settings of the project. `words` are parsed again if there are any.
fn configure(
    args: command_line::Args,
    parsed: &ArgMatches,
    words: Vec<OsString>,
) -> Result<(command_line::Args, Settings), Exit> {
    let failed = |text: &str| {
        complain_all(&format!("{text}\n"));
        Err(Exit::CannotTell)
    };
    let Some((name, given)) = parsed.subcommand().filter(|(name, _)| configured::applies_to(name)) else {
        return Ok((args, Settings::default()));
    };
    let settings = match configured::read(&args) {
        Ok(settings) if settings.is_empty() => {
            let mut args = args;
            configured::name_file(&mut args, &settings);
            return Ok((args, settings));
        }
        Ok(settings) => settings,
        Err(error) => return failed(&error.to_string()),
    };
    if settings.settings.contains_key(&SettingKey::Output)
        && let Err(error) = configured::check_output(&settings, &command_line::definition())
    {
        return failed(&error.to_string());
    }
    let definition = configured::with_defaults(command_line::definition_of(name), name, &settings, given);
    let parsed = definition.try_get_matches_from(words);
    match parsed.and_then(|parsed| Ok((command_line::Args::from_arg_matches(&parsed)?, parsed))) {
        Ok((mut args, parsed)) => {
            if let Err(error) = configured::complete(&mut args, &settings, &parsed) {
                return failed(&error.to_string());
            }
            configured::name_file(&mut args, &settings);
            Ok((args, settings))
        }
        Err(error) => {
            failed(&format!("{}help: a setting causes this; `kubectl crdx config` shows where it is", error.render()))
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written, or an input error stops the command.
fn answer(mut args: command_line::Args, settings: &Settings) -> Result<Exit, Error> {
    if args.command.lacks_paths() {
        let help = match &args.command {
            command_line::Command::Lint(_) => "`--help` lists what it reads",
            _ => "`kubectl crdx discover --write` writes a .crdx.yaml with the paths of a repository",
        };
        return Err(Error::usage_with_help("give files or directories, or - for standard input", help));
    }
    if let Err(note) = args.command.resolve_paths() {
        complain!("error: {}", note.text());
        return Ok(Exit::CannotTell);
    }
    let missing = args.command.missing_paths();
    if !missing.is_empty() {
        for note in missing {
            complain!("error: {}{}", note.text(), configured::origin(settings, &note.source));
        }
        return Ok(Exit::CannotTell);
    }
    if let Some(note) = args.command.profile_error() {
        complain!("error: {}{}", note.text(), configured::origin(settings, &note.source));
        return Ok(Exit::CannotTell);
    }
    if let command_line::Command::Config(config) = &args.command {
        return config::run(&args, config.output.is_some());
    }
    #[cfg(feature = "lsp")]
    let lookup = configured::lookup(&args);
    match args.command {
        command_line::Command::Validate(validate) => validate::run(&validate, args.global.color, args.global.verbosity),
        command_line::Command::Diff(diff) => diff::run(&diff, args.global.color),
        command_line::Command::Get(get) => get::run(&get),
        command_line::Command::Rehearse(rehearse) => rehearse::run(&rehearse, args.global.color),
        command_line::Command::Prove(prove) => prove::run(&prove, args.global.color),
        command_line::Command::Cel(cel) => cel::run(&cel, args.global.color),
        command_line::Command::Lint(lint) => lint::run(&lint, args.global.color),
        command_line::Command::Test(test) => test::run(&test, args.global.color),
        command_line::Command::Example(example) => example::run(&example),
        command_line::Command::Explain(explain) => explain::run(&explain),
        command_line::Command::Openapi(openapi) => openapi::run(&openapi),
        command_line::Command::Schema(schema) => schema::run(&schema),
        command_line::Command::Rbac(rbac) => rbac::run(&rbac),
        command_line::Command::Scale(scale) => scale::run(&scale, args.global.color),
        #[cfg(feature = "serve")]
        command_line::Command::Serve(serve) => serve::run(&serve),
        #[cfg(feature = "serve")]
        command_line::Command::Envtest(envtest) => envtest::run(&envtest),
        #[cfg(feature = "lsp")]
        command_line::Command::Lsp(lsp) => lsp::run(&lsp, lookup),
        #[cfg(feature = "cluster")]
        command_line::Command::Fetch(fetch) => fetch::run(&fetch, args.global.color),
        command_line::Command::Mcp(mcp) => mcp::run(&mcp),
        command_line::Command::Discover(discover) => discover::run(&discover, args.global.color),
        command_line::Command::Config(_) => Ok(Exit::Accepted),
        command_line::Command::Options(_) => options::run(args.global.color),
        command_line::Command::Version(version) => version::run(&version),
        command_line::Command::Completion(completion) => completion::run(&completion),
        command_line::Command::Complete(complete) => complete::run(&complete),
    }
}

/// Returns true if kubectl started this program: it runs `kubectl-crdx` for `kubectl crdx`, which is the name to show
/// in help.
fn is_plugin(argv0: Option<&OsString>) -> bool {
    let name = argv0.and_then(|name| Path::new(name).file_name()).unwrap_or(OsStr::new(""));
    name.to_string_lossy().starts_with("kubectl-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_arguments_is_sound() {
        command_line::definition().debug_assert();
    }

    #[test]
    fn help_follows_the_name_of_the_program() {
        assert!(is_plugin(Some(&OsString::from("/usr/bin/kubectl-crdx"))));
        assert!(!is_plugin(Some(&OsString::from("/opt/kubectl-things/crdx"))));
        assert!(!is_plugin(None));
    }
}
