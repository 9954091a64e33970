//! Converts kube-openapi's errors and paths to field errors.

use crdx_value::field::{BadValue, ErrorList, ErrorType, FieldError, FieldPath, NIL_PATH, ROOT, STEPS_OF_A_BYTE};
use crdx_value::release::{Release, V1_38};
use crdx_value::steps::Steps;
use crdx_value::{Value, json, print};
use std::collections::HashSet;
use std::fmt::{self, Write as _};

#[derive(Clone, Copy, Debug)]
pub(crate) enum ValuePath<'a> {
    /// The node where validation began; formatted as an empty string.
    Root,
    /// `.name`, without the dot at the start of a path.
    Property(&'a ValuePath<'a>, &'a str),
    /// `.name`, always with the dot: additional properties and missing properties.
    Additional(&'a ValuePath<'a>, &'a str),
    /// `[3]`
    Index(&'a ValuePath<'a>, usize),
}

impl ValuePath<'_> {
    /// Returns true if the path is formatted as an empty string.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Root => true,
            Self::Property(parent, name) => name.is_empty() && parent.is_empty(),
            _ => false,
        }
    }
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Uses an explicit stack, because a path may have 10,000 segments.
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            steps.push(at);
            at = match at {
                Self::Root => break,
                Self::Property(parent, _) | Self::Additional(parent, _) | Self::Index(parent, _) => parent,
            };
        }
        let mut empty = true;
        for step in steps.into_iter().rev() {
            match step {
                Self::Root => continue,
                Self::Property(_, name) => {
                    if !empty {
                        f.write_char('.')?;
                    }
                    f.write_str(name)?;
                    empty &= name.is_empty();
                    continue;
                }
                Self::Additional(_, name) => write!(f, ".{name}")?,
                Self::Index(_, i) => write!(f, "[{i}]")?,
            }
            empty = false;
        }
        Ok(())
    }
}

/// An error: kube-openapi's text, which identifies duplicates, and the field error.
#[derive(Debug)]
pub struct ValidationError {
    text: String,
    error: FieldError,
}

/// The result of validating a value against a schema.
#[derive(Debug, Default)]
pub struct ValidationOutcome {
    pub errors: Vec<ValidationError>,
    /// The number of passed checks, by which branches are ranked.
    pub passed: usize,
}

impl ValidationOutcome {
    /// Adds an error.
    pub fn fail(&mut self, found: ValidationError) {
        self.errors.push(found);
    }
    /// Adds the outcome of a part.
    pub fn merge(&mut self, other: ValidationOutcome) {
        self.passed += other.passed;
        if self.errors.is_empty() {
            self.errors = other.errors;
        } else {
            self.errors.extend(other.errors);
        }
    }
    /// The field errors without those whose text is a duplicate.
    pub(crate) fn into_errors(self) -> ErrorList {
        let mut seen = HashSet::new();
        self.errors.into_iter().filter_map(|found| seen.insert(found.text).then_some(found.error)).collect()
    }
}

/// Creates errors.
#[derive(Debug)]
pub struct ErrorReporter {
    /// The formatted path at which validation began; `None` for the nil path.
    pub prefix: Option<String>,
    /// The simulated release.
    pub release: Release,
    /// The steps that are left for checks and the text of errors.
    pub steps: Steps,
}

impl ErrorReporter {
    pub fn new(prefix: Option<String>, release: Release) -> Self {
        Self { prefix, release, steps: Steps::of_request() }
    }

    /// The errors of the outcome, or that validation was not finished.
    pub fn finish(self, outcome: ValidationOutcome) -> ErrorList {
        if self.steps.are_spent() {
            return vec![FieldError::unfinished(&ROOT)];
        }
        outcome.into_errors()
    }

    /// Takes the steps for an error. Once they are spent, no value is validated.
    fn counted(&self, found: ValidationError) -> ValidationError {
        // The steps are checked before the next value.
        let _ = self.steps.take(STEPS_OF_A_BYTE * found.text.len() as u64 + found.error.steps());
        found
    }

