//! Reports cluster behaviour that would affect a write and is not simulated: webhooks, admission policies and quota.
//!
//! Rules are matched as the server's `rules.Matcher` does; selectors and conditions are not evaluated.

use super::connection::PendingResponse;
use super::{Connection, Error, JSON, Resource};
use crdx_builtin::quotas;
use crdx_engine::report::RunNote;
use crdx_server::policies::GROUP;
use crdx_server::policies::model::Rule;
use crdx_server::server::http::address::encoded;
use crdx_value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of namespaces whose quota is read.
const MAX_NAMESPACES: usize = 50;

/// The writes to one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub group: String,
    /// The plural name.
    pub plural: String,
    /// The versions in the requests' paths.
    pub versions: BTreeSet<String>,
    /// The served versions.
    pub served: Vec<String>,
    /// True if there is a create.
    pub creates: bool,
    /// True if there is an update.
    pub updates: bool,
    /// The subresource; empty for the main resource.
    pub subresource: &'static str,
    /// The namespaces of the objects; empty for a cluster-scoped resource.
    pub namespaces: BTreeSet<String>,
}

impl Written {
    fn name(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        [&self.plural, dot, &self.group].concat()
    }

    /// Returns true if a quota with this key counts the objects, or what they request.
    fn is_counted_by(&self, key: &str) -> bool {
        quotas::is_counted(&self.name(), key)
    }
}

/// A list of webhook configurations or policies.
struct AdmissionList {
    plural: &'static str,
    /// The list of bindings without which a policy has no effect.
    bindings: Option<&'static str>,
    /// The type in a report.
    note: &'static str,
    words: &'static str,
}

const KINDS: [AdmissionList; 4] = [
    AdmissionList {
        plural: "mutatingwebhookconfigurations",
        bindings: None,
        note: "mutatingWebhook",
        words: "mutating webhooks may change it",
    },
    AdmissionList {
        plural: "validatingwebhookconfigurations",
        bindings: None,
        note: "validatingWebhook",
        words: "validating webhooks may reject it",
    },
    AdmissionList {
        plural: "mutatingadmissionpolicies",
        bindings: Some("mutatingadmissionpolicybindings"),
        note: "mutatingPolicy",
        words: "mutating admission policies may change it",
    },
    AdmissionList {
        plural: "validatingadmissionpolicies",
        bindings: Some("validatingadmissionpolicybindings"),
        note: "validatingPolicy",
        words: "validating admission policies may reject it",
    },
];

impl Connection {
    /// The notes about writing `written`. Namespaces in `made` are created by the run itself; `unreadable` are errors of
    /// reading objects, by resource.
    pub fn unsimulated(
        &self,
        written: &[Written],
        made: &BTreeSet<String>,
        unreadable: &BTreeMap<String, Error>,
        evaluates_policies: bool,
    ) -> Vec<RunNote> {
        let mut failed_lists = FailedLists::default();
        for (plural, error) in unreadable {
            failed_lists.add(plural, error);
        }
        if written.is_empty() {
            return failed_lists.note().into_iter().collect();
        }
        let served = failed_lists.or_nothing("the resources it serves", self.resources()).unwrap_or_default();
        let resource = |group: &str, plural: &str| {
            served.iter().find(|r| r.group == group && r.plural == plural).map(|r| self.all(r))
        };
        let kinds: Vec<&AdmissionList> = KINDS.iter().filter(|_| !evaluates_policies).collect();
        let pending: Vec<(Option<PendingResponse>, Option<PendingResponse>)> = kinds
            .iter()
            .map(|kind| (resource(GROUP, kind.plural), kind.bindings.and_then(|plural| resource(GROUP, plural))))
            .collect();
        let core = |plural| served.iter().any(|r| r.group.is_empty() && r.plural == plural);
        let namespaces: BTreeSet<&str> =
            written.iter().filter(|w| w.creates).flat_map(|w| &w.namespaces).map(String::as_str).collect();
        let namespaces = namespaces.into_iter().filter(|ns| !made.contains(*ns)).take(MAX_NAMESPACES);
        let ask = |there: bool, path: String| there.then(|| self.ask(&path, JSON));
        let quotas_of: Vec<(&str, Option<PendingResponse>)> = namespaces
            .map(|ns| {
                let path = format!("/api/v1/namespaces/{}/resourcequotas", encoded(ns));
                (ns, ask(core("resourcequotas"), path))
            })
            .collect();

        let mut notes = Vec::new();
        for (kind, (list, bindings)) in kinds.into_iter().zip(pending) {
            let Some(list) = list else { continue };
            let Some(list) = failed_lists.or_nothing(kind.plural, list.wait()).flatten() else { continue };
            let bound = bindings.and_then(|bindings| failed_lists.or_nothing(kind.plural, bindings.wait()).flatten());
            notes.extend(intercepting(kind, &list, bound.as_ref(), written));
        }
        for (namespace, quota) in quotas_of {
            if let Some(list) = quota.and_then(|q| failed_lists.or_nothing("resourcequotas", q.wait()).flatten()) {
                notes.extend(quota_note(namespace, &list, written));
            }
        }
        notes.extend(failed_lists.note());
        notes
    }

