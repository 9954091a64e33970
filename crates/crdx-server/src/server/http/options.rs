//! Request options: `CreateOptions`, `UpdateOptions`, `PatchOptions`, `ListOptions` and `TableOptions`, read from the
//! query and validated (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`).

use crate::server::http::query::Query;
use crate::server::http::selector::{FieldSelector, LabelSelector, ShardSelector};
use crate::server::http::status::Refusal;
use crdx_value::GoError;
use crdx_value::field::{BadValue, ErrorList, ErrorType, FieldError, FieldPath};
use crdx_value::release::{Release, V1_32, V1_33, V1_34, V1_38};
use crdx_value::{Value, json, quote};

/// `fieldValidation`: the handling of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::server) enum FieldValidation {
    /// They are dropped silently.
    Ignore,
    /// Each is reported as a warning.
    #[default]
    Warn,
    /// Each is an error.
    Strict,
}

impl FieldValidation {
    /// Returns true if the decoder must look for unknown and duplicate fields.
    pub(crate) fn is_enabled(self) -> bool {
        self != Self::Ignore
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct WriteOptions {
    /// `dryRun=All`
    pub dry_run: bool,
    /// `fieldManager`; empty if not set.
    pub field_manager: String,
    /// `fieldValidation`
    pub field_validation: FieldValidation,
    /// `fieldValidation` as in the query; empty if not set.
    pub field_validation_text: String,
    /// `force`, for patches only.
    pub force: Option<bool>,
}

/// The kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Write {
    /// POST
    Create,
    /// PUT
    Update,
    /// PATCH other than apply
    Patch,
    /// PATCH with an apply configuration
    Apply,
}

/// Reads and validates the options of a write.
pub(in crate::server) fn write_options(query: &Query, write: Write, release: Release) -> Result<WriteOptions, Refusal> {
    let mut errors = ErrorList::new();
    let force = match write {
        Write::Patch | Write::Apply => query.first("force").map(boolean),
        Write::Create | Write::Update => None,
    };
    let field_manager = query.first("fieldManager").unwrap_or_default().to_owned();
    let path = FieldPath::new("fieldManager");
    if write == Write::Apply && field_manager.is_empty() {
        errors.push(FieldError::required(&path, "is required for apply patch"));
    }
    if write == Write::Patch && force.is_some() {
        errors.push(FieldError::forbidden(&FieldPath::new("force"), "may not be specified for non-apply patch"));
    }
    check_field_manager(&field_manager, &path, release, &mut errors);
    let dry_run = dry_run(&query.all("dryRun").map(str::to_owned).collect::<Vec<_>>(), release, &mut errors);
    let word = query.first("fieldValidation").unwrap_or_default();
    let field_validation = match word {
        "Ignore" => FieldValidation::Ignore,
        "Strict" => FieldValidation::Strict,
        "" | "Warn" => FieldValidation::Warn,
        other => {
            let path = FieldPath::new("fieldValidation");
            errors.push(FieldError::not_supported(&path, other, &["", "Ignore", "Strict", "Warn"]));
            FieldValidation::Warn
        }
    };
    if errors.is_empty() {
        let field_validation_text = word.to_owned();
        return Ok(WriteOptions { dry_run, field_manager, field_validation, field_validation_text, force });
    }
    let kind = match write {
        Write::Create => "CreateOptions",
        Write::Update => "UpdateOptions",
        Write::Patch | Write::Apply => "PatchOptions",
    };
    Err(Refusal::invalid_options(kind, errors))
}

/// `ValidateDryRun`. Returns true if the request is a dry run.
pub(in crate::server) fn dry_run(values: &[String], release: Release, errors: &mut ErrorList) -> bool {
    if values.iter().any(|v| v != "All") {
        let shown = BadValue::strings(values.iter().map(String::as_str), release);
        errors.push(FieldError::not_supported(&FieldPath::new("dryRun"), shown, &["All"]));
    }
    !values.is_empty()
}

/// `ValidateFieldManager`
fn check_field_manager(manager: &str, path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    if manager.len() > 128 {
        errors.push(FieldError::too_long(path, 128, release));
    }
    for (i, c) in manager.char_indices() {
        if !quote::is_print(c) {
            let detail = format!("invalid character U+{:04X} (at position {i})", c as u32);
            errors.push(FieldError::invalid(path, manager, detail));
        }
    }
}

/// Parses a boolean parameter: every value except `0` and `false` is true.
pub(in crate::server) fn boolean(text: &str) -> bool {
    text != "0" && !text.eq_ignore_ascii_case("false")
}

/// `strconv.ParseInt` with its error message.
pub(in crate::server) fn integer(text: &str) -> Result<i64, GoError> {
    text.parse().map_err(|e: std::num::ParseIntError| {
        let reason = match e.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.ParseInt: parsing {}: {reason}", quote::go_quote(text)).into()
    })
}

/// The options of a list or watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct ListOptions {
    /// `labelSelector`
    pub labels: LabelSelector,
    /// `fieldSelector`
    pub fields: FieldSelector,
    /// `shardSelector`
    pub shards: ShardSelector,
    /// `limit`; 0 if not set.
    pub limit: i64,
    pub continue_: String,
    /// `resourceVersion`
    pub resource_version: String,
    /// `resourceVersionMatch`
    pub resource_version_match: String,
    /// `allowWatchBookmarks`
    pub allow_bookmarks: bool,
    /// `sendInitialEvents`
    pub send_initial_events: Option<bool>,
    /// `timeoutSeconds`
    pub timeout_seconds: Option<i64>,
}

