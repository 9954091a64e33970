//! Parses expressions like cel-go (`tests/facts/cel-parse.json.gz`): trees with positions, and error messages.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::format_collect)]

use crate::facts::unpacked;
use crate::large_stack::on_large_stack;
use crdx_cel::ast::{Ast, Expr, ExprKind, Literal};
use crdx_cel::env::{BaseEnv, Env};
use crdx_cel::syntax::{ParseOptions, parse};
use crdx_cel::types::Type;
use crdx_value::release::Release;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn options() -> ParseOptions {
    BaseEnv::for_stored(Release::NEWEST).parse_options
}

#[derive(Clone)]
pub struct Fact {
    pub group: String,
    pub expr: String,
    /// The syntax errors.
    pub parse_error: Option<String>,
    /// The syntax tree.
    pub ast: Option<String>,
    /// An error of the checker.
    pub error: Option<String>,
}

pub fn facts() -> Vec<Fact> {
    let text = unpacked("cel-parse.json.gz");
    let groups: BTreeMap<String, Vec<BTreeMap<String, String>>> = serde_json::from_str(&text).unwrap();
    let facts: Vec<Fact> = groups
        .into_iter()
        .flat_map(|(group, cases)| {
            cases.into_iter().map(move |mut case| Fact {
                group: group.clone(),
                expr: case.remove("expr").unwrap(),
                parse_error: case.remove("perr"),
                ast: case.remove("ast"),
                error: case.remove("err"),
            })
        })
        .collect();
    assert_eq!(facts.len(), 94 + 33 + 140);
    facts
}

#[test]
fn trees_and_errors_are_those_of_cel_go() {
    on_large_stack(|| {
        let mut differing = Vec::new();
        for fact in facts() {
            let theirs = match (fact.ast, fact.parse_error) {
                (Some(text), _) | (None, Some(text)) => text,
                // Deep trees were not recorded.
                (None, None) => "(parses)".to_owned(),
            };
            let ours = match parse(&fact.expr, options()) {
                Ok(_) if theirs == "(parses)" => continue,
                Ok(ast) => dump(&ast),
                Err(issues) => issues.display(),
            };
            if ours != theirs {
                differing.push(format!("{} {:?}\n--- cel-go\n{theirs}\n--- ours\n{ours}\n", fact.group, fact.expr));
            }
        }
        assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
    });
}

#[test]
fn type_errors_are_those_of_cel_go() {
    on_large_stack(|| {
        let base = BaseEnv::for_new(Release::NEWEST);
        let env = Env::new(base).with_variable("self", Type::Dyn).with_variable("oldSelf", Type::Dyn);
        let env = env.with_variable("k", Type::Dyn);
        let (mut checked, mut differing) = (0, Vec::new());
        for fact in facts().iter().filter(|fact| fact.parse_error.is_none()) {
            checked += 1;
            // Other errors occur at run time.
            let theirs = fact.error.as_deref().filter(|error| error.starts_with("ERROR")).unwrap_or("checks");
            let ours = env.compile(&fact.expr).map_or_else(|issues| issues.display(), |_| "checks".to_owned());
            if ours != theirs {
                differing.push(format!("{:?}\n--- cel-go\n{theirs}\n--- ours\n{ours}\n", fact.expr));
            }
        }
        assert!(checked > 150);
        assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
    });
}

fn dump(ast: &Ast) -> String {
    let mut out = String::new();
    write_expr(ast, &ast.expr, &mut out);
    out
}

fn write_expr(ast: &Ast, expr: &Expr, out: &mut String) {
    let at = ast.source_info.offset(expr.id);
    let write_all = |items: &[&Expr], out: &mut String| {
        for item in items {
            out.push(' ');
            write_expr(ast, item, out);
        }
    };
    match &expr.kind {
        ExprKind::Unspecified => out.push_str("<error>"),
        ExprKind::Literal(value) => write!(out, "{}@{at}", show(value)).unwrap(),
        ExprKind::Ident(name) => write!(out, "{name}@{at}").unwrap(),
        ExprKind::Select { operand, field, test_only } => {
            write!(out, "(sel{}@{at}", if *test_only { "~test" } else { "" }).unwrap();
            write_all(&[operand], out);
            write!(out, " {field})").unwrap();
        }
        ExprKind::Call { target, function, args } => {
            write!(out, "({function}@{at}").unwrap();
            if let Some(target) = target {
                out.push_str(" .");
                write_expr(ast, target, out);
            }
            write_all(&args.iter().collect::<Vec<_>>(), out);
            out.push(')');
        }
        ExprKind::List { elements, optional_indices } => {
            write!(out, "[@{at}").unwrap();
            for (index, element) in elements.iter().enumerate() {
                out.push_str(if optional_indices.contains(&index) { " ?" } else { " " });
                write_expr(ast, element, out);
            }
            out.push_str(if elements.is_empty() { " ]" } else { "]" });
        }
        ExprKind::Map(entries) => {
            write!(out, "{{@{at}").unwrap();
            for entry in entries {
                out.push_str(if entry.optional { " ?" } else { " " });
                write_expr(ast, &entry.key, out);
                out.push(':');
                write_expr(ast, &entry.value, out);
            }
            out.push_str(if entries.is_empty() { " }" } else { "}" });
        }
        ExprKind::Struct { type_name, fields } => {
            write!(out, "{type_name}{{@{at}").unwrap();
            for field in fields {
                write!(out, " {}{}:", if field.optional { "?" } else { "" }, field.name).unwrap();
                write_expr(ast, &field.value, out);
            }
            out.push('}');
        }
        ExprKind::Comprehension(fold) => {
            let second = fold.iter_var2.as_deref().unwrap_or_default();
            write!(out, "(comp@{at} {} {second} {}", fold.iter_var, fold.accu_var).unwrap();
            write_all(&[&fold.range, &fold.accu_init, &fold.condition, &fold.step, &fold.result], out);
            out.push(')');
        }
    }
}

fn show(value: &Literal) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    match value {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => format!("i{value}"),
        Literal::Uint(value) => format!("u{value}"),
        Literal::Double(value) => format!("d{}", hex_float(*value)),
        Literal::String(value) => format!("s{}", hex(value.as_bytes())),
        Literal::Bytes(value) => format!("b{}", hex(value)),
    }
}

/// Formats a float like Go's `%x`.
fn hex_float(value: f64) -> String {
    let bits = value.to_bits();
    if value == 0.0 {
        return "0x0p+00".to_owned();
    }
    let mantissa = format!("{:013x}", bits & ((1 << 52) - 1));
    let mantissa = mantissa.trim_end_matches('0');
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1023;
    let dot = if mantissa.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("0x1{dot}{mantissa}p{sign}{:02}", exponent.abs())
}
