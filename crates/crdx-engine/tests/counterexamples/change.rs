//! Single changes of the schema of a CRD.

use super::rng::Rng;
use crdx_text::yaml;
use crdx_value::{Map, Value};

/// Removes all versions but the stored one, and the conversion.
pub fn keep_one_version(crd: &mut Value) {
    crd.as_object_mut().unwrap().remove("status");
    let spec = crd.get_mut("spec").unwrap().as_object_mut().unwrap();
    spec.remove("conversion");
    let Some(Value::Array(versions)) = spec.get_mut("versions") else { return };
    versions.retain(|version| version.get("storage") == Some(&Value::Bool(true)));
    for version in versions {
        version.as_object_mut().unwrap().insert("served".to_owned(), Value::Bool(true));
    }
}

fn root(crd: &mut Value) -> Option<&mut Value> {
    let Some(Value::Array(versions)) = crd.get_mut("spec")?.get_mut("versions") else { return None };
    versions.first_mut()?.get_mut("schema")?.get_mut("openAPIV3Schema")
}

/// Returns the keys from the root to every node.
fn nodes(node: &Value, path: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    all.push(path.clone());
    let mut inner = |keys: &[&str], child: &Value| {
        path.extend(keys.iter().map(|key| (*key).to_owned()));
        nodes(child, path, all);
        path.truncate(path.len() - keys.len());
    };
    for (name, child) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
        inner(&["properties", name], child);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = node.get(key).filter(|child| child.as_object().is_some()) {
            inner(&[key], child);
        }
    }
}

fn at<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Map> {
    path.iter().try_fold(value, |value, key| value.get_mut(key))?.as_object_mut()
}

/// Returns the CRD with one change, and its description; `None` if the drawn change does not apply.
pub fn single(crd: &Value, rng: &mut Rng) -> Option<(Value, String)> {
    let mut new = crd.clone();
    let root = root(&mut new)?;
    let mut paths = Vec::new();
    nodes(root, &mut Vec::new(), &mut paths);
    let is_own =
        |path: &&Vec<String>| path.len() > 1 && !matches!(path[1].as_str(), "metadata" | "apiVersion" | "kind");
    let paths: Vec<&Vec<String>> = paths.iter().filter(is_own).collect();
    if paths.is_empty() {
        return None;
    }
    let path = *rng.pick(&paths);
    let node = at(root, path)?;
    let type_ = node.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let what = changed(node, &type_, rng)?;
    Some((new, format!("{} {what}", path.join("."))))
}

fn changed(node: &mut Map, type_: &str, rng: &mut Rng) -> Option<String> {
    let yaml = |text: &str| yaml::read(text.as_bytes()).unwrap();
    let set = |node: &mut Map, key: &str, text: &str| {
        node.insert(key.to_owned(), yaml(text));
        Some(format!("{key}: {text}"))
    };
    match (type_, rng.below(10)) {
        (_, 0) => {
            let keys = [
                "enum",
                "pattern",
                "maxLength",
                "minLength",
                "maxItems",
                "minItems",
                "maximum",
                "minimum",
                "format",
                "default",
                "nullable",
                "x-kubernetes-validations",
                "oneOf",
                "anyOf",
                "required",
                "x-kubernetes-list-type",
            ];
            let present: Vec<&&str> = keys.iter().filter(|key| node.contains_key(key)).collect();
            if present.is_empty() {
                return None;
            }
            let key = **rng.pick(&present);
            node.remove(key);
            Some(format!("without {key}"))
        }
        (_, 1) => {
            let Some(Value::Array(values)) = node.get_mut("enum") else { return set(node, "nullable", "true") };
            if rng.chance(3) {
                values.push("another".into());
                return Some("a longer enum".to_owned());
            }
            let index = rng.below(values.len());
            values.remove(index);
            (!values.is_empty()).then(|| format!("an enum without value {index}"))
        }
        ("object", 2 | 3) => {
            let names: Vec<String> = node.get("properties")?.as_object()?.keys().cloned().collect();
            if names.is_empty() {
                return None;
            }
            let name = rng.pick(&names).clone();
            match rng.below(3) {
                0 => {
                    node.get_mut("properties")?.as_object_mut()?.remove(&name);
                    Some(format!("without property {name}"))
                }
                1 => {
                    let mut required = node.get("required").and_then(Value::as_array).unwrap_or_default().to_vec();
                    required.push(name.as_str().into());
                    node.insert("required".to_owned(), required.into());
                    Some(format!("requires {name}"))
                }
                _ => {
                    let rule = format!("[{{rule: \"!has(self.{name})\"}}]");
                    set(node, "x-kubernetes-validations", &rule)
                }
            }
        }
        ("object", 4 | 5) => {
            let added = [
                "{type: string}",
                "{type: integer, default: 3}",
                "{type: object, properties: {deep: {type: string, default: z}}}",
            ];
            let schema = *rng.pick(&added);
            node.get_mut("properties")?.as_object_mut()?.insert("addedField".to_owned(), yaml(schema));
            Some(format!("with addedField {schema}"))
        }
        ("object", _) => set(node, rng.text(&["minProperties", "maxProperties"]), rng.text(&["1", "2", "3"])),
        ("string", 2) => set(node, "maxLength", &format!("{}", [0, 1, 5, 12, 60, 253][rng.below(6)])),
        ("string", 3) => set(node, "minLength", &format!("{}", [1, 2, 8, 20][rng.below(4)])),
        ("string", 4) => {
            set(node, "pattern", rng.text(&["'^[a-z]+$'", "'^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'", "'^.*$'", "'e'"]))
        }
        ("string", 5) => set(node, "format", rng.text(&["date-time", "uri", "ipv4", "int32"])),
        ("string", 6) => set(node, "default", rng.text(&["a", "example"])),
        ("string", 7) => {
            let rules = [
                "self != 'zebra'",
                "self.size() < 4",
                "self.startsWith('a')",
                "self == oldSelf",
                "!self.contains('.')",
                "self.matches('^[^-]*$')",
            ];
            set(node, "x-kubernetes-validations", &format!("[{{rule: \"{}\"}}]", rng.pick(&rules)))
        }
        ("string", _) => set(node, "type", "integer"),
        ("integer" | "number", 2 | 3) => set(node, "minimum", rng.text(&["0", "1", "-5", "100"])),
        ("integer" | "number", 4 | 5) => set(node, "maximum", rng.text(&["0", "10", "65535"])),
        ("integer" | "number", 6) => set(node, "multipleOf", rng.text(&["2", "5"])),
        ("integer" | "number", 7) => set(node, "default", rng.text(&["1", "7"])),
        ("integer" | "number", 8) => set(node, "x-kubernetes-validations", "[{rule: \"self >= oldSelf\"}]"),
        ("integer" | "number", _) => set(node, "type", if type_ == "integer" { "number" } else { "integer" }),
        ("array", 2 | 3) => set(node, "maxItems", rng.text(&["0", "1", "2", "16"])),
        ("array", 4) => set(node, "minItems", rng.text(&["1", "2"])),
        ("array", 5) => set(node, "x-kubernetes-list-type", "set"),
        ("array", _) => set(node, "x-kubernetes-validations", "[{rule: \"self.size() != 1\"}]"),
        ("boolean", 2..=4) => set(node, "default", rng.text(&["true", "false"])),
        ("boolean", _) => set(node, "x-kubernetes-validations", "[{rule: \"self\"}]"),
        _ => None,
    }
}
