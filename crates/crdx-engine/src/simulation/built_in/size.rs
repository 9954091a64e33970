//! The limits for the size of built-in kinds. Their encoding in etcd, Protobuf, is not written here, so its length is only
//! known within bounds.

use crate::report::{ObjectReport, ServerResponse, Verdict};
use crdx_server::server::{BODY_LIMIT, ETCD_LIMIT, ETCD_TOO_LARGE};
use crdx_value::base64::Encoding;
use crdx_value::{Value, json};

/// Above this length, the client of etcd refuses a request with a message that has the exact length.
const MESSAGE_LIMIT: usize = 2 << 20;
/// The room for keys, metadata and defaults.
const MARGIN: usize = 64 << 10;

/// Rejects an object whose JSON is too long for a request.
pub(in crate::simulation) fn reject_body(item: &mut ObjectReport, body: &[u8]) -> bool {
    let is_too_long = body.len() > BODY_LIMIT;
    if is_too_long {
        let message = format!("Request entity too large: limit is {BODY_LIMIT}");
        reject(item, 413, "RequestEntityTooLarge", message);
    }
    is_too_long
}

/// Checks an accepted object that may be too large for etcd.
pub(super) fn check(item: &mut ObjectReport, sent: &Value) {
    if json::is_longer_than(sent, ETCD_LIMIT - MARGIN) {
        check_stored(item, sent, json::to_string(sent).as_bytes());
    }
}

/// Rejects an object that is too large for etcd, or reports that this is not known. `body` is its JSON.
pub(in crate::simulation) fn check_stored(item: &mut ObjectReport, object: &Value, body: &[u8]) {
    // Protobuf is shorter than JSON, which has the names of fields.
    let most = body.len() + MARGIN;
    if most <= ETCD_LIMIT {
        return;
    }
    // Unknown fields are not stored.
    let least = if item.pruned.is_empty() { text_length(object) } else { 0 };
    if least > ETCD_LIMIT && most <= MESSAGE_LIMIT {
        reject(item, 500, "", ETCD_TOO_LARGE.to_owned());
    } else {
        item.verdict = Verdict::CannotTell;
        item.reason = format!(
            "etcd stores at most {ETCD_LIMIT} bytes of an object in Protobuf, whose length is not computed; it is between {least} and {most} bytes"
        );
        item.help =
            Some("split the object, or ask the cluster without a dry run, which does not reach etcd".to_owned());
    }
}

fn reject(item: &mut ObjectReport, code: u16, reason: &str, message: String) {
    item.reject_with(ServerResponse { code, reason: reason.to_owned(), message });
}

/// The number of bytes that the strings of an object have in Protobuf. A string that could be base64 may be shorter.
fn text_length(value: &Value) -> usize {
    match value {
        Value::String(text) => Encoding::Standard.decode(text).map_or(text.len(), |bytes| bytes.len()),
        Value::Array(items) => items.iter().map(text_length).sum(),
        Value::Object(members) => members.values().map(text_length).sum(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SourceLocation;
    use crdx_value::{json, object};

    fn item(text: &str) -> ObjectReport {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Decodes, "");
        let object = object([("args", Value::Array(vec![text.into()]))]);
        let body = json::to_string(&object).into_bytes();
        if !reject_body(&mut item, &body) {
            check_stored(&mut item, &object, &body);
        }
        item
    }

    #[test]
    fn a_length_is_reported_as_far_as_it_is_known() {
        let code = |item: &ObjectReport| item.answer.as_ref().map(|answer| answer.code);
        assert_eq!(item(&"-".repeat(1_500_000)).verdict, Verdict::Decodes);
        let near = item(&"-".repeat(1_550_000));
        assert!(near.verdict == Verdict::CannotTell && near.reason.contains("1572864 bytes"), "{}", near.reason);
        let large = item(&"-".repeat(1_600_000));
        assert_eq!((large.verdict, code(&large)), (Verdict::Rejected, Some(500)));
        // It could be 1,200,000 bytes.
        assert_eq!(item(&"A".repeat(1_600_000)).verdict, Verdict::CannotTell);
        assert_eq!(item(&"-".repeat(2_100_000)).verdict, Verdict::CannotTell);
        assert_eq!(code(&item(&"-".repeat(3 << 20))), Some(413));
    }
}
