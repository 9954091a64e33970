//! Partly known JSON values: the server may set members that are absent here.
//!
//! Reading such a member is an [`Error::Unknown`], which `&&` and `||` absorb if another operand decides, as for the
//! unknown values of cel-go's partial evaluation. Anything that depends on all members or items at once (a size, a
//! loop, a comparison) is recorded in [`Gaps::used`] instead, because most functions ignore errors of single elements.

use super::{Error, List, Map, Value};
use crdx_value as value;
use crdx_value::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The unknown parts of a JSON value.
#[derive(Debug, Default)]
pub struct Gaps {
    /// The path of the value, for messages.
    pub path: String,
    /// True if the value itself is not known.
    pub whole: bool,
    /// True if the value, a list or map, may have more items or members.
    pub open: bool,
    /// The members that may exist although they are absent.
    pub unset: BTreeSet<&'static str>,
    /// The unknown parts of members.
    pub members: BTreeMap<String, Gaps>,
    /// The unknown parts of items.
    pub items: BTreeMap<usize, Gaps>,
    /// The path of an unknown part that an expression depended on.
    pub used: UsedGap,
}

/// The path of an unknown part that an expression depended on; shared by the parts of an object.
#[derive(Clone, Debug, Default)]
pub struct UsedGap(Arc<Mutex<Option<String>>>);

impl UsedGap {
    /// The path that was recorded since the last call.
    pub fn take(&self) -> Option<String> {
        lock(&self.0).take()
    }

    /// Records a path, unless one is recorded.
    pub fn record(&self, path: &str) {
        lock(&self.0).get_or_insert_with(|| path.to_owned());
    }
}

impl Gaps {
    /// Returns true if everything is known.
    pub fn is_empty(&self) -> bool {
        !self.whole && !self.open && self.unset.is_empty() && self.members.is_empty() && self.items.is_empty()
    }

    /// Returns true if a member that is absent may exist.
    fn may_have(&self, key: &str) -> bool {
        self.open || self.unset.contains(key)
    }

    /// Records that an expression depends on all members or items.
    pub(super) fn enumerate(&self) {
        if self.open || !self.unset.is_empty() {
            self.used.record(&self.path);
        }
    }

    fn unknown_member(&self, key: &str) -> Error {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Error::Unknown(path.into())
    }

    /// The member of an object, or that it is unknown.
    pub(super) fn find<'a>(&'a self, members: &'a value::Map, key: &str) -> Option<Result<Value<'a>, Error>> {
        match members.get(key) {
            Some(value) => Some(Value::partial(value, self.members.get(key))),
            None => self.may_have(key).then(|| Err(self.unknown_member(key))),
        }
    }

    /// The item of a list, or that it is unknown.
    pub(super) fn item<'a>(&'a self, items: &'a [value::Value], index: usize) -> Option<Result<Value<'a>, Error>> {
        let beyond = || self.open.then(|| Err(Error::Unknown(self.path.clone().into())));
        items.get(index).map(|item| Value::partial(item, self.items.get(&index))).or_else(beyond)
    }

    /// Records an unknown value whose error the caller may ignore.
    pub(super) fn record_unknown<'v>(
        &self,
        found: Option<Result<Value<'v>, Error>>,
    ) -> Option<Result<Value<'v>, Error>> {
        if let Some(Err(Error::Unknown(path))) = &found {
            self.used.record(path);
        }
        found
    }
}

