//! Estimates the minimum and maximum cost of an expression from the maximum sizes of its declared types.
//!
//! Follows cel-go's `checker/cost.go` and Kubernetes' `pkg/cel/library/cost.go`. The estimates determine which rules a
//! CRD may have, so they equal the server's exactly, including its anomalies: see [`path`].

mod declared;
mod early;
mod interval;
mod libraries;
mod nested;
mod path;
mod price;

use super::{
    ast::{CheckedAst, Comprehension, Expr, ExprId, ExprKind, Literal},
    decl::{DeclType, Shape},
    library::Overload,
    types::Type,
};
use crdx_value::release::{Minor, V1_33, V1_38};
use declared::{AstNode, Call, DeclaredSizes};
pub use interval::Interval;
use path::{AstPath, ExprPaths};

/// Estimates the cost of an expression. `root` is the declared type of the variables whose sizes are known: like the server,
/// it treats every variable as having this type.
pub fn estimate(checked: &CheckedAst, root: Option<&DeclType>) -> Interval {
    estimate_with_sizes(checked, &|path| declared_size(root, path))
}

/// Like [`estimate`], with the maximum size of the value at a path: a variable, then the names of fields, `@items`,
/// `@values` and `@keys`. Without a size, the value may have any.
pub fn estimate_with_sizes(checked: &CheckedAst, size_at: &dyn Fn(&[&str]) -> Option<u64>) -> Interval {
    if checked.server >= V1_38 {
        return nested::Estimator::new(checked, size_at).cost(&checked.ast.expr);
    }
    let size = checked.types.len();
    let mut estimator = Estimator {
        checked,
        server: checked.server,
        declared: DeclaredSizes::new(size_at),
        by_id: ExprPaths::new(size),
        sizes: vec![None; size],
        entries: vec![None; size],
        locals: Vec::new(),
        ranges: Vec::new(),
    };
    estimator.cost(&checked.ast.expr)
}

/// The sizes of the elements of a list or map.
#[derive(Clone, Copy, Debug)]
struct Entries {
    is_list: bool,
    keys: Interval,
    values: Interval,
}

impl Entries {
    fn union(self, other: Self) -> Self {
        Self { is_list: self.is_list, keys: self.keys.union(other.keys), values: self.values.union(other.values) }
    }
}

/// A loop variable, accumulator or bound variable in scope.
#[derive(Clone, Debug)]
struct Local {
    name: String,
    path: AstPath,
    size: Option<Interval>,
    entries: Option<Entries>,
}

struct Estimator<'a> {
    checked: &'a CheckedAst,
    /// The minor version of the server.
    server: Minor,
    declared: DeclaredSizes<'a>,
    by_id: ExprPaths,
    sizes: Vec<Option<Interval>>,
    entries: Vec<Option<Entries>>,
    locals: Vec<Local>,
    /// Used only without [`Estimator::tracks_locals`]: the loop variables in scope with the ids of their ranges.
    ranges: Vec<(&'a str, ExprId)>,
}

/// The cost of reading a variable or field.
const SELECT: Interval = Interval::fixed(1);
const NEW_LIST: Interval = Interval::fixed(10);
const NEW_MAP: Interval = Interval::fixed(30);
const NEW_MESSAGE: Interval = Interval::fixed(40);

impl<'a> Estimator<'a> {
    /// Returns true if local variables and the elements of lists and maps have sizes, as since cel-go 0.23; [`early`]
    /// has the older estimate.
    const fn tracks_locals(&self) -> bool {
        self.server.0 >= V1_33.0
    }

