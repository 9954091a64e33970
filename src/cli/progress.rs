//! A progress line on standard error for operations that take more than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Shorter operations show no progress line.
const DELAY: Duration = Duration::from_secs(1);

/// Counts objects. The line is shown only if standard error is a terminal, and only after [`DELAY`].
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// True if the line may be shown but is not shown yet.
    is_hidden: AtomicBool,
}

impl Progress {
    /// Starts counting. `buffers_output` is true if nothing is written to standard output before the end. Otherwise the
    /// line would mix with the output on the same terminal, so it is shown only if standard output is not a terminal.
    pub fn new(buffers_output: bool) -> Self {
        let shows = io::stderr().is_terminal() && (buffers_output || !io::stdout().is_terminal());
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} objects, {elapsed}") {
            bar.set_style(style);
        }
        Self { bar, start: Instant::now(), is_hidden: AtomicBool::new(shows) }
    }

    /// Counts one object.
    pub fn add(&self) {
        self.add_many(1);
    }

    /// Counts several objects.
    pub fn add_many(&self, count: usize) {
        if self.is_hidden.load(Ordering::Relaxed) && self.start.elapsed() > DELAY {
            self.is_hidden.store(false, Ordering::Relaxed);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(count as u64);
    }

    /// Counts the items of an iterator.
    pub fn count<I: Iterator>(&self, items: I) -> impl Iterator<Item = I::Item> {
        items.inspect(|_| self.add())
    }

    /// Hides the line while `write` writes to standard error.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        if self.bar.is_hidden() { write() } else { self.bar.suspend(write) }
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
