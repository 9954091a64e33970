//! What kubectl checks before it sends an item of a list: it validates lists against the schemas that the server publishes
//! (`k8s.io/kubectl/pkg/validation`), decodes them, finds their kind, and unfolds them (`k8s.io/cli-runtime/pkg/resource`).

use super::{OrderedState, Simulator};
use crate::documents::lists::is_list;
use crate::documents::refusal;
use crate::kubectl::FieldValidation;
use crate::kubectl::client_schema::{self, Budget, SchemaError};
use crate::report::{Diagnostic, ObjectReport, ServerResponse, Verdict};
use crate::simulation::identity::{self, FieldLocator, Namespace};
use crate::simulation::kubectl_errors;
use crate::simulation::object::{Kind, Object};
use crdx_text::{Position, Syntax};
use crdx_types::groups;
use crdx_types::resources;
use crdx_value::group_version::api_version;
use crdx_value::json::go_kind;
use crdx_value::{Value, quote};

const HELP: &str = "kubectl checks a list before it sends one of its items, so it sends none of them";

/// The result of kubectl's checks.
#[derive(Debug)]
pub enum ListChecks {
    /// The document is no list.
    NoList,
    /// kubectl sends the items.
    Items,
    /// The result depends on CRDs of these kinds, which may follow.
    Unknown(Vec<Kind>),
    /// kubectl sends no item; if `stops` is true, it does not read what follows in the file.
    Refused {
        /// The error.
        item: Box<ObjectReport>,
        /// True after an error of validation.
        stops: bool,
    },
}

/// Returns true if a document may be a list. Most documents are not.
pub(crate) fn may_be_list(value: &Value) -> bool {
    value.get("items").is_some() || value.str_at(&["kind"]).is_some_and(|kind| kind.ends_with("List"))
}

/// Checks a document. `complete` is true if no CRD follows.
pub fn check(simulator: &Simulator, known: &mut OrderedState, object: &Object, complete: bool) -> ListChecks {
    let value = object.value();
    let Ok(kind) = object.kind() else { return ListChecks::NoList };
    let is_list = is_list(value);
    let mut list = ExpandedList { simulator, known, object, kind, budget: Budget::default() };
    if !is_list && (list.is_resource(&list.kind) || !list.has_model()) {
        return ListChecks::NoList;
    }
    if !complete {
        let unknown = list.unknown_kinds();
        if !unknown.is_empty() {
            return ListChecks::Unknown(unknown);
        }
    }
    let errors = list.schema_errors();
    if !errors.is_empty() {
        return ListChecks::Refused { item: Box::new(list.invalid(errors)), stops: true };
    }
    if !is_list {
        return ListChecks::NoList;
    }
    let item = list.undecodable().or_else(|| list.unmapped()).or_else(|| list.nested());
    item.map_or(ListChecks::Items, |item| ListChecks::Refused { item: Box::new(item), stops: false })
}

struct ExpandedList<'a> {
    simulator: &'a Simulator,
    known: &'a mut OrderedState,
    object: &'a Object,
    kind: Kind,
    budget: Budget,
}

fn error(field: impl Into<String>, message: impl Into<String>) -> SchemaError {
    SchemaError { field: field.into(), message: message.into(), is_unknown: false }
}

