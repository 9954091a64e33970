//! Random CEL expressions: compares compilation, costs and results by means of CRDs and objects.

use super::Pair;
use super::mutate::{Rng, any_value, mutate};
use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Time,
    Span,
    Ints,
    Texts,
    Map,
    Any,
}

const KINDS: [Kind; 11] = [
    Kind::Bool,
    Kind::Int,
    Kind::Uint,
    Kind::Double,
    Kind::Text,
    Kind::Bytes,
    Kind::Time,
    Kind::Span,
    Kind::Ints,
    Kind::Texts,
    Kind::Map,
];

/// An expression that usually has the requested type.
pub fn expression(kind: Kind, depth: usize, rng: &mut Rng) -> String {
    let kind = if kind == Kind::Any || rng.chance(40) { *rng.pick(&KINDS) } else { kind };
    if depth == 0 {
        return leaf(kind, rng);
    }
    let d = depth - 1;
    macro_rules! e {
        ($k:ident) => {
            expression(Kind::$k, d, rng)
        };
    }
    if rng.chance(12) {
        return format!("({} ? {} : {})", e!(Bool), expression(kind, d, rng), expression(kind, d, rng));
    }
    if rng.chance(25) {
        return format!("{}[{}]", if kind == Kind::Text { e!(Texts) } else { e!(Ints) }, e!(Int));
    }
    match kind {
        Kind::Bool => match rng.below(22) {
            0 => format!("({} && {})", e!(Bool), e!(Bool)),
            1 => format!("({} || {})", e!(Bool), e!(Bool)),
            2 => format!("!{}", e!(Bool)),
            3 => {
                let k = *rng.pick(&KINDS);
                format!("({} {} {})", expression(k, d, rng), rng.pick(&["==", "!="]), expression(k, d, rng))
            }
            4 => {
                let k = *rng.pick(&[
                    Kind::Int,
                    Kind::Double,
                    Kind::Uint,
                    Kind::Text,
                    Kind::Time,
                    Kind::Span,
                    Kind::Bool,
                    Kind::Bytes,
                ]);
                format!("({} {} {})", expression(k, d, rng), rng.pick(&["<", "<=", ">", ">="]), expression(k, d, rng))
            }
            5 => format!("{}.startsWith({})", e!(Text), e!(Text)),
            6 => format!("{}.contains({})", e!(Text), e!(Text)),
            7 => format!("{}.matches({})", e!(Text), rng.pick(&["'^[a-z]+$'", "'('", "'a.*b'", "self.s"])),
            8 => format!("{}.all(x, x > {})", e!(Ints), e!(Int)),
            9 => format!("{}.exists(x, x / {} == 1)", e!(Ints), e!(Int)),
            10 => format!("{}.exists_one(x, x == {})", e!(Texts), e!(Text)),
            11 => format!("({} in {})", e!(Int), e!(Ints)),
            12 => format!("({} in {})", e!(Text), e!(Map)),
            13 => format!("{}.isSorted()", e!(Ints)),
            14 => format!("sets.contains({}, {})", e!(Ints), e!(Ints)),
            15 => format!("has(self.{})", rng.pick(&["s", "i", "o.a", "absent", "m.x", "opt"])),
            16 => format!("{}.all(k, v, v > {})", e!(Map), e!(Int)),
            17 => format!("isQuantity({})", e!(Text)),
            18 => format!("isIP({})", e!(Text)),
            19 => format!("{}.endsWith({})", e!(Text), e!(Text)),
            20 => format!("quantity({}).isGreaterThan(quantity('1k'))", rng.pick(&["'1Mi'", "'5'", "'x'", "self.s"])),
            _ => format!("cidr('10.0.0.0/8').containsIP({})", rng.pick(&["'10.1.2.3'", "'11.0.0.1'", "self.s"])),
        },
        Kind::Int => match rng.below(18) {
            0..=3 => format!("({} {} {})", e!(Int), rng.pick(&["+", "-", "*", "/", "%"]), e!(Int)),
            4 => format!("size({})", e!(Text)),
            5 => format!("{}.size()", e!(Ints)),
            6 => format!("int({})", {
                let k = *rng.pick(&[Kind::Double, Kind::Text, Kind::Uint, Kind::Time]);
                expression(k, d, rng)
            }),
            7 => format!("-{}", e!(Int)),
            8 => format!("{}.sum()", e!(Ints)),
            9 => format!("{}.max()", e!(Ints)),
            10 => format!("{}.indexOf({})", e!(Text), e!(Text)),
            11 => format!("{}.indexOf({})", e!(Ints), e!(Int)),
            12 => format!(
                "{}.{}()",
                e!(Time),
                rng.pick(&["getFullYear", "getMonth", "getDayOfYear", "getDayOfWeek", "getHours", "getMilliseconds"])
            ),
            13 => format!("{}.getHours({})", e!(Time), rng.pick(&["'America/New_York'", "'+02:00'", "'Nowhere'"])),
            14 => format!("{}.{}()", e!(Span), rng.pick(&["getHours", "getMinutes", "getSeconds", "getMilliseconds"])),
            15 => format!("{}.size()", e!(Map)),
            16 => format!("{}.min()", e!(Ints)),
            _ => format!("{}.lastIndexOf({})", e!(Text), e!(Text)),
        },
        Kind::Uint => format!("({} {} {})", e!(Uint), rng.pick(&["+", "-", "*", "/", "%"]), e!(Uint)),
        Kind::Double => match rng.below(4) {
            0 | 1 => format!("({} {} {})", e!(Double), rng.pick(&["+", "-", "*", "/"]), e!(Double)),
            2 => format!("double({})", e!(Int)),
            _ => format!("-{}", e!(Double)),
        },
        Kind::Text => match rng.below(16) {
            0 | 1 => format!("({} + {})", e!(Text), e!(Text)),
            2 => format!("string({})", {
                let k =
                    *rng.pick(&[Kind::Int, Kind::Double, Kind::Uint, Kind::Bool, Kind::Time, Kind::Span, Kind::Bytes]);
                expression(k, d, rng)
            }),
            3 => format!("{}.substring({})", e!(Text), e!(Int)),
            4 => format!("{}.substring({}, {})", e!(Text), e!(Int), e!(Int)),
            5 => format!("{}.replace({}, {})", e!(Text), e!(Text), e!(Text)),
            6 => format!("{}.lowerAscii()", e!(Text)),
            7 => format!("{}.upperAscii()", e!(Text)),
            8 => format!("{}.trim()", e!(Text)),
            9 => format!("{}.charAt({})", e!(Text), e!(Int)),
            10 => format!("{}.join({})", e!(Texts), e!(Text)),
            11 => format!("'%s|%d|%s'.format([{}, {}, {}])", e!(Text), e!(Int), e!(Any)),
            12 => format!(
                "'%.2f %e %x %b %o'.format([{}, {}, {}, {}, {}])",
                e!(Double),
                e!(Double),
                e!(Int),
                e!(Int),
                e!(Int)
            ),
            13 => format!("{}.find({})", e!(Text), rng.pick(&["'[a-z]+'", "'b*'", "'('"])),
            14 => format!("{}.reverse()", e!(Text)),
            _ => format!("strings.quote({})", e!(Text)),
        },
        Kind::Bytes => match rng.below(2) {
            0 => format!("({} + {})", e!(Bytes), e!(Bytes)),
            _ => format!("bytes({})", e!(Text)),
        },
        Kind::Time => match rng.below(3) {
            0 => format!("({} + {})", e!(Time), e!(Span)),
            1 => format!("({} - {})", e!(Time), e!(Span)),
            _ => format!("timestamp({})", e!(Text)),
        },
        Kind::Span => match rng.below(4) {
            0 => format!("({} + {})", e!(Span), e!(Span)),
            1 => format!("({} - {})", e!(Time), e!(Time)),
            2 => format!("duration({})", e!(Text)),
            _ => format!("({} - {})", e!(Span), e!(Span)),
        },
        Kind::Ints => match rng.below(12) {
            0 => format!("({} + {})", e!(Ints), e!(Ints)),
            1 => format!("{}.map(x, x + {})", e!(Ints), e!(Int)),
            2 => format!("{}.filter(x, x > {})", e!(Ints), e!(Int)),
            3 => format!("[{}, {}]", e!(Int), e!(Int)),
            4 => format!("{}.sort()", e!(Ints)),
            5 => format!("{}.slice({}, {})", e!(Ints), e!(Int), e!(Int)),
            6 => format!("{}.distinct()", e!(Ints)),
            7 => format!("{}.reverse()", e!(Ints)),
            8 => format!("[{}, {}].flatten()", e!(Ints), e!(Ints)),
            9 => format!("lists.range({})", e!(Int)),
            10 => format!("{}.transformList(i, v, i + v)", e!(Ints)),
            _ => format!("{}.map(x, x > {}, x * 2)", e!(Ints), e!(Int)),
        },
        Kind::Texts => match rng.below(6) {
            0 => format!("({} + {})", e!(Texts), e!(Texts)),
            1 => format!("{}.split({})", e!(Text), e!(Text)),
            2 => format!("[{}, {}]", e!(Text), e!(Text)),
            3 => format!("{}.map(x, x + {})", e!(Texts), e!(Text)),
            4 => format!("{}.findAll({})", e!(Text), rng.pick(&["'[a-z]'", "'.'", "''"])),
            _ => format!("{}.sort()", e!(Texts)),
        },
        Kind::Map => match rng.below(3) {
            0 => format!("{{{}: {}, 'k': {}}}", e!(Text), e!(Int), e!(Int)),
            1 => format!("{}.transformMap(k, v, v + {})", e!(Map), e!(Int)),
            _ => format!("{{?'o': self.?opt, 'i': {}}}", e!(Int)),
        },
        Kind::Any => leaf(Kind::Int, rng),
    }
}

