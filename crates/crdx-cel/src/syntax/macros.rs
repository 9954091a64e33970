//! Macros: calls that the parser rewrites, mostly into folds.
//!
//! New nodes get their ids in the order in which cel-go's expanders create them, children before parents. Their
//! position is that of the call's parenthesis.

use super::ParserVersion;
use crate::ast::{Comprehension, Expr, ExprId, ExprKind, Literal};

/// The accumulator variable of a fold, which cannot be written in source.
const ACCUMULATOR: &str = "@result";
/// The accumulator variable in older versions, which is still rejected as a loop variable.
const OLD_ACCUMULATOR: &str = "__result__";
/// The loop variable of folds that only bind a variable.
const UNUSED: &str = "#unused";
const SORT_INPUT: &str = "@__sortBy_input__";

/// A macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Macro {
    /// `has(a.b)`
    Has,
    /// `a.all(x, p)`
    All,
    /// `a.exists(x, p)`
    Exists,
    /// `a.exists_one(x, p)`
    ExistsOne,
    /// `a.map(x, f)`, `a.map(x, p, f)`
    Map,
    /// `a.filter(x, p)`
    Filter,
    /// `a.optMap(x, f)`
    OptMap,
    /// `a.optFlatMap(x, f)`
    OptFlatMap,
    /// `a.sortBy(x, f)`
    SortBy,
    /// `a.all(i, x, p)`
    All2,
    /// `a.exists(i, x, p)`
    Exists2,
    /// `a.exists_one(i, x, p)`, `a.existsOne(i, x, p)`
    ExistsOne2,
    /// `a.transformList(i, x, f)`, `a.transformList(i, x, p, f)`
    TransformList,
    /// `a.transformMap(k, v, f)`, `a.transformMap(k, v, p, f)`
    TransformMap,
    /// `a.transformMapEntry(k, v, f)`, `a.transformMapEntry(k, v, p, f)`
    TransformMapEntry,
    /// `cel.bind(x, a, b)`
    Bind,
}

impl Macro {
    /// All macros with their name, number of arguments, and whether they are member functions.
    pub const FORMS: &[(Macro, &str, usize, bool)] = &[
        (Self::Has, "has", 1, false),
        (Self::All, "all", 2, true),
        (Self::Exists, "exists", 2, true),
        (Self::ExistsOne, "exists_one", 2, true),
        (Self::Map, "map", 2, true),
        (Self::Map, "map", 3, true),
        (Self::Filter, "filter", 2, true),
        (Self::OptMap, "optMap", 2, true),
        (Self::OptFlatMap, "optFlatMap", 2, true),
        (Self::SortBy, "sortBy", 2, true),
        (Self::All2, "all", 3, true),
        (Self::Exists2, "exists", 3, true),
        (Self::ExistsOne2, "exists_one", 3, true),
        (Self::ExistsOne2, "existsOne", 3, true),
        (Self::TransformList, "transformList", 3, true),
        (Self::TransformList, "transformList", 4, true),
        (Self::TransformMap, "transformMap", 3, true),
        (Self::TransformMap, "transformMap", 4, true),
        (Self::TransformMapEntry, "transformMapEntry", 3, true),
        (Self::TransformMapEntry, "transformMapEntry", 4, true),
        (Self::Bind, "bind", 3, true),
    ];

    /// The macro with this name and number of arguments.
    fn find(name: &str, arguments: usize, member: bool) -> Option<Self> {
        Self::FORMS.iter().find(|(_, n, a, m)| *n == name && *a == arguments && *m == member).map(|(found, ..)| *found)
    }
}

/// The set of macros available in an environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacroSet(u32);

impl MacroSet {
    /// Every macro.
    pub const ALL: Self = Self(u32::MAX);

    /// Adds a macro to the set.
    pub const fn with(self, added: Macro) -> Self {
        Self(self.0 | 1 << added as u8)
    }

    /// The macros that are in one of the sets.
    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if the set contains the macro.
    pub const fn has(self, sought: Macro) -> bool {
        self.0 >> sought as u8 & 1 == 1
    }

    /// The macro that a call with this name, receiver and number of arguments uses, if the set contains it.
    pub(super) fn find(self, name: &str, target: Option<&Expr>, arguments: usize) -> Option<Macro> {
        let found = Macro::find(name, arguments, target.is_some()).filter(|found| self.has(*found))?;
        let is_cel = || target.is_some_and(|target| matches!(&target.kind, ExprKind::Ident(name) if name == "cel"));
        (found != Macro::Bind || is_cel()).then_some(found)
    }
}

/// An error in a macro's arguments: the id of the node, and the message.
pub(super) struct MacroError(pub ExprId, pub String);