impl ExpandedList<'_> {
    fn items(&self) -> Option<&[Value]> {
        self.object.value().get("items").and_then(Value::as_array)
    }

    fn is_v1_list(&self) -> bool {
        let (group, version, kind) = &self.kind;
        group.is_empty() && version == "v1" && kind == "List"
    }

    fn minor(&self) -> u32 {
        self.simulator.server.release().emulated().number().into()
    }

    /// Returns true if kubectl sends objects of a kind, so that the server validates them.
    fn is_resource(&self, kind: &Kind) -> bool {
        let of = api_version(&kind.0, &kind.1);
        self.known.knows(kind) || resources::of_kind(&of, &kind.2, self.minor()).is_some()
    }

    fn has_model(&mut self) -> bool {
        self.is_v1_list() || self.known.model(self.simulator, self.object.document.root(), &self.kind).is_some()
    }

    /// The kinds whose CRDs decide about the list.
    fn unknown_kinds(&self) -> Vec<Kind> {
        let (group, version, kind) = &self.kind;
        let own = match kind.strip_suffix("List") {
            // The kinds of the items tell whether the group is served.
            Some("") => None,
            of => Some((group.clone(), version.clone(), of.unwrap_or(kind).to_owned())),
        };
        let of_items = (own.is_none()).then(|| self.items().unwrap_or_default().iter().filter_map(kind_of));
        let is_unknown = |kind: &Kind| !self.known.knows(kind) && !groups::is_built_in(&kind.0);
        let mut unknown: Vec<Kind> = own.into_iter().chain(of_items.into_iter().flatten()).filter(is_unknown).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// The errors of kubectl's validation (`paramVerifyingSchema`).
    fn schema_errors(&mut self) -> Vec<SchemaError> {
        let value = self.object.value();
        if self.simulator.settings.request_options.level != FieldValidation::Strict {
            return Vec::new();
        }
        if !self.is_v1_list() {
            let is_validated_by_server = self.is_resource(&self.kind);
            if is_validated_by_server {
                return Vec::new();
            }
            let mut errors = self.model_errors(&self.kind.clone(), value);
            errors.extend(self.double_keys());
            return errors;
        }
        let Some(items) = value.get("items").and_then(Value::as_array) else {
            return vec![error("items", "invalid object to validate")];
        };
        let mut errors = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let found = match object_kind(item) {
                Ok(kind) => self.model_errors(&kind, item),
                Err(errors) => errors,
            };
            errors.extend(found.into_iter().map(|found| {
                let dot = if found.field.is_empty() { "" } else { "." };
                SchemaError { field: format!("items[{index}]{dot}{}", found.field), ..found }
            }));
        }
        errors.extend(self.double_keys());
        errors
    }

    /// The first double key in the labels and in the annotations of a list (`NoDoubleKeySchema`). kubectl converts YAML to
    /// JSON before, where the last key wins.
    fn double_keys(&self) -> Vec<SchemaError> {
        let document = &self.object.document;
        if document.chunk.syntax != Syntax::Json || self.object.warnings.is_empty() {
            return Vec::new();
        }
        let duplicates = document.chunk.read().map(|contents| contents.duplicates).unwrap_or_default();
        let positions = document.field_positions();
        let first = |field: &str| {
            let members = document.value.at(&["metadata", field])?.as_object()?;
            let is_double = |start: &Position| duplicates.iter().any(|duplicate| duplicate.second == *start);
            let starts = members.keys().filter_map(|key| {
                let start = positions.locate(&format!("metadata.{field}[{key}]")).key?.start;
                Some((start, key)).filter(|(start, _)| is_double(start))
            });
            let (_, key) = starts.min()?;
            Some(error(format!("metadata.{field}[{key}]"), format!("duplicate key: {key}")))
        };
        ["labels", "annotations"].into_iter().filter_map(first).collect()
    }

    fn model_errors(&mut self, kind: &Kind, object: &Value) -> Vec<SchemaError> {
        let Some(model) = self.known.model(self.simulator, self.object.document.root(), kind) else {
            return Vec::new();
        };
        client_schema::validate(&model.definitions, &model.name, object, &kind.2, &mut self.budget)
    }

    /// The error of kubectl's decoder (`metadataValidatingDecoder`, `unstructuredJSONScheme`).
    fn undecodable(&self) -> Option<ObjectReport> {
        let value = self.object.value();
        let items = match value.get("items")? {
            Value::Array(items) => items.as_slice(),
            Value::Null => &[],
            other => {
                let go = go_kind(other);
                let text = format!(
                    "json: cannot unmarshal {go} into Go struct field decodeList.items of type []json.RawMessage"
                );
                return Some(self.not_decoded("items".to_owned(), &text));
            }
        };
        let wrong = items.iter().enumerate().find(|(_, item)| !item.is_null() && item.as_object().is_none());
        if let Some((index, item)) = wrong {
            let text =
                format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", go_kind(item));
            return Some(self.not_decoded(format!("items[{index}]"), &text));
        }
        let refusal = kubectl_errors::metadata_error(value.get("metadata")?)?;
        Some(self.not_decoded(refusal.path.unwrap_or_default(), &refusal.error))
    }

    fn not_decoded(&self, field: String, text: &str) -> ObjectReport {
        let message = |source: &str| format!("unable to decode {}: {text}", quote::go_quote(source));
        self.refused(&[error(field, text)], message)
    }

    /// The item of a list for which kubectl finds no resource (`NewDiscoveryRESTMapper`).
    fn unmapped(&mut self) -> Option<ObjectReport> {
        let (group, version, kind) = &self.kind;
        let of = api_version(group, version);
        let base = kind.strip_suffix("List").unwrap_or(kind).to_owned();
        let is_served = |kind: &str| {
            let route = self.known.definitions().route(group, kind);
            route.is_some_and(|route| route.versions.contains(version))
                || resources::of_kind(&of, kind, self.minor()).is_some()
        };
        let has_version = || {
            (group.is_empty() && version == "v1")
                || resources::has_version(&of, self.minor())
                || self.known.definitions().has_version(group, version)
        };
        if is_served(kind) || (base.is_empty() && has_version()) || (!base.is_empty() && is_served(&base)) {
            return None;
        }
        let mut object = self.object.clone();
        let own = identity::identity(object.value(), Namespace::Own);
        let kind = (group.clone(), version.clone(), base);
        let is_known = self.known.knows(&kind) || groups::is_built_in(group);
        let cluster = self.simulator.settings.cluster.as_ref();
        if is_known && cluster.is_none_or(|cluster| cluster.has_kind(&kind.0, &kind.2) == Ok(false)) {
            return Some(super::served::no_matches(&mut object, own, ""));
        }
        if is_known || kind.2.is_empty() {
            let reason = format!("it is not known whether the server serves {of}, the group and version of the list");
            let mut item = object.item(own, Verdict::CannotTell, reason);
            item.help = Some("kubectl finds a list of any group that the server serves: use apiVersion v1".to_owned());
            return Some(item);
        }
        Some(self.known.without_definition(self.simulator, object, &kind))
    }

    /// kubectl unfolds no list in a list (`FlattenListVisitor`).
    fn nested(&self) -> Option<ObjectReport> {
        let is_nested = |item: &Value| matches!(item.get("items"), Some(Value::Array(_)));
        let index = self.items()?.iter().position(is_nested)?;
        let message = "*unstructured.Unstructured is not a list: no Items field in this object";
        Some(self.refused(&[error(format!("items[{index}].items"), message)], |_| message.to_owned()))
    }

    /// The item of a list that is not valid.
    fn invalid(&self, mut errors: Vec<SchemaError>) -> ObjectReport {
        let mut seen = std::collections::HashSet::new();
        errors.retain(|error| seen.insert(error.message.clone()));
        if self.budget.is_spent {
            errors.push(error("", "more errors, which are not shown"));
        }
        let texts: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        self.refused(&errors, |source| refusal::invalid(source, &texts))
    }

    fn refused(&self, errors: &[SchemaError], message: impl FnOnce(&str) -> String) -> ObjectReport {
        let finder = self.object.finder();
        let mut item = ObjectReport::new(finder.start(), Verdict::Rejected, "");
        item.identity = identity::identity(self.object.value(), Namespace::Own);
        item.warnings.clone_from(&self.object.warnings);
        item.is_unsent = true;
        let message = message(refusal::name_of_source(&item.location.source));
        item.answer = Some(ServerResponse { code: 400, reason: "BadRequest".to_owned(), message });
        let problem = |error: &SchemaError| Diagnostic {
            kind: "BadRequest".to_owned(),
            field: Some(error.field.clone()).filter(|field| !field.is_empty()),
            message: error.message.clone(),
            location: Some(if error.is_unknown { finder.name(&error.field) } else { finder.field(&error.field) }),
            ..Diagnostic::default()
        };
        item.errors = errors.iter().map(problem).collect();
        if let Some(last) = item.errors.last_mut() {
            last.help = Some(HELP.to_owned());
        }
        item
    }
}

