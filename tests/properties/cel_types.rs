//! An expression that type-checks does not fail with "no such overload" at run time for values of its declared type.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use crate::facts::cel_cost::{at, lines, root};
use crdx_cel::{
    decl::{DeclType, Shape},
    env::{BaseEnv, Env},
    eval::{PER_CALL_LIMIT, Program},
    library::{Overload, overloads},
    value::Value as Cel,
};
use proptest::prelude::*;
use std::sync::Arc;

/// A type in a signature.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Named(String),
    List(Box<Kind>),
    Map(Box<Kind>, Box<Kind>),
    Optional(Box<Kind>),
    Parameter(char),
    /// A type for which this test generates no expressions.
    Other,
}

struct Signature {
    overload: &'static Overload,
    args: Vec<Kind>,
    result: Kind,
}

fn kind(text: &str) -> Kind {
    let text = text.trim();
    let inner = |prefix: &str| text.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(')'));
    if let Some(item) = inner("list(") {
        return Kind::List(Box::new(kind(item)));
    }
    if let Some(of) = inner("optional(") {
        return Kind::Optional(Box::new(kind(of)));
    }
    if let Some(entry) = inner("map(") {
        let parts = split(entry);
        return Kind::Map(Box::new(kind(parts[0])), Box::new(kind(parts[1])));
    }
    match text {
        "dyn" => Kind::Other,
        _ if text.starts_with("type(") || text.contains("authorization") => Kind::Other,
        _ if text.len() == 1 => Kind::Parameter(text.chars().next().unwrap()),
        _ => Kind::Named(text.to_owned()),
    }
}

/// Splits at commas outside parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

fn signatures() -> Vec<Signature> {
    let read = |overload: &'static Overload| {
        let (args, result) = overload.signature.rsplit_once("->").unwrap();
        let args = args.trim().strip_prefix('(').unwrap().strip_suffix(')').unwrap();
        Signature { overload, args: split(args).into_iter().map(kind).collect(), result: kind(result) }
    };
    let has_other = |kind: &Kind| format!("{kind:?}").contains("Other");
    overloads()
        .map(read)
        .filter(|s| !has_other(&s.result) && !s.args.iter().any(has_other) && !s.overload.function.contains("@map"))
        .filter(|s| !s.overload.function.starts_with("@s") && s.overload.function != "@not_strictly_false")
        .collect()
}

fn bind(pattern: &Kind, wanted: &Kind, bound: &mut Vec<(char, Kind)>) -> bool {
    match (pattern, wanted) {
        (Kind::Parameter(name), _) => {
            if let Some((_, known)) = bound.iter().find(|(known, _)| known == name) {
                return known == wanted;
            }
            bound.push((*name, wanted.clone()));
            true
        }
        (Kind::List(a), Kind::List(b)) | (Kind::Optional(a), Kind::Optional(b)) => bind(a, b, bound),
        (Kind::Map(a, b), Kind::Map(c, d)) => bind(a, c, bound) && bind(b, d, bound),
        (a, b) => a == b,
    }
}

fn filled(pattern: &Kind, bound: &[(char, Kind)]) -> Kind {
    match pattern {
        Kind::Parameter(name) => bound
            .iter()
            .find(|(known, _)| known == name)
            .map_or(Kind::Named("string".to_owned()), |(_, kind)| kind.clone()),
        Kind::List(item) => Kind::List(Box::new(filled(item, bound))),
        Kind::Optional(of) => Kind::Optional(Box::new(filled(of, bound))),
        Kind::Map(key, value) => Kind::Map(Box::new(filled(key, bound)), Box::new(filled(value, bound))),
        other => other.clone(),
    }
}

const SCALARS: [&str; 8] = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"];

/// Generates expressions of a given type.
struct Writer<'s> {
    state: u64,
    signatures: &'s [Signature],
    fields: &'s [(Kind, String)],
    names: Vec<(Kind, String)>,
}