/// Assigns ids to nodes.
pub(super) trait Ids {
    /// Assigns a new id to a node at this offset.
    fn new_id(&mut self, offset: i32) -> ExprId;

    /// The code point offset of a node.
    fn offset(&self, id: ExprId) -> i32;

    fn version(&self) -> ParserVersion;
}

/// Creates nodes at the position of the macro call.
pub(super) struct Expander<'b, I> {
    ids: &'b mut I,
    offset: i32,
}

impl<'b, I: Ids> Expander<'b, I> {
    /// Creates an expander for the call with this id.
    pub fn new(ids: &'b mut I, call: ExprId) -> Self {
        let offset = ids.offset(call);
        Self { ids, offset }
    }

    /// Expands a macro call.
    pub fn expand(&mut self, which: Macro, target: Option<Expr>, mut args: Vec<Expr>) -> Result<Expr, MacroError> {
        if which == Macro::Has {
            let Some(arg) = args.pop() else { return Ok(self.node(ExprKind::Unspecified)) };
            return match arg.kind {
                ExprKind::Select { operand, field, .. } => {
                    Ok(self.node(ExprKind::Select { operand, field, test_only: true }))
                }
                _ => Err(MacroError(arg.id, "invalid argument to has() macro".to_owned())),
            };
        }
        let Some(target) = target else { return Ok(self.node(ExprKind::Unspecified)) };
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or(Expr { id: 0, kind: ExprKind::Unspecified });
        match which {
            Macro::Has => Ok(target),
            Macro::All | Macro::Exists | Macro::ExistsOne => {
                let var = loop_variable(&next(), "argument must be a simple name")?;
                let parts = self.quantifier(which, next());
                Ok(self.fold(target, var, None, parts))
            }
            Macro::Map => {
                let (var, first) = (next(), next());
                self.map(target, &var, first, args.next())
            }
            Macro::Filter => {
                let (item, predicate) = (next(), next());
                let var = loop_variable(&item, "argument is not an identifier")?;
                let init = self.list(Vec::new());
                let condition = self.bool(true);
                let accumulator = self.accumulator();
                let added = self.list(vec![item]);
                let step = self.call("_+_", vec![accumulator, added]);
                let step = self.conditional(predicate, step);
                let result = self.accumulator();
                Ok(self.fold(target, var, None, Fold { init, condition, step, result }))
            }
            Macro::OptMap | Macro::OptFlatMap => {
                let (var, body) = (next(), next());
                let ExprKind::Ident(name) = var.kind else {
                    let macro_name = if which == Macro::OptMap { "optMap" } else { "optFlatMap" };
                    return Err(MacroError(
                        var.id,
                        format!("{macro_name}() variable name must be a simple identifier"),
                    ));
                };
                Ok(self.opt_map(which, target, &name, body))
            }
            Macro::Bind => {
                let (var, init, body) = (next(), next(), next());
                let ExprKind::Ident(name) = var.kind else {
                    let text = "cel.bind() variable names must be simple identifiers";
                    return Err(MacroError(var.id, text.to_owned()));
                };
                let range = self.list(Vec::new());
                Ok(self.bind_to(range, &name, init, body))
            }
            Macro::SortBy => {
                let (var, key) = (next(), next());
                self.sort_by(target, &var, key)
            }
            Macro::All2 | Macro::Exists2 | Macro::ExistsOne2 => {
                let (first, second) = loop_variables(&next(), &next())?;
                let parts = self.quantifier(which, next());
                Ok(self.fold(target, first, Some(second), parts))
            }
            Macro::TransformList | Macro::TransformMap | Macro::TransformMapEntry => {
                let (first, second) = loop_variables(&next(), &next())?;
                let (body, more) = (next(), args.next());
                let (filter, body) = match more {
                    Some(more) => (Some(body), more),
                    None => (None, body),
                };
                Ok(self.transform(which, target, (first, second), filter, body))
            }
        }
    }

    fn node(&mut self, kind: ExprKind) -> Expr {
        Expr { id: self.ids.new_id(self.offset), kind }
    }

    fn bool(&mut self, value: bool) -> Expr {
        self.node(ExprKind::Literal(Literal::Bool(value)))
    }

    fn int(&mut self, value: i64) -> Expr {
        self.node(ExprKind::Literal(Literal::Int(value)))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.node(ExprKind::Ident(name.to_owned()))
    }

    fn accumulator(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.node(ExprKind::List { elements, optional_indices: Vec::new() })
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.node(ExprKind::Call { target: None, function: function.to_owned(), args })
    }

    fn member_call(&mut self, target: Expr, function: &str, args: Vec<Expr>) -> Expr {
        self.node(ExprKind::Call { target: Some(Box::new(target)), function: function.to_owned(), args })
    }