/// The group, version and kind of an item that has them.
fn kind_of(item: &Value) -> Option<Kind> {
    object_kind(item).ok()
}

/// The group, version and kind of an item.
fn object_kind(item: &Value) -> Result<Kind, Vec<SchemaError>> {
    refusal::object_kind(item)
        .map_err(|errors| errors.into_iter().map(|(field, message)| error(field, message)).collect())
}

/// Returns the error of an item of a list for which kubectl sends no request.
pub fn item_error(object: &mut Object) -> Option<ObjectReport> {
    object.document.item?;
    let value = object.value();
    let text = |key: &str| value.str_at(&[key]).filter(|text| !text.is_empty());
    let api_version = text("apiVersion").filter(|text| text.matches('/').count() < 2);
    let missing = match (text("kind"), api_version, text("apiVersion")) {
        (Some(_), Some(_), _) => None,
        (Some(_), None, None) => Some(("apiVersion", "apiVersion", "object has no apiVersion field")),
        _ => Some(("kind", "Kind", "object has no kind field ")),
    };
    let (field, code, message) = match missing {
        Some((field, name, reason)) => {
            let message = format!(
                "unable to get type info from the object \"*unstructured.Unstructured\": Object '{name}' is missing in '{reason}'"
            );
            (field, (400, "BadRequest"), message)
        }
        None if value.get("items").is_some() => {
            ("items", (422, "Invalid"), "resource name may not be empty".to_owned())
        }
        None => return None,
    };
    let own = identity::identity(value, Namespace::Own);
    let location = object.finder().field(field);
    let mut item = object.item(own, Verdict::Rejected, "");
    item.is_unsent = true;
    let (code, reason) = code;
    item.answer = Some(ServerResponse { code, reason: reason.to_owned(), message: message.clone() });
    let (kind, field, location) = (reason.to_owned(), Some(field.to_owned()), Some(location));
    item.errors = vec![Diagnostic { kind, field, message, location, ..Diagnostic::default() }];
    Some(item)
}