    fn cost(&mut self, expr: &'a Expr) -> Interval {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => Interval::ZERO,
            ExprKind::Ident(name) if !self.tracks_locals() => self.cost_ident_early(expr.id, name),
            ExprKind::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path,
                    None => self.declared.paths.of_variable(name),
                };
                self.by_id.set(expr.id, path);
                SELECT
            }
            ExprKind::Select { operand, test_only: true, .. } => self.cost(operand),
            ExprKind::Select { operand, field, .. } => {
                let mut sum = self.cost(operand);
                if matches!(self.checked.type_of(operand.id), Type::Map(..) | Type::Object(_)) {
                    sum = sum.add(SELECT);
                }
                let path = self.path_of(operand);
                let path = self.declared.paths.append(path, field);
                self.by_id.set(expr.id, path);
                sum
            }
            ExprKind::Call { target, function, args } => self.cost_call(expr, target.as_deref(), function, args),
            ExprKind::List { elements, .. } => {
                let mut sum = NEW_LIST;
                let mut values = if elements.is_empty() { Interval::ZERO } else { Interval::NOTHING };
                for element in elements {
                    sum = sum.add(self.cost(element));
                    values = values.union(self.entry_size(element));
                }
                self.set_entries(expr.id, Entries { is_list: true, keys: Interval::fixed(1), values });
                sum
            }
            ExprKind::Map(pairs) => {
                let mut sum = NEW_MAP;
                let nothing = if pairs.is_empty() { Interval::ZERO } else { Interval::NOTHING };
                let (mut keys, mut values) = (nothing, nothing);
                for pair in pairs {
                    sum = sum.add(self.cost(&pair.key)).add(self.cost(&pair.value));
                    keys = keys.union(self.entry_size(&pair.key));
                    values = values.union(self.entry_size(&pair.value));
                }
                self.set_entries(expr.id, Entries { is_list: false, keys, values });
                sum
            }
            ExprKind::Struct { fields, .. } => {
                fields.iter().fold(NEW_MESSAGE, |sum, field| sum.add(self.cost(&field.value)))
            }
            ExprKind::Comprehension(fold) if !self.tracks_locals() => self.cost_fold_early(expr.id, fold),
            ExprKind::Comprehension(fold) if is_bind(fold) => {
                let sum = self.cost(&fold.range).add(self.cost(&fold.accu_init));
                self.push_bound(&fold.accu_var, &fold.accu_init);
                let sum = sum.add(self.cost(&fold.result));
                self.pop(&fold.accu_var);
                self.copy_sizes(expr.id, &fold.result);
                sum
            }
            ExprKind::Comprehension(fold) => self.cost_fold(expr.id, fold),
        }
    }

    fn cost_fold(&mut self, id: ExprId, fold: &'a Comprehension) -> Interval {
        let mut sum = self.cost(&fold.range).add(self.cost(&fold.accu_init));
        self.push_bound(&fold.accu_var, &fold.accu_init);
        match &fold.iter_var2 {
            Some(second) => {
                self.push_item(&fold.iter_var, &fold.range, Item::Key);
                self.push_item(second, &fold.range, Item::Value);
            }
            None => self.push_item(&fold.iter_var, &fold.range, Item::Single),
        }
        let condition = self.cost(&fold.condition);
        let step = self.cost(&fold.step);
        self.pop(&fold.iter_var);
        if let Some(second) = &fold.iter_var2 {
            self.pop(second);
        }
        sum = sum.add(self.cost(&fold.result));
        self.pop(&fold.accu_var);
        let rounds = self.size_or_unknown(&fold.range);
        sum = sum.add(rounds.multiply(step.add(condition)));
        match &fold.accu_init.kind {
            ExprKind::Literal(_) => {
                let size = self.size(&fold.accu_init);
                self.set_size(id, size);
            }
            ExprKind::List { .. } | ExprKind::Map(_) => {
                self.set_size(id, Some(rounds));
                if let Some(entries) = self.entries_of(&fold.step) {
                    self.set_entries(id, entries);
                }
            }
            _ => {}
        }
        sum
    }

    fn cost_call(&mut self, expr: &'a Expr, target: Option<&'a Expr>, function: &str, args: &'a [Expr]) -> Interval {
        if function == "dyn"
            && self.tracks_locals()
            && let Some(arg) = args.first()
        {
            // `dyn()` has no effect at run time; its argument keeps its size.
            let sum = self.cost(arg).add(Interval::fixed(1));
            self.copy_sizes(expr.id, arg);
            return sum;
        }
        let mut nodes = Vec::with_capacity(args.len() + 1);
        let mut costs = Vec::with_capacity(args.len());
        for arg in args {
            costs.push(self.cost(arg));
            nodes.push(self.node(arg));
        }
        let overloads = self.checked.overloads(expr.id);
        if overloads.is_empty() {
            return Interval::ZERO;
        }
        let mut sum = Interval::ZERO;
        if let Some(target) = target {
            sum = self.cost(target);
            nodes.insert(0, self.node(target));
        }
        let call = Call { expr, member: target.is_some(), args: &nodes, costs: &costs };
        let mut cost = Interval::NOTHING;
        let mut size: Option<Interval> = None;
        for overload in overloads {
            let (overload_cost, overload_size) = self.overload(&call, overload);
            cost = cost.union(overload_cost);
            if let Some(found) = overload_size {
                size = Some(size.map_or(found, |size| size.union(found)));
            }
            let part = match overload.id {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(part), Some(container)) = (part, args.first()) {
                if self.tracks_locals() {
                    size = self.entries_of(container).map(|entries| entries.values);
                }
                let path = self.path_of(container);
                let path = self.declared.paths.append(path, part);
                self.by_id.set(expr.id, path);
            }
            if size.is_none() && self.tracks_locals() {
                size = self.size(expr);
            }
        }
        self.set_size(expr.id, size);
        sum.add(cost)
    }

    fn node(&mut self, expr: &'a Expr) -> AstNode<'a> {
        let mut path = self.path_of(expr);
        if self.declared.paths.first(path).is_some_and(|name| matches!(name, "@result" | "__result__")) {
            path = AstPath::NONE;
        }
        let size = if self.tracks_locals() { self.size(expr) } else { self.size_early(expr) };
        AstNode { path, type_: self.checked.type_of(expr.id), expr: Some(expr), size }
    }

    // Variables

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn pop(&mut self, name: &str) {
        if let Some(at) = self.locals.iter().rposition(|local| local.name == name) {
            self.locals.remove(at);
        }
    }

    fn push_bound(&mut self, name: &str, value: &'a Expr) {
        let (path, entries) = (self.path_of(value), self.entries_of(value));
        let size = self.size(value);
        self.locals.push(Local { name: name.to_owned(), path, size, entries });
    }

    fn push_item(&mut self, name: &str, range: &'a Expr, item: Item) {
        let entries = self.entries_of(range);
        let is_list =
            entries.map_or_else(|| matches!(self.checked.type_of(range.id), Type::List(_)), |entries| entries.is_list);
        let part = match (item, is_list) {
            (Item::Key, true) => "@indices",
            (Item::Value | Item::Single, true) => "@items",
            (Item::Value, false) => "@values",
            (Item::Key | Item::Single, false) => "@keys",
        };
        let values = item == Item::Value || item == Item::Single && is_list;
        let size = entries.map(|entries| if values { entries.values } else { entries.keys });
        let path = self.path_of(range);
        let path = self.declared.paths.append(path, part);
        self.locals.push(Local { name: name.to_owned(), path, size, entries: None });
    }

    // Paths and sizes

    fn path_of(&self, expr: &Expr) -> AstPath {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path;
        }
        self.by_id.get(expr.id)
    }

    fn set_size(&mut self, id: ExprId, size: Option<Interval>) {
        if let Some(slot) = self.sizes.get_mut(id as usize)
            && size.is_some()
        {
            *slot = size;
        }
    }

    fn set_entries(&mut self, id: ExprId, entries: Entries) {
        if self.tracks_locals()
            && let Some(slot) = self.entries.get_mut(id as usize)
        {
            *slot = Some(entries);
        }
    }

    fn copy_sizes(&mut self, id: ExprId, from: &'a Expr) {
        let size = self.size(from);
        self.set_size(id, size);
        if let Some(entries) = self.entries_of(from) {
            self.set_entries(id, entries);
        }
    }

    /// The size of an element of a list or map literal.
    fn entry_size(&mut self, expr: &'a Expr) -> Interval {
        // `size` caches its result.
        if self.tracks_locals() { self.size_or_unknown(expr) } else { Interval::UNKNOWN }
    }

    fn size_or_unknown(&mut self, expr: &'a Expr) -> Interval {
        self.size(expr).unwrap_or(Interval::UNKNOWN)
    }

    fn size(&mut self, expr: &'a Expr) -> Option<Interval> {
        if let Some(known) = self.sizes.get(expr.id as usize).copied().flatten() {
            return Some(known);
        }
        if let Some(size) = literal_size(expr) {
            return Some(size);
        }
        if let Some(size) = self.declared.of_path(self.path_of(expr)) {
            self.set_size(expr.id, Some(size));
            return Some(size);
        }
        if is_scalar(self.checked.type_of(expr.id)) {
            return Some(Interval::fixed(1));
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    fn entries_of(&self, expr: &Expr) -> Option<Entries> {
        if let Some(known) = self.entries.get(expr.id as usize).copied().flatten() {
            return Some(known);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        }
    }

    /// The size of an operand of a standard operator.
    fn operand_size(&self, node: &AstNode) -> Interval {
        if self.tracks_locals() { node.size.unwrap_or(Interval::UNKNOWN) } else { self.operand_size_early(node) }
    }
}

/// The maximum size of the value at a path that begins with a variable of type `root`.
pub(crate) fn declared_size(root: Option<&DeclType>, path: &[&str]) -> Option<u64> {
    let (_, below) = path.split_first()?;
    let mut at = root?;
    for part in below {
        at = match (&at.shape, *part) {
            (Shape::List { items, .. }, "@items" | "@values") => items,
            (Shape::Map(values), "@items" | "@values") => values,
            // Keys have no maximum size, which the estimate treats as size 0.
            (Shape::Map(_), "@keys") => &KEY,
            (Shape::Object(fields), name) => &fields.get(name)?.type_,
            _ => return None,
        };
    }
    Some(at.max_elements)
}

/// The declared type of map keys.
static KEY: DeclType = DeclType::scalar(Type::String, 0, 2);

/// The role of a loop variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Key,
    Value,
    /// The only loop variable: an item of a list, or a key of a map.
    Single,
}

