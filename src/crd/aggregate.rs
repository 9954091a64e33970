//! Formats several errors as one text.

/// Formats several errors like Go's `Aggregate`.
pub(super) fn aggregate(messages: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for message in messages {
        if !distinct.contains(&message) {
            distinct.push(message);
        }
    }
    if let [one] = distinct.as_slice() { one.clone() } else { format!("[{}]", distinct.join(", ")) }
}
