#![no_main]

#[path = "../checks/json_read.rs"]
mod json_read;

libfuzzer_sys::fuzz_target!(|input: &[u8]| json_read::check(input));
