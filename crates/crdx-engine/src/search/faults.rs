//! Faults of one CRD that an object or a proof shows.
//!
//! ```text
//! fragment      the fields and constants of a rule, if its truth depends on finitely many cases
//! models        one value for each of these cases
//! rules         rules that are always or never true, or implied; values that the rules exclude
//! schema        bounds that contradict each other, union branches that nothing satisfies
//! objects       defaults that violate rules, transition rules that can be avoided, failing message expressions
//! cost          rules that cost more than the limit for an object within the limits of the schema
//! ```
//!
//! A fault is reported only with the object that shows it or if it follows from the CRD.

mod cost;
mod fragment;
mod models;
mod objects;
mod rules;
mod samples;
mod schema;

use crate::examples::Checker;
use crate::schema_steps::{SchemaStep, schema_path, steps_below, value_path};
use crdx_server::crd::CustomResourceDefinition;
use crdx_server::rules::escape::escape;
use crdx_server::schema::Schema;
use crdx_value::Value;
use crdx_value::release::Release;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of a fault; the names are types of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// No value is valid.
    Unsatisfiable,
    /// No value satisfies a branch of `oneOf` or `anyOf`.
    ImpossibleBranch,
    /// No valid value has a value that the schema allows.
    ImpossibleValue,
    /// A rule is true for every value that the schema allows.
    DeadRule,
    /// A rule is true for no value.
    UnsatisfiableRule,
    /// A rule is true whenever another one is.
    ImpliedRule,
    /// An object that does not set a field is rejected because of the field's default.
    DefaultViolatesRule,
    /// A transition rule does not forbid to remove a value and to set another one.
    AvoidableTransition,
    /// A transition rule forbids updates that leave the value as it is.
    UnchangedUpdate,
    /// A message expression fails for an object that the rule rejects.
    FailingMessage,
    /// A rule cannot be evaluated for an object that the schema allows, because it costs too much.
    ExcessiveCost,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Unsatisfiable,
        Self::ImpossibleBranch,
        Self::ImpossibleValue,
        Self::DeadRule,
        Self::UnsatisfiableRule,
        Self::ImpliedRule,
        Self::DefaultViolatesRule,
        Self::AvoidableTransition,
        Self::UnchangedUpdate,
        Self::FailingMessage,
        Self::ExcessiveCost,
    ];

    /// Returns the type of the finding.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unsatisfiable => "Unsatisfiable",
            Self::ImpossibleBranch => "ImpossibleBranch",
            Self::ImpossibleValue => "ImpossibleValue",
            Self::DeadRule => "DeadRule",
            Self::UnsatisfiableRule => "UnsatisfiableRule",
            Self::ImpliedRule => "ImpliedRule",
            Self::DefaultViolatesRule => "DefaultViolatesRule",
            Self::AvoidableTransition => "AvoidableTransition",
            Self::UnchangedUpdate => "UnchangedUpdate",
            Self::FailingMessage => "FailingMessage",
            Self::ExcessiveCost => "ExcessiveCost",
        }
    }
}

/// A fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The path of the field in the CRD.
    pub crd_field: String,
    /// A description.
    pub message: String,
    /// The reason why it is one.
    pub evidence: Evidence,
}

/// The reason why something is a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// It follows from the CRD.
    Proof,
    /// Objects show it, in the order in which they are written.
    Objects(Vec<Value>),
    /// An object shows it that is too long to be printed; the message has its sizes.
    LongObject(Value),
}

/// The effort of the search for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultEffort {
    /// The most cases of the rules of one node.
    pub models: usize,
    /// The most objects for one rule.
    pub objects: usize,
    /// The most requests for the objects of one version.
    pub requests: u64,
    /// The most objects that are tried to find one that the server accepts.
    pub base: usize,
    /// The most rules of one version whose cost is tried, those with the largest estimates.
    pub costs: usize,
}

impl FaultEffort {
    /// The effort of `lint`.
    pub const DEFAULT: Self = Self { models: 256, objects: 20, requests: 300, base: 100, costs: 2 };
    /// The effort of `lint --thorough`.
    pub const THOROUGH: Self = Self { models: 8192, objects: 400, requests: 20_000, base: 600, costs: 100 };
}

/// A node of a schema that may have a fault.
struct FaultNode<'s> {
    schema: &'s Schema,
    steps: Vec<SchemaStep>,
    prefix: &'s str,
    /// True if the node has a default and a rule of a node above names the field.
    has_default_for_rules: bool,
    /// The indices of the rules that may cost more than the limit of one evaluation, and the estimates.
    expensive: Vec<(usize, u64)>,
}

