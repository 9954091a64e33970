//! Random objects of a CRD, sent to servers with the old and the new CRD. The generator shares nothing with the search but the
//! two examples of the CRD; four of five objects start from one that was accepted before.

use super::rng::Rng;
use crdx_engine::examples::{self, Checker, ExampleFields};
use crdx_engine::kubectl::{Operation, request};
use crdx_engine::rehearsal::{Edit, Plan, Releases, Stage};
use crdx_engine::report::Difference;
use crdx_engine::search::Question;
use crdx_regexp::Regexp;
use crdx_server::schema::Schema;
use crdx_server::server::http::address;
use crdx_server::server::{Method, Request, ResponseBody, Server, Timestamp};
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Servers with the old and the new CRD, and the state of the generator.
pub struct RandomObjects {
    old: Checker,
    /// The old CRD without the status subresource: its answer to a create is the object with its status, as it is stored.
    stored: Option<Checker>,
    new: Server,
    plan: Plan,
    stage: Stage,
    collection: String,
    /// Objects that the old CRD accepts, from which others are made.
    pool: Vec<Value>,
    rng: Rng,
    texts: Vec<String>,
}

/// The numbers of objects that were sent and accepted, and one object for each effect that occurred.
#[derive(Default)]
pub struct Sent {
    pub found: BTreeMap<Question, Value>,
    pub objects: usize,
    pub accepted: usize,
}

impl RandomObjects {
    pub fn new(old: &Value, new: &Value, version: &str, rng: Rng) -> Option<Self> {
        let plan = Plan::new(Some(old.clone()), new.clone(), Releases::both(Release::NEWEST), Timestamp::default());
        let plan = plan.ok()?;
        let checker = Checker::new(old, Some(version), Release::NEWEST).ok()?;
        let server = Server::builder(Release::NEWEST, 0).without_managed_fields().build();
        let mut created = new.clone();
        request::remove_cluster_state(&mut created);
        let answer = server.handle_owned(request::plain(Operation::Create, address::DEFINITIONS, created));
        if answer.code >= 400 {
            return None;
        }
        let plural = new.str_at(&["spec", "names", "plural"])?;
        let namespace = plan.namespaced.then_some("default");
        let starts = [ExampleFields::Minimal, ExampleFields::Full].into_iter();
        let starts = starts.filter_map(|fields| examples::example(&checker, fields).ok()).map(|made| made.object);
        let mut texts: Vec<String> =
            ["", "a", "b1", "zebra", "0", "x.y", "A", "a-b", "10%", "5m", "1Gi", "http://a.b", "2020-02-02T02:02:02Z"]
                .map(str::to_owned)
                .to_vec();
        texts.extend([3, 4, 5, 6, 12, 13, 60, 61, 64, 254].map(|length| "a".repeat(length)));
        Some(Self {
            pool: starts.collect(),
            collection: address::collection(&plan.group, version, plural, namespace),
            stage: plan.stage().ok()?,
            stored: without_status_subresource(old, version),
            old: checker,
            new: server,
            plan,
            rng,
            texts,
        })
    }

    /// Sends random objects until each of the questions has an object, or the number or the time is spent.
    pub fn search(&mut self, open: &[Question], objects: usize, time: Duration) -> Sent {
        let mut sent = Sent::default();
        let schema = Arc::clone(&self.old.schema);
        let mut open = open.to_vec();
        let start = Instant::now();
        while !open.is_empty() && sent.objects < objects && start.elapsed() < time {
            sent.objects += 1;
            let mut object = if self.pool.is_empty() || self.rng.chance(5) {
                self.whole(&schema)
            } else {
                self.rng.pick(&self.pool).clone()
            };
            for _ in 0..self.rng.below(4) {
                self.mutate(&schema, &mut object, 0);
            }
            let Ok(stored) = self.stored.as_ref().unwrap_or(&self.old).send(&object) else { continue };
            sent.accepted += 1;
            let mut effects = self.effects(&object, &stored, &open);
            if open.contains(&Question::UpdateRejected) && self.rng.chance(3) && !self.pool.is_empty() {
                let from = self.rng.pick(&self.pool).clone();
                effects.extend(self.update(&from, &object));
            }
            self.keep(&object);
            for question in effects {
                sent.found.entry(question).or_insert_with(|| object.clone());
                open.retain(|one| *one != question);
            }
        }
        sent
    }

    fn keep(&mut self, object: &Value) {
        if self.pool.len() < 200 {
            self.pool.push(object.clone());
        } else {
            let index = self.rng.below(200);
            self.pool[index] = object.clone();
        }
    }

    fn effects(&self, object: &Value, stored: &Arc<Value>, open: &[Question]) -> Vec<Question> {
        let is_open = |questions: &[Question]| questions.iter().any(|question| open.contains(question));
        let mut all = Vec::new();
        if is_open(&[Question::CreateRejected, Question::Pruned, Question::Defaulted]) {
            all.extend(self.create(object));
        }
        if is_open(&[Question::UpdateRejected, Question::Pruned, Question::Defaulted, Question::Printed]) {
            all.extend(self.read(stored));
        }
        all
    }

