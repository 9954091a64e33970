//! Graceful deletion (`rest.BeforeDelete` in `k8s.io/apiserver/pkg/registry/rest/delete.go`).

use crate::server::metadata;
use crate::server::metadata::Object;
use crate::server::registry::rest::{GRACE, set_generation};
use crdx_value::release::{Release, V1_33};
use crdx_value::time::Timestamp;
use crdx_value::{Value, time};

/// The effect of a DELETE on an object of a kind with grace periods.
#[derive(Debug, PartialEq)]
pub(super) enum Graceful<O> {
    /// Without a grace period, the object is removed or waits for its finalizers.
    No,
    /// The object is being deleted already, and the request does not shorten its grace period.
    Pending,
    /// The object with its time of deletion, and the grace period in seconds.
    Marked(O, i64),
}

/// Marks an object for a deletion at `now`. `requested` is the grace period in the options of the request, `period` is
/// that of a first deletion (`CheckGracefulDelete`), both in seconds.
pub(super) fn before_delete<O: Object>(
    existing: &O,
    requested: Option<i64>,
    period: i64,
    now: Timestamp,
    release: Release,
) -> Graceful<O> {
    if !metadata::is_deleting(existing) {
        let mut object = existing.clone();
        mark(&mut object, later(now, period), period);
        let generation = metadata::generation(existing);
        if generation > 0 {
            set_generation(&mut object, generation.saturating_add(1));
        }
        return Graceful::Marked(object, period);
    }
    let before = metadata::get(existing, GRACE).and_then(Value::as_int).unwrap_or_default();
    let before = if before < 0 { 1 } else { before };
    if before == 0 {
        return Graceful::No;
    }
    let Some(mut period) = requested.filter(|period| *period < before) else { return Graceful::Pending };
    let end = time::parse(metadata::text(existing, "deletionTimestamp")).unwrap_or(now);
    let mut end = later(end, period.saturating_sub(before));
    // Since 1.33, the time of deletion is not moved into the past.
    if release.since(V1_33) && end < now {
        end = now;
        period = period.min(1);
    }
    let mut object = existing.clone();
    mark(&mut object, end, period);
    Graceful::Marked(object, period)
}

fn later(time: Timestamp, seconds: i64) -> Timestamp {
    Timestamp { seconds: time.seconds.saturating_add(seconds), ..time }
}

fn mark(object: &mut impl Object, end: Timestamp, period: i64) {
    metadata::set_text(object, "deletionTimestamp", &time::format(end));
    metadata::set(object, GRACE, Some(Value::Int(period)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    const NOW: Timestamp = Timestamp { seconds: 1000, nanos: 500_000_000 };

    fn deleted(end: i64, period: i64) -> Value {
        let end = time::format(Timestamp { seconds: end, nanos: 0 });
        let metadata = [("generation", 2.into()), ("deletionTimestamp", end.into()), (GRACE, Value::Int(period))];
        object([("metadata", object(metadata))])
    }

    fn again(existing: &Value, requested: Option<i64>, release: Release) -> Graceful<Value> {
        before_delete(existing, requested, 30, NOW, release)
    }

    #[test]
    fn a_first_deletion_sets_time_period_and_generation() {
        let existing = object([("metadata", object([("generation", Value::Int(1))]))]);
        assert_eq!(again(&existing, None, Release::NEWEST), Graceful::Marked(deleted(1030, 30), 30));
    }

    #[test]
    fn a_second_deletion_only_shortens_the_period() {
        let existing = deleted(1020, 30);
        assert_eq!(again(&existing, None, Release::NEWEST), Graceful::Pending);
        assert_eq!(again(&existing, Some(30), Release::NEWEST), Graceful::Pending);
        assert_eq!(again(&existing, Some(15), Release::NEWEST), Graceful::Marked(deleted(1005, 15), 15));
        assert_eq!(again(&deleted(1000, 0), Some(5), Release::NEWEST), Graceful::No);
    }

    #[test]
    fn the_time_of_deletion_is_not_in_the_past_since_1_33() {
        let existing = deleted(1020, 30);
        let old = Release::new(32).unwrap();
        assert_eq!(again(&existing, Some(5), Release::NEWEST), Graceful::Marked(deleted(1000, 1), 1));
        assert_eq!(again(&existing, Some(0), Release::NEWEST), Graceful::Marked(deleted(1000, 0), 0));
        assert_eq!(again(&existing, Some(5), old), Graceful::Marked(deleted(995, 5), 5));
    }
}
