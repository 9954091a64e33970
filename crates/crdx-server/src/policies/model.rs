//! Policies and bindings as typed values (`k8s.io/api/admissionregistration/v1`).
//!
//! Objects must be decoded and defaulted. A missing field, or a field of a wrong type, is read as empty.

use super::selector::LabelSelector;
use crdx_value::Value;
use crdx_value::release::Release;

/// The kind of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    /// `ValidatingAdmissionPolicy` and its bindings.
    #[default]
    Validating,
    /// `MutatingAdmissionPolicy` and its bindings.
    Mutating,
}

impl PolicyKind {
    /// Returns the kind of policy to which a policy or binding of this kind belongs.
    pub fn of_kind(kind: &str) -> Self {
        if kind.starts_with("Mutating") { Self::Mutating } else { Self::Validating }
    }

    /// Returns true for the kinds of policies and bindings.
    pub fn has_kind(kind: &str) -> bool {
        [Self::Validating, Self::Mutating]
            .iter()
            .any(|policy_kind| kind.strip_suffix("Binding").unwrap_or(kind) == policy_kind.kind())
    }

    /// Returns the resource of the objects of a kind: policies or bindings.
    pub fn resource_of(kind: &str) -> &'static str {
        let policy_kind = Self::of_kind(kind);
        if kind == policy_kind.kind() { policy_kind.policies() } else { policy_kind.bindings() }
    }

    /// Returns the kind of the policies.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Validating => "ValidatingAdmissionPolicy",
            Self::Mutating => "MutatingAdmissionPolicy",
        }
    }

    /// Returns the resource of the policies.
    pub fn policies(self) -> &'static str {
        match self {
            Self::Validating => "validatingadmissionpolicies",
            Self::Mutating => "mutatingadmissionpolicies",
        }
    }

    /// Returns the resource of the bindings.
    pub fn bindings(self) -> &'static str {
        match self {
            Self::Validating => "validatingadmissionpolicybindings",
            Self::Mutating => "mutatingadmissionpolicybindings",
        }
    }
}

/// A policy of either kind.
#[derive(Clone, Debug)]
pub struct Policy {
    /// `metadata.name`
    pub name: String,
    /// `spec.paramKind`
    pub param_kind: Option<ParamKind>,
    /// `spec.matchConstraints`
    pub match_constraints: Option<MatchResources>,
    /// `spec.failurePolicy`
    pub failure_policy: FailurePolicy,
    /// The expressions of `spec.matchConditions`.
    pub match_conditions: Vec<String>,
    /// `spec.variables`
    pub variables: Vec<Variable>,
    /// `spec.validations`
    pub validations: Vec<Validation>,
    /// `spec.auditAnnotations`
    pub audit_annotations: Vec<AuditAnnotation>,
    /// `spec.mutations`
    pub mutations: Vec<Mutation>,
    /// True if `spec.reinvocationPolicy` is `IfNeeded`.
    pub reinvoked_if_needed: bool,
}

/// The failure policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request is denied.
    Fail,
    /// The error is ignored.
    Ignore,
    /// An unknown value.
    Other(String),
}

/// `spec.paramKind`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamKind {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
}

/// One of `spec.variables`.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The expression.
    pub expression: String,
}

/// One of `spec.validations`.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// `expression`
    pub expression: String,
    /// `message`
    pub message: String,
    /// `reason`
    pub reason: Option<String>,
    /// `messageExpression`
    pub message_expression: String,
}

/// One of `spec.auditAnnotations`.
#[derive(Clone, Debug)]
pub struct AuditAnnotation {
    /// The key, without the policy's name.
    pub key: String,
    /// `valueExpression`
    pub value_expression: String,
}

/// One of `spec.mutations`.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// `applyConfiguration.expression`
    ApplyConfiguration(String),
    /// `jsonPatch.expression`
    JsonPatch(String),
}

