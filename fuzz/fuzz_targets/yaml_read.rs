//! Any bytes are read or refused; what was read can be written and read again; every document of a stream has its places.
#![no_main]

use crdx::text::documents::Chunks;
use crdx::text::spans::Spans;
use crdx::text::yaml;
use crdx::value::Value;
use libfuzzer_sys::fuzz_target;

/// A key `<<` is written bare, as kubectl does, and then read as a merge.
fn has_merge_key(v: &Value) -> bool {
    match v {
        Value::Array(items) => items.iter().any(has_merge_key),
        Value::Object(members) => members.contains_key("<<") || members.values().any(has_merge_key),
        _ => false,
    }
}

fn deep(v: &Value, left: usize) -> bool {
    left == 0
        || match v {
            Value::Array(items) => items.iter().any(|v| deep(v, left - 1)),
            Value::Object(members) => members.values().any(|v| deep(v, left - 1)),
            _ => false,
        }
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(strict) = yaml::read_strict(bytes)
        && !deep(&strict.value, 200)
        && !has_merge_key(&strict.value)
    {
        let text = yaml::write::to_string(&strict.value);
        // A key of more than 1024 characters is written with `?`, so all texts can be read again.
        assert_eq!(yaml::read(text.as_bytes()).as_ref(), Ok(&strict.value), "{text}");
    }
    for chunk in Chunks::new(bytes).flatten() {
        let _ = chunk.read();
        let spans = Spans::of(&chunk.text, chunk.syntax);
        let found = spans.locate("a.b[0].c");
        assert!(found.value.range.end <= chunk.text.len());
    }
});
