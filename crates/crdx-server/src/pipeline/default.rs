//! Defaulting (`apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go`): sets missing properties, and
//! properties with a null that is not allowed, to the default in their schema, recursively and including the values
//! just set.

use super::Defaulted;
use super::compiled::SchemaNode;
use super::unknown::Path;
use crdx_value::Value;
use crdx_value::steps::{Spent, memory};

/// The most memory of the defaults of one object, in bytes. Each item of a list may get a large default, so an object
/// may become much larger than the request and the CRD. etcd stores no object of more than 1.5 MiB.
const DEFAULTS: usize = 16 << 20;

/// Sets defaults in `v`, and appends them to `defaulted` if it is given.
///
/// # Errors
/// Returns an error if the defaults need more memory than an object that can be stored.
pub fn set_defaults(v: &mut Value, node: &SchemaNode, defaulted: Option<&mut Vec<Defaulted>>) -> Result<(), Spent> {
    SchemaDefaulter { defaulted, left: DEFAULTS }.value(v, node, Path::Root)
}

struct SchemaDefaulter<'a> {
    defaulted: Option<&'a mut Vec<Defaulted>>,
    left: usize,
}

impl SchemaDefaulter<'_> {
    fn take(&mut self, bytes: usize) -> Result<(), Spent> {
        self.left = self.left.checked_sub(bytes).ok_or(Spent)?;
        Ok(())
    }

    fn record(&mut self, path: Path<'_>, value: &Value) -> Result<(), Spent> {
        let bytes = memory(value);
        self.take(bytes)?;
        if let Some(defaulted) = &mut self.defaulted {
            let path = path.text();
            self.left = self.left.checked_sub(path.len() + bytes).ok_or(Spent)?;
            defaulted.push(Defaulted { path, value: value.clone() });
        }
        Ok(())
    }

    fn value(&mut self, v: &mut Value, node: &SchemaNode, path: Path<'_>) -> Result<(), Spent> {
        if !node.has.inner_defaults {
            return Ok(());
        }
        match v {
            Value::Object(members) => {
                for (name, property) in node.defaulted_properties() {
                    self.take(1)?;
                    let Some(default) = &property.default else { continue };
                    match members.get_mut(name) {
                        Some(v) if v.is_null() && !property.nullable => *v = default.clone(),
                        Some(_) => continue,
                        None => {
                            members.insert(name.to_owned(), default.clone());
                        }
                    }
                    self.record(Path::Key(&path, name), default)?;
                }
                for (name, property) in node.defaulted_properties().filter(|(_, p)| p.has.inner_defaults) {
                    let Some(v) = members.get_mut(name) else { continue };
                    self.value(v, property, Path::Key(&path, name))?;
                }
                let Some(additional) = node.additional_schema().filter(|a| a.has.defaults) else { return Ok(()) };
                for (key, v) in members.iter_mut().filter(|(key, _)| node.property(key).is_none()) {
                    self.element(v, additional, Path::Key(&path, key))?;
                }
            }
            Value::Array(items) => {
                let Some(node) = &node.items else { return Ok(()) };
                for (i, item) in items.iter_mut().enumerate() {
                    self.element(item, node, Path::Index(&path, i))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sets defaults in a list item or additional property, where a null may be replaced.
    fn element(&mut self, v: &mut Value, node: &SchemaNode, path: Path<'_>) -> Result<(), Spent> {
        if v.is_null()
            && !node.nullable
            && let Some(default) = &node.default
        {
            *v = default.clone();
            self.record(path, default)?;
        }
        self.value(v, node, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, node};

    #[test]
    fn defaults_apply_inside_default_values() {
        let n = node(
            r#"{"properties":{"a":{"default":1},"b":{"default":2,"nullable":true},
                "o":{"default":{},"properties":{"p":{"default":3}}},"q":{"properties":{"r":{"default":4}}},
                "l":{"items":{"default":5}},"m":{"additionalProperties":{"default":6}},
                "n":{"items":{"properties":{"s":{"default":7}}}}}}"#,
        );
        let mut v = json(r#"{"a":null,"b":null,"l":[null,1],"m":{"k":null},"n":[{},null]}"#);
        set_defaults(&mut v, &n, None).unwrap();
        assert_eq!(v, json(r#"{"a":1,"b":null,"o":{"p":3},"l":[5,1],"m":{"k":6},"n":[{"s":7},null]}"#));
    }

    #[test]
    fn the_memory_of_defaults_is_limited() {
        let schema = format!(r#"{{"items":{{"properties":{{"s":{{"default":"{}"}}}}}}}}"#, "x".repeat(40_000));
        let with = |count: usize, recorded: Option<&mut Vec<Defaulted>>| {
            let mut v = Value::Array(vec![json("{}"); count]);
            set_defaults(&mut v, &node(&schema), recorded)
        };
        assert_eq!((with(400, None), with(500, None)), (Ok(()), Err(Spent)));
        // The record of the defaults needs the same memory again.
        assert_eq!((with(200, Some(&mut Vec::new())), with(400, Some(&mut Vec::new()))), (Ok(()), Err(Spent)));
        // A wide schema takes long for every object, even if it sets nothing.
        let wide: Vec<String> =
            (0..2000).map(|i| format!(r#""p{i}":{{"properties":{{"q":{{"default":1}}}}}}"#)).collect();
        let wide = node(&format!(r#"{{"items":{{"properties":{{{}}}}}}}"#, wide.join(",")));
        let mut v = Value::Array(vec![json("{}"); 20_000]);
        assert_eq!(set_defaults(&mut v, &wide, None), Err(Spent));
    }
}
