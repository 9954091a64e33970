//! The update of one stored object by another under the new CRD.

use super::{Plan, RehearsalError, Stage, comparable, read, write};
use crate::kubectl::Operation;
use crate::report::Difference;
use crdx_server::server::Response;
use crdx_value::Value;
use crdx_value::field::UNFINISHED;

impl Plan {
    /// Returns the differences between what creates under the old and the new CRD return.
    pub(crate) fn created_difference(old: &Value, new: &Value) -> Difference {
        Difference::between(&comparable(old, true), &comparable(new, true), old)
    }

    /// Replaces `stored`, an object of `version` that the old CRD stored, in a dry run under the new CRD.
    ///
    /// # Errors
    /// The stored object cannot be read under the new CRD, or the answer is not known.
    pub(crate) fn replace(
        &self,
        stage: &Stage,
        (version, namespace): (&str, &str),
        stored: &Value,
        updated: &Value,
    ) -> Result<Response, RehearsalError> {
        let name = stored.str_at(&["metadata", "name"]).unwrap_or_default();
        let seeded = stage.new.seed(&self.name, namespace, stored.clone());
        seeded.map_err(|error| RehearsalError::New(error.to_string().into()))?;
        let answer = self.put(stage, &self.path(version, namespace, name), updated);
        stage.new.withdraw(&self.name, namespace, name);
        answer
    }

    fn put(&self, stage: &Stage, path: &str, updated: &Value) -> Result<Response, RehearsalError> {
        let existing = read(&stage.new, path, self.now).map_err(RehearsalError::New)?;
        let mut sent = updated.clone();
        if let Some(metadata) = sent.get_mut("metadata").and_then(Value::as_object_mut) {
            for key in ["name", "namespace", "resourceVersion", "uid"] {
                metadata.extend(existing.at(&["metadata", key]).map(|value| (key.to_owned(), value.clone())));
            }
        }
        let path = format!("{path}?dryRun=All&fieldValidation=Ignore");
        let response = stage.new.handle_owned(write(Operation::Replace, &path, sent, self.now));
        if response.trace.is_unfinished { Err(RehearsalError::New(UNFINISHED.into())) } else { Ok(response) }
    }
}
