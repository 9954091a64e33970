//! The names and constants in the CEL rules of a schema node; changes try these values first.

use crdx_cel::ast::{Expr, ExprKind, Literal};
use crdx_cel::syntax::{ParseOptions, parse};
use crdx_server::rules::escape::unescape;
use crdx_server::schema::Schema;
use std::collections::BTreeSet;

/// The maximum length of a list or text that is tried because a rule contains the number.
const MAX_LENGTH: i64 = 130;
/// The maximum number of string constants.
const MAX_TEXTS: usize = 300;

/// The names and literals in the rules of a node.
#[derive(Default)]
pub struct Vocabulary {
    /// The variables of the rules and the fields that they select.
    pub names: BTreeSet<String>,
    /// The string constants, in order.
    pub texts: Vec<String>,
    /// The integer constants.
    pub numbers: BTreeSet<i64>,
}

impl Vocabulary {
    /// Collects the names and literals in the rules of a node.
    pub(crate) fn from_schema(schema: &Schema) -> Self {
        let mut words = Self::default();
        for rule in &schema.x_validations {
            if let Ok(ast) = parse(&rule.rule, ParseOptions::ALL) {
                words.add(&ast.expr);
            }
        }
        words
    }

    /// Returns the lengths of lists and texts to try: the integer constants, and each plus one.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        let lengths = self.numbers.iter().flat_map(|n| [*n, n.saturating_add(1)]);
        lengths.filter(|n| (1..=MAX_LENGTH).contains(n)).filter_map(|n| usize::try_from(n).ok())
    }

    /// Adds those of an expression.
    pub(crate) fn add(&mut self, expr: &Expr) {
        let mut left = vec![expr];
        while let Some(expr) = left.pop() {
            match &expr.kind {
                ExprKind::Select { field, .. } => {
                    self.names.extend(unescape(field));
                }
                ExprKind::Literal(Literal::String(text))
                    if self.texts.len() < MAX_TEXTS && !self.texts.contains(text) =>
                {
                    self.texts.push(text.clone());
                }
                ExprKind::Literal(Literal::Int(number)) => {
                    self.numbers.insert(*number);
                }
                _ => {}
            }
            left.extend(expr.children());
        }
    }
}
