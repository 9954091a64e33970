//! Paths of fields that decoding drops, as `unknown field "spec.foo[0].bar"` shows them: additional properties look like
//! properties (`apiextensions-apiserver/pkg/apiserver/schema/options.go`).

use std::fmt::Write as _;

/// Collects dropped fields, if anyone asks for them.
#[derive(Debug)]
pub struct Unknown {
    wanted: bool,
    here: String,
    found: Vec<String>,
}

impl Unknown {
    /// A collector; when not `wanted` it keeps no paths.
    pub fn new(wanted: bool) -> Self {
        Self { wanted, here: String::new(), found: Vec::new() }
    }
    /// Whether fields are collected.
    pub fn wanted(&self) -> bool {
        self.wanted
    }
    /// Goes into a member; the answer is for [`Self::leave`].
    pub fn enter_key(&mut self, key: &str) -> usize {
        let before = self.here.len();
        if self.wanted {
            if before > 0 {
                self.here.push('.');
            }
            self.here.push_str(key);
        }
        before
    }
    /// Goes into an item; the answer is for [`Self::leave`].
    pub fn enter_index(&mut self, index: usize) -> usize {
        let before = self.here.len();
        if self.wanted {
            let _ = write!(self.here, "[{index}]");
        }
        before
    }
    /// Comes back out.
    pub fn leave(&mut self, before: usize) {
        self.here.truncate(before);
    }
    /// Whether this is the root of the object.
    pub fn at_root(&self) -> bool {
        self.here.is_empty()
    }
    /// The path of this place.
    pub fn here(&self) -> &str {
        &self.here
    }
    /// Notes the member `key` of this place.
    pub fn record(&mut self, key: &str) {
        if self.wanted {
            let before = self.enter_key(key);
            self.found.push(self.here.clone());
            self.leave(before);
        }
    }
    /// Notes a path.
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
