//! Changes for a node with several rules: those of one rule change only the fields that this rule uses, to texts that its functions
//! accept. [`super::changes`] tries all texts on all fields, which are too many for rules with functions of several libraries.

use super::changes::{Changes, Collector, schema_at};
use super::generate::{self, ExampleFields};
use super::strings;
use super::vocabulary::Vocabulary;
use crdx_cel::ast::{Expr, ExprKind};
use crdx_cel::syntax::{ParseOptions, parse};
use crdx_server::rules::escape::unescape;
use crdx_server::rules::node::step;
use crdx_server::schema::Schema;
use crdx_value::Value;
use std::collections::{BTreeSet, VecDeque};

/// The most changes of one rule, and the most of its texts that are used.
const MOST: usize = 60;
/// The most texts that are used as the host of a URL, with each of the texts as its scheme.
const MOST_HOSTS: usize = 12;

/// Texts that functions accept, by their names.
const SAMPLES: &[(&[&str], &[&str])] = &[
    (&["quantity", "isQuantity"], &["1Gi", "100m", "1"]),
    (&["duration"], &["1h", "1s", "24h"]),
    (&["timestamp"], &["2024-01-01T00:00:00Z"]),
    (&["semver", "isSemver"], &["1.2.3", "0.1.0"]),
    (&["ip", "isIP"], &["192.0.2.1", "2001:db8::1"]),
    (&["cidr", "isCIDR"], &["192.0.2.0/24", "2001:db8::/32"]),
    (&["url", "isURL"], &["https://example.com", "http://example.com/example"]),
    (&["uuid"], &["123e4567-e89b-42d3-a456-426614174000"]),
    (&["byte"], &["ZXhhbXBsZQ=="]),
    (&["date"], &["2024-01-01"]),
    (&["datetime"], &["2024-01-01T00:00:00Z"]),
    (&["uri"], &["https://example.com"]),
    (&["qualifiedName"], &["example.com/example"]),
    (
        &["dns1123Label", "dns1123Subdomain", "dns1035Label", "dns1123LabelPrefix", "dns1035LabelPrefix", "labelValue"],
        &["example"],
    ),
];

/// The constants, fields and functions that a rule uses.
#[derive(Default)]
struct RuleWords {
    words: Vocabulary,
    /// The paths of the fields of `self`, in the order of the rule.
    paths: Vec<Vec<String>>,
    functions: BTreeSet<String>,
}

/// Returns changes of the fields that the rules of the node at `path` use, the first ones of each rule first.
pub(crate) fn of_rules(root: &Schema, object: &Value, path: &[String]) -> Vec<Changes> {
    let schema = schema_at(root, path).map(|(schema, _)| schema);
    let value = path.iter().try_fold(object, |value, name| step(value, name));
    let Some((schema, value)) = schema.zip(value) else { return Vec::new() };
    let of_rule = |rule: &str| VecDeque::from(RuleWords::of(rule).changes(schema, value, path));
    let mut rules: Vec<VecDeque<Changes>> = schema.x_validations.iter().map(|rule| of_rule(&rule.rule)).collect();
    let mut all = Vec::new();
    while rules.iter().any(|changes| !changes.is_empty()) {
        all.extend(rules.iter_mut().filter_map(VecDeque::pop_front));
    }
    all
}

impl RuleWords {
    fn of(rule: &str) -> Self {
        let mut words = Self::default();
        if let Ok(ast) = parse(rule, ParseOptions::ALL) {
            words.words.add(&ast.expr);
            words.add(&ast.expr);
        }
        words
    }

    fn add(&mut self, expr: &Expr) {
        let mut left = vec![expr];
        while let Some(expr) = left.pop() {
            if let Some(path) = path_of_self(expr).filter(|path| !path.is_empty()) {
                if !self.paths.contains(&path) {
                    self.paths.push(path);
                }
                continue;
            }
            if let ExprKind::Call { function, .. } = &expr.kind {
                self.functions.insert(function.clone());
            }
            let children: Vec<&Expr> = expr.children().collect();
            left.extend(children.into_iter().rev());
        }
    }

    fn changes(&self, schema: &Schema, value: &Value, path: &[String]) -> Vec<Changes> {
        let mut all = Vec::new();
        for field in &self.paths {
            let Some((schema, _)) = schema_at(schema, field) else { continue };
            let made;
            let value = if let Some(present) = field.iter().try_fold(value, |value, name| step(value, name)) {
                present
            } else {
                made = generate::value(schema, ExampleFields::Minimal, 0);
                &made
            };
            let here = [path, field].concat();
            let most = all.len() + MOST;
            let mut collector = Collector { words: &self.words, most, all: &mut all };
            if value.as_str().is_some() && schema.enum_.is_empty() {
                for text in self.texts() {
                    collector.set(&here, || text.into());
                }
            }
            collector.node(schema, value, &here, 0);
        }
        all
    }

    /// Returns the texts that the functions of the rule accept, and those near its constants.
    fn texts(&self) -> Vec<String> {
        let has = |names: &[&str]| names.iter().any(|name| self.functions.contains(*name));
        let mut texts = Vec::new();
        for text in self.words.texts.iter().take(MOST) {
            texts.push(text.clone());
            texts.extend(strings::neighbours(text));
            if has(&["cidr", "isCIDR"]) {
                // An address of a network.
                texts.extend(text.split_once('/').map(|(address, _)| address.to_owned()));
            }
            if has(&["url", "isURL"]) {
                texts.extend([
                    format!("{text}://example.com"),
                    format!("https://{text}"),
                    format!("https://example{text}"),
                ]);
                texts.extend(self.words.texts.iter().take(MOST_HOSTS).map(|host| format!("{text}://{host}")));
            }
        }
        let samples = SAMPLES.iter().filter(|(names, _)| has(names)).flat_map(|(_, samples)| samples.iter());
        let samples = samples.map(|text| (*text).to_owned());
        samples.chain(texts).collect()
    }
}

/// Returns the path of `self.a.b`; `None` for any other expression.
fn path_of_self(expr: &Expr) -> Option<Vec<String>> {
    match &expr.kind {
        ExprKind::Ident(name) if name == "self" => Some(Vec::new()),
        ExprKind::Select { operand, field, .. } => {
            let mut path = path_of_self(operand)?;
            path.push(unescape(field)?);
            Some(path)
        }
        _ => None,
    }
}