    fn field(&self, path: &str) -> String {
        let name = path.strip_prefix('.').unwrap_or(path);
        match (&self.prefix, name.is_empty()) {
            (Some(prefix), true) => prefix.clone(),
            (Some(prefix), false) => format!("{prefix}.{name}"),
            (None, true) => NIL_PATH.to_owned(),
            (None, false) => name.to_owned(),
        }
    }
    fn found(
        &self,
        path: &ValuePath<'_>,
        text: String,
        make: impl FnOnce(&FieldPath<'_>) -> FieldError,
    ) -> ValidationError {
        let field = self.field(&path.to_string());
        self.counted(ValidationError { text, error: make(&FieldPath::new(&field)) })
    }
    /// `… must be of type integer: "string"`; `expected` is a type or format, `found` a type, a format or the string.
    pub fn wrong_type(&self, path: &ValuePath<'_>, expected: &str, found: &str) -> ValidationError {
        let shown = crdx_value::quote::go_quote(found);
        let text = format!("{path} in body must be of type {expected}: {shown}");
        self.found(path, text.clone(), |field_path| FieldError::type_invalid(field_path, found, text))
    }
    /// An `Invalid value` error with this text.
    pub fn invalid(&self, path: &ValuePath<'_>, bad: impl Into<BadValue>, text: String) -> ValidationError {
        self.found(path, text.clone(), |field_path| FieldError::invalid(field_path, bad, text))
    }
    /// `Required value`
    pub fn required(&self, path: &ValuePath<'_>) -> ValidationError {
        self.found(path, format!("{path} in body is required"), |field_path| FieldError::required(field_path, ""))
    }
    pub fn too_long(&self, path: &ValuePath<'_>, max: i64) -> ValidationError {
        let text = format!("{path} in body should be at most {max} chars long");
        self.found(path, text, |field_path| FieldError::longer_than(field_path, max, self.release))
    }
    /// Since 1.38, `Too short` (`kubeOpenAPIResultToFieldErrors` of `apiextensions-apiserver`).
    pub fn too_short(&self, path: &ValuePath<'_>, value: &str, min: i64) -> ValidationError {
        let text = format!("{path} in body should be at least {min} chars long");
        self.found(path, text.clone(), |field_path| {
            if self.release.since(V1_38) {
                FieldError::too_short(field_path, value, min)
            } else {
                FieldError::invalid(field_path, value, text)
            }
        })
    }
    /// Since 1.38, `Too few`.
    pub fn too_few(&self, path: &ValuePath<'_>, size: i64, min: i64, what: &str) -> ValidationError {
        let text = format!("{path} in body should have at least {min} {what}");
        self.found(path, text.clone(), |field_path| {
            if self.release.since(V1_38) {
                FieldError::too_few(field_path, size, min)
            } else {
                FieldError::invalid(field_path, size, text)
            }
        })
    }
    pub fn too_many(&self, path: &ValuePath<'_>, size: i64, max: i64, what: &str) -> ValidationError {
        let text = format!("{path} in body should have at most {max} {what}");
        self.found(path, text, |field_path| FieldError::too_many(field_path, size, max, self.release))
    }
    /// `Unsupported value`
    pub fn not_supported(&self, path: &ValuePath<'_>, v: &Value, allowed: &[Value]) -> ValidationError {
        let texts: Vec<String> =
            allowed.iter().map(|a| a.as_str().map_or_else(|| json::to_string(a), str::to_owned)).collect();
        let shown: Vec<String> = allowed.iter().map(print::format_v).collect();
        let text = format!("{path} in body should be one of [{}]", shown.join(" "));
        self.found(path, text, |field_path| {
            FieldError::not_supported(field_path, BadValue::new(v, self.release), &texts)
        })
    }
    /// An error that names the path only in its text: the field is the node where validation began.
    pub(crate) fn unplaced(&self, path: &ValuePath<'_>, text: String) -> ValidationError {
        let value_path = self.field(&path.to_string());
        let detail_path = (self.prefix.is_none() && value_path != NIL_PATH).then(|| value_path.into());
        let error = FieldError {
            kind: ErrorType::Invalid,
            field: self.field(""),
            bad_value: "".into(),
            detail: text.clone(),
            detail_path,
        };
        self.counted(ValidationError { text, error })
    }
}
