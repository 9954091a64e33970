//! `/scale`: `customresource/etcd.go`. A Scale is made of the object at the paths the definition names; writing one is an
//! update of the object.

use super::body;
use super::context::{Answer, Context};
use super::decode;
use super::get;
use super::managed_fields::{Ownership, ScaleFields, Subresource};
use super::metadata;
use super::negotiate;
use super::options::{self, Write, WriteOptions};
use super::patch::{self, Kind, apply::Config};
use super::serving::{Serving, Version};
use super::status::Refusal;
use super::update::{Part, Update};
use crate::pipeline::ScalePaths;
use crate::value::{Map, Value, object, print};
use std::sync::Arc;

mod typed;

/// Stands for replicas that were never set.
const UNSET: i64 = i32::MIN as i64;

/// Answers a GET.
pub(super) fn get(ctx: &Context<'_>, serving: &Serving, version: &Version) -> Result<Answer, Refusal> {
    let paths = paths(version)?;
    let object = get::read(ctx, serving, version)?;
    let scale = Scale::of(&object, paths).map_err(Refusal::unclassified)?;
    if !scale.found {
        return Err(Refusal::internal(format!("the spec replicas field \"{}\" does not exist", paths.spec_replicas)));
    }
    Ok(Answer::object(200, Arc::new(scale.to_value())))
}

/// Answers a PUT.
pub(super) fn put(ctx: &mut Context<'_>, serving: &Serving, version: &Version) -> Result<Answer, Refusal> {
    let name = ctx.name()?;
    body::check_size(&ctx.request.body)?;
    let options = options::write_options(&ctx.query, Write::Update)?;
    let input = negotiate::input(ctx.request.content_type.as_deref())?;
    let mut scale = typed::request_scale(ctx, input, &options)?;
    decode::match_namespace(&mut scale, &ctx.target.namespace.clone())?;
    decode::check_name(&scale, &name)?;
    let uid = metadata::text(&scale, "uid").to_owned();
    let ownership = Ownership { serving, version, subresource: Subresource::Scale };
    write(ctx, &ownership, &options, &uid, &mut |ctx, current| {
        let mut scale = scale.clone();
        own(ctx, &ownership, current, &mut scale, &options);
        Ok(scale)
    })
}

/// Answers a PATCH.
pub(super) fn patch(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    kind: Kind,
) -> Result<Answer, Refusal> {
    ctx.name()?;
    let (patch, options) = patch::read(ctx, kind)?;
    let ownership = Ownership { serving, version, subresource: Subresource::Scale };
    let Some(patch) = patch else {
        let config = Config::read(ctx)?;
        let mut transform =
            |ctx: &mut Context<'_>, current: &Value| config.apply(ctx, &ownership, Some(current), &options);
        return write(ctx, &ownership, &options, "", &mut transform);
    };
    let mut transform = |ctx: &mut Context<'_>, current: &Value| {
        let (patched, strict) = patch.apply(current.clone(), &options)?;
        let mut scale = typed::patched_scale(ctx, patched, strict, &options)?;
        own(ctx, &ownership, current, &mut scale, &options);
        decode::match_namespace(&mut scale, &ctx.target.namespace.clone())?;
        decode::check_name(&scale, &ctx.target.name)?;
        Ok(scale)
    };
    write(ctx, &ownership, &options, "", &mut transform)
}

/// Makes the new Scale from the current one.
type Transform<'t> = dyn FnMut(&mut Context<'_>, &Value) -> Result<Value, Refusal> + 't;

fn write(
    ctx: &mut Context<'_>,
    ownership: &Ownership<'_>,
    options: &WriteOptions,
    uid: &str,
    transform: &mut Transform<'_>,
) -> Result<Answer, Refusal> {
    let (serving, version) = (ownership.serving, ownership.version);
    let paths = paths(version)?;
    let update = Update { serving, version, part: Part::Object, decoded: false, uid, options };
    let mut on_object = |ctx: &mut Context<'_>, existing: &Arc<Value>| {
        let mut current = Scale::of(existing, paths).map_err(Refusal::unclassified)?;
        if !current.found {
            current.replicas = UNSET;
        }
        let fields = ScaleFields::of(serving, version, existing)?;
        let mut current = current.to_value();
        fields.show(&mut current);
        let scale = transform(ctx, &current)?;
        let replicas = scale.at(&["spec", "replicas"]).and_then(Value::as_int).unwrap_or_default();
        if replicas == UNSET {
            return Err(Refusal::bad_request(format!(
                "the spec replicas field \"{}\" cannot be empty",
                paths.spec_replicas
            )));
        }
        let mut object = (**existing).clone();
        set_nested(&mut object, &paths.spec_replicas, Value::Int(replicas)).map_err(Refusal::unclassified)?;
        let revision = metadata::text(&scale, "resourceVersion");
        if !revision.is_empty() {
            metadata::set_text(&mut object, "resourceVersion", revision);
        }
        fields.carry(&scale, &mut object)?;
        Ok(object)
    };
    let updated = update.run(ctx, &mut on_object)?;
    let scale = Scale::of(&updated, paths).map_err(Refusal::bad_request)?;
    Ok(Answer::object(200, Arc::new(scale.to_value())))
}

/// Settles the managedFields of a written Scale. It is seen as the server's type writes it: zero replicas are left out.
fn own(ctx: &Context<'_>, ownership: &Ownership<'_>, current: &Value, scale: &mut Value, options: &WriteOptions) {
    let replicas = scale.at(&["spec", "replicas"]).and_then(Value::as_int).unwrap_or_default();
    let spec: Map = (replicas != 0).then(|| ("replicas".to_owned(), Value::Int(replicas))).into_iter().collect();
    let mut seen = object([
        ("kind", Value::from("Scale")),
        ("apiVersion", Value::from("autoscaling/v1")),
        ("metadata", Value::Object(Map::new())),
        ("spec", Value::Object(spec)),
    ]);
    ownership.update(ctx, Some(current), &mut seen, options);
    metadata::set(scale, "managedFields", metadata::get(&seen, "managedFields").cloned());
}

