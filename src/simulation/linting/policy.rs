//! Sends one admission policy or binding to a separate server that validates it like a full API server, and adds
//! findings about its types and references.

use super::Linted;
use crate::kubectl::FieldValidation;
use crate::kubectl::request::{self, RequestOptions};
use crate::lint::policies::references::Objects;
use crate::lint::policies::{self, Warning};
use crate::output::report::{Action, Item, Problem, Verdict, merged};
use crate::policies::authorizer::Rules;
use crate::policies::model::PolicyKind;
use crate::policies::type_checking::KnownType;
use crate::release::{Release, ReleaseSet, V1_36};
use crate::server::{Method, Server, Timestamp};
use crate::simulation::answer::read_policy_response;
use crate::simulation::identity::{FieldLocator as _, Namespace, identity};
use crate::simulation::object::Object;
use crate::value::Value;
use std::sync::Arc;

/// Returns the types of the CRDs among objects.
pub fn types_of<'o>(objects: impl IntoIterator<Item = &'o Object>) -> Vec<KnownType> {
    let definitions = objects.into_iter().filter(|object| object.is_definition());
    let decoded = definitions.filter_map(|object| crate::crd::decode(object.value()).ok());
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

/// Checks a policy or binding on each of `releases`, as an update of `old` if there is one.
pub fn check(object: &Object, old: Option<&Value>, context: &Context, releases: &ReleaseSet, now: Timestamp) -> Linted {
    let locator = object.finder();
    let answers = releases.iter().map(|release| (release, answer(object, old, context, release, now)));
    let no_release = || Item::new(locator.start(), Verdict::CannotTell, "no Kubernetes version to simulate");
    let mut item = merged(answers.collect()).unwrap_or_else(no_release);
    item.warnings.extend(object.warnings.iter().cloned());
    let mut linted = Linted::of(item);
    if not_simulated(object.value(), releases.newest()).is_none() {
        let costs = policies::findings(object.value(), &context.types, releases.newest()).expressions;
        linted.expressions =
            costs.into_iter().map(|cost| (locator.field(&cost.field), cost)).map(|(s, c)| (c, s)).collect();
    }
    linted
}

/// Returns the response of one release, with the warnings about types and references.
fn answer(object: &Object, old: Option<&Value>, context: &Context, release: Release, now: Timestamp) -> Item {
    let locator = object.finder();
    if let Some(reason) = not_simulated(object.value(), release) {
        let mut item = Item::new(locator.field("apiVersion"), Verdict::CannotTell, reason);
        item.identity = identity(object.value(), Namespace::None);
        return item;
    }
    let mut item = ask(object, old, release, now);
    let found = policies::findings(object.value(), &context.types, release);
    let has_error = |field: &str| item.errors.iter().any(|error| error.field.as_deref() == Some(field));
    let problem = |kind: &str, warning: &Warning| Problem {
        kind: kind.to_owned(),
        field: Some(warning.field.clone()),
        message: format!("{}: {}", warning.field, warning.text),
        location: Some(locator.field(&warning.field)),
        help: warning.help.clone(),
        ..Problem::default()
    };
    // An expression that does not compile for any type is already an error.
    let by_server = found.warnings.iter().filter(|warning| !has_error(&warning.field));
    let other_warnings = found.own_warnings.iter().filter(|warning| !has_error(&warning.field));
    let mut warnings: Vec<Problem> = by_server.map(|warning| problem("TypeChecking", warning)).collect();
    warnings.extend(other_warnings.map(|warning| problem("ExpressionType", warning)));
    warnings.extend(found.notes.iter().map(|note| Problem {
        kind: "NotTypeChecked".to_owned(),
        field: Some("spec.matchConstraints".to_owned()),
        message: note.clone(),
        location: Some(locator.field("spec.matchConstraints")),
        ..Problem::default()
    }));
    item.warnings.extend(warnings);
    item.warnings.extend(context.objects.check(object.value(), release).into_iter().map(|found| Problem {
        kind: found.kind.to_owned(),
        field: Some(found.field.to_owned()),
        message: format!("{}: {}", found.field, found.message),
        location: Some(locator.field(found.field)),
        help: found.help.map(str::to_owned),
        ..Problem::default()
    }));
    item
}

/// Returns the reason why the simulated server does not serve the object.
fn not_simulated(object: &Value, release: Release) -> Option<String> {
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    if api_version != "admissionregistration.k8s.io/v1" {
        return Some(format!("{api_version} is not simulated: only admissionregistration.k8s.io/v1 is"));
    }
    let too_old = kind.starts_with("Mutating") && !release.since(V1_36);
    too_old.then(|| format!("Kubernetes {release} does not serve {kind} in {api_version}"))
}

/// Sends the object to a server as kubectl would.
fn ask(object: &Object, old: Option<&Value>, release: Release, now: Timestamp) -> Item {
    let kind = object.value().str_at(&["kind"]).unwrap_or_default();
    let request_options = RequestOptions { level: FieldValidation::Strict, dry_run: true, table: false, now };
    let locator = object.finder();
    let identity = identity(object.value(), Namespace::None);
    let collection = format!("/apis/{}/v1/{}", crate::policies::GROUP, PolicyKind::resource_of(kind));
    let options = Server::builder(release, 0).created_at(now).without_managed_fields();
    let server = options.with_policies(Arc::new(Rules::allow_all()), Arc::default()).build();
    let mut value = object.value().clone();
    request::remove_server_metadata(&mut value);
    let Some(old) = old else {
        let server = server.validate_policies();
        let response = server.handle(&request::create(&collection, value, request_options));
        return read_policy_response(response, identity, &locator, &server);
    };
    let mut stored = old.clone();
    request::remove_server_metadata(&mut stored);
    let seeding = RequestOptions { level: FieldValidation::Ignore, dry_run: false, ..request_options };
    let seeded = server.handle(&request::create(&collection, stored, seeding));
    if seeded.code != 201 {
        let reason = format!("the old {kind} cannot be stored: the server answers {}", seeded.code);
        let mut item = Item::new(locator.start(), Verdict::CannotTell, reason);
        item.identity = identity;
        return item;
    }
    if let crate::server::ResponseBody::Json(seeded) = &seeded.body
        && let Some(revision) = seeded.at(&["metadata", "resourceVersion"])
        && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.insert("resourceVersion".to_owned(), revision.clone());
    }
    let server = server.validate_policies();
    let path = request::object(&collection, &identity.name);
    let by = "fieldManager=kubectl-replace";
    let request = request::write(Method::Put, &path, "application/json", by, value, request_options);
    let mut item = read_policy_response(server.handle(&request), identity, &locator, &server);
    item.action = Action::Update;
    item
}
