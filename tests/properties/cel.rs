//! Properties of the parser, checker and evaluator for arbitrary expressions.
#![allow(clippy::unwrap_used, clippy::panic)]

use crdx_cel::{
    ast::{Expr, ExprKind},
    cost::estimate,
    env::{BaseEnv, Env},
    eval::{PER_CALL_LIMIT, Program},
    syntax::parse,
    types::Type,
    value::{Error, Value},
};
use proptest::prelude::*;
use std::cell::RefCell;

const PIECES: &[&str] = &[
    "a",
    "self",
    "self.b",
    "1",
    "2u",
    "1.5",
    "'s'",
    "b'x'",
    "true",
    "null",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ".",
    ",",
    "?",
    ":",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "==",
    "!=",
    "<",
    ">=",
    " in ",
    "&&",
    "||",
    ".size()",
    ".all(x, ",
    ".map(x, ",
    ".exists(i, x, ",
    ".optMap(x, ",
    ".sortBy(x, ",
    ".transformMap(k, v, ",
    "has(",
    "dyn(",
    "int(",
    "string(",
    ".?c",
    "[?0]",
    "optional.of(",
    "`e f`",
    "\"",
    "'''",
    "#",
    "@",
    "é",
    "\n",
    "//c\n",
    "as",
    "0x1F",
    "Foo{",
    "duration('1h')",
    ".format([",
    "sets.contains(",
    "lists.range(",
    ".matches('^a')",
    "x",
    "-1",
    ".sum()",
];

fn soup() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(prop::sample::select(PIECES), 0..14).prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,20}",
    ]
}

/// Expressions that often type-check.
fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop::sample::select(vec!["self", "1", "2", "0", "'a'", "1.5", "true", "[1, 2]", "{'k': 1}", "x", "self.b"]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), prop::sample::select(vec!["+", "-", "*", "/", "%", "==", "<", "&&", "||", "in"]))
                .prop_map(|((a, b), op)| format!("({a} {op} {b})")),
            pair.clone().prop_map(|(a, b)| format!("{a}[{b}]")),
            pair.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
            pair.prop_map(|(a, b)| format!("{a}.map(x, {b})")),
            (inner.clone(), prop::sample::select(vec!["size", "string", "int", "type", "dyn", "double"]))
                .prop_map(|(a, f)| format!("{f}({a})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
        ]
    })
}

fn env() -> Env {
    Env::new(BaseEnv::for_stored(crdx_value::release::Release::NEWEST)).with_variable("self", Type::list(Type::Int))
}

fn variables() -> Vec<Result<Value<'static>, Error>> {
    vec![Ok(Value::list(vec![Value::Int(3), Value::Int(-1)]))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Any text parses to a tree with unique ids and valid positions, or gives errors with valid positions.
    #[test]
    fn any_text_parses_or_has_errors_with_positions(source in soup()) {
        let length = i32::try_from(source.chars().count()).unwrap();
        match parse(&source, env().base.parse_options) {
            Ok(ast) => {
                let seen = RefCell::new(Vec::new());
                ast.expr.any(&|expr: &Expr| {
                    seen.borrow_mut().push(expr.id);
                    assert!(!matches!(expr.kind, ExprKind::Unspecified));
                    assert!((0..=length).contains(&ast.source_info.offset(expr.id)));
                    false
                });
                let mut ids = seen.into_inner();
                let count = ids.len();
                ids.sort_unstable();
                ids.dedup();
                prop_assert_eq!(ids.len(), count);
            }
            Err(issues) => {
                prop_assert!(!issues.is_empty());
                prop_assert!(issues.display().starts_with("ERROR: <input>:"));
            }
        }
    }

    /// The cost of an expression that type-checks can be estimated; running it twice has the same cost, and a result only
    /// within the limit.
    #[test]
    fn any_text_that_checks_runs(source in prop_oneof![soup(), expression()]) {
        let env = env();
        if let Ok(checked) = env.compile(&source) {
            let cost = estimate(&checked, None);
            prop_assert!(cost.min <= cost.max);
            if let Ok(program) = Program::plan(&checked, &env) {
                let run = || program.run(&variables(), PER_CALL_LIMIT, &crdx_value::steps::Steps::of_request());
                let (first, second) = (run(), run());
                prop_assert_eq!(first.cost, second.cost);
                prop_assert!(first.result.is_err() || first.cost <= PER_CALL_LIMIT, "{source}: {}", first.cost);
            }
        }
    }

}

proptest! {
    // Most random expressions do not type-check.
    #![proptest_config(ProptestConfig { cases: 500, max_global_rejects: 50_000, ..ProptestConfig::default() })]

    /// Checked types are sound: only with `dyn` can an operator receive an operand of an unsupported type.
    #[test]
    fn checked_expressions_find_their_overloads(source in expression()) {
        let env = env();
        let checked = env.compile(&source);
        // The test fails if too few expressions type-check.
        prop_assume!(checked.is_ok());
        let checked = checked.unwrap();
        prop_assume!(!checked.types.iter().flatten().any(has_dyn));
        if let Ok(program) = Program::plan(&checked, &env)
            && let Err(error) = program.run(&variables(), PER_CALL_LIMIT, &crdx_value::steps::Steps::of_request()).result
        {
            prop_assert!(!error.to_string().starts_with("no such overload"), "{source}: {error}");
        }
    }
}

fn has_dyn(type_: &Type) -> bool {
    type_.is_dyn() || type_.parameters().into_iter().flatten().any(has_dyn)
}
