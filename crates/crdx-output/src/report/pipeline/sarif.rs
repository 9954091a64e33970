//! SARIF 2.1.0 for code scanning: one result per finding.

use super::{LeftOut, Totals};
use crate::report::case::{Case, Finding};
use crdx_engine::report::SourceLocation;
use crdx_value::{Map, Value, json, object};
use std::fmt::Write as _;

/// The URL of the JSON Schema of SARIF.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Formats the text after the results. A notification says what was left out.
pub fn tail(left_out: &LeftOut) -> String {
    let Some(message) = left_out.message() else { return "\n]}]}\n".to_owned() };
    let notification =
        object([("level", Value::from("warning")), ("message", object([("text", Value::from(message))]))]);
    let invocation =
        object([("executionSuccessful", Value::Bool(true)), ("toolExecutionNotifications", vec![notification].into())]);
    format!("\n],\"invocations\":[{}]}}]}}\n", json::to_string(&invocation))
}

/// Formats the text before the results.
pub fn head(totals: &Totals) -> String {
    let rules: Vec<Value> = totals.rules.iter().map(|id| rule(id)).collect();
    let driver = object([
        ("name", Value::from("kubectl-crdx")),
        ("informationUri", env!("CARGO_PKG_REPOSITORY").into()),
        ("semanticVersion", env!("CARGO_PKG_VERSION").into()),
        ("rules", rules.into()),
    ]);
    let tool = json::to_string(&object([("driver", driver)]));
    let command = json::to_string(&Value::from(format!("kubectl-crdx/{}", totals.command)));
    format!(
        "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{tool},\"automationDetails\":{{\"id\":{command}}},\
         \"columnKind\":\"unicodeCodePoints\",\"results\":["
    )
}

fn rule(id: &str) -> Value {
    object([("id", Value::from(id)), ("shortDescription", object([("text", Value::from(description(id)))]))])
}

/// Returns the description of a rule. The types of field errors are the server's.
fn description(id: &str) -> String {
    let known = match id {
        "FieldValueInvalid" => "A value is not allowed",
        "FieldValueTypeInvalid" => "A value has the wrong type",
        "FieldValueRequired" => "A required value is missing",
        "FieldValueDuplicate" => "A value that must be unique occurs more than once",
        "FieldValueNotSupported" => "A value is not one of the supported values",
        "FieldValueForbidden" => "A value must not be set",
        "FieldValueTooLong" => "A value is too long",
        "FieldValueTooMany" => "There are too many items",
        "FieldValueNotFound" => "A value refers to something that does not exist",
        "BadRequest" => "The server could not decode the object",
        "Warning" => "The server would accept the object with a warning",
        "Input" => "Part of the input that kubectl ignores silently",
        "JoinedDocuments" => "A document may be several, of which kubectl sends one",
        "ConflictingObject" => "The server would reject the object as an update of the one in another file",
        "TypedPatch" => "A value does not have the type that server-side apply needs",
        "cannotTell" => "This program cannot tell the server's response",
        "create" | "update" => "The object would change",
        _ => "",
    };
    match (known, id.strip_prefix("breaking/")) {
        ("", Some(kind)) => format!("A change that breaks stored objects: {kind}"),
        ("", None) => format!("The server would reject the object: {id}"),
        (known, _) => known.to_owned(),
    }
}

/// Formats the results of a case; `first` is true if the report has no result yet.
pub fn case(case: &Case, first: bool) -> String {
    super::joined(case.findings.iter().map(|finding| json::to_string(&result(case, finding))), first)
}

fn result(case: &Case, finding: &Finding) -> Value {
    let name = match &finding.field {
        Some(field) if !field.is_empty() => format!("{}: {field}", case.subject),
        _ => case.subject.clone(),
    };
    let logical = object([("fullyQualifiedName", Value::from(name))]);
    let location =
        object([("physicalLocation", physical(&finding.location)), ("logicalLocations", vec![logical].into())]);
    let mut message = format!("{}: {}", case.subject, finding.text());
    if let Some(help) = &finding.help {
        let _ = write!(message, "\nhelp: {help}");
    }
    let mut members = Map::from([
        ("ruleId".to_owned(), Value::from(finding.rule.as_str())),
        ("level".to_owned(), finding.level.as_str().into()),
        ("message".to_owned(), object([("text", Value::from(message))])),
        ("locations".to_owned(), vec![location].into()),
    ]);
    members.extend(finding.known.as_ref().map(|known| {
        let suppression = object([("kind", Value::from("external")), ("justification", known.text().into())]);
        ("suppressions".to_owned(), vec![suppression].into())
    }));
    members.extend(fix(finding).map(|fix| ("fixes".to_owned(), vec![fix].into())));
    members.into()
}

