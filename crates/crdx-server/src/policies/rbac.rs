//! The RBAC authorizer (`k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac`, `pkg/registry/rbac/validation/rule.go`):
//! answers `authorizer` from Roles, `ClusterRoles` and their bindings. Aggregated `ClusterRoles` are used with their
//! stored rules.

use crdx_cel::value::{Access, Attributes, Authorizer, Decision, ResourceCheck, User, Verdict};
use crdx_value::GoError;
use crdx_value::{Value, quote};
use std::collections::BTreeMap;

/// The group of RBAC objects.
pub const GROUP: &str = "rbac.authorization.k8s.io";
/// The group whose members may do everything, independent of roles.
pub const PRIVILEGED: &str = "system:masters";

/// Roles and bindings, by namespace (empty for cluster-scoped ones) and name.
#[derive(Clone, Debug, Default)]
pub struct Rbac {
    roles: BTreeMap<(String, String), Vec<RbacRule>>,
    cluster_roles: BTreeMap<String, Vec<RbacRule>>,
    role_bindings: BTreeMap<(String, String), Binding>,
    cluster_role_bindings: BTreeMap<String, Binding>,
}

/// `PolicyRule`
#[derive(Clone, Debug)]
struct RbacRule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
    urls: Vec<String>,
}

/// A `RoleBinding` or `ClusterRoleBinding`.
#[derive(Clone, Debug)]
struct Binding {
    role_kind: String,
    role: String,
    subjects: Vec<RbacSubject>,
}

/// `Subject`
#[derive(Clone, Debug)]
struct RbacSubject {
    kind: String,
    name: String,
    namespace: String,
}

