//! The built-in kinds that admission needs: policies, their bindings, webhook configurations and config maps. They are
//! served with their Go types ([`super::typed_resource`]).

use super::built_in::{BuiltIn, Custom};
use super::built_in_kind::BuiltInKind;
use super::typed_resource::definition;
use crate::policies::validation;
use crate::server::scope::is_admission;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::serving::Serving;
use crdx_types::resources::{ApiResource, resources};
use crdx_value::Value;
use crdx_value::field::ErrorList;
use crdx_value::release::Release;
use std::sync::Arc;

/// The validation of policies, bindings and webhook configurations.
#[derive(Debug)]
struct Validated;

impl BuiltIn for Validated {
    fn validate(&self, object: &Value, old: Option<&Value>, release: Release) -> (ErrorList, Vec<String>) {
        (validation::validate(object, old, release), validation::warnings(object, old, release))
    }

    fn status_warnings(&self, object: &Value, old: &Value, release: Release) -> Vec<String> {
        validation::warnings(object, Some(old), release)
    }
}

/// The resources of a release.
fn kinds(release: Release) -> impl Iterator<Item = ApiResource> {
    let all = resources(release.emulated().number().into());
    all.filter(|r| is_admission(r.group) || r.group.is_empty() && r.plural == "configmaps")
}

/// Serves policies, bindings, webhook configurations and config maps.
pub(in crate::server) fn serve(resources: &Resources) {
    let release = resources.settings.release;
    // A server of CRDs alone has those of the newest release: the kinds and their fields are the same in all of them.
    let has_own = resources.serves_built_in_kinds;
    for resource in kinds(if has_own { release } else { Release::NEWEST }) {
        let ApiResource { group, version, plural, kind, .. } = resource;
        if resources.runtime_config.serves(group, version, plural) == Some(false) {
            continue;
        }
        let name = format!("{plural}.{group}");
        // Releases that do not serve a kind in this version have no type for it.
        let typed = [release, Release::NEWEST].into_iter();
        let mut typed =
            typed.filter_map(|release| BuiltInKind::new(resources.kinds, group, version, kind, plural, release));
        let (Some(typed), Some(definition)) = (typed.next(), definition(&[&resource], name.clone(), release)) else {
            continue;
        };
        let objects = resources.storage.collection(&name);
        let serving = Serving::compile(Arc::new(definition), Arc::new(objects), release);
        resources.insert(&name, serving.built_in(&Custom).typed(vec![typed]));
    }
}

/// Rejects policies, bindings and webhook configurations that a real API server rejects, such as policies whose
/// expressions do not compile; without this, the server stores them. Objects that are already stored are kept.
pub(in crate::server) fn validate(resources: &Resources) {
    for serving in resources.all().iter().filter(|serving| is_admission(&serving.group)) {
        let validated = serving.with_definition(Arc::clone(&serving.crd)).built_in(&Validated);
        resources.insert(serving.crd.name(), validated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::GROUP as ADMISSION;
    use crate::policies::authorizer::Rules;
    use crate::server::{Method, Request, Server};
    use crdx_text::json;
    use crdx_value::release::ReleaseSet;

    /// A server of each release.
    fn servers() -> Vec<Server> {
        let releases: ReleaseSet = "1.30..1.37".parse().unwrap();
        let server = |release| {
            let builder = Server::builder(release, 0);
            let builder = builder.with_policies(Arc::new(Rules::allow_all()));
            builder.with_policy_validation().build()
        };
        releases.iter().map(server).collect()
    }

    fn create(server: &Server, plural: &str, body: &str) -> (u16, String) {
        let path = format!("/apis/{ADMISSION}/v1/{plural}");
        let response = server.handle(&Request::new(Method::Post, &path, json::read(body.as_bytes()).unwrap()));
        (response.code, response.body.message().to_owned())
    }

    #[test]
    fn every_release_has_all_kinds() {
        for server in servers() {
            for resource in kinds(Release::NEWEST) {
                let name = format!("{}.{}", resource.plural, resource.group);
                let serving = server.resources().get(&name).unwrap();
                assert_eq!(serving.typed.len(), 1, "{name}");
            }
        }
    }

    #[test]
    fn a_whole_server_has_the_kinds_of_its_release() {
        let code = |release: &str| {
            let server = Server::builder(release.parse().unwrap(), 1).with_built_in_kinds();
            let server = server.with_policies(Arc::new(Rules::allow_all())).build();
            let path = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
            server.handle(&Request::new(Method::Get, path, "")).code
        };
        assert_eq!(["1.34", "1.35", "1.36", "1.37"].map(code), [404, 404, 200, 200]);
    }

    #[test]
    fn members_of_a_wrong_type_are_not_decoded() {
        for server in servers() {
            let since = server.release().since(crdx_value::release::V1_36);
            for (plural, kind, members, error) in [
                (
                    "validatingadmissionpolicies",
                    "ValidatingAdmissionPolicy",
                    r#""spec":{"validations":[{"expression":"true","message":true}]}"#,
                    "json: cannot unmarshal bool into Go struct field Validation.spec.validations.message of type string",
                ),
                (
                    "validatingadmissionpolicybindings",
                    "ValidatingAdmissionPolicyBinding",
                    r#""spec":{"validationActions":"Deny"}"#,
                    "json: cannot unmarshal string into Go struct field ValidatingAdmissionPolicyBindingSpec.spec.validationActions of type []v1.ValidationAction",
                ),
                (
                    "validatingwebhookconfigurations",
                    "ValidatingWebhookConfiguration",
                    r#""webhooks":[{"timeoutSeconds":"3"}]"#,
                    "json: cannot unmarshal string into Go struct field ValidatingWebhook.webhooks.timeoutSeconds of type int32",
                ),
                (
                    "mutatingadmissionpolicies",
                    "MutatingAdmissionPolicy",
                    r#""spec":{"mutations":{}}"#,
                    "json: cannot unmarshal object into Go struct field MutatingAdmissionPolicySpec.spec.mutations of type []v1.Mutation",
                ),
            ] {
                let body =
                    format!(r#"{{"apiVersion":"{ADMISSION}/v1","kind":"{kind}","metadata":{{"name":"a"}},{members}}}"#);
                let message = format!("{kind} in version \"v1\" cannot be handled as a {kind}: {error}");
                if since || !kind.starts_with("Mutating") {
                    assert_eq!(create(&server, plural, &body), (400, message), "{}", server.release());
                }
            }
        }
    }
}
