#![no_main]

#[path = "../checks/policies.rs"]
mod policies;

libfuzzer_sys::fuzz_target!(|input: &[u8]| policies::check(input));
