use super::*;

/// Unoptimized code needs more stack space than test threads have.
fn on_large_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap();
}

fn error(source: &str) -> String {
    parse(source, ParseOptions::ALL).map_or_else(|issues| issues.display(), |_| "parsed".to_owned())
}

#[test]
fn ids_are_handed_out_in_visiting_order() {
    let ast = parse("a.b + f(c, 1)", ParseOptions::ALL).unwrap();
    assert_eq!(ast.expr.id, 3);
    assert_eq!(ast.source_info.offsets, [-1, 0, 1, 4, 7, 8, 11]);
}

#[cfg(feature = "recovery")]
#[test]
fn extra_tokens_are_deleted_and_missing_tokens_inserted() {
    assert!(error("a b").starts_with("ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>"));
    assert!(error("f(a").starts_with("ERROR: <input>:1:4: Syntax error: missing ')' at '<EOF>'"));
}

#[test]
fn depth_is_bounded() {
    on_large_stack(|| {
        let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(error(&nested(249)), "parsed");
        assert_eq!(error(&nested(250)), "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
        assert_eq!(error(&format!("a{}", ".b".repeat(250))), "parsed");
        assert!(error(&format!("a{}", ".b".repeat(251))).contains("recursion"));
        #[cfg(feature = "recovery")]
        assert_eq!(error(&format!("a{}", ".b".repeat(251))), "ERROR: <input>:-1:0: max recursion depth exceeded");
    });
}

#[cfg(not(feature = "recovery"))]
#[test]
fn the_first_syntax_error_is_reported() {
    assert_eq!(error("a + )"), "ERROR: <input>:1:5: Syntax error: unexpected ')'\n | a + )\n | ....^");
    assert_eq!(error("f(a"), "ERROR: <input>:1:4: Syntax error: unexpected end of the expression\n | f(a\n | ...^");
    assert!(error("a.1").starts_with("ERROR: <input>:1:2: Syntax error: unexpected '.'"), "{}", error("a.1"));
    assert!(error("1 # 2").starts_with("ERROR: <input>:1:3: Syntax error: unexpected '#'"));
}

#[test]
fn size_is_bounded() {
    on_large_stack(|| {
        let long = "1+".repeat(60_000);
        assert_eq!(
            error(&long),
            "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 120000, limit 100000"
        );
        let doubled = format!("a{}", ".optMap(x, x)".repeat(60));
        assert_eq!(error(&doubled), "ERROR: <input>:-1:0: expression too large");
    });
}

#[cfg(feature = "recovery")]
#[test]
fn backquotes_depend_on_the_server() {
    let error = |version, source: &str| {
        parse(source, ParseOptions { version, ..ParseOptions::ALL })
            .map_or_else(|issues| issues.display(), |_| "parsed".to_owned())
    };
    let select = "self.`a-b` == 'x'";
    assert_eq!(error(ParserVersion::V0_29, select), "parsed");
    assert_eq!(
        error(ParserVersion::V0_23, select),
        "ERROR: <input>:1:6: unsupported syntax: '`'\n | self.`a-b` == 'x'\n | .....^"
    );
    assert_eq!(
        error(ParserVersion::V0_17, "has(self.`a-b`)"),
        "ERROR: <input>:1:10: Syntax error: token recognition error at: '`'\n | has(self.`a-b`)\n | .........^\n\
         ERROR: <input>:1:12: invalid argument to has() macro\n | has(self.`a-b`)\n | ...........^\n\
         ERROR: <input>:1:14: Syntax error: token recognition error at: '`'\n | has(self.`a-b`)\n | .............^"
    );
    assert_eq!(error(ParserVersion::V0_17, "'`' == ''"), "parsed");
}

#[cfg(feature = "recovery")]
#[test]
fn syntax_errors_name_the_tokens_of_the_version() {
    let error = |version, source: &str| {
        let issues = parse(source, ParseOptions { version, ..ParseOptions::ALL }).unwrap_err();
        issues.display().lines().next().unwrap_or_default().to_owned()
    };
    for (source, before, since) in [
        (
            "f([self.?",
            "1:10: Syntax error: mismatched input '<EOF>' expecting IDENTIFIER",
            "1:10: Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}",
        ),
        (
            "[self.u{].max()",
            "1:9: Syntax error: mismatched input ']' expecting {'}', ',', '?', IDENTIFIER}",
            "1:9: Syntax error: mismatched input ']' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
        ),
        (
            "f(% 1)",
            "1:3: Syntax error: extraneous input '%!'(MISSING) expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
            "1:3: Syntax error: extraneous input '%' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        ),
    ] {
        assert!(error(ParserVersion::V0_17, source).ends_with(before), "{}", error(ParserVersion::V0_17, source));
        assert!(error(ParserVersion::V0_23, source).ends_with(since), "{}", error(ParserVersion::V0_23, source));
    }
}
