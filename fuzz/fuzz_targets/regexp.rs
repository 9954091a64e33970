#![no_main]

#[path = "../checks/regexp.rs"]
mod regexp;

libfuzzer_sys::fuzz_target!(|input: &[u8]| regexp::check(input));
