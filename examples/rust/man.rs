//! Writes the manual pages of all commands into a directory: `cargo run -p crdx-examples --example man -- DIRECTORY`.

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).ok_or("name the directory for the pages")?;
    fs::create_dir_all(&directory)?;
    let mut command = kubectl_crdx::commands::command_line::definition_of_pages().disable_help_subcommand(true);
    command.build();
    write(&command, "kubectl-crdx", Path::new(&directory))?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        write(sub, &format!("kubectl-crdx-{}", sub.get_name()), Path::new(&directory))?;
    }
    Ok(())
}

/// The page of one command.
fn write(command: &clap::Command, name: &str, directory: &Path) -> Result<(), Box<dyn Error>> {
    let page = clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).source("kubectl-crdx");
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(directory.join(format!("{name}.1")), text)?;
    Ok(())
}
