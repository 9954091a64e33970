//! Sends one admission policy, binding or webhook configuration to a separate server that validates it like a full API
//! server, and adds findings about the types and references of policies.

use super::Linted;
use crate::kubectl::RequestKind;
use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::{FieldValidation, Verb};
use crate::lint::policies::references::Objects;
use crate::lint::policies::{self, Warning};
use crate::report::{Diagnostic, ObjectReport, Verdict, merged};
use crate::simulation::identity::{FieldLocator as _, Namespace, identity};
use crate::simulation::object::Object;
use crate::simulation::policy_request::{PolicyRequest, PolicyRequestError};
use crate::simulation::served;
use crdx_server::policies::model::PolicyKind;
use crdx_server::policies::type_checking::KnownType;
use crdx_server::server::Timestamp;
use crdx_types::resources::{self, ApiResource};
use crdx_value::Value;
use crdx_value::release::{Release, ReleaseSet};

/// Returns the types of the CRDs among objects.
pub fn types_of<'o>(objects: impl IntoIterator<Item = &'o Object>) -> Vec<KnownType> {
    let definitions = objects.into_iter().filter(|object| object.is_definition());
    let decoded = definitions.filter_map(|object| crdx_server::crd::decode(object.value()).ok());
    decoded.flat_map(|decoded| KnownType::of_definition(&decoded.crd)).collect()
}

/// The types and objects with which policies and bindings are checked.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The types of the known CRDs.
    pub types: Vec<KnownType>,
    /// The objects of the input, to which bindings may refer.
    pub objects: Objects,
}

/// Checks a policy, binding or webhook configuration on each of `releases`, as an update of `old` if there is one.
pub fn check(object: &Object, old: Option<&Value>, context: &Context, releases: &ReleaseSet, now: Timestamp) -> Linted {
    let locator = object.finder();
    let answers = releases.iter().map(|release| (release, answer(object, old, context, release, now)));
    let no_release = || ObjectReport::new(locator.start(), Verdict::CannotTell, "no Kubernetes version to simulate");
    let mut item = merged(answers.collect()).unwrap_or_else(no_release);
    item.warnings.extend(object.warnings.iter().cloned());
    let mut linted = Linted::new(item);
    if is_policy(object.value()) && resource(object.value(), releases.newest()).is_some() {
        let costs = policies::findings(object.value(), &context.types, releases.newest()).expressions;
        linted.expressions =
            costs.into_iter().map(|cost| (locator.field(&cost.field), cost)).map(|(s, c)| (c, s)).collect();
    }
    linted
}

/// Returns the response of one release, with the warnings about types and references.
fn answer(object: &Object, old: Option<&Value>, context: &Context, release: Release, now: Timestamp) -> ObjectReport {
    let locator = object.finder();
    let Some(resource) = resource(object.value(), release) else {
        return served::not_served(release, identity(object.value(), Namespace::None), &mut object.clone());
    };
    let mut item = ask(object, old, resource, release, now);
    if !is_policy(object.value()) {
        return item;
    }
    let found = policies::findings(object.value(), &context.types, release);
    let has_error = |field: &str| item.errors.iter().any(|error| error.field.as_deref() == Some(field));
    let problem = |kind: &str, warning: &Warning| Diagnostic {
        kind: kind.to_owned(),
        field: Some(warning.field.clone()),
        message: format!("{}: {}", warning.field, warning.text),
        location: Some(locator.field(&warning.field)),
        help: warning.help.clone(),
        ..Diagnostic::default()
    };
    // An expression that does not compile for any type is already an error.
    let by_server = found.warnings.iter().filter(|warning| !has_error(&warning.field));
    let other_warnings = found.own_warnings.iter().filter(|warning| !has_error(&warning.field));
    let mut warnings: Vec<Diagnostic> = by_server.map(|warning| problem("TypeChecking", warning)).collect();
    warnings.extend(other_warnings.map(|warning| problem("ExpressionType", warning)));
    warnings.extend(found.notes.iter().map(|note| Diagnostic {
        kind: "NotTypeChecked".to_owned(),
        field: Some("spec.matchConstraints".to_owned()),
        message: note.clone(),
        location: Some(locator.field("spec.matchConstraints")),
        ..Diagnostic::default()
    }));
    item.warnings.extend(warnings);
    item.warnings.extend(context.objects.check(object.value(), release).into_iter().map(|found| Diagnostic {
        kind: found.kind.to_owned(),
        field: Some(found.field.to_owned()),
        message: format!("{}: {}", found.field, found.message),
        location: Some(locator.field(found.field)),
        help: found.help.map(str::to_owned),
        ..Diagnostic::default()
    }));
    item
}

/// Returns the resource of an object; `None` if the release does not serve it.
fn resource(object: &Value, release: Release) -> Option<&'static ApiResource> {
    let text = |key| object.str_at(&[key]).unwrap_or_default();
    resources::of_kind(text("apiVersion"), text("kind"), release.emulated().number().into())
}

/// Returns true if an object is a policy or a binding, not a webhook configuration.
fn is_policy(object: &Value) -> bool {
    PolicyKind::has_kind(object.str_at(&["kind"]).unwrap_or_default())
}

/// Sends the object to a server as kubectl would.
fn ask(object: &Object, old: Option<&Value>, resource: &ApiResource, release: Release, now: Timestamp) -> ObjectReport {
    let locator = object.finder();
    let identity = identity(object.value(), Namespace::None);
    let mut value = object.value().clone();
    request::remove_decodable_server_metadata(&mut value);
    let verb = if old.is_some() { Verb::Replace } else { Verb::Create };
    let request = PolicyRequest {
        release,
        resource,
        request_kind: &RequestKind { verb, ..RequestKind::default() },
        request_options: RequestOptions { level: FieldValidation::Strict, dry_run: false, table: false, now },
    };
    let sent = request.send(value, old, identity.clone(), &locator, false);
    let unsent = |error: PolicyRequestError| {
        let mut item = ObjectReport::new(locator.start(), Verdict::CannotTell, error.to_string());
        item.identity = identity.clone();
        item
    };
    sent.map_or_else(unsent, |(item, _)| item)
}
