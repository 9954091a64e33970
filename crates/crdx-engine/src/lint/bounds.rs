//! Finds limits that make a rule cheap enough. Each suggested limit was verified by an estimate.

use crate::schema_steps::{SchemaStep, below, below_mut, steps_below, value_path};
use crdx_cel::env::BaseEnv;
use crdx_server::crd::validation::rules::Scope;
use crdx_server::rules::compile::compile;
use crdx_server::rules::escape::escape;
use crdx_server::schema::{Items, Schema, SchemaOrBool, ValidationRule};
use crdx_value::Value;
use crdx_value::release::{Release, ReleaseSet};
use crdx_value::steps::Steps;

/// The maximum number of limits that are tried.
const MAX_TRIED: usize = 48;
/// A lower limit is not useful for lists and texts.
const USEFUL: i64 = 10;
/// The largest useful limit: a request cannot be larger.
const WIDEST: i64 = 3 << 20;

/// A suggested limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The steps to the node.
    pub steps: Vec<SchemaStep>,
    /// `maxItems`, `maxLength` or `maxProperties`
    pub keyword: &'static str,
    /// The largest value that is sufficient.
    pub limit: i64,
}

impl Bound {
    /// Returns the path of the node's values.
    pub fn path(&self) -> String {
        value_path(&self.steps)
    }

    /// Sets the limit unless the existing one is lower.
    pub fn apply(&self, root: &mut Schema) {
        let Some(node) = self.steps.iter().try_fold(root, |node, step| below_mut(node, step)) else { return };
        let there = limit_of(node, self.keyword);
        *there = Some(there.map_or(self.limit, |now| now.min(self.limit)));
    }
}

fn limit_of<'s>(node: &'s mut Schema, keyword: &str) -> &'s mut Option<i64> {
    match keyword {
        "maxItems" => &mut node.max_items,
        "maxProperties" => &mut node.max_properties,
        _ => &mut node.max_length,
    }
}

/// One expression of a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleExpression<'e> {
    /// The steps to the node of the rule.
    pub steps: &'e [SchemaStep],
    /// The rule.
    pub rule: &'e ValidationRule,
    /// True for the messageExpression.
    pub message: bool,
    /// The releases whose estimates must be within the limit.
    pub releases: &'e ReleaseSet,
}

impl RuleExpression<'_> {
    fn text(&self) -> &str {
        if self.message { &self.rule.message_expression } else { &self.rule.rule }
    }

    /// Returns the highest estimate of any release in the schema `root`.
    pub fn estimate(&self, root: &Schema) -> Option<u64> {
        let estimate = |release| self.below(root, &Scope::root(root, release), self.steps, release);
        self.releases.iter().filter_map(estimate).max()
    }

    /// As [`Self::estimate`], if the search is not over.
    pub(super) fn estimate_within(&self, root: &Schema, search: &Search) -> Option<u64> {
        let is_left = search.take(self.releases.iter().count(), self.steps.len() + self.text().len() / TEXT);
        if is_left { self.estimate(root) } else { None }
    }

    fn below(&self, schema: &Schema, scope: &Scope<'_>, steps: &[SchemaStep], release: Release) -> Option<u64> {
        let Some((step, rest)) = steps.split_first() else {
            let base = BaseEnv::for_new(release);
            let compiled = compile(self.rule, schema, scope.cel_type()?, (&base, &base));
            if self.message {
                return Some(compiled.message_max_cost);
            }
            return Some(compiled.max_cost.saturating_mul(scope.cardinality().unwrap_or(compiled.max_cardinality)));
        };
        let node = below(schema, step)?;
        let inner = match step {
            SchemaStep::Property(name) => scope.property(schema, name, node),
            SchemaStep::Items | SchemaStep::Values => scope.elements(schema, node),
        };
        self.below(node, &inner, rest, release)
    }
}

