//! Go's `fmt.Sprintf` for a format without arguments.

/// The largest width and precision that Go reads.
const MAX_NUMBER: u32 = 1_000_000;

/// Formats a text with verbs that have no arguments: `%d` gives `%!d(MISSING)`, and `%%` gives `%`.
pub(super) fn without_arguments(format: &str) -> String {
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    while let Some((before, verb)) = rest.split_once('%') {
        out.push_str(before);
        rest = self::verb(verb, &mut out);
    }
    out + rest
}

/// Formats the verb after a `%`. Returns the text after it.
fn verb<'f>(text: &'f str, out: &mut String) -> &'f str {
    let mut rest = text.trim_start_matches(['#', '0', '+', '-', ' ']);
    let mut is_good = true;
    let mut after_index = argument_index(&mut rest, &mut is_good);
    if let Some(after) = rest.strip_prefix('*') {
        rest = after;
        out.push_str("%!(BADWIDTH)");
        after_index = false;
    } else if number(&mut rest) && after_index {
        is_good = false;
    }
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        is_good &= !after_index;
        after_index = argument_index(&mut rest, &mut is_good);
        if let Some(after) = rest.strip_prefix('*') {
            rest = after;
            out.push_str("%!(BADPREC)");
            after_index = false;
        } else {
            number(&mut rest);
        }
    }
    if !after_index {
        argument_index(&mut rest, &mut is_good);
    }
    let mut chars = rest.chars();
    match chars.next() {
        None => out.push_str("%!(NOVERB)"),
        Some('%') => out.push('%'),
        Some(verb) => {
            out.push_str("%!");
            out.push(verb);
            out.push_str(if is_good { "(MISSING)" } else { "(BADINDEX)" });
        }
    }
    chars.as_str()
}

/// Skips an index such as `[1]`, which is never good without arguments. Returns true if it is a number in brackets.
fn argument_index(rest: &mut &str, is_good: &mut bool) -> bool {
    let Some(inner) = rest.strip_prefix('[') else { return false };
    *is_good = false;
    // Go looks for the closing bracket only in a text of at least three bytes.
    let Some((mut index, after)) = inner.split_once(']').filter(|_| rest.len() > 2) else {
        *rest = inner;
        return false;
    };
    *rest = after;
    number(&mut index) && index.is_empty()
}

/// Skips a number. Returns true if there is one; one that is too large ends the format.
fn number(rest: &mut &str) -> bool {
    let (mut value, mut is_number) = (0, false);
    while let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(10)) {
        if value > MAX_NUMBER {
            *rest = "";
            return false;
        }
        (value, is_number) = (value * 10 + digit, true);
        *rest = rest.get(1..).unwrap_or_default();
    }
    is_number
}

#[cfg(test)]
mod tests {
    use super::without_arguments;

    #[test]
    fn verbs_without_arguments_are_marked() {
        for (format, want) in [
            ("a 'b' c", "a 'b' c"),
            ("'%41?a'", "'%!?(MISSING)a'"),
            ("'%' expecting", "'%!'(MISSING) expecting"),
            ("100%", "100%!(NOVERB)"),
            ("%%%d", "%%!d(MISSING)"),
            ("%5%", "%"),
            ("%[1]d %[x]é %[", "%!d(BADINDEX) %!é(BADINDEX) %!(NOVERB)"),
            ("%[]", "%!](BADINDEX)"),
            ("%*d %.*d %-8.3f", "%!(BADWIDTH)%!d(MISSING) %!(BADPREC)%!d(MISSING) %!f(MISSING)"),
            ("%99999999d x", "%!(NOVERB)"),
        ] {
            assert_eq!(without_arguments(format), want, "{format}");
        }
    }
}
