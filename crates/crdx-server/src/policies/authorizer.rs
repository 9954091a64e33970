//! The authorizer of CEL expressions: allows everything, denies everything, or evaluates a list of rules.

use crdx_cel::value::{Access, Attributes, Authorizer, Decision, User, Verdict};
use crdx_value::Value;

/// A list of rules: the first matching rule decides; without one, the authorizer has no opinion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// A rule. A missing attribute matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rule {
    user: Option<String>,
    group: Option<String>,
    verb: Option<String>,
    api_group: Option<String>,
    resource: Option<String>,
    subresource: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    path: Option<String>,
    verdict: Option<Verdict>,
    reason: String,
}

/// The reason why a list of rules is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RulesError(String);

impl Rules {
    /// Returns rules that allow everything.
    pub fn allow_all() -> Self {
        Self { rules: vec![Rule { verdict: Some(Verdict::Allow), ..Rule::default() }] }
    }

    /// Returns rules that deny everything.
    pub fn deny_all() -> Self {
        Self { rules: vec![Rule { verdict: Some(Verdict::Deny), ..Rule::default() }] }
    }

    /// Returns true if the decisions depend on the user.
    pub fn read_user(&self) -> bool {
        self.rules.iter().any(|rule| rule.user.is_some() || rule.group.is_some())
    }

    /// Reads `rules:`, a list of objects with the keys `user`, `group`, `verb`, `apiGroup`, `resource`, `subresource`,
    /// `name`, `namespace`, `path`, `decision` (`allow`, `deny`, `noOpinion` or `error`) and `reason`.
    ///
    /// # Errors
    /// Returns an error for an unknown key or decision, or a value that is not a string.
    pub fn read(document: &Value) -> Result<Self, RulesError> {
        let list = document.get("rules").and_then(Value::as_array);
        let list = list.ok_or_else(|| RulesError("rules: a list is needed".to_owned()))?;
        let rules = list.iter().enumerate().map(|(index, value)| {
            Rule::read(value).map_err(|RulesError(reason)| RulesError(format!("rules[{index}]: {reason}")))
        });
        Ok(Self { rules: rules.collect::<Result<_, _>>()? })
    }
}

impl Rule {
    fn read(value: &Value) -> Result<Self, RulesError> {
        let members = value.as_object().ok_or_else(|| RulesError("an object is needed".to_owned()))?;
        let mut rule = Self::default();
        for (key, value) in members {
            let text = value.as_str().ok_or_else(|| RulesError(format!("{key}: a text is needed")))?.to_owned();
            match key.as_str() {
                "user" => rule.user = Some(text),
                "group" => rule.group = Some(text),
                "verb" => rule.verb = Some(text),
                "apiGroup" => rule.api_group = Some(text),
                "resource" => rule.resource = Some(text),
                "subresource" => rule.subresource = Some(text),
                "name" => rule.name = Some(text),
                "namespace" => rule.namespace = Some(text),
                "path" => rule.path = Some(text),
                "reason" => rule.reason = text,
                "decision" => {
                    rule.verdict = Some(match text.as_str() {
                        "allow" => Verdict::Allow,
                        "deny" => Verdict::Deny,
                        "noOpinion" => Verdict::NoOpinion,
                        "error" => Verdict::Failed,
                        other => {
                            let reason = format!("decision: {other:?} is none of allow, deny, noOpinion, error");
                            return Err(RulesError(reason));
                        }
                    });
                }
                other => return Err(RulesError(format!("{other}: there is no such key"))),
            }
        }
        if rule.verdict.is_none() {
            return Err(RulesError("decision: one of allow, deny, noOpinion, error is needed".to_owned()));
        }
        Ok(rule)
    }

    fn matches(&self, user: &User, attributes: &Attributes<'_>) -> bool {
        let is = |wanted: &Option<String>, have: &str| wanted.as_deref().is_none_or(|w| w == "*" || w == have);
        let in_group = |wanted: &String| wanted == "*" || user.groups.contains(wanted);
        // The leading slash of a path is optional.
        let bare = |path: &str| path.strip_prefix('/').unwrap_or(path).to_owned();
        let is_path = |path: &str| is(&self.path.as_deref().map(bare), &bare(path));
        let of_resources = [&self.api_group, &self.resource, &self.subresource, &self.name, &self.namespace];
        is(&self.user, &user.name)
            && self.group.as_ref().is_none_or(in_group)
            && is(&self.verb, attributes.verb)
            && match attributes.access {
                Access::Path(path) => is_path(path) && of_resources.iter().all(|key| key.is_none()),
                Access::Resource(check) => {
                    self.path.is_none()
                        && is(&self.api_group, &check.group)
                        && is(&self.resource, &check.resource)
                        && is(&self.subresource, &check.subresource)
                        && is(&self.name, &check.name)
                        && is(&self.namespace, &check.namespace)
                }
            }
    }
}

impl Authorizer for Rules {
    fn authorize(&self, user: &User, attributes: &Attributes<'_>) -> Decision {
        let found = self.rules.iter().find(|rule| rule.matches(user, attributes));
        match found {
            Some(rule) => Decision { verdict: rule.verdict.unwrap_or(Verdict::NoOpinion), reason: rule.reason.clone() },
            None => Decision { verdict: Verdict::NoOpinion, reason: String::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn the_first_rule_that_matches_decides() {
        let document = br#"{"rules":[{"path":"/metrics","decision":"deny","reason":"no"},{"user":"a","path":"*","decision":"allow"}]}"#;
        let rules = Rules::read(&read(document).unwrap()).unwrap();
        let ask = |user: &str, path: &str| {
            let user = User { name: user.to_owned(), groups: Vec::new() };
            rules.authorize(&user, &Attributes { verb: "get", access: Access::Path(path) })
        };
        assert_eq!(ask("a", "/metrics"), Decision { verdict: Verdict::Deny, reason: "no".to_owned() });
        assert_eq!(ask("a", "/x").verdict, Verdict::Allow);
        assert_eq!(ask("b", "/x").verdict, Verdict::NoOpinion);
    }

    #[test]
    fn wrong_rules_are_named() {
        let error = |text: &str| Rules::read(&read(text.as_bytes()).unwrap()).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"rules":[{"decision":"maybe"}]}"#),
            r#"rules[0]: decision: "maybe" is none of allow, deny, noOpinion, error"#
        );
        assert_eq!(error(r#"{"rules":[{"usr":"a","decision":"allow"}]}"#), "rules[0]: usr: there is no such key");
        assert_eq!(error("{}"), "rules: a list is needed");
    }
}