/// A limit to try.
#[derive(Clone, Debug)]
struct Candidate {
    steps: Vec<SchemaStep>,
    keyword: &'static str,
    /// The existing limit.
    now: Option<i64>,
    /// The lowest useful limit.
    least: i64,
}

/// The work that is left for finding the limits of a CRD. Limits are advice: a CRD with so many expensive rules that
/// finding limits for each of them takes long gets none for the others.
#[derive(Debug)]
pub struct Search(Steps);

/// The estimates of small expressions for which a search has time.
const ESTIMATES: u64 = 18_000;
/// The nodes of a schema that take as long as an estimate.
const NODES: usize = 64;
/// The bytes of an expression that take as long as a node.
const TEXT: usize = 8;

impl Default for Search {
    fn default() -> Self {
        Self(Steps::new(ESTIMATES))
    }
}

impl Search {
    /// Takes the time for estimates that visit a number of nodes each. Returns false if none is left.
    pub(super) fn take(&self, estimates: usize, nodes: usize) -> bool {
        self.0.take(estimates as u64 * (1 + nodes / NODES) as u64).is_ok()
    }

    /// Returns true if the search ended before it found all limits.
    pub fn is_over(&self) -> bool {
        self.0.are_spent()
    }
}

/// Finds limits that together reduce an expression's cost to `limit`: a single one if that is enough, otherwise as few
/// as possible. Empty if no limit helps, or if the search is over.
pub fn find(root: &Schema, expression: RuleExpression<'_>, limit: u64, search: &Search) -> Vec<Bound> {
    let RuleExpression { steps, rule, .. } = expression;
    // The schema is copied, and each step on the path is visited for each of the steps below it.
    if !search.take(1, nodes(root) + steps.len().saturating_mul(steps.len())) {
        return Vec::new();
    }
    let Some(trial_root) = skeleton(root, steps, rule) else { return Vec::new() };
    let candidates = candidates(root, steps, expression.text());
    let mut trial = Trial { nodes: nodes(&trial_root), root: trial_root, expression, limit, search };
    let found = trial.find(&candidates);
    let mut limited = root.clone();
    for bound in &found {
        bound.apply(&mut limited);
    }
    // The trial schema has no rules of parent nodes.
    let is_enough = !search.is_over() && expression.estimate(&limited).is_some_and(|cost| cost <= limit);
    if is_enough { found } else { Vec::new() }
}

/// The number of nodes and rules of a schema.
fn nodes(schema: &Schema) -> usize {
    let mut count = 0;
    schema.any(&mut |node| {
        count += 1 + node.x_validations.len();
        false
    });
    count
}

struct Trial<'t> {
    root: Schema,
    /// The nodes of `root`.
    nodes: usize,
    expression: RuleExpression<'t>,
    limit: u64,
    search: &'t Search,
}

