//! Finds the functions of a CEL expression that older releases do not support.

use crdx_cel::ast::{CheckedAst, Reference};
use crdx_cel::env::BaseEnv;
use crdx_cel::library::Overload;
use crdx_server::rules::compile::NodeType;
use crdx_server::schema::ValidationRule;
use crdx_value::release::Release;
use std::collections::BTreeMap;

/// The releases that an expression needs when it is new in a CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The oldest release that compiles the expression.
    pub since: Release,
    /// The called functions that some known release does not support, and the oldest release that allows each in new
    /// expressions.
    pub functions: Vec<(&'static str, Release)>,
}

impl Needs {
    /// Returns what an expression of `rule` needs; `None` if every release compiles it, or none does.
    pub fn for_rule(rule: &ValidationRule, message: bool, cel_type: &NodeType) -> Option<Self> {
        let decl = cel_type.decl.as_deref()?;
        let text = if message { &rule.message_expression } else { &rule.rule };
        let compiled = Release::known().find_map(|release| {
            let env = cel_type.env(&BaseEnv::for_new(release), &decl.cel_type, rule.optional_old_self == Some(true));
            Some((release, env.compile(text).ok()?))
        });
        let (since, checked) = compiled?;
        (since != Release::OLDEST).then(|| Self { since, functions: functions(&checked) })
    }

    /// Returns a sentence: `isIP` needs Kubernetes 1.31.
    pub fn text(&self) -> String {
        let each = self.functions.iter().map(|(name, since)| format!("`{name}` needs Kubernetes {since}"));
        let mut words: Vec<String> = each.collect();
        // No function explains the requirement; the cause is a macro or syntax.
        if !self.functions.iter().any(|(_, since)| *since == self.since) {
            words.push(format!("the expression compiles since Kubernetes {}", self.since));
        }
        words.join(", ")
    }
}

/// Returns the functions of an expression that the oldest known release does not support, by name.
fn functions(checked: &CheckedAst) -> Vec<(&'static str, Release)> {
    let mut found: BTreeMap<&'static str, Release> = BTreeMap::new();
    for reference in checked.references.iter().flatten() {
        let Reference::Overloads(overloads) = reference else { continue };
        // If several overloads are possible, the call needs only the oldest one.
        let Some((name, since)) = overloads.iter().filter_map(|overload| introduced(overload)).min_by_key(|one| one.1)
        else {
            continue;
        };
        // Operators and functions in macro expansions have no name that users write.
        if since != Release::OLDEST && !name.contains('@') && !name.starts_with('_') {
            let known = found.entry(name).or_insert(since);
            *known = since.max(*known);
        }
    }
    found.into_iter().collect()
}

/// Returns the name of a function and the oldest release that allows this overload in new expressions.
fn introduced(overload: &Overload) -> Option<(&'static str, Release)> {
    let since =
        Release::known().find(|release| BaseEnv::for_new(*release).has_overload(overload.function, overload.id));
    Some((overload.function, since?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::crd::validation::rules::Scope;
    use crdx_server::schema::Schema;

    fn words(rule: &str) -> Option<String> {
        let text =
            br#"{"type":"object","properties":{"s":{"type":"string"},"l":{"type":"array","items":{"type":"string"}}}}"#;
        let mut schema = Schema::from_value(&crdx_text::json::read(text).unwrap()).unwrap();
        let rule = ValidationRule { rule: rule.to_owned(), ..ValidationRule::default() };
        schema.x_validations.push(rule.clone());
        Needs::for_rule(&rule, false, Scope::root(&schema, Release::NEWEST).cel_type().unwrap())
            .map(|needs| needs.text())
    }

    #[test]
    fn the_functions_and_their_releases_are_named() {
        assert_eq!(words("isIP(self.s)").as_deref(), Some("`isIP` needs Kubernetes 1.31"));
        // A library may be newer than the functions it is built from.
        let needs = words("isIP(self.s) && self.l.distinct().size() == self.l.size()").unwrap();
        assert_eq!(needs, "`distinct` needs Kubernetes 1.35, `isIP` needs Kubernetes 1.31");
        // A macro is expanded before type checking.
        let needs = words("self.l.transformList(i, v, v).size() > 0").unwrap();
        assert_eq!(needs, "the expression compiles since Kubernetes 1.33");
        // Every release supports the first function, and none the second.
        assert_eq!(words("self.s.startsWith('a')"), None);
        assert_eq!(words("self.s.sounds('a')"), None);
    }
}
