//! The params of policies that a profile has: those that its bindings may select.

use crate::cluster::Resource;
use crdx_server::policies::model::{Binding, Policy};
use crdx_types::groups;
use crdx_value::group_version;
use crdx_value::release::Release;
use crdx_value::{Value, object};
use std::collections::{BTreeMap, BTreeSet};

/// The saved objects of a kind of params.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedParams {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version in which policies read them, and in which they are saved.
    pub version: String,
    /// The plural name.
    pub plural: String,
    /// The names of the saved objects; `None` if all objects are saved.
    pub names: Option<BTreeSet<String>>,
}

/// A kind of params to save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedParams {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// The names of the objects to save; `None` for all objects.
    pub names: Option<BTreeSet<String>>,
}

/// Returns the kinds of params of policies that have a binding. All objects of a custom resource are wanted; of a built-in kind only
/// those that a binding names, because the others have other purposes. Secrets are never wanted.
pub fn wanted_params<'o>(objects: impl Iterator<Item = &'o Value>) -> Vec<WantedParams> {
    let mut kinds = BTreeMap::new();
    let mut bindings = Vec::new();
    for object in objects {
        let kind = object.str_at(&["kind"]).unwrap_or_default();
        if let Some(policy_kind) = kind.strip_suffix("Binding").filter(|kind| kind.ends_with("AdmissionPolicy")) {
            bindings.push((policy_kind, Binding::read(object, Release::NEWEST)));
        } else if kind.ends_with("AdmissionPolicy") {
            let policy = Policy::read(object, Release::NEWEST);
            if let Some(params) = policy.param_kind {
                kinds.insert((kind, policy.name), (params.api_version, params.kind));
            }
        }
    }
    let mut wanted: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (policy_kind, binding) in bindings {
        let Some(kind) = kinds.get(&(policy_kind, binding.policy_name)) else { continue };
        let names = wanted.entry(kind.clone()).or_default();
        names.extend(binding.param_ref.map(|reference| reference.name).filter(|name| !name.is_empty()));
    }
    let is_secret = |api_version: &str, kind: &str| (api_version, kind) == ("v1", "Secret");
    wanted.retain(|(api_version, kind), _| !is_secret(api_version, kind));
    let params = |((api_version, kind), names): ((String, String), BTreeSet<String>)| {
        let is_built_in = groups::is_built_in(group_version::group(&api_version));
        WantedParams { api_version, kind, names: is_built_in.then_some(names) }
    };
    wanted.into_iter().map(params).collect()
}

impl SavedParams {
    /// The plural name with the group.
    pub fn qualified(&self) -> String {
        let (group, plural) = (self.group.clone(), self.plural.clone());
        Resource { group, plural, ..Resource::default() }.qualified()
    }

    /// Returns the value to write.
    pub(super) fn to_value(&self) -> Value {
        let texts = [("group", &self.group), ("version", &self.version), ("plural", &self.plural)];
        let mut value = object(texts.map(|(key, text)| (key, Value::from(text.as_str()))));
        if let Some(names) = &self.names {
            let names = names.iter().map(|name| name.as_str().into()).collect();
            value.insert_at(&["names"], Value::Array(names));
        }
        value
    }

    /// Decodes what [`Self::to_value`] returns; `None` if a member is missing or has another type.
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let text = |key: &str| value.str_at(&[key]).map(str::to_owned);
        let names = match value.get("names") {
            None => None,
            Some(names) => {
                Some(names.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned())).collect::<Option<_>>()?)
            }
        };
        Some(Self { group: text("group")?, version: text("version")?, plural: text("plural")?, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn policy(name: &str, api_version: &str, kind: &str) -> Value {
        let text = format!(
            r#"{{"kind":"ValidatingAdmissionPolicy","metadata":{{"name":"{name}"}},"spec":{{"paramKind":{{"apiVersion":"{api_version}","kind":"{kind}"}}}}}}"#
        );
        read(text.as_bytes()).unwrap()
    }

    fn binding(policy: &str, reference: &str) -> Value {
        let text = format!(
            r#"{{"kind":"ValidatingAdmissionPolicyBinding","metadata":{{"name":"b"}},"spec":{{"policyName":"{policy}","paramRef":{reference}}}}}"#
        );
        read(text.as_bytes()).unwrap()
    }

    #[test]
    fn bindings_decide_which_params_are_saved() {
        let objects = [
            policy("maps", "v1", "ConfigMap"),
            policy("limits", "a.example.com/v1", "Limit"),
            policy("unbound", "a.example.com/v1", "Other"),
            policy("secret", "v1", "Secret"),
            binding("maps", r#"{"name":"one"}"#),
            binding("maps", r#"{"name":"two"}"#),
            binding("maps", r#"{"selector":{}}"#),
            binding("limits", r#"{"selector":{}}"#),
            binding("secret", r#"{"name":"canary"}"#),
        ];
        let wanted = wanted_params(objects.iter());
        let of = |api_version: &str, kind: &str, names: Option<&[&str]>| WantedParams {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            names: names.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
        };
        assert_eq!(wanted, [of("a.example.com/v1", "Limit", None), of("v1", "ConfigMap", Some(&["one", "two"]))]);
    }

    #[test]
    fn what_was_written_is_read() {
        let text = str::to_owned;
        for names in [None, Some(BTreeSet::from([text("a")]))] {
            let params = SavedParams { group: text("g"), version: text("v1"), plural: text("things"), names };
            assert_eq!(SavedParams::from_value(&params.to_value()), Some(params));
        }
        assert_eq!(SavedParams::from_value(&read(b"{}").unwrap()), None);
    }
}
