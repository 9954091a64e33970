//! Estimates the cost of each CEL expression of a new CRD, as the server of each release does, and the limits that
//! would make its schemas cheap enough.

use super::bounds::{self, Bound, RuleExpression, Search};
use super::needs::Needs;
use crate::schema_steps::{SchemaStep, schema_path, steps_below, value_path};
use crdx_cel::env::BaseEnv;
use crdx_server::crd::Spec;
use crdx_server::crd::validation::rules::{EXPRESSION_COST_LIMIT, SCHEMA_COST_LIMIT, Scope};
use crdx_server::crd::validation::structural;
use crdx_server::rules::compile::compile;
use crdx_server::schema::{Schema, ValidationRule};
use crdx_value::release::{Release, ReleaseSet};
use std::collections::HashSet;
use std::sync::Arc;

/// The estimates of a schema with rules.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaCost {
    /// The versions with this schema.
    pub versions: Vec<String>,
    /// The releases of the estimates.
    pub releases: ReleaseSet,
    /// The expressions by path: the rule, then its messageExpression.
    pub expressions: Vec<ExpressionCost>,
    /// Limits that make all expressions together, and each alone, cheap enough; empty if they already are or no limit
    /// helps.
    pub bounds: Vec<Bound>,
    /// True if the search for limits ended before it found these.
    pub is_unsearched: bool,
}

/// The estimate of one expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionCost {
    /// The affected values: `spec.list[*]`.
    pub path: String,
    /// The field in the CRD: `spec.versions[0].schema.openAPIV3Schema.….x-kubernetes-validations[0].rule`.
    pub crd_field: String,
    /// The expression.
    pub text: String,
    /// True for a messageExpression.
    pub message: bool,
    /// The maximum cost of one evaluation.
    pub each: u64,
    /// The maximum number of evaluations. The server counts a messageExpression once.
    pub times: u64,
    /// True if the schema limits the number; otherwise only the size of a request limits it.
    pub limited: bool,
    /// `each * times`, which the server compares with its limit.
    pub total: u64,
    /// The reason why there is no estimate.
    pub error: Option<String>,
    /// Limits that make the expression cheap enough on every release; empty if it already is or no limit helps.
    pub bounds: Vec<Bound>,
    /// True if the search for limits ended before it found these.
    pub is_unsearched: bool,
    /// The estimate of each release, oldest first. The numbers above are the highest; the error is that of the newest
    /// release, if no release has an estimate.
    pub by_release: Vec<Estimate>,
    /// The releases that the expression needs, if some release cannot compile it.
    pub needs: Option<Needs>,
    steps: Vec<SchemaStep>,
    rule: ValidationRule,
    releases: ReleaseSet,
}

/// The estimate of one release for an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The release.
    pub release: Release,
    /// The maximum cost of one evaluation.
    pub each: u64,
    /// The maximum number of evaluations.
    pub times: u64,
    /// `each * times`.
    pub total: u64,
    /// The reason why there is no estimate.
    pub error: Option<String>,
}

impl SchemaCost {
    /// Returns the total cost of all expressions: the highest of any release.
    pub fn total(&self) -> u64 {
        self.releases.iter().map(|release| self.total_on(release)).max().unwrap_or_default()
    }
    /// Returns the total cost of all expressions on a release.
    pub fn total_on(&self, release: Release) -> u64 {
        let estimates = self.expressions.iter().flat_map(|one| &one.by_release).filter(|one| one.release == release);
        estimates.fold(0, |sum, one| sum.saturating_add(one.total))
    }
    /// The distinct totals with their releases, oldest first.
    pub fn totals(&self) -> Vec<(u64, ReleaseSet)> {
        grouped(self.releases.iter().map(|release| (release, self.total_on(release))))
    }
    /// Returns the total as a share of the limit per schema, in percent.
    pub fn percent(&self) -> f64 {
        self.total() as f64 / SCHEMA_COST_LIMIT as f64 * 100.0
    }
    /// Returns true if the server rejects the schema because of the total cost.
    pub fn too_high(&self) -> bool {
        self.total() > SCHEMA_COST_LIMIT
    }
}

