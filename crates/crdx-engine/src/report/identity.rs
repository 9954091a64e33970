//! The identity of an object.

use crdx_value::group_version;

/// The identity of an object; unknown parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// The namespace of the request.
    pub namespace: Option<String>,
    /// `metadata.name`, or `metadata.generateName` and a `*`.
    pub name: String,
}

impl Identity {
    /// Returns the API group.
    pub fn group(&self) -> &str {
        group_version::group(&self.api_version)
    }
    /// Returns `kind.group/name`, as kubectl's `-o name` does.
    pub fn short(&self) -> String {
        let kind = self.kind.to_lowercase();
        match self.group() {
            "" => format!("{kind}/{}", self.name),
            group => format!("{kind}.{group}/{}", self.name),
        }
    }
    /// Returns `namespace/name`, without the parts that are unknown.
    pub fn full_name(&self) -> String {
        match &self.namespace {
            Some(namespace) if !self.name.is_empty() => [namespace, "/", &self.name].concat(),
            _ => self.name.clone(),
        }
    }
}
