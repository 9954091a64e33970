//! From an object to what is stored, and to what the writer sees of it: encode for the storage version, decode again.
//!
//! The server answers a write with what it reads back from etcd, so that a write at another version loses what the storage
//! version does not know, and numbers such as `1.0` come back as `1`.

use super::serving::{Serving, Version};
use crate::pipeline;
use crate::server::http::status::Refusal;
use crate::server::registry::metadata;
use crate::server::registry::written::Written;
use crate::value::{Value, number};
use std::sync::Arc;

impl Serving {
    /// What becomes of `object`, which was written at `version`. `decoded` tells that it came from a request's decoder
    /// and nothing was added since, so that decoding it again changes nothing but defaults.
    pub fn written(&self, mut object: Value, version: &Version, decoded: bool) -> Result<Written, Refusal> {
        integral_floats(&mut object);
        metadata::set(&mut object, "selfLink", None);
        if version.storage && decoded {
            let mut again = object.clone();
            if pipeline::default(&version.stages, &mut again).is_empty() {
                return Ok(Written { raw: object, shown: None });
            }
        }
        let raw = match self.storage() {
            Some(storage) if storage.name != version.name => self.convert(object, storage)?,
            _ => object,
        };
        let shown = self.decode_stored(&raw, version)?;
        Ok(Written { raw, shown })
    }

    /// What a dry run answers, for which nothing is stored.
    pub fn shown(&self, mut object: Value, version: &Version, decoded: bool) -> Result<Arc<Value>, Refusal> {
        if !(version.storage && decoded) {
            return Ok(self.written(object, version, decoded)?.shown());
        }
        integral_floats(&mut object);
        metadata::set(&mut object, "selfLink", None);
        if !pipeline::default(&version.stages, &mut object).is_empty() {
            object = self.convert(object, version)?;
        }
        Ok(Arc::new(object))
    }
}

/// Floats that JSON writes without fraction or exponent are integers when they are read again.
pub(in crate::server) fn integral_floats(value: &mut Value) {
    match value {
        Value::Float(x) => {
            if let Ok(i) = number::format_json(*x).parse() {
                *value = Value::Int(i);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(integral_floats),
        Value::Object(members) => members.values_mut().for_each(integral_floats),
        _ => {}
    }
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