fn leaf(kind: Kind, rng: &mut Rng) -> String {
    let from: &[&str] = match kind {
        Kind::Bool => &["true", "false", "self.b", "(1 == 1)"],
        Kind::Int => &[
            "0",
            "1",
            "-1",
            "5",
            "9223372036854775807",
            "self.i",
            "self.j",
            "self.o.a",
            "self.ios",
            "self.l[0]",
            "self.absent",
            "0x1F",
        ],
        Kind::Uint => &["0u", "1u", "7u", "18446744073709551615u"],
        Kind::Double => &["0.0", "1.5", "-2.25", "1e21", "1e-7", "self.d", "double('NaN')"],
        Kind::Text => &[
            "''",
            "'a'",
            "'abc'",
            "self.s",
            "'héllo wörld'",
            "'1'",
            "'2020-02-29T12:00:00Z'",
            "'1h30m'",
            "'10.0.0.1'",
            "self.e",
            "'A,b,C'",
            "r'\\d'",
            "'\\u00e9\\n'",
        ],
        Kind::Bytes => &["b'abc'", "b''", "self.by", "b'\\xff'"],
        Kind::Time => &["self.t", "timestamp('2020-02-29T12:00:00Z')", "timestamp('1969-07-20T20:17:40.123Z')"],
        Kind::Span => &["self.u", "duration('1h')", "duration('-90s')", "duration('1.5ms')"],
        Kind::Ints => &["self.l", "[]", "[1, 2, 3]", "[3, 1, 2, 3]", "self.set"],
        Kind::Texts => &["['a', 'b']", "self.ls", "['']"],
        Kind::Map | Kind::Any => &["self.m", "{'x': 1}", "{}", "{'x': 1, 'y': 2}"],
    };
    (*rng.pick(from)).to_owned()
}

