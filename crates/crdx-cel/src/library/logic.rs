//! Logical and conditional operators, equality and indexing. The evaluator implements most of them itself.

use super::{CallCost, Overload};
use crate::value::{Error, Value};
use crdx_value::release::Minor;

pub(crate) const FUNCTIONS: &[Overload] = &[
    Overload::planned("_?_:_", "conditional", "(bool, A, A) -> A", CallCost::Free),
    Overload::planned("_&&_", "logical_and", "(bool, bool) -> bool", CallCost::Free),
    Overload::planned("_||_", "logical_or", "(bool, bool) -> bool", CallCost::Free),
    Overload::global("!_", "logical_not", "(bool) -> bool", CallCost::One, not).unguarded(),
    // The argument may be an error, so the evaluator implements it.
    Overload::planned("@not_strictly_false", "not_strictly_false", "(bool) -> bool", CallCost::One),
    Overload::planned("_==_", "equals", "(A, A) -> bool", CallCost::Compare),
    Overload::planned("_!=_", "not_equals", "(A, A) -> bool", CallCost::Compare),
    Overload::planned("_[_]", "index_list", "(list(A), int) -> A", CallCost::One),
    Overload::planned("_[_]", "index_map", "(map(A, B), A) -> B", CallCost::One),
    Overload::planned("_[_]", "optional_list_index_int", "(optional(list(V)), int) -> optional(V)", CallCost::One)
        .since(Minor(28)),
    Overload::planned("_[_]", "optional_map_index_value", "(optional(map(K, V)), K) -> optional(V)", CallCost::One)
        .since(Minor(28)),
    Overload::planned("_?._", "select_optional_field", "(dyn, string) -> optional(V)", CallCost::One).since(Minor(28)),
    Overload::planned("_[?_]", "list_optindex_optional_int", "(list(V), int) -> optional(V)", CallCost::One)
        .since(Minor(28)),
    Overload::planned(
        "_[?_]",
        "optional_list_optindex_optional_int",
        "(optional(list(V)), int) -> optional(V)",
        CallCost::One,
    )
    .since(Minor(28)),
    Overload::planned("_[?_]", "map_optindex_optional_value", "(map(K, V), K) -> optional(V)", CallCost::One)
        .since(Minor(28)),
    Overload::planned(
        "_[?_]",
        "optional_map_optindex_optional_value",
        "(optional(map(K, V)), K) -> optional(V)",
        CallCost::One,
    )
    .since(Minor(28)),
];

fn not<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    match args {
        [Value::Bool(b)] => Ok(Value::Bool(!b)),
        _ => Err(Error::no_such_overload()),
    }
}