impl Trial<'_> {
    fn find(&mut self, candidates: &[Candidate]) -> Vec<Bound> {
        let alone = candidates.iter().filter_map(|candidate| Some((candidate, self.widest(&[candidate])?)));
        // Choose the largest limit, which restricts least; of equal ones, the outermost.
        let best = alone.fold(None, |best: Option<(&Candidate, i64)>, one| match best {
            Some(best) if best.1 >= one.1 => Some(best),
            _ => Some(one),
        });
        let single = best.map(|(candidate, width)| (vec![candidate.bound(width)], width));
        if let Some((found, _)) = single.as_ref().filter(|(_, width)| *width >= USEFUL) {
            return found.clone();
        }
        // A list of five items restricts more than two limits that are larger.
        let several = self.several(candidates);
        match single {
            Some((found, width)) if several.iter().all(|bound| bound.limit <= width) => found,
            _ => several,
        }
    }

    /// Returns as few limits as possible that are sufficient together.
    fn several(&mut self, candidates: &[Candidate]) -> Vec<Bound> {
        let mut needed: Vec<&Candidate> = candidates.iter().collect();
        if self.widest(&needed).is_none() {
            return Vec::new();
        }
        for candidate in candidates {
            let without: Vec<&Candidate> = needed.iter().copied().filter(|c| !std::ptr::eq(*c, candidate)).collect();
            // A limit below ten is not useful; limit one more node instead.
            if self.widest(&without).is_some_and(|width| width >= USEFUL) {
                needed = without;
            }
        }
        let Some(width) = self.widest(&needed) else { return Vec::new() };
        needed.into_iter().map(|candidate| candidate.bound(width)).collect()
    }

    /// Returns the largest common limit that is sufficient; nodes with a narrower range use their own bound.
    fn widest(&mut self, candidates: &[&Candidate]) -> Option<i64> {
        let least = candidates.iter().map(|c| c.least).min()?.max(1);
        let most = candidates.iter().map(|c| c.now.unwrap_or(WIDEST)).max()?.max(least);
        let (mut good, mut bad) = (least, most.saturating_add(1));
        if !self.fits(candidates, good) {
            return None;
        }
        while good + 1 < bad {
            let middle = good + (bad - good) / 2;
            if self.fits(candidates, middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Some(good)
    }

    /// Estimates the cost with these limits, then removes them.
    fn fits(&mut self, candidates: &[&Candidate], width: i64) -> bool {
        let nodes = self.nodes + self.expression.text().len() / TEXT + candidates.len() * self.expression.steps.len();
        if !self.search.take(self.expression.releases.iter().count(), nodes) {
            return false;
        }
        for candidate in candidates {
            self.set(candidate, Some(candidate.limit(width)));
        }
        let cost = self.expression.estimate(&self.root);
        for candidate in candidates {
            self.set(candidate, candidate.now);
        }
        cost.is_some_and(|cost| cost <= self.limit)
    }

    fn set(&mut self, candidate: &Candidate, limit: Option<i64>) {
        let node = candidate.steps.iter().try_fold(&mut self.root, |node, step| below_mut(node, step));
        if let Some(node) = node {
            *limit_of(node, candidate.keyword) = limit;
        }
    }
}

impl Candidate {
    /// Returns the limit of a node for the common limit `width`: at least the lowest useful limit, at most the existing
    /// one.
    fn limit(&self, width: i64) -> i64 {
        let width = width.max(self.least);
        self.now.map_or(width, |now| now.min(width))
    }

    fn bound(&self, width: i64) -> Bound {
        Bound { steps: self.steps.clone(), keyword: self.keyword, limit: self.limit(width) }
    }
}

/// Returns the part of the schema that the rule can access: the path to its node, and the node.
fn skeleton(schema: &Schema, steps: &[SchemaStep], rule: &ValidationRule) -> Option<Schema> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(Schema { x_validations: vec![rule.clone()], ..schema.clone() });
    };
    let node = skeleton(below(schema, step)?, rest, rule)?;
    let mut bare = Schema {
        type_: schema.type_.clone(),
        max_items: schema.max_items,
        min_items: schema.min_items,
        max_properties: schema.max_properties,
        min_properties: schema.min_properties,
        x_embedded_resource: schema.x_embedded_resource,
        additional_properties: schema.additional_properties.as_ref().map(|_| SchemaOrBool::Bool(true)),
        ..Schema::default()
    };
    match step {
        SchemaStep::Property(name) => {
            bare.properties.insert(name.clone(), Box::new(node));
        }
        SchemaStep::Items => bare.items = Some(Items::Schema(Box::new(node))),
        SchemaStep::Values => bare.additional_properties = Some(SchemaOrBool::Schema(Box::new(node))),
    }
    Some(bare)
}

