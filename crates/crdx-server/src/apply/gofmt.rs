//! Formats texts and values like Go's `fmt` in the messages of structured-merge-diff.

use crdx_value::{Value, print, quote::go_quote};

/// `%v` of a `value.Value`, which is a pointer to a struct.
pub(super) fn wrapped_v(v: &Value) -> String {
    format!("&{{{}}}", print::format_v(v))
}

/// `%#v` of a `value.Value`.
pub(super) fn wrapped_sharp_v(v: &Value) -> String {
    format!("&value.valueUnstructured{{Value:{}}}", sharp_v(v))
}

fn sharp_v(v: &Value) -> String {
    match v {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(s) => go_quote(s),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(sharp_v).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(k, v)| format!("{}:{}", go_quote(k), sharp_v(v))).collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        other => print::format_v(other),
    }
}

/// `fmt.Sprintf(format)` without arguments: a verb becomes an error text (`doPrintf` of `fmt/print.go`).
pub(super) fn printf(format: &str) -> String {
    let mut format = FormatString { rest: format, bad_index: false };
    let mut out = String::with_capacity(format.rest.len());
    while let Some((text, verb)) = format.rest.split_once('%') {
        out.push_str(text);
        format = FormatString { rest: verb.trim_start_matches(['#', '0', '+', '-', ' ']), bad_index: false };
        format.verb(&mut out);
    }
    out.push_str(format.rest);
    out
}

/// The unread rest of a format.
struct FormatString<'a> {
    rest: &'a str,
    /// The verb had an argument index.
    bad_index: bool,
}

impl FormatString<'_> {
    /// Prints a verb, from the end of its flags.
    fn verb(&mut self, out: &mut String) {
        let mut after_index = self.index();
        if self.takes('*') {
            out.push_str("%!(BADWIDTH)");
            after_index = false;
        } else {
            self.bad_index |= self.number() && after_index;
        }
        if self.rest.len() > 1 && self.takes('.') {
            self.bad_index |= after_index;
            after_index = self.index();
            if self.takes('*') {
                out.push_str("%!(BADPREC)");
                after_index = false;
            } else {
                self.number();
            }
        }
        if !after_index {
            self.index();
        }
        let mut rest = self.rest.chars();
        match rest.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => {
                out.push_str("%!");
                out.push(verb);
                out.push_str(if self.bad_index { "(BADINDEX)" } else { "(MISSING)" });
            }
        }
        self.rest = rest.as_str();
    }

    fn takes(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Skips a number (`parsenum`); one that is too large ends the format.
    fn number(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = self.rest.strip_suffix(rest).unwrap_or_default();
        let is_number = is_number(digits);
        self.rest = if is_number || digits.is_empty() { rest } else { "" };
        is_number
    }

    /// Skips an argument index in brackets (`argNumber`). Returns true if it was a number.
    fn index(&mut self) -> bool {
        let Some(inside) = self.rest.strip_prefix('[') else { return false };
        self.bad_index = true;
        match inside.split_once(']') {
            Some((number, rest)) if self.rest.len() >= 3 => {
                self.rest = rest;
                is_number(number)
            }
            _ => {
                self.rest = inside;
                false
            }
        }
    }
}

/// Returns true if `parsenum` accepts the digits: the number before the last digit must not exceed a million.
fn is_number(digits: &str) -> bool {
    let before_last = digits.char_indices().next_back().and_then(|(last, _)| digits.get(..last)).unwrap_or_default();
    let small = before_last.is_empty() || before_last.parse::<u64>().is_ok_and(|number| number <= 1_000_000);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && small
}

#[cfg(test)]
mod tests {
    use super::printf;

    #[test]
    fn a_format_without_arguments_is_printed_as_by_go() {
        // Output of Go 1.26.
        let cases = [
            ("a", "a"),
            ("50%", "50%!(NOVERB)"),
            ("50%%", "50%"),
            ("%s", "%!s(MISSING)"),
            ("%d x", "%!d(MISSING) x"),
            ("% d", "%!d(MISSING)"),
            ("%+-# 0v", "%!v(MISSING)"),
            ("%5d", "%!d(MISSING)"),
            ("%1000001d", "%!d(MISSING)"),
            ("%10000000d", "%!d(MISSING)"),
            ("%10000001d", "%!d(MISSING)"),
            ("%100000000d rest", "%!(NOVERB)"),
            ("%é", "%!é(MISSING)"),
            ("%!", "%!!(MISSING)"),
            ("%.", "%!.(MISSING)"),
            ("%.5", "%!(NOVERB)"),
            ("%.5f", "%!f(MISSING)"),
            ("%.f", "%!f(MISSING)"),
            ("%5.2f", "%!f(MISSING)"),
            ("%*d", "%!(BADWIDTH)%!d(MISSING)"),
            ("%.*d", "%!(BADPREC)%!d(MISSING)"),
            ("%*.*d", "%!(BADWIDTH)%!(BADPREC)%!d(MISSING)"),
            ("%[", "%!(NOVERB)"),
            ("%[]", "%!](BADINDEX)"),
            ("%[1]", "%!(NOVERB)"),
            ("%[1]d", "%!d(BADINDEX)"),
            ("%[1]5d", "%!d(BADINDEX)"),
            ("%[1].5d", "%!d(BADINDEX)"),
            ("%[é]d", "%!d(BADINDEX)"),
            ("%[x]d", "%!d(BADINDEX)"),
            ("%[1][2]d", "%![(BADINDEX)2]d"),
            ("%5[1]d", "%!d(BADINDEX)"),
            ("%5[1", "%!1(BADINDEX)"),
            ("%.[1]*d", "%!(BADPREC)%!d(BADINDEX)"),
            ("%[1]*[2]d", "%!(BADWIDTH)%!d(BADINDEX)"),
            ("%w", "%!w(MISSING)"),
            ("100% sure", "100%!s(MISSING)ure"),
            ("%\n", "%!\n(MISSING)"),
            ("%[1]%", "%"),
            ("%[9999999999]d", "%!d(BADINDEX)"),
            ("% ", "%!(NOVERB)"),
            ("%.[1]d", "%!d(BADINDEX)"),
            ("%.[1", "%!(NOVERB)"),
            ("%[1] d", "%! (BADINDEX)d"),
            ("%[]d", "%!d(BADINDEX)"),
            ("%[]5d", "%!d(BADINDEX)"),
            ("% %", "%"),
            ("%5.%", "%"),
        ];
        for (format, printed) in cases {
            assert_eq!(printf(format), printed, "{format}");
        }
    }
}
