//! Every body of a built-in kind is decoded or rejected in bounded time, and errors have a position.

use crdx_types::types::Types;
use crdx_types::{Endpoint, decode};
use proptest::prelude::*;

const KINDS: &[(&str, &str, &str)] = &[
    ("", "v1", "Pod"),
    ("", "v1", "Secret"),
    ("apps", "v1", "Deployment"),
    ("batch", "v1", "CronJob"),
    ("scheduling.k8s.io", "v1alpha3", "CompositePodGroup"),
];

fn text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        "null|true|1|-0|1e3|2147483648|1e2147483648|\"1e2147483648\"|\"1Gi\"|\"a\"|\"2024-01-01T00:00:00Z\"|\"YQ==\"",
        any::<String>().prop_map(|text| format!("{text:?}")),
    ];
    let key = "spec|metadata|name|containers|template|data|resources|limits|cpu|volumes|hostPath|creationTimestamp|kind|KIND|x";
    scalar.prop_recursive(8, 64, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key, inner), 0..5).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => text().prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..64),
        1 => (text(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(text, at, byte)| {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        }),
    ]
}

proptest! {
    #[test]
    fn any_body_of_a_builtin_kind_is_decoded_or_rejected(body in body(), kind in prop::sample::select(KINDS), release in 30_u32..=37) {
        let (group, version, kind) = kind;
        let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
        let types = Types::for_release(release);
        let answer = decode::decode(types, &endpoint, &body);
        prop_assert_eq!(&answer, &decode::decode(types, &endpoint, &body));
        match answer {
            Err(refusal) => prop_assert!(!refusal.message.is_empty()),
            Ok(decoded) => {
                prop_assert!(decoded.strict.len() <= 100);
                prop_assert!(decoded.strict.iter().all(|strict| strict.path.ends_with(&strict.field)));
            }
        }
    }
}
