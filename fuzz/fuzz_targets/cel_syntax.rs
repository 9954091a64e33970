//! Any text is parsed or rejected with valid positions.
#![no_main]

use crdx::cel::syntax::{MacroSet, ParseOptions, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let options = ParseOptions { optional_syntax: true, macros: MacroSet::ALL };
    match parse(source, options) {
        Ok(ast) => assert!(ast.source_info.offset(ast.expr.id) >= 0),
        Err(issues) => assert!(issues.display().starts_with("ERROR: <input>:")),
    }
});
