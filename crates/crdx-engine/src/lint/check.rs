//! `lint`: sends one CRD to a separate server, as a new CRD or as an update of the old one. [`policy`] does the same with
//! admission policies.

pub mod policy;

use crate::documents::manifest_path;
use crate::kubectl::FieldValidation;
use crate::kubectl::request::{self, RequestOptions};
use crate::lint::breaking;
use crate::lint::breaking::evidence::{Evidence, LocatedChange};
use crate::lint::costs::{self, SchemaCost};
use crate::lint::faults;
use crate::lint::lost_fields::lost_fields;
use crate::lint::{formats, policies};
use crate::report::{Action, Diagnostic, ObjectReport, ServerResponse, SourceLocation, Verdict, merged};
use crate::search::faults::FaultEffort;
use crate::simulation::answer::read_definition_response;
use crate::simulation::identity::{FieldLocator, Namespace, identity};
use crate::simulation::object::Object;
use crate::simulation::removed_versions::RemovedVersions;
use crdx_server::crd::{self, CustomResourceDefinition, Spec, conditions, validation};
use crdx_server::server::{ResponseBody, Server, Timestamp};
use crdx_value::release::{Release, ReleaseSet};
use crdx_value::{Value, quote};

/// An existing CRD or policy.
#[derive(Clone, Debug)]
pub struct Old {
    /// The object.
    pub value: Value,
    /// Its source location.
    pub location: SourceLocation,
}

/// The findings about a CRD, a policy or a binding.
#[derive(Debug)]
pub struct Linted {
    /// The server's response.
    pub item: ObjectReport,
    /// The schemas with rules, and the source location of each expression.
    pub costs: Vec<(SchemaCost, Vec<SourceLocation>)>,
    /// The breaking changes.
    pub breaking: Vec<LocatedChange>,
    /// The expressions of a policy, and the source location of each.
    pub expressions: Vec<(policies::ExpressionCost, SourceLocation)>,
}

impl Linted {
    /// Creates a result with the server's response only.
    pub fn new(item: ObjectReport) -> Self {
        Self { item, costs: Vec::new(), breaking: Vec::new(), expressions: Vec::new() }
    }
}

