//! Examples of built-in kinds.

use super::verdict;
use crate::commands::exit::Exit;
use crdx_engine::examples;
use crdx_output::printable::complain;
use crdx_types::resources::{self, ApiResource};
use crdx_value::Value;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::sort::sort_by_key;

/// Returns the built-in resource that a word names as for kubectl (`deployments`, `deploy`, `Deployment`, `deployment.apps`) in its
/// newest version; `None` if the release has none.
pub fn find(word: &str, release: Release) -> Option<ApiResource> {
    let word = word.to_ascii_lowercase();
    let (name, group) = word.split_once('.').map_or((word.as_str(), None), |(name, group)| (name, Some(group)));
    let names_it = |resource: &ApiResource| {
        let names = [resource.plural, resource.singular].into_iter().chain(resource.short_names.iter().copied());
        names.into_iter().any(|own| own == name) || resource.kind.eq_ignore_ascii_case(name)
    };
    let is_of = |resource: &ApiResource| {
        let in_version = || format!("{}.{}", resource.version, resource.group);
        group.is_none_or(|group| group == resource.group || group == in_version())
    };
    let all = resources::resources(release.minor().number().into());
    let found = all.filter(|resource| resource.writable && is_of(resource) && names_it(resource));
    // kubectl prefers the core group, and stable versions.
    let mut found: Vec<ApiResource> = found.collect();
    sort_by_key(&mut found, |resource| (!resource.group.is_empty(), resource.version.len()));
    let group = found.first().map(|resource| resource.group)?;
    found.into_iter().filter(|resource| resource.group == group).max_by_key(|resource| stability(resource.version))
}

/// Orders versions: stable ones above others, then by number.
fn stability(version: &str) -> (bool, u32) {
    let number = version.trim_start_matches('v').parse();
    (number.is_ok(), number.unwrap_or_default())
}

/// Returns the example of a built-in resource; errors are printed to standard error.
pub fn example(resource: &ApiResource, version: Option<&str>, release: Release) -> (Option<Value>, Exit) {
    let minor = release.minor().number().into();
    let of_version = |version: &str| {
        let of_kind = resources::of_kind(&api_version(resource.group, version), resource.kind, minor);
        of_kind.cloned()
    };
    let in_version = version.map_or_else(|| Some(resource.clone()), of_version);
    let Some(resource) = in_version else {
        let served = resources::versions_of_kind(resource.group, resource.kind, minor).join(", ");
        let version = version.unwrap_or_default();
        complain!(
            "error: Kubernetes {release} does not serve {} in version {version}; it serves {served}",
            resource.kind
        );
        return (None, Exit::CannotTell);
    };
    let Some(example) = examples::built_in(&resource, release) else {
        complain!(
            "error: there is no example of {}; kubectl crdx explain {} lists its fields",
            resource.kind,
            resource.plural
        );
        return (None, Exit::CannotTell);
    };
    let exit = verdict(example.rejection, resource.kind);
    (Some(example.object), exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_found_by_the_names_that_kubectl_knows() {
        let of = |word: &str, release: Release| {
            find(word, release).map(|found| format!("{}/{} {}", found.group, found.version, found.plural))
        };
        for word in ["Deployment", "deployments", "deploy", "deployment.apps", "Deployment.v1.apps"] {
            assert_eq!(of(word, Release::NEWEST).as_deref(), Some("apps/v1 deployments"), "{word}");
        }
        assert_eq!(of("hpa", Release::NEWEST).as_deref(), Some("autoscaling/v2 horizontalpodautoscalers"));
        assert_eq!(of("events", Release::NEWEST).as_deref(), Some("/v1 events"));
        assert_eq!(of("events.events.k8s.io", Release::NEWEST).as_deref(), Some("events.k8s.io/v1 events"));
        assert_eq!(of("gadgets", Release::NEWEST), None);
        assert_eq!(of("servicecidrs", Release::OLDEST), None);
    }
}
