//! Starts `kubectl-crdx lsp` in Zed.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree, serde_json};

const SERVER: &str = "kubectl-crdx";

struct Extension;

impl zed::Extension for Extension {
    fn new() -> Self {
        Self
    }

    /// The program of the setting `lsp.kubectl-crdx.binary.path`, or the one on the PATH.
    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let given = LspSettings::for_worktree(SERVER, worktree)?.binary.and_then(|binary| binary.path);
        let command = given.or_else(|| worktree.which(SERVER)).ok_or_else(|| {
            format!("{SERVER} is not on the PATH: install it, or set lsp.{SERVER}.binary.path to its absolute path")
        })?;
        Ok(Command { command, args: vec!["lsp".to_owned()], env: worktree.shell_env() })
    }

    /// `lsp.kubectl-crdx.initialization_options` has the options of docs/editors.md.
    fn language_server_initialization_options(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(SERVER, worktree)?.initialization_options)
    }
}

zed::register_extension!(Extension);