/// `matchConstraints` and `matchResources`
#[derive(Clone, Debug)]
pub struct MatchResources {
    /// `namespaceSelector`
    pub namespace_selector: LabelSelector,
    /// `objectSelector`
    pub object_selector: LabelSelector,
    /// `resourceRules`
    pub rules: Vec<Rule>,
    /// `excludeResourceRules`
    pub exclude_rules: Vec<Rule>,
    /// True if `matchPolicy` is set to a value other than `Exact`.
    pub equivalent: bool,
}

/// `NamedRuleWithOperations`
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// `resourceNames`
    pub resource_names: Vec<String>,
    /// `operations`
    pub operations: Vec<String>,
    /// `apiGroups`
    pub api_groups: Vec<String>,
    /// `apiVersions`
    pub api_versions: Vec<String>,
    /// `resources`
    pub resources: Vec<String>,
    /// `scope`
    pub scope: Option<String>,
}

/// A binding of either kind.
#[derive(Clone, Debug)]
pub struct Binding {
    /// `metadata.name`
    pub name: String,
    /// `spec.policyName`
    pub policy_name: String,
    /// `spec.paramRef`
    pub param_ref: Option<ParamRef>,
    /// `spec.matchResources`
    pub match_resources: Option<MatchResources>,
    /// `spec.validationActions`
    pub validation_actions: Vec<String>,
}

/// `spec.paramRef`
#[derive(Clone, Debug)]
pub struct ParamRef {
    /// `name`
    pub name: String,
    /// `namespace`
    pub namespace: String,
    /// `selector`
    pub selector: Option<LabelSelector>,
    /// True if `parameterNotFoundAction` is `Deny`.
    pub deny_if_not_found: bool,
}

fn text(v: &Value, key: &str) -> String {
    v.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list<'v>(v: &'v Value, key: &str) -> &'v [Value] {
    v.get(key).and_then(Value::as_array).unwrap_or_default()
}

fn texts(v: &Value, key: &str) -> Vec<String> {
    list(v, key).iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect()
}

fn present<'v>(v: &'v Value, key: &str) -> Option<&'v Value> {
    v.get(key).filter(|v| !v.is_null())
}

const NOTHING: &Value = &Value::Null;

impl Policy {
    /// Reads a decoded policy.
    pub fn read(object: &Value, release: Release) -> Self {
        let spec = object.get("spec").unwrap_or(NOTHING);
        Self {
            name: object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned(),
            param_kind: present(spec, "paramKind")
                .map(|v| ParamKind { api_version: text(v, "apiVersion"), kind: text(v, "kind") }),
            match_constraints: present(spec, "matchConstraints").map(|v| MatchResources::read(v, release)),
            failure_policy: FailurePolicy::read(spec.str_at(&["failurePolicy"])),
            match_conditions: list(spec, "matchConditions").iter().map(|v| text(v, "expression")).collect(),
            variables: list(spec, "variables")
                .iter()
                .map(|v| Variable { name: text(v, "name"), expression: text(v, "expression") })
                .collect(),
            validations: list(spec, "validations").iter().map(Validation::read).collect(),
            audit_annotations: list(spec, "auditAnnotations")
                .iter()
                .map(|v| AuditAnnotation { key: text(v, "key"), value_expression: text(v, "valueExpression") })
                .collect(),
            mutations: list(spec, "mutations").iter().filter_map(Mutation::read).collect(),
            reinvoked_if_needed: spec.str_at(&["reinvocationPolicy"]) == Some("IfNeeded"),
        }
    }
}

