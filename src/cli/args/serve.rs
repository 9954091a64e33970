//! The words of `kubectl crdx serve`.

use clap::Args as ClapArgs;

/// `serve`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The first line printed is the URL
  kubectl crdx serve --port 18080
  kubectl --server http://127.0.0.1:18080 get --raw /apis")]
pub struct Serve {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}
