//! Splits the value of a flag that takes a list, as pflag's `StringSlice` does: the first record of Go's `encoding/csv`.

use std::borrow::Cow;

/// The reason why a value is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsvError {
    /// There are only empty lines.
    #[error("EOF")]
    End,
    /// A field that does not begin with a quote contains one.
    #[error("parse error on line {line}, column {column}: bare \" in non-quoted field")]
    BareQuote {
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
    },
    /// A quoted field does not end, or text follows its closing quote.
    #[error("{}parse error on line {line}, column {column}: extraneous or missing \" in quoted-field", start(*.first, *.line))]
    Quote {
        /// The first line of the record, from 1.
        first: usize,
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
    },
}

fn start(first: usize, line: usize) -> String {
    if first == line { String::new() } else { format!("record on line {first}; ") }
}

/// Returns the fields of the first record of `text`; none if it is empty.
///
/// # Errors
/// Returns an error with Go's message if a quote is misplaced.
pub fn fields(text: &str) -> Result<Vec<String>, CsvError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut lines = text.split_inclusive('\n').map(ending_in_line_feed).enumerate().map(|(i, line)| (i + 1, line));
    let (first, line) = lines.find(|(_, line)| !matches!(&**line, "" | "\n")).ok_or(CsvError::End)?;
    let mut position = Position { line: first, column: 1 };
    let (mut fields, mut line) = (Vec::new(), line);
    loop {
        let rest = line.into_owned();
        let Some(quoted) = rest.strip_prefix('"') else {
            let (field, more) = match rest.split_once(',') {
                Some((field, more)) => (field, Some(more)),
                None => (rest.strip_suffix('\n').unwrap_or(&rest), None),
            };
            if let Some(offset) = field.find('"') {
                return Err(CsvError::BareQuote { line: position.line, column: position.column + offset });
            }
            fields.push(field.to_owned());
            let Some(more) = more else { return Ok(fields) };
            position.column += field.len() + 1;
            line = Cow::Owned(more.to_owned());
            continue;
        };
        position.column += 1;
        let (field, more) = quoted_field(quoted, &mut lines, &mut position, first)?;
        fields.push(field);
        let Some(more) = more else { return Ok(fields) };
        line = Cow::Owned(more);
    }
}

/// A position in the value.
struct Position {
    line: usize,
    column: usize,
}

/// Reads a field after its opening quote. Returns the field, and the text after the comma that follows it.
fn quoted_field<'a>(
    text: &str,
    lines: &mut impl Iterator<Item = (usize, Cow<'a, str>)>,
    position: &mut Position,
    first: usize,
) -> Result<(String, Option<String>), CsvError> {
    let (mut field, mut text) = (String::new(), text.to_owned());
    loop {
        let Some((before, after)) = text.split_once('"') else {
            // The field continues on the next line.
            field.push_str(&text);
            position.column += text.len();
            let Some((number, line)) = lines.next().filter(|(_, line)| !line.is_empty()) else {
                return Err(CsvError::Quote { first, line: position.line, column: position.column });
            };
            *position = Position { line: number, column: 1 };
            text = line.into_owned();
            continue;
        };
        field.push_str(before);
        position.column += before.len() + 1;
        if let Some(after) = after.strip_prefix('"') {
            field.push('"');
            position.column += 1;
            text = after.to_owned();
        } else if let Some(after) = after.strip_prefix(',') {
            position.column += 1;
            return Ok((field, Some(after.to_owned())));
        } else if matches!(after, "" | "\n") {
            return Ok((field, None));
        } else {
            return Err(CsvError::Quote { first, line: position.line, column: position.column - 1 });
        }
    }
}

/// Returns a line with a line feed as its only line break.
fn ending_in_line_feed(line: &str) -> Cow<'_, str> {
    match line.strip_suffix("\r\n") {
        Some(line) => Cow::Owned(format!("{line}\n")),
        // A carriage return at the end of the value is dropped.
        None => Cow::Borrowed(if line.ends_with('\n') { line } else { line.strip_suffix('\r').unwrap_or(line) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_go() {
        for (text, expected) in [
            ("", &[] as &[&str]),
            ("a", &["a"]),
            ("a,b", &["a", "b"]),
            (",", &["", ""]),
            ("a,", &["a", ""]),
            (" a , b", &[" a ", " b"]),
            ("\"a,b\"", &["a,b"]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("\"a\"\"b\"", &["a\"b"]),
            ("\"a\nb\",c", &["a\nb", "c"]),
            ("a\nb", &["a"]),
            ("\n\r\na,b\r\nc", &["a", "b"]),
            ("\"a\r\nb\"\r", &["a\nb"]),
            ("ü,\"é,\"", &["ü", "é,"]),
        ] {
            assert_eq!(fields(text).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn errors_are_those_of_go() {
        for (text, expected) in [
            ("\n", "EOF"),
            ("a\"b", "parse error on line 1, column 2: bare \" in non-quoted field"),
            ("ü,a\"b", "parse error on line 1, column 5: bare \" in non-quoted field"),
            ("\"a", "parse error on line 1, column 3: extraneous or missing \" in quoted-field"),
            ("\"a\"b", "parse error on line 1, column 3: extraneous or missing \" in quoted-field"),
            ("a,\"b\" ,c", "parse error on line 1, column 5: extraneous or missing \" in quoted-field"),
            ("\"a\nb", "record on line 1; parse error on line 2, column 2: extraneous or missing \" in quoted-field"),
        ] {
            assert_eq!(fields(text).unwrap_err().to_string(), expected, "{text:?}");
        }
    }
}
