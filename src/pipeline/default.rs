//! Defaulting (`apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go`): sets missing properties, and
//! properties with a null that is not allowed, to the default in their schema, recursively and including the values
//! just set.

use super::Defaulted;
use super::compiled::Node;
use super::unknown::Path;
use crate::value::Value;

/// Sets defaults in `v`, and appends them to `defaulted` if it is given.
pub fn set_defaults(v: &mut Value, node: &Node, defaulted: Option<&mut Vec<Defaulted>>) {
    Walk { defaulted }.value(v, node, Path::Root);
}

struct Walk<'a> {
    defaulted: Option<&'a mut Vec<Defaulted>>,
}

impl Walk<'_> {
    fn record(&mut self, path: Path<'_>, value: &Value) {
        if let Some(defaulted) = &mut self.defaulted {
            defaulted.push(Defaulted { path: path.text(), value: value.clone() });
        }
    }

    fn value(&mut self, v: &mut Value, node: &Node, path: Path<'_>) {
        if !node.has.inner_defaults {
            return;
        }
        match v {
            Value::Object(members) => {
                for (name, property) in node.defaulted_properties() {
                    let Some(default) = &property.default else { continue };
                    match members.get_mut(name) {
                        Some(v) if v.is_null() && !property.nullable => *v = default.clone(),
                        Some(_) => continue,
                        None => {
                            members.insert(name.to_owned(), default.clone());
                        }
                    }
                    self.record(Path::Key(&path, name), default);
                }
                for (name, property) in node.defaulted_properties().filter(|(_, p)| p.has.inner_defaults) {
                    let Some(v) = members.get_mut(name) else { continue };
                    self.value(v, property, Path::Key(&path, name));
                }
                let Some(additional) = node.additional_schema().filter(|a| a.has.defaults) else { return };
                for (key, v) in members.iter_mut().filter(|(key, _)| node.property(key).is_none()) {
                    self.element(v, additional, Path::Key(&path, key));
                }
            }
            Value::Array(items) => {
                let Some(node) = &node.items else { return };
                for (i, item) in items.iter_mut().enumerate() {
                    self.element(item, node, Path::Index(&path, i));
                }
            }
            _ => {}
        }
    }

    /// Sets defaults in a list item or additional property, where a null may be replaced.
    fn element(&mut self, v: &mut Value, node: &Node, path: Path<'_>) {
        if v.is_null()
            && !node.nullable
            && let Some(default) = &node.default
        {
            *v = default.clone();
            self.record(path, default);
        }
        self.value(v, node, path);
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
        set_defaults(&mut v, &n, None);
        assert_eq!(v, json(r#"{"a":1,"b":null,"o":{"p":3},"l":[5,1],"m":{"k":6},"n":[{"s":7},null]}"#));
    }
}