/// Checks a CRD on each of `releases`, as an update of `old` if there is one. With an effort, faults of a CRD that the server
/// accepts are searched for, too.
pub fn definition(
    new: &Object,
    old: Option<&Old>,
    (releases, now): (&ReleaseSet, Timestamp),
    effort: Option<FaultEffort>,
) -> Linted {
    let locator = new.finder();
    let decode = || crd::decode(new.value()).ok().map(|decoded| decoded.crd);
    let beta_crd = if is_beta(new.value()) { decode() } else { None };
    let ask = |release| match &beta_crd {
        Some(crd) => beta(new, crd.clone(), release),
        None => ask(new, old, release, now),
    };
    let answers: Vec<(Release, ObjectReport)> = releases.iter().map(|release| (release, ask(release))).collect();
    let no_release = || ObjectReport::new(locator.start(), Verdict::CannotTell, "no Kubernetes version to simulate");
    let mut item = merged(answers).unwrap_or_else(no_release);
    item.warnings.extend(new.warnings.iter().cloned());
    let mut linted = Linted::new(item);
    let prepared = beta_crd.map(|mut crd| {
        crd::strategy::prepare_create(&mut crd, releases.newest());
        crd
    });
    // A v1 CRD is decoded only now, because the servers need as much memory.
    let Some(typed) = prepared.or_else(decode) else { return linted };
    let located = |path: &str| locator.field(path);
    for cost in costs::costs(&typed.spec, releases) {
        let locations: Vec<SourceLocation> = cost.expressions.iter().map(|one| located(&one.crd_field)).collect();
        explain(&mut linted.item.errors, &cost, &typed.spec);
        linted.costs.push((cost, locations));
    }
    linted.item.warnings.extend(formats::ignored(&typed.spec, releases).into_iter().map(|one| Diagnostic {
        kind: "Format".to_owned(),
        field: Some(one.crd_field.clone()),
        message: format!("format {} is ignored before Kubernetes {}", quote::go_quote(&one.format), one.since),
        location: Some(located(&one.crd_field)),
        releases: releases.single().is_none().then_some(one.by),
        ..Diagnostic::default()
    }));
    linted.item.warnings.extend(lost_fields(&typed.spec).into_iter().map(|one| Diagnostic {
        kind: "LostField".to_owned(),
        message: one.message,
        location: Some(located(&one.crd_field)),
        field: Some(one.crd_field),
        ..Diagnostic::default()
    }));
    linted.item.warnings.extend(typed.spec.unservable_version().map(|index| {
        let field = format!("spec.versions[{index}].schema.openAPIV3Schema.items");
        Diagnostic {
            kind: "Unservable".to_owned(),
            message:
                "the server accepts this CRD but cannot serve its objects: remove the default from items of the root"
                    .to_owned(),
            location: Some(located(&field)),
            field: Some(field),
            ..Diagnostic::default()
        }
    }));
    if let Some(old) = old.and_then(|old| crd::decode(&old.value).ok()) {
        let changes = breaking::changes(&old.crd.spec, &typed.spec);
        let located = |change: breaking::BreakingChange| LocatedChange {
            location: located(&change.crd_field),
            change,
            evidence: Evidence::NotSearched,
            known: None,
        };
        linted.breaking = changes.into_iter().map(located).collect();
    }
    if let Some(effort) = effort.filter(|_| linted.item.verdict == Verdict::Accepted) {
        let costs = linted.costs.iter().map(|(cost, _)| cost);
        linted.item.warnings.extend(faults::found(&typed, costs, &locator, (releases.newest(), effort)));
    }
    linted
}

/// Adds the releases that an expression needs to errors about it, if some other release compiles it. Versions of the
/// CRD may share a schema, and the server reports an error for each version.
fn explain(errors: &mut [Diagnostic], cost: &SchemaCost, spec: &Spec) {
    for one in &cost.expressions {
        let (Some(needs), Some((_, own))) = (&one.needs, in_version(&one.crd_field)) else { continue };
        for error in errors.iter_mut().filter(|error| error.help.is_none()) {
            let field = manifest_path::of_internal(error.field.as_deref().unwrap_or_default());
            let Some((index, path)) = in_version(&field) else { continue };
            if path == own && spec.versions.get(index).is_some_and(|version| cost.versions.contains(&version.name)) {
                error.help = Some(needs.text());
            }
        }
    }
}

/// Returns the index of a version and the path in it: `spec.versions[2].schema…` gives 2 and `.schema…`.
fn in_version(field: &str) -> Option<(usize, &str)> {
    let (index, path) = field.strip_prefix("spec.versions[")?.split_once(']')?;
    Some((index.parse().ok()?, path))
}

fn is_beta(crd: &Value) -> bool {
    crd.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1beta1")
}

/// Sends the CRD to a server as kubectl would.
fn ask(new: &Object, old: Option<&Old>, release: Release, now: Timestamp) -> ObjectReport {
    let request_options = RequestOptions { level: FieldValidation::Strict, dry_run: true, table: false, now };
    let locator = new.finder();
    let identity = identity(new.value(), Namespace::None);
    let server = Server::builder(release, 0).without_managed_fields().build();
    let mut value = new.value().clone();
    request::remove_cluster_state(&mut value);
    let Some(old) = old else {
        let create = request::create(request::DEFINITIONS, value, request_options);
        return read_definition_response(server.handle_owned(create), identity, &locator, release);
    };
    if let Err(error) = server.seed_definition(&old.value, now) {
        let reason = format!("the old CRD cannot be read: {error}");
        let mut item = ObjectReport::new(old.location.clone(), Verdict::CannotTell, reason);
        item.identity = identity;
        return item;
    }
    let path = request::object(request::DEFINITIONS, &identity.name);
    let stored = server.handle(&request::read(&path, request_options));
    let stored = match &stored.body {
        ResponseBody::Json(stored) => Some(&**stored),
        ResponseBody::Text(_) => None,
    };
    let request = request::replace(&path, value, stored, Some("kubectl-replace"), request_options);
    let mut item = read_definition_response(server.handle(&request), identity, &locator, release);
    item.action = Action::Update;
    RemovedVersions::between(&old.value, new.value()).complete(&mut item);
    item
}

