//! An answer that its client reads slowly or not at all.
//!
//! A large answer is given to the connection in pieces; each one shows that the client has read most of the pieces before
//! it. [`WriteTimeout`] closes connections whose clients read nothing for a long time.

use super::budget::Share;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The number of bytes that are given to the connection at once.
const PIECE: usize = 256 << 10;

/// The body of a large answer, and the bytes that it takes of a budget.
#[derive(Debug)]
pub(super) struct UnreadAnswer {
    rest: Bytes,
    share: Share,
}

impl UnreadAnswer {
    /// A body with these bytes.
    pub fn new(bytes: Bytes, share: Share) -> Self {
        Self { rest: bytes, share }
    }
}

impl Body for UnreadAnswer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        self.share.record_progress();
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

/// A connection that fails if nothing can be written for a time.
#[derive(Debug)]
pub(super) struct WriteTimeout<S> {
    inner: S,
    limit: Duration,
    /// The end of the time, while a write waits for the client.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    /// Wraps a connection.
    pub fn new(inner: S, limit: Duration) -> Self {
        Self { inner, limit, end: None }
    }

    /// Starts the time when a write has to wait, and ends it when the write succeeds.
    fn limited<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let limit = self.limit;
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(limit)));
        if end.as_mut().poll(context).is_ready() {
            Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
        } else {
            Poll::Pending
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(context, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(context, bytes);
        this.limited(context, written)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.inner).poll_flush(context);
        this.limited(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let closed = Pin::new(&mut this.inner).poll_shutdown(context);
        this.limited(context, closed)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write_vectored(context, parts);
        this.limited(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