fn text(value: &Value, path: &[&str]) -> String {
    value.str_at(path).unwrap_or_default().to_owned()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    list(value, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl RbacRule {
    fn read(value: &Value) -> Self {
        Self {
            verbs: texts(value, "verbs"),
            api_groups: texts(value, "apiGroups"),
            resources: texts(value, "resources"),
            resource_names: texts(value, "resourceNames"),
            urls: texts(value, "nonResourceURLs"),
        }
    }

    /// `RuleAllows`
    fn allows(&self, attributes: &Attributes<'_>) -> bool {
        let has = |list: &[String], wanted: &str| list.iter().any(|item| item == "*" || item == wanted);
        has(&self.verbs, attributes.verb)
            && match attributes.access {
                Access::Path(path) => self.has_url(path),
                Access::Resource(check) => {
                    has(&self.api_groups, &check.group)
                        && self.has_resource(check)
                        && (self.resource_names.is_empty() || self.resource_names.contains(&check.name))
                }
            }
    }

    /// `ResourceMatches`: `*` means every resource and subresource, `*/status` the status subresource of every
    /// resource.
    fn has_resource(&self, check: &ResourceCheck) -> bool {
        let ResourceCheck { resource, subresource, .. } = check;
        let combined = if subresource.is_empty() { resource.clone() } else { format!("{resource}/{subresource}") };
        let any = |rule: &str| !subresource.is_empty() && rule.strip_prefix("*/") == Some(subresource);
        self.resources.iter().any(|rule| rule == "*" || *rule == combined || any(rule))
    }

    /// `NonResourceURLMatches`
    fn has_url(&self, path: &str) -> bool {
        self.urls.iter().any(|rule| {
            rule == "*" || rule == path || (rule.ends_with('*') && path.starts_with(rule.trim_end_matches('*')))
        })
    }
}

impl Binding {
    fn read(value: &Value) -> Self {
        let subject = |value: &Value| RbacSubject {
            kind: text(value, &["kind"]),
            name: text(value, &["name"]),
            namespace: text(value, &["namespace"]),
        };
        Self {
            role_kind: text(value, &["roleRef", "kind"]),
            role: text(value, &["roleRef", "name"]),
            subjects: list(value, "subjects").iter().map(subject).collect(),
        }
    }

    /// Returns the first subject that matches the user; `namespace` is the namespace of the binding.
    fn subject(&self, user: &User, namespace: &str) -> Option<&RbacSubject> {
        self.subjects.iter().find(|subject| subject.is(user, namespace))
    }
}

impl RbacSubject {
    /// `appliesToUser`
    fn is(&self, user: &User, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name == self.name,
            "Group" => user.groups.contains(&self.name),
            "ServiceAccount" => {
                let namespace = if self.namespace.is_empty() { namespace } else { &self.namespace };
                !namespace.is_empty() && user.name == format!("system:serviceaccount:{namespace}:{}", self.name)
            }
            _ => false,
        }
    }

    fn described(&self, namespace: &str) -> String {
        let name = match (self.kind.as_str(), self.namespace.as_str()) {
            ("ServiceAccount", "") => format!("{}/{namespace}", self.name),
            ("ServiceAccount", own) => format!("{}/{own}", self.name),
            _ => self.name.clone(),
        };
        format!("{} {}", self.kind, quote::go_quote(&name))
    }
}

impl Rbac {
    /// Adds an RBAC object or replaces the object with the same name; ignores other kinds.
    pub fn put(&mut self, object: &Value) {
        let key = || (text(object, &["metadata", "namespace"]), text(object, &["metadata", "name"]));
        let rules = || list(object, "rules").iter().map(RbacRule::read).collect();
        match object.str_at(&["kind"]) {
            Some("Role") => {
                self.roles.insert(key(), rules());
            }
            Some("ClusterRole") => {
                self.cluster_roles.insert(key().1, rules());
            }
            Some("RoleBinding") => {
                self.role_bindings.insert(key(), Binding::read(object));
            }
            Some("ClusterRoleBinding") => {
                self.cluster_role_bindings.insert(key().1, Binding::read(object));
            }
            _ => {}
        }
    }

    /// Returns true if there are no objects.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
            && self.cluster_roles.is_empty()
            && self.role_bindings.is_empty()
            && self.cluster_role_bindings.is_empty()
    }

    /// `GetRoleReferenceRules`
    fn rules(&self, binding: &Binding, namespace: &str) -> Result<&[RbacRule], GoError> {
        let name = &binding.role;
        let (found, resource) = match binding.role_kind.as_str() {
            "Role" => (self.roles.get(&(namespace.to_owned(), name.clone())), "role"),
            "ClusterRole" => (self.cluster_roles.get(name), "clusterrole"),
            other => return Err(format!("unsupported role reference kind: {}", quote::go_quote(other)).into()),
        };
        // Errors of listers contain the singular name.
        let missing = || GoError::from(format!("{resource}.{GROUP} {} not found", quote::go_quote(name)));
        found.map(Vec::as_slice).ok_or_else(missing)
    }

    /// Returns the bindings that apply in a namespace, with their kind, their own namespace and their name in messages.
    fn bindings(&self, namespace: &str) -> impl Iterator<Item = (&'static str, &str, String, &Binding)> {
        let cluster = self.cluster_role_bindings.iter();
        let cluster = cluster.map(|(name, binding)| ("ClusterRoleBinding", "", name.clone(), binding));
        let within = self.role_bindings.iter().filter(move |((own, _), _)| !namespace.is_empty() && own == namespace);
        let within =
            within.map(|((own, name), binding)| ("RoleBinding", own.as_str(), format!("{name}/{own}"), binding));
        cluster.chain(within)
    }
}

