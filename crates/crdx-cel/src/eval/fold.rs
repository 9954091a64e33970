//! Folds: the expansion of every comprehension macro, and of `sortBy` and `optMap`, which only bind a variable.

use super::{
    cost::{NEW_LIST, go_type_name},
    node::{Call, Condition, Element, Fold, FoldStep, LogicalOperator, ProgramNode},
    run::{Evaluator, Slot},
};
use crate::{
    library,
    value::{Error, Fuel, List, Map, Value},
};
use crdx_value::release::V1_38;
use std::sync::Arc;

/// The most items for which the list that a loop makes has room from the beginning.
const MOST_EXPECTED: usize = 64;

impl<'a> Evaluator<'a, '_> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Result<Value<'a>, Error> {
        let range = self.exec(&fold.range)?;
        self.set(fold.accumulator, Slot::Pending(&fold.init));
        match (range, fold.second) {
            // Since cel-go 0.33, any empty value has no elements, even text.
            (range, _) if self.server >= V1_38 && range.size() == Some(0) => {}
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
                // A loop may end at its first key.
                self.fuel.spend(map.len())?;
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
                return Err(Error::new(format!("got '{}', expected iterable type", go_type_name(self.server, &other))));
            }
            (other, Some(_)) => {
                return Err(Error::new(format!(
                    "unsupported comprehension range type: {}",
                    go_type_name(self.server, &other)
                )));
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
        self.set(fold.element, Slot::Filled(first));
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
        self.step(fold.accumulator, &fold.step)?;
        Ok(true)
    }

    /// Executes the step of a loop, which replaces the accumulator.
    fn step(&mut self, accumulator: usize, step: &'a FoldStep) -> Result<(), Error> {
        let value = match step {
            FoldStep::Unchanged => return self.start(accumulator),
            FoldStep::Logic { terms, operator } => return self.combine(accumulator, terms, *operator),
            FoldStep::Push(element) => return self.push(accumulator, element),
            FoldStep::Append(list) => self.append(accumulator, list),
            FoldStep::Insert(entry) => self.insert(accumulator, entry),
            FoldStep::InsertAll(call) => self.insert_all(accumulator, call),
            FoldStep::Choice { condition, branches } => {
                let [yes, no] = &**branches;
                match self.exec(condition) {
                    Ok(Value::Bool(true)) => return self.step(accumulator, yes),
                    Ok(Value::Bool(false)) => return self.step(accumulator, no),
                    Ok(_) => Err(Error::no_such_overload()),
                    Err(error) => Err(error),
                }
            }
            FoldStep::Branch(attribute) => self.resolve(attribute),
            FoldStep::Other(node) => self.exec(node),
        };
        self.replace(accumulator, value)
    }

    /// Replaces the accumulator, unless the error ends the evaluation.
    fn replace(&mut self, accumulator: usize, value: Result<Value<'a>, Error>) -> Result<(), Error> {
        match value {
            Err(error) if error.is_fatal() => Err(error),
            value => {
                self.set(accumulator, Slot::Filled(value));
                Ok(())
            }
        }
    }

    /// `accumulator && terms` or `accumulator || terms`
    fn combine(
        &mut self,
        accumulator: usize,
        terms: &'a [ProgramNode],
        operator: LogicalOperator,
    ) -> Result<(), Error> {
        self.charge_read(accumulator)?;
        let failed = match self.slot(accumulator) {
            Some(Slot::Filled(Ok(Value::Bool(value)))) if *value == operator.decisive_value() => return Ok(()),
            Some(Slot::Filled(Ok(Value::Bool(_)))) => None,
            Some(Slot::Filled(Err(error))) => Some(error.clone()),
            _ => Some(Error::no_such_overload()),
        };
        let value = self.logic_after(failed, terms, operator);
        self.replace(accumulator, value)
    }

