//! `DeleteOptions`, decoded from the body or, without a body, from the query.

use crate::server::http::body;
use crate::server::http::negotiate::{self, Input};
use crate::server::http::options::{self as shared, FieldValidation};
use crate::server::http::protobuf::DefaultType;
use crate::server::http::query::Query;
use crate::server::http::request::Body;
use crate::server::http::status::Refusal;
use crate::server::metadata::{self, HasMetadata};
use crate::server::scope::GroupResource;
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::json::go_kind;
use crdx_value::release::{Gate, Release, V1_32, V1_35};

/// The option to delete an object that cannot be read; decoded since 1.32.
const IGNORE_READ_ERRORS: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// `propagationPolicy`: what happens to dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Propagation {
    /// Dependents are kept.
    Orphan,
    /// Dependents are deleted after the object.
    Background,
    /// Dependents are deleted before the object.
    Foreground,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct DeleteOptions {
    /// `dryRun: [All]`
    pub dry_run: bool,
    /// `gracePeriodSeconds`
    pub grace_period_seconds: Option<i64>,
    /// `orphanDependents`
    pub orphan_dependents: Option<bool>,
    /// `propagationPolicy`
    pub propagation: Option<Propagation>,
    /// `ignoreStoreReadErrorWithClusterBreakingPotential`
    pub ignore_read_errors: bool,
    /// `preconditions.uid`
    pub uid: Option<String>,
    /// `preconditions.resourceVersion`
    pub resource_version: Option<String>,
}

/// The options in an Eviction.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct EvictionOptions {
    pub options: DeleteOptions,
    /// The errors of the options.
    pub errors: ErrorList,
    /// `dryRun`
    pub dry_run: Vec<String>,
}

#[derive(Default)]
struct Raw {
    dry_run: Vec<String>,
    orphan_dependents: Option<bool>,
    propagation: Option<String>,
    ignore_read_errors: Option<bool>,
    grace_period_seconds: Option<i64>,
    has_preconditions: bool,
    uid: Option<String>,
    resource_version: Option<String>,
}

impl DeleteOptions {
    /// Reads and validates the options.
    pub fn read(body: &Body, content_type: Option<&str>, query: &Query, release: Release) -> Result<Self, Refusal> {
        body::check_size(body)?;
        let empty = match body {
            Body::Empty => true,
            Body::Bytes(bytes) => bytes.is_empty(),
            Body::Value(_) => false,
        };
        let raw = if empty { from_query(query)? } else { from_body(body, content_type, release)? };
        raw.validate(release)
    }

    /// The options in an Eviction, which are validated only when the Pod is deleted.
    ///
    /// # Errors
    /// Returns 400 for values of wrong types.
    pub fn of_eviction(value: &Value, release: Release) -> Result<EvictionOptions, Refusal> {
        let raw = of_value(value, release)?;
        let dry_run = raw.dry_run.clone();
        let (options, errors) = raw.checked(release);
        Ok(EvictionOptions { options: Self { dry_run: !dry_run.is_empty(), ..options }, errors, dry_run })
    }

    /// Checks the preconditions on UID and resourceVersion. The error message begins with `kind`.
    pub(crate) fn check_preconditions(
        &self,
        existing: &impl HasMetadata,
        kind: GroupResource<'_>,
    ) -> Result<(), Refusal> {
        let name = metadata::text(existing, "name");
        let have = metadata::text(existing, "uid");
        if let Some(uid) = self.uid.as_deref().filter(|uid| *uid != have) {
            let reason = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({have}). The object might have been deleted and then recreated"
            );
            return Err(Refusal::conflict(kind, name, &reason));
        }
        let have = metadata::text(existing, "resourceVersion");
        if let Some(version) = self.resource_version.as_deref().filter(|v| *v != have) {
            let reason = format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({have}). The object might have been modified"
            );
            return Err(Refusal::conflict(kind, name, &reason));
        }
        Ok(())
    }
}

/// The refusal of options that are not valid.
pub(in crate::server) fn invalid(errors: ErrorList) -> Refusal {
    Refusal::invalid_options("DeleteOptions", errors)
}

/// The refusal of a deletecollection with `ignoreStoreReadErrorWithClusterBreakingPotential`.
pub(in crate::server) fn collection_refuses_ignoring() -> Refusal {
    let path = FieldPath::new(IGNORE_READ_ERRORS);
    let text = "is not allowed with DELETECOLLECTION, try again after removing the option";
    Refusal::invalid_options("DeleteOptions", vec![FieldError::invalid(&path, true, text)])
}

fn from_query(query: &Query) -> Result<Raw, Refusal> {
    let grace = query.first("gracePeriodSeconds").map(shared::integer).transpose();
    Ok(Raw {
        dry_run: query.all("dryRun").map(str::to_owned).collect(),
        orphan_dependents: query.first("orphanDependents").map(shared::boolean),
        propagation: query.first("propagationPolicy").map(str::to_owned),
        ignore_read_errors: query.first(IGNORE_READ_ERRORS).map(shared::boolean),
        grace_period_seconds: grace.map_err(Refusal::bad_request)?,
        has_preconditions: query.first("uid").is_some(),
        uid: query.first("uid").map(str::to_owned),
        resource_version: None,
    })
}

fn from_body(body: &Body, content_type: Option<&str>, release: Release) -> Result<Raw, Refusal> {
    let input = negotiate::input(content_type)?;
    // Before 1.35, an error of the decoder is not answered as a bad request.
    let since = release.since(V1_35);
    decoded(body, input, release)
        .map_err(|refusal| if since { refusal } else { Refusal::unclassified(refusal.message) })
}

