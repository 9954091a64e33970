//! `serviceaccounts/token`: tokens of service accounts (`TokenREST` in
//! `pkg/registry/core/serviceaccount/storage/token.go`, `pkg/serviceaccount`). A token is a JSON Web Token with the claims
//! of Kubernetes, signed with a key of this server. The server remembers the tokens that it issued.

mod claims;

use super::{Request, text};
use crate::server::http::answer::Answer;
use crate::server::http::context::Context;
use crate::server::http::status::Refusal;
use crate::server::http::user::UserInfo;
use crate::server::metadata;
use crate::server::registry::{Registry, store};
use crate::server::scope::GroupResource;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crate::server::strategy::resources::Resources;
use crate::server::strategy::typed_resource::TypedResource;
use claims::{Claims, Reference};
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::lock::lock;
use crdx_value::release::{Release, V1_31, V1_34, V1_37};
use crdx_value::time::Timestamp;
use crdx_value::{Value, group_version, time};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const KIND: GroupResource<'static> = GroupResource { group: "authentication.k8s.io", resource: "TokenRequest" };

/// Kubelets request tokens for Pods with this lifetime (one hour and 7 seconds). Such a token is valid longer, and its use
/// after this time causes a warning.
const WARN_ONLY: i64 = 60 * 60 + 7;
const EXTENDED: i64 = 365 * 24 * 60 * 60;
const SHORTEST: i64 = 10 * 60;

const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// The tokens that a server issued.
#[derive(Debug)]
pub(in crate::server) struct Issued {
    issuer: String,
    tokens: Mutex<HashMap<String, Token>>,
}

#[derive(Clone, Debug)]
struct Token {
    user: UserInfo,
    expires: i64,
    /// The objects without which the token is not valid: its service account, and the object to which it is bound.
    required_objects: Vec<RequiredObject>,
}

/// An object with a UID.
#[derive(Clone, Debug)]
struct RequiredObject {
    definition: &'static str,
    key: String,
    uid: String,
}

impl Issued {
    /// No tokens; `issuer` is the issuer of later ones.
    pub fn new(issuer: Option<String>) -> Self {
        let issuer = issuer.unwrap_or_else(|| DEFAULT_ISSUER.to_owned());
        Self { issuer, tokens: Mutex::default() }
    }

    pub(in crate::server::endpoints) fn user(
        &self,
        resources: &Resources,
        token: &str,
        now: Timestamp,
    ) -> Option<UserInfo> {
        let token = lock(&self.tokens).get(token).cloned()?;
        let exists = |needed: &RequiredObject| {
            stored(resources, needed.definition, &needed.key)
                .is_some_and(|object| metadata::text(&*object, "uid") == needed.uid)
        };
        let valid = now.seconds < token.expires && token.required_objects.iter().all(exists);
        valid.then_some(token.user)
    }
}

/// Issues a token for the service account of the URL.
pub(super) fn create(
    ctx: &mut Context<'_>,
    (resources, issued): (&Resources, &Issued),
    accounts: &Registry<'_, TypedResource>,
    kind: &BuiltInKind,
    mut request: Request<'_>,
) -> Result<Answer, Refusal> {
    let (name, namespace) = (request.name, ctx.target.namespace.clone());
    check_address(&request.object, name, &namespace)?;
    let account = accounts.find(ctx, name)?;
    complete(ctx, issued, &mut request.object, &account)?;
    let errors = validate(&request.object, ctx.release());
    if !errors.is_empty() {
        return Err(Refusal::invalid(KIND, "", errors));
    }
    request.object = kind.encode(&request.object);
    request.admit(ctx)?;
    let mut object = request.object;
    let needed = RequiredObject {
        definition: "serviceaccounts.",
        key: store::key(&namespace, name),
        uid: metadata::text(&*account, "uid").to_owned(),
    };
    let mut required_objects = vec![needed];
    let bound = bound(ctx, resources, &object, name)?;
    required_objects.extend(bound.iter().map(|bound| bound.needed.clone()));
    let requested = object.at(&["spec", "expirationSeconds"]).and_then(Value::as_int).unwrap_or_default();
    let audiences = object.at(&["spec", "audiences"]).and_then(Value::as_array).unwrap_or_default();
    let issuer = issued.issuer.as_str();
    let is_own = audiences.iter().all(|audience| audience.as_str() == Some(issuer));
    let extends = bound.as_ref().is_some_and(|bound| bound.reference.0 == "pod") && requested == WARN_ONLY && is_own;
    let claims = Claims {
        issuer,
        audiences,
        namespace: &namespace,
        account: (name, metadata::text(&*account, "uid")),
        bound: bound.iter().flat_map(|bound| std::iter::once(&bound.reference).chain(&bound.node)).collect(),
        now: ctx.request.now.seconds,
        expires: ctx.request.now.seconds.saturating_add(if extends { EXTENDED } else { requested }),
        warn_after: extends.then(|| ctx.request.now.seconds.saturating_add(requested)),
        id: ctx.uid(),
    };
    let (token, user) = (claims.token(&ctx.random_uid()), claims.user());
    let expires = claims.expires;
    let end = Timestamp { seconds: ctx.request.now.seconds.saturating_add(requested), nanos: 0 };
    object.insert_at(&["status", "token"], token.as_str().into());
    object.insert_at(&["status", "expirationTimestamp"], time::format(end).into());
    let mut tokens = lock(&issued.tokens);
    tokens.insert(token, Token { user, expires, required_objects });
    Ok(Answer::object(201, Arc::new(kind.encode(&object))))
}