/// Checks a v1beta1 CRD. Current servers refuse to create it, so the result is how the release treats a stored one.
fn beta(new: &Object, mut crd: CustomResourceDefinition, release: Release) -> ObjectReport {
    let locator = new.finder();
    let mut item = ObjectReport::new(locator.start(), Verdict::Rejected, "");
    item.identity = identity(new.value(), Namespace::None);
    let message = "no matches for kind \"CustomResourceDefinition\" in version \"apiextensions.k8s.io/v1beta1\"";
    item.answer = Some(ServerResponse { code: 404, reason: "NotFound".to_owned(), message: message.to_owned() });
    item.errors.push(Diagnostic {
        kind: "NotFound".to_owned(),
        field: Some("apiVersion".to_owned()),
        message: format!("{message}: Kubernetes 1.22 and later take v1 (lint --convert prints it)"),
        location: Some(locator.field("apiVersion")),
        ..Diagnostic::default()
    });
    let location_of = |path: &str| {
        // In v1beta1, the field may be at the top level.
        let unversioned = path.strip_prefix("spec.versions[0].schema").map(|rest| format!("spec.validation{rest}"));
        let is_unversioned = new.value().at(&["spec", "validation"]).is_some();
        locator.field(unversioned.filter(|_| is_unversioned).as_deref().unwrap_or(path))
    };
    crd::strategy::prepare_create(&mut crd, release);
    let problem = |kind: &str, field: &str, message: String| Diagnostic {
        kind: kind.to_owned(),
        field: Some(field.to_owned()),
        message,
        location: Some(location_of(field)),
        ..Diagnostic::default()
    };
    for error in validation::validate_existing(&crd, release) {
        item.errors.push(problem(error.kind.reason(), &error.field, error.to_string()));
    }
    match conditions::structural_errors(&crd.spec, release) {
        Ok(errors) => {
            for structural_error in errors {
                item.warnings.push(problem(
                    "NonStructuralSchema",
                    &structural_error.field,
                    structural_error.to_string(),
                ));
            }
        }
        Err(reason) => item.warnings.push(problem("NonStructuralSchema", "spec.validation", reason.into())),
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{self, InputEntry};

    #[test]
    fn every_version_with_the_schema_is_explained() {
        let version = |name: &str, storage: bool| {
            format!(
                "  - {{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, properties: {{ip: {{type: string, x-kubernetes-validations: [{{rule: isIP(self)}}]}}}}}}}}}}\n"
            )
        };
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: as.example.com}}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {{plural: as, kind: A}}\n  versions:\n{}{}{}",
            version("v1", true),
            version("v2", false),
            "  - {name: v3, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n"
        );
        let Some(InputEntry::Document(document)) = documents::read("crd.yaml", &text).into_iter().next() else {
            panic!()
        };
        let object = Object { document, warnings: Vec::new() };
        let linted = definition(&object, None, (&"1.30..1.31".parse().unwrap(), Timestamp::default()), None);
        let help: Vec<_> = linted.item.errors.iter().map(|error| error.help.as_deref()).collect();
        assert_eq!(help, [Some("`isIP` needs Kubernetes 1.31"); 2]);
        assert_eq!(linted.item.verdicts().len(), 2);
    }
}
