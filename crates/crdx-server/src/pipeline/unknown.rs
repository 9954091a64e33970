//! Collects the paths of fields that decoding drops, as in `unknown field "spec.foo[0].bar"`. Additional properties are
//! written like properties (`apiextensions-apiserver/pkg/apiserver/schema/options.go`).

use crdx_value::number;

/// The usual maximum length of a path.
const CAPACITY: usize = 48;

/// The path of a value, built on the stack while walking. It is formatted only when a field is recorded.
#[derive(Clone, Copy, Debug)]
pub enum Path<'p> {
    /// The root of the object.
    Root,
    /// A member.
    Key(&'p Path<'p>, &'p str),
    /// A list item.
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// Returns the path as text. The recursion is bounded by the depth of the object.
    pub fn text(self) -> String {
        let mut text = String::with_capacity(CAPACITY);
        self.write(&mut text);
        text
    }

    fn write(self, text: &mut String) {
        match self {
            Self::Root => {}
            Self::Key(parent, key) => {
                if !matches!(parent, Self::Root) {
                    parent.write(text);
                    text.push('.');
                }
                text.push_str(key);
            }
            Self::Index(parent, index) => {
                parent.write(text);
                text.push('[');
                number::write_int(text, index as i64);
                text.push(']');
            }
        }
    }
}

/// Collects the paths of dropped fields, if requested.
#[derive(Debug)]
pub struct Unknown {
    wanted: bool,
    found: Vec<String>,
    /// The number of bytes of paths that are still collected.
    left: usize,
}

/// The most text of paths, in bytes: those of many fields of a deep object may be much longer than the object.
const TEXT: usize = 16 << 20;

impl Unknown {
    /// Creates a collector; if not `wanted`, it collects nothing.
    pub fn new(wanted: bool) -> Self {
        Self { wanted, found: Vec::new(), left: TEXT }
    }
    /// Returns true if paths are collected.
    pub fn wanted(&self) -> bool {
        self.wanted
    }
    /// Adds the member `key` of the object at `path`.
    pub fn record(&mut self, path: Path<'_>, key: &str) {
        if self.wanted && self.left > 0 {
            self.record_path(Path::Key(&path, key).text());
        }
    }
    /// Adds a path, unless too many are known already.
    pub(crate) fn record_path(&mut self, path: String) {
        if self.wanted && self.left > 0 {
            self.left = self.left.saturating_sub(path.len() + 1);
            self.found.push(path);
        }
    }
    /// The collected paths, sorted.
    pub fn sorted(mut self) -> Vec<String> {
        self.found.sort_unstable();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_paths_is_limited() {
        let mut unknown = Unknown::new(true);
        let long = "x".repeat(1 << 20);
        (0..100).for_each(|_| unknown.record(Path::Key(&Path::Root, &long), "a"));
        assert_eq!(unknown.sorted().len(), 16);
    }

    #[test]
    fn paths_are_those_of_the_server() {
        let spec = Path::Key(&Path::Root, "spec");
        let item = Path::Index(&spec, 12);
        assert_eq!(Path::Key(&Path::Index(&item, 0), "a").text(), "spec[12][0].a");
        assert_eq!(Path::Index(&Path::Root, 3).text(), "[3]");
        // A member without a name is a part of the path, too.
        assert_eq!(Path::Key(&Path::Key(&Path::Root, ""), "a").text(), ".a");
    }
}
