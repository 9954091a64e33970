//! The name of an object in files: `[KIND/][NAMESPACE/]NAME`.

use super::error::ArgumentError;
use crdx_value::Value;
use std::fmt;
use std::str::FromStr;

/// Selects an object by its name, and by its kind and namespace if these are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName(Vec<String>);

impl FromStr for ObjectName {
    type Err = ArgumentError;

    fn from_str(text: &str) -> Result<Self, ArgumentError> {
        let parts: Vec<String> = text.split('/').map(str::to_owned).collect();
        if parts.len() > 3 || parts.iter().any(String::is_empty) {
            return Err(ArgumentError::Form("[KIND/][NAMESPACE/]NAME"));
        }
        Ok(Self(parts))
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

impl ObjectName {
    /// Returns true if this is the name of an object. Of two parts, the first is a kind or a namespace.
    pub fn is_of(&self, object: &Value) -> bool {
        let is = |path: &[&str], text: &str| object.str_at(path) == Some(text);
        let is_kind = |text: &str| object.str_at(&["kind"]).is_some_and(|kind| kind.eq_ignore_ascii_case(text));
        let is_namespace = |text: &str| is(&["metadata", "namespace"], text);
        let is_name = |text: &str| is(&["metadata", "name"], text);
        match self.0.as_slice() {
            [name] => is_name(name),
            [first, name] => is_name(name) && (is_kind(first) || is_namespace(first)),
            [kind, namespace, name] => is_kind(kind) && is_namespace(namespace) && is_name(name),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    #[test]
    fn kind_and_namespace_may_be_given() {
        let object = yaml::read(b"{kind: CronTab, metadata: {name: a, namespace: b}}").unwrap();
        let is = |text: &str| text.parse::<ObjectName>().unwrap().is_of(&object);
        assert!(["a", "b/a", "crontab/a", "CronTab/b/a"].into_iter().all(is));
        assert!(!["b", "c/a", "b/b", "b/crontab/a", "crontab/c/a"].into_iter().any(is));
        for wrong in ["", "a/", "/a", "a/b/c/d"] {
            assert!(wrong.parse::<ObjectName>().is_err(), "{wrong}");
        }
    }
}
