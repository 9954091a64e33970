#![no_main]

#[path = "../checks/cel_run.rs"]
mod cel_run;

libfuzzer_sys::fuzz_target!(|input: &[u8]| cel_run::check(input));
