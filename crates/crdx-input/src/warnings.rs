//! Collects warnings about the text of inputs whose objects have no report of their own, such as CRDs.

use crdx_engine::documents::Note;
use crdx_value::lock::lock;
use std::sync::{Arc, Mutex};

/// The number of warnings that are kept; the others are counted.
const KEPT: usize = 20;

/// Collected warnings. Clones share them, so a command has one list for all inputs.
#[derive(Clone, Debug, Default)]
pub struct InputWarnings(Arc<Mutex<Collected>>);

#[derive(Debug, Default)]
struct Collected {
    messages: Vec<String>,
    more: usize,
}

impl InputWarnings {
    /// Adds a warning. A file may be read several times.
    pub(super) fn add(&self, note: &Note) {
        let mut collected = lock(&self.0);
        let message = Note { hint: None, ..note.clone() }.text();
        if collected.messages.contains(&message) {
            return;
        }
        if collected.messages.len() < KEPT {
            collected.messages.push(message);
        } else {
            collected.more += 1;
        }
    }

    /// Takes the warnings, each with its position.
    pub fn take(&self) -> Vec<String> {
        let Collected { mut messages, more } = std::mem::take(&mut *lock(&self.0));
        if more > 0 {
            messages.push(format!("{more} more warnings about the text of inputs"));
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_engine::documents::Stop;
    use crdx_text::Position;

    #[test]
    fn the_first_warnings_are_kept() {
        let warnings = InputWarnings::default();
        for line in [1, 1, 2].into_iter().chain(3..30) {
            let position = Some(Position { line, column: 1 });
            let message = "a".to_owned();
            warnings.add(&Note {
                source: "x".into(),
                position,
                message,
                hint: None,
                chunk: None,
                stop: Stop::Never,
                is_joined: false,
                refusal: None,
            });
        }
        let taken = warnings.take();
        assert_eq!((taken.len(), taken[1].as_str()), (21, "x:2:1: a"));
        assert_eq!(taken[20], "9 more warnings about the text of inputs");
        assert!(warnings.take().is_empty());
    }
}