fn schema(rules: &[Value]) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-validations": rules, "properties": {
        "b": {"type": "boolean"}, "i": {"type": "integer"}, "j": {"type": "integer"}, "d": {"type": "number"},
        "s": {"type": "string", "maxLength": 40}, "e": {"type": "string", "enum": ["red", "green"]},
        "by": {"type": "string", "format": "byte", "maxLength": 40}, "t": {"type": "string", "format": "date-time"}, "u": {"type": "string", "format": "duration"},
        "l": {"type": "array", "maxItems": 6, "items": {"type": "integer"}}, "set": {"type": "array", "maxItems": 6, "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        "ls": {"type": "array", "maxItems": 6, "items": {"type": "string", "maxLength": 10}},
        "m": {"type": "object", "maxProperties": 6, "additionalProperties": {"type": "integer"}},
        "o": {"type": "object", "properties": {"a": {"type": "integer"}}}, "ios": {"x-kubernetes-int-or-string": true},
        "absent": {"type": "integer"}, "opt": {"type": "integer"}, "n": {"type": "string", "nullable": true, "maxLength": 9},
        "p": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "lm": {"type": "array", "maxItems": 4, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"],
            "properties": {"k": {"type": "string", "maxLength": 5}, "v": {"type": "integer"}}}}
    }}}})
}

fn crd(number: u64, rules: &[Value]) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("exprs{number}.diff.example.com")},
        "spec": {"group": "diff.example.com", "scope": "Namespaced", "names": {"plural": format!("exprs{number}"), "kind": format!("Expr{number}")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema(rules)}}]}})
}

