//! The results of requests.

use super::manifest::{Document, MAX_DEPTH};
use super::row::Row;
use super::{Error, Position, Status};
use crdx_engine::report::Difference;
use crdx_server::policies::findings::{Change, Findings};
use crdx_server::server::{Response as Answer, ResponseBody, Trace};
use crdx_value::Value;
use std::sync::Arc;

/// The answer to a request that the server accepted.
///
/// ```
/// use crdx::{ApiServer, Value};
///
/// # fn main() -> Result<(), crdx::Error> {
/// let server = ApiServer::new();
/// # server.install(include_str!("../../tests/kites.yaml"))?;
/// let created = server.create(
///     "apiVersion: toys.example.com/v1
/// kind: Kite
/// metadata: {name: dragon}
/// spec: {colour: red, tail: long}
/// ",
/// )?;
/// assert_eq!(created.object.at(&["spec", "length"]), Some(&Value::Int(10)));
/// assert_eq!(created.defaulted[0].path, "spec.length");
/// assert_eq!(created.pruned[0].path, "spec.tail");
/// assert_eq!(created.warnings, [r#"unknown field "spec.tail""#]);
/// assert_eq!(created.row.unwrap().to_string(), "dragon  red  10");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// The HTTP status code.
    pub code: u16,
    /// The object as the server stores it and returns it. After a deletion it may be a `Status`.
    pub object: Value,
    /// The fields that the schema does not have, which were removed.
    pub pruned: Vec<Pruned>,
    /// The fields that were set by defaults of the schema.
    pub defaulted: Vec<Defaulted>,
    /// The fields that mutating admission policies changed.
    pub mutated: Vec<Mutated>,
    /// The texts of `Warning` headers, then warnings about the text that was given.
    pub warnings: Vec<String>,
    /// The object as `kubectl get` prints it; `None` if the response has no such row.
    pub row: Option<Row>,
    /// The runtime cost of the rules of the schema (`x-kubernetes-validations`) for this object. Their estimated costs are
    /// those of [`ApiServer::rule_costs`](super::ApiServer::rule_costs).
    pub rule_cost: u64,
    /// The admission webhooks that a real server would call, or may call. They were not called, and may change or refuse
    /// the object.
    pub webhooks: Vec<String>,
}

/// A field that was removed, because the schema does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The path, as in the server's warnings.
    pub path: String,
    /// The line and the column, if the object was given as a text.
    pub position: Option<Position>,
}

/// A field that was set by a default.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Defaulted {
    /// The path.
    pub path: String,
    /// The default.
    pub value: Value,
}

/// A field that a mutating admission policy changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mutated {
    /// The name of the policy.
    pub policy: String,
    /// The name of the binding.
    pub binding: String,
    /// The path.
    pub path: String,
    /// The value before the change; `None` if the field was added.
    pub before: Option<Value>,
    /// The value after the change; `None` if the field was removed.
    pub after: Option<Value>,
}

impl Response {
    /// The value at a path of member names, such as `["spec", "replicas"]`.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        self.object.at(path)
    }

    /// Reads the object as a type.
    ///
    /// # Errors
    /// Returns the reason why the object does not have this type.
    #[cfg(feature = "serde")]
    pub fn to<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&crdx_value::json::to_string(&self.object))
    }

    /// The response of the server to the request that sent `document`.
    ///
    /// # Errors
    /// Returns the refusal, or the reason why the answer is not known.
    pub(super) fn from_answer(answer: Answer, document: Option<&Document>) -> Result<Self, Error> {
        check(&answer.trace)?;
        if answer.code >= 300 {
            return Err(Box::new(Status::from_answer(answer, document)).into());
        }
        let Answer { code, body, mut warnings, trace, .. } = answer;
        let body = match body {
            ResponseBody::Json(body) => Arc::unwrap_or_clone(body),
            ResponseBody::Text(text) => Value::from(text),
        };
        let (object, row) = Row::of_answer(body);
        if object.is_deeper_than(MAX_DEPTH) {
            return Err(Error::CannotTell(format!("the stored object nests more than {MAX_DEPTH} levels")));
        }
        warnings.extend(document.into_iter().flat_map(|document| document.warnings.iter().cloned()));
        let position = |path: &str| document.and_then(|document| document.name_position(path));
        let pruned = |path: String| Pruned { position: position(&path), path };
        let findings = trace.policies.map(|findings| *findings).unwrap_or_default();
        let Findings { changes, webhooks, .. } = findings;
        Ok(Self {
            code,
            object,
            pruned: trace.pruned.into_iter().map(pruned).collect(),
            defaulted: trace.defaulted.into_iter().map(|d| Defaulted { path: d.path, value: d.value }).collect(),
            mutated: changes.iter().flat_map(mutated).collect(),
            warnings,
            row,
            rule_cost: trace.cost,
            webhooks: webhooks.into_iter().map(|webhook| webhook.webhook).collect(),
        })
    }
}

/// # Errors
/// Returns the reason why the answer of a real server is not known.
pub(super) fn check(trace: &Trace) -> Result<(), Error> {
    let undecided = |findings: &Findings| findings.unevaluated.iter().any(|part| part.decides);
    let reason = if trace.is_unfinished {
        crdx_value::field::UNFINISHED
    } else if trace.size_depends {
        "the object is so near to etcd's limit for a request that the cluster decides"
    } else if trace.policies.as_deref().is_some_and(undecided) {
        "an admission policy depends on something that the server does not have"
    } else {
        return Ok(());
    };
    Err(Error::CannotTell(reason.to_owned()))
}

fn mutated(change: &Change) -> Vec<Mutated> {
    let Difference { lost, defaulted, changed, .. } = Difference::between(&change.before, &change.after, &Value::Null);
    let one = |path, before, after| Mutated {
        policy: change.policy.clone(),
        binding: change.binding.clone(),
        path,
        before,
        after,
    };
    let lost = lost.into_iter().map(|(path, value)| one(path, Some(value), None));
    let added = defaulted.into_iter().map(|(path, value)| one(path, None, Some(value)));
    let other = changed.into_iter().map(|(path, before, after)| one(path, Some(before), Some(after)));
    lost.chain(added).chain(other).collect()
}
