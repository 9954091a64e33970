//! Example objects of built-in kinds: those of a file, checked by the simulated server.

use super::{Example, Rejection};
use crate::kubectl::{Operation, request};
use crdx_server::server::http::address;
use crdx_server::server::{Namespaces, Response, ResponseBody};
use crdx_types::resources::ApiResource;
use crdx_value::Value;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use std::sync::OnceLock;

/// The objects; `apiVersion` is the group.
const OBJECTS: &str = include_str!("built_in.yaml");

/// Returns an example of a built-in kind in one version, and why the server of the release rejects it, if it does; `None` if there
/// is no example of the kind.
pub fn built_in(resource: &ApiResource, release: Release) -> Option<Example> {
    let is_it = |object: &&Value| {
        let text = |key: &str| object.str_at(&[key]).unwrap_or_default();
        text("apiVersion") == resource.group && text("kind") == resource.kind
    };
    let mut object = objects().iter().find(is_it)?.clone();
    object.insert_at(&["apiVersion"], api_version(resource.group, resource.version).into());
    let namespace = resource.namespaced.then_some("default");
    let collection = address::collection(resource.group, resource.version, resource.plural, namespace);
    let path = format!("{collection}?dryRun=All&fieldValidation=Strict");
    let server =
        crdx_kinds::builder(release, 0).with_built_in_kinds().with_content_validation().with_generated_fields();
    let server = server.with_policy_validation().without_managed_fields().with_namespaces(Namespaces::Unchecked, &[]);
    let answer = server.build().handle_owned(request::plain(Operation::Create, &path, object.clone()));
    Some(Example { object, rejection: rejection(answer) })
}

fn rejection(answer: Response) -> Option<Rejection> {
    match answer.body {
        ResponseBody::Json(_) if answer.code < 400 => None,
        body => Some(Rejection {
            message: body.message().to_owned(),
            errors: answer.trace.errors,
            cost: answer.trace.cost,
            is_unfinished: answer.trace.is_unfinished,
        }),
    }
}

fn objects() -> &'static [Value] {
    static ALL: OnceLock<Vec<Value>> = OnceLock::new();
    ALL.get_or_init(|| {
        OBJECTS.split("\n---\n").filter_map(|text| crdx_text::yaml::read(text.as_bytes()).ok()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_types::resources::resources;
    #[test]
    fn every_release_accepts_the_example_of_each_kind() {
        let mut missing = Vec::new();
        for release in Release::known() {
            let minor = release.minor().number().into();
            for resource in resources(minor).filter(|resource| resource.writable) {
                let example = built_in(&resource, release);
                let kind = format!("{} {} of {release}", resource.kind, resource.version);
                match example.map(|example| example.rejection) {
                    Some(None) => {}
                    Some(Some(rejection)) => missing.push(format!("{kind}: {rejection}")),
                    None => missing.push(format!("{kind}: none")),
                }
            }
        }
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }
}