/// Returns the change that replaces a name or value by the suggested one.
fn fix(finding: &Finding) -> Option<Value> {
    let new = finding.replacement.as_ref()?;
    let inserted = object([("text", Value::from(super::replacement(finding)?))]);
    let physical = physical(&finding.location);
    let (artifact, region) = (physical.get("artifactLocation")?.clone(), physical.get("region")?.clone());
    region.get("endColumn")?;
    let replacement = object([("deletedRegion", region), ("insertedContent", inserted)]);
    let change = object([("artifactLocation", artifact), ("replacements", vec![replacement].into())]);
    let description = object([("text", Value::from(format!("Change to `{new}`")))]);
    Some(object([("description", description), ("artifactChanges", vec![change].into())]))
}

fn physical(location: &SourceLocation) -> Value {
    let artifact = object([("uri", Value::from(uri(location)))]);
    let mut members = Map::from([("artifactLocation".to_owned(), artifact)]);
    if let Some(line) = super::line(location) {
        let mut region = Map::from([("startLine".to_owned(), Value::Int(line as i64))]);
        if location.column > 0 {
            region.insert("startColumn".to_owned(), Value::Int(location.column as i64));
            if let Some(part) = location.excerpt.as_ref().and_then(|e| e.line.get(e.part.clone())) {
                let end = location.column + part.chars().count();
                region.insert("endColumn".to_owned(), Value::Int(end as i64));
            }
        }
        members.insert("region".to_owned(), region.into());
    }
    members.into()
}

/// Converts a path to a URI reference; a relative path stays relative.
fn uri(location: &SourceLocation) -> String {
    let path = super::path(location);
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    } else if path.split('/').next().is_some_and(|first| first.contains(':')) {
        // `C:/x`, or a file name whose beginning is a valid URI scheme.
        out.push_str(if path.get(1..3) == Some(":/") { "file:///" } else { "./" });
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&()*+,;=:@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_suggestion_is_a_fix() {
        let at = crdx_text::Position { line: 1, column: 1 };
        let location = SourceLocation::part(&Arc::from("a.yaml"), b"\"imge\": x\n", at, at, 0..6);
        let finding = |replacement: Option<&str>, location: &SourceLocation| Finding {
            level: crate::report::case::Level::Error,
            rule: "FieldValueInvalid".to_owned(),
            field: None,
            message: "unknown field".to_owned(),
            diff: None,
            help: None,
            replacement: replacement.map(str::to_owned),
            location: location.clone(),
            known: None,
        };
        let fix = super::fix(&finding(Some("image"), &location)).unwrap();
        let change = &fix.get("artifactChanges").and_then(Value::as_array).unwrap()[0];
        let replacement = &change.get("replacements").and_then(Value::as_array).unwrap()[0];
        assert_eq!(replacement.str_at(&["insertedContent", "text"]), Some("\"image\""));
        let number = |key: &str| replacement.at(&["deletedRegion", key]).and_then(Value::as_int);
        assert_eq!((number("startColumn"), number("endColumn")), (Some(1), Some(7)));
        assert_eq!(super::fix(&finding(None, &location)), None);
        assert_eq!(super::fix(&finding(Some("image"), &SourceLocation::source(&Arc::from("a.yaml")))), None);
    }

    #[test]
    fn a_path_is_a_reference() {
        let uri = |path: &str| uri(&SourceLocation::source(&Arc::from(path)));
        assert_eq!(uri("./a/ü.yaml"), "a/%C3%BC.yaml");
        assert_eq!(uri("/tmp/a b.yaml"), "file:///tmp/a%20b.yaml");
        assert_eq!(uri("C:\\x\\a.yaml"), "file:///C:/x/a.yaml");
        assert_eq!(uri("a:b.yaml"), "./a:b.yaml");
        assert_eq!(uri("<stdin>"), "stdin");
    }
}
