//! Formats values like Go's `%#v`, for error messages that contain keys.

use super::resolve::Scalar;
use super::scalar::{is_merge, scalar};
use super::tree::{Node, NodeKind, Tree};
use crdx_value::GoError;
use crdx_value::{number, quote};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The error for merging a value that is not a mapping.
pub(crate) const NOT_A_MAP: &str = "yaml: map merge requires map or sequence of maps as the value";

/// The maximum depth of formatted values; deeper values are truncated.
const MAX_DEPTH: usize = 100;
/// The maximum length of an error message, which aliases could otherwise make arbitrarily long.
const MAX_LENGTH: usize = 1 << 20;

/// Formats a scalar: `"a"`, `1`, `0x8000000000000000` for a uint64 out of the int64 range, `<nil>`.
pub(crate) fn show_scalar(scalar: &Scalar<'_>) -> String {
    match scalar {
        Scalar::Null => "<nil>".to_owned(),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Uint(u) => format!("{u:#x}"),
        Scalar::Float(x) => number::format_g(*x),
        Scalar::Text(text) => quote::go_quote(text),
    }
}

/// Formats the node `index`.
///
/// # Errors
/// Returns the error that decoding the node would report.
pub fn show(tree: &Tree<'_>, index: usize) -> Result<String, GoError> {
    let mut out = String::new();
    GoSyntaxPrinter { tree, active: Vec::new() }.write(&mut out, index, 0)?;
    Ok(out)
}

/// A key of a formatted map, in the order in which Go sorts keys of different types.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum FormattedKey {
    Null,
    Uint(u64),
    Text(String),
    Int(i64),
    /// The bits of the float, transformed so that they sort like floats.
    Float(i64),
    Bool(bool),
}

type Pairs = BTreeMap<FormattedKey, (String, String)>;

fn key_of(scalar: Scalar<'_>) -> FormattedKey {
    match scalar {
        Scalar::Null => FormattedKey::Null,
        Scalar::Uint(u) => FormattedKey::Uint(u),
        Scalar::Int(i) => FormattedKey::Int(i),
        Scalar::Float(x) => {
            let bits = x.to_bits() as i64;
            FormattedKey::Float(bits ^ (((bits >> 63) as u64) >> 1) as i64)
        }
        Scalar::Bool(b) => FormattedKey::Bool(b),
        Scalar::Text(text) => FormattedKey::Text(text.into_owned()),
    }
}

struct GoSyntaxPrinter<'t, 'a> {
    tree: &'t Tree<'a>,
    /// The aliases being followed.
    active: Vec<usize>,
}

impl<'t, 'a> GoSyntaxPrinter<'t, 'a> {
    fn node(&self, index: usize) -> Result<&'t Node<'a>, GoError> {
        self.tree.nodes.get(index).ok_or_else(GoError::default)
    }

    /// Enters the node that an alias refers to; [`GoSyntaxPrinter::leave`] leaves it.
    fn follow(&mut self, index: usize, name: &str) -> Result<(), GoError> {
        if self.active.contains(&index) {
            return Err(format!("yaml: anchor '{name}' value contains itself").into());
        }
        self.active.push(index);
        Ok(())
    }

    fn leave(&mut self) {
        self.active.pop();
    }

    fn write(&mut self, out: &mut String, index: usize, depth: usize) -> Result<(), GoError> {
        let node = self.node(index)?;
        if depth > MAX_DEPTH || out.len() > MAX_LENGTH {
            out.push_str("...");
            return Ok(());
        }
        match &node.kind {
            NodeKind::Alias { target, name } => {
                self.follow(index, name)?;
                self.write(out, *target, depth)?;
                self.leave();
            }
            NodeKind::Scalar { value, tag, implicit } => {
                let scalar = scalar(value, tag.as_deref(), *implicit).map_err(|e| e.message)?;
                if scalar == Scalar::Null && depth > 0 {
                    out.push_str("interface {}(nil)");
                } else {
                    out.push_str(&show_scalar(&scalar));
                }
            }
            NodeKind::Sequence => {
                out.push_str("[]interface {}{");
                let mut at = index + 1;
                while at < node.next {
                    if at > index + 1 {
                        out.push_str(", ");
                    }
                    self.write(out, at, depth + 1)?;
                    at = self.node(at)?.next;
                }
                out.push('}');
            }
            NodeKind::Mapping => {
                let mut pairs = Pairs::new();
                self.collect(index, depth, &mut pairs)?;
                out.push_str("map[interface {}]interface {}{");
                for (i, (key, value)) in pairs.values().enumerate() {
                    let _ = write!(out, "{}{key}:{value}", if i > 0 { ", " } else { "" });
                }
                out.push('}');
            }
        }
        Ok(())
    }

    /// Collects the pairs of a mapping or of a list of mappings, last first.
    fn merge(&mut self, index: usize, depth: usize, pairs: &mut Pairs) -> Result<(), GoError> {
        let node = self.node(index)?;
        if !matches!(node.kind, NodeKind::Sequence) {
            return self.collect(index, depth, pairs);
        }
        let mut items = Vec::new();
        let mut at = index + 1;
        while at < node.next {
            items.push(at);
            at = self.node(at)?.next;
        }
        items.into_iter().rev().try_for_each(|item| self.collect(item, depth, pairs))
    }

    /// Collects the pairs of a mapping, including merged ones; later pairs replace earlier ones.
    fn collect(&mut self, index: usize, depth: usize, pairs: &mut Pairs) -> Result<(), GoError> {
        let node = self.node(index)?;
        if depth > MAX_DEPTH {
            return Ok(());
        }
        if let NodeKind::Alias { target, name } = node.kind {
            self.follow(index, name)?;
            self.collect(target, depth + 1, pairs)?;
            self.leave();
            return Ok(());
        }
        if !matches!(node.kind, NodeKind::Mapping) {
            return Err(NOT_A_MAP.into());
        }
        let mut at = index + 1;
        while at < node.next {
            let key_index = at;
            let mut key = self.node(key_index)?;
            let value = key.next;
            at = self.node(value)?.next;
            if is_merge(key) {
                self.merge(value, depth + 1, pairs)?;
                continue;
            }
            if let NodeKind::Alias { target, .. } = key.kind {
                key = self.node(target)?;
            }
            let NodeKind::Scalar { value: text, tag, implicit } = &key.kind else {
                let mut shown = String::new();
                self.write(&mut shown, key_index, depth + 1)?;
                return Err(format!("yaml: invalid map key: {shown}").into());
            };
            let scalar = scalar(text, tag.as_deref(), *implicit).map_err(|e| e.message)?;
            let shown = if scalar == Scalar::Null { "interface {}(nil)".to_owned() } else { show_scalar(&scalar) };
            let mut text = String::new();
            self.write(&mut text, value, depth + 1)?;
            pairs.insert(key_of(scalar), (shown, text));
        }
        Ok(())
    }
}
