//! Determines the types that a policy's rules name (`typesToCheck`).

use super::known::KnownType;
use crate::policies::model::{Policy, Rule};
use crate::policies::request::Kind;
use crdx_value::release::Release;
use std::collections::BTreeSet;

/// The maximum number of types of one rule.
const MAX_TYPES: usize = 10;

/// The groups, versions and resources in the rules of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// The known types.
    pub kinds: BTreeSet<Kind>,
    /// Resources without a known type, for example `apps/v1/deployments`.
    pub unknown: Vec<String>,
    /// True if a rule is skipped because of a `*`.
    pub wildcard: bool,
    /// The other known types that the rules match with a `*`.
    pub by_wildcard: BTreeSet<Kind>,
    /// True if more types may match than are checked.
    pub truncated: bool,
}

/// Returns the types that the rules of a policy name: built-in kinds of a release and `types`. Rules with `*` in their
/// groups or versions are skipped, as are resources with `*` and subresources.
pub fn matched(policy: &Policy, types: &[KnownType], release: Release) -> Matched {
    let all: Vec<KnownType> = KnownType::built_in(release).chain(types.iter().cloned()).collect();
    let mut found = Matched::default();
    for rule in policy.match_constraints.iter().flat_map(|constraints| &constraints.rules) {
        if !add(rule, &all, &mut found) {
            found.truncated = true;
            break;
        }
    }
    let rules = || policy.match_constraints.iter().flat_map(|constraints| &constraints.rules);
    let others =
        all.iter().filter(|known| !found.kinds.contains(&known.kind) && rules().any(|rule| matches(rule, known)));
    found.by_wildcard = others.map(|known| known.kind.clone()).collect();
    found
}

/// Returns true if a rule matches objects of a type, with or without a `*`. A rule with `*` for resources matches all
/// built-in kinds, but its expressions are probably about some of them only.
fn matches(rule: &Rule, known: &KnownType) -> bool {
    let of_object = |resource: &String| match resource.as_str() {
        "*" | "*/*" => !known.is_built_in(),
        name => known.resources.first().is_some_and(|plural| plural == name),
    };
    rule.includes_group(&known.kind.group)
        && rule.includes_version(&known.kind.version)
        && rule.resources.iter().any(of_object)
}

/// Adds the types of a rule. Returns false if the maximum is reached.
fn add(rule: &Rule, types: &[KnownType], found: &mut Matched) -> bool {
    let has_wildcard = |texts: &[String]| texts.iter().any(|text| text.contains('*'));
    found.wildcard |= has_wildcard(&rule.resources);
    if has_wildcard(&rule.api_groups) || has_wildcard(&rule.api_versions) {
        found.wildcard = true;
        return true;
    }
    let sorted = |texts: &[String]| {
        let mut texts = texts.to_vec();
        texts.sort_unstable();
        texts
    };
    let resources = rule.resources.iter().filter(|resource| !resource.contains(['*', '/'])).cloned();
    let resources = sorted(&resources.collect::<Vec<_>>());
    let mut count = 0;
    for group in sorted(&rule.api_groups) {
        for version in sorted(&rule.api_versions) {
            for resource in &resources {
                let kinds = kinds_for(&group, &version, resource, types);
                if kinds.is_empty() {
                    let core = if group.is_empty() { String::new() } else { format!("{group}/") };
                    found.unknown.push(format!("{core}{version}/{resource}"));
                }
                for kind in kinds {
                    found.kinds.insert(kind.clone());
                    count += 1;
                    if count == MAX_TYPES {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// `DefaultRESTMapper.KindsFor`: an empty group matches any group.
fn kinds_for<'t>(group: &str, version: &str, resource: &str, types: &'t [KnownType]) -> Vec<&'t Kind> {
    let resource = resource.to_lowercase();
    let is = |known: &KnownType| {
        (group.is_empty() || known.kind.group == group)
            && (version.is_empty() || known.kind.version == version)
            && known.resources.contains(&resource)
    };
    types.iter().filter(|known| is(known)).map(|known| &known.kind).collect()
}
