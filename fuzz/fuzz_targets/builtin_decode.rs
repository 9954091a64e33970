#![no_main]

#[path = "../checks/builtin_decode.rs"]
mod builtin_decode;

libfuzzer_sys::fuzz_target!(|input: &[u8]| builtin_decode::check(input));
