//! Errors are types: no function, field or closure in the sources has the type `Result<_, String>`.

use super::architecture::modules;
use std::path::Path;

/// Returns true if a type in `text` is `Result<…, String>`, on one line or several.
fn has_string_errors(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join(" ");
    code.match_indices("Result<").any(|(at, name)| {
        let arguments = type_arguments(&code[at + name.len()..]);
        arguments.len() == 2 && arguments[1].trim() == "String"
    })
}

/// The type arguments at the beginning of `code`, which follows `<`.
fn type_arguments(code: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut arguments = Vec::new();
    let mut previous = ' ';
    for (at, c) in code.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            // The arrow of a function type closes nothing.
            '>' if previous == '-' => {}
            ',' | '>' if depth == 0 => {
                arguments.push(&code[start..at]);
                start = at + 1;
                if c == '>' {
                    break;
                }
            }
            ')' | ']' | '>' => depth -= 1,
            // Not a type.
            ';' | '{' => break,
            _ => {}
        }
        previous = c;
    }
    arguments.retain(|argument| !argument.trim().is_empty());
    arguments
}

#[test]
fn errors_are_not_strings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = modules();
    let found = modules.iter().filter(|source| has_string_errors(&source.text)).map(|source| {
        let file = source.file.strip_prefix(root).unwrap();
        file.to_str().unwrap().replace('\\', "/")
    });
    let found: Vec<String> = found.collect();
    assert!(
        found.is_empty(),
        "give these an error type (crdx_value::GoError for messages of Go or the server): {found:#?}"
    );
}

#[test]
fn types_are_found_in_signatures() {
    for code in [
        "fn a() -> Result<u8, String> {",
        "fn a(\n    b: u8,\n) -> Result<\n    Vec<(u8, String)>,\n    String,\n> {",
        "read: impl Fn(&str) -> Result<(), String>,",
        "type R<T> = std::result::Result<fn(u8) -> u8, String>;",
    ] {
        assert!(has_string_errors(code), "{code}");
    }
    for code in [
        "fn a() -> Result<String, u8> {",
        "fn a() -> Result<u8, (u8, String)> {",
        "// Result<u8, String>",
        "io::Result<String>",
    ] {
        assert!(!has_string_errors(code), "{code}");
    }
}