impl ExpressionCost {
    /// Returns the cost as a share of the limit per expression, in percent.
    pub fn percent(&self) -> f64 {
        self.total as f64 / EXPRESSION_COST_LIMIT as f64 * 100.0
    }
    /// Returns true if the server rejects the expression because of its cost.
    pub fn too_high(&self) -> bool {
        self.total > EXPRESSION_COST_LIMIT
    }
    /// The distinct totals with their releases, oldest first; `None` for an error.
    pub fn estimates(&self) -> Vec<(Option<u64>, ReleaseSet)> {
        let total = |one: &Estimate| Some(one.total).filter(|_| one.error.is_none());
        grouped(self.by_release.iter().map(|one| (one.release, total(one))))
    }
    fn expression(&self) -> RuleExpression<'_> {
        RuleExpression { steps: &self.steps, rule: &self.rule, message: self.message, releases: &self.releases }
    }

    /// Adds the estimate of another release.
    fn add(&mut self, other: Self) {
        if self.error.is_some() || (other.error.is_none() && other.total > self.total) {
            (self.each, self.times, self.total) = (other.each, other.times, other.total);
            self.limited = other.limited;
        }
        self.error = self.error.take().filter(|_| other.error.is_some());
        self.needs = self.needs.take().or(other.needs);
        self.by_release.extend(other.by_release);
        self.by_release.sort_by_key(|one| one.release);
    }
}

/// Groups releases by value, in order of appearance.
fn grouped<T: PartialEq>(values: impl Iterator<Item = (Release, T)>) -> Vec<(T, ReleaseSet)> {
    let mut groups: Vec<(T, Vec<Release>)> = Vec::new();
    for (release, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, releases)) => releases.push(release),
            None => groups.push((value, vec![release])),
        }
    }
    groups.into_iter().filter_map(|(value, releases)| Some((value, ReleaseSet::from_releases(releases)?))).collect()
}

/// Estimates the schemas with rules of a CRD for each of `releases`, in the order of versions. A schema shared by
/// several versions is estimated once. Schemas that are not structural are skipped, because the server ignores their
/// rules.
pub fn costs(spec: &Spec, releases: &ReleaseSet) -> Vec<SchemaCost> {
    let mut seen: Vec<(&Arc<Schema>, usize, Vec<String>)> = Vec::new();
    for (index, version) in spec.versions.iter().enumerate() {
        let Some(schema) = spec.schema(&version.name) else { continue };
        match seen.iter_mut().find(|(known, ..)| Arc::ptr_eq(known, schema) || known == &schema) {
            Some((_, _, versions)) => versions.push(version.name.clone()),
            None => seen.push((schema, index, vec![version.name.clone()])),
        }
    }
    let (mut found, search) = (Vec::new(), Search::default());
    for (schema, index, versions) in seen {
        let has_rules = schema.any(&mut |s| !s.x_validations.is_empty());
        let structural = releases.iter().filter(|release| has_rules && structural::is_structural(schema, *release));
        let Some(releases) = &ReleaseSet::from_releases(structural) else { continue };
        let prefix = format!("spec.versions[{index}].schema.openAPIV3Schema");
        let mut cost = SchemaCost {
            versions,
            releases: releases.clone(),
            expressions: expressions(schema, &prefix, releases),
            bounds: Vec::new(),
            is_unsearched: false,
        };
        for one in cost.expressions.iter_mut().filter(|one| one.too_high()) {
            one.bounds = bounds::find(schema, one.expression(), EXPRESSION_COST_LIMIT, &search);
            one.is_unsearched = search.is_over();
        }
        if cost.too_high() {
            cost.bounds = together(schema, &cost.expressions, &search);
            cost.is_unsearched = search.is_over();
        }
        found.push(cost);
    }
    found
}

/// Returns the expressions of a schema, each with the estimates of all releases.
fn expressions(schema: &Schema, prefix: &str, releases: &ReleaseSet) -> Vec<ExpressionCost> {
    let mut all: Vec<ExpressionCost> = Vec::new();
    for release in releases.iter() {
        let mut walk = CostCollector { release, prefix: prefix.to_owned(), steps: Vec::new(), found: Vec::new() };
        walk.node(schema, &Scope::root(schema, release));
        if all.is_empty() {
            all = walk.found;
            continue;
        }
        // A release that rejects a rule does not check its messageExpression. Otherwise, the expressions are the same, in
        // the same order.
        let known: HashSet<String> = all.iter().map(|one| one.crd_field.clone()).collect();
        let mut before = std::mem::take(&mut all).into_iter();
        for one in walk.found {
            if !known.contains(&one.crd_field) {
                all.push(one);
                continue;
            }
            for mut next in before.by_ref() {
                let is_same = next.crd_field == one.crd_field;
                if is_same {
                    next.add(one);
                    all.push(next);
                    break;
                }
                all.push(next);
            }
        }
        all.extend(before);
    }
    for one in &mut all {
        one.releases = releases.clone();
    }
    all
}

