//! The policies that a server reads from files and enforces itself, for commands that serve requests.

use super::static_manifests::{self, StaticManifestsError};
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_server::policies::authorizer::Rules;
use crdx_server::policies::model::PolicyKind;
use crdx_server::server::{AdmissionConfiguration, ResponseBody, Timestamp};
use crdx_value::Value;
use crdx_value::release::Release;
use std::path::Path;
use std::sync::Arc;

/// The reason why a server does not start with its policies.
#[derive(Debug, thiserror::Error)]
pub enum StaticPoliciesError {
    /// A directory cannot be used.
    #[error(transparent)]
    Manifests(#[from] StaticManifestsError),
    /// The server refuses a policy or binding.
    #[error("{0:?}: {1}")]
    Refused(String, String),
}

/// Returns the policies and bindings in the directories of a configuration, with all defaults.
///
/// # Errors
/// Returns the reason why a server would not start with them.
pub fn read(configuration: &AdmissionConfiguration, release: Release) -> Result<Vec<Value>, StaticPoliciesError> {
    let mut policies = Vec::new();
    for (plugin, directory) in configuration.manifest_directories(release) {
        for object in static_manifests::read(plugin, Path::new(directory))? {
            policies.push(complete(object, release)?);
        }
    }
    Ok(policies)
}

/// Validates an object and sets its defaults.
///
/// # Errors
/// Returns the error of the server.
fn complete(mut object: Value, release: Release) -> Result<Value, StaticPoliciesError> {
    let text = |object: &Value, path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
    let (name, kind) = (text(&object, &["metadata", "name"]), text(&object, &["kind"]));
    let builder = crdx_kinds::builder(release, 0).with_policies(Arc::new(Rules::allow_all()));
    let server = builder.with_policy_validation().build();
    // The API refuses the names of policies in files.
    object.insert_at(&["metadata", "name"], "policy".into());
    let path = request::collection(crdx_server::policies::GROUP, "v1", PolicyKind::resource_of(&kind), None);
    let options =
        RequestOptions { level: FieldValidation::Strict, dry_run: false, table: false, now: Timestamp::default() };
    let response = server.handle(&request::create(&path, object, options));
    match response.body {
        ResponseBody::Json(created) if response.code == 201 => {
            let mut created = Arc::unwrap_or_clone(created);
            created.insert_at(&["metadata", "name"], name.into());
            Ok(created)
        }
        body => Err(StaticPoliciesError::Refused(name, body.message().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn policies_are_validated_and_have_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let policy = |expression: &str| {
            format!(
                "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: a.static.k8s.io}}\n\
                 spec:\n  matchConstraints: {{resourceRules: [{{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}}]}}\n\
                 \x20 validations: [{{expression: \"{expression}\"}}]\n"
            )
        };
        let read = |expression: &str| {
            std::fs::write(dir.path().join("a.yaml"), policy(expression)).unwrap();
            let mut configuration = AdmissionConfiguration::default();
            let directory = dir.path().display().to_string();
            configuration.add("ValidatingAdmissionPolicy", object([("staticManifestsDir", directory)]));
            read(&configuration, Release::NEWEST)
        };
        let policies = read("true").unwrap();
        assert_eq!(policies[0].str_at(&["metadata", "name"]), Some("a.static.k8s.io"));
        assert_eq!(policies[0].str_at(&["spec", "failurePolicy"]), Some("Fail"));
        let error = read("1").unwrap_err().to_string();
        assert!(error.starts_with("\"a.static.k8s.io\": ") && error.contains("must evaluate to bool"), "{error}");
    }
}
