//! CRDs in Protobuf, as the real server encodes them, with random changes of bytes.

use super::mutate::Rng;
use super::{Pair, Subject};
use serde_json::Value;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const CREATE: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=";

/// Sends the CRD and changed copies of it.
pub fn compare(pair: &mut Pair, subject: &Subject, rng: &mut Rng, rounds: u64) {
    let Some(bytes) = encoded(pair, &subject.crd) else { return };
    pair.ask_bytes("POST", &format!("{CREATE}Strict"), &bytes, PROTOBUF);
    for _ in 0..rounds {
        let mut changed = bytes.clone();
        for _ in 0..=rng.below(2) {
            change(&mut changed, rng);
        }
        pair.ask_bytes("POST", &format!("{CREATE}{}", rng.pick(&["Strict", "Ignore"])), &changed, PROTOBUF);
    }
}

/// The CRD as the real server returns it from a dry run.
fn encoded(pair: &mut Pair, crd: &Value) -> Option<Vec<u8>> {
    let (code, bytes) = pair.real_bytes("POST", &format!("{CREATE}Strict"), crd.to_string().as_bytes(), PROTOBUF);
    (code == 201).then_some(bytes)
}

fn change(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.below(bytes.len());
    let length = rng.below(12).min(bytes.len() - at);
    match rng.below(6) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.next() as u8,
        2 => drop(bytes.drain(at..at + length)),
        3 => bytes.insert(at, rng.next() as u8),
        4 if rng.chance(4) => bytes.truncate(at),
        _ => {
            let part: Vec<u8> = bytes[at..at + length].to_vec();
            let to = rng.below(bytes.len());
            bytes.splice(to..to, part);
        }
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}