struct CostCollector {
    release: Release,
    prefix: String,
    steps: Vec<SchemaStep>,
    found: Vec<ExpressionCost>,
}

impl CostCollector {
    fn node(&mut self, schema: &Schema, scope: &Scope<'_>) {
        if !schema.x_validations.is_empty() {
            self.rules(schema, scope);
        }
        for (step, node) in steps_below(schema) {
            if !node.any(&mut |s| !s.x_validations.is_empty()) {
                continue;
            }
            let inner = match &step {
                SchemaStep::Property(name) => scope.property(schema, name, node),
                SchemaStep::Items | SchemaStep::Values => scope.elements(schema, node),
            };
            self.steps.push(step.clone());
            self.node(node, &inner);
            self.steps.pop();
        }
    }

    fn rules(&mut self, schema: &Schema, scope: &Scope<'_>) {
        let base = BaseEnv::for_new(self.release);
        for (index, rule) in schema.x_validations.iter().enumerate() {
            let compiled = scope.cel_type().map(|cel_type| compile(rule, schema, cel_type, (&base, &base)));
            let error = match &compiled {
                None => Some("CEL cannot see this node".to_owned()),
                Some(compiled) => compiled.error.clone(),
            };
            let needs = |message| Needs::for_rule(rule, message, scope.cel_type()?);
            let each = compiled.as_ref().map_or(0, |c| c.max_cost);
            let times = scope.cardinality().or(compiled.as_ref().map(|c| c.max_cardinality)).unwrap_or(0);
            let crd_field = format!("{}{}.x-kubernetes-validations[{index}]", self.prefix, schema_path(&self.steps));
            let estimate = |each: u64, times: u64, error: Option<&String>| {
                let total = each.saturating_mul(times);
                vec![Estimate { release: self.release, each, times, total, error: error.cloned() }]
            };
            let cost = ExpressionCost {
                by_release: estimate(each, times, error.as_ref()),
                needs: error.as_ref().and_then(|_| needs(false)),
                path: value_path(&self.steps),
                crd_field: format!("{crd_field}.rule"),
                text: rule.rule.clone(),
                message: false,
                each,
                times,
                limited: scope.cardinality().is_some(),
                total: each.saturating_mul(times),
                error,
                bounds: Vec::new(),
                is_unsearched: false,
                steps: self.steps.clone(),
                rule: rule.clone(),
                releases: self.release.into(),
            };
            let message = compiled.filter(|c| c.message.is_some() || c.message_error.is_some()).map(|compiled| {
                let each = compiled.message_max_cost;
                ExpressionCost {
                    crd_field: format!("{crd_field}.messageExpression"),
                    text: rule.message_expression.clone(),
                    message: true,
                    each,
                    times: 1,
                    limited: true,
                    total: each,
                    by_release: estimate(each, 1, compiled.message_error.as_ref()),
                    needs: compiled.message_error.as_ref().and_then(|_| needs(true)),
                    error: compiled.message_error,
                    ..cost.clone()
                }
            });
            self.found.push(cost);
            self.found.extend(message);
        }
    }
}

