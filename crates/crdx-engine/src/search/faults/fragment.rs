//! The rules whose truth depends on finitely many cases: boolean combinations of `has`, of comparisons of a field or of its size
//! with constants or with another field or size, and of anything that uses only fields with finitely many values.

use crdx_cel::ast::{Expr, ExprKind, Literal};
use crdx_cel::syntax::{ParseOptions, parse};
use crdx_server::rules::escape::unescape;
use crdx_server::schema::Schema;
use std::collections::{BTreeMap, BTreeSet};

/// The constants with which the rules compare a field, or its size.
#[derive(Clone, Debug, Default)]
pub struct FieldUses {
    pub numbers: BTreeSet<i64>,
    pub texts: BTreeSet<String>,
    pub sizes: BTreeSet<i64>,
    /// The fields with which the rules compare this field or its size.
    pub peers: BTreeSet<Vec<String>>,
    /// True if more than the presence of the field matters.
    pub is_compared: bool,
}

/// The fields that rules use, by the names on their path; an empty path is `self`.
pub type Uses = BTreeMap<Vec<String>, FieldUses>;

/// Returns the fields that a rule uses. `None` if its truth may depend on more than finitely many cases.
pub fn uses(node: &Schema, rule: &str) -> Option<Uses> {
    let ast = parse(rule, ParseOptions::ALL).ok()?;
    let mut uses = Uses::new();
    condition(node, &ast.expr, &mut uses)?;
    (!uses.is_empty()).then_some(uses)
}

/// The schema of a field below objects with properties.
pub fn field<'s>(node: &'s Schema, path: &[String]) -> Option<&'s Schema> {
    path.iter().try_fold(node, |node, name| node.property(name))
}

/// Returns true if a field has finitely many values.
pub fn is_finite(schema: &Schema) -> bool {
    !schema.enum_.is_empty() || (schema.type_ == "boolean" && !schema.x_int_or_string)
}

fn condition(node: &Schema, expr: &Expr, uses: &mut Uses) -> Option<()> {
    if let ExprKind::Select { operand, field: name, test_only: true } = &expr.kind {
        let mut path = path_of(operand)?;
        path.push(unescape(name)?);
        field(node, &path)?;
        uses.entry(path).or_default();
        return Some(());
    }
    if only_finite(node, expr, uses).is_some() {
        return Some(());
    }
    let ExprKind::Call { target, function, args } = &expr.kind else { return None };
    match (target, function.as_str(), args.as_slice()) {
        (None, "_&&_" | "_||_", [left, right]) => {
            condition(node, left, uses)?;
            condition(node, right, uses)
        }
        (None, "!_", [inner]) => condition(node, inner, uses),
        (None, "_?_:_", [test, yes, no]) => {
            condition(node, test, uses)?;
            condition(node, yes, uses)?;
            condition(node, no, uses)
        }
        (None, "_==_" | "_!=_", [left, right]) => comparison(node, left, right, false, uses)
            .or_else(|| comparison(node, right, left, false, uses))
            .or_else(|| between(node, left, right, false, uses)),
        (None, "_<_" | "_<=_" | "_>_" | "_>=_", [left, right]) => comparison(node, left, right, true, uses)
            .or_else(|| comparison(node, right, left, true, uses))
            .or_else(|| between(node, left, right, true, uses)),
        (None, "@in", [left, right]) => comparison(node, left, right, false, uses),
        _ => None,
    }
}

/// The type of what a rule compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermType {
    Integer,
    Number,
    Text,
    Size,
}

/// Returns the field that an expression compares, or whose size it compares.
fn term(node: &Schema, expr: &Expr) -> Option<(Vec<String>, TermType)> {
    let (path, is_size) = path_of(expr).map(|path| (path, false)).or_else(|| Some((sized(expr)?, true)))?;
    let schema = field(node, &path)?;
    if schema.x_int_or_string {
        return None;
    }
    let type_ = match (schema.type_.as_str(), schema.format.as_str(), is_size) {
        ("integer", "" | "int32" | "int64", false) => TermType::Integer,
        ("number", "", false) => TermType::Number,
        ("string", "", false) => TermType::Text,
        ("string" | "array" | "object", "", true) => TermType::Size,
        _ => return None,
    };
    Some((path, type_))
}

