//! Simulates the server's decoding of built-in kinds, the validation of many of them, and admission policies on them.

mod added;
mod admission;
pub mod classes;
mod policies;
mod size;

use super::admission::admitted;
use super::answer::read_response;
use super::built_in_server::{Updated, Write, WriteOptions};
use super::context::SimulationContext;
use super::existing::{ExistingObjects, Found, Lookup};
use super::hints::Hints;
use super::identity::{self, FieldLocator, Namespace};
use super::kubectl_errors;
use super::object::{Kind, Object};
use crate::cluster;
use classes::Class;
use crdx::kubectl::send as kubectl_send;
use crdx::kubectl::written_metadata::hide_bookkeeping;
use crdx::kubectl::{FieldValidation, Verb};
use crdx::report::{ASK_THE_CLUSTER, Action, Answer, Diagnostic, Identity, Located, ObjectReport, Verdict};
use crdx_builtin::validation;
use crdx_server::apply::client_side;
use crdx_server::server::{NamespaceState, Response};
use crdx_types::resources::{self, Resource};
use crdx_types::table::{self, KindRow};
use crdx_types::types::Types;
use crdx_types::{Decoded, Endpoint, Missing, Refusal, Strict, conforms, decode};
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::suggest;
use crdx_value::{Value, json, quote};
use std::collections::BTreeSet;

/// The hint after a requirement of the published schema.
const NOT_SIMULATED: &str = "the schema published by the server requires it; its own validation is not simulated";

/// The options for built-in kinds.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The simulated release.
    pub release: Release,
    /// The field validation of requests.
    pub level: FieldValidation,
    /// The kubectl command that sends the request.
    pub verb: Verb,
}

/// What earlier inputs create that an object depends on.
#[derive(Clone, Debug, Default)]
pub struct Created {
    /// True if an earlier input creates its namespace.
    pub namespace: bool,
    /// Its classes that earlier inputs create.
    pub classes: BTreeSet<Class>,
}

impl Rules {
    /// Returns N of Kubernetes 1.N.
    fn minor(self) -> u32 {
        self.release.minor().number().into()
    }
}

