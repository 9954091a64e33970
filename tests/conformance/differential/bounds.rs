//! CRDs with rules that exceed the cost limits, and the limits that `lint` suggests: with these, the real server
//! accepts the CRD.

use super::{Pair, mutate::Rng, subjects};
use crdx_engine::lint::bounds::Bound;
use crdx_engine::lint::costs::{self, ExpressionCost};
use crdx_engine::schema_steps::SchemaStep;
use crdx_server::crd;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict";
const LIMITS: [&str; 3] = ["maxItems", "maxLength", "maxProperties"];

/// Statistics of the comparison.
#[derive(Debug, Default)]
pub struct Statistics {
    /// The number of CRDs that exceeded a cost limit.
    expensive: usize,
    /// The number of expressions and schemas that exceeded a cost limit.
    expressions: usize,
    schemas: usize,
    /// The number of suggested limits.
    bounds: usize,
    /// Expressions and schemas for which no limit is sufficient.
    unbounded: BTreeMap<String, usize>,
}

pub fn compare(pair: &mut Pair, rng: &mut Rng, rounds: u64) -> Statistics {
    let mut statistics = Statistics::default();
    for subject in subjects() {
        let mut crd = subject.crd.clone();
        crd.as_object_mut().unwrap().remove("status");
        if !crd.to_string().contains("x-kubernetes-validations") {
            continue;
        }
        strip(&mut crd, rng, 1);
        judge(pair, &crd, &mut statistics);
        let mut crd = subject.crd.clone();
        crd.as_object_mut().unwrap().remove("status");
        strip(&mut crd, rng, 4);
        judge(pair, &crd, &mut statistics);
    }
    println!("corpus: {statistics:?}");
    for _ in 0..rounds {
        if pair.is_over() {
            break;
        }
        judge(pair, &random(rng), &mut statistics);
    }
    statistics
}

/// Removes limits with a probability of one in `one_in`.
fn strip(value: &mut Value, rng: &mut Rng, one_in: usize) {
    match value {
        Value::Object(members) => {
            for limit in LIMITS {
                if members.get(limit).is_some_and(Value::is_number) && rng.chance(one_in) {
                    members.remove(limit);
                }
            }
            for child in members.values_mut() {
                strip(child, rng, one_in);
            }
        }
        Value::Array(items) => {
            for item in items {
                strip(item, rng, one_in);
            }
        }
        _ => {}
    }
}

fn judge(pair: &mut Pair, given: &Value, statistics: &mut Statistics) {
    let read = crdx_text::json::read(given.to_string().as_bytes()).unwrap();
    let Ok(decoded) = crd::decode(&read) else { return };
    let found = costs::costs(&decoded.crd.spec, &crdx_value::release::Release::NEWEST.into());
    let refused = pair.ask("POST", CRDS, Some(given), "application/json", "application/json");
    let expensive =
        found.iter().any(|schema| schema.too_high() || schema.expressions.iter().any(ExpressionCost::too_high));
    let expensive_for_server = refused.to_string().contains("exceeds budget");
    // The server reports no costs for a schema with invalid defaults.
    let wrong_default = refused["details"]["causes"].to_string().contains(".default");
    if expensive != expensive_for_server && !wrong_default {
        pair.differ(format!(
            "{}: exceeds the limit here: {expensive}, on the server: {expensive_for_server}\n  {refused}",
            given["metadata"]["name"]
        ));
    }
    if !expensive || wrong_default {
        return;
    }
    statistics.expensive += 1;
    let mut limited = given.clone();
    let mut unbounded = 0;
    for schema in &found {
        for one in schema.expressions.iter().filter(|one| one.too_high()) {
            statistics.expressions += 1;
            if one.bounds.is_empty() {
                unbounded += 1;
                *statistics.unbounded.entry(one.text.clone()).or_default() += 1;
            }
            statistics.bounds += one.bounds.len();
            for bound in &one.bounds {
                apply(&mut limited, &schema.versions, bound);
            }
        }
        // The total cost includes that of the single expressions.
        if schema.too_high() {
            statistics.schemas += 1;
            if schema.bounds.is_empty() {
                unbounded += 1;
                *statistics.unbounded.entry("all together".to_owned()).or_default() += 1;
            }
            statistics.bounds += schema.bounds.len();
            for bound in &schema.bounds {
                apply(&mut limited, &schema.versions, bound);
            }
        }
    }
    let answer = pair.ask("POST", CRDS, Some(&limited), "application/json", "application/json").to_string();
    let fine = unbounded > 0 || answer.contains(r#""kind":"CustomResourceDefinition""#);
    // A CRD that is rejected for another reason is still rejected.
    let other = refused["details"]["causes"].as_array().is_some_and(|causes| {
        causes.iter().any(|c| {
            !c["message"].to_string().contains("exceeds budget") && !c["message"].to_string().contains("exceeding cost")
        })
    });
    if !(fine || other && !answer.contains("exceeds budget")) {
        pair.differ(format!("with the suggested limits: {answer}\n  {limited}"));
    }
}

/// Sets a limit in the schemas of some versions.
fn apply(crd: &mut Value, versions: &[String], bound: &Bound) {
    for version in crd["spec"]["versions"].as_array_mut().unwrap() {
        if !versions.iter().any(|name| version["name"] == json!(name)) {
            continue;
        }
        let node = bound.steps.iter().fold(&mut version["schema"]["openAPIV3Schema"], |node, step| match step {
            SchemaStep::Property(name) => &mut node["properties"][name.as_str()],
            SchemaStep::Items => &mut node["items"],
            SchemaStep::Values => &mut node["additionalProperties"],
        });
        let now = node[bound.keyword].as_i64().unwrap_or(i64::MAX);
        node[bound.keyword] = json!(now.min(bound.limit));
    }
}

/// A CRD with nested lists, maps and strings, mostly without limits, and rules that iterate over them.
fn random(rng: &mut Rng) -> Value {
    let mut properties = json!({});
    for n in 0..=rng.below(6) {
        properties[format!("p{n}")] = node(rng, 3);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "dears.limits.example.com"},
        "spec": {
            "group": "limits.example.com", "scope": "Namespaced", "names": {"plural": "dears", "kind": "Dear"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}}}],
        },
    })
}

