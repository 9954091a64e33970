//! The compiled policies of a server with their bindings (`policy/generic/policy_source.go`).

use super::compile::{Compiled, compile};
use super::model::{Binding, Policy};
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A policy with its expressions and bindings.
#[derive(Clone, Debug)]
pub struct PolicyHook {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The compiled expressions.
    pub compiled: Arc<Compiled>,
    /// The bindings, by name.
    pub bindings: Vec<Arc<Binding>>,
}

/// The policies and bindings of one kind, by name. The server's order of evaluation varies; this implementation
/// evaluates them in the order of their names.
#[derive(Clone, Debug, Default)]
pub struct PolicySource {
    policies: BTreeMap<String, (Arc<Policy>, Arc<Compiled>)>,
    bindings: BTreeMap<String, Arc<Binding>>,
}

impl PolicySource {
    /// Adds or replaces a policy.
    pub(crate) fn put_policy(&mut self, object: &Value, release: Release) {
        let policy = Policy::read(object, release);
        let compiled = compile(&policy, release);
        self.policies.insert(policy.name.clone(), (Arc::new(policy), Arc::new(compiled)));
    }

    pub(crate) fn remove_policy(&mut self, name: &str) {
        self.policies.remove(name);
    }

    /// Adds or replaces a binding.
    pub(crate) fn put_binding(&mut self, object: &Value, release: Release) {
        let binding = Binding::read(object, release);
        self.bindings.insert(binding.name.clone(), Arc::new(binding));
    }

    pub(crate) fn remove_binding(&mut self, name: &str) {
        self.bindings.remove(name);
    }

    /// Returns the policies that have bindings.
    pub fn hooks(&self) -> Vec<PolicyHook> {
        let hook = |(policy, compiled): &(Arc<Policy>, Arc<Compiled>)| {
            let bindings: Vec<Arc<Binding>> =
                self.bindings.values().filter(|b| b.policy_name == policy.name).map(Arc::clone).collect();
            let hook = || PolicyHook {
                policy: Arc::clone(policy),
                compiled: Arc::clone(compiled),
                bindings: bindings.clone(),
            };
            (!bindings.is_empty()).then(hook)
        };
        self.policies.values().filter_map(hook).collect()
    }
}

/// The policies of a server, of both kinds.
#[derive(Clone, Debug, Default)]
pub struct PolicySources {
    /// The validating policies.
    pub validating: PolicySource,
    /// The mutating policies.
    pub mutating: PolicySource,
}
