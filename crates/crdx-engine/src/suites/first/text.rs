//! Writes the text of a suite.

use super::Case;
use crate::examples::Checker;
use crate::suites::yaml_text::{block, quoted};
use crdx_value::Value;
use std::fmt::Write as _;

/// Returns the text of a suite file with these cases; `uncovered` constraints are listed in a comment.
pub fn suite(checker: &Checker, crd_name: &str, crd_file: &str, cases: &[Case], uncovered: &[String]) -> String {
    let mut out = format!("# A first suite for {crd_name}, written by `kubectl crdx test --init`.\n");
    let fields =
        [("name", checker.kind.as_str()), ("crdName", crd_name), ("crd", crd_file), ("version", &checker.version)];
    for (key, value) in fields {
        let _ = writeln!(out, "{key}: {}", quoted(value));
    }
    out.push_str("tests:\n");
    for (list, is_update) in [("onCreate", false), ("onUpdate", true)] {
        let mut names: Vec<String> = Vec::new();
        for case in cases.iter().filter(|case| case.updated.is_some() == is_update) {
            if names.is_empty() {
                let _ = writeln!(out, "  {list}:");
            }
            let same = names.iter().filter(|name| **name == case.name).count();
            let number = if same == 0 { String::new() } else { format!(" ({})", same + 1) };
            names.push(case.name.clone());
            write_case(case, &number, &mut out);
        }
    }
    if !uncovered.is_empty() {
        out.push_str("# No near miss was found for these constraints:\n");
    }
    for what in uncovered {
        let _ = writeln!(out, "# - {what}");
    }
    out
}

fn write_case(case: &Case, number: &str, out: &mut String) {
    let _ = writeln!(out, "  - name: {}", quoted(&format!("{}{number}", case.name)));
    write_object("initial", &case.initial, out);
    if let Some(updated) = &case.updated {
        write_object("updated", updated, out);
    }
    match &case.expected {
        Ok(object) => write_object("expected", object, out),
        Err(error) => {
            let _ = writeln!(out, "    expectedError: {}", quoted(error.as_str()));
        }
    }
}

fn write_object(key: &str, object: &Value, out: &mut String) {
    let _ = write!(out, "    {key}: |\n{}", block(object, 6));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml::read;

    #[test]
    fn quoted_texts_read_as_themselves() {
        for text in ["a", "yes", "1", "it's: #1", "", "a\nb", "\u{e9} \"x\"", "null", "- a", "v1"] {
            assert_eq!(read(quoted(text).as_bytes()).unwrap(), Value::from(text), "{}", quoted(text));
        }
        assert_eq!((quoted("v1"), quoted("a b")), ("v1".to_owned(), "'a b'".to_owned()));
    }
}