/// Decodes an object as the server does, in the form in which kubectl sends it, and lets policies evaluate it.
/// `earlier` is what earlier inputs create.
pub fn decode(
    rules: Rules,
    context: SimulationContext<'_>,
    mut object: Object,
    kind: &Kind,
    earlier: &Created,
) -> ObjectReport {
    let (group, version, kind) = kind;
    let own = identity::identity(object.value(), Namespace::Own);
    let api_version = api_version(group, version);
    let resource = resources::of_kind(&api_version, kind, rules.minor());
    // The kind of the resource differs if kubectl finds it in lower case.
    let kind = resource.map_or(kind.as_str(), |resource| resource.kind);
    let served = if resource.is_some() { Ok(true) } else { served_by_cluster(context, (group, version, kind)) };
    match served {
        Ok(true) => {}
        Ok(false) => return not_served(rules.release, own, object),
        Err(error) => {
            let mut item = object.item(own, Verdict::CannotTell, error.message);
            item.help = error.help;
            return item;
        }
    }
    let row = table::table().kind(&api_version, kind, rules.minor()).filter(|row| row.served);
    let Some(row) = row else {
        let reason = format!("Kubernetes {} has no type for it, but the cluster serves it", rules.release);
        let mut item = object.item(own, Verdict::CannotTell, reason);
        item.help = Some(ASK_THE_CLUSTER.to_owned());
        return item;
    };
    if group == crdx_server::policies::GROUP
        && let Some(resource) = resource
    {
        return policies::submit(rules.release, context, object, resource);
    }
    let namespace = if row.cluster { Namespace::None } else { Namespace::Or(context.namespace) };
    let identity = identity::identity(object.value(), namespace);
    let endpoint = Endpoint { group: group.clone(), version: version.clone(), kind: kind.to_owned() };
    let mut sent = object.take_value();
    // The patch of an update and policies depend on nulls.
    let written = (context.admission.is_some() || context.updates.existing.may_find()).then(|| sent.clone());
    // Any text of kubectl's last-applied annotation can be decoded.
    if rules.verb == Verb::Apply {
        client_side::drop_nulls(&mut sent);
    }
    let types = Types::of(rules.minor());
    let input_warnings = std::mem::take(&mut object.warnings);
    let locator = object.finder();
    let mut item = ObjectReport::new(locator.start(), Verdict::Decodes, "");
    item.warnings.extend(deprecation(row, &identity, rules.minor(), &locator));
    item.identity = identity;
    if let Some((code, reason, message)) = resource.and_then(|resource| not_allowed(resource, rules.verb)) {
        reject_with(&mut item, Answer { code, reason: reason.to_owned(), message: message.to_owned() });
        return item;
    }
    let plural = resources::plural(kind);
    let found = existing(context, rules, &item.identity, &plural);
    // The server that validates serves the resources of the default configuration only.
    let covered = resource.is_some() && is_covered(context, group, kind);
    let written_or_sent = written.as_ref().unwrap_or(&sent);
    let write = Write { identity: &item.identity, kind, plural: &plural, sent: written_or_sent, existing: None };
    let request_kind = &context.updates.request_kind;
    let options = WriteOptions {
        release: rules.release,
        request: context.request_options,
        kind: request_kind,
        admission: context.admission,
        namespace: context.namespace,
    };
    // An object that may exist is not validated as a new one.
    let creates = covered && matches!(found, Found::Nothing) && request_kind.may_create();
    // Most objects are decoded without findings, which can be told without their JSON.
    let has_findings = !creates || !is_plain(types, &api_version, kind, &sent);
    let body = has_findings.then(|| json::to_string(&sent) + "\n");
    if let Some(admission) = context.admission {
        context.built_in.prepare(admission, options, write.identity.namespace.as_deref());
    }
    read_limit_ranges(context, options, &write);
    let updated = match &found {
        Found::Object(existing, _) => context.built_in.update(options, &Write { existing: Some(existing), ..write }),
        _ => Updated::Unknown,
    };
    match updated {
        _ if body.as_ref().is_some_and(|body| size::reject_body(&mut item, body.as_bytes())) => {}
        Updated::Unchanged(object) => {
            item.action = Action::Unchanged;
            if covered {
                item.verdict = Verdict::Accepted;
                item.object = context.updates.compares.map(|_| Value::clone(&object));
                item.before = context.updates.compares.map(|_| object);
            }
        }
        Updated::Answered(outcome) => {
            let mut outcome = *outcome;
            let findings = outcome.response.trace.policies.take();
            item.before = outcome.before.filter(|_| covered && context.updates.compares.is_some());
            answered_update(&mut item, outcome.response, version, &locator);
            item.action = outcome.action;
            if covered {
                accept(&mut item, &sent, context);
            }
            admitted(&mut item, findings, context.admission);
        }
        Updated::NoPatch(reason) => {
            let message = format!("kubectl cannot compute the patch: {reason}");
            reject_with(&mut item, Answer { code: 400, reason: BAD_REQUEST.to_owned(), message });
        }
        // A server that answers has decoded the object.
        Updated::Unknown => match body.as_ref().map(|body| decode::decode(types, &endpoint, body.as_bytes())) {
            Some(Ok(decoded)) => decoded_item(&mut item, &decoded, rules, types, &locator),
            Some(Err(refusal)) => undecodable_item(&mut item, refusal, &locator),
            None => {}
        },
    }
    if item.verdict == Verdict::Decodes && item.identity.name.is_empty() {
        kubectl_errors::require_name(&mut item, rules.verb, &locator);
        // Objects that are not stored need no name.
        if item.verdict == Verdict::Decodes && !covered && resource.is_none_or(|resource| resource.readable) {
            kubectl_errors::require_name_of_create(&mut item, &locator);
        }
    }
    if !earlier.namespace && item.verdict == Verdict::Decodes && !matches!(found, Found::Object(..)) {
        check_namespace(&mut item, context, &plural, &found);
    }
    if creates && item.verdict == Verdict::Decodes {
        check_classes(&mut item, context, &sent, earlier);
    }
    if creates && item.verdict == Verdict::Decodes {
        let write = Write { identity: &item.identity.clone(), kind, plural: &plural, sent: &sent, existing: None };
        let annotated = body.is_some() || needs_annotation(context, &item.identity);
        let mut response = context.built_in.create(options, &write, annotated);
        let findings = response.trace.policies.take();
        answered_create(&mut item, response, version, &locator);
        accept(&mut item, &sent, context);
        admitted(&mut item, findings, context.admission);
    }
    if item.verdict == Verdict::Decodes {
        admission::leave_undecided(&mut item, context, &plural, &found);
    }
    if let Some(body) = body.filter(|_| matches!(item.verdict, Verdict::Decodes | Verdict::Accepted)) {
        size::check_stored(&mut item, &sent, body.as_bytes());
    }
    if item.verdict != Verdict::Accepted {
        item.object = None;
    }
    // Validation answers instead of the published schema.
    if covered && item.verdict != Verdict::Decodes {
        item.warnings.retain(|warning| warning.kind != PUBLISHED_SCHEMA);
    }
    item.warnings.extend(input_warnings);
    item
}

