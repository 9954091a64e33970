//! The size of a write to etcd, which refuses large requests.
//!
//! A write is one transaction (`OptimisticPut` in `go.etcd.io/etcd/client/v3/kubernetes`): compare the revision of the
//! key, put the object, and get the key if the comparison fails. The API server's client sends no message of more than
//! [`MESSAGE_LIMIT`] bytes, and etcd proposes no request of more than [`REQUEST_LIMIT`] bytes to its members.

use crate::server::http::status::Refusal;
use crdx_value::Value;
use crdx_value::json;

/// The maximum length of a request to etcd, in bytes (`embed.DefaultMaxRequestBytes`).
pub const REQUEST_LIMIT: usize = 1_572_864;
/// The error of etcd.
pub const TOO_LARGE: &str = "etcdserver: request is too large";
/// `defaultMaxCallSendMsgSize` in `client/v3/options.go`
const MESSAGE_LIMIT: usize = 2 * 1024 * 1024;
/// The length of a request's ID as a varint. Its highest bytes are those of the ID of an etcd member: it has 9 bytes with
/// the first member of a new etcd (`8e9e05c52164694d`), and 9 or 10 with others.
const ID: usize = 9;
const LONG_ID: usize = 10;
/// The greatest length of a revision as a varint.
const LONG_REVISION: usize = 10;

/// The error of etcd.
pub(super) fn too_large() -> Refusal {
    Refusal::unclassified(TOO_LARGE)
}

/// A put in a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Put<'a> {
    /// The key, which begins with `/registry`.
    pub key: &'a str,
    /// The length of the encoded object in bytes.
    pub value: usize,
    /// The revision of the existing object; `None` for a create, whose transaction does not get the key.
    pub expected: Option<u64>,
}

/// The answer of etcd to the size of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Size {
    /// The request is small enough.
    Fits,
    /// It depends on the IDs of etcd's members and on the revision, which another cluster has.
    Depends,
    /// The request is too large.
    TooLarge(Refusal),
}

impl Put<'_> {
    /// Compares the size of the request with the limits.
    pub fn size(self) -> Size {
        let revision = varint(self.expected.unwrap_or(0) as usize);
        let transaction = self.transaction(revision);
        if transaction > MESSAGE_LIMIT {
            return Size::TooLarge(Refusal::unclassified(format!(
                "rpc error: code = ResourceExhausted desc = trying to send message larger than max ({transaction} vs. {MESSAGE_LIMIT})"
            )));
        }
        let (least, most) = if self.expected.is_some_and(|expected| expected > 0) {
            (proposal(self.transaction(1), ID), proposal(self.transaction(LONG_REVISION), LONG_ID))
        } else {
            (proposal(transaction, ID), proposal(transaction, LONG_ID))
        };
        if least <= REQUEST_LIMIT && most > REQUEST_LIMIT {
            Size::Depends
        } else if proposal(transaction, ID) > REQUEST_LIMIT {
            Size::TooLarge(too_large())
        } else {
            Size::Fits
        }
    }

    /// Returns true if etcd with its first member accepts a request whose size [depends](Size::Depends) on the cluster.
    pub(crate) fn fits_here(self) -> bool {
        proposal(self.transaction(varint(self.expected.unwrap_or(0) as usize)), ID) <= REQUEST_LIMIT
    }

    /// The length of the message `TxnRequest` (`etcdserverpb/rpc.proto`), with a revision of `revision` bytes.
    fn transaction(self, revision: usize) -> usize {
        let key = field(self.key.len());
        let target = 2;
        let compare = field(target + key + 1 + revision);
        let put = field(field(key + field(self.value)));
        let get = if self.expected.is_some() { field(field(key)) } else { 0 };
        compare + put + get
    }
}

/// The length of `InternalRaftRequest`, which has the transaction and a header with an ID of `id` bytes.
fn proposal(transaction: usize, id: usize) -> usize {
    let header = 2 + 1 + (1 + id);
    field(transaction) + header
}

/// The length of a field with `length` bytes, whose number is less than 16.
fn field(length: usize) -> usize {
    1 + varint(length) + length
}

fn varint(value: usize) -> usize {
    (value.max(1).ilog2() / 7 + 1) as usize
}

/// The length of the stored JSON: compact, with a line break, and without the resourceVersion.
pub(in crate::server) fn json_length(object: &Value) -> usize {
    let revision = object.get("metadata").and_then(|metadata| metadata.get("resourceVersion"));
    // The metadata always has other members, so that there is a comma.
    let revision = revision.map_or(0, |revision| "\"resourceVersion\":,".len() + json::length(revision));
    json::length(object) - revision + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "/registry/toys.example.com/kites/default/b";

    fn size(value: usize, expected: Option<u64>) -> Size {
        Put { key: KEY, value, expected }.size()
    }

    fn message(value: usize, expected: Option<u64>) -> String {
        match size(value, expected) {
            Size::TooLarge(refusal) => refusal.message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_size_is_that_of_the_real_server() {
        // Recorded from kube-apiserver 1.37.2 with etcd 3.7.0: an object of 219 bytes around a text of 2,097,052 bytes, and
        // an update of an object at revision 243.
        let sent = |length: usize| {
            format!(
                "rpc error: code = ResourceExhausted desc = trying to send message larger than max ({length} vs. 2097152)"
            )
        };
        assert_eq!(message(2_097_052 + 219, None), sent(2_097_380));
        assert_eq!(message(3_145_428 + 219, None), sent(3_145_756));
        assert_eq!(message(2_200_000 + 219, Some(243)), sent(2_200_377));
        // The largest objects that it stored with a create, an apply and an update.
        let (create, apply, update) = (1_572_522 + 219, 1_572_693, 1_572_692);
        for (largest, expected) in [(create, None), (apply, Some(0)), (update, Some(243))] {
            let put = |value| Put { key: KEY, value, expected };
            assert!(put(largest).fits_here() && !put(largest + 1).fits_here(), "{expected:?}");
            assert_eq!(message(largest + 9, expected), "etcdserver: request is too large");
        }
        assert_eq!(size(create, None), Size::Depends);
        assert_eq!((size(create - 1, None), size(apply - 1, Some(0))), (Size::Fits, Size::Fits));
        assert_eq!(message(create + 1, None), "etcdserver: request is too large");
        assert_eq!((size(update - 9, Some(243)), size(update - 8, Some(243))), (Size::Fits, Size::Depends));
    }

    #[test]
    fn the_revision_is_not_stored() {
        let object = crdx_text::json::read(br#"{"metadata":{"name":"<","resourceVersion":"17"}}"#).unwrap();
        assert_eq!(json_length(&object), r#"{"metadata":{"name":"\u003c"}}"#.len() + 1);
    }
}