/// The type of options without a type (`scope.MetaGroupVersion`).
const TYPE: DefaultType<'_> = DefaultType { api_version: "meta.k8s.io/v1", kind: "DeleteOptions" };

fn decoded(body: &Body, input: Input, release: Release) -> Result<Raw, Refusal> {
    let document = body::object(body, input, FieldValidation::Ignore, TYPE, release)
        .map_err(|e| Refusal::bad_request(e.into_text()))?;
    let (kind, api_version) = document.declared_type();
    check_type(&kind, &api_version, release)?;
    of_value(&document.value, release)
}

fn check_type(kind: &str, api_version: &str, release: Release) -> Result<(), Refusal> {
    if !matches!(kind, "" | "DeleteOptions") {
        let version = if api_version.is_empty() { "meta.k8s.io/v1" } else { api_version };
        return Err(Refusal::bad_request(format!(
            "no kind {} is registered for version {} in scheme {}",
            crdx_value::quote::go_quote(kind),
            crdx_value::quote::go_quote(version),
            release.scheme()
        )));
    }
    Ok(())
}

fn of_value(value: &Value, release: Release) -> Result<Raw, Refusal> {
    let reader = OptionReader { value, path: "DeleteOptions".to_owned(), json: String::new() };
    let preconditions = reader.object("preconditions", "*v1.Preconditions")?;
    Ok(Raw {
        dry_run: reader.texts("dryRun")?,
        orphan_dependents: reader.get("orphanDependents", "bool", Value::as_bool)?,
        propagation: reader.text("propagationPolicy", "v1.DeletionPropagation")?,
        ignore_read_errors: if release.since(V1_32) {
            reader.get(IGNORE_READ_ERRORS, "bool", Value::as_bool)?
        } else {
            None
        },
        grace_period_seconds: reader.get("gracePeriodSeconds", "int64", Value::as_int)?,
        has_preconditions: preconditions.is_some(),
        uid: preconditions.as_ref().map_or(Ok(None), |p| p.text("uid", "types.UID"))?,
        resource_version: preconditions.as_ref().map_or(Ok(None), |p| p.text("resourceVersion", "string"))?,
    })
}

/// Decodes fields of a typed object with Go's error messages.
struct OptionReader<'v> {
    value: &'v Value,
    path: String,
    json: String,
}

impl<'v> OptionReader<'v> {
    fn get<T>(&self, key: &str, type_: &str, read: impl Fn(&'v Value) -> Option<T>) -> Result<Option<T>, Refusal> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                Some(read) => Ok(Some(read)),
                None => Err(Refusal::bad_request(format!(
                    "json: cannot unmarshal {} into Go struct field {}.{}{key} of type {type_}",
                    go_kind(value),
                    self.path,
                    self.json
                ))),
            },
        }
    }
    fn text(&self, key: &str, type_: &str) -> Result<Option<String>, Refusal> {
        self.get(key, type_, |v| v.as_str().map(str::to_owned))
    }
    fn texts(&self, key: &str) -> Result<Vec<String>, Refusal> {
        let items = self.get(key, "[]string", Value::as_array)?.unwrap_or_default();
        items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                Value::Null => Ok(String::new()),
                other => Err(Refusal::bad_request(format!(
                    "json: cannot unmarshal {} into Go struct field {}.{key} of type string",
                    go_kind(other),
                    self.path
                ))),
            })
            .collect()
    }
    fn object(&self, key: &str, type_: &str) -> Result<Option<OptionReader<'v>>, Refusal> {
        let type_ = type_.trim_start_matches('*');
        let found = self.get(key, type_, |v| v.as_object().map(|_| v))?;
        Ok(found.map(|value| OptionReader { value, path: "Preconditions".to_owned(), json: format!("{key}.") }))
    }
}

impl Raw {
    fn validate(self, release: Release) -> Result<DeleteOptions, Refusal> {
        let (options, errors) = self.checked(release);
        if errors.is_empty() { Ok(options) } else { Err(invalid(errors)) }
    }

    /// `ValidateDeleteOptions`
    fn checked(self, release: Release) -> (DeleteOptions, ErrorList) {
        let mut errors = ErrorList::new();
        let path = FieldPath::new("propagationPolicy");
        if let Some(policy) = &self.propagation
            && self.orphan_dependents.is_some()
        {
            let text = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(&path, policy.as_str(), text));
        }
        let propagation = match self.propagation.as_deref() {
            None => None,
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Background") => Some(Propagation::Background),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(&path, other, &known));
                None
            }
        };
        let dry_run = shared::dry_run(&self.dry_run, release, &mut errors);
        // Without the feature gate, the option has no effect.
        let is_enabled = release.enables(Gate::AllowUnsafeMalformedObjectDeletion);
        let ignore_read_errors = self.ignore_read_errors == Some(true) && is_enabled;
        if ignore_read_errors {
            let path = FieldPath::new(IGNORE_READ_ERRORS);
            let others = [
                (self.propagation.is_some(), "propagationPolicy"),
                (self.orphan_dependents.is_some(), "orphanDependents"),
                (self.grace_period_seconds.is_some(), "gracePeriodSeconds"),
                (self.has_preconditions, "preconditions"),
            ];
            for (_, name) in others.into_iter().filter(|(set, _)| *set) {
                let text = format!("cannot be set together with .{name}");
                errors.push(FieldError::invalid(&path, true, text));
            }
        }
        let options = DeleteOptions {
            dry_run,
            grace_period_seconds: self.grace_period_seconds,
            orphan_dependents: self.orphan_dependents,
            propagation,
            ignore_read_errors,
            uid: self.uid,
            resource_version: self.resource_version,
        };
        (options, errors)
    }
}
