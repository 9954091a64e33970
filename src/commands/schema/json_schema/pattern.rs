//! Detects patterns with the same meaning in Go, ECMAScript (also with the `u` flag) and Python.

/// The characters whose escapes have the same meaning in all of them.
const PORTABLE_ESCAPES: &str = r"dDwWntrfv^$\.*+?()[]{}|/";

/// Returns true if a pattern can be written into a JSON Schema; false for an empty pattern.
pub fn is_portable(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                // `\-` is portable in a class only.
                Some('-') if in_class => {}
                Some(escaped) if PORTABLE_ESCAPES.contains(escaped) => {}
                _ => return false,
            },
            '[' if in_class => return false,
            '[' => {
                in_class = true;
                let _ = rest.next_if_eq(&'^');
                // In Go, `]` is a literal here.
                if rest.peek() == Some(&']') {
                    return false;
                }
            }
            ']' if in_class => in_class = false,
            ']' | '}' if !in_class => return false,
            '&' | '~' | '-' if in_class && rest.peek() == Some(&c) => return false,
            '{' if !in_class => {
                let bounds: String = std::iter::from_fn(|| rest.next_if(|c| *c != '}')).collect();
                let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
                let (least, most) = bounds.split_once(',').unwrap_or((&bounds, ""));
                if rest.next() != Some('}') || least.is_empty() || !is_number(least) || !is_number(most) {
                    return false;
                }
            }
            '(' if !in_class && rest.peek() == Some(&'?') => {
                rest.next();
                if rest.next() != Some(':') {
                    return false;
                }
            }
            _ => {}
        }
    }
    !pattern.is_empty() && !in_class
}

#[cfg(test)]
mod tests {
    use super::is_portable;

    #[test]
    fn patterns_of_one_language_only_are_left_out() {
        for pattern in [r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", r"^(\d+|\*)\.(?:x|y){1,3}$", r"^[\w\-.]+/$", "a{2,}"] {
            assert!(is_portable(pattern), "{pattern}");
        }
        for pattern in ["", "(?i)a", r"\pL", "[[:alpha:]]", r"\Aa\z", r"a\-b", "a{,2}", "a}", "[]a]", r"\s", r"\x41"] {
            assert!(!is_portable(pattern), "{pattern}");
        }
    }
}