    fn all(&self, resource: &Resource) -> PendingResponse {
        self.ask(&resource.path(None), JSON)
    }
}

/// The lists that could not be read, by error message.
#[derive(Default)]
struct FailedLists(BTreeMap<Option<u16>, BTreeSet<String>>);

impl FailedLists {
    fn add(&mut self, list_name: &str, error: &Error) {
        self.0.entry(error.code).or_default().insert(list_name.to_owned());
    }

    fn or_nothing<T>(&mut self, list_name: &str, found: Result<T, Error>) -> Option<T> {
        found.inspect_err(|error| self.add(list_name, error)).ok()
    }

    fn note(self) -> Option<RunNote> {
        let each = self.0.into_iter().map(|(code, lists)| {
            let lists: Vec<String> = lists.into_iter().collect();
            let code = code.map_or_else(|| "no answer".to_owned(), |code| code.to_string());
            format!("{} ({code})", lists.join(", "))
        });
        let each: Vec<String> = each.collect();
        let message = format!(
            "these could not be read from the cluster, so their effect on a write is unknown: {}; kubectl crdx rbac prints the permissions to read them",
            each.join(", ")
        );
        (!each.is_empty()).then_some(RunNote { kind: "unreadable", message })
    }
}

fn array<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    value.at(path).and_then(Value::as_array).unwrap_or_default()
}

/// The requests that a webhook or policy matches.
struct Hook {
    /// The name in reports.
    name: String,
    rules: Vec<Rule>,
    /// The excluded rules.
    except: Vec<Rule>,
    /// True if `matchPolicy` is Exact.
    exact: bool,
}

impl Hook {
    fn new(name: String, rules: &[Value], constraints: &Value) -> Self {
        let exact = constraints.str_at(&["matchPolicy"]) == Some("Exact");
        let read = |rules: &[Value]| rules.iter().map(Rule::read).collect();
        Self { name, rules: read(rules), except: read(array(constraints, &["excludeResourceRules"])), exact }
    }

    fn intercepts(&self, written: &Written) -> bool {
        let whole = |rule: &&Rule| rule.resource_names.is_empty();
        self.rules.iter().any(|rule| matches(rule, written, self.exact))
            && !self.except.iter().filter(whole).any(|rule| covers(rule, written, self.exact))
    }
}

