//! Runs work on a thread with a large stack, so that callers need no more than the 2 MiB of a test's thread.

use super::Error;

/// Runs `work` to its end. Parsing, schemas and rules are processed recursively, and a debug build uses several KiB of
/// stack for each level.
///
/// # Errors
/// Returns [`Error::CannotTell`] if the system starts no thread.
#[cfg(not(target_family = "wasm"))]
pub(super) fn run<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(crdx_value::STACK_SIZE).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| {
            Error::CannotTell(format!("no thread with a stack of {} MiB: {error}", crdx_value::STACK_SIZE >> 20))
        })?;
        // A panic is passed on to the caller.
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// WebAssembly has no threads here: the linker sets the size of the only stack (`-z stack-size`).
#[cfg(target_family = "wasm")]
pub(super) fn run<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    work()
}
