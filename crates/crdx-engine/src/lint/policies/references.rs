//! Checks the references of a binding to its policy and params.

use crdx_server::policies::model::{Binding, ParamKind, Policy, PolicyKind};
use crdx_server::policies::request::Kind;
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use std::collections::{BTreeMap, BTreeSet};

/// The objects that bindings may refer to.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// The kinds of params of the policies.
    policies: BTreeMap<(PolicyKind, String), Option<ParamKind>>,
    /// The group, kind, namespace and name of every other object.
    others: BTreeSet<(String, String, String, String)>,
}

/// A reference with a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceProblem {
    /// `PolicyNotFound`, `ParamNotFound` or `ParamRef`.
    pub kind: &'static str,
    /// The field: `spec.policyName`.
    pub field: &'static str,
    /// The description of the problem.
    pub message: String,
    /// A suggestion.
    pub help: Option<&'static str>,
}

impl Objects {
    /// Adds an object of the input.
    pub fn add(&mut self, object: &Value, release: Release) {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let (kind, name) = (text(&["kind"]), text(&["metadata", "name"]));
        let api_version = text(&["apiVersion"]);
        let group = group_version::group(&api_version);
        if group == crdx_server::policies::GROUP && PolicyKind::has_kind(&kind) {
            if !kind.ends_with("Binding") {
                self.policies.insert((PolicyKind::of_kind(&kind), name), Policy::read(object, release).param_kind);
            }
            return;
        }
        self.others.insert((group.to_owned(), kind, text(&["metadata", "namespace"]), name));
    }

    /// Returns the problems with the references of a binding; empty for a policy.
    pub fn check(&self, object: &Value, release: Release) -> Vec<ReferenceProblem> {
        let kind = object.str_at(&["kind"]).unwrap_or_default();
        if !kind.ends_with("Binding") {
            return Vec::new();
        }
        let (policy_kind, binding) = (PolicyKind::of_kind(kind), Binding::read(object, release));
        let policy = self.policies.get(&(policy_kind, binding.policy_name.clone()));
        let Some(param_kind) = policy else {
            let message = format!("there is no {} {:?} in the files", policy_kind.kind(), binding.policy_name);
            let help = Some("a binding without its policy has no effect");
            let named = !binding.policy_name.is_empty();
            return named
                .then_some(ReferenceProblem { kind: "PolicyNotFound", field: "spec.policyName", message, help })
                .into_iter()
                .collect();
        };
        let problem =
            |message: String, help| vec![ReferenceProblem { kind: "ParamRef", field: "spec.paramRef", message, help }];
        match (param_kind, &binding.param_ref) {
            (None, None) => Vec::new(),
            (None, Some(_)) => problem(
                format!("paramRef is ignored: {} {:?} has no paramKind", policy_kind.kind(), binding.policy_name),
                None,
            ),
            (Some(wanted), None) => problem(
                format!(
                    "params is null in {} {:?}, which has the paramKind {}",
                    policy_kind.kind(),
                    binding.policy_name,
                    wanted.kind
                ),
                Some("a binding of a policy with paramKind sets paramRef"),
            ),
            (Some(wanted), Some(reference)) => {
                let kind = Kind::of_params(wanted);
                let found = self.others.iter().any(|(group, own_kind, namespace, name)| {
                    *group == kind.group
                        && *own_kind == kind.kind
                        && (reference.name.is_empty() || *name == reference.name)
                        && (reference.namespace.is_empty() || namespace.is_empty() || *namespace == reference.namespace)
                });
                if found {
                    return Vec::new();
                }
                let within = if reference.namespace.is_empty() {
                    String::new()
                } else {
                    format!(" in namespace {:?}", reference.namespace)
                };
                let what = if reference.name.is_empty() {
                    format!("no {}{within}", wanted.kind)
                } else {
                    format!("no {} {:?}{within}", wanted.kind, reference.name)
                };
                let message = format!("there is {what} in the files");
                vec![ReferenceProblem {
                    kind: "ParamNotFound",
                    field: "spec.paramRef",
                    message,
                    help: Some(not_found(reference.deny_if_not_found)),
                }]
            }
        }
    }
}

fn not_found(denies: bool) -> &'static str {
    if denies {
        "without params the policy denies every request that the binding matches (parameterNotFoundAction: Deny)"
    } else {
        "without params the binding has no effect (parameterNotFoundAction: Allow)"
    }
}