/// A comparison of a field, or of its size, with constants. Texts are not compared by their order.
fn comparison(node: &Schema, compared: &Expr, constant: &Expr, is_order: bool, uses: &mut Uses) -> Option<()> {
    let constants = constants(constant)?;
    let (path, type_) = term(node, compared)?;
    let of_field = uses.entry(path).or_default();
    of_field.is_compared = true;
    for constant in constants {
        match (type_, constant) {
            (TermType::Size, Literal::Int(number)) => of_field.sizes.insert(number),
            (TermType::Integer | TermType::Number, Literal::Int(number)) => of_field.numbers.insert(number),
            (TermType::Text, Literal::String(text)) if !is_order => of_field.texts.insert(text),
            _ => return None,
        };
    }
    Some(())
}

/// A comparison of two fields or sizes.
fn between(node: &Schema, left: &Expr, right: &Expr, is_order: bool, uses: &mut Uses) -> Option<()> {
    use TermType::{Integer, Number, Size, Text};
    let ((left, left_type), (right, right_type)) = (term(node, left)?, term(node, right)?);
    match (left_type, right_type) {
        (Integer | Size, Integer | Size) | (Number, Number) => {}
        (Text, Text) if !is_order => {}
        _ => return None,
    }
    for (path, peer) in [(&left, &right), (&right, &left)] {
        let of_field = uses.entry(path.clone()).or_default();
        of_field.is_compared = true;
        of_field.peers.insert(peer.clone());
    }
    Some(())
}

/// An expression of any kind that uses only constants and fields with finitely many values.
fn only_finite(node: &Schema, expr: &Expr, uses: &mut Uses) -> Option<()> {
    let mut found = Vec::new();
    finite_fields(node, expr, &mut found)?;
    for path in found {
        uses.entry(path).or_default().is_compared = true;
    }
    Some(())
}

fn finite_fields(node: &Schema, expr: &Expr, found: &mut Vec<Vec<String>>) -> Option<()> {
    if let Some(path) = path_of(expr) {
        let schema = field(node, &path)?;
        return is_finite(schema).then(|| found.push(path));
    }
    match &expr.kind {
        ExprKind::Literal(_) => Some(()),
        ExprKind::Call { .. } | ExprKind::List { .. } => {
            expr.children().try_for_each(|child| finite_fields(node, child, found))
        }
        _ => None,
    }
}

/// Returns the names on the path of `self.a.b`.
fn path_of(expr: &Expr) -> Option<Vec<String>> {
    match &expr.kind {
        ExprKind::Ident(name) if name == "self" => Some(Vec::new()),
        ExprKind::Select { operand, field, test_only: false } => {
            let mut path = path_of(operand)?;
            path.push(unescape(field)?);
            Some(path)
        }
        _ => None,
    }
}

/// Returns the path of the field whose size an expression is.
fn sized(expr: &Expr) -> Option<Vec<String>> {
    let ExprKind::Call { target, function, args } = &expr.kind else { return None };
    match (target, function.as_str(), args.as_slice()) {
        (Some(field), "size", []) => path_of(field),
        (None, "size", [field]) => path_of(field),
        _ => None,
    }
}

/// Returns the constants of a literal or a list of literals.
fn constants(expr: &Expr) -> Option<Vec<Literal>> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(vec![literal.clone()]),
        ExprKind::List { elements, .. } => {
            let one = |element: &Expr| match &element.kind {
                ExprKind::Literal(literal) => Some(literal.clone()),
                _ => None,
            };
            elements.iter().map(one).collect()
        }
        _ => None,
    }
}