/// Returns limits that make all expressions of a schema, together and each alone, cheap enough; empty if there are
/// none.
fn together(schema: &Schema, expressions: &[ExpressionCost], search: &Search) -> Vec<Bound> {
    let mut sum =
        CombinedLimits { expressions, limited: schema.clone(), bounds: Vec::new(), costs: Vec::new(), search };
    sum.costs = expressions.iter().map(|one| one.total).collect();
    for one in expressions {
        sum.take(&one.bounds);
    }
    sum.estimate();
    // True for expressions whose cost no limit can reduce.
    let mut fixed = vec![false; expressions.len()];
    while sum.costs.iter().fold(0u64, |sum, cost| sum.saturating_add(*cost)) > SCHEMA_COST_LIMIT {
        if search.is_over() {
            return Vec::new();
        }
        let share = share(&sum.costs, &fixed);
        for ((one, cost), fixed) in expressions.iter().zip(sum.costs.clone()).zip(&mut fixed) {
            if *fixed || cost <= share || sum.cost(one).is_some_and(|cost| cost <= share) {
                continue;
            }
            let found = bounds::find(&sum.limited, one.expression(), share, search);
            *fixed = found.is_empty();
            sum.take(&found);
        }
        sum.estimate();
        let free = sum.costs.iter().zip(&fixed).any(|(cost, fixed)| !fixed && *cost > 0);
        if !free {
            return Vec::new();
        }
    }
    let alone = sum.costs.iter().all(|cost| *cost <= EXPRESSION_COST_LIMIT);
    if alone { sum.bounds } else { Vec::new() }
}

struct CombinedLimits<'t> {
    expressions: &'t [ExpressionCost],
    /// The schema with the limits applied.
    limited: Schema,
    bounds: Vec<Bound>,
    /// The cost of each expression in `limited`.
    costs: Vec<u64>,
    search: &'t Search,
}

impl CombinedLimits<'_> {
    /// The cost of an expression; `None` if it has none, or if the search is over.
    fn cost(&self, one: &ExpressionCost) -> Option<u64> {
        one.expression().estimate_within(&self.limited, self.search)
    }

    fn take(&mut self, found: &[Bound]) {
        for bound in found {
            bound.apply(&mut self.limited);
            self.search.take(1, self.bounds.len());
            match self.bounds.iter_mut().find(|b| b.steps == bound.steps && b.keyword == bound.keyword) {
                Some(known) => known.limit = known.limit.min(bound.limit),
                None => self.bounds.push(bound.clone()),
            }
        }
    }

    fn estimate(&mut self) {
        for (cost, one) in self.costs.iter_mut().zip(self.expressions) {
            // Limits only reduce costs, so cheap expressions are not estimated again.
            if *cost > SCHEMA_COST_LIMIT / 10_000 {
                *cost = one.expression().estimate_within(&self.limited, self.search).unwrap_or(*cost);
            }
        }
    }
}

/// Returns the maximum cost of each expression that can be limited, such that the total is within the limit.
fn share(costs: &[u64], fixed: &[bool]) -> u64 {
    let (mut good, mut bad) = (0, EXPRESSION_COST_LIMIT + 1);
    while good + 1 < bad {
        let middle = good + (bad - good) / 2;
        let one = |(cost, fixed): (&u64, &bool)| if *fixed { *cost } else { (*cost).min(middle) };
        let total = costs.iter().zip(fixed).map(one).fold(0u64, u64::saturating_add);
        if total <= SCHEMA_COST_LIMIT { good = middle } else { bad = middle }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_alone_is_limited_until_it_fits_together() {
        let property = |name: &str| {
            format!(
                r#""{name}":{{"type":"array","items":{{"type":"string","maxLength":10}},"maxItems":900,"x-kubernetes-validations":[{{"rule":"self.all(a, self.all(b, a.startsWith(b)))"}}]}}"#
            )
        };
        let properties: Vec<String> = (0..40).map(|n| property(&format!("p{n}"))).collect();
        let text = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
        let schema = Schema::from_value(&crdx_text::json::read(text.as_bytes()).unwrap()).unwrap();
        let walk = |schema: &Schema| {
            let releases: ReleaseSet = "1.36,1.37".parse().unwrap();
            let expressions = expressions(schema, "", &releases);
            SchemaCost { versions: Vec::new(), releases, expressions, bounds: Vec::new(), is_unsearched: false }
        };
        let cost = walk(&schema);
        assert!(cost.too_high() && !cost.expressions.iter().any(ExpressionCost::too_high), "{}", cost.total());
        let bounds = together(&schema, &cost.expressions, &Search::default());
        assert_eq!(bounds.len(), 40);
        let mut limited = schema;
        for bound in &bounds {
            bound.apply(&mut limited);
        }
        assert!(!walk(&limited).too_high());
    }
}
