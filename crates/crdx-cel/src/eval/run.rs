//! Executes a program and counts its runtime cost.

use super::{
    LazyFields, Outcome, Program,
    call::Callee,
    cost,
    cost_limit::RuntimeCost,
    node::{Attribute, Call, Element, LogicalOperator, MapEntryNode, Match, MatchKind, MessageNode, ProgramNode, Root},
};
use crate::{
    library,
    value::{Error, Fuel, Map, MapKey, Message, Text, Value, equal, message, well_known},
};
use crdx_regexp::{Error as RegexpError, Regexp};
use crdx_value::release::{Minor, V1_37, V1_38};
use crdx_value::steps::Steps;
use std::{collections::BTreeMap, sync::Arc};

/// A slot for a variable.
#[derive(Debug)]
pub(super) enum Slot<'a> {
    Empty,
    /// An accumulator that has not been evaluated yet.
    Pending(&'a ProgramNode),
    Filled(Result<Value<'a>, Error>),
    /// An accumulator that is a list which the loop creates.
    List(Vec<Value<'a>>),
}

/// The state of one evaluation.
pub(super) struct Evaluator<'a, 'f> {
    /// Computes the fields of [`Map::Lazy`] values.
    pub(super) fields: Option<&'f dyn LazyFields<'a>>,
    /// The values of the environment's variables, which come before the slots.
    variables: &'f [Result<Value<'a>, Error>],
    /// The number of variables that the program was planned with.
    first_slot: usize,
    /// Loop variables and accumulators.
    slots: Vec<Slot<'a>>,
    cost: RuntimeCost,
    pub(super) fuel: Fuel,
    pub(super) server: Minor,
    /// The number of items of the list that a loop iterates over.
    pub(super) expected: usize,
    /// The last non-constant pattern, cached because loops often reuse it.
    compiled: Option<(Text<'a>, Regexp)>,
}

/// Runs the program.
pub(super) fn run<'a, 'f>(
    program: &'a Program,
    variables: &'f [Result<Value<'a>, Error>],
    fields: Option<&'f dyn LazyFields<'a>>,
    limit: u64,
    steps: &Steps,
) -> Outcome<'a> {
    let mut slots = Vec::new();
    slots.resize_with(program.slots, || Slot::Empty);
    let (first_slot, server) = (program.variables, program.server);
    let fuel = Fuel::of_evaluation(server, steps);
    let before = fuel.left();
    let mut evaluator = Evaluator {
        fields,
        variables,
        first_slot,
        slots,
        cost: RuntimeCost::new(limit),
        fuel,
        server,
        expected: 0,
        compiled: None,
    };
    let mut result = evaluator.exec(&program.root);
    // A call over the limit is not executed, whatever its cost.
    let cost = evaluator.cost.total.min(limit);
    let taken = steps.take((before - evaluator.fuel.left()).saturating_add(cost));
    if evaluator.fuel.is_empty() || taken.is_err() {
        steps.take_all();
        result = Err(Error::Interrupted);
    }
    Outcome { result, cost: evaluator.cost.total }
}

/// The inner result may be an error that `&&`, `||` and loops absorb; the outer error ends the evaluation.
type Absorbable<'a> = Result<Result<Value<'a>, Error>, Error>;

