//! Which limits in a schema would make a rule cheap enough: found by trying, and what is told was tried itself.

use super::{Step, below, below_mut, steps_below, value_path};
use crate::cel::env::BaseEnv;
use crate::crd::validation::rules::Scope;
use crate::rules::compile::compile;
use crate::rules::escape::escape;
use crate::schema::{Items, Schema, SchemaOrBool, ValidationRule};
use crate::version::Version;

/// The most limits that are tried.
const MOST_TRIED: usize = 48;
/// No limit is wider: a request is no larger.
const WIDEST: i64 = 3 << 20;

/// A limit that would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The node, as a path of values.
    pub path: String,
    /// `maxItems`, `maxLength` or `maxProperties`
    pub keyword: &'static str,
    /// The highest number that helps.
    pub limit: i64,
}

/// A limit that can be tried.
#[derive(Clone, Debug)]
struct Candidate {
    steps: Vec<Step>,
    keyword: &'static str,
    /// What is there now.
    now: Option<i64>,
    /// What is wanted at least.
    least: i64,
}

/// The limits that, all of them set, bring the rule of the node at `steps` down to `limit`: one, if one is enough, else as
/// few as are needed. None if nothing helps.
pub fn find(root: &Schema, steps: &[Step], rule: &ValidationRule, limit: u64) -> Vec<Bound> {
    let Some(trial_root) = skeleton(root, steps, rule) else { return Vec::new() };
    let candidates = candidates(&trial_root, steps, &rule.rule);
    let mut trial = Trial { root: trial_root, steps, rule, limit };
    let alone = candidates.iter().filter_map(|candidate| Some((candidate, trial.widest(&[candidate])?)));
    // The widest takes the least away; of equal ones the outermost.
    let best = alone.fold(None, |best: Option<(&Candidate, i64)>, one| match best {
        Some(best) if best.1 >= one.1 => Some(best),
        _ => Some(one),
    });
    if let Some((candidate, width)) = best {
        return vec![bound(candidate, width)];
    }
    let mut needed: Vec<&Candidate> = candidates.iter().collect();
    if trial.widest(&needed).is_none() {
        return Vec::new();
    }
    for candidate in &candidates {
        let without: Vec<&Candidate> = needed.iter().copied().filter(|c| !std::ptr::eq(*c, candidate)).collect();
        // A limit below ten is no help to anybody; rather limit one more node.
        if trial.widest(&without).is_some_and(|width| width >= 10) {
            needed = without;
        }
    }
    let Some(width) = trial.widest(&needed) else { return Vec::new() };
    needed.into_iter().map(|candidate| bound(candidate, width)).collect()
}

fn bound(candidate: &Candidate, width: i64) -> Bound {
    let limit = candidate.now.map_or(width, |now| now.min(width));
    Bound { path: value_path(&candidate.steps), keyword: candidate.keyword, limit }
}

struct Trial<'t> {
    root: Schema,
    steps: &'t [Step],
    rule: &'t ValidationRule,
    limit: u64,
}

impl Trial<'_> {
    /// The widest limit, the same for all, that is enough.
    fn widest(&mut self, candidates: &[&Candidate]) -> Option<i64> {
        let least = candidates.iter().map(|c| c.least).max()?.max(1);
        let most = candidates.iter().filter_map(|c| c.now).fold(WIDEST, i64::min).max(least);
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

    /// Estimates with these limits, and takes them away again.
    fn fits(&mut self, candidates: &[&Candidate], width: i64) -> bool {
        for candidate in candidates {
            self.set(candidate, Some(candidate.now.map_or(width, |now| now.min(width))));
        }
        let cost = estimate(&self.root, &Scope::root(&self.root), self.steps, self.rule);
        for candidate in candidates {
            self.set(candidate, candidate.now);
        }
        cost.is_some_and(|cost| cost <= self.limit)
    }

    fn set(&mut self, candidate: &Candidate, limit: Option<i64>) {
        let node = candidate.steps.iter().try_fold(&mut self.root, |node, step| below_mut(node, step));
        if let Some(node) = node {
            match candidate.keyword {
                "maxItems" => node.max_items = limit,
                "maxProperties" => node.max_properties = limit,
                _ => node.max_length = limit,
            }
        }
    }
}

