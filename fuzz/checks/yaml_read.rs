//! Any bytes are decoded or rejected; a decoded value can be encoded and decoded again; a directive before a document does
//! not change its value; every document of a stream has positions.
use crdx_text::documents::Chunks;
use crdx_text::spans::Spans;
use crdx_text::yaml;
use crdx_value::Value;

/// Like kubectl, the encoder does not quote a key `<<`, which is then decoded as a merge key.
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

/// True for a document without separators, directives, a byte order mark and control characters. Go refuses a control
/// character only if it reads as far, and a directive changes how far it reads.
fn is_one_document(bytes: &[u8]) -> bool {
    let is_content = |line: &[u8]| !line.starts_with(b"---") && !line.starts_with(b"...") && !line.starts_with(b"%");
    bytes.ends_with(b"\n")
        && bytes.is_ascii()
        && !bytes.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t'))
        && bytes.split(|c| *c == b'\n').all(is_content)
}

pub fn check(bytes: &[u8]) {
    if is_one_document(bytes) {
        // The directive rules out the short cut for ordinary manifests.
        let directed = [b"%YAML 1.1\n---\n", bytes].concat();
        assert_eq!(yaml::read(bytes).ok(), yaml::read(&directed).ok());
    }
    if let Ok(strict) = yaml::read_strict(bytes)
        && !deep(&strict.value, 200)
        && !has_merge_key(&strict.value)
    {
        let text = yaml::write::to_string(&strict.value);
        // Keys of more than 1024 characters are written with `?`, so every text can be decoded again.
        assert_eq!(yaml::read(text.as_bytes()).as_ref(), Ok(&strict.value), "{text}");
    }
    for chunk in Chunks::new(bytes).flatten() {
        let _ = chunk.read();
        let spans = Spans::new(&chunk.text, chunk.syntax);
        let found = spans.locate("a.b[0].c");
        assert!(found.value.range.end <= chunk.text.len());
    }
}
