//! Converts an object to its stored form and to the version of the request: encodes it in the storage version and
//! decodes it again.
//!
//! The server returns the object that it reads back from etcd, so a write at another version loses fields that the
//! storage version does not specify, and numbers such as `1.0` become `1`.

use crate::pipeline;
use crate::server::http::calls::Calls;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::registry::written::Written;
use crate::server::strategy::serving::{Serving, Version};
use crdx_value::{Value, number};

impl Serving {
    /// Converts `object`, written at `version`, to its stored form. `decoded` is true if it comes from a request
    /// decoder and nothing was added since, so that decoding it again only sets defaults.
    pub fn written(
        &self,
        mut object: Value,
        version: &Version,
        decoded: bool,
        calls: &Calls,
    ) -> Result<Written, Refusal> {
        integral_floats(&mut object);
        metadata::set(&mut object, "selfLink", None);
        let is_complete = || {
            !self.may_lack_defaults(version)
                || pipeline::default(&version.stages, &mut object.clone()).is_ok_and(|defaulted| defaulted.is_empty())
        };
        if version.storage && decoded && is_complete() {
            return Ok(Written { raw: object, shown: None, dropped: Vec::new() });
        }
        let (raw, dropped) = match self.storage() {
            Some(storage) if storage.name != version.name => self.convert_to_storage(object, storage, calls)?,
            _ => (object, Vec::new()),
        };
        let shown = self.decode_stored(&raw, version, calls)?;
        Ok(Written { raw, shown, dropped })
    }

    /// Like [`Self::written`], for a dry run, which needs no copy in the storage version.
    pub fn dry_run(
        &self,
        mut object: Value,
        version: &Version,
        decoded: bool,
        calls: &Calls,
    ) -> Result<Written, Refusal> {
        // The object of a Go type is always decoded, and only storage removes the field (`PrepareObjectForStorage`).
        let has_go_type = self.built_in.has_go_type();
        if !(version.storage && (decoded || has_go_type)) {
            return self.written(object, version, decoded, calls);
        }
        integral_floats(&mut object);
        if !has_go_type {
            metadata::set(&mut object, "selfLink", None);
        }
        if self.may_lack_defaults(version) && !pipeline::default(&version.stages, &mut object)?.is_empty() {
            object = self.convert(object, version, calls)?;
        }
        Ok(Written { raw: object, shown: None, dropped: Vec::new() })
    }

    /// Returns true if an object that was decoded and defaulted may lack defaults after its preparation.
    fn may_lack_defaults(&self, version: &Version) -> bool {
        self.built_in.may_remove_defaults() || version.stages.drops_defaults()
    }
}

/// Converts floats that JSON writes without fraction and exponent to integers, as reading the stored JSON would.
pub(in crate::server) fn integral_floats(value: &mut Value) {
    match value {
        Value::Float(x) => {
            if let Ok(i) = number::format_json(*x).parse() {
                *value = Value::Int(i);
            }
        }
        Value::Array(items) => items.iter_mut().filter(|item| may_change(item)).for_each(integral_floats),
        Value::Object(members) => members.values_mut().filter(|value| may_change(value)).for_each(integral_floats),
        _ => {}
    }
}

/// False for a value that is certainly not changed by [`integral_floats`], like most values.
fn may_change(value: &Value) -> bool {
    matches!(value, Value::Float(_) | Value::Array(_) | Value::Object(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_back_as_integers() {
        let mut v = Value::Array(vec![Value::Float(1.0), Value::Float(-0.0), Value::Float(1e20), Value::Float(1.5)]);
        integral_floats(&mut v);
        assert_eq!(v, Value::Array(vec![Value::Int(1), Value::Int(0), Value::Float(1e20), Value::Float(1.5)]));
    }
}
