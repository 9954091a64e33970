#![no_main]

#[path = "../checks/builtin_validation.rs"]
mod builtin_validation;

libfuzzer_sys::fuzz_target!(|input: &[u8]| builtin_validation::check(input));
