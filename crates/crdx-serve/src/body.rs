//! Reads request bodies.

use super::budget::{Budget, Share, until};
use crdx_server::server;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use std::sync::Arc;
use tokio::sync::Notify;

/// The length of bodies that need no share of the budget: those of most requests.
const FREE: usize = 16 << 10;
/// The number of bytes that a client must send to make progress.
const BLOCK: usize = 128 << 10;
/// The number of bytes of an oversized body that are read and dropped.
const DROPPED: usize = 16 << 20;

/// The bytes of a body, and their share of the budget while they are in memory.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub bytes: Vec<u8>,
    pub share: Option<Share>,
}

/// The reason why a body is not complete.
#[derive(Debug, thiserror::Error)]
pub(super) enum IncompleteError {
    /// The connection failed.
    #[error(transparent)]
    Lost(#[from] hyper::Error),
    /// The client sent nothing while other clients waited.
    #[error("the client is too slow")]
    Slow,
}

/// Reads a body, or the first part of it that shows that it is too long.
///
/// A body that is not short takes its share of the budget at once, so that no client waits while others wait for it. The
/// announced length alone occupies nothing.
///
/// # Errors
/// Returns an error if the connection fails, or if the client must make room for others.
pub(super) async fn read(budget: &Arc<Budget>, mut body: Incoming) -> Result<Received, IncompleteError> {
    const MOST: usize = server::BODY_LIMIT + 1;
    let expected = body.size_hint().exact().map_or(MOST, |length| length.min(MOST as u64) as usize);
    let disconnect = Arc::new(Notify::new());
    let mut received = Received::default();
    let mut next_block = BLOCK;
    let mut dropped = 0;
    loop {
        let frame = until(disconnect.notified(), body.frame()).await.ok_or(IncompleteError::Slow)?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame?.into_data() else { continue };
        let Received { bytes, share } = &mut received;
        let length = data.len().min(MOST.saturating_sub(bytes.len()));
        if bytes.len() + length > FREE && share.is_none() {
            let own = budget.share(Arc::clone(&disconnect));
            own.grow(expected).await;
            *share = Some(own);
        }
        if bytes.len() + length > bytes.capacity() {
            bytes.reserve_exact(length.max(BLOCK));
        }
        bytes.extend_from_slice(data.get(..length).unwrap_or_default());
        // A client that sends a few bytes at a time does not occupy its share for long.
        if bytes.len() >= next_block {
            next_block += BLOCK;
            share.iter().for_each(Share::record_progress);
        }
        // If the connection is closed while the client sends, the client cannot read the response: read and drop the
        // rest.
        dropped += data.len() - length;
        if dropped > DROPPED {
            break;
        }
    }
    if let Some(share) = &received.share {
        share.keep(received.bytes.len());
    }
    Ok(received)
}