/// The webhooks of a configuration, or the policy if it has a binding.
fn hooks(item: &Value, bindings: Option<&Value>) -> Vec<Hook> {
    let name = item.str_at(&["metadata", "name"]).unwrap_or_default();
    if let Some(hooks) = item.get("webhooks").and_then(Value::as_array) {
        let called = |hook: &Value| format!("{} of {name}", hook.str_at(&["name"]).unwrap_or_default());
        return hooks.iter().map(|hook| Hook::new(called(hook), array(hook, &["rules"]), hook)).collect();
    }
    let binds = |b: &Value| b.str_at(&["spec", "policyName"]) == Some(name);
    let bound = bindings.is_none_or(|bindings| array(bindings, &["items"]).iter().any(binds));
    let constraints = item.at(&["spec", "matchConstraints"]).filter(|_| bound);
    let hook = constraints.map(|c| Hook::new(name.to_owned(), array(c, &["resourceRules"]), c));
    hook.into_iter().collect()
}

/// The entries of a list that match the writes.
fn intercepting(kind: &AdmissionList, list: &Value, bindings: Option<&Value>, written: &[Written]) -> Option<RunNote> {
    let hooks: Vec<Hook> = array(list, &["items"]).iter().flat_map(|item| hooks(item, bindings)).collect();
    let each = written.iter().filter_map(|written| {
        let names = hooks.iter().filter(|hook| hook.intercepts(written)).map(|hook| hook.name.as_str());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| format!("{} ({})", written.name(), names.join(", ")))
    });
    let each: Vec<String> = each.collect();
    let message = format!("{}, and they are not simulated: {}", kind.words, each.join(", "));
    (!each.is_empty()).then_some(RunNote { kind: kind.note, message })
}

/// Returns true if a rule may match one of the writes.
fn matches(rule: &Rule, written: &Written, exact: bool) -> bool {
    let operations = [("CREATE", written.creates), ("UPDATE", written.updates)];
    applies(rule, written, exact) && operations.iter().any(|(word, done)| *done && rule.includes_operation(word))
}

/// Returns true if a rule matches all of the writes.
fn covers(rule: &Rule, written: &Written, exact: bool) -> bool {
    let operations = [("CREATE", written.creates), ("UPDATE", written.updates)];
    applies(rule, written, exact) && operations.iter().all(|(word, done)| !*done || rule.includes_operation(word))
}

fn applies(rule: &Rule, written: &Written, exact: bool) -> bool {
    let scope = match rule.scope.as_deref() {
        Some("Namespaced") => !written.namespaces.is_empty(),
        Some("Cluster") => written.namespaces.is_empty(),
        _ => true,
    };
    // With matchPolicy Equivalent (the default) a rule for one version also matches requests for another.
    let version = written.versions.iter().any(|v| rule.includes_version(v))
        || (!exact && written.served.iter().any(|v| rule.includes_version(v)));
    scope
        && version
        && rule.includes_resource(&written.plural, written.subresource)
        && rule.includes_group(&written.group)
}