fn node(rng: &mut Rng, depth: usize) -> Value {
    let limit = |rng: &mut Rng, most: usize| rng.chance(4).then(|| json!(1 + rng.below(most)));
    let (mut node, rules): (Value, &[&str]) = match if depth == 0 { 3 } else { rng.below(5) } {
        0 => {
            let mut node = json!({"type": "array", "items": self::node(rng, depth - 1)});
            if let Some(limit) = limit(rng, 2000) {
                node["maxItems"] = limit;
            }
            if rng.chance(6) && node["items"]["type"] == "string" {
                node["default"] = json!(["abc", "d", "e"]);
            }
            (
                node,
                &[
                    "self.all(x, self.exists_one(y, x == y))",
                    "self.all(x, self.all(y, self.exists(z, x == y || y == z)))",
                    "self == oldSelf || size(self) > 2",
                    "self.map(x, string(size(string(type(x) == int)))).join(',').contains('xyz')",
                ],
            )
        }
        1 => {
            let mut node = json!({"type": "object", "additionalProperties": self::node(rng, depth - 1)});
            if let Some(limit) = limit(rng, 2000) {
                node["maxProperties"] = limit;
            }
            (
                node,
                &[
                    "self.all(k, self.all(l, k.startsWith(l)))",
                    "self.all(k, k.matches('^[a-z]*$'))",
                    "self.exists(k, self[k] == self['a'])",
                ],
            )
        }
        2 => {
            let (first, second) = (self::node(rng, depth - 1), self::node(rng, depth - 1));
            let node = json!({"type": "object", "properties": {"a": first, "b-c": second}});
            (node, &["!has(self.a) || self.a == self.a", "!has(self.b__dash__c) || self.b__dash__c == self.b__dash__c"])
        }
        3 => {
            let mut node = json!({"type": "string"});
            if let Some(limit) = limit(rng, 5000) {
                node["maxLength"] = limit;
            }
            if rng.chance(8) && rng.chance(2) {
                return json!({"type": "string", "default": "some text of a length"});
            }
            if rng.chance(8) {
                node["format"] = json!(*rng.pick(&["date-time", "byte", "uuid"]));
            }
            (
                node,
                &[
                    "self.contains(self)",
                    "self.matches('^(a|b)*c{1,20}$')",
                    "self.split('').all(x, self.contains(x))",
                    "self.lowerAscii().replace('a', self) != ''",
                ],
            )
        }
        _ => (json!({"type": "integer"}), &["self > 1"]),
    };
    if rng.chance(2) {
        let mut rule = json!({"rule": *rng.pick(rules)});
        if rng.chance(4) {
            rule["messageExpression"] = json!(match node["type"].as_str().unwrap() {
                "array" => "self.map(x, self.map(y, x == y ? 'a' : 'b').join(',')).join(' ')",
                "string" => "self.replace('a', self) + self.split('').join(self)",
                _ => "'not ' + string(1)",
            });
        }
        node["x-kubernetes-validations"] = json!([rule]);
    }
    node
}
