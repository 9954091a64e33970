//! Kinds that a release does not serve, and warnings about versions that it will not serve.

use super::identity::FieldLocator;
use super::object::Object;
use crate::report::{Diagnostic, Identity, ObjectReport, ServerResponse, Verdict};
use crdx_types::{resources, table};
use crdx_value::release::Release;
use crdx_value::suggest;

/// Returns the server's warning about a deprecated version.
#[cfg(feature = "simulator")]
pub fn deprecation(
    row: &table::KindRow,
    identity: &Identity,
    release: u32,
    locator: &dyn FieldLocator,
) -> Option<Diagnostic> {
    let message = row.deprecation_warning(&identity.api_version, &identity.kind, release)?;
    let location = Some(locator.field("apiVersion"));
    Some(Diagnostic {
        kind: "Warning".to_owned(),
        field: Some("apiVersion".to_owned()),
        message,
        location,
        ..Diagnostic::default()
    })
}

/// Returns the item of a kind that no API server of the release serves without configuration: kubectl sends no request.
pub(crate) fn not_served(release: Release, identity: Identity, object: &mut Object) -> ObjectReport {
    let (api_version, kind) = (&identity.api_version, &identity.kind);
    let minor: u32 = release.emulated().number().into();
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
    no_matches(object, identity, &instead)
}

/// Returns the item of a kind for which kubectl finds no resource. `advice` continues kubectl's text.
pub(crate) fn no_matches(object: &mut Object, identity: Identity, advice: &str) -> ObjectReport {
    let message = format!("no matches for kind \"{}\" in version \"{}\"", identity.kind, identity.api_version);
    let location = object.finder().field("apiVersion");
    let mut item = object.item(identity, Verdict::Rejected, "");
    item.is_unsent = true;
    item.answer =
        Some(ServerResponse { code: 404, reason: "NotFound".to_owned(), message: "404 page not found".to_owned() });
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
