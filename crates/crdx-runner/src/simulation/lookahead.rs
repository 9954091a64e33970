//! Reads the input ahead, to know how many existing objects of a kind in a namespace are needed: many of them are read with one
//! request.

mod lists;

use super::live::Live;
use crdx_engine::simulation::existing::PendingObject;
use crdx_text::documents::Chunk;
use std::collections::VecDeque;
use std::sync::Arc;

/// The limit for the documents in memory, and for the bytes of their text.
const MAX_DOCUMENTS: usize = 2000;
const MAX_BYTES: usize = 4 << 20;
/// The number of objects that are requested before the thread that needs them takes their document.
const AHEAD: usize = 16;

/// A document that may need existing objects.
pub trait NeedsExisting {
    fn pending(&self) -> impl Iterator<Item = &PendingObject>;
    /// Returns the text of the document, if it is kept.
    fn chunk(&self) -> Option<&Arc<Chunk>>;
}

/// The documents in order; their existing objects are requested.
pub struct Lookahead<'a, I: Iterator> {
    documents: I,
    /// `None` if no objects are read from a cluster.
    live: Option<&'a Live>,
    next: VecDeque<I::Item>,
}

impl<'a, I> Lookahead<'a, I>
where
    I: Iterator,
    I::Item: NeedsExisting,
{
    /// Documents whose existing objects are read from `live`. Without a cluster nothing is read ahead.
    pub fn new(documents: I, live: Option<&'a Live>) -> Self {
        Self { documents, live, next: VecDeque::new() }
    }

    /// Reads documents until there are enough.
    fn read_ahead(&mut self) {
        let mut bytes = 0;
        let mut last: Option<Arc<Chunk>> = None;
        while self.next.len() < MAX_DOCUMENTS && bytes < MAX_BYTES {
            let Some(document) = self.documents.next() else { break };
            // The items of a list share its text.
            if let Some(chunk) = document.chunk()
                && !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, chunk))
            {
                bytes += chunk.text.len();
                last = Some(Arc::clone(chunk));
            }
            self.next.push_back(document);
        }
    }
}

impl<I> Iterator for Lookahead<'_, I>
where
    I: Iterator,
    I::Item: NeedsExisting,
{
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let Some(live) = self.live else { return self.documents.next() };
        let send = |document: &I::Item| document.pending().for_each(PendingObject::send);
        if self.next.is_empty() {
            self.read_ahead();
            lists::read(live, self.next.iter().flat_map(NeedsExisting::pending));
            self.next.iter().take(AHEAD).for_each(send);
        }
        let document = self.next.pop_front()?;
        self.next.get(AHEAD - 1).into_iter().for_each(send);
        Some(document)
    }
}
