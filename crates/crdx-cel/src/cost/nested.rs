//! The cost estimate of cel-go since 0.33 (Kubernetes 1.38): the size of a list or map includes the sizes of its elements and keys, which may be
//! containers themselves.
//!
//! Follows `common/cost/estimator.go` with the default sizing strategy and cost model version 0, which Kubernetes sets.

mod call;
mod optionals;
mod size;
mod sizing;

use super::{
    Interval, NEW_LIST, NEW_MAP, NEW_MESSAGE, SELECT,
    declared::{AstNode, DeclaredSizes},
    path::{AstPath, ExprPaths},
};
use crate::{
    ast::{CheckedAst, Comprehension, Expr, ExprId, ExprKind, Literal},
    types::Type,
};
use size::{Size, Sizes};

/// A loop variable, accumulator or bound variable in scope.
struct Local<'a> {
    name: &'a str,
    path: AstPath,
    size: Option<Size>,
}

/// Estimates the cost of one expression (`coster`).
pub(super) struct Estimator<'a> {
    checked: &'a CheckedAst,
    declared: DeclaredSizes<'a>,
    /// The paths of expressions, by id.
    by_id: ExprPaths,
    /// The sizes of expressions, by id.
    computed: Vec<Option<Size>>,
    locals: Vec<Local<'a>>,
    sizes: Sizes,
}

impl<'a> Estimator<'a> {
    /// An estimator without any result.
    pub fn new(checked: &'a CheckedAst, size_at: &'a dyn Fn(&[&str]) -> Option<u64>) -> Self {
        let count = checked.types.len();
        Self {
            checked,
            declared: DeclaredSizes::new(size_at),
            by_id: ExprPaths::new(count),
            computed: vec![None; count],
            locals: Vec::new(),
            sizes: Sizes::default(),
        }
    }