/// Returns true if an object is decoded without findings, and is far below the limits for its size.
fn is_plain(types: &'static Types, api_version: &str, kind: &str, object: &Value) -> bool {
    let is = |key: &str, value: &str| object.str_at(&[key]) == Some(value);
    let conforms = |id| conforms::conforms(types, id, object);
    is("apiVersion", api_version)
        && is("kind", kind)
        && types.of_kind(api_version, kind).is_some_and(conforms)
        && !json::is_longer_than(object, kubectl_send::SHORT)
}

/// Returns true if the answer to the create of a short object may depend on the last-applied annotation: if something
/// shows it, or if `kubectl apply` does not set it.
fn needs_annotation(context: SimulationContext<'_>, identity: &Identity) -> bool {
    let updates = context.updates;
    updates.request_kind.verb != Verb::Apply
        || identity.name.is_empty()
        || context.show_last_applied
        || context.admission.is_some()
        || updates.compares.is_some()
}

/// Returns true if the verdict on an object is the server's.
fn is_covered(context: SimulationContext<'_>, group: &str, kind: &str) -> bool {
    validation::covers(group, kind) && context.updates.request_kind.subresource.is_none()
}

/// Accepts an object whose validation reports no errors, and shows it with its defaults.
fn accept(item: &mut ObjectReport, sent: &Value, context: SimulationContext<'_>) {
    if item.verdict != Verdict::Decodes {
        return;
    }
    item.verdict = Verdict::Accepted;
    // A comparison hides these fields itself.
    if context.updates.compares.is_some() && item.action != Action::Create {
        return;
    }
    if let Some(object) = &mut item.object {
        hide_bookkeeping(object, context.show_last_applied);
        added::remove_generated(&item.identity.kind, object, sent);
        // An existing object has more than defaults.
        if item.action == Action::Create {
            item.defaulted = added::defaulted(object, sent);
        }
    }
}

/// Completes the item of a create that was sent.
fn answered_create(item: &mut ObjectReport, response: Response, version: &str, locator: &dyn FieldLocator) {
    // The server measures the length of JSON, and etcd that of Protobuf.
    if response.code == 500 {
        let reason = "with its defaults it may be too large for etcd".to_owned();
        (item.verdict, item.reason) = (Verdict::CannotTell, reason);
        item.help =
            Some("split the object, or ask the cluster without a dry run, which does not reach etcd".to_owned());
        return;
    }
    let identity = item.identity.clone();
    let answered = read_response(response, identity, locator, &Hints::of_schema(None, version));
    let is_new = |warning: &Diagnostic| !item.warnings.iter().any(|known| known.message == warning.message);
    let warnings: Vec<_> = answered.warnings.into_iter().filter(is_new).collect();
    item.warnings.extend(warnings);
    (item.answer, item.object) = (answered.answer, answered.object);
    if answered.verdict == Verdict::Rejected {
        (item.verdict, item.errors) = (Verdict::Rejected, answered.errors);
    }
}

/// Returns the existing object, if the request or a policy depends on it.
fn existing(context: SimulationContext<'_>, rules: Rules, identity: &Identity, plural: &str) -> Found {
    let reads = matches!(rules.verb, Verb::Apply | Verb::ServerSide | Verb::Replace);
    let is_matched = context.admission.is_some_and(|admission| admission.may_match(identity.group(), plural));
    if identity.name.is_empty() || !reads && !is_matched {
        return Found::Nothing;
    }
    let existing = &context.updates.existing;
    let found = match existing.ask(identity, plural) {
        Some(pending) => pending.wait(),
        None => existing.find(Lookup { identity, namespace: context.namespace }),
    };
    if let (Found::Error(error), ExistingObjects::Live(live)) = (&found, existing) {
        live.record_unreadable(plural, error);
    }
    found
}