impl<'a> Value<'a> {
    /// Converts part of a document without a declared type and with unknown parts.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the value itself is not known.
    pub fn partial(json: &'a value::Value, gaps: Option<&'a Gaps>) -> Result<Self, Error> {
        let Some(gaps) = gaps.filter(|gaps| !gaps.is_empty()) else { return Ok(Self::untyped(json)) };
        if gaps.whole {
            return Err(Error::Unknown(gaps.path.clone().into()));
        }
        Ok(match json {
            value::Value::Object(members) => Self::Map(Map::Partial(members, gaps)),
            value::Value::Array(items) => Self::List(List::Partial(items, gaps)),
            other => Self::untyped(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{BaseEnv, Env};
    use crate::eval::{PER_CALL_LIMIT, Program};
    use crate::types::Type;
    use crdx_value::object;
    use crdx_value::release::Release;

    /// The value of an expression on an object with the unknown fields `a` and `inner.b` and an open map and list.
    fn evaluate(source: &str) -> String {
        let env = Env::new(BaseEnv::for_stored(Release::NEWEST)).with_variable("self", Type::Dyn);
        let int = value::Value::Int;
        let list = |items: &[value::Value]| value::Value::Array(items.to_vec());
        let json = object([
            ("n", int(1)),
            ("inner", object([("c", int(2))])),
            ("open", object([("x", int(1))])),
            ("list", list(&[int(1), int(2)])),
            ("closed", object([("y", list(&[object([("z", int(1))]), value::Value::Object(value::Map::new())]))])),
            ("w", "1Gi".into()),
        ]);
        let used = UsedGap::default();
        let at = |path: &str, open: bool, unset: &[&'static str]| Gaps {
            path: path.to_owned(),
            open,
            unset: unset.iter().copied().collect(),
            used: used.clone(),
            ..Gaps::default()
        };
        let whole = Gaps { whole: true, ..at("w", false, &[]) };
        let mut gaps = at("", false, &["a"]);
        let inside = Gaps { items: [(1, at("closed.y[1]", false, &["z"]))].into(), ..at("closed.y", false, &[]) };
        let closed = Gaps { members: [("y".to_owned(), inside)].into(), ..at("closed", false, &[]) };
        let parts = [at("inner", false, &["b"]), at("open", true, &[]), at("list", true, &[]), whole, closed];
        gaps.members = parts.into_iter().map(|part| (part.path.clone(), part)).collect();
        let checked = env.compile(source).map_err(|issues| issues.display()).unwrap();
        let program = Program::plan(&checked, &env).unwrap();
        let outcome =
            program.run(&[Value::partial(&json, Some(&gaps))], PER_CALL_LIMIT, &crdx_value::steps::Steps::of_request());
        let text = outcome.result.map_or_else(|error| error.to_string(), |value| value.to_string());
        used.take().map_or(text, |path| format!("depends on {path}"))
    }

    #[test]
    fn what_depends_on_an_absent_field_is_unknown() {
        let unknown = |path: &str| format!("{path} is not known");
        for (source, expected) in [
            ("self.n == 1", "true".to_owned()),
            ("has(self.inner.c) && !has(self.nothing) && 'y' in self.closed", "true".to_owned()),
            ("self.nothing == 1", "no such key: nothing".to_owned()),
            ("self.a == 1", unknown("a")),
            ("has(self.a)", unknown("a")),
            ("self.?a.orValue(2) == 2", unknown("a")),
            ("self['a'] == 1", unknown("a")),
            ("self.inner.b == 1", unknown("inner.b")),
            ("self.w == '1Gi'", unknown("w")),
            ("has(self.w)", unknown("w")),
            ("self.a ? 1 : 2", unknown("a")),
            ("self.closed.y.exists(e, e.z == 2)", unknown("closed.y[1].z")),
            ("self.closed.y.map(e, e.z)", unknown("closed.y[1].z")),
        ] {
            assert_eq!(evaluate(source), expected, "{source}");
        }
    }

    #[test]
    fn operators_absorb_unknown_values() {
        for (source, expected) in [
            ("self.a == 1 || true", "true"),
            ("self.a == 1 && self.n == 2", "false"),
            ("self.n == 1 ? true : self.a", "true"),
            ("self.closed.y.exists(e, e.z == 1)", "true"),
            ("self.closed.y.all(e, e.z == 2)", "false"),
            // An error does not decide, but what is unknown may.
            ("1 / 0 == 1 || self.a", "a is not known"),
            ("self.a || 1 / 0 == 1", "a is not known"),
            ("1 / 0 == 1 && self.n == 2", "false"),
        ] {
            assert_eq!(evaluate(source), expected, "{source}");
        }
    }

    #[test]
    fn dependence_on_all_members_or_items_is_recorded() {
        for source in [
            "size(self) > 2",
            "self.all(k, k != 'q')",
            "self == self",
            "self.inner == {'c': 2}",
            "self.open.size() == 1",
            "'z' in self.open",
            "self.open.exists(k, k == 'x')",
            "self.list.size() == 2",
            "self.list.all(i, i > 0)",
            "1 in self.list",
            "self.list + [3] == [1, 2, 3]",
            "self.closed.y == [{'z': 1}, {}]",
            "self.closed == {'y': [{'z': 1}, {}]}",
            "dyn([self.inner]) == [{'c': 2}] || true",
            "string(self.n) in self.open",
            "self.w in ['1Gi']",
            "sets.contains(self.list, [1])",
        ] {
            let result = evaluate(source);
            assert!(result.starts_with("depends on ") || result == "w is not known", "{source}: {result}");
        }
        assert_eq!(evaluate("self.list[0] == 1 && 'x' in self.open && self.open.x == 1"), "true");
    }
}
