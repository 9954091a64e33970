//! Runs work on a thread with a large stack, so that callers need no more than the 2 MiB of a test's thread.

use super::Error;

/// Runs `work` to its end.
///
/// # Errors
/// Returns [`Error::CannotTell`] if the system starts no thread.
pub(super) fn run<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    crdx_value::on_large_stack(work).unwrap_or_else(|error| Err(Error::CannotTell(error.to_string())))
}
