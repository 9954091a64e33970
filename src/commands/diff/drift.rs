//! `diff --drift`: the fields of each manifest that differ from the stored object after each apply, and the manifest without them.

use super::accepted;
use crate::commands::external_diff::file_name;
use crdx_engine::report::drift::{DriftKind, DriftedField, ListComparison, drift};
use crdx_engine::report::{Action, FieldPattern, ObjectReport};
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::{difference, printable};
use crdx_text::yaml;
use crdx_types::groups;
use crdx_value::{Map, Value, json, object};

/// The longest value that a line shows, in bytes.
const LONGEST: usize = 80;

/// The differences of an object.
pub struct ObjectDrift {
    manifest: Value,
    fields: Vec<DriftedField>,
    canonical: Value,
}

impl ObjectDrift {
    /// Compares the manifest of an accepted object with what is stored, without the `ignored` fields; `None` if nothing differs.
    pub fn of(item: &ObjectReport, ignored: &[FieldPattern]) -> Option<Self> {
        let (mut stored, mut manifest) = (accepted(item)?.clone(), item.sent.clone()?);
        for object in [&mut stored, &mut manifest] {
            for field in ignored {
                field.remove(object);
            }
            // The data of a Secret is not shown, and tools know that `stringData` becomes `data`.
            if let Some(members) = object.as_object_mut().filter(|_| item.identity.kind == "Secret") {
                members.retain(|name, _| !matches!(name.as_str(), "data" | "stringData"));
            }
        }
        let is_built_in = groups::is_built_in(item.identity.group());
        let lists = if is_built_in { ListComparison::Items } else { ListComparison::Whole };
        let (fields, canonical) = drift(&manifest, &stored, lists);
        (!fields.is_empty()).then_some(Self { manifest, fields, canonical })
    }

    /// Formats the fields, the change of the manifest that avoids them, and what to ignore instead.
    pub fn text(&self, item: &ObjectReport, color: bool) -> String {
        let n = self.fields.len();
        let fields = if n == 1 { "1 field differs".to_owned() } else { format!("{n} fields differ") };
        let mut text = format!("{} ({}): {fields} after each apply\n", printable::line(&item.called()), item.location);
        for field in &self.fields {
            text.extend(["  ", &*printable::line(&sentence(field)), "\n"]);
        }
        let name = file_name(&item.identity);
        let names = (format!("MANIFEST/{name}"), format!("CANONICAL/{name}"));
        text.push_str(&difference::lines((&names.0, &self.manifest), (&names.1, &self.canonical), color));
        if let Some(ignored) = self.to_ignore(item) {
            text.push_str("A policy sets these fields; Argo CD ignores them with:\n");
            text.push_str(&yaml::write::to_string(&object([("ignoreDifferences", Value::from(vec![ignored]))])));
        }
        text
    }

    /// Returns the entry of `ignoreDifferences` of Argo CD for the fields that policies set, which no manifest avoids for all
    /// clusters.
    fn to_ignore(&self, item: &ObjectReport) -> Option<Value> {
        let set: Vec<&str> =
            item.admission.iter().flat_map(|admission| admission.set()).map(|(path, _)| path).collect();
        let is_below = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
        let is_set = |field: &&DriftedField| set.iter().any(|path| field.path.strip_prefix(path).is_some_and(is_below));
        let pointers: Vec<Value> = self.fields.iter().filter(is_set).map(|field| field.pointer().into()).collect();
        if pointers.is_empty() {
            return None;
        }
        let identity = &item.identity;
        let members = [
            ("group", identity.group().to_owned()),
            ("kind", identity.kind.clone()),
            ("namespace", identity.namespace.clone().unwrap_or_default()),
            ("name", identity.name.clone()),
        ];
        let named = members.into_iter().filter(|(_, text)| !text.is_empty());
        let mut entry: Map = named.map(|(key, text)| (key.to_owned(), text.into())).collect();
        entry.insert("jsonPointers".to_owned(), pointers.into());
        Some(entry.into())
    }

    /// Returns the members of the JSON report.
    pub fn members(&self, item: &ObjectReport) -> Map {
        let field = |field: &DriftedField| {
            let mut members = Map::from([
                ("path".to_owned(), field.path.as_str().into()),
                ("type".to_owned(), field.change.as_str().into()),
                ("pointer".to_owned(), field.pointer().into()),
            ]);
            match &field.change {
                DriftKind::Dropped => {}
                DriftKind::Changed { from, to } => {
                    members.extend([("from".to_owned(), from.clone()), ("to".to_owned(), to.clone())]);
                }
                DriftKind::Added(to) => {
                    members.insert("to".to_owned(), to.clone());
                }
            }
            Value::from(members)
        };
        let fields: Vec<Value> = self.fields.iter().map(field).collect();
        let mut members =
            Map::from([("drift".to_owned(), fields.into()), ("canonical".to_owned(), self.canonical.clone())]);
        members.extend(self.to_ignore(item).map(|entry| ("ignoreDifferences".to_owned(), vec![entry].into())));
        members
    }
}

/// Returns a case that fails if something differs.
pub fn case(item: &ObjectReport, drift: Option<&ObjectDrift>) -> Case {
    let mut case = Case::from_report(item);
    if let Some(drift) = drift {
        case.outcome = Outcome::Failed;
        case.result = Action::Update.as_str();
        case.findings.extend(drift.fields.iter().map(|field| Finding {
            level: Level::Warning,
            rule: format!("drift/{}", field.change.as_str()),
            field: Some(field.path.clone()),
            message: sentence(field),
            diff: None,
            replacement: None,
            known: None,
            help: None,
            location: item.location.clone(),
        }));
    }
    case
}

fn sentence(field: &DriftedField) -> String {
    let shown = |value: &Value| {
        let text = json::to_string(value);
        match text.get(..text.floor_char_boundary(LONGEST)) {
            Some(start) if start.len() < text.len() => format!("{start}…"),
            _ => text,
        }
    };
    match &field.change {
        DriftKind::Dropped => format!("{} is not stored", field.path),
        DriftKind::Changed { from, to } => format!("{}: {} is stored as {}", field.path, shown(from), shown(to)),
        DriftKind::Added(to) => format!("{}: {} is added to an item of the list", field.path, shown(to)),
    }
}
