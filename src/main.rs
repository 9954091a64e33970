//! The `kubectl-crdx` program.

use std::process::ExitCode;
use std::thread;

/// Reading and judging is mostly making small values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Values may nest 10,000 deep and recursion follows them; only what is touched of a stack is ever real memory.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let work = thread::Builder::new().stack_size(STACK).spawn(|| crdx::cli::run(std::env::args_os().collect()));
    match work.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => ExitCode::from(code),
        // A panic has already printed where it happened.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}
