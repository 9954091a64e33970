//! Collects the paths of fields that decoding drops, as in `unknown field "spec.foo[0].bar"`. Additional properties are
//! written like properties (`apiextensions-apiserver/pkg/apiserver/schema/options.go`).

use crate::value::number;

/// Collects the paths of dropped fields, if requested.
#[derive(Debug)]
pub struct Unknown {
    wanted: bool,
    path: String,
    found: Vec<String>,
}

impl Unknown {
    /// Creates a collector; if not `wanted`, it collects nothing.
    pub fn new(wanted: bool) -> Self {
        Self { wanted, path: String::new(), found: Vec::new() }
    }
    /// Returns true if paths are collected.
    pub fn wanted(&self) -> bool {
        self.wanted
    }
    /// Descends into a member. Pass the result to [`Self::leave`].
    pub fn enter_key(&mut self, key: &str) -> usize {
        let before = self.path.len();
        if self.wanted {
            if before > 0 {
                self.path.push('.');
            }
            self.path.push_str(key);
        }
        before
    }
    /// Descends into a list item. Pass the result to [`Self::leave`].
    pub fn enter_index(&mut self, index: usize) -> usize {
        let before = self.path.len();
        if self.wanted {
            self.path.push('[');
            number::write_int(&mut self.path, index as i64);
            self.path.push(']');
        }
        before
    }
    /// Returns to the parent.
    pub fn leave(&mut self, before: usize) {
        self.path.truncate(before);
    }
    /// Returns true at the root of the object.
    pub fn at_root(&self) -> bool {
        self.path.is_empty()
    }
    /// The current path.
    pub fn path(&self) -> &str {
        &self.path
    }
    /// Adds the member `key` of the current object.
    pub fn record(&mut self, key: &str) {
        if self.wanted {
            let before = self.enter_key(key);
            self.found.push(self.path.clone());
            self.leave(before);
        }
    }
    /// Adds a path.
    pub fn record_path(&mut self, path: String) {
        if self.wanted {
            self.found.push(path);
        }
    }
    /// The collected paths, sorted.
    pub fn sorted(mut self) -> Vec<String> {
        self.found.sort_unstable();
        self.found
    }
}