fn paths(version: &Version) -> Result<&ScalePaths, Refusal> {
    version.scale().ok_or_else(|| Refusal::internal("could not properly serve the subresource"))
}

/// The Scale of an object, where GET would show one.
pub(super) fn of(object: &Value, paths: &ScalePaths) -> Option<Value> {
    Scale::of(object, paths).ok().filter(|scale| scale.found).map(|scale| scale.to_value())
}

/// A Scale read from an object.
struct Scale {
    metadata: Map,
    replicas: i64,
    /// Whether the object has replicas.
    found: bool,
    status_replicas: i64,
    selector: String,
}

impl Scale {
    fn of(object: &Value, paths: &ScalePaths) -> Result<Self, String> {
        let spec = nested_int(object, &paths.spec_replicas)?;
        let status = nested_int(object, &paths.status_replicas)?;
        let selector = match paths.label_selector.as_deref().filter(|p| !p.is_empty()) {
            Some(path) => nested_text(object, path)?,
            None => String::new(),
        };
        let mut metadata = Map::new();
        for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            if let Some(value) = metadata::get(object, key) {
                metadata.insert(key.to_owned(), value.clone());
            }
        }
        let int32 = |i: Option<i64>| i64::from(i.unwrap_or_default() as i32);
        Ok(Self { metadata, replicas: int32(spec), found: spec.is_some(), status_replicas: int32(status), selector })
    }

    fn to_value(&self) -> Value {
        let mut spec = Map::new();
        if self.replicas != 0 {
            spec.insert("replicas".to_owned(), Value::Int(self.replicas));
        }
        let mut status = Map::new();
        status.insert("replicas".to_owned(), Value::Int(self.status_replicas));
        if !self.selector.is_empty() {
            status.insert("selector".to_owned(), Value::from(self.selector.as_str()));
        }
        object([
            ("kind", Value::from("Scale")),
            ("apiVersion", Value::from("autoscaling/v1")),
            ("metadata", Value::Object(self.metadata.clone())),
            ("spec", Value::Object(spec)),
            ("status", Value::Object(status)),
        ])
    }
}

fn split(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

/// `unstructured.NestedFieldNoCopy`
fn nested<'v>(object: &'v Value, path: &str) -> Result<Option<&'v Value>, String> {
    let fields = split(path);
    let mut at = object;
    for (i, field) in fields.iter().enumerate() {
        match at {
            Value::Null => return Ok(None),
            Value::Object(members) => match members.get(*field) {
                Some(below) => at = below,
                None => return Ok(None),
            },
            other => {
                let so_far = fields.get(..=i).unwrap_or_default().join(".");
                return Err(accessor(&so_far, other, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(at))
}

fn accessor(path: &str, value: &Value, expected: &str) -> String {
    format!(
        ".{path} accessor error: {} is of the type {}, expected {expected}",
        print::format_v(value),
        print::type_name(value)
    )
}

fn nested_int(object: &Value, path: &str) -> Result<Option<i64>, String> {
    match nested(object, path)? {
        None => Ok(None),
        Some(Value::Int(i)) => Ok(Some(*i)),
        Some(other) => Err(accessor(&split(path).join("."), other, "int64")),
    }
}

fn nested_text(object: &Value, path: &str) -> Result<String, String> {
    match nested(object, path)? {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(accessor(&split(path).join("."), other, "string")),
    }
}

/// `unstructured.SetNestedField`
fn set_nested(object: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let fields = split(path);
    let Some((last, parents)) = fields.split_last() else { return Ok(()) };
    let mut at = object;
    for (i, field) in parents.iter().enumerate() {
        let Some(members) = at.as_object_mut() else { return Ok(()) };
        let below = members.entry((*field).to_owned()).or_insert_with(|| Value::Object(Map::new()));
        if !matches!(below, Value::Object(_)) {
            let so_far = fields.get(..=i).unwrap_or_default().join(".");
            return Err(format!("value cannot be set because .{so_far} is not a map[string]interface{{}}"));
        }
        at = below;
    }
    if let Some(members) = at.as_object_mut() {
        members.insert((*last).to_owned(), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json::to_string;

    #[test]
    fn zero_replicas_vanish_from_spec_alone() {
        let paths = ScalePaths {
            spec_replicas: ".spec.replicas".to_owned(),
            status_replicas: ".status.replicas".to_owned(),
            label_selector: None,
        };
        let o = object([("spec", object([("replicas", Value::Int(0))]))]);
        let scale = Scale::of(&o, &paths).unwrap();
        assert!(scale.found);
        assert_eq!(
            to_string(&scale.to_value()),
            r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{},"spec":{},"status":{"replicas":0}}"#
        );
        let o = object([("spec", Value::Int(3))]);
        assert_eq!(
            Scale::of(&o, &paths).err().as_deref(),
            Some(".spec.replicas accessor error: 3 is of the type int64, expected map[string]interface{}")
        );
    }

    #[test]
    fn replicas_are_set_where_there_was_nothing() {
        let mut o = object([("kind", "X")]);
        set_nested(&mut o, ".spec.a.replicas", Value::Int(2)).unwrap();
        assert_eq!(o.at(&["spec", "a", "replicas"]), Some(&Value::Int(2)));
        let refused = set_nested(&mut o, ".kind.replicas", Value::Int(2));
        assert_eq!(refused, Err("value cannot be set because .kind is not a map[string]interface{}".to_owned()));
    }
}