/// What the server estimates for a rule of the node at `steps`.
fn estimate(schema: &Schema, scope: &Scope<'_>, steps: &[Step], rule: &ValidationRule) -> Option<u64> {
    let Some((step, rest)) = steps.split_first() else {
        let base = BaseEnv::of(Version::CURRENT.compatibility());
        let compiled = compile(rule, schema, scope.place()?, (&base, &base));
        return Some(compiled.max_cost.saturating_mul(scope.cardinality().unwrap_or(compiled.max_cardinality)));
    };
    let node = below(schema, step)?;
    let inner = match step {
        Step::Property(name) => scope.property(schema, name, node),
        Step::Items | Step::Values => scope.elements(schema, node),
    };
    estimate(node, &inner, rest, rule)
}

/// The schema without what the rule cannot see: the way to its node, and the node.
fn skeleton(schema: &Schema, steps: &[Step], rule: &ValidationRule) -> Option<Schema> {
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
        Step::Property(name) => {
            bare.properties.insert(name.clone(), node);
        }
        Step::Items => bare.items = Some(Items::Schema(Box::new(node))),
        Step::Values => bare.additional_properties = Some(SchemaOrBool::Schema(Box::new(node))),
    }
    Some(bare)
}

/// The lists and maps around the rule's node, then what can be limited in it and is named in the rule.
fn candidates(root: &Schema, steps: &[Step], rule: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut node = root;
    for (depth, step) in steps.iter().enumerate() {
        if !matches!(step, Step::Property(_)) {
            add(node, steps.get(..depth).unwrap_or_default(), &mut found);
        }
        match below(node, step) {
            Some(inner) => node = inner,
            None => return found,
        }
    }
    inside(node, &mut steps.to_vec(), rule, &mut found);
    found
}

fn inside(node: &Schema, steps: &mut Vec<Step>, rule: &str, found: &mut Vec<Candidate>) {
    if found.len() >= MOST_TRIED {
        return;
    }
    add(node, steps, found);
    for (step, inner) in steps_below(node) {
        let named = match &step {
            Step::Property(name) => escape(name).is_some_and(|name| rule.contains(&*name)),
            Step::Items | Step::Values => true,
        };
        if named {
            steps.push(step);
            inside(inner, steps, rule, found);
            steps.pop();
        }
    }
}

fn add(node: &Schema, steps: &[Step], found: &mut Vec<Candidate>) {
    let (keyword, now, least) = match node.type_.as_str() {
        "array" => ("maxItems", node.max_items, node.min_items),
        "object" if node.additional_properties.is_some() => ("maxProperties", node.max_properties, node.min_properties),
        "string" if matches!(node.format.as_str(), "duration" | "date" | "date-time") => return,
        "string" if node.max_length.is_none() && !node.enum_.is_empty() => return,
        "string" => ("maxLength", node.max_length, node.min_length),
        _ if node.x_int_or_string => ("maxLength", node.max_length, node.min_length),
        _ => return,
    };
    found.push(Candidate { steps: steps.to_vec(), keyword, now, least: least.unwrap_or(0) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crd::validation::rules::EXPRESSION_COST_LIMIT;

    /// The schema with `bounds` set, and what the rule is estimated at then.
    fn with(mut root: Schema, steps: &[Step], rule: &ValidationRule, path: &[Step], items: i64) -> u64 {
        let node = path.iter().try_fold(&mut root, |node, step| below_mut(node, step)).unwrap();
        node.max_items = Some(items);
        estimate(&root, &Scope::root(&root), steps, rule).unwrap()
    }

    #[test]
    fn the_limit_found_is_the_widest() {
        let text =
            r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"string","maxLength":10}}}}"#;
        let root = Schema::from_value(&crate::text::json::read(text.as_bytes()).unwrap()).unwrap();
        let steps = [Step::Property("list".to_owned())];
        let rule =
            ValidationRule { rule: "self.all(a, self.exists_one(b, a == b))".to_owned(), ..ValidationRule::default() };
        let found = find(&root, &steps, &rule, EXPRESSION_COST_LIMIT);
        let [Bound { path, keyword: "maxItems", limit }] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(path, "list");
        assert!(with(root.clone(), &steps, &rule, &steps, *limit) <= EXPRESSION_COST_LIMIT);
        assert!(with(root, &steps, &rule, &steps, *limit + 1) > EXPRESSION_COST_LIMIT);
    }
}
