//! A value of an object together with its path, and the collection of errors about such values.

use crate::validation::internal;
use crdx_cel::value::Quantity;
use crdx_types::amounts;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::base64::Encoding;
use crdx_value::field::{BadValue, BoundedErrors, FieldError, FieldPath};
use crdx_value::release::{Release, V1_34};
use crdx_value::time::{self, Timestamp};

const NULL: &Value = &Value::Null;

/// A value of an object, and its path. An absent field has the value null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldValue<'v, 'p> {
    pub value: &'v Value,
    pub path: FieldPath<'p>,
    /// The empty lists and maps at and below the value. Its encoded form omits them.
    pub empties: Option<&'v Empties>,
}

impl<'v, 'p> FieldValue<'v, 'p> {
    /// Joins a value and its path.
    pub fn new(value: Option<&'v Value>, path: FieldPath<'p>) -> Self {
        Self::with_empties(value, path, None)
    }

    /// Joins a value, its path and its empty lists and maps.
    pub(crate) fn with_empties(value: Option<&'v Value>, path: FieldPath<'p>, empties: Option<&'v Empties>) -> Self {
        Self { value: value.unwrap_or(NULL), path, empties }
    }

    /// The field `name` of this object.
    pub fn child<'s>(&'s self, name: &'s str) -> FieldValue<'v, 's> {
        let empties = self.empties.and_then(|empties| empties.child(name));
        FieldValue::with_empties(self.value.get(name), self.path.child(name), empties)
    }

    /// The item at `index`.
    pub fn index(&self, index: usize) -> FieldValue<'v, '_> {
        let item = self.value.as_array().and_then(|items| items.get(index));
        FieldValue::with_empties(item, self.path.index(index), self.empties.and_then(|empties| empties.index(index)))
    }

    /// The items of this list.
    pub fn items(&self) -> impl Iterator<Item = FieldValue<'v, '_>> {
        let items = self.value.as_array().unwrap_or_default();
        items.iter().enumerate().map(|(at, item)| {
            let empties = self.empties.and_then(|empties| empties.index(at));
            FieldValue::with_empties(Some(item), self.path.index(at), empties)
        })
    }

    /// The entries of this map, with paths such as `limits[cpu]`.
    pub fn entries(&self) -> impl Iterator<Item = (&'v str, FieldValue<'v, '_>)> {
        let members = self.value.as_object().into_iter().flatten();
        members.map(|(key, value)| {
            let empties = self.empties.and_then(|empties| empties.child(key));
            (key.as_str(), FieldValue::with_empties(Some(value), self.path.key(key), empties))
        })
    }

    /// The strings of this list.
    pub fn texts(&self) -> impl Iterator<Item = &'v str> {
        self.value.as_array().unwrap_or_default().iter().filter_map(Value::as_str)
    }

    /// True if the field is present. Fields without `omitempty` are always present.
    pub fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// True for a list or map that was present and empty when it was decoded.
    pub(crate) fn is_given_empty(&self) -> bool {
        self.empties.is_some_and(|empties| empties.text().is_some())
    }

    /// The number of items or entries.
    pub fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        }
    }

    /// The text; empty if absent.
    pub fn text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    /// The bytes of a field with bytes; empty if absent.
    pub fn bytes(&self) -> Vec<u8> {
        Encoding::Standard.decode(self.text()).unwrap_or_default()
    }

    /// The integer, if present.
    pub fn int(&self) -> Option<i64> {
        self.value.as_int()
    }

    /// The boolean; false if absent.
    pub fn bool(&self) -> bool {
        self.value.as_bool().unwrap_or_default()
    }

    /// The time, if present, with the fraction of a second that its encoded form omits.
    pub fn time(&self) -> Option<Timestamp> {
        let time = time::parse(self.value.as_str()?).ok()?;
        let given = self.empties.map_or(0, Empties::nanos);
        Some(if given == 0 { time } else { Timestamp { nanos: given, ..time } })
    }

    /// The quantity, if present.
    pub fn quantity(&self, release: Release) -> Option<Quantity> {
        amounts::quantity(self.value, release.minor())
    }
}

