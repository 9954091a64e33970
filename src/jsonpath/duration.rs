//! Ages for people (`k8s.io/apimachinery/pkg/util/duration`).

use crate::value::time::Timestamp;

/// `ConvertToHumanReadableDateType`: the age of a timestamp as tables show it; `<unknown>` for none.
pub fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    let _ = (since, now);
    "<unknown>".to_owned()
}