impl FaultNode<'_> {
    fn path(&self) -> String {
        value_path(&self.steps)
    }

    fn crd_field(&self, keyword: &str) -> String {
        format!("{}{}.{keyword}", self.prefix, schema_path(&self.steps))
    }

    fn proved(&self, kind: FaultKind, keyword: &str, message: String) -> Fault {
        self.fault(kind, keyword, message, Evidence::Proof)
    }

    fn shown(&self, kind: FaultKind, keyword: &str, message: String, objects: Vec<Value>) -> Fault {
        self.fault(kind, keyword, message, Evidence::Objects(objects))
    }

    fn fault(&self, kind: FaultKind, keyword: &str, message: String, evidence: Evidence) -> Fault {
        Fault { kind, crd_field: self.crd_field(keyword), message, evidence }
    }
}

/// The maximum number of nodes of one schema.
const MAX_NODES: usize = 20_000;

/// Returns the faults of a CRD that the server accepts, version by version; versions with the same schema are examined once.
/// `expensive` has the estimates of the rules whose estimated cost exceeds the limit of one evaluation, by their paths.
pub fn faults(
    crd: &CustomResourceDefinition,
    release: Release,
    effort: FaultEffort,
    expensive: &BTreeMap<&str, u64>,
) -> Vec<Fault> {
    let spec = &crd.spec;
    let server = OnceCell::new();
    let (mut found, mut examined) = (Vec::new(), Vec::new());
    for (index, version) in spec.versions.iter().enumerate() {
        let Some(root) = spec.schema(&version.name) else { continue };
        if examined.contains(&root) {
            continue;
        }
        examined.push(root);
        let prefix = format!("spec.versions[{index}].schema.openAPIV3Schema");
        let (left, steps, rules, nodes) = (MAX_NODES, Vec::new(), Vec::new(), Vec::new());
        let mut collector = Collector { prefix: &prefix, expensive, left, steps, rules, nodes };
        collector.collect(root);
        let nodes = collector.nodes;
        for node in &nodes {
            found.extend(schema::faults(node, release));
            found.extend(rules::faults(node, release, effort));
        }
        let of_objects: Vec<&FaultNode<'_>> = nodes.iter().filter(|node| objects::may_have_fault(node)).collect();
        if !version.served || of_objects.is_empty() {
            continue;
        }
        let server = Arc::clone(server.get_or_init(|| Checker::server_of_accepted(crd, release)));
        if let Ok(checker) = Checker::on(server, crd, Some(&version.name), release) {
            found.extend(objects::faults(&checker, &of_objects, release, effort));
        }
    }
    found
}

/// Collects the nodes that may have a fault.
struct Collector<'s> {
    prefix: &'s str,
    expensive: &'s BTreeMap<&'s str, u64>,
    /// The number of nodes that are still examined.
    left: usize,
    steps: Vec<SchemaStep>,
    /// The rules of the nodes above.
    rules: Vec<&'s str>,
    nodes: Vec<FaultNode<'s>>,
}

impl<'s> Collector<'s> {
    fn collect(&mut self, schema: &'s Schema) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        let has_default_for_rules = schema.default.is_some() && self.is_named_above();
        if has_default_for_rules || has_constraints(schema) {
            let mut node = FaultNode {
                schema,
                steps: self.steps.clone(),
                prefix: self.prefix,
                has_default_for_rules,
                expensive: Vec::new(),
            };
            let estimate = |index: usize| {
                let field = node.crd_field(&format!("x-kubernetes-validations[{index}].rule"));
                Some((index, *self.expensive.get(field.as_str())?))
            };
            if !self.expensive.is_empty() {
                node.expensive = (0..schema.x_validations.len()).filter_map(estimate).collect();
            }
            self.nodes.push(node);
        }
        let above = self.rules.len();
        self.rules.extend(schema.x_validations.iter().map(|rule| rule.rule.as_str()));
        for (step, child) in steps_below(schema) {
            self.steps.push(step);
            self.collect(child);
            self.steps.pop();
        }
        self.rules.truncate(above);
    }

    /// Returns true if a rule above contains the name of the field. Without it, only a comparison of whole objects uses the field.
    fn is_named_above(&self) -> bool {
        let name = self.steps.iter().rev().find_map(|step| match step {
            SchemaStep::Property(name) => escape(name),
            SchemaStep::Items | SchemaStep::Values => None,
        });
        name.is_some_and(|name| self.rules.iter().any(|rule| rule.contains(&name)))
    }
}

/// Returns true if the node has a rule, an enum, a union or a lower limit.
fn has_constraints(schema: &Schema) -> bool {
    let limits = [schema.min_length, schema.min_items, schema.min_properties];
    !schema.x_validations.is_empty()
        || !schema.enum_.is_empty()
        || !schema.one_of.is_empty()
        || !schema.any_of.is_empty()
        || schema.minimum.is_some()
        || limits.iter().any(Option::is_some)
}

#[cfg(test)]
mod tests;