impl Writer<'_> {
    fn pick(&mut self, of: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % of.max(1) as u64) as usize
    }

    fn write(&mut self, wanted: &Kind, depth: usize) -> String {
        let known: Vec<String> =
            self.fields.iter().chain(&self.names).filter(|(k, _)| k == wanted).map(|(_, n)| n.clone()).collect();
        if !known.is_empty() && (depth == 0 || self.pick(3) == 0) {
            return known[self.pick(known.len())].clone();
        }
        if depth == 0 || self.pick(8) == 0 {
            return self.literal(wanted, depth);
        }
        match self.pick(8) {
            0 => {
                let (c, a, b) = (
                    self.write(&Kind::Named("bool".into()), depth - 1),
                    self.write(wanted, depth - 1),
                    self.write(wanted, depth - 1),
                );
                return format!("({c} ? {a} : {b})");
            }
            1 => {
                let list = self.write(&Kind::List(Box::new(wanted.clone())), depth - 1);
                return format!("{list}[{}]", self.pick(3));
            }
            2 => return self.comprehension(wanted, depth),
            _ => {}
        }
        let fitting: Vec<(usize, Vec<(char, Kind)>)> = (0..self.signatures.len())
            .filter_map(|i| {
                let mut bound = Vec::new();
                bind(&self.signatures[i].result, wanted, &mut bound).then_some((i, bound))
            })
            .collect();
        if fitting.is_empty() {
            return self.literal(wanted, depth);
        }
        let (index, mut bound) = fitting[self.pick(fitting.len())].clone();
        let signature = &self.signatures[index];
        for name in ['A', 'B', 'K', 'T', 'V'] {
            if !bound.iter().any(|(known, _)| *known == name) {
                let scalar = if name == 'K' { "string" } else { SCALARS[self.pick(SCALARS.len())] };
                bound.push((name, Kind::Named(scalar.to_owned())));
            }
        }
        let args: Vec<String> = signature.args.iter().map(|arg| self.write(&filled(arg, &bound), depth - 1)).collect();
        call(signature.overload, &args)
    }

    fn comprehension(&mut self, wanted: &Kind, depth: usize) -> String {
        let item = Kind::Named(SCALARS[self.pick(SCALARS.len())].to_owned());
        let range = self.write(&Kind::List(Box::new(item.clone())), depth - 1);
        let name = format!("v{}", self.names.len());
        self.names.push((item.clone(), name.clone()));
        let text = match wanted {
            Kind::Named(bool) if bool == "bool" => {
                let macros = ["all", "exists", "exists_one"];
                let which = macros[self.pick(3)];
                format!("{range}.{which}({name}, {})", self.write(wanted, depth - 1))
            }
            Kind::List(to) => format!("{range}.map({name}, {})", self.write(to, depth - 1)),
            Kind::Optional(to) => format!("{range}.first().optMap({name}, {})", self.write(to, depth - 1)),
            _ => {
                self.names.pop();
                return self.literal(wanted, depth - 1);
            }
        };
        self.names.pop();
        text
    }

    fn literal(&mut self, wanted: &Kind, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        match wanted {
            Kind::List(item) => format!("[{}, {}]", self.write(item, depth), self.write(item, depth)),
            Kind::Map(key, value) => format!("{{{}: {}}}", self.literal(key, 0), self.write(value, depth)),
            Kind::Optional(of) => format!("optional.of({})", self.write(of, depth)),
            Kind::Named(name) => {
                let texts: &[&str] = match name.as_str() {
                    "bool" => &["true", "false"],
                    "int" => &["0", "1", "-7", "9223372036854775807"],
                    "uint" => &["0u", "3u"],
                    "double" => &["1.5", "-0.0", "1e300"],
                    "bytes" => &["b'a'", "b'\\xff'"],
                    "timestamp" => &["timestamp('2024-02-29T00:00:00Z')", "timestamp('0001-01-01T00:00:00+05:00')"],
                    "duration" => &["duration('1h')", "duration('-1.5s')"],
                    "net.IP" => &["ip('10.0.0.1')", "ip('::1')"],
                    "net.CIDR" => &["cidr('10.0.0.0/8')"],
                    "kubernetes.URL" => &["url('https://a.b:1/c?d=e')"],
                    "kubernetes.Quantity" => &["quantity('1.5Gi')", "quantity('1m')"],
                    "kubernetes.Semver" => &["semver('1.2.3-rc.1')"],
                    "kubernetes.NamedFormat" => &["format.dns1123Label()"],
                    _ => &["'a'", "''", "'é'", "'1'", "'(a)'", "'UTC'"],
                };
                texts[self.pick(texts.len())].to_owned()
            }
            Kind::Parameter(_) | Kind::Other => "'a'".to_owned(),
        }
    }
}