    /// `predicate ? step : @result`
    fn conditional(&mut self, predicate: Expr, step: Expr) -> Expr {
        let otherwise = self.accumulator();
        self.call("_?_:_", vec![predicate, step, otherwise])
    }

    fn fold(&mut self, range: Expr, iter_var: String, iter_var2: Option<String>, parts: Fold) -> Expr {
        self.bind(range, (iter_var, iter_var2), ACCUMULATOR, parts)
    }

    fn bind(&mut self, range: Expr, vars: (String, Option<String>), accu_var: &str, parts: Fold) -> Expr {
        self.node(ExprKind::Comprehension(Box::new(Comprehension {
            range,
            iter_var: vars.0,
            iter_var2: vars.1,
            accu_var: accu_var.to_owned(),
            accu_init: parts.init,
            condition: parts.condition,
            step: parts.step,
            result: parts.result,
        })))
    }

    fn quantifier(&mut self, which: Macro, predicate: Expr) -> Fold {
        match which {
            Macro::All | Macro::All2 => {
                let init = self.bool(true);
                let accumulator = self.accumulator();
                let condition = self.call("@not_strictly_false", vec![accumulator]);
                let accumulator = self.accumulator();
                let step = self.call("_&&_", vec![accumulator, predicate]);
                Fold { init, condition, step, result: self.accumulator() }
            }
            Macro::Exists | Macro::Exists2 => {
                let init = self.bool(false);
                let accumulator = self.accumulator();
                let not = self.call("!_", vec![accumulator]);
                let condition = self.call("@not_strictly_false", vec![not]);
                let accumulator = self.accumulator();
                let step = self.call("_||_", vec![accumulator, predicate]);
                Fold { init, condition, step, result: self.accumulator() }
            }
            _ => {
                let init = self.int(0);
                let condition = self.bool(true);
                let (accumulator, one) = (self.accumulator(), self.int(1));
                let more = self.call("_+_", vec![accumulator, one]);
                let step = self.conditional(predicate, more);
                let (accumulator, one) = (self.accumulator(), self.int(1));
                Fold { init, condition, step, result: self.call("_==_", vec![accumulator, one]) }
            }
        }
    }

    fn map(&mut self, target: Expr, var: &Expr, first: Expr, second: Option<Expr>) -> Result<Expr, MacroError> {
        let var = loop_variable(var, "argument is not an identifier")?;
        let (filter, body) = match second {
            Some(second) => (Some(first), second),
            None => (None, first),
        };
        let init = self.list(Vec::new());
        let condition = self.bool(true);
        let step = self.append(filter, body);
        let result = self.accumulator();
        Ok(self.fold(target, var, None, Fold { init, condition, step, result }))
    }

    /// `@result + [body]`, conditional on `filter` if there is one.
    fn append(&mut self, filter: Option<Expr>, body: Expr) -> Expr {
        let accumulator = self.accumulator();
        let added = self.list(vec![body]);
        let step = self.call("_+_", vec![accumulator, added]);
        match filter {
            Some(filter) => self.conditional(filter, step),
            None => step,
        }
    }

    fn transform(
        &mut self,
        which: Macro,
        target: Expr,
        (first, second): (String, String),
        filter: Option<Expr>,
        body: Expr,
    ) -> Expr {
        let mut step = if which == Macro::TransformList {
            self.append(None, body)
        } else {
            let mut args = vec![self.accumulator()];
            if which == Macro::TransformMap {
                args.push(self.ident(&first));
            }
            args.push(body);
            self.call("cel.@mapInsert", args)
        };
        if let Some(filter) = filter {
            step = self.conditional(filter, step);
        }
        let init = match which {
            Macro::TransformList => self.list(Vec::new()),
            _ => self.node(ExprKind::Map(Vec::new())),
        };
        let condition = self.bool(true);
        let result = self.accumulator();
        self.fold(target, first, Some(second), Fold { init, condition, step, result })
    }

    fn opt_map(&mut self, which: Macro, target: Expr, name: &str, body: Expr) -> Expr {
        let copy_of = target.clone();
        let has_value = self.member_call(target, "hasValue", Vec::new());
        let range = self.list(Vec::new());
        // The ids of the copy limit the size of the tree, even if it is not used.
        let copy = self.copy(&copy_of);
        let copy = if self.ids.version().reuses_targets() { copy_of } else { copy };
        let init = self.member_call(copy, "value", Vec::new());
        let bound = self.bind_to(range, name, init, body);
        let some = if which == Macro::OptMap { self.call("optional.of", vec![bound]) } else { bound };
        let none = self.call("optional.none", Vec::new());
        self.call("_?_:_", vec![has_value, some, none])
    }

