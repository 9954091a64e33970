//! The `kubectl-crdx` program.

use std::process::ExitCode;
use std::thread;

/// Most of the work allocates small values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Values may nest 10,000 levels deep and the code recurses into them. Only pages of the stack that are touched use
/// memory.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let work = thread::Builder::new().stack_size(STACK).spawn(|| crdx::cli::run(std::env::args_os().collect()));
    match work.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => ExitCode::from(code),
        // The panic has already been printed.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}