impl<'a> Evaluator<'a, '_> {
    /// Adds to the runtime cost.
    ///
    /// # Errors
    /// Returns an error if the cost exceeds the limit.
    #[inline]
    pub(super) fn charge(&mut self, cost: u64) -> Result<(), Error> {
        self.cost.charge(cost)
    }

    /// Returns true if a call or literal with a failed operand costs nothing and evaluates no further operand, as since cel-go 0.33
    /// (Kubernetes 1.38).
    pub(super) const fn stops_at_errors(&self) -> bool {
        self.server.0 >= V1_38.0
    }

    /// Charges a new list or map.
    fn made(&mut self, cost: u64, result: Result<Value<'a>, Error>) -> Result<Value<'a>, Error> {
        if self.stops_at_errors() && result.is_err() { result } else { self.charged(cost, result) }
    }

    /// Charges a step after its evaluation, unless the step ended the evaluation.
    #[inline]
    fn charged(&mut self, cost: u64, result: Result<Value<'a>, Error>) -> Result<Value<'a>, Error> {
        if !matches!(&result, Err(error) if error.is_fatal()) {
            self.charge(cost)?;
        }
        result
    }

    pub(super) fn exec_absorbable(&mut self, node: &'a ProgramNode) -> Absorbable<'a> {
        match self.exec(node) {
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => {
                // The text of an error may contain a value.
                self.fuel.write(error.text_length())?;
                Ok(Err(error))
            }
            value => Ok(value),
        }
    }

    /// The value of a variable. An accumulator is evaluated on first use.
    pub(super) fn read(&mut self, slot: usize) -> Result<Value<'a>, Error> {
        let missing = || Err(Error::new("no such attribute(s)"));
        if slot < self.first_slot {
            return self.variables.get(slot).cloned().unwrap_or_else(missing);
        }
        if let Some(Slot::Filled(value)) = self.slot(slot) {
            return value.clone();
        }
        self.start(slot)?;
        let value = self.take(slot);
        self.set(slot, Slot::Filled(value.clone()));
        value
    }

    #[inline]
    pub(super) fn slot(&mut self, slot: usize) -> Option<&mut Slot<'a>> {
        self.slots.get_mut(slot.checked_sub(self.first_slot)?)
    }

    /// Evaluates an accumulator that has not been evaluated yet.
    #[inline]
    pub(super) fn start(&mut self, slot: usize) -> Result<(), Error> {
        match self.slot(slot) {
            Some(Slot::Pending(init)) => {
                let init: &'a ProgramNode = init;
                self.initialize(slot, init)
            }
            _ => Ok(()),
        }
    }

    fn initialize(&mut self, slot: usize, init: &'a ProgramNode) -> Result<(), Error> {
        let content = match self.exec_absorbable(init)? {
            // The fold later changes it in place, so it needs an owned list or map.
            Ok(Value::List(list)) if list.is_empty() => Slot::List(Vec::with_capacity(self.expected)),
            Ok(Value::Map(map)) if map.is_empty() => Slot::Filled(Ok(Value::Map(Map::Shared(Arc::default())))),
            other => Slot::Filled(other),
        };
        self.set(slot, content);
        Ok(())
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, content: Slot<'a>) {
        if let Some(target) = self.slot(slot) {
            *target = content;
        }
    }

    /// Takes the accumulator out of its slot, to be replaced by a modified value.
    pub(super) fn take(&mut self, slot: usize) -> Result<Value<'a>, Error> {
        match self.slot(slot).map(|target| std::mem::replace(target, Slot::Empty)) {
            Some(Slot::Filled(value)) => value,
            Some(Slot::List(items)) => Ok(Value::list(items)),
            _ => Err(Error::new("no such attribute(s)")),
        }
    }

    /// The value of the accumulator, if it is a boolean.
    #[inline]
    pub(super) fn boolean(&mut self, slot: usize) -> Option<bool> {
        match self.slot(slot) {
            Some(Slot::Filled(Ok(value))) => value.as_bool(),
            _ => None,
        }
    }

    /// The error of the accumulator, if its evaluation failed.
    pub(super) fn failure(&mut self, slot: usize) -> Option<Error> {
        match self.slot(slot) {
            Some(Slot::Filled(Err(error))) => Some(error.clone()),
            _ => None,
        }
    }

    /// Evaluates the accumulator if necessary, and charges for reading it.
    #[inline]
    pub(super) fn charge_read(&mut self, slot: usize) -> Result<(), Error> {
        self.start(slot)?;
        self.charge(1)
    }

    pub(super) fn exec(&mut self, node: &'a ProgramNode) -> Result<Value<'a>, Error> {
        match node {
            ProgramNode::Constant(constant) => Ok(constant.value()),
            ProgramNode::Attribute(Attribute { root: Root::Slot(slot), qualifiers }) if qualifiers.is_empty() => {
                let value = self.read(*slot).map(|value| self.optional_as_read(value));
                self.charged(1, value)
            }
            ProgramNode::Attribute(attribute) => {
                let value = self.resolve(attribute);
                let own = u64::from(!matches!(attribute.root, Root::Choice { .. }));
                self.charged(own, value)
            }
            ProgramNode::Has(attribute) => {
                let value = self.resolve(attribute).map(|value| match value {
                    Value::Optional(found) => Value::Bool(found.is_some()),
                    other => other,
                });
                // Before cel-go 0.33, a presence test of a conditional reduces the cost.
                if self.server < V1_38 && matches!(attribute.root, Root::Choice { .. }) {
                    self.cost.total = self.cost.total.wrapping_sub(1);
                }
                self.charged(0, value)
            }
            ProgramNode::And(terms) => self.logic(terms, LogicalOperator::And),
            ProgramNode::Or(terms) => self.logic(terms, LogicalOperator::Or),
            ProgramNode::Equal { sides, negated } => self.equality(sides, *negated),
            ProgramNode::NotStrictlyFalse(inner) => {
                let value = self.exec_absorbable(inner)?;
                self.charge(1)?;
                Ok(Value::Bool(!matches!(value, Ok(Value::Bool(false)))))
            }
            ProgramNode::Call(call) => self.call(call),
            ProgramNode::Match(call) => self.match_pattern(call),
            ProgramNode::InSet(item, set) => {
                let item = self.exec(item)?;
                let key = self.key(&item)?;
                Ok(Value::Bool(set.contains(&key)))
            }
            ProgramNode::List(elements) => {
                let mut items = Vec::with_capacity(elements.len());
                let outcome = elements.iter().try_for_each(|element| {
                    items.extend(self.element(element)?);
                    Ok(())
                });
                let list = outcome.map(|()| Value::list(items));
                self.made(cost::NEW_LIST, list)
            }
            ProgramNode::Map(entries) => {
                let map = self.entries(entries);
                self.made(cost::NEW_MAP, map)
            }
            ProgramNode::Message(message) => {
                let made = match self.fields_of(message) {
                    Err(error) if self.stops_at_errors() => return Err(error),
                    fields => fields.and_then(|fields| make_message(message, fields)),
                };
                self.charged(cost::NEW_MESSAGE, made)
            }
            ProgramNode::Fold(fold) => self.fold(fold),
            ProgramNode::Otherwise { sides, value } => {
                let [first, second] = &**sides;
                match self.exec(first)? {
                    Value::Optional(Some(inner)) if *value => Ok((*inner).clone()),
                    found @ Value::Optional(Some(_)) => Ok(found),
                    Value::Optional(None) => self.exec(second),
                    // Before cel-go 0.29, the type is not checked.
                    found if self.server < V1_37 => Ok(found),
                    _ => Err(Error::no_such_overload()),
                }
            }
        }
    }

    /// `&&` and `||`: a decisive operand ends the evaluation. The result is an error only if no operand is decisive.
    fn logic(&mut self, terms: &'a [ProgramNode], operator: LogicalOperator) -> Result<Value<'a>, Error> {
        self.logic_after(None, terms, operator)
    }

    /// The terms of `&&` or `||` after earlier ones that were not decisive, or `failed`.
    pub(super) fn logic_after(
        &mut self,
        mut failed: Option<Error>,
        terms: &'a [ProgramNode],
        operator: LogicalOperator,
    ) -> Result<Value<'a>, Error> {
        let decisive = operator.decisive_value();
        for term in terms {
            match self.exec_absorbable(term)? {
                Ok(Value::Bool(b)) if b == decisive => return Ok(Value::Bool(decisive)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => failed = failed.or_else(|| Some(Error::no_such_overload())),
                Err(error) => {
                    failed = Some(match failed {
                        None => error,
                        Some(first) => first.or_unknown(error),
                    });
                }
            }
        }
        failed.map_or(Ok(Value::Bool(!decisive)), Err)
    }

    fn equality(&mut self, sides: &'a [ProgramNode; 2], negated: bool) -> Result<Value<'a>, Error> {
        let [a, b] = sides;
        let a = self.exec_absorbable(a)?;
        let b = if a.is_err() && self.stops_at_errors() { Ok(Value::Null) } else { self.exec_absorbable(b)? };
        let function = if negated { "_!=_" } else { "_==_" };
        self.charge(cost::equality(self.server, function, a.as_ref().ok(), b.as_ref().ok()))?;
        let (a, b) = (a?, b?);
        match equal(&a, &b, &self.fuel) {
            Ok(same) => Ok(Value::Bool(same != negated)),
            Err(error) if error.is_fatal() || !negated => Err(error),
            // Values that cannot be compared are unequal.
            Err(_) => Ok(Value::Bool(true)),
        }
    }

    /// Evaluates an element of a list literal; `None` for an optional element without a value.
    pub(super) fn element(&mut self, element: &'a Element) -> Result<Option<Value<'a>>, Error> {
        let value = self.exec(&element.node)?;
        match value {
            Value::Optional(value) if element.optional => Ok(value.map(|value| (*value).clone())),
            other if element.optional => Err(Error::new(format!(
                "cannot initialize optional list element from non-optional value {}",
                other.plain()
            ))),
            value => Ok(Some(value)),
        }
    }

    fn entries(&mut self, entries: &'a [MapEntryNode]) -> Result<Value<'a>, Error> {
        let mut map = BTreeMap::new();
        for entry in entries {
            let key = self.exec(&entry.key)?;
            let value = match self.exec(&entry.value)? {
                Value::Optional(None) if entry.optional => {
                    map.remove(&self.key(&key)?);
                    continue;
                }
                Value::Optional(Some(value)) if entry.optional => (*value).clone(),
                other if entry.optional => {
                    let (key, value) = (key.plain(), other.plain());
                    let text = format!("cannot initialize optional entry '{key}' from non-optional value {value}");
                    return Err(Error::new(text));
                }
                value => value,
            };
            map.insert(self.key(&key)?, value);
        }
        Ok(Value::Map(Map::Shared(Arc::new(map))))
    }

    /// Converts a value to a key.
    fn key(&self, value: &Value<'a>) -> Result<MapKey<'a>, Error> {
        let key = MapKey::from_value(value)?;
        self.fuel.write(key.text_length())?;
        Ok(key)
    }

    fn fields_of(&mut self, node: &'a MessageNode) -> Result<MessageFields<'a>, Error> {
        let mut fields = BTreeMap::new();
        for field in &node.fields {
            let value = match self.exec(&field.value)? {
                Value::Optional(None) if field.optional => {
                    fields.remove(&field.name);
                    continue;
                }
                Value::Optional(Some(value)) if field.optional => (*value).clone(),
                other if field.optional => {
                    let (name, value) = (&field.name, other.plain());
                    let text = format!("cannot initialize optional entry '{name}' from non-optional value {value}");
                    return Err(Error::new(text));
                }
                value => value,
            };
            fields.insert(Arc::clone(&field.name), value);
        }
        Ok(fields)
    }

    pub(super) fn call(&mut self, call: &'a Call) -> Result<Value<'a>, Error> {
        match &*call.args {
            [a] => match self.exec(a) {
                Ok(a) => self.invoke(&call.callee, &[a]),
                Err(error) => self.fail(&call.callee, &[None], error),
            },
            [a, b] => match self.exec(a) {
                Ok(a) => match self.exec(b) {
                    Ok(b) => self.invoke(&call.callee, &[a, b]),
                    Err(error) => self.fail(&call.callee, &[Some(&a), None], error),
                },
                Err(error) if call.stops_at_error || self.stops_at_errors() || error.is_fatal() => Err(error),
                Err(error) => {
                    let b = self.exec_absorbable(b)?;
                    self.fail(&call.callee, &[None, b.as_ref().ok()], error)
                }
            },
            [args @ .., last] => {
                let mut values = Vec::with_capacity(args.len() + 1);
                for arg in args {
                    values.push(self.exec(arg)?);
                }
                match self.exec_absorbable(last)? {
                    Ok(last) => values.push(last),
                    Err(error) => {
                        let mut known: Vec<_> = values.iter().map(Some).collect();
                        known.push(None);
                        return self.fail(&call.callee, &known, error);
                    }
                }
                self.invoke(&call.callee, &values)
            }
            [] => self.invoke(&call.callee, &[]),
        }
    }

    /// Charges a call that is not executed because an argument failed, unless the error ends the evaluation. Since 1.38, only `!` is charged.
    fn fail(&mut self, callee: &Callee, args: &[Option<&Value<'a>>], error: Error) -> Result<Value<'a>, Error> {
        if error.is_fatal() || self.stops_at_errors() && callee.function != "!_" {
            return Err(error);
        }
        let cost = cost::before(self.server, callee, args, &self.fuel)?
            .unwrap_or_else(|| cost::after(self.server, callee, None));
        self.charge(cost)?;
        Err(error)
    }

    fn invoke(&mut self, callee: &Callee, values: &[Value<'a>]) -> Result<Value<'a>, Error> {
        let known = match values {
            [a] => cost::before(self.server, callee, &[Some(a)], &self.fuel),
            [a, b] => cost::before(self.server, callee, &[Some(a), Some(b)], &self.fuel),
            _ => cost::before(self.server, callee, &values.iter().map(Some).collect::<Vec<_>>(), &self.fuel),
        };
        if let Some(cost) = known? {
            self.charge(cost)?;
            let result = self.compute(callee, values);
            // If the server panics, it has not charged the call yet.
            if matches!(result, Err(Error::Internal(_))) {
                self.cost.total = self.cost.total.saturating_sub(cost);
            }
            return result;
        }
        let result = self.compute(callee, values);
        self.charged(cost::after(self.server, callee, result.as_ref().ok()), result)
    }

    fn compute(&mut self, callee: &Callee, values: &[Value<'a>]) -> Result<Value<'a>, Error> {
        let (text, pattern, limit) = match values {
            [Value::String(text), Value::String(pattern)] => (text, pattern, -1),
            [Value::String(text), Value::String(pattern), Value::Int(limit)] => (text, pattern, *limit),
            _ => return callee.invoke(values, &self.fuel),
        };
        match MatchKind::of(callee.function) {
            Some(kind) => self.match_computed(kind, text, pattern, limit),
            None => callee.invoke(values, &self.fuel),
        }
    }

    fn match_computed(
        &mut self,
        kind: MatchKind,
        text: &Text<'a>,
        pattern: &Text<'a>,
        limit: i64,
    ) -> Result<Value<'a>, Error> {
        if self.compiled.as_ref().is_none_or(|(source, _)| source != pattern) {
            let compiled = Regexp::new(pattern).map_err(|error| match error {
                RegexpError::Unfinished => Error::Interrupted,
                RegexpError::Syntax { .. } if kind == MatchKind::Matches => Error::new(error.to_string()),
                RegexpError::Syntax { .. } => Error::new(format!("Illegal regex: {error}")),
            })?;
            self.compiled = Some((pattern.clone(), compiled));
        }
        let Some((_, pattern)) = &self.compiled else {
            return Err(Error::no_such_overload());
        };
        self.matched(kind, pattern, text, limit)
    }

    fn matched(&self, kind: MatchKind, pattern: &Regexp, text: &Text<'a>, limit: i64) -> Result<Value<'a>, Error> {
        if kind != MatchKind::FindAll {
            library::spend_match(pattern, text, &self.fuel)?;
        }
        match kind {
            MatchKind::Matches => Ok(Value::Bool(pattern.is_match(text))),
            MatchKind::Find => Ok(library::first_match(pattern, text)),
            MatchKind::FindAll => library::all_matches(pattern, text, limit, &self.fuel),
        }
    }

    fn match_pattern(&mut self, call: &'a Match) -> Result<Value<'a>, Error> {
        let text = self.exec(&call.text)?;
        let limit = match &call.limit {
            None => Ok(Value::Int(-1)),
            Some(node) => self.exec_absorbable(node)?,
        };
        if self.stops_at_errors()
            && let Err(error) = limit
        {
            return Err(error);
        }
        let cost = cost::before(self.server, &call.callee, &[Some(&text), Some(&call.pattern_value)], &self.fuel)?;
        self.charge(cost.unwrap_or(0))?;
        match (text, limit?) {
            (Value::String(text), Value::Int(limit)) => self.matched(call.kind, &call.pattern, &text, limit),
            _ => Err(Error::no_such_overload()),
        }
    }
}

type MessageFields<'a> = BTreeMap<Arc<str>, Value<'a>>;

fn make_message<'a>(node: &MessageNode, fields: MessageFields<'a>) -> Result<Value<'a>, Error> {
    if !message::is_type(&node.type_name) {
        return well_known::make(&node.type_name, fields);
    }
    Message::new(&node.type_name, fields).map(|message| Value::Message(Arc::new(message)))
}
