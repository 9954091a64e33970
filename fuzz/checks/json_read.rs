//! Any bytes are decoded or rejected; a decoded value can be encoded and decoded again; errors have a position in the
//! text.
use crdx_text::documents::Chunks;
use crdx_text::json;
use crdx_value::json::to_string;

pub fn check(bytes: &[u8]) {
    match json::read_strict(bytes) {
        Ok(strict) => {
            // `-0.0` is written as `-0`, which is an integer, so the comparison starts with the second text.
            let text = json::read(to_string(&strict.value).as_bytes()).map(|v| to_string(&v)).unwrap();
            assert_eq!(json::read(text.as_bytes()).map(|v| to_string(&v)), Ok(text));
        }
        Err(e) => {
            let lines = bytes.split(|b| *b == b'\n').count();
            assert!(e.position.is_none_or(|p| p.line >= 1 && p.line <= lines), "{e:?}");
        }
    }
    for chunk in Chunks::new(bytes).flatten() {
        let _ = chunk.read();
    }
}