/// Collects the lists and maps on the path to the rule's node, then the nodes inside it that the expression mentions
/// and that can be limited.
fn candidates(root: &Schema, steps: &[SchemaStep], expression: &str) -> Vec<Candidate> {
    let mut search = CandidateSearch { root, expression, found: Vec::new() };
    let mut node = root;
    for (depth, step) in steps.iter().enumerate() {
        if !matches!(step, SchemaStep::Property(_)) {
            search.add(node, steps.get(..depth).unwrap_or_default());
        }
        match below(node, step) {
            Some(inner) => node = inner,
            None => return search.found,
        }
    }
    search.inside(node, &mut steps.to_vec());
    search.found
}

struct CandidateSearch<'s> {
    root: &'s Schema,
    expression: &'s str,
    found: Vec<Candidate>,
}

impl CandidateSearch<'_> {
    fn inside(&mut self, node: &Schema, steps: &mut Vec<SchemaStep>) {
        if self.found.len() >= MAX_TRIED {
            return;
        }
        self.add(node, steps);
        for (step, inner) in steps_below(node) {
            let named = match &step {
                SchemaStep::Property(name) => escape(name).is_some_and(|name| self.expression.contains(&*name)),
                SchemaStep::Items | SchemaStep::Values => true,
            };
            if named {
                steps.push(step);
                self.inside(inner, steps);
                steps.pop();
            }
        }
    }

    fn add(&mut self, node: &Schema, steps: &[SchemaStep]) {
        let (keyword, now, least) = match node.type_.as_str() {
            "array" => ("maxItems", node.max_items, node.min_items),
            "object" if node.additional_properties.is_some() => {
                ("maxProperties", node.max_properties, node.min_properties)
            }
            "string" if matches!(node.format.as_str(), "duration" | "date" | "date-time") => return,
            "string" if node.max_length.is_none() && !node.enum_.is_empty() => return,
            "string" => ("maxLength", node.max_length, node.min_length),
            _ => return,
        };
        // Defaults and enum values must stay valid.
        let longest = node.enum_.iter().map(size).max().unwrap_or(0);
        let least = least.unwrap_or(0).max(longest).max(in_defaults(self.root, steps));
        if now.is_none_or(|now| now > least.max(1)) {
            self.found.push(Candidate { steps: steps.to_vec(), keyword, now, least });
        }
    }
}

/// Returns the size of the largest value at `steps` in the defaults of the schema.
fn in_defaults(root: &Schema, steps: &[SchemaStep]) -> i64 {
    let mut largest = 0;
    let mut node = Some(root);
    for depth in 0..=steps.len() {
        let Some(here) = node else { break };
        let rest = steps.get(depth..).unwrap_or_default();
        if let Some(default) = &here.default {
            let mut values = vec![default];
            for step in rest {
                values = values.into_iter().flat_map(|value| values_below(value, step)).collect();
            }
            largest = values.into_iter().map(size).fold(largest, i64::max);
        }
        node = rest.first().and_then(|step| below(here, step));
    }
    largest
}

