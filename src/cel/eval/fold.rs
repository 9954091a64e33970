//! Folds: the expansion of every comprehension macro, and of `sortBy` and `optMap`, which only bind a variable.

use super::{
    cost::{NEW_LIST, go_type_name},
    node::{Condition, Fold, Node},
    run::{Run, Slot},
};
use crate::cel::{
    library,
    value::{Error, List, Value},
};
use std::sync::Arc;

/// The most items for which the list that a loop makes has room from the beginning.
const MOST_EXPECTED: usize = 64;

impl<'a> Run<'a, '_> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Result<Value<'a>, Error> {
        let range = self.exec(&fold.range)?;
        self.set(fold.accumulator, Slot::Pending(&fold.init));
        match (range, fold.second) {
            (Value::List(list), None) => {
                self.expected = list.len().min(MOST_EXPECTED);
                for i in 0..list.len() {
                    let Some(item) = list.get(i) else { break };
                    if !self.turn(fold, item, None)? {
                        break;
                    }
                }
            }
            (Value::List(list), Some(_)) => {
                for i in 0..list.len() {
                    let Some(item) = list.get(i) else { break };
                    if !self.turn(fold, Ok(Value::Int(i as i64)), Some(item))? {
                        break;
                    }
                }
            }
            (Value::Map(map), second) => {
                for key in map.keys_of_loop() {
                    let value = second.map(|_| {
                        let missing = || Err(Error::new(format!("no such key: {}", key.plain())));
                        map.find(&key).unwrap_or_else(missing)
                    });
                    if !self.turn(fold, Ok(key), value)? {
                        break;
                    }
                }
            }
            (other, None) => {
                return Err(Error::new(format!("got '{}', expected iterable type", go_type_name(&other))));
            }
            (other, Some(_)) => {
                return Err(Error::new(format!("unsupported comprehension range type: {}", go_type_name(&other))));
            }
        }
        self.exec(&fold.result)
    }

    /// Executes one iteration. Returns false if the loop is finished. A loop condition that fails with an error does
    /// not end the loop.
    fn turn(
        &mut self,
        fold: &'a Fold,
        first: Result<Value<'a>, Error>,
        second: Option<Result<Value<'a>, Error>>,
    ) -> Result<bool, Error> {
        if let Some(slot) = fold.element {
            self.set(slot, Slot::Filled(first));
        }
        if let (Some(slot), Some(second)) = (fold.second, second) {
            self.set(slot, Slot::Filled(second));
        }
        let goes_on = match &fold.condition {
            Condition::Always => true,
            Condition::UnlessFalse => {
                self.charge_read(fold.accumulator)?;
                self.charge(1)?;
                self.boolean(fold.accumulator) != Some(false)
            }
            Condition::UnlessTrue => {
                self.charge_read(fold.accumulator)?;
                self.charge(2)?;
                self.boolean(fold.accumulator) != Some(true)
            }
            Condition::Other(condition) => !matches!(self.exec_absorbable(condition)?, Ok(Value::Bool(false))),
        };
        if !goes_on {
            return Ok(false);
        }
        let step = self.exec_absorbable(&fold.step)?;
        self.set(fold.accumulator, Slot::Filled(step));
        Ok(true)
    }

    /// Evaluates `accumulator + list` without copying the accumulator.
    pub(super) fn append(&mut self, slot: usize, list: &'a Node) -> Result<Value<'a>, Error> {
        self.charge_read(slot)?;
        // Appends the usual `[element]` without creating a list for it.
        if let Node::List(elements) = list
            && let [element] = &**elements
        {
            let item = match self.element(element) {
                Err(error) if error.is_fatal() => return Err(error),
                item => item,
            };
            self.charge(NEW_LIST + 1)?;
            let accumulator = self.take(slot)?;
            return match item? {
                Some(item) => push(accumulator, item),
                None => Ok(accumulator),
            };
        }
        let list = self.exec_absorbable(list)?;
        self.charge(1)?;
        let accumulator = self.take(slot)?;
        match list? {
            Value::List(list) => extend(accumulator, &list),
            _ => Err(Error::no_such_overload()),
        }
    }

    /// Evaluates `cel.@mapInsert(accumulator, key, value)` without copying the accumulator.
    pub(super) fn insert(&mut self, slot: usize, entry: &'a [Node; 2]) -> Result<Value<'a>, Error> {
        let [key, value] = entry;
        self.charge_read(slot)?;
        if let Some(error) = self.failure(slot) {
            return Err(error);
        }
        let key = self.exec(key)?;
        let value = self.exec_absorbable(value)?;
        self.charge(1)?;
        let value = value?;
        match self.take(slot)? {
            Value::Map(map) => library::insert(map, &key, value).map(Value::Map),
            _ => Err(Error::no_such_overload()),
        }
    }
}

fn push<'a>(accumulator: Value<'a>, item: Value<'a>) -> Result<Value<'a>, Error> {
    if let Value::List(List::Shared(mut items)) = accumulator {
        Arc::make_mut(&mut items).push(item);
        return Ok(Value::List(List::Shared(items)));
    }
    extend(accumulator, &List::Shared(Arc::new(vec![item])))
}

fn extend<'a>(accumulator: Value<'a>, list: &List<'a>) -> Result<Value<'a>, Error> {
    match accumulator {
        Value::List(List::Shared(mut items)) => {
            let own = Arc::make_mut(&mut items);
            for added in list.iter() {
                own.push(added?);
            }
            Ok(Value::List(List::Shared(items)))
        }
        Value::List(other) => other.concat(list).map(Value::List),
        _ => Err(Error::no_such_overload()),
    }
}
