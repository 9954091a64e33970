//! The language server answers any messages in any order without a panic or a hang, and after any edits its text is the
//! client's.
#[allow(clippy::duplicate_mod)]
#[path = "../../tests/cli/lsp/client.rs"]
mod client;
#[allow(clippy::duplicate_mod)]
#[path = "../../tests/cli/lsp/fuzzed.rs"]
mod fuzzed;

/// A step is five bytes and a text that ends with the byte 255.
pub fn check(input: &[u8]) {
    let mut steps = Vec::new();
    let mut rest = input;
    while let [kind, a, b, c, d, tail @ ..] = rest {
        let length = tail.iter().position(|byte| *byte == u8::MAX).unwrap_or(tail.len());
        let Ok(text) = std::str::from_utf8(&tail[..length]) else { return };
        steps.push((*kind, [*a, *b, *c, *d], text));
        rest = tail.get(length + 1..).unwrap_or_default();
    }
    fuzzed::edits(&steps);
    let answers = fuzzed::session(&steps);
    assert!(!format!("{answers:?}").contains("kubectl-crdx itself failed"));
}
