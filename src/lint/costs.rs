//! What each CEL rule of a CRD is estimated to cost, as the server estimates it when the CRD is new.

use super::bounds::{self, Bound};
use super::{Step, schema_path, steps_below, value_path};
use crate::cel::env::BaseEnv;
use crate::crd::Spec;
use crate::crd::validation::rules::{EXPRESSION_COST_LIMIT, Scope};
use crate::crd::validation::structural;
use crate::rules::compile::compile;
use crate::schema::Schema;
use crate::version::Version;
use std::sync::Arc;

/// The estimate of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleCost {
    /// The versions that have it.
    pub versions: Vec<String>,
    /// The values it is about: `spec.list[*]`.
    pub path: String,
    /// Where it is written: `spec.versions[0].schema.openAPIV3Schema.….x-kubernetes-validations[0].rule`.
    pub place: String,
    /// Its text.
    pub rule: String,
    /// The most one evaluation costs.
    pub each: u64,
    /// How often it is evaluated at most.
    pub times: u64,
    /// Whether limits in the schema say how often; else only the size of a request does.
    pub limited: bool,
    /// Both together, which is what the server judges.
    pub total: u64,
    /// Why there is no estimate.
    pub error: Option<String>,
    /// What would make it cheap enough, if it is not and something would.
    pub bounds: Vec<Bound>,
}

impl RuleCost {
    /// The part of the limit for one expression, in percent.
    pub fn percent(&self) -> f64 {
        self.total as f64 / EXPRESSION_COST_LIMIT as f64 * 100.0
    }
    /// Whether the server refuses it for its cost.
    pub fn too_high(&self) -> bool {
        self.total > EXPRESSION_COST_LIMIT
    }
}

/// The rules of a CRD, in the order of versions and paths. A schema that several versions share is looked at once; one
/// that is not structural has no rules for the server.
pub fn costs(spec: &Spec) -> Vec<RuleCost> {
    let mut seen: Vec<(&Arc<Schema>, usize, Vec<String>)> = Vec::new();
    for (index, version) in spec.versions.iter().enumerate() {
        let Some(schema) = spec.schema(&version.name) else { continue };
        match seen.iter_mut().find(|(known, ..)| Arc::ptr_eq(known, schema) || known == &schema) {
            Some((_, _, versions)) => versions.push(version.name.clone()),
            None => seen.push((schema, index, vec![version.name.clone()])),
        }
    }
    let mut found = Vec::new();
    for (schema, index, versions) in seen {
        let has_rules = schema.any(&mut |s| !s.x_validations.is_empty());
        if !has_rules || !structural::is_structural(schema) {
            continue;
        }
        let prefix = format!("spec.versions[{index}].schema.openAPIV3Schema");
        let mut walk = Walk { root: schema, prefix, versions, steps: Vec::new(), found: &mut found };
        walk.node(schema, &Scope::root(schema));
    }
    found
}

struct Walk<'w> {
    root: &'w Schema,
    prefix: String,
    versions: Vec<String>,
    steps: Vec<Step>,
    found: &'w mut Vec<RuleCost>,
}

impl Walk<'_> {
    fn node(&mut self, schema: &Schema, scope: &Scope<'_>) {
        if !schema.x_validations.is_empty() {
            self.rules(schema, scope);
        }
        for (step, node) in steps_below(schema) {
            if !node.any(&mut |s| !s.x_validations.is_empty()) {
                continue;
            }
            let inner = match &step {
                Step::Property(name) => scope.property(schema, name, node),
                Step::Items | Step::Values => scope.elements(schema, node),
            };
            self.steps.push(step.clone());
            self.node(node, &inner);
            self.steps.pop();
        }
    }

    fn rules(&mut self, schema: &Schema, scope: &Scope<'_>) {
        let base = BaseEnv::of(Version::CURRENT.compatibility());
        for (index, rule) in schema.x_validations.iter().enumerate() {
            let compiled = scope.place().map(|place| compile(rule, schema, place, (&base, &base)));
            let error = match &compiled {
                None => Some("CEL cannot see this node".to_owned()),
                Some(compiled) => compiled.error.clone(),
            };
            let each = compiled.as_ref().map_or(0, |c| c.max_cost);
            let times = scope.cardinality().or(compiled.as_ref().map(|c| c.max_cardinality)).unwrap_or(0);
            let mut cost = RuleCost {
                versions: self.versions.clone(),
                path: value_path(&self.steps),
                place: format!("{}{}.x-kubernetes-validations[{index}].rule", self.prefix, schema_path(&self.steps)),
                rule: rule.rule.clone(),
                each,
                times,
                limited: scope.cardinality().is_some(),
                total: each.saturating_mul(times),
                error,
                bounds: Vec::new(),
            };
            if cost.too_high() {
                cost.bounds = bounds::find(self.root, &self.steps, rule, EXPRESSION_COST_LIMIT);
            }
            self.found.push(cost);
        }
    }
}
