//! The `kubectl-crdx` program.

use crdx_value::STACK_SIZE;
use std::io::Write as _;
use std::process::ExitCode;
use std::thread;

/// Most of the program's work is allocating small values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let work = thread::Builder::new()
        .stack_size(STACK_SIZE)
        .spawn(|| kubectl_crdx::commands::run(std::env::args_os().collect()));
    match work.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => ExitCode::from(code),
        // The panic message has already been printed.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            // A message that cannot be written changes nothing.
            let _ = writeln!(std::io::stderr(), "error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}
