//! The resource that a suite tests: that of a CRD, or one of a built-in kind.

use crdx_server::server::http::address;
use crdx_types::resources;
use crdx_value::Value;
use crdx_value::release::Release;
use std::sync::Arc;

/// The resource that a suite tests.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A custom resource.
    CustomResource {
        /// The CRD to install.
        definition: Arc<Value>,
        /// The CRD of the file, to which `initialCRDPatches` are applied.
        file: Arc<Value>,
    },
    /// A resource of a built-in kind.
    BuiltIn(TestedResource),
}

impl Subject {
    /// The CRD to install; `None` for a built-in kind.
    pub fn definition(&self) -> Option<&Arc<Value>> {
        match self {
            Self::CustomResource { definition, .. } => Some(definition),
            Self::BuiltIn(_) => None,
        }
    }

    /// The resource.
    pub(crate) fn resource(&self) -> TestedResource {
        match self {
            Self::CustomResource { definition, .. } => TestedResource::from_crd(definition),
            Self::BuiltIn(resource) => resource.clone(),
        }
    }
}

/// A resource in all its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestedResource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural.
    pub plural: String,
    /// The kind.
    pub kind: String,
    /// True if the resource is namespaced.
    pub namespaced: bool,
    /// The only version that is tested; `None` for any version that the server serves.
    pub version: Option<String>,
}

impl TestedResource {
    /// Returns the resource that a CRD defines.
    pub(crate) fn from_crd(crd: &Value) -> Self {
        let text = |path: &[&str]| crd.str_at(path).unwrap_or_default().to_owned();
        Self {
            group: text(&["spec", "group"]),
            plural: text(&["spec", "names", "plural"]),
            kind: text(&["spec", "names", "kind"]),
            namespaced: crd.str_at(&["spec", "scope"]) == Some("Namespaced"),
            version: None,
        }
    }

    /// Returns the resource of a built-in kind by its name, such as `deployments.apps` or `pods`.
    pub fn built_in(name: &str, release: Release) -> Option<Self> {
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        Self::find_built_in(release, |r| r.plural == plural && r.group == group)
    }

    /// Returns the resource of a built-in kind by `Kind.group`, such as `Deployment.apps` or `Pod.`.
    pub fn of_built_in_kind(kind_and_group: &str, release: Release) -> Option<Self> {
        let (kind, group) = kind_and_group.split_once('.')?;
        Self::find_built_in(release, |r| r.kind == kind && r.group == group)
    }

    fn find_built_in(release: Release, matches: impl Fn(&resources::ApiResource) -> bool) -> Option<Self> {
        let found = resources::resources(release.minor().number().into()).find(|r| r.writable && matches(r))?;
        Some(Self {
            group: found.group.to_owned(),
            plural: found.plural.to_owned(),
            kind: found.kind.to_owned(),
            namespaced: found.namespaced,
            version: None,
        })
    }

    /// The name of the resource, which is that of its CRD.
    pub fn name(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The path of the collection of a version.
    pub(crate) fn collection(&self, version: &str, namespace: &str) -> String {
        address::collection(&self.group, version, &self.plural, self.namespaced.then_some(namespace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_kinds_are_found_by_name_and_kind() {
        let deployments = TestedResource::built_in("deployments.apps", Release::NEWEST).unwrap();
        assert_eq!((deployments.kind.as_str(), deployments.namespaced), ("Deployment", true));
        assert_eq!(deployments.name(), "deployments.apps");
        assert_eq!(TestedResource::of_built_in_kind("Deployment.apps", Release::NEWEST), Some(deployments));
        let pods = TestedResource::built_in("pods", Release::NEWEST).unwrap();
        assert_eq!(
            (pods.name(), pods.collection("v1", "a")),
            ("pods".to_owned(), "/api/v1/namespaces/a/pods".to_owned())
        );
        assert_eq!(TestedResource::of_built_in_kind("Pod.", Release::NEWEST), Some(pods));
        for unknown in ["deployments", "deployments.example.com", "tokenreviews.authentication.k8s.io", ""] {
            assert_eq!(TestedResource::built_in(unknown, Release::NEWEST), None, "{unknown}");
        }
    }

    #[test]
    fn built_in_kinds_depend_on_the_release() {
        let found =
            |minor| TestedResource::built_in("deviceclasses.resource.k8s.io", Release::new(minor).unwrap()).is_some();
        assert!(!found(30) && found(37));
    }
}