    /// The cost of an expression, whose paths and sizes are recorded.
    pub fn cost(&mut self, expr: &'a Expr) -> Interval {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => Interval::ZERO,
            ExprKind::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path,
                    None => self.declared.paths.of_variable(name),
                };
                self.by_id.set(expr.id, path);
                SELECT
            }
            ExprKind::Select { operand, field, test_only } => {
                let own = if *test_only { branch_qualifier_cost(operand) } else { SELECT };
                let sum = own.add(self.cost(operand));
                self.append_path(expr.id, operand, field);
                sum
            }
            ExprKind::Call { target, function, args } => self.cost_call(expr, target.as_deref(), function, args),
            ExprKind::List { elements, .. } => {
                elements.iter().fold(NEW_LIST, |sum, element| sum.add(self.cost(element)))
            }
            ExprKind::Map(pairs) => {
                pairs.iter().fold(NEW_MAP, |sum, pair| sum.add(self.cost(&pair.key)).add(self.cost(&pair.value)))
            }
            ExprKind::Struct { fields, .. } => {
                fields.iter().fold(NEW_MESSAGE, |sum, field| sum.add(self.cost(&field.value)))
            }
            ExprKind::Comprehension(fold) if is_bind(fold) => self.cost_bind(expr.id, fold),
            ExprKind::Comprehension(fold) => self.cost_fold(expr.id, fold),
        }
    }

    fn cost_bind(&mut self, id: ExprId, fold: &'a Comprehension) -> Interval {
        let sum = self.cost(&fold.range).add(self.cost(&fold.accu_init));
        self.push_bound(&fold.accu_var, &fold.accu_init);
        let sum = sum.add(self.cost(&fold.result));
        let path = self.path_of(&fold.result);
        if path != AstPath::NONE {
            self.by_id.set(id, path);
        }
        self.copy_size(id, &fold.result);
        self.pop(&fold.accu_var);
        sum
    }

    fn cost_fold(&mut self, id: ExprId, fold: &'a Comprehension) -> Interval {
        let sum = self.cost(&fold.range).add(self.cost(&fold.accu_init));
        self.push_bound(&fold.accu_var, &fold.accu_init);
        match &fold.iter_var2 {
            Some(second) => {
                self.push_key(&fold.iter_var, &fold.range);
                self.push_value(second, &fold.range);
            }
            None => self.push_single(&fold.iter_var, &fold.range),
        }
        let round = self.cost(&fold.condition).add(self.cost(&fold.step));
        let step_size = self.size(&fold.step);
        self.pop(&fold.iter_var);
        if let Some(second) = &fold.iter_var2 {
            self.pop(second);
        }
        let sum = sum.add(self.cost(&fold.result));
        self.pop(&fold.accu_var);
        let rounds = self.size_or_unknown(&fold.range);
        match &fold.accu_init.kind {
            ExprKind::Literal(_) => self.copy_size(id, &fold.accu_init),
            ExprKind::List { .. } | ExprKind::Map(_) => {
                let is_map = matches!(fold.accu_init.kind, ExprKind::Map(_));
                let mut size = Size { key: rounds.key.filter(|_| is_map), ..rounds };
                if let Some(step) = step_size {
                    size.element = step.element.or(size.element);
                    size.key = step.key.filter(|_| is_map).or(size.key);
                }
                // The step of a filter may add nothing.
                if is_conditional(&fold.step) {
                    size.bounds.min = 0;
                }
                self.set_size(id, Some(size));
            }
            _ => {}
        }
        sum.add(rounds.bounds.multiply(round))
    }

    // Variables

    fn local(&self, name: &str) -> Option<&Local<'a>> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn pop(&mut self, name: &str) {
        if let Some(at) = self.locals.iter().rposition(|local| local.name == name) {
            self.locals.remove(at);
        }
    }

    fn push_bound(&mut self, name: &'a str, value: &'a Expr) {
        let (path, size) = (self.path_of(value), self.size(value));
        self.locals.push(Local { name, path, size });
    }

    /// The first of two loop variables: the index of a list or the key of a map.
    fn push_key(&mut self, name: &'a str, range: &'a Expr) {
        let size = self.size_or_unknown(range);
        if matches!(self.checked.type_of(range.id), Type::List(_)) {
            self.push_item(name, range, "@indices", Some(Size::fixed(1)));
        } else {
            self.push_item(name, range, "@keys", size.key.map(|key| self.sizes.get(key)));
        }
    }

    /// The second of two loop variables: the item of a list or the value of a map.
    fn push_value(&mut self, name: &'a str, range: &'a Expr) {
        let size = self.size_or_unknown(range);
        let part = if matches!(self.checked.type_of(range.id), Type::List(_)) { "@items" } else { "@values" };
        self.push_item(name, range, part, size.element.map(|element| self.sizes.get(element)));
    }

    /// The only loop variable: the item of a list or the key of a map.
    fn push_single(&mut self, name: &'a str, range: &'a Expr) {
        let size = self.size_or_unknown(range);
        let is_list = match self.checked.type_of(range.id) {
            Type::List(_) => true,
            Type::Dyn => size.key.is_none() && size.element.is_some(),
            _ => false,
        };
        let (part, item) = if is_list { ("@items", size.element) } else { ("@keys", size.key) };
        self.push_item(name, range, part, item.map(|item| self.sizes.get(item)));
    }

    fn push_item(&mut self, name: &'a str, range: &'a Expr, part: &'static str, size: Option<Size>) {
        let path = self.path_of(range);
        let path = self.declared.paths.append(path, part);
        self.locals.push(Local { name, path, size });
    }

    // Paths and sizes of expressions

    fn path_of(&self, expr: &Expr) -> AstPath {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path;
        }
        self.by_id.get(expr.id)
    }

    /// Sets the path of a part of a value, if the value has one.
    fn append_path(&mut self, id: ExprId, value: &Expr, part: &'a str) -> bool {
        let path = self.path_of(value);
        if path == AstPath::NONE {
            return false;
        }
        let path = self.declared.paths.append(path, part);
        self.by_id.set(id, path);
        true
    }

    fn set_size(&mut self, id: ExprId, size: Option<Size>) {
        if let Some(slot) = self.computed.get_mut(id as usize)
            && size.is_some()
        {
            *slot = size;
        }
    }

    fn copy_size(&mut self, id: ExprId, from: &'a Expr) {
        let size = self.size(from);
        self.set_size(id, size);
    }

    fn node(&mut self, expr: &'a Expr) -> (AstNode<'a>, Option<Size>) {
        let size = self.size(expr);
        let type_ = self.checked.type_of(expr.id);
        (AstNode { path: self.path_of(expr), type_, expr: Some(expr), size: size.map(|size| size.bounds) }, size)
    }
}

/// Returns true if a fold only binds a variable.
fn is_bind(fold: &Comprehension) -> bool {
    matches!(&fold.range.kind, ExprKind::List { elements, .. } if elements.is_empty())
        && matches!(fold.condition.kind, ExprKind::Literal(Literal::Bool(false)))
        && !matches!(fold.accu_var.as_str(), "__result__" | "@result")
}

fn is_conditional(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if function == "_?_:_")
}

/// The operand that a selection or index extends.
fn base(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Select { operand, test_only: false, .. } => Some(operand),
        ExprKind::Call { function, args, .. } if matches!(function.as_str(), "_[_]" | "_[?_]" | "_?._") => args.first(),
        _ => None,
    }
}

/// The cost that a presence test adds for the branches of a conditional at the start of its operand (`branchQualifierCost`).
fn branch_qualifier_cost(operand: &Expr) -> Interval {
    let mut root = operand;
    while let Some(operand) = base(root) {
        root = operand;
    }
    let ExprKind::Call { args, .. } = &root.kind else { return Interval::ZERO };
    match args.as_slice() {
        [_, yes, no] if is_conditional(root) => branch_cost(yes).union(branch_cost(no)),
        _ => Interval::ZERO,
    }
}