    /// The effects on a create.
    fn create(&self, object: &Value) -> Vec<Question> {
        let Ok(created) = self.old.send(object) else { return Vec::new() };
        let path = format!("{}?dryRun=All&fieldValidation=Ignore", self.collection);
        let answer = self.new.handle_owned(request::plain(Operation::Create, &path, object.clone()));
        if answer.trace.is_unfinished {
            return Vec::new();
        }
        let ResponseBody::Json(other) = answer.body else { return vec![Question::CreateRejected] };
        if answer.code >= 400 {
            return vec![Question::CreateRejected];
        }
        let (was, is) = (without_metadata(&created), without_metadata(&other));
        let mut all = Vec::new();
        if lost(&without_metadata(object), &was, &is) {
            all.push(Question::Pruned);
        }
        let difference = Difference::between(&was, &is, &created);
        if !(difference.defaulted.is_empty() && difference.changed.is_empty() && difference.appearing.is_empty()) {
            all.push(Question::Defaulted);
        }
        all
    }

    /// The effects on a stored object.
    fn read(&self, stored: &Arc<Value>) -> Vec<Question> {
        let Ok(outcome) = self.plan.rehearse(&self.stage, self.namespace(), Value::clone(stored)) else {
            return Vec::new();
        };
        let difference = &outcome.difference;
        let claims = [
            (Question::UpdateRejected, matches!(outcome.edit, Edit::Blocked(_)) && !outcome.was_invalid),
            (Question::Pruned, !difference.lost.is_empty()),
            (Question::Defaulted, !difference.defaulted.is_empty() || !difference.changed.is_empty()),
            (Question::Printed, !outcome.cells.is_empty()),
        ];
        claims.into_iter().filter(|(_, holds)| *holds).map(|(question, _)| question).collect()
    }

    /// The update of one accepted object to another one: the effect is that only the new CRD rejects it.
    fn update(&self, from: &Value, to: &Value) -> Option<Question> {
        let (mut sent, _, Ok(_)) = self.old.update(from, to)? else { return None };
        let seed = request::plain(Operation::Create, &self.collection, from.clone());
        let ResponseBody::Json(stored) = self.new.handle_owned(seed).body else { return None };
        // The new CRD may reject the create of an object that the old one stored.
        let version = stored.at(&["metadata", "resourceVersion"])?.clone();
        let path = address::object(&self.collection, stored.str_at(&["metadata", "name"])?);
        sent.get_mut("metadata")?.as_object_mut()?.insert("resourceVersion".to_owned(), version);
        let query = format!("{path}?dryRun=All&fieldValidation=Ignore");
        let answer = self.new.handle_owned(request::plain(Operation::Replace, &query, sent));
        self.new.handle(&Request::new(Method::Delete, &path, ""));
        (answer.code >= 400 && !answer.trace.is_unfinished).then_some(Question::UpdateRejected)
    }

