//! `version`: prints the versions of this program and of the newest Kubernetes that it simulates.

pub mod args;

use super::terminal;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::flags::JsonOrYaml;
use crdx_text::{json, yaml};
use crdx_value::release::Release;
use crdx_value::{Value, object};

/// Runs the command.
pub fn run(args: &args::Version) -> Result<Exit, Error> {
    let client = concat!("v", env!("CARGO_PKG_VERSION"));
    let kubernetes = format!("v{}", Release::NEWEST);
    let report = || {
        object([
            ("clientVersion", object([("gitVersion", Value::from(client))])),
            ("kubernetesVersion", object([("gitVersion", Value::from(kubernetes.as_str()))])),
        ])
    };
    let text = match args.output {
        None => format!("Client Version: {client}\nKubernetes Version: {kubernetes}\n"),
        Some(JsonOrYaml::Json) => json::write::kubectl(&report()),
        Some(JsonOrYaml::Yaml) => yaml::write::to_string(&report()),
    };
    let mut out = terminal::Stream::stdout(flags::Color::Never, terminal::Content::Data);
    out.write.write_all(text.as_bytes())?;
    out.write.flush()?;
    Ok(Exit::Accepted)
}
