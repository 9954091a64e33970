//! The path of a value in the declared types: `self`, field names, `@items`, …
//!
//! cel-go stores paths in Go slices and appends to slices that share a backing array, so a path can change after it was
//! created: after evaluating `x.tags` and `x.name` in this order, the path of `x.tags` may end in `name`. Whether this
//! happens depends on the capacity of the slices, and it affects the estimate. [`Paths`] models it.

use crate::ast::ExprId;

/// A path: a prefix of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AstPath {
    buffer: usize,
    length: usize,
}

impl AstPath {
    /// The path of a value without a path.
    pub const NONE: Self = Self { buffer: usize::MAX, length: 0 };
}

/// The paths of the expressions of an AST, by their identifiers.
#[derive(Debug)]
pub(super) struct ExprPaths(Vec<AstPath>);

impl ExprPaths {
    /// The paths of `count` expressions, which have none yet.
    pub fn new(count: usize) -> Self {
        Self(vec![AstPath::NONE; count])
    }

    pub fn get(&self, id: ExprId) -> AstPath {
        self.0.get(id as usize).copied().unwrap_or(AstPath::NONE)
    }

    pub fn set(&mut self, id: ExprId, path: AstPath) {
        if let Some(slot) = self.0.get_mut(id as usize) {
            *slot = path;
        }
    }
}

/// The buffers of all paths.
#[derive(Debug, Default)]
pub(super) struct Paths<'a> {
    buffers: Vec<Buffer<'a>>,
}

#[derive(Debug)]
struct Buffer<'a> {
    parts: Vec<&'a str>,
    /// The capacity of the Go slice.
    capacity: usize,
}

impl<'a> Paths<'a> {
    pub(crate) fn of_variable(&mut self, name: &'a str) -> AstPath {
        self.buffers.push(Buffer { parts: vec![name], capacity: 1 });
        AstPath { buffer: self.buffers.len() - 1, length: 1 }
    }

    /// Appends a part. If the capacity allows, this reuses the buffer and overwrites the part that another path
    /// appended.
    pub fn append(&mut self, path: AstPath, part: &'a str) -> AstPath {
        let length = path.length + 1;
        let mut parts = Vec::new();
        let mut capacity = 0;
        if let Some(buffer) = self.buffers.get_mut(path.buffer) {
            if length <= buffer.capacity {
                match buffer.parts.get_mut(path.length) {
                    Some(slot) => *slot = part,
                    None => buffer.parts.push(part),
                }
                return AstPath { length, ..path };
            }
            parts = buffer.parts.get(..path.length).unwrap_or_default().to_vec();
            capacity = buffer.capacity;
        }
        parts.push(part);
        // Go doubles the capacity of small slices; from 256 on, it grows them more slowly.
        let capacity = if capacity < 256 { capacity * 2 } else { capacity + (capacity + 768) / 4 };
        self.buffers.push(Buffer { parts, capacity: capacity.max(length) });
        AstPath { buffer: self.buffers.len() - 1, length }
    }

    /// Copies a path to a new buffer and appends a part.
    pub(crate) fn copy_and_append(&mut self, path: AstPath, part: &'a str) -> AstPath {
        let mut parts = self.parts(path).to_vec();
        parts.push(part);
        let length = parts.len();
        self.buffers.push(Buffer { parts, capacity: length });
        AstPath { buffer: self.buffers.len() - 1, length }
    }

    /// The current parts of a path.
    pub fn parts(&self, path: AstPath) -> &[&'a str] {
        self.buffers.get(path.buffer).and_then(|buffer| buffer.parts.get(..path.length)).unwrap_or_default()
    }

    /// The variable at the start of a path.
    pub fn first(&self, path: AstPath) -> Option<&'a str> {
        self.parts(path).first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Paths;

    #[test]
    fn appending_a_fourth_part_overwrites_the_siblings_part() {
        let mut paths = Paths::default();
        let variable = paths.of_variable("self");
        let list = paths.append(variable, "list");
        let item = paths.append(list, "@items");
        let tags = paths.append(item, "tags");
        assert_eq!(paths.parts(tags), ["self", "list", "@items", "tags"]);
        let name = paths.append(item, "name");
        assert_eq!(paths.parts(tags), paths.parts(name));
        let other = paths.append(list, "@items");
        assert_ne!(other, item);
        assert_eq!(paths.parts(item), ["self", "list", "@items"]);
    }
}