    fn namespace(&self) -> &'static str {
        if self.plan.namespaced { "default" } else { "" }
    }

    fn whole(&mut self, schema: &Schema) -> Value {
        let mut object = self.value(schema, 0);
        let members = object.as_object_mut().unwrap();
        members.insert("apiVersion".to_owned(), self.old.api_version.as_str().into());
        members.insert("kind".to_owned(), self.old.kind.as_str().into());
        members.insert("metadata".to_owned(), Map::from([("name".to_owned(), "example".into())]).into());
        object
    }

    fn text(&mut self, schema: &Schema) -> String {
        if !schema.pattern.is_empty()
            && !self.rng.chance(4)
            && let Ok(pattern) = Regexp::new(&schema.pattern)
            && let Some(text) = pattern.sample(self.rng.below(12), self.rng.below(8))
        {
            return text;
        }
        let texts = std::mem::take(&mut self.texts);
        let text = self.rng.pick(&texts).clone();
        self.texts = texts;
        text
    }

    fn value(&mut self, schema: &Schema, depth: usize) -> Value {
        if schema.nullable && self.rng.chance(8) {
            return Value::Null;
        }
        if !schema.enum_.is_empty() {
            return self.rng.pick(&schema.enum_).clone();
        }
        if let Some(default) = &schema.default
            && self.rng.chance(4)
        {
            return default.clone();
        }
        if schema.x_int_or_string {
            return if self.rng.chance(2) { Value::Int(self.rng.below(100) as i64) } else { self.text(schema).into() };
        }
        match schema.type_.as_str() {
            "string" => self.text(schema).into(),
            "boolean" => Value::Bool(self.rng.chance(2)),
            "integer" | "number" => {
                let near = [0, 1, -1, 2, 3, 5, 7, 10, 11, 99, 100, 65535, 65536, -6];
                let mut all: Vec<f64> = near.iter().map(|n| f64::from(*n)).collect();
                all.extend([schema.minimum, schema.maximum].into_iter().flatten().flat_map(|n| [n - 1.0, n, n + 1.0]));
                let number = *self.rng.pick(&all);
                if schema.type_ == "number" && self.rng.chance(2) {
                    Value::Float(number + 0.5)
                } else {
                    Value::Int(number as i64)
                }
            }
            "array" => {
                let Some(item) = schema.items_schema() else { return Vec::new().into() };
                let least = schema.min_items.unwrap_or(0) as usize;
                let count = least + self.rng.below(4);
                let mut items: Vec<Value> = Vec::new();
                for _ in 0..count.min(20) {
                    let copy = if self.rng.chance(5) { items.first().cloned() } else { None };
                    items.push(copy.unwrap_or_else(|| self.value(item, depth + 1)));
                }
                items.into()
            }
            _ => {
                let mut members = Map::new();
                let one_in = 2 + depth;
                for (name, property) in &schema.properties {
                    if depth == 0 && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                        continue;
                    }
                    if schema.required.contains(name) && !self.rng.chance(40) || self.rng.chance(one_in) {
                        let value = self.value(property, depth + 1);
                        members.insert(name.clone(), value);
                    }
                }
                if let Some(values) = schema.additional_properties_schema() {
                    for _ in 0..self.rng.below(3) {
                        let (key, value) = (self.text(&Schema::default()), self.value(values, depth + 1));
                        members.insert(key, value);
                    }
                }
                members.into()
            }
        }
    }

    /// Changes one value somewhere in an object.
    fn mutate(&mut self, schema: &Schema, at: &mut Value, depth: usize) {
        let stops = self.rng.chance(5) && depth > 0;
        match at {
            Value::Object(members) if !stops && !schema.properties.is_empty() => {
                let known: Vec<&String> = schema.properties.keys().collect();
                let present: Vec<&String> = known.iter().copied().filter(|name| members.contains_key(name)).collect();
                // Deeper values are as likely as missing ones.
                let name = if present.is_empty() || self.rng.chance(3) {
                    *self.rng.pick(&known)
                } else {
                    *self.rng.pick(&present)
                };
                if depth == 0 && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                    return;
                }
                let property = schema.property(name).unwrap();
                match members.get_mut(name) {
                    Some(_) if self.rng.chance(6) => {
                        members.remove(name);
                    }
                    Some(value) => self.mutate(property, value, depth + 1),
                    None => {
                        let value = self.value(property, depth + 1);
                        members.insert(name.clone(), value);
                    }
                }
            }
            Value::Object(members) if !stops => {
                let Some(values) = schema.additional_properties_schema() else { return };
                if members.is_empty() || self.rng.chance(3) {
                    let (key, value) = (self.text(&Schema::default()), self.value(values, depth + 1));
                    members.insert(key, value);
                } else {
                    let index = self.rng.below(members.len());
                    let value = members.iter_mut().nth(index).unwrap().1;
                    self.mutate(values, value, depth + 1);
                }
            }
            Value::Array(items) if !stops && !items.is_empty() => {
                let Some(item) = schema.items_schema() else { return };
                match self.rng.below(4) {
                    0 => items.push(self.value(item, depth + 1)),
                    1 => {
                        items.pop();
                    }
                    _ => {
                        let index = self.rng.below(items.len());
                        self.mutate(item, &mut items[index], depth + 1);
                    }
                }
            }
            _ => *at = self.value(schema, depth),
        }
    }
}

/// Returns true if a value that was sent and stored under the old CRD is missing under the new one.
fn lost(sent: &Value, old: &Value, new: &Value) -> bool {
    match (sent, old, new) {
        (Value::Object(sent), Value::Object(old), Value::Object(new)) => sent.iter().any(|(name, value)| {
            old.get(name).is_some_and(|old| new.get(name).is_none_or(|new| lost(value, old, new)))
        }),
        (Value::Array(sent), Value::Array(old), Value::Array(new)) => {
            sent.iter().zip(old).zip(new).any(|((sent, old), new)| lost(sent, old, new))
        }
        _ => false,
    }
}

/// Returns a server with the old CRD without its status subresource; `None` if it has none.
fn without_status_subresource(old: &Value, version: &str) -> Option<Checker> {
    let mut crd = old.clone();
    let mut has_status = false;
    let Value::Array(versions) = crd.get_mut("spec")?.get_mut("versions")? else { return None };
    for version in versions {
        let subresources = version.get_mut("subresources").and_then(Value::as_object_mut);
        has_status |= subresources.and_then(|subresources| subresources.remove("status")).is_some();
    }
    has_status.then(|| Checker::new(&crd, Some(version), Release::NEWEST).ok())?
}

fn without_metadata(object: &Value) -> Value {
    let mut object = object.clone();
    let members = object.as_object_mut().unwrap();
    members.remove("metadata");
    members.remove("apiVersion");
    object
}