    /// A fold over `range`, an empty list, that binds `name` to `init` in `body`.
    fn bind_to(&mut self, range: Expr, name: &str, init: Expr, body: Expr) -> Expr {
        let condition = self.bool(false);
        let step = self.ident(name);
        self.bind(range, (UNUSED.to_owned(), None), name, Fold { init, condition, step, result: body })
    }

    fn sort_by(&mut self, target: Expr, var: &Expr, key: Expr) -> Result<Expr, MacroError> {
        let input = self.ident(SORT_INPUT);
        if !matches!(
            target.kind,
            ExprKind::List { .. }
                | ExprKind::Select { .. }
                | ExprKind::Ident(_)
                | ExprKind::Comprehension(_)
                | ExprKind::Call { .. }
        ) {
            let text = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err(MacroError(target.id, text.to_owned()));
        }
        let range = self.copy(&input);
        let keys = self.map(range, var, key, None)?;
        let sorted = self.copy(&input);
        let call = self.member_call(sorted, "@sortByAssociatedKeys", vec![keys]);
        let empty = self.list(Vec::new());
        let never = self.bool(false);
        let parts = Fold { init: target, condition: never, step: input, result: call };
        Ok(self.bind(empty, (UNUSED.to_owned(), None), SORT_INPUT, parts))
    }

    /// Copies a tree with new ids, parents before children, and the same positions.
    fn copy(&mut self, expr: &Expr) -> Expr {
        let offset = self.ids.offset(expr.id).max(0);
        let id = self.ids.new_id(offset);
        let kind = match &expr.kind {
            ExprKind::Unspecified => ExprKind::Unspecified,
            ExprKind::Literal(value) => ExprKind::Literal(value.clone()),
            ExprKind::Ident(name) => ExprKind::Ident(name.clone()),
            ExprKind::Select { operand, field, test_only } => {
                ExprKind::Select { operand: Box::new(self.copy(operand)), field: field.clone(), test_only: *test_only }
            }
            ExprKind::Call { target, function, args } => {
                let args = args.iter().map(|arg| self.copy(arg)).collect();
                let target = target.as_ref().map(|target| Box::new(self.copy(target)));
                ExprKind::Call { target, function: function.clone(), args }
            }
            ExprKind::List { elements, optional_indices } => ExprKind::List {
                elements: elements.iter().map(|element| self.copy(element)).collect(),
                optional_indices: optional_indices.clone(),
            },
            ExprKind::Map(entries) => ExprKind::Map(
                entries
                    .iter()
                    .map(|entry| crate::ast::MapEntry {
                        id: self.ids.new_id(self.offset),
                        key: self.copy(&entry.key),
                        value: self.copy(&entry.value),
                        optional: entry.optional,
                    })
                    .collect(),
            ),
            ExprKind::Struct { type_name, fields } => ExprKind::Struct {
                type_name: type_name.clone(),
                fields: fields
                    .iter()
                    .map(|field| crate::ast::StructField {
                        id: self.ids.new_id(self.offset),
                        name: field.name.clone(),
                        value: self.copy(&field.value),
                        optional: field.optional,
                    })
                    .collect(),
            },
            ExprKind::Comprehension(fold) => ExprKind::Comprehension(Box::new(Comprehension {
                range: self.copy(&fold.range),
                iter_var: fold.iter_var.clone(),
                iter_var2: fold.iter_var2.clone(),
                accu_var: fold.accu_var.clone(),
                accu_init: self.copy(&fold.accu_init),
                condition: self.copy(&fold.condition),
                step: self.copy(&fold.step),
                result: self.copy(&fold.result),
            })),
        };
        Expr { id, kind }
    }
}

/// The parts of a fold that use its accumulator.
struct Fold {
    init: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

fn loop_variable(expr: &Expr, otherwise: &str) -> Result<String, MacroError> {
    match &expr.kind {
        ExprKind::Ident(name) if name == ACCUMULATOR || name == OLD_ACCUMULATOR => {
            Err(MacroError(expr.id, "iteration variable overwrites accumulator variable".to_owned()))
        }
        ExprKind::Ident(name) => Ok(name.clone()),
        _ => Err(MacroError(expr.id, otherwise.to_owned())),
    }
}

fn loop_variables(first: &Expr, second: &Expr) -> Result<(String, String), MacroError> {
    let name = |expr: &Expr| match &expr.kind {
        ExprKind::Ident(name) => Ok(name.clone()),
        _ => Err(MacroError(expr.id, "argument must be a simple name".to_owned())),
    };
    let (one, two) = (name(first)?, name(second)?);
    if one == two {
        return Err(MacroError(second.id, format!("duplicate variable name: {one}")));
    }
    let text = "argument must be a simple name";
    loop_variable(first, text)?;
    loop_variable(second, text)?;
    Ok((one, two))
}