/// Completes the item of an update that was sent.
fn answered_update(item: &mut ObjectReport, response: Response, version: &str, locator: &dyn FieldLocator) {
    let identity = item.identity.clone();
    let answered = read_response(response, identity, locator, &Hints::of_schema(None, version));
    item.warnings.extend(answered.warnings);
    item.pruned = answered.pruned;
    item.object = answered.object;
    if answered.verdict == Verdict::Rejected {
        (item.verdict, item.answer, item.errors) = (Verdict::Rejected, answered.answer, answered.errors);
    }
}

/// Rejects a new object whose namespace does not accept it.
fn check_namespace(item: &mut ObjectReport, context: SimulationContext<'_>, plural: &str, found: &Found) {
    let request_kind = &context.updates.request_kind;
    if !request_kind.may_create() {
        return;
    }
    let Some(namespace) = item.identity.namespace.clone() else { return };
    let state = context.namespace_state(Some(&namespace));
    let refusal = state.refusal(&namespace, (item.identity.group(), plural), &item.identity.name);
    let Some((code, reason, message)) = refusal else { return };
    // Objects in a namespace that is being deleted can still be updated.
    match found {
        Found::Error(error) if state == NamespaceState::Terminating => {
            (item.verdict, item.help) = (Verdict::CannotTell, error.help.clone());
            item.reason = format!("its namespace is being deleted, and the object cannot be read: {}", error.message);
        }
        _ => reject_with(item, Answer { code, reason, message }),
    }
}

/// Reads the limit ranges that apply to an object from the cluster.
fn read_limit_ranges(context: SimulationContext<'_>, options: WriteOptions<'_>, write: &Write<'_>) {
    let is_limited = write.identity.group().is_empty() && matches!(write.kind, "Pod" | "PersistentVolumeClaim");
    let (Some(namespace), ExistingObjects::Live(live)) = (&write.identity.namespace, &context.updates.existing) else {
        return;
    };
    if !is_limited || !live.is_configured() {
        return;
    }
    let (version, plural) = ("v1".to_owned(), "limitranges".to_owned());
    let ranges = cluster::Resource { version, plural, namespaced: true, ..cluster::Resource::default() };
    match live.list(&ranges.path(Some(namespace))) {
        Ok(list) => context.built_in.store_limit_ranges(options, namespace, &list),
        Err(error) => live.record_unreadable("limitranges", &error),
    }
}

/// Rejects a new object if the cluster does not have the classes that it names.
fn check_classes(item: &mut ObjectReport, context: SimulationContext<'_>, sent: &Value, earlier: &Created) {
    let ExistingObjects::Live(live) = &context.updates.existing else { return };
    if !live.is_configured() {
        return;
    }
    match classes::refusal(live, sent, &earlier.classes) {
        Ok(Some(answer)) => reject_with(item, answer),
        Ok(None) => {}
        Err((plural, error)) => live.record_unreadable(plural, &error),
    }
}

/// Returns true if the cluster serves a kind that its release does not serve by default.
fn served_by_cluster(context: SimulationContext<'_>, kind: (&str, &str, &str)) -> Result<bool, cluster::Error> {
    match context.cluster {
        Some(live) if live.is_configured() => live.serves(kind),
        _ => Ok(false),
    }
}

/// Returns the answer to a request that no object of a resource allows: code, reason and message.
fn not_allowed(resource: &Resource, verb: Verb) -> Option<(u16, &'static str, &'static str)> {
    let replaces = matches!(verb, Verb::Replace | Verb::ServerSide);
    if !resource.writable {
        let message = "the server does not allow this method on the requested resource";
        Some((405, "MethodNotAllowed", message))
    } else if !resource.readable && replaces {
        Some((404, "NotFound", "the server could not find the requested resource"))
    } else {
        None
    }
}

/// Rejects an object with an answer that names no field.
fn reject_with(item: &mut ObjectReport, answer: Answer) {
    item.verdict = Verdict::Rejected;
    item.errors = vec![Diagnostic {
        kind: answer.reason.clone(),
        message: answer.message.clone(),
        location: Some(item.location.clone()),
        ..Diagnostic::default()
    }];
    item.answer = Some(answer);
}

/// The kind of an unmet requirement of the published schema.
const PUBLISHED_SCHEMA: &str = "PublishedSchema";

const BAD_REQUEST: &str = "BadRequest";

fn reject(item: &mut ObjectReport, message: String, errors: Vec<Diagnostic>) {
    item.verdict = Verdict::Rejected;
    item.answer = Some(Answer { code: 400, reason: BAD_REQUEST.to_owned(), message });
    item.errors = errors;
}