impl Authorizer for Rbac {
    fn authorize(&self, user: &User, attributes: &Attributes<'_>) -> Decision {
        if user.groups.iter().any(|group| group == PRIVILEGED) {
            return Decision { verdict: Verdict::Allow, reason: String::new() };
        }
        let namespace = match attributes.access {
            Access::Path(_) => "",
            Access::Resource(check) => &check.namespace,
        };
        let mut errors: Vec<GoError> = Vec::new();
        for (kind, own, name, binding) in self.bindings(namespace) {
            let Some(subject) = binding.subject(user, own) else { continue };
            match self.rules(binding, own) {
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
                Ok(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                    let reason = format!(
                        "RBAC: allowed by {kind} {} of {} {} to {}",
                        quote::go_quote(&name),
                        binding.role_kind,
                        quote::go_quote(&binding.role),
                        subject.described(own)
                    );
                    return Decision { verdict: Verdict::Allow, reason };
                }
                Ok(_) => {}
            }
        }
        let reason = match &*errors {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            many => format!("RBAC: [{}]", many.iter().map(GoError::as_str).collect::<Vec<_>>().join(", ")),
        };
        Decision { verdict: Verdict::NoOpinion, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_cel::value::AuthorizationSubject as CelSubject;
    use crdx_text::yaml;
    use std::sync::Arc;

    const OBJECTS: [&str; 6] = [
        "{kind: ClusterRole, metadata: {name: reader}, rules: [{apiGroups: [''], resources: [pods, '*/log', services/proxy], verbs: [get]}]}",
        "{kind: ClusterRole, metadata: {name: named}, rules: [{apiGroups: [apps], resources: ['*'], resourceNames: [web], verbs: ['*']}, {nonResourceURLs: ['/healthz/*', /version], verbs: [get]}]}",
        "{kind: Role, metadata: {name: own, namespace: shop}, rules: [{apiGroups: ['*'], resources: [configmaps], verbs: [update]}]}",
        "{kind: ClusterRoleBinding, metadata: {name: readers}, roleRef: {kind: ClusterRole, name: reader}, subjects: [{kind: Group, name: devs}]}",
        "{kind: RoleBinding, metadata: {name: bot, namespace: shop}, roleRef: {kind: Role, name: own}, subjects: [{kind: ServiceAccount, name: ci}]}",
        "{kind: ClusterRoleBinding, metadata: {name: lost}, roleRef: {kind: ClusterRole, name: gone}, subjects: [{kind: User, name: ann}]}",
    ];

    fn rbac() -> Rbac {
        let mut rbac = Rbac::default();
        for object in OBJECTS {
            rbac.put(&yaml::read(object.as_bytes()).unwrap());
        }
        let named = "{kind: ClusterRoleBinding, metadata: {name: n}, roleRef: {kind: ClusterRole, name: named}, subjects: [{kind: User, name: bob}]}";
        rbac.put(&yaml::read(named.as_bytes()).unwrap());
        rbac
    }

    fn user(name: &str, groups: &[&str]) -> User {
        User { name: name.to_owned(), groups: groups.iter().map(|group| (*group).to_owned()).collect() }
    }

    fn decide(user: &User, verb: &str, what: [&str; 5]) -> Decision {
        let [group, resource, subresource, namespace, name] = what.map(str::to_owned);
        let authorizer: Arc<dyn Authorizer> = Arc::new(rbac());
        let subject = CelSubject { user: Arc::new(user.clone()), authorizer: Arc::clone(&authorizer) };
        let check = ResourceCheck { subject, group, resource, subresource, namespace, name };
        authorizer.authorize(user, &Attributes { verb, access: Access::Resource(&check) })
    }

    fn allows(user: &User, verb: &str, what: [&str; 5]) -> bool {
        decide(user, verb, what).verdict == Verdict::Allow
    }

    #[test]
    fn rules_allow_resources_subresources_and_names() {
        let dev = user("dan", &["devs"]);
        assert!(allows(&dev, "get", ["", "pods", "", "any", ""]));
        assert!(!allows(&dev, "list", ["", "pods", "", "any", ""]));
        assert!(!allows(&dev, "get", ["apps", "pods", "", "any", ""]));
        // `pods` does not include its subresources.
        assert!(!allows(&dev, "get", ["", "pods", "exec", "any", ""]));
        assert!(allows(&dev, "get", ["", "pods", "log", "any", ""]));
        assert!(allows(&dev, "get", ["", "services", "proxy", "any", ""]));
        assert!(!allows(&dev, "get", ["", "services", "", "any", ""]));
        let bob = user("bob", &[]);
        assert!(allows(&bob, "delete", ["apps", "deployments", "scale", "x", "web"]));
        assert!(!allows(&bob, "delete", ["apps", "deployments", "", "x", ""]));
    }

    #[test]
    fn bindings_are_of_users_groups_and_service_accounts() {
        let bot = user("system:serviceaccount:shop:ci", &["system:serviceaccounts"]);
        let allowed = decide(&bot, "update", ["", "configmaps", "", "shop", "x"]);
        let reason = "RBAC: allowed by RoleBinding \"bot/shop\" of Role \"own\" to ServiceAccount \"ci/shop\"";
        assert_eq!(allowed, Decision { verdict: Verdict::Allow, reason: reason.to_owned() });
        assert!(!allows(&bot, "update", ["", "configmaps", "", "other", "x"]));
        assert!(!allows(&user("ci", &[]), "update", ["", "configmaps", "", "shop", "x"]));
        assert!(allows(&user("root", &["system:masters"]), "any", ["", "x", "", "", ""]));
        let lost = decide(&user("ann", &[]), "get", ["", "pods", "", "", ""]);
        let reason = "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found";
        assert_eq!(lost, Decision { verdict: Verdict::NoOpinion, reason: reason.to_owned() });
    }

    fn grants(rule: &str, verb: &str, [group, resource, subresource, name]: [&str; 4]) -> bool {
        let rule = RbacRule::read(&yaml::read(rule.as_bytes()).unwrap());
        let authorizer: Arc<dyn Authorizer> = Arc::new(Rbac::default());
        let subject = CelSubject { user: Arc::new(user("u", &[])), authorizer };
        let check = ResourceCheck {
            subject,
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        rule.allows(&Attributes { verb, access: Access::Resource(&check) })
    }

    /// The kinds of cases of `TestRuleMatches` in `rbac_test.go`.
    #[test]
    fn every_part_of_a_rule_must_match() {
        let all = |rule: &str, expected: [bool; 8]| {
            let requests = [("v1", "g1", "r1"), ("v1", "g2", "r1"), ("v1", "g1", "r2"), ("v1", "g2", "r2")];
            let second = requests.map(|(_, group, resource)| ("v2", group, resource));
            let found: Vec<bool> = requests
                .iter()
                .chain(&second)
                .map(|(verb, group, resource)| grants(rule, verb, [group, resource, "", ""]))
                .collect();
            assert_eq!(found, expected, "{rule}");
        };
        let (yes, no) = (true, false);
        all("{verbs: ['*'], apiGroups: [g1], resources: [r1]}", [yes, no, no, no, yes, no, no, no]);
        all("{verbs: [v1], apiGroups: ['*'], resources: [r1]}", [yes, yes, no, no, no, no, no, no]);
        all("{verbs: [v1], apiGroups: [g1], resources: ['*']}", [yes, no, yes, no, no, no, no, no]);
        all("{verbs: [v1, v2], apiGroups: [g1, g2], resources: [r1, r2]}", [true; 8]);
        all("{verbs: [v1], apiGroups: [g1]}", [false; 8]);
        let subresource = "{verbs: ['*'], apiGroups: ['*'], resources: [r1/s1, '*/s2', a/b/c]}";
        for (what, expected) in [
            (["g", "r1", "s1", ""], yes),
            (["g", "r2", "s1", ""], no),
            (["g", "r2", "s2", ""], yes),
            (["g", "r1", "", ""], no),
            (["g", "r1/s1", "", ""], yes),
            (["g", "s2", "", ""], no),
            (["g", "a/b", "c", ""], yes),
            (["g", "a", "b/c", ""], yes),
        ] {
            assert_eq!(grants(subresource, "get", what), expected, "{what:?}");
        }
        let named = "{verbs: [get], apiGroups: [''], resources: [pods], resourceNames: [web]}";
        assert!(grants(named, "get", ["", "pods", "", "web"]));
        assert!(!grants(named, "get", ["", "pods", "", ""]));
        assert!(!grants(named, "GET", ["", "pods", "", "web"]));
    }

    /// The cases of `TestAuthorizer` in `rbac_test.go`: a `ClusterRole` bound in one namespace, and paths.
    #[test]
    fn a_cluster_role_may_be_bound_in_a_namespace() {
        let mut rbac = Rbac::default();
        for object in [
            "{kind: ClusterRole, metadata: {name: admin}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*'], nonResourceURLs: ['*']}]}",
            "{kind: RoleBinding, metadata: {name: b, namespace: ns1}, roleRef: {kind: ClusterRole, name: admin}, subjects: [{kind: User, name: admin}, {kind: Group, name: admins}]}",
            "{kind: ClusterRoleBinding, metadata: {name: odd}, roleRef: {kind: Other, name: x}, subjects: [{kind: User, name: odd}]}",
            "{kind: ClusterRoleBinding, metadata: {name: role}, roleRef: {kind: Role, name: x}, subjects: [{kind: User, name: odd}]}",
            "{kind: ClusterRoleBinding, metadata: {name: account}, roleRef: {kind: ClusterRole, name: admin}, subjects: [{kind: ServiceAccount, name: bot}]}",
        ] {
            rbac.put(&yaml::read(object.as_bytes()).unwrap());
        }
        let rbac: Arc<dyn Authorizer> = Arc::new(rbac);
        let decide = |user: &User, namespace: &str| {
            let subject = CelSubject { user: Arc::new(user.clone()), authorizer: Arc::clone(&rbac) };
            let [group, resource, subresource, name] = ["", "pods", "status", ""].map(str::to_owned);
            let check = ResourceCheck { subject, group, resource, subresource, namespace: namespace.to_owned(), name };
            rbac.authorize(user, &Attributes { verb: "watch", access: Access::Resource(&check) })
        };
        for (name, groups, namespace, verdict) in [
            ("admin", vec![], "ns1", Verdict::Allow),
            ("joe", vec!["group1", "admins"], "ns1", Verdict::Allow),
            ("joe", vec!["group1"], "ns1", Verdict::NoOpinion),
            ("admin", vec![], "ns2", Verdict::NoOpinion),
            ("admin", vec!["admins"], "", Verdict::NoOpinion),
            // The subject of a ClusterRoleBinding must have a namespace if it is a service account.
            ("system:serviceaccount::bot", vec![], "ns1", Verdict::NoOpinion),
        ] {
            assert_eq!(decide(&user(name, &groups), namespace).verdict, verdict, "{name} {groups:?} {namespace}");
        }
        let path = Attributes { verb: "get", access: Access::Path("/apis") };
        assert_eq!(rbac.authorize(&user("admin", &[]), &path).verdict, Verdict::NoOpinion);
        let odd = "RBAC: [unsupported role reference kind: \"Other\", role.rbac.authorization.k8s.io \"x\" not found]";
        assert_eq!(decide(&user("odd", &[]), "ns1").reason, odd);
    }

    #[test]
    fn paths_may_end_in_a_star() {
        let (rbac, bob) = (rbac(), user("bob", &[]));
        let get = |path: &str| rbac.authorize(&bob, &Attributes { verb: "get", access: Access::Path(path) }).verdict;
        assert_eq!(get("/healthz/ping"), Verdict::Allow);
        assert_eq!(get("/version"), Verdict::Allow);
        assert_eq!(get("/version/x"), Verdict::NoOpinion);
    }
}