/// Reads and validates the options of a list or, with `watch=…`, of a watch.
pub(in crate::server) fn list_options(query: &Query, release: Release) -> Result<ListOptions, Refusal> {
    let text = |key: &str| query.first(key).unwrap_or_default().to_owned();
    let timeout_seconds = query.first("timeoutSeconds").map(integer).transpose().map_err(Refusal::bad_request)?;
    let limit = query.first("limit").map_or(Ok(0), integer).map_err(Refusal::bad_request)?;
    let mut options = ListOptions {
        labels: LabelSelector::parse(&text("labelSelector"), release).map_err(Refusal::bad_request)?,
        fields: FieldSelector::parse(&text("fieldSelector")).map_err(Refusal::bad_request)?,
        shards: ShardSelector::default(),
        limit,
        continue_: text("continue"),
        resource_version: text("resourceVersion"),
        resource_version_match: text("resourceVersionMatch"),
        allow_bookmarks: query.first("allowWatchBookmarks").is_some_and(boolean),
        send_initial_events: query.first("sendInitialEvents").map(boolean),
        timeout_seconds,
    };
    let errors = if query.first("watch").is_some_and(boolean) {
        let requested = options.send_initial_events.is_some();
        complete_watch(&mut options);
        let mut errors = watch_errors(&options);
        if requested && !has_watch_list(release) {
            let text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
            errors.push(FieldError::forbidden(&FieldPath::new("sendInitialEvents"), text));
        }
        errors
    } else {
        list_errors(&options)
    };
    if !errors.is_empty() {
        return Err(Refusal::invalid_options("ListOptions", errors));
    }
    if release.since(V1_38) {
        options.shards = ShardSelector::parse(&text("shardSelector")).map_err(Refusal::bad_request)?;
    }
    Ok(options)
}

/// Returns true if the feature gate `WatchList` is enabled by default; 1.33 disabled it again.
fn has_watch_list(release: Release) -> bool {
    release.since(V1_34) || release.since(V1_32) && !release.since(V1_33)
}

/// `SetListOptionsDefaults`: a watch without a resourceVersion begins with the existing objects.
fn complete_watch(options: &mut ListOptions) {
    let chosen = options.send_initial_events.is_some() || !options.resource_version_match.is_empty();
    if !chosen && matches!(options.resource_version.as_str(), "" | "0") {
        options.send_initial_events = Some(true);
        "NotOlderThan".clone_into(&mut options.resource_version_match);
    }
}

