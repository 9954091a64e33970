//! Any messages in any order: the server answers every request and ends when asked.

use super::fuzzed::{Step, edits, session};
use lsp_server::Message;
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("  ".to_owned()),
        Just("- ".to_owned()),
        Just("a: 😀".to_owned()),
        Just("---\n".to_owned()),
        Just("{\"live\": 1, \"crds\": []}".to_owned()),
        Just("{\"kubernetesVersion\": \"1.31..1.32\"}".to_owned()),
        Just("{\"method\": \"textDocument/didChange\", \"params\": {}}".to_owned()),
        "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn no_message_ends_the_server(steps in prop::collection::vec((any::<u8>(), any::<[u8; 4]>(), text()), 0..40)) {
        // Positions near the text find more than those far behind it.
        let near = |[a, b, c, d]: [u8; 4]| [a % 24, b % 40, c % 24, d % 40];
        let steps: Vec<Step<'_>> = steps.iter().map(|(kind, at, text)| (*kind, near(*at), text.as_str())).collect();
        edits(&steps);
        let messages = session(&steps);
        let printed = format!("{messages:?}");
        prop_assert!(!printed.contains("kubectl-crdx itself failed"), "{}", printed);
        let requests = steps.iter().filter(|(kind, ..)| (5..=8).contains(&(kind % 16))).count();
        let responses = messages.iter().filter(|message| matches!(message, Message::Response(_))).count();
        // The responses to initialize and shutdown; a text may be a notification instead of a request.
        let others = steps.iter().filter(|(kind, _, text)| kind % 16 == 5 && text.contains("\"method\"")).count();
        prop_assert!(responses >= requests + 2 - others && responses <= requests + 2);
    }
}
