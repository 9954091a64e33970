//! Rejects literals that would fail at run time: durations, timestamps, regular expressions, format strings, and lists
//! and maps of mixed types (which the arguments of `format` may be).

use super::format_string;
use crate::{
    ast::{CheckedAst, Expr, ExprId, ExprKind, Literal},
    env::Env,
    issues::Issues,
    library,
    types::Type,
    value::{Fuel, Value},
};
use crdx_regexp::Regexp;
use crdx_value::release::V1_31;

/// Validates every literal of an expression.
pub(super) fn validate(env: &Env, checked: &CheckedAst) -> Result<(), Issues> {
    let mut validator = Validator { env, checked, issues: None, formats: 0 };
    validator.visit(&checked.ast.expr);
    validator.issues.map_or(Ok(()), Err)
}

struct Validator<'a> {
    env: &'a Env,
    checked: &'a CheckedAst,
    issues: Option<Issues>,
    /// The number of enclosing calls of `format`.
    formats: u32,
}

impl Validator<'_> {
    fn report(&mut self, id: ExprId, message: String) {
        let info = &self.checked.ast.source_info;
        self.issues.get_or_insert_with(|| Issues::new(&info.source)).report(info.offset(id), message);
    }

    fn visit(&mut self, expr: &Expr) {
        let formats = self.formats;
        let is_aggregate = matches!(expr.kind, ExprKind::List { .. } | ExprKind::Map(_));
        // In cel-go 0.17, only lists and maps that are nested directly in each other count as arguments of `format`.
        if self.env.base.server < V1_31 && !is_aggregate {
            self.formats = 0;
        }
        self.visit_parts(expr);
        self.formats = formats;
    }

    fn visit_parts(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select { operand, .. } => self.visit(operand),
            ExprKind::Call { target, function, args } => {
                let is_format = function == "format";
                self.formats += u32::from(is_format);
                if let Some(target) = target {
                    self.visit(target);
                }
                for arg in args {
                    self.visit(arg);
                }
                self.formats -= u32::from(is_format);
                if is_format && self.env.base.validators {
                    self.check_format(expr.id, target.as_deref(), args);
                }
                if self.env.base.validators
                    && let Some(arg) = args.first()
                    && let ExprKind::Literal(value) = &arg.kind
                    && !is_valid_argument(function, value)
                {
                    self.report(arg.id, format!("invalid {function} argument"));
                }
            }
            ExprKind::List { elements, optional_indices } => {
                for element in elements {
                    self.visit(element);
                }
                self.check_list(elements, optional_indices);
            }
            ExprKind::Map(entries) => {
                let mut first: Option<(&Type, &Type)> = None;
                for entry in entries {
                    self.visit(&entry.key);
                    self.visit(&entry.value);
                    let checked = self.checked;
                    let key = checked.type_of(entry.key.id);
                    let value = unwrapped(checked.type_of(entry.value.id), entry.optional);
                    let (keys, values) = *first.get_or_insert((key, value));
                    self.expect_same(entry.key.id, keys, key);
                    self.expect_same(entry.value.id, values, value);
                }
            }
            ExprKind::Struct { fields, .. } => {
                for field in fields {
                    self.visit(&field.value);
                }
            }
            ExprKind::Comprehension(fold) => {
                for part in [&fold.range, &fold.accu_init, &fold.condition, &fold.step, &fold.result] {
                    self.visit(part);
                }
            }
        }
    }

    fn check_format(&mut self, call: ExprId, target: Option<&Expr>, args: &[Expr]) {
        let server = self.env.base.server;
        let Some(target) = target.filter(|_| server >= V1_31) else { return };
        // `matchConstantFormatStringWithListLiteralArgs` of cel-go 0.20 treats every receiver as a literal.
        if server == V1_31 && !matches!(target.kind, ExprKind::Literal(_)) {
            self.report(
                call,
                format!("format of a string that is not a literal makes the API server of {server} panic"),
            );
            return;
        }
        if let ExprKind::Literal(Literal::String(text)) = &target.kind
            && let [Expr { kind: ExprKind::List { elements, .. }, .. }] = args
            && let Some((at, message)) = format_string::problem(self.checked, text, elements)
        {
            self.report(at.unwrap_or(call), message);
        }
    }

    fn check_list(&mut self, elements: &[Expr], optional_indices: &[usize]) {
        let mut first: Option<&Type> = None;
        for (index, element) in elements.iter().enumerate() {
            let type_ = unwrapped(self.checked.type_of(element.id), optional_indices.contains(&index));
            if !self.expect_same(element.id, first.get_or_insert(type_), type_) {
                return;
            }
        }
    }

    fn expect_same(&mut self, id: ExprId, expected: &Type, found: &Type) -> bool {
        let same = self.formats > 0 || expected == found;
        if !same {
            let (expected, found) = (self.env.type_name(expected), self.env.type_name(found));
            self.report(id, format!("expected type '{expected}' but found '{found}'"));
        }
        same
    }
}

fn unwrapped(type_: &Type, optional: bool) -> &Type {
    match type_ {
        Type::Optional(inner) if optional => inner,
        other => other,
    }
}

/// Returns true if a call with this literal as its first argument can succeed.
fn is_valid_argument(function: &str, value: &Literal) -> bool {
    match (function, value) {
        ("matches", Literal::String(pattern)) => {
            !matches!(Regexp::new(pattern), Err(crdx_regexp::Error::Syntax { .. }))
        }
        ("duration", Literal::String(text)) => converts("string_to_duration", Value::string(text.as_str())),
        ("timestamp", Literal::String(text)) => converts("string_to_timestamp", Value::string(text.as_str())),
        // A null literal type-checks for both functions, but both reject it at run time; `duration` has no conversion
        // from int.
        ("duration" | "timestamp", Literal::Null) | ("duration", Literal::Int(_)) => false,
        ("timestamp", Literal::Int(seconds)) => converts("int64_to_timestamp", Value::Int(*seconds)),
        _ => true,
    }
}

fn converts(overload: &str, value: Value) -> bool {
    let overload = library::overloads().find(|candidate| candidate.id == overload);
    overload.and_then(|overload| overload.call).is_none_or(|call| call.compute(&[value], &Fuel::default()).is_ok())
}
