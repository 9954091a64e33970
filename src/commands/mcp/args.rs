//! The arguments of `kubectl crdx mcp`.

use clap::Args as ClapArgs;

/// `mcp`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # In the settings of a client of the Model Context Protocol
  {\"mcpServers\": {\"crdx\": {\"command\": \"kubectl-crdx\", \"args\": [\"mcp\"]}}}

The tools are validate, diff, lint, example, explain and cel. They read files in the working directory and below, write nothing, run no other
program and connect to no cluster.

Exit codes: 0 the client has closed standard input, 2 standard input or output failed.")]
pub struct Mcp {}
