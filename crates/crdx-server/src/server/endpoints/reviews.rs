//! Reviews of access and of users: `authorization.k8s.io` and `authentication.k8s.io`. They can only be created, and
//! nothing is stored (`pkg/registry/authorization` and `pkg/registry/authentication` of Kubernetes).
//!
//! Every user may do everything, so every access is allowed.

mod selectors;
mod validation;

use super::Endpoints;
use crate::server::http::answer::Answer;
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::negotiate::{self, Endpoint};
use crate::server::http::object_checks as common;
use crate::server::http::options::{self, Write};
use crate::server::http::protobuf::DefaultType;
use crate::server::http::request::Method;
use crate::server::http::response::Response;
use crate::server::http::status::{Reason, Refusal};
use crate::server::http::user::UserInfo;
use crate::server::scope::GroupResource;
use crdx_types::types::Types;
use crdx_types::{Endpoint as BuiltInEndpoint, Strict, decode, encode};
use crdx_value::release::{Release, V1_32};
use crdx_value::{Map, Value, object};
use std::collections::HashMap;
use std::sync::Arc;

/// The version of both groups.
pub(in crate::server) const VERSION: &str = "v1";

/// A kind of review.
#[derive(Debug)]
pub(in crate::server) struct Review {
    pub group: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
    pub namespaced: bool,
}

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// The kinds, in discovery order.
pub(in crate::server) const REVIEWS: [Review; 6] = [
    review(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview"),
    review(AUTHENTICATION, "tokenreviews", "TokenReview"),
    Review { namespaced: true, ..review(AUTHORIZATION, "localsubjectaccessreviews", "LocalSubjectAccessReview") },
    review(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    review(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
    review(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview"),
];

const fn review(group: &'static str, plural: &'static str, kind: &'static str) -> Review {
    Review { group, plural, kind, namespaced: false }
}

/// The metadata that clients cannot set.
const SYSTEM_METADATA: [&str; 5] =
    ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

/// Returns true for the groups of reviews.
pub(super) fn has_group(group: &str) -> bool {
    REVIEWS.iter().any(|review| review.group == group)
}

/// Handles a request for these groups.
pub(super) fn handle(endpoints: &Endpoints, mut ctx: Context<'_>) -> Response {
    let target = &ctx.target;
    let found = REVIEWS.iter().find(|review| {
        review.group == target.group
            && review.plural == target.resource
            && review.namespaced != target.namespace.is_empty()
            && target.version == VERSION
            && target.name.is_empty()
    });
    let Some(review) = found else {
        let text = "the server could not find the requested resource";
        return ctx.refuse(Refusal::unrouted(404, Reason::NotFound, text));
    };
    if ctx.request.method != Method::Post {
        return ctx.refuse(Refusal::method_not_allowed());
    }
    let Ok(output) = ctx.negotiate(Endpoint::Object) else { return ctx.refuse(Refusal::no_representation()) };
    let answer = review.answer(endpoints, &mut ctx).map(|reviewed| Answer::object(201, Arc::new(reviewed)));
    ctx.respond(&output, None, answer)
}

impl Review {
    fn answer(&self, endpoints: &Endpoints, ctx: &mut Context<'_>) -> Result<Value, Refusal> {
        let mut object = self.object(ctx)?;
        let namespace = ctx.target.namespace.clone();
        common::match_namespace(&mut object, &namespace)?;
        let user = ctx.user();
        let no_tokens = HashMap::new();
        let tokens = endpoints.reviewed_tokens.as_ref().unwrap_or(&no_tokens);
        let token = object.str_at(&["spec", "token"]).unwrap_or_default();
        let issued = endpoints.user_of_token(token, ctx.request.now);
        let status = self.status(&object, user, (tokens, issued.as_ref()), ctx.release())?;
        if let Some(members) = object.as_object_mut() {
            members.insert("apiVersion".to_owned(), format!("{}/{VERSION}", self.group).into());
            members.insert("kind".to_owned(), self.kind.into());
            members.entry("metadata".to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if self.kind != "SelfSubjectReview" {
                members.entry("spec".to_owned()).or_insert_with(|| Value::Object(Map::new()));
            }
            members.insert("status".to_owned(), status);
        }
        Ok(object)
    }

    /// The object of the body.
    fn object(&self, ctx: &mut Context<'_>) -> Result<Value, Refusal> {
        let input = negotiate::input(ctx.request.content_type.as_deref())?;
        body::check_size(&ctx.request.body)?;
        let options = options::write_options(&ctx.query, Write::Create, ctx.release())?;
        let api_version = format!("{}/{VERSION}", self.group);
        let default = DefaultType { api_version: &api_version, kind: self.kind };
        let document = ctx.body_object(input, options.field_validation, default);
        let document = document.map_err(|unreadable| Refusal::bad_request(unreadable.into_text()))?;
        let endpoint =
            BuiltInEndpoint { group: self.group.to_owned(), version: VERSION.to_owned(), kind: self.kind.to_owned() };
        let text = crdx_value::json::to_string(&document.value) + "\n";
        let types = Types::for_release(ctx.release().minor().number().into());
        let decoded = decode::decode(types, &endpoint, text.as_bytes());
        let decoded = decoded.map_err(|refusal| Refusal::bad_request(refusal.message))?;
        if let Some(refusal) = decoded.leniently() {
            return Err(Refusal::bad_request(refusal.message));
        }
        let strict = document.strict.into_iter().chain(decoded.strict.iter().map(Strict::error));
        ctx.strict_errors(strict.collect(), &options).map_err(|error| Refusal::bad_request(error.to_string()))?;
        Ok(self.typed(&document.value, types, ctx.release()))
    }

    /// The object as its Go type encodes it, without what the server removes: metadata of the system
    /// (`WipeObjectMetaSystemFields`) and fields of features that are off.
    fn typed(&self, object: &Value, types: &'static Types, release: Release) -> Value {
        let id = types.of_kind(&format!("{}/{VERSION}", self.group), self.kind);
        let mut object = id.map_or_else(|| object.clone(), |id| encode::encode(types, id, object).object);
        remove(&mut object, &["metadata"], &SYSTEM_METADATA);
        remove(&mut object, &["spec"], &["authorizationOptions"]);
        if !release.since(V1_32) {
            remove(&mut object, &["spec", "resourceAttributes"], &selectors::SELECTORS);
        }
        object
    }

    fn status(
        &self,
        review: &Value,
        user: &UserInfo,
        (tokens, issued): (&HashMap<String, UserInfo>, Option<&UserInfo>),
        release: Release,
    ) -> Result<Value, Refusal> {
        let errors = validation::validate(self, review, release);
        if !errors.is_empty() {
            // The kind of a decoded object is empty.
            return Err(Refusal::invalid(GroupResource { group: self.group, resource: "" }, "", errors));
        }
        match self.kind {
            "SelfSubjectReview" => Ok(object([("userInfo", user_info(user))])),
            "TokenReview" => {
                let token = review.str_at(&["spec", "token"]).unwrap_or_default();
                if token.is_empty() {
                    return Err(Refusal::bad_request("token is required for TokenReview in authentication"));
                }
                Ok(match tokens.get(token).or(issued) {
                    Some(user) => object_of([("authenticated", true.into()), ("user", user_info(user))]),
                    None => {
                        object_of([("user", Value::Object(Map::new())), ("error", "[invalid bearer token]".into())])
                    }
                })
            }
            "SelfSubjectRulesReview" => {
                let all = || Value::Array(vec!["*".into()]);
                Ok(object_of([
                    (
                        "resourceRules",
                        vec![object_of([("verbs", all()), ("apiGroups", all()), ("resources", all())])].into(),
                    ),
                    ("nonResourceRules", vec![object_of([("verbs", all()), ("nonResourceURLs", all())])].into()),
                    ("incomplete", false.into()),
                ]))
            }
            _ => {
                let error = selectors::evaluation_error(review, release).map(Value::from);
                Ok(object([("allowed", Value::Bool(true))].into_iter().chain(error.map(|e| ("evaluationError", e)))))
            }
        }
    }
}

/// Removes members of the object at a path.
fn remove(object: &mut Value, path: &[&str], members: &[&str]) {
    let at = path.iter().try_fold(object, |at, key| at.get_mut(key));
    if let Some(at) = at.and_then(Value::as_object_mut) {
        for member in members {
            at.remove(member);
        }
    }
}

fn object_of<const N: usize>(members: [(&str, Value); N]) -> Value {
    object(members)
}

/// `UserInfo` of `authentication.k8s.io`
fn user_info(user: &UserInfo) -> Value {
    let texts = |items: &[String]| items.iter().map(|item| Value::from(item.as_str())).collect::<Vec<_>>();
    let mut out = Map::new();
    for (key, text) in [("username", &user.username), ("uid", &user.uid)] {
        if !text.is_empty() {
            out.insert(key.to_owned(), text.as_str().into());
        }
    }
    if !user.groups.is_empty() {
        out.insert("groups".to_owned(), texts(&user.groups).into());
    }
    if !user.extra.is_empty() {
        out.insert(
            "extra".to_owned(),
            object(user.extra.iter().map(|(key, items)| (key.as_str(), Value::from(texts(items))))),
        );
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Server;
    use crate::server::{Request, ResponseBody};
    use crdx_value::release::Release;

    fn post(path: &str, body: &str) -> (u16, Value) {
        let jane = UserInfo::authenticated("jane".to_owned(), vec!["dev".to_owned()]);
        let tokens = HashMap::from([("secret".to_owned(), jane.clone())]);
        let server = Server::builder(Release::NEWEST, 1).with_reviews(tokens).build();
        let response = server.handle(&Request { user: Some(jane), ..Request::new(Method::Post, path, body) });
        match response.body {
            ResponseBody::Json(value) => (response.code, (*value).clone()),
            ResponseBody::Text(text) => panic!("{text}"),
        }
    }

    fn send(path: &str, kind: &str, spec: &str) -> (u16, Value) {
        let group = path.split('/').nth(2).unwrap();
        post(path, &format!(r#"{{"apiVersion":"{group}/v1","kind":"{kind}","spec":{spec}}}"#))
    }

    #[test]
    fn every_access_is_allowed() {
        let pods = r#"{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"ns"}}"#;
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let (code, review) = send(path, "SelfSubjectAccessReview", pods);
        assert_eq!((code, review.at(&["status", "allowed"])), (201, Some(&Value::Bool(true))));
        assert_eq!(review.str_at(&["spec", "resourceAttributes", "verb"]), Some("get"));
        let of_joe = pods.replacen('{', r#"{"user":"joe","#, 1);
        let (code, review) = send("/apis/authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview", &of_joe);
        assert_eq!((code, review.at(&["status", "allowed"])), (201, Some(&Value::Bool(true))));
        let path = "/apis/authorization.k8s.io/v1/namespaces/ns/localsubjectaccessreviews";
        let (code, review) = send(path, "LocalSubjectAccessReview", &of_joe);
        assert_eq!((code, review.at(&["status", "allowed"])), (201, Some(&Value::Bool(true))));
        let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
        let (code, review) = send(path, "SelfSubjectRulesReview", r#"{"namespace":"ns"}"#);
        assert_eq!((code, review.at(&["status", "incomplete"])), (201, Some(&Value::Bool(false))));
    }

    #[test]
    fn users_are_named() {
        let (code, review) = post(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#,
        );
        assert_eq!((code, review.str_at(&["status", "userInfo", "username"])), (201, Some("jane")));
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let (code, review) = send(path, "TokenReview", r#"{"token":"secret"}"#);
        assert_eq!((code, review.str_at(&["status", "user", "username"])), (201, Some("jane")));
        let (code, review) = send(path, "TokenReview", r#"{"token":"other"}"#);
        assert_eq!((code, review.str_at(&["status", "error"])), (201, Some("[invalid bearer token]")));
        assert_eq!(send(path, "TokenReview", "{}").0, 400);
    }

    #[test]
    fn a_review_needs_attributes() {
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let (code, status) = send(path, "SubjectAccessReview", "{}");
        assert_eq!(code, 422);
        let message = status.str_at(&["message"]).unwrap();
        assert_eq!(
            message,
            ".authorization.k8s.io \"\" is invalid: [spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: \"\": at least one of user or group must be specified]"
        );
        let (code, status) = send(path, "SubjectAccessReview", r#"{"user":1}"#);
        assert_eq!(code, 400, "{status:?}");
        let server = Server::builder(Release::NEWEST, 1).with_reviews(HashMap::new()).build();
        assert_eq!(server.handle(&Request::new(Method::Get, path, "")).code, 405);
        assert_eq!(Server::new(Release::NEWEST, 1).handle(&Request::new(Method::Post, path, "{}")).code, 404);
    }
}