    /// `accumulator + [element]`
    fn push(&mut self, accumulator: usize, element: &'a Element) -> Result<(), Error> {
        self.charge_read(accumulator)?;
        if self.stops_at_errors() && self.failure(accumulator).is_some() {
            return Ok(());
        }
        let mut item = match self.element(element) {
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) if self.stops_at_errors() => return self.replace(accumulator, Err(error)),
            item => item,
        };
        self.charge(NEW_LIST + 1)?;
        if let Ok(item) = &mut item
            && let Some(Slot::List(items)) = self.slot(accumulator)
        {
            items.extend(item.take());
            return Ok(());
        }
        let list = self.take(accumulator);
        let value = list.and_then(|list| match item? {
            Some(item) => extend(list, &List::Shared(Arc::new(vec![item])), &self.fuel),
            None => Ok(list),
        });
        self.replace(accumulator, value)
    }

    /// `accumulator + list`
    fn append(&mut self, accumulator: usize, list: &'a ProgramNode) -> Result<Value<'a>, Error> {
        self.charge_read(accumulator)?;
        if self.stops_at_errors()
            && let Some(error) = self.failure(accumulator)
        {
            return Err(error);
        }
        let list = self.exec_absorbable(list)?;
        self.charge_unless_failed(1, &list)?;
        let accumulator = self.take(accumulator)?;
        match list? {
            Value::List(list) => extend(accumulator, &list, &self.fuel),
            _ => Err(Error::no_such_overload()),
        }
    }

    /// `cel.@mapInsert(accumulator, key, value)`
    fn insert(&mut self, slot: usize, entry: &'a [ProgramNode; 2]) -> Result<Value<'a>, Error> {
        let [key, value] = entry;
        self.charge_read(slot)?;
        if let Some(error) = self.failure(slot) {
            return Err(error);
        }
        let key = self.exec(key)?;
        let value = self.exec_absorbable(value)?;
        self.charge_unless_failed(1, &value)?;
        let value = value?;
        match self.take(slot)? {
            Value::Map(map) => library::insert(map, &key, value, &self.fuel).map(Value::Map),
            _ => Err(Error::no_such_overload()),
        }
    }

    /// `cel.@mapInsert(accumulator, map)`, in place if the accumulator is a map.
    fn insert_all(&mut self, slot: usize, call: &'a Call) -> Result<Value<'a>, Error> {
        self.start(slot)?;
        let in_place = matches!(self.slot(slot), Some(Slot::Filled(Ok(Value::Map(Map::Shared(_))))));
        let (true, [_, added]) = (in_place, &*call.args) else { return self.call(call) };
        self.charge(1)?;
        match self.exec_absorbable(added)? {
            Ok(Value::Map(added)) => {
                self.charge(1)?;
                match self.take(slot)? {
                    Value::Map(map) => library::insert_all(map, &added, &self.fuel).map(Value::Map),
                    _ => Err(Error::no_such_overload()),
                }
            }
            Ok(_) => {
                self.charge(1)?;
                Err(Error::no_such_overload())
            }
            failed => {
                self.charge_unless_failed(1, &failed)?;
                failed
            }
        }
    }

    /// Charges a call; since cel-go 0.33, not if its last argument failed.
    fn charge_unless_failed(&mut self, cost: u64, last: &Result<Value<'a>, Error>) -> Result<(), Error> {
        if self.stops_at_errors() && last.is_err() { Ok(()) } else { self.charge(cost) }
    }
}

fn extend<'a>(accumulator: Value<'a>, list: &List<'a>, fuel: &Fuel) -> Result<Value<'a>, Error> {
    match accumulator {
        Value::List(List::Shared(mut items)) => {
            let own = Arc::make_mut(&mut items);
            for added in list.iter() {
                fuel.visit()?;
                own.push(added?);
            }
            Ok(Value::List(List::Shared(items)))
        }
        Value::List(other) => other.concat(list, fuel).map(Value::List),
        _ => Err(Error::no_such_overload()),
    }
}