impl<'a> Estimator<'a> {
    /// The cost of one overload including its arguments, and the size of its result.
    fn overload(&mut self, call: &Call<'_, 'a>, overload: &Overload) -> (Interval, Option<Interval>) {
        match overload.function {
            "_&&_" | "_||_" => {
                let (left, right) = (call.cost(0), call.cost(1));
                (Interval::new(left.min, left.add(right).max), None)
            }
            "_?_:_" => {
                let size = |index: usize| {
                    call.args.get(index).map_or(Interval::UNKNOWN, |node: &AstNode| self.operand_size(node))
                };
                let size = size(1).union(size(2));
                let branch = |index: usize| call.args.get(index)?.expr;
                if let (Some(yes), Some(no)) = (branch(1), branch(2))
                    && let (Some(yes), Some(no)) = (self.entries_of(yes), self.entries_of(no))
                {
                    self.set_entries(call.expr.id, yes.union(no));
                }
                (call.cost(0).add(call.cost(1).union(call.cost(2))), Some(size))
            }
            _ => {
                let (own, size) = self.price(call, overload);
                (own.add(call.args_cost()), size)
            }
        }
    }
}

/// Returns true if a fold only binds a variable.
fn is_bind(fold: &Comprehension) -> bool {
    matches!(&fold.range.kind, ExprKind::List { elements, .. } if elements.is_empty())
        && matches!(fold.condition.kind, ExprKind::Literal(Literal::Bool(false)))
        && fold.accu_var != "__result__"
}

fn literal_size(expr: &Expr) -> Option<Interval> {
    Some(Interval::fixed(match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => text.chars().count() as u64,
        ExprKind::Literal(Literal::Bytes(bytes)) => bytes.len() as u64,
        ExprKind::Literal(_) => 1,
        ExprKind::List { elements, .. } => elements.len() as u64,
        ExprKind::Map(entries) => entries.len() as u64,
        _ => return None,
    }))
}

fn is_scalar(type_: &Type) -> bool {
    match type_ {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Optional(inner) | Type::Wrapper(inner) => is_scalar(inner),
        _ => false,
    }
}
