//! Host names and Kubernetes names.

use crdx_value::unicode::{is_letter, is_symbol};

/// Returns true for a letter or symbol of any script, or an ASCII digit.
fn is_host_char(c: char) -> bool {
    c.is_ascii_digit() || is_letter(c) || is_symbol(c)
}

/// `strfmt.IsHostname`: a single label, which may end with a dash if that is its second character; or labels and an
/// alphabetic top-level domain.
pub(crate) fn is_hostname(text: &str) -> bool {
    if text.len() > 255 || text.split('.').any(|label| label.len() > 63) {
        return false;
    }
    let Some((labels, top)) = text.rsplit_once('.') else {
        // At most one dash, directly after the first character.
        let mut chars = text.chars();
        let starts = chars.next().is_some_and(is_host_char);
        let rest = chars.as_str();
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        return starts && rest.chars().count() <= 62 && rest.chars().all(is_host_char);
    };
    let top_letters = top.chars().count();
    (2..=63).contains(&top_letters) && top.chars().all(is_letter) && labels.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    label.starts_with(is_host_char)
        && label.ends_with(is_host_char)
        && label.chars().all(|c| c == '-' || is_host_char(c))
        && label.chars().count() <= 63
}

/// `k8s-short-name`: up to 63 lower-case letters, digits and inner dashes.
pub(crate) fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_kubernetes_label(text)
}

/// `k8s-long-name`: labels of any length, separated by dots, up to 253 characters in total.
pub(crate) fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_kubernetes_label)
}

fn is_kubernetes_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b == b'-' || b.is_ascii_lowercase() || b.is_ascii_digit())
}