/// Completes the item of an object that cannot be decoded.
fn undecodable_item(item: &mut ObjectReport, refusal: Refusal, locator: &dyn FieldLocator) {
    let location = refusal.path.as_deref().map_or_else(|| locator.start(), |path| locator.field(path));
    let Refusal { message, path: field, .. } = refusal;
    let kind = BAD_REQUEST.to_owned();
    let problem =
        Diagnostic { kind, field, message: message.clone(), location: Some(location), ..Diagnostic::default() };
    reject(item, message, vec![problem]);
}

/// Completes the item of a decoded object, with or without strict errors.
fn decoded_item(
    item: &mut ObjectReport,
    decoded: &Decoded,
    rules: Rules,
    types: &'static Types,
    locator: &dyn FieldLocator,
) {
    let unknown = decoded.strict.iter().filter(|strict| !strict.duplicate);
    item.pruned = unknown
        .map(|s| Located { path: s.path.clone(), location: Some(locator.name(&s.path)), releases: None })
        .collect();
    let problems = |kind: &str| -> Vec<Diagnostic> {
        let problem = |strict: &Strict| Diagnostic {
            kind: kind.to_owned(),
            field: Some(strict.path.clone()),
            message: strict.error().to_string(),
            location: Some(locator.name(&strict.path)),
            help: hint(types, strict),
            ..Diagnostic::default()
        };
        decoded.strict.iter().map(problem).collect()
    };
    let refusal = match rules.level {
        FieldValidation::Strict => decoded.strictly(),
        FieldValidation::Warn | FieldValidation::Ignore => decoded.leniently(),
    };
    match (refusal, rules.level) {
        (Some(refusal), FieldValidation::Strict) if !decoded.strict.is_empty() => {
            return reject(item, refusal.message, problems(BAD_REQUEST));
        }
        (Some(refusal), _) => {
            let (message, field) = (refusal.message.clone(), refusal.path);
            let location = field.as_deref().map(|path| locator.field(path));
            return reject(
                item,
                refusal.message,
                vec![Diagnostic { kind: BAD_REQUEST.to_owned(), field, message, location, ..Diagnostic::default() }],
            );
        }
        (None, FieldValidation::Warn) => item.warnings.extend(problems("Warning")),
        (None, _) => {}
    }
    // The server resets the status on create and update.
    let in_status = |missing: &&Missing| path_of(missing).split(['.', '[']).next() == Some("status");
    let missing: Vec<_> = decoded.missing.iter().filter(|m| !in_status(m)).map(|m| requirement(m, locator)).collect();
    item.warnings.extend(missing);
}

fn path_of(missing: &Missing) -> &str {
    match missing {
        Missing::Field { object, .. } => object,
        Missing::Value { path, .. } => path,
    }
}

/// A requirement of the published schema that an object does not meet.
fn requirement(missing: &Missing, locator: &dyn FieldLocator) -> Diagnostic {
    let (path, message, location, help) = match missing {
        Missing::Field { object, field } => {
            let path = if object.is_empty() { (*field).to_owned() } else { format!("{object}.{field}") };
            let location = locator.field(&path);
            let message = format!("{path}: Required value: {NOT_SIMULATED}");
            (path, message, location, None)
        }
        Missing::Value { path, value, allowed } => {
            let help = suggest::closest(value, allowed.iter().copied()).map(suggest::did_you_mean);
            let allowed: Vec<_> = allowed.iter().map(|one| quote::go_quote(one)).collect();
            let (value, allowed) = (quote::go_quote(value), allowed.join(", "));
            let message = format!("{path}: Unsupported value: {value}: supported values: {allowed}: {NOT_SIMULATED}");
            (path.clone(), message, locator.field(path), help)
        }
    };
    Diagnostic {
        kind: PUBLISHED_SCHEMA.to_owned(),
        field: Some(path),
        message,
        location: Some(location),
        help,
        ..Diagnostic::default()
    }
}

/// Returns a hint for an unknown field: the releases that have it, or a similar name.
fn hint(types: &'static Types, strict: &Strict) -> Option<String> {
    let id = strict.type_.filter(|_| !strict.duplicate)?;
    let field = &strict.field;
    match types.releases_with(id, field) {
        Some(releases) if *releases.start() > types.release() => {
            Some(format!("`{field}` exists since Kubernetes 1.{}", releases.start()))
        }
        Some(releases) => Some(format!("`{field}` existed until Kubernetes 1.{}", releases.end())),
        None => suggest::closest(field, types.field_names(id)).map(suggest::did_you_mean),
    }
}