/// The objects on which rules are evaluated.
fn specs() -> [Value; 2] {
    [
        json!({"b": true, "i": 3, "j": 0, "d": 2.5, "s": "abc", "e": "red", "by": "aGk=", "t": "2021-03-04T05:06:07Z", "u": "1h", "l": [3, 1, 2], "set": [1, 2],
            "ls": ["x", "yy"], "m": {"x": 1, "z": -1}, "o": {"a": 7}, "ios": 5, "opt": 9, "n": null, "p": {"x": [1, "y"]}, "lm": [{"k": "a", "v": 2}, {"k": "b"}]}),
        json!({"b": false, "i": -9_223_372_036_854_775_808_i64, "j": 1, "d": 0, "s": "", "e": "green", "by": "", "t": "1999-12-31T23:59:59.999Z", "u": "-5m", "l": [], "set": [],
            "ls": [], "m": {}, "o": {}, "ios": "text"}),
    ]
}

/// Makes an expression that usually has the requested type.
pub type Generator = fn(Kind, usize, &mut Rng) -> String;

/// Random expressions as input for `tests/apiserver/facts/cel`.
pub fn facts(rng: &mut Rng, count: u64, expression: Generator) -> String {
    let [a, b] = specs();
    let mut lines =
        json!({"schema": schema(&[]), "samples": {"a": {"spec": a}, "b": {"spec": b}, "old": {"spec": a}}}).to_string();
    for _ in 0..count {
        let (kind, depth) = (*rng.pick(&KINDS), 1 + rng.below(4));
        lines.push('\n');
        lines.push_str(&json!({"expr": expression(kind, depth, rng)}).to_string());
    }
    lines
}

/// The rules of a CRD.
const RULES: usize = 16;
/// The changed objects on which the rules of a CRD are evaluated, besides [`specs`].
const CHANGED: usize = 30;

/// Compiles batches of rules on both servers, then evaluates those that compile on objects.
pub fn compare(pair: &mut Pair, seed: u64, rounds: u64, expression: Generator) {
    let rng = &mut Rng::new(seed);
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";
    for round in (0..rounds).map(|round| seed * 100_000 + round) {
        if pair.is_over() {
            break;
        }
        let rules: Vec<Value> = (0..RULES)
            .map(|_| {
                let depth = 1 + rng.below(3);
                if rng.chance(2) {
                    let kind = *rng.pick(&[Kind::Int, Kind::Double, Kind::Uint, Kind::Text, Kind::Time, Kind::Span, Kind::Bool, Kind::Bytes]);
                    json!({"rule": "false", "messageExpression": format!("string({})", expression(kind, depth, rng)), "message": "no message"})
                } else {
                    json!({"rule": expression(Kind::Bool, depth, rng)})
                }
            })
            .collect();
        // Evaluate the rules that compile.
        let mut good = rules;
        for _ in 0..4 {
            let answer = pair.ask("POST", path, Some(&crd(round, &good)), "application/json", "application/json");
            let field = |cause: &Value| cause["field"].as_str().unwrap_or_default().to_owned();
            let causes = answer["details"]["causes"].as_array().cloned().unwrap_or_default();
            if causes.is_empty() {
                break;
            }
            let refused: Vec<String> = causes.iter().map(field).collect();
            let is_refused = |index: usize| {
                let part = format!(".x-kubernetes-validations[{index}].");
                refused.iter().any(|field| field.contains(&part))
            };
            let kept = (0..good.len()).filter(|index| !is_refused(*index)).map(|index| good[index].clone()).collect();
            good = kept;
        }
        if good.is_empty() || !pair.install(&crd(round, &good)) {
            continue;
        }
        let objects = format!("/apis/diff.example.com/v1/namespaces/default/exprs{round}?dryRun=All");
        let mut all = specs().to_vec();
        for _ in 0..CHANGED {
            let mut spec = rng.pick(&specs()).clone();
            mutate(&mut spec, rng, |_| true, any_value);
            all.push(spec);
        }
        for spec in all {
            let object = json!({"apiVersion": "diff.example.com/v1", "kind": format!("Expr{round}"), "metadata": {"name": "a"}, "spec": spec});
            pair.ask("POST", &objects, Some(&object), "application/json", "application/json");
        }
        pair.remove(&crd(round, &good));
    }
}