/// The quotas of a namespace that count the created objects.
fn quota_note(namespace: &str, list: &Value, written: &[Written]) -> Option<RunNote> {
    let here = || written.iter().filter(|w| w.creates && w.namespaces.contains(namespace));
    let mut found = Vec::new();
    for quota in array(list, &["items"]) {
        let name = quota.str_at(&["metadata", "name"]).unwrap_or_default();
        let hard = quota.at(&["spec", "hard"]).and_then(Value::as_object).into_iter().flatten();
        for (key, hard) in hard.filter(|(key, _)| here().any(|written| written.is_counted_by(key))) {
            let text = |v: &Value| v.as_str().map_or_else(|| crdx_value::json::to_string(v), str::to_owned);
            let used = quota.at(&["status", "used"]).and_then(|used| used.get(key));
            let used = used.map_or_else(String::new, |used| format!("{} of ", text(used)));
            let counted = key.strip_prefix("count/").unwrap_or(key);
            found.push(format!("{name} ({used}{} {counted} used)", text(hard)));
        }
    }
    let message =
        format!("quota in namespace {namespace} counts each object alone, not all together: {}", found.join(", "));
    (!found.is_empty()).then_some(RunNote { kind: "quota", message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn crontabs() -> Written {
        Written {
            group: "stable.example.com".to_owned(),
            plural: "crontabs".to_owned(),
            versions: BTreeSet::from(["v1".to_owned()]),
            served: vec!["v1".to_owned(), "v2".to_owned()],
            creates: true,
            namespaces: BTreeSet::from(["default".to_owned()]),
            ..Written::default()
        }
    }

    #[test]
    fn rules_match_as_the_servers() {
        let rule = |more: &str| {
            let rule = format!(
                r#"{{"apiGroups":["stable.example.com"],"apiVersions":["v1"],"resources":["crontabs"],"operations":["CREATE"]{more}}}"#
            );
            Rule::read(&read(&rule))
        };
        let all = Rule::read(&read(r#"{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"operations":["*"]}"#));
        assert!(matches(&rule(""), &crontabs(), true) && matches(&all, &crontabs(), true));
        assert!(matches(&rule(r#","scope":"Namespaced""#), &crontabs(), true));
        assert!(!matches(&rule(r#","scope":"Cluster""#), &crontabs(), true));
        let updated = Written { creates: false, updates: true, ..crontabs() };
        assert!(!matches(&rule(""), &updated, true) && matches(&all, &updated, true));
        let later = Written { versions: BTreeSet::from(["v2".to_owned()]), ..crontabs() };
        assert!(!matches(&rule(""), &later, true) && matches(&rule(""), &later, false));
        // `*` does not match subresources, `*/*` does.
        let status = Written { subresource: "status", ..crontabs() };
        assert!(!matches(&all, &status, true));
        let sub =
            Rule::read(&read(r#"{"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"operations":["*"]}"#));
        assert!(matches(&sub, &status, true) && matches(&sub, &crontabs(), true));
        let other = Written { group: "example.com".to_owned(), ..crontabs() };
        assert!(!matches(&rule(""), &other, false));
    }

    #[test]
    fn policies_count_when_they_are_bound() {
        let list = read(
            r#"{"items":[{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"operations":["*"]}]}}}]}"#,
        );
        let bound = read(r#"{"items":[{"spec":{"policyName":"p"}}]}"#);
        let [.., kind] = &KINDS;
        let note =
            |bindings: Option<&Value>| intercepting(kind, &list, bindings, &[crontabs()]).map(|note| note.message);
        assert_eq!(
            note(Some(&bound)).as_deref(),
            Some(
                "validating admission policies may reject it, and they are not simulated: crontabs.stable.example.com (p)"
            )
        );
        assert_eq!(note(Some(&read(r#"{"items":[]}"#))), None);
        // If bindings cannot be read, all policies are reported.
        assert!(note(None).is_some());
    }

    #[test]
    fn quota_is_noted() {
        let quota = read(
            r#"{"items":[{"metadata":{"name":"q"},"spec":{"hard":{"count/crontabs.stable.example.com":"5","pods":"1"}},"status":{"used":{"count/crontabs.stable.example.com":"4"}}}]}"#,
        );
        let note = quota_note("default", &quota, &[crontabs()]).unwrap();
        assert_eq!(
            note.message,
            "quota in namespace default counts each object alone, not all together: q (4 of 5 crontabs.stable.example.com used)"
        );
        assert_eq!(quota_note("other", &quota, &[crontabs()]), None);
        let pods = Written { group: String::new(), plural: "pods".to_owned(), ..crontabs() };
        let quota = read(
            r#"{"items":[{"metadata":{"name":"q"},"spec":{"hard":{"pods":"5","limits.cpu":"2","services":"1","count/pods":"9",
            "requests.nvidia.com/gpu":"1","requests.storage":"1Gi"}},"status":{"used":{"pods":"4"}}}]}"#,
        );
        let note = quota_note("default", &quota, std::slice::from_ref(&pods)).unwrap();
        assert!(
            note.message.contains("q (4 of 5 pods used)") && note.message.contains("q (9 pods used)"),
            "{}",
            note.message
        );
        assert!(note.message.contains("limits.cpu") && !note.message.contains("storage"), "{}", note.message);
    }
}