/// Returns the server's warning about a deprecated version (`deprecation.WarningMessage`).
fn deprecation(row: &KindRow, identity: &Identity, release: u32, locator: &dyn FieldLocator) -> Option<Diagnostic> {
    let deprecated = row.deprecated?;
    if minor(deprecated).is_none_or(|since| since > release) {
        return None;
    }
    let mut message = format!("{} {} is deprecated in v{deprecated}+", identity.api_version, identity.kind);
    if let Some(removed) = row.removed {
        message = format!("{message}, unavailable in v{removed}+");
    }
    if let Some((api_version, kind)) = row.instead.and_then(|instead| instead.rsplit_once('/')) {
        message = format!("{message}; use {api_version} {kind}");
    }
    let location = Some(locator.field("apiVersion"));
    Some(Diagnostic {
        kind: "Warning".to_owned(),
        field: Some("apiVersion".to_owned()),
        message,
        location,
        ..Diagnostic::default()
    })
}

/// Returns N of `1.N`.
fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("1.")?.parse().ok()
}

/// Returns the item of a kind that no API server of the release serves without configuration: kubectl sends no request.
pub fn not_served(release: Release, identity: Identity, mut object: Object) -> ObjectReport {
    let (api_version, kind) = (&identity.api_version, &identity.kind);
    let minor: u32 = release.minor().number().into();
    let served = resources::versions_of_kind(identity.group(), kind, minor);
    let rows = table::table().rows(api_version, kind);
    let later = rows.iter().find(|row| row.served && *row.releases.start() > minor);
    let own = rows.iter().find(|row| row.releases.contains(&minor));
    let instead = match (served.as_slice(), own, later) {
        ([], Some(row), _) if row.served && !resources::has_version(api_version, minor) => {
            format!("; Kubernetes {release} serves it only with --runtime-config={api_version}=true")
        }
        // The kind is the body of a subresource or of no resource; removed kinds are in the table.
        ([], Some(row), None) if row.removed.is_none() => "; no resource has objects of this kind".to_owned(),
        ([], _, None) => other_kinds(identity.group(), kind, minor),
        ([], _, Some(row)) => format!("; it exists since Kubernetes 1.{}", row.releases.start()),
        (served, ..) => format!("; Kubernetes {release} serves it as {}", served.join(", ")),
    };
    no_matches(&mut object, identity, &instead)
}

/// Returns the item of a kind for which kubectl finds no resource. `advice` continues kubectl's text.
pub fn no_matches(object: &mut Object, identity: Identity, advice: &str) -> ObjectReport {
    let message = format!("no matches for kind \"{}\" in version \"{}\"", identity.kind, identity.api_version);
    let location = object.finder().field("apiVersion");
    let mut item = object.item(identity, Verdict::Rejected, "");
    item.answer = Some(Answer { code: 404, reason: "NotFound".to_owned(), message: "404 page not found".to_owned() });
    item.errors.push(Diagnostic {
        kind: "NotFound".to_owned(),
        field: Some("apiVersion".to_owned()),
        message,
        location: Some(location),
        help: Some(format!("ensure CRDs are installed first{advice}")),
        ..Diagnostic::default()
    });
    item
}

/// Suggests kinds of the group with a similar name.
fn other_kinds(group: &str, kind: &str, release: u32) -> String {
    let kinds = resources::kinds(group, release);
    match suggest::closest(kind, kinds.iter().copied()) {
        Some(close) => format!("; {}", suggest::did_you_mean(close)),
        None if kinds.is_empty() => String::new(),
        None => format!("; the kinds of this group are {}", kinds.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_other_releases_and_misspelt_ones_are_explained() {
        let body = br#"{"apiVersion":"v1","kind":"Pod","spec":{"replics":1,"containers":[
            {"restartPolicyRules":[],"imagee":"x","image":"x","image":"y"}]}}"#;
        let endpoint = Endpoint { group: String::new(), version: "v1".to_owned(), kind: "Pod".to_owned() };
        let types = Types::of(31);
        let decoded = decode::decode(types, &endpoint, body).unwrap();
        let hints: Vec<_> = decoded.strict.iter().map(|strict| hint(types, strict)).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            hints,
            [None, text("`restartPolicyRules` exists since Kubernetes 1.34"), text("did you mean `image`?"), None]
        );
    }
}
