//! A progress line on standard error for operations that take more than a second.

use super::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Shorter operations show no progress line.
const DELAY: Duration = Duration::from_secs(1);

/// Counts objects. The line is shown only if standard error is a terminal, and only after [`DELAY`].
#[derive(Debug)]
pub struct Progress {
    /// `None` if the line is never shown.
    bar: Option<ProgressBar>,
    start: Instant,
    /// True until the line is shown.
    is_hidden: AtomicBool,
}

impl Progress {
    /// Starts counting. `buffers_output` is true if nothing is written to standard output before the end. Otherwise the
    /// line would mix with the output on the same terminal, so it is shown only if standard output is not a terminal.
    pub fn new(buffers_output: bool) -> Self {
        let is_dumb = terminal::is_dumb(std::env::var_os("TERM"));
        let shows = !is_dumb && io::stderr().is_terminal() && (buffers_output || !io::stdout().is_terminal());
        let bar = shows.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()));
        if let Some(bar) = &bar
            && let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} objects, {elapsed}")
        {
            bar.set_style(style);
        }
        Self { bar, start: Instant::now(), is_hidden: AtomicBool::new(true) }
    }

    /// Counts one object.
    pub fn add(&self) {
        self.add_many(1);
    }

    /// Counts several objects.
    pub fn add_many(&self, count: usize) {
        let Some(bar) = &self.bar else { return };
        if self.is_hidden.load(Ordering::Relaxed) && self.start.elapsed() > DELAY {
            self.is_hidden.store(false, Ordering::Relaxed);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.inc(count as u64);
    }

    /// Counts the items of an iterator.
    pub fn count<I: Iterator>(&self, items: I) -> impl Iterator<Item = I::Item> {
        items.inspect(|_| self.add())
    }

    /// Hides the line while `write` writes to standard error.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) if !bar.is_hidden() => bar.suspend(write),
            _ => write(),
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