/// Collects the errors of one object.
#[derive(Debug)]
pub struct Errors {
    /// The simulated release.
    pub release: Release,
    /// The time of the request; 0 if no rule depends on it.
    pub now: Timestamp,
    /// The errors found so far.
    pub list: BoundedErrors,
}

impl Errors {
    /// Creates an empty collection.
    pub fn new(release: Release) -> Self {
        Self { release, now: Timestamp::default(), list: BoundedErrors::default() }
    }

    /// `Required value`
    pub fn required(&mut self, field: &FieldValue<'_, '_>, detail: &str) {
        self.list.push(FieldError::required(&field.path, detail));
    }

    /// `Required value` without detail, if the text is empty. Returns true if it is not.
    pub(crate) fn require_text(&mut self, field: &FieldValue<'_, '_>) -> bool {
        self.require_text_with(field, "")
    }

    /// `Required value` with a detail, if the text is empty. Returns true if it is not.
    pub(crate) fn require_text_with(&mut self, field: &FieldValue<'_, '_>, detail: &str) -> bool {
        let is_empty = field.text().is_empty();
        if is_empty {
            self.required(field, detail);
        }
        !is_empty
    }

    /// `Forbidden`
    pub fn forbidden(&mut self, field: &FieldValue<'_, '_>, detail: &str) {
        self.list.push(FieldError::forbidden(&field.path, detail));
    }

    /// `Forbidden`, if the field is present.
    pub(crate) fn forbid_if_set(&mut self, field: &FieldValue<'_, '_>, detail: &str) {
        if field.is_set() {
            self.forbidden(field, detail);
        }
    }

    /// `Invalid value: VALUE`
    pub fn invalid(&mut self, field: &FieldValue<'_, '_>, detail: impl Into<String>) {
        if !self.list.is_full() {
            let bad = BadValue::new(field.value, self.release);
            self.list.push(FieldError::invalid(&field.path, bad, detail));
        }
    }

    /// `Invalid value: VALUE`, for a value of the internal type `type_`, such as `[]core.Toleration`.
    pub(crate) fn invalid_typed(&mut self, field: &FieldValue<'_, '_>, type_: &str, detail: impl Into<String>) {
        if !self.list.is_full() {
            self.list.push(FieldError::invalid(&field.path, self.typed(field, type_), detail));
        }
    }

    /// A value of an internal type as an error shows it.
    pub fn typed(&self, field: &FieldValue<'_, '_>, type_: &str) -> BadValue {
        internal::bad_value(type_, field.value, field.empties, self.release)
    }

    /// A time as an error shows it: as Go prints it before 1.34. An absent one is the zero time there.
    pub(crate) fn time(&self, field: &FieldValue<'_, '_>) -> BadValue {
        if self.release.since(V1_34) {
            return BadValue::new(field.value, self.release);
        }
        let time = field.time().map_or_else(|| "0001-01-01T00:00:00Z".to_owned(), time::format);
        let nanos = format!(".{:09}", field.time().map_or(0, |time| time.nanos));
        let fraction = nanos.trim_end_matches('0').trim_end_matches('.');
        BadValue::Raw(format!("{}{fraction} +0000 UTC", time.trim_end_matches('Z').replace('T', " ")))
    }

    /// `Unsupported value: VALUE`, for a value of an internal type.
    pub(crate) fn not_supported_typed(&mut self, field: &FieldValue<'_, '_>, type_: &str, supported: &[&str]) {
        let bad = self.typed(field, type_);
        self.list.push(FieldError::not_supported(&field.path, bad, supported));
    }

    /// `Invalid value: VALUE`, where the server shows another value than that of the field.
    pub(crate) fn invalid_value(&mut self, path: &FieldPath<'_>, bad: impl Into<BadValue>, detail: impl Into<String>) {
        self.list.push(FieldError::invalid(path, bad, detail));
    }

