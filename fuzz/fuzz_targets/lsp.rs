//! The language server answers any messages in any order without a panic or a hang, and after any edits its text is the
//! client's.
#![no_main]

#[path = "../../tests/lsp/client.rs"]
mod client;
#[path = "../../tests/lsp/fuzzed.rs"]
mod fuzzed;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|steps: Vec<fuzzed::Step<'_>>| {
    fuzzed::edits(&steps);
    let answers = fuzzed::session(&steps);
    assert!(!format!("{answers:?}").contains("kubectl-crdx itself failed"));
});
