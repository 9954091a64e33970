//! Threads with a stack for deeply nested values.

use crate::STACK_SIZE;

/// Runs `work` to its end on a thread with a stack of [`STACK_SIZE`] bytes, so that callers need no more than the 2 MiB that
/// a thread usually has: values, schemas and expressions are processed recursively, and a debug build uses several KiB for
/// each level. A panic is passed on to the caller.
///
/// In WebAssembly, which has no threads here, it runs on the caller's stack; the linker sets its size (`-z stack-size`).
///
/// # Errors
/// Returns an error if the system starts no thread.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, NoThread> {
    if cfg!(target_family = "wasm") {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| NoThread { reason: error.to_string() })?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The system starts no thread.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no thread with a stack of {} MiB: {reason}; allow the process more memory or threads", STACK_SIZE >> 20)]
#[non_exhaustive]
pub struct NoThread {
    /// The reason of the system.
    pub reason: String,
}
