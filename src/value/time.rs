//! Points in time and their RFC 3339 text, as Go's `time` package reads and writes them.

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds of the second.
    pub nanos: u32,
}
