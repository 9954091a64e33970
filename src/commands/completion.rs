//! `completion`: prints the completion script of a shell. All scripts ask `__complete` for the candidates.

pub mod args;

use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::terminal;
use args::CompletionScript;

/// Returns the text of a script.
fn script(of: CompletionScript) -> &'static str {
    match of {
        CompletionScript::Bash => include_str!("completion/bash.sh"),
        CompletionScript::Zsh => include_str!("completion/zsh.sh"),
        CompletionScript::Fish => include_str!("completion/fish.fish"),
        CompletionScript::Powershell => include_str!("completion/powershell.ps1"),
        CompletionScript::Elvish => include_str!("completion/elvish.elv"),
        CompletionScript::Kubectl => include_str!("../../plugin-manifest/kubectl_complete-crdx"),
    }
}

/// Runs the command.
pub fn run(args: &args::Completion) -> Result<Exit, Error> {
    let mut out = terminal::Stream::stdout(flags::Color::Never, terminal::Content::Data);
    out.write.write_all(script(args.shell).as_bytes())?;
    out.write.flush()?;
    Ok(Exit::Accepted)
}