/// `validateWatchOptions`
fn watch_errors(options: &ListOptions) -> ErrorList {
    let mut errors = ErrorList::new();
    let path = FieldPath::new("resourceVersionMatch");
    let wanted = options.resource_version_match.as_str();
    if options.send_initial_events.is_some() && wanted != "NotOlderThan" {
        let text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(&path, text));
    }
    if wanted.is_empty() {
        return errors;
    }
    if options.send_initial_events.is_none() {
        let text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        errors.push(FieldError::forbidden(&path, text));
    }
    if wanted != "NotOlderThan" {
        errors.push(FieldError::not_supported(&path, named_string(wanted), &["NotOlderThan"]));
    }
    if !options.continue_.is_empty() {
        errors.push(FieldError::forbidden(&path, "resourceVersionMatch is forbidden when continue is provided"));
    }
    errors
}

/// A value of a named string type, which Go prints as JSON in errors.
fn named_string(text: &str) -> BadValue {
    BadValue::Raw(json::to_string(&Value::from(text)))
}

/// `ValidateListOptions`
fn list_errors(options: &ListOptions) -> ErrorList {
    let mut errors = ErrorList::new();
    let path = FieldPath::new("resourceVersionMatch");
    let wanted = options.resource_version_match.as_str();
    if !wanted.is_empty() {
        if options.resource_version.is_empty() {
            let text = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            errors.push(FieldError::forbidden(&path, text));
        }
        if !options.continue_.is_empty() {
            errors.push(FieldError::forbidden(&path, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !matches!(wanted, "Exact" | "NotOlderThan") {
            errors.push(FieldError::not_supported(&path, named_string(wanted), &["Exact", "NotOlderThan", ""]));
        }
        if wanted == "Exact" && options.resource_version == "0" {
            let text = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(FieldError::forbidden(&path, text));
        }
    }
    if options.send_initial_events.is_some() {
        let path = FieldPath::new("sendInitialEvents");
        errors.push(FieldError::forbidden(&path, "sendInitialEvents is forbidden for list"));
    }
    errors
}

/// Rejects the query parameter `export`, which Kubernetes has removed.
pub(in crate::server) fn check_export(query: &Query) -> Result<(), Refusal> {
    if query.first("export").is_some_and(boolean) {
        return Err(Refusal::bad_request("the export parameter, deprecated since v1.14, is no longer supported"));
    }
    Ok(())
}

/// `includeObject`: what the rows of a Table include in addition to their cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::server) enum IncludeObject {
    /// The metadata of the object.
    #[default]
    Metadata,
    /// The whole object.
    Object,
    /// Cells only.
    None,
}

/// Reads and validates `includeObject`.
pub(in crate::server) fn include_object(query: &Query) -> Result<IncludeObject, Refusal> {
    match query.first("includeObject").unwrap_or_default() {
        "" | "Metadata" => Ok(IncludeObject::Metadata),
        "Object" => Ok(IncludeObject::Object),
        "None" => Ok(IncludeObject::None),
        other => {
            let error = FieldError::new(
                ErrorType::Invalid,
                &FieldPath::new("includeObject"),
                BadValue::from(other),
                "must be 'Metadata', 'Object', 'None', or empty",
            );
            Err(Refusal::bad_request(format!("Unable to convert to Table as requested: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_values_are_reported_together() {
        let query = Query::parse("dryRun=x&fieldValidation=y&fieldManager=a%00");
        let refusal = write_options(&query, Write::Create, Release::NEWEST).unwrap_err();
        let texts: Vec<String> = refusal.errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "fieldManager: Invalid value: \"a\\x00\": invalid character U+0000 (at position 1)",
                "dryRun: Unsupported value: [\"x\"]: supported values: \"All\"",
                "fieldValidation: Unsupported value: \"y\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"",
            ]
        );
        assert!(refusal.message.starts_with("CreateOptions.meta.k8s.io \"\" is invalid: ["));
    }

    #[test]
    fn list_options_report_the_first_unreadable_one() {
        let refusal = list_options(&Query::parse("limit=x&labelSelector=("), Release::NEWEST).unwrap_err();
        assert_eq!(refusal.message, "strconv.ParseInt: parsing \"x\": invalid syntax");
    }
}
