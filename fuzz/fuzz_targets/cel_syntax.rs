#![no_main]

#[path = "../checks/cel_syntax.rs"]
mod cel_syntax;

libfuzzer_sys::fuzz_target!(|input: &[u8]| cel_syntax::check(input));
