#![no_main]

#[path = "../checks/suites.rs"]
mod suites;

libfuzzer_sys::fuzz_target!(|input: &[u8]| suites::check(input));
