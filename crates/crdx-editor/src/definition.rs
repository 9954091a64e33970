//! Finds where a CRD defines a field of an object.

use super::check::Checker;
use super::cursor::Cursor;
use super::schema;
use super::text::Text;
use crdx_engine::documents::Document;
use crdx_text::spans::PathStep;
use crdx_value::{Value, group_version};
use std::ops::Range;

/// A field in a file with a CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDefinition {
    /// The path of the file.
    pub path: String,
    pub text: Text,
    /// The key of the field, in bytes.
    pub range: Range<usize>,
}

/// The definition of the field at a byte offset. `read` gives the text of other files.
pub fn definition(
    checker: &Checker,
    (path, text): (&str, &Text),
    offset: usize,
    read: impl FnOnce(&str) -> Option<Text>,
) -> Option<FieldDefinition> {
    let cursor = Cursor::at(checker, path, text, offset)?;
    let object = &cursor.document.value;
    let documents = checker.documents(path, text.content());
    if let Some(document) = documents.iter().find(|document| defines(document, object)) {
        let range = field(document, object, &cursor.path, text)?;
        return Some(FieldDefinition { path: path.to_owned(), text: text.clone(), range });
    }
    let file = checker.definition_file(checker.definition(object)?)?;
    let text = read(file)?;
    let document = checker.documents(file, text.content()).into_iter().find(|document| defines(document, object))?;
    let range = field(&document, object, &cursor.path, &text)?;
    Some(FieldDefinition { path: file.to_owned(), text, range })
}

/// True if the document is the CRD of an object.
fn defines(document: &Document, object: &Value) -> bool {
    let crd = &document.value;
    let group = object.str_at(&["apiVersion"]).map(|version| group_version::split(version).0);
    document.is_definition()
        && crd.str_at(&["spec", "group"]) == group
        && crd.str_at(&["spec", "names", "kind"]) == object.str_at(&["kind"])
}

/// The key of the property for a path in the text of a CRD; for `kind` and `apiVersion` the names in the CRD.
fn field(document: &Document, object: &Value, path: &[PathStep], text: &Text) -> Option<Range<usize>> {
    let crd = &document.value;
    let (_, version) = group_version::split(object.str_at(&["apiVersion"])?);
    let versions = crd.at(&["spec", "versions"])?.as_array()?;
    let index = versions.iter().position(|one| one.str_at(&["name"]) == Some(version));
    let path_in_crd = match path {
        [] => "spec.names.kind".to_owned(),
        [PathStep::Member(name)] if name == "kind" => "spec.names.kind".to_owned(),
        [PathStep::Member(name)] if name == "apiVersion" => format!("spec.versions[{}].name", index?),
        path => {
            let root = versions.get(index?)?.at(&["schema", "openAPIV3Schema"])?;
            format!("spec.versions[{}].schema.openAPIV3Schema{}", index?, schema::schema_path(root, path)?)
        }
    };
    let found = document.field_positions().locate(&path_in_crd);
    let key = found.key.filter(|_| found.exact)?;
    let start = text.offset_of(key.start.line, key.start.column);
    Some(start..(start + key.range.len()).min(text.content().len()))
}
