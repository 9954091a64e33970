//! A progress line on standard error for operations that take more than a second.

use super::terminal;
use crdx_input::ReadBytes;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Shorter operations show no progress line.
const DELAY: Duration = Duration::from_secs(1);

/// Counts objects. The line is shown only if standard error is a terminal, and only after [`DELAY`]. Clones share the line,
/// which is removed with the last of them.
#[derive(Clone, Debug)]
pub struct Progress(Option<Arc<ProgressLine>>);

#[derive(Debug)]
struct ProgressLine {
    bar: ProgressBar,
    start: Instant,
    /// True until the line is shown.
    is_hidden: AtomicBool,
    /// The number of objects, as far as it is known.
    expected: AtomicU64,
    /// The bytes that were read.
    read: ReadBytes,
    /// Determines the size of the inputs, when the line is first shown.
    size: OnceLock<Size>,
    total: OnceLock<Option<u64>>,
}

/// Determines a size in bytes, if it is known.
struct Size(Box<dyn Fn() -> Option<u64> + Send + Sync>);

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Size")
    }
}

impl Progress {
    /// Starts counting. `buffers_output` is true if nothing is written to standard output before the end. Otherwise the
    /// line would mix with the output on the same terminal, so it is shown only if standard output is not a terminal.
    pub fn new(buffers_output: bool) -> Self {
        let is_dumb = terminal::is_dumb(std::env::var_os("TERM"));
        let shows = !is_dumb && io::stderr().is_terminal() && (buffers_output || !io::stdout().is_terminal());
        Self(shows.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} objects, {msg}{elapsed}") {
                bar.set_style(style);
            }
            Arc::new(ProgressLine {
                bar,
                start: Instant::now(),
                is_hidden: AtomicBool::new(true),
                expected: AtomicU64::new(0),
                read: ReadBytes::default(),
                size: OnceLock::new(),
                total: OnceLock::new(),
            })
        }))
    }

    /// Counts one object.
    pub fn add(&self) {
        self.add_many(1);
    }

    /// Counts several objects.
    pub fn add_many(&self, count: usize) {
        let Some(line) = &self.0 else { return };
        if line.is_hidden.load(Ordering::Relaxed) && line.start.elapsed() > DELAY {
            line.is_hidden.store(false, Ordering::Relaxed);
            line.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        line.bar.inc(count as u64);
        if !line.is_hidden.load(Ordering::Relaxed) {
            let total = || *line.total.get_or_init(|| line.size.get().and_then(|size| (size.0)()));
            match line.expected.load(Ordering::Relaxed) {
                0 => line.bar.set_message(total().map_or_else(String::new, |total| share(line.read.get(), total))),
                expected => line.bar.set_message(share(line.bar.position(), expected)),
            }
        }
    }

    /// Returns the counter for the bytes of files, if the line may be shown. `size` determines the size of all files.
    pub fn measure(&self, size: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Option<ReadBytes> {
        let line = self.0.as_ref()?;
        let _ = line.size.set(Size(Box::new(size)));
        Some(line.read.clone())
    }

    /// Says that `count` more objects follow those that were counted.
    pub fn expect(&self, count: u64) {
        if let Some(line) = &self.0 {
            line.expected.store(line.bar.position() + count, Ordering::Relaxed);
        }
    }

    pub fn count<I: Iterator>(&self, items: I) -> impl Iterator<Item = I::Item> {
        items.inspect(|_| self.add())
    }

    /// Hides the line while `write` writes to standard error.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(line) if !line.bar.is_hidden() => line.bar.suspend(write),
            _ => write(),
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        if let Some(line) = &self.0 {
            line.bar.finish_and_clear();
        }
    }
}

/// Formats a part of a whole: `37 %, `.
fn share(part: u64, whole: u64) -> String {
    format!("{} %, ", part.saturating_mul(100).checked_div(whole).unwrap_or_default().min(100))
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage() {
        assert_eq!([share(3, 8), share(9, 8), share(1, 0)], ["37 %, ", "100 %, ", "0 %, "]);
    }
}