    /// An error for each message about a text, such as a name.
    pub fn messages(&mut self, field: &FieldValue<'_, '_>, messages: Vec<String>) {
        self.messages_at(&field.path, field.text(), messages);
    }

    /// An error at `path` for each message about `text`.
    pub(crate) fn messages_at(&mut self, path: &FieldPath<'_>, text: &str, messages: Vec<String>) {
        self.list.extend(messages.into_iter().map(|message| FieldError::invalid(path, text, message)));
    }

    /// `Invalid value: NAME`, for a text of a Go type with a `String` method.
    pub(crate) fn invalid_stringer(&mut self, path: &FieldPath<'_>, text: &str, detail: impl Into<String>) {
        let bad = self.stringer(text);
        self.list.push(FieldError::invalid(path, bad, detail));
    }

    /// A text of a Go type with a `String` method, such as the name of a resource. Before 1.34, it has no quotes.
    pub(crate) fn stringer(&self, text: &str) -> BadValue {
        if self.release.since(V1_34) { BadValue::from(text) } else { BadValue::Raw(text.to_owned()) }
    }

    /// `Unsupported value: TEXT`
    pub fn not_supported(&mut self, field: &FieldValue<'_, '_>, supported: &[&str]) {
        self.list.push(FieldError::not_supported(&field.path, field.text(), supported));
    }

    /// `Required value` for an empty text, and `Unsupported value` for one that is not in the list.
    pub fn one_of(&mut self, field: &FieldValue<'_, '_>, supported: &[&str]) {
        if self.require_text(field) {
            self.supported(field, supported);
        }
    }

    /// `Unsupported value` for a text that is not in the list.
    pub fn supported(&mut self, field: &FieldValue<'_, '_>, supported: &[&str]) {
        if !supported.contains(&field.text()) {
            self.not_supported(field, supported);
        }
    }

    /// `Duplicate value: TEXT`
    pub fn duplicate(&mut self, field: &FieldValue<'_, '_>) {
        self.list.push(FieldError::duplicate(&field.path, field.text()));
    }

    /// `Not found: TEXT`
    pub fn not_found(&mut self, field: &FieldValue<'_, '_>) {
        self.list.push(FieldError::not_found(&field.path, field.text()));
    }

    /// `Too long: may not be more than MAX bytes`
    pub fn too_long(&mut self, field: &FieldValue<'_, '_>, max: i64) {
        self.list.push(FieldError::too_long(&field.path, max, self.release));
    }

    /// `Too many: N: must have at most MAX items`
    pub fn too_many(&mut self, field: &FieldValue<'_, '_>, actual: usize, max: i64) {
        let actual = i64::try_from(actual).unwrap_or(i64::MAX);
        self.list.push(FieldError::too_many(&field.path, actual, max, self.release));
    }

    /// `ValidateNonnegativeField`
    pub(crate) fn nonnegative(&mut self, field: &FieldValue<'_, '_>) {
        if field.int().is_some_and(|value| value < 0) {
            self.invalid(field, "must be greater than or equal to 0");
        }
    }

    /// `ValidatePositiveField`; an absent value counts as 0.
    pub fn positive(&mut self, field: &FieldValue<'_, '_>) {
        let value = field.int().unwrap_or_default();
        if value <= 0 {
            self.invalid_value(&field.path, value, "must be greater than zero");
        }
    }

    /// An error unless an integer is in the range, both ends included; an absent value counts as 0.
    pub(crate) fn in_range(&mut self, field: &FieldValue<'_, '_>, min: i64, max: i64) {
        let value = field.int().unwrap_or_default();
        if !(min..=max).contains(&value) {
            self.invalid_value(&field.path, value, range(min, max));
        }
    }
}

/// `InclusiveRangeError`
pub fn range(min: i64, max: i64) -> String {
    format!("must be between {min} and {max}, inclusive")
}