fn branch_cost(branch: &Expr) -> Interval {
    let is_attribute = match &branch.kind {
        ExprKind::Ident(_) => true,
        ExprKind::Select { test_only, .. } => !test_only,
        _ => base(branch).is_some() || is_conditional(branch),
    };
    if is_attribute { branch_qualifier_cost(branch) } else { SELECT }
}

/// Estimates of a real server of 1.38.
#[cfg(test)]
mod tests {
    use crate::{
        cost::estimate,
        decl::{DeclField, DeclType},
        env::{BaseEnv, Env},
    };
    use crdx_value::release::Release;
    use std::sync::Arc;

    /// The estimate of an expression about an object with lists of at most 5 items, which are strings of at most 10 characters.
    fn cost(source: &str) -> (u64, u64) {
        let list = DeclType::list(DeclType::string().with_max(10)).with_max(5);
        let number_lists = DeclType::list(DeclType::list(DeclType::int()).with_max(5)).with_max(5);
        let map = DeclType::map(DeclType::string().with_max(10)).with_max(5);
        let object = Arc::new(DeclType::object(
            "self",
            [
                DeclField::optional("i", DeclType::int()),
                DeclField::optional("ls5", list),
                DeclField::optional("ll5", number_lists),
                DeclField::optional("mm", DeclType::map(map).with_max(5)),
            ],
        ));
        let base = BaseEnv::for_new(Release::new(38).unwrap());
        let mut env = Env::new(base).with_variable("self", object.cel_type.clone());
        Arc::make_mut(&mut env.objects).insert("self".into(), Arc::clone(&object));
        let checked = env.compile(source).map_err(|issues| issues.display()).unwrap();
        let cost = estimate(&checked, Some(&object));
        (cost.min, cost.max)
    }

    const UNBOUNDED: u64 = u64::MAX;

    #[test]
    fn an_element_of_a_computed_list_has_the_size_of_its_elements() {
        assert_eq!(cost("isQuantity(['1', '22'][0])"), (12, 12));
        assert_eq!(cost("['a', 'bb'].map(x, x + 'c')[0].startsWith('a')"), (51, 51));
        assert_eq!(cost("[['aaaaaaaaaaaaaaaaaaaaaaaaa']].all(l, l.all(t, t.startsWith(t)))"), (24, 26));
        assert_eq!(cost("['a,b'].map(s, s.split(',')).all(l, l.all(t, t.startsWith(t)))"), (38, 40));
    }

    #[test]
    fn an_element_of_a_list_of_unknown_elements_has_an_unknown_size() {
        assert_eq!(cost("isQuantity('1'.findAll('[a-z]')[(0 / -1)])"), (4, 1_844_674_407_370_955_268));
        assert_eq!(cost("lists.range(3).map(i, 'x').join('')"), (61, 1_844_674_407_370_955_325));
    }

    #[test]
    fn an_unknown_size_stays_unknown_in_the_prices_of_cel() {
        assert_eq!(cost("'a'.startsWith(string(self.i))"), (3, UNBOUNDED));
        assert_eq!(cost("[[1, 2]].flatten(-1).size()"), (UNBOUNDED, UNBOUNDED));
    }

    #[test]
    fn keys_and_values_have_sizes() {
        assert_eq!(cost("{'aaaaaaaaaaaaaaaaaaaaaaaaaa': 1}.all(k, k.startsWith(k))"), (34, 36));
        assert_eq!(cost("{'a': 1}.transformMap(k, v, [k, k]).all(k, v, v.all(t, t.startsWith(t)))"), (80, 82));
        assert_eq!(cost("self.mm.all(k, self.mm[k].all(j, self.mm[k][j].startsWith('a')))"), (3, 293));
    }

    #[test]
    fn declared_sizes_reach_every_depth() {
        assert_eq!(cost("self.ll5.all(l, l.all(i, i > 0))"), (3, 153));
        assert_eq!(cost("(['aaaaaaaaaaaaaaa'] + self.ls5).all(x, x.startsWith(x))"), (17, 44));
        assert_eq!(cost("dyn(self.ls5).all(x, x == 'a')"), (4, 24));
    }

    #[test]
    fn a_filter_may_keep_nothing() {
        assert_eq!(cost("[1, 2, 3].filter(x, x > 1).all(y, y > 0)"), (31, 82));
        assert_eq!(cost("[?optional.none(), 'b'].all(x, x == 'b')"), (15, 16));
    }

    #[test]
    fn a_presence_test_qualifies_the_computed_branches_of_a_conditional() {
        assert_eq!(cost("has((true ? {'a': 1} : {'b': 2}).a)"), (31, 31));
        assert_eq!(cost("has((true ? self : self).i)"), (1, 1));
    }

    #[test]
    fn comparing_distinct_texts_costs_more() {
        assert_eq!(cost("['a', 'b'].distinct().size()"), (31, 31));
        assert_eq!(cost("[1, 2].distinct().size()"), (30, 30));
    }
}