fn call(overload: &Overload, args: &[String]) -> String {
    let function = overload.function;
    match (function, args) {
        ("_[_]", [a, b]) => format!("{a}[{b}]"),
        ("_[?_]", [a, b]) => format!("{a}[?{b}]"),
        ("@in", [a, b]) => format!("({a} in {b})"),
        ("!_", [a]) => format!("!({a})"),
        ("-_", [a]) => format!("-({a})"),
        ("_?_:_", [a, b, c]) => format!("({a} ? {b} : {c})"),
        (_, [a, b]) if function.starts_with('_') => format!("({a} {} {b})", function.trim_matches('_')),
        (_, [receiver, rest @ ..]) if overload.member => format!("({receiver}).{function}({})", rest.join(", ")),
        _ => format!("{function}({})", args.join(", ")),
    }
}

fn kind_of(decl: &DeclType) -> Option<Kind> {
    Some(match &decl.shape {
        Shape::List { items, .. } => Kind::List(Box::new(kind_of(items)?)),
        Shape::Map(values) => Kind::Map(Box::new(Kind::Named("string".into())), Box::new(kind_of(values)?)),
        Shape::Object(_) => return None,
        Shape::Scalar => match decl.cel_type.to_string().as_str() {
            "dyn" => return None,
            "google.protobuf.Timestamp" => Kind::Named("timestamp".into()),
            "google.protobuf.Duration" => Kind::Named("duration".into()),
            name => Kind::Named(name.to_owned()),
        },
    })
}

#[test]
fn checked_expressions_have_no_overload_errors() {
    crate::large_stack::on_large_stack(|| {
        let (declarations, root) = root();
        let spec = at(&root, "spec").unwrap();
        let Shape::Object(declared) = &spec.shape else { panic!() };
        let fields: Vec<(Kind, String)> = declared
            .iter()
            .filter_map(|(name, field)| Some((kind_of(&field.type_)?, format!("self.{name}"))))
            .collect();
        let signatures = signatures();
        assert!(signatures.len() > 150);
        let mut env = Env::new(BaseEnv::for_stored(crdx_value::release::Release::NEWEST))
            .with_variable("self", spec.cel_type.clone());
        env.objects = Arc::new(declarations.objects);
        let lines = lines();
        let samples = lines[0].get("samples").unwrap();
        let (mut checked, mut valued) = (0, 0);
        let mut run = |seed: u64, depth: usize| {
            let mut writer = Writer { state: seed | 1, signatures: &signatures, fields: &fields, names: Vec::new() };
            let wanted = Kind::Named(SCALARS[writer.pick(SCALARS.len())].to_owned());
            let source = writer.write(&wanted, depth);
            let Ok(ast) = env.compile(&source) else { return };
            checked += 1;
            let Ok(program) = Program::plan(&ast, &env) else { return };
            for sample in ["a", "b", "c"] {
                let value = samples.get(sample).unwrap().get("spec").unwrap();
                let outcome = program.run(
                    &[Cel::from_json(value, spec)],
                    PER_CALL_LIMIT,
                    &crdx_value::steps::Steps::of_request(),
                );
                valued += usize::from(outcome.result.is_ok());
                if let Err(error) = &outcome.result {
                    assert!(!error.to_string().contains("no such overload") || is_known(&source), "{source}: {error}");
                }
            }
        };
        let config = ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() };
        let mut runner = proptest::test_runner::TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        let cell = std::cell::RefCell::new(&mut run);
        runner
            .run(&(any::<u64>(), 1usize..5), |(seed, depth)| {
                (cell.borrow_mut())(seed, depth);
                Ok(())
            })
            .unwrap();
        assert!(checked > 1500 && valued > 1000, "{checked} of 3000 check, {valued} runs have a value");
    });
}

/// Cases in which cel-go reports this error: a string that is not an IP address, equality with a computed quantity,
/// Kubernetes types in lists.
fn is_known(source: &str) -> bool {
    source.contains("containsIP") || (source.contains("quantity") && (source.contains("add") || source.contains("sub")))
}