/// Checks the name and the namespace in the body.
fn check_address(object: &Value, name: &str, namespace: &str) -> Result<(), Refusal> {
    for (field, wanted) in [("name", name), ("namespace", namespace)] {
        let have = metadata::text(object, field);
        if !have.is_empty() && have != wanted {
            let path = FieldPath::new("metadata");
            let detail = format!("must match the service account {field} if specified");
            return Err(Refusal::invalid(KIND, name, vec![FieldError::invalid(&path.child(field), have, detail)]));
        }
    }
    Ok(())
}

/// Sets what the request leaves open.
fn complete(ctx: &Context<'_>, issued: &Issued, object: &mut Value, account: &Value) -> Result<(), Refusal> {
    let (wanted, uid) = (metadata::text(object, "uid").to_owned(), metadata::text(account, "uid"));
    let name = metadata::text(account, "name");
    if !wanted.is_empty() && wanted != uid {
        let reason =
            format!("the UID in the token request ({wanted}) does not match the UID of the service account ({uid})");
        return Err(Refusal::conflict(KIND, name, &reason));
    }
    let empty = |path: &[&str]| object.at(path).and_then(Value::as_array).is_none_or(<[Value]>::is_empty);
    if empty(&["spec", "audiences"]) {
        let issuer = issued.issuer.as_str();
        object.insert_at(&["spec", "audiences"], Value::Array(vec![issuer.into()]));
    }
    metadata::set_text(object, "name", name);
    metadata::set_text(object, "namespace", metadata::text(account, "namespace"));
    if ctx.release().since(V1_34) {
        metadata::set_text(object, "uid", uid);
    }
    metadata::set_text(object, "creationTimestamp", &ctx.now());
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    Ok(())
}

/// `ValidateTokenRequest`
fn validate(object: &Value, release: Release) -> ErrorList {
    let spec = FieldPath::new("spec");
    let attestations =
        object.at(&["spec", "attestations"]).filter(|all| all.as_object().is_some_and(|all| !all.is_empty()));
    if let Some(attestations) = attestations.filter(|_| release.since(V1_37)) {
        let detail = "attestations may only be specified with a webhook bound object reference";
        let bad = BadValue::new(attestations, release);
        return vec![FieldError::invalid(&spec.child("attestations"), bad, detail)];
    }
    let mut errors = ErrorList::new();
    let seconds = object.at(&["spec", "expirationSeconds"]).and_then(Value::as_int).unwrap_or_default();
    let path = spec.child("expirationSeconds");
    if seconds < SHORTEST {
        errors.push(FieldError::invalid(&path, seconds, "may not specify a duration less than 10 minutes"));
    }
    if seconds > 1 << 32 {
        errors.push(FieldError::invalid(&path, seconds, "may not specify a duration larger than 2^32 seconds"));
    }
    errors
}

/// The object to which a token is bound.
struct Bound {
    needed: RequiredObject,
    reference: Reference,
    /// The node of a pod.
    node: Option<Reference>,
}

fn bound(ctx: &Context<'_>, resources: &Resources, object: &Value, account: &str) -> Result<Option<Bound>, Refusal> {
    let reference = object.at(&["spec", "boundObjectRef"]).filter(|reference| !reference.is_null());
    let Some(reference) = reference else { return Ok(None) };
    let (api_version, kind) = (text(reference, &["apiVersion"]), text(reference, &["kind"]));
    let (name, uid) = (text(reference, &["name"]), text(reference, &["uid"]));
    let (group, version) = group_version::split(api_version);
    let (definition, claim, namespace) = match (group, kind) {
        ("", "Pod") => ("pods.", "pod", ctx.target.namespace.as_str()),
        ("", "Secret") => ("secrets.", "secret", ctx.target.namespace.as_str()),
        ("", "Node") if ctx.release().since(V1_31) => ("nodes.", "node", ""),
        ("", "Node") => {
            let reason =
                "cannot bind token to a Node object as the \"ServiceAccountTokenNodeBinding\" feature-gate is disabled";
            return Err(Refusal::bad_request(reason));
        }
        _ => {
            let type_ = format!("{group}/{version}, Kind={kind}");
            return Err(Refusal::bad_request(format!("cannot bind token to object of type {type_}")));
        }
    };
    let resource = GroupResource { group: "", resource: definition.trim_end_matches('.') };
    let key = store::key(namespace, name);
    let found = stored(resources, definition, &key).ok_or_else(|| Refusal::not_found(resource, name))?;
    let have = metadata::text(&*found, "uid");
    let mut node = None;
    if claim == "pod" {
        if text(&found, &["spec", "serviceAccountName"]) != account {
            let reason = format!(
                "cannot bind token for serviceaccount \"{account}\" to pod running with different serviceaccount name."
            );
            return Err(Refusal::bad_request(reason));
        }
        let name = text(&found, &["spec", "nodeName"]);
        if !name.is_empty() {
            let uid =
                stored(resources, "nodes.", &store::key("", name)).map(|node| metadata::text(&*node, "uid").to_owned());
            node = Some(Reference("node", name.to_owned(), uid.unwrap_or_default()));
        }
    }
    if !uid.is_empty() && uid != have {
        let reason = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        );
        return Err(Refusal::conflict(GroupResource { group, resource: kind }, name, &reason));
    }
    let needed = RequiredObject { definition, key, uid: have.to_owned() };
    Ok(Some(Bound { needed, reference: Reference(claim, name.to_owned(), have.to_owned()), node }))
}

/// The stored object with this key of a resource, named by its definition.
fn stored(resources: &Resources, definition: &str, key: &str) -> Option<Arc<Value>> {
    Some(resources.get(definition)?.objects.get(key)?.raw())
}