impl FailurePolicy {
    /// Reads `failurePolicy`, whose default is `Fail`.
    pub fn read(text: Option<&str>) -> Self {
        match text {
            None | Some("Fail") => Self::Fail,
            Some("Ignore") => Self::Ignore,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

impl Validation {
    fn read(v: &Value) -> Self {
        Self {
            expression: text(v, "expression"),
            message: text(v, "message"),
            reason: v.str_at(&["reason"]).map(str::to_owned),
            message_expression: text(v, "messageExpression"),
        }
    }
}

impl Mutation {
    /// Reads a mutation; one without the field of its patchType has no effect.
    fn read(v: &Value) -> Option<Self> {
        let expression = |part: &str| present(v, part).map(|part| text(part, "expression"));
        match v.str_at(&["patchType"])? {
            "ApplyConfiguration" => expression("applyConfiguration").map(Self::ApplyConfiguration),
            "JSONPatch" => expression("jsonPatch").map(Self::JsonPatch),
            _ => None,
        }
    }
}

impl MatchResources {
    fn read(v: &Value, release: Release) -> Self {
        Self {
            namespace_selector: LabelSelector::read(v.get("namespaceSelector").unwrap_or(NOTHING), release),
            object_selector: LabelSelector::read(v.get("objectSelector").unwrap_or(NOTHING), release),
            rules: list(v, "resourceRules").iter().map(Rule::read).collect(),
            exclude_rules: list(v, "excludeResourceRules").iter().map(Rule::read).collect(),
            equivalent: v.str_at(&["matchPolicy"]).is_some_and(|policy| policy != "Exact"),
        }
    }

    /// Reads the rules and selectors of a webhook; `matchPolicy` is `Equivalent` by default.
    pub fn of_webhook(v: &Value, release: Release) -> Self {
        Self {
            rules: list(v, "rules").iter().map(Rule::read).collect(),
            exclude_rules: Vec::new(),
            equivalent: v.str_at(&["matchPolicy"]).is_none_or(|policy| policy == "Equivalent"),
            ..Self::read(v, release)
        }
    }
}

impl Rule {
    /// Reads a rule.
    pub fn read(v: &Value) -> Self {
        Self {
            resource_names: texts(v, "resourceNames"),
            operations: texts(v, "operations"),
            api_groups: texts(v, "apiGroups"),
            api_versions: texts(v, "apiVersions"),
            resources: texts(v, "resources"),
            scope: v.str_at(&["scope"]).map(str::to_owned),
        }
    }

    /// Returns true if the rule includes an operation, such as `CREATE`.
    pub fn includes_operation(&self, operation: &str) -> bool {
        includes(&self.operations, operation)
    }

    /// Returns true if the rule includes a group.
    pub fn includes_group(&self, group: &str) -> bool {
        includes(&self.api_groups, group)
    }

    /// Returns true if the rule includes a version.
    pub fn includes_version(&self, version: &str) -> bool {
        includes(&self.api_versions, version)
    }

    /// Returns true if the rule includes a resource, or a subresource of it if that is not empty (`rules.Matcher`).
    pub fn includes_resource(&self, plural: &str, subresource: &str) -> bool {
        self.resources.iter().any(|entry| {
            let (name, own) = entry.split_once('/').unwrap_or((entry, ""));
            (name == "*" || name == plural) && (own == "*" || own == subresource)
        })
    }
}

/// Returns true if a list of a rule has a word or `*`.
fn includes(list: &[String], word: &str) -> bool {
    list.iter().any(|item| item == "*" || item == word)
}

impl Binding {
    /// Reads a decoded binding.
    pub fn read(object: &Value, release: Release) -> Self {
        let spec = object.get("spec").unwrap_or(NOTHING);
        Self {
            name: object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned(),
            policy_name: text(spec, "policyName"),
            param_ref: present(spec, "paramRef").map(|v| ParamRef {
                name: text(v, "name"),
                namespace: text(v, "namespace"),
                selector: present(v, "selector").map(|v| LabelSelector::read(v, release)),
                deny_if_not_found: v.str_at(&["parameterNotFoundAction"]) == Some("Deny"),
            }),
            match_resources: present(spec, "matchResources").map(|v| MatchResources::read(v, release)),
            validation_actions: texts(spec, "validationActions"),
        }
    }
}
