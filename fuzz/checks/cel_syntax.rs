//! Any text is parsed or rejected with valid positions.
use crdx_cel::syntax::{ParseOptions, parse};

pub fn check(input: &[u8]) {
    let Ok(source) = std::str::from_utf8(input) else { return };
    match parse(source, ParseOptions::ALL) {
        Ok(ast) => assert!(ast.source_info.offset(ast.expr.id) >= 0),
        Err(issues) => assert!(issues.display().starts_with("ERROR: <input>:")),
    }
}