fn values_below<'v>(value: &'v Value, step: &SchemaStep) -> Vec<&'v Value> {
    match (step, value) {
        (SchemaStep::Property(name), value) => value.get(name).into_iter().collect(),
        (SchemaStep::Items, Value::Array(items)) => items.iter().collect(),
        (SchemaStep::Values, Value::Object(members)) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// Returns the size that a limit restricts.
fn size(value: &Value) -> i64 {
    let count = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::crd::validation::rules::EXPRESSION_COST_LIMIT;
    use crdx_value::release::Release;

    fn schema(text: &str) -> Schema {
        Schema::from_value(&crdx_text::json::read(text.as_bytes()).unwrap()).unwrap()
    }

    fn rule(text: &str) -> ValidationRule {
        ValidationRule { rule: text.to_owned(), ..ValidationRule::default() }
    }

    #[test]
    fn the_limit_found_is_the_widest() {
        let root = schema(
            r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"string","maxLength":10}}}}"#,
        );
        let steps = [SchemaStep::Property("list".to_owned())];
        let rule = rule("self.all(a, self.exists_one(b, a == b))");
        let releases = Release::NEWEST.into();
        let expression = RuleExpression { steps: &steps, rule: &rule, message: false, releases: &releases };
        let found = find(&root, expression, EXPRESSION_COST_LIMIT, &Search::default());
        let [bound] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((bound.path().as_str(), bound.keyword), ("list", "maxItems"));
        for (limit, fits) in [(bound.limit, true), (bound.limit + 1, false)] {
            let mut root = root.clone();
            Bound { limit, ..bound.clone() }.apply(&mut root);
            assert_eq!(expression.estimate(&root).unwrap() <= EXPRESSION_COST_LIMIT, fits);
        }
    }

    #[test]
    fn two_useful_limits_are_better_than_a_list_of_few_items() {
        let root = schema(r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}}}}"#);
        let steps = [SchemaStep::Property("list".to_owned())];
        let rule = rule("self.all(a, self.all(b, a.contains(b)))");
        let releases = Release::NEWEST.into();
        let expression = RuleExpression { steps: &steps, rule: &rule, message: false, releases: &releases };
        let found = find(&root, expression, EXPRESSION_COST_LIMIT, &Search::default());
        let keywords: Vec<&str> = found.iter().map(|bound| bound.keyword).collect();
        assert_eq!(keywords, ["maxItems", "maxLength"], "{found:?}");
        assert!(found.iter().all(|bound| bound.limit >= USEFUL), "{found:?}");
    }

    #[test]
    fn a_message_expression_is_measured_by_itself() {
        let root = schema(r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}}}}"#);
        let rule = ValidationRule {
            message_expression: "self.list.all(a, self.list.exists_one(b, a == b)) ? 'a' : 'b'".to_owned(),
            ..rule("self.list.size() > 0")
        };
        let releases = Release::NEWEST.into();
        let expression = RuleExpression { steps: &[], rule: &rule, message: true, releases: &releases };
        assert!(expression.estimate(&root).unwrap() > EXPRESSION_COST_LIMIT);
        let found = find(&root, expression, EXPRESSION_COST_LIMIT, &Search::default());
        let mut limited = root.clone();
        for bound in &found {
            bound.apply(&mut limited);
        }
        assert!(!found.is_empty() && expression.estimate(&limited).unwrap() <= EXPRESSION_COST_LIMIT, "{found:?}");
    }

    #[test]
    fn a_search_ends_after_a_number_of_estimates() {
        let deep = |levels: usize| {
            let (open, close) = (r#"{"type":"array","items":"#.repeat(levels), "}".repeat(levels));
            schema(&format!(r#"{open}{{"type":"string"}}{close}"#))
        };
        let left = move |levels: usize| {
            let releases = Release::NEWEST.into();
            let rule = rule("self.size() < 10 && self.contains('a')");
            let (root, steps, search) = (deep(levels), vec![SchemaStep::Items; levels], Search::default());
            let expression = RuleExpression { steps: &steps, rule: &rule, message: false, releases: &releases };
            let found = find(&root, expression, EXPRESSION_COST_LIMIT, &search);
            (found.is_empty(), search.is_over())
        };
        assert_eq!(left(10), (false, false));
        // Threads of tests have small stacks.
        let deep = std::thread::Builder::new().stack_size(crdx_value::STACK_SIZE);
        assert_eq!(deep.spawn(move || left(400)).unwrap().join().unwrap(), (true, true));
    }

    #[test]
    fn what_a_default_holds_must_fit() {
        let root = schema(
            r#"{"type":"object","default":{"list":["aaaaaaaaaaaaaaaaaaaa","b","c"]},"properties":{"list":{"type":"array","items":{"type":"string","default":"x"}}}}"#,
        );
        let list = [SchemaStep::Property("list".to_owned())];
        assert_eq!(in_defaults(&root, &list), 3);
        assert_eq!(in_defaults(&root, &[list[0].clone(), SchemaStep::Items]), 20);
    }
}
