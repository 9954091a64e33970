#![no_main]

#[path = "../checks/requests.rs"]
mod requests;

libfuzzer_sys::fuzz_target!(|input: &[u8]| requests::check(input));
