//! Formats several errors as one text.

use std::collections::HashSet;

/// Formats several errors like Go's `Aggregate`.
pub(super) fn aggregate(messages: impl Iterator<Item = String>) -> String {
    let mut seen = HashSet::new();
    let distinct: Vec<String> = messages.filter(|message| seen.insert(message.clone())).collect();
    if let [one] = distinct.as_slice() { one.clone() } else { format!("[{}]", distinct.join(", ")) }
}
