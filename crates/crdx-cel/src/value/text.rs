//! Strings, which borrow from the document or the program if possible.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    ops::{Deref, Range},
    sync::Arc,
};

/// A string.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// A part of the document or the program.
    Borrowed(&'a str),
    /// A computed string.
    Shared(Arc<str>),
}

impl Text<'_> {
    /// A substring by byte range; empty if a bound is within a code point.
    pub fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Borrowed(s) => Self::Borrowed(s.get(range).unwrap_or_default()),
            Self::Shared(s) => Self::Shared(s.get(range).unwrap_or_default().into()),
        }
    }

    /// The number of code points, which is the size of a string in CEL.
    pub fn size(&self) -> u64 {
        if self.is_ascii() { self.len() as u64 } else { self.chars().count() as u64 }
    }
}

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(s) => s,
            Self::Shared(s) => s,
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(s: &'a str) -> Self {
        Self::Borrowed(s)
    }
}

impl From<String> for Text<'_> {
    fn from(s: String) -> Self {
        Self::Shared(s.into())
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
