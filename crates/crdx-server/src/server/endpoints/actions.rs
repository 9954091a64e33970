//! Subresources of built-in kinds that can only be created: `pods/binding`, `pods/eviction` and `serviceaccounts/token`
//! (`createHandler` in `endpoints/handlers/create.go` with a `NamedCreater`), and the collection `bindings`, which precedes
//! `pods/binding`. Nothing is stored under their names.

mod binding;
mod budgets;
mod eviction;
mod tokens;

use crate::apply::field_manager::{self, FieldManager};
use crate::apply::set::Set;
use crate::apply::updater::Versions;
use crate::server::admission::{Operation, OperationOptions, Review};
use crate::server::endpoints::backend::Backend;
use crate::server::endpoints::reply::Reply;
use crate::server::http::answer::{Answer, Content};
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::negotiate::{self, Endpoint};
use crate::server::http::object_checks as common;
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::request::Method;
use crate::server::http::status::{Refusal, status_value};
use crate::server::metadata;
use crate::server::registry::{Registry, managed_fields};
use crate::server::scope::GroupResource;
use crate::server::scope::{GroupVersionKind, GroupVersionResource, RequestScope};
use crate::server::strategy::built_in_kind::BuiltInKind;
use crate::server::strategy::subresource::Subresource;
use crate::server::strategy::typed_resource::{TypedResource, decode};
use crdx_types::empties::Empties;
use crdx_types::encode::Encoded;
use crdx_types::merge::Type;
use crdx_value::GoError;
use crdx_value::release::{V1_34, V1_38};
use crdx_value::{Map, Value};
use std::borrow::Cow;
pub(in crate::server) use tokens::Issued;

/// A subresource or a resource that can only be created.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::server) struct Action {
    /// The plural of the resource, which is in the core group.
    pub resource: &'static str,
    /// The name of the subresource; empty for a resource, whose objects have the name of the object to be changed.
    pub name: &'static str,
    /// The group, version and kind of the objects that are created.
    pub kind: (&'static str, &'static str, &'static str),
    /// Other apiVersions that requests may have.
    accepted: &'static [&'static str],
}

const BINDING: Action = Action { resource: "pods", name: "binding", kind: ("", "v1", "Binding"), accepted: &[] };
/// `LegacyBindingREST`
pub(in crate::server) const BINDINGS: Action = Action { resource: "bindings", name: "", ..BINDING };
const EVICTION: Action =
    Action { resource: "pods", name: "eviction", kind: ("policy", "v1", "Eviction"), accepted: &["policy/v1beta1"] };
const TOKEN: Action = Action {
    resource: "serviceaccounts",
    name: "token",
    kind: ("authentication.k8s.io", "v1", "TokenRequest"),
    accepted: &[],
};

/// The subresources of a resource that can only be created.
pub(in crate::server) fn actions_of(group: &str, resource: &str) -> impl Iterator<Item = &'static Action> {
    static ALL: [Action; 3] = [BINDING, EVICTION, TOKEN];
    ALL.iter().filter(move |action| group.is_empty() && action.resource == resource)
}

/// The action that a request addresses.
pub(super) fn find(ctx: &Context<'_>) -> Option<&'static Action> {
    let target = &ctx.target;
    actions_of(&target.group, &target.resource).find(|action| action.name == target.subresource)
}

/// The resource that can only be created and that a request addresses, and the definition of the objects that it changes.
pub(super) fn find_resource(ctx: &Context<'_>) -> Option<(&'static Action, &'static str)> {
    let target = &ctx.target;
    let is_collection = !target.namespace.is_empty() && target.name.is_empty() && target.subresource.is_empty();
    let path = (target.group.as_str(), target.version.as_str(), target.resource.as_str());
    (is_collection && path == ("", "v1", BINDINGS.resource)).then_some((&BINDINGS, "pods."))
}

/// Handles a request for an action on an object of `parent`.
pub(super) fn handle(
    backend: &Backend,
    issued: &Issued,
    mut ctx: Context<'_>,
    parent: TypedResource,
    action: &Action,
) -> Reply {
    if ctx.request.method != Method::Post {
        return Reply::Whole(ctx.refuse(Refusal::method_not_allowed()));
    }
    let name = if action.name.is_empty() { Ok(String::new()) } else { ctx.name() };
    match name.and_then(|name| Ok((name, ctx.negotiate(Endpoint::Untabled)?))) {
        Ok((name, output)) => {
            let answer = action.answer((backend, issued), &mut ctx, parent, &name);
            match ctx.take_paused() {
                Some(paused) => Reply::Paused(paused),
                None => Reply::Whole(ctx.respond(&output, None, answer)),
            }
        }
        Err(refusal) => Reply::Whole(ctx.refuse(refusal)),
    }
}

impl Action {
    fn answer(
        &self,
        (backend, issued): (&Backend, &Issued),
        ctx: &mut Context<'_>,
        parent: TypedResource,
        name: &str,
    ) -> Result<Answer, Refusal> {
        let parent = backend.registry(Box::new(parent));
        let release = ctx.release();
        let created = |revision: &str| {
            let mut status = status_value("Success", 201, "", "", None);
            if release.since(V1_38) {
                metadata::set_text(&mut status, "resourceVersion", revision);
            }
            Ok(Answer { code: 201, content: Content::Status(status) })
        };
        if let Some(resumed) = &mut ctx.resumed {
            let on_conflict = std::mem::take(&mut resumed.on_conflict);
            if let Some(revision) = eviction::resume(ctx, &parent, name, on_conflict)? {
                return created(&revision);
            }
        }
        let input = negotiate::input(ctx.request.content_type.as_deref())?;
        body::check_size(&ctx.request.body)?;
        let options = options::write_options(&ctx.query, Write::Create, ctx.release())?;
        let (group, version, kind) = self.kind;
        let kind = BuiltInKind::unstored(group, version, kind, ctx.release());
        let Some(kind) = kind else { return Err(Refusal::internal(format!("no type for {self:?}"))) };
        let kind = kind.accepting(self.accepted);
        let Encoded { object, empties, .. } = decode::decoded_object(ctx, &kind, input, &options)?;
        let mut object = kind.default_request(object, empties.as_ref());
        let keeps_metadata = *self == BINDING || *self == TOKEN && ctx.release().since(V1_34);
        if !keeps_metadata {
            metadata::wipe_system_fields(&mut object);
        }
        let namespace = ctx.target.namespace.clone();
        common::match_namespace(&mut object, &namespace)?;
        common::dedup_owners(ctx, &mut object, false);
        if backend.resources.storage.tracks_fields {
            self.own_fields(ctx, (&kind, empties.as_ref()), &mut object, &options);
        }
        let name = if self.name.is_empty() { metadata::text(&object, "name").to_owned() } else { name.to_owned() };
        let review = Review {
            chain: &backend.admission,
            scope: self.scope(),
            operation: Operation::Create,
            options: OperationOptions::Write(&options),
            new_name: &name,
        };
        let complete = |object: &mut Value, _: &mut ObjectNotes| {
            *object = kind.complete(object);
            Ok(())
        };
        review.mutate(ctx, None, &mut object, &complete)?;
        let request = Request { name: &name, object, options: &options, review };
        let revision = match self.name {
            "" | "binding" => binding::create(ctx, &parent, &request)?,
            "eviction" => eviction::create(ctx, backend, &parent, &request)?,
            _ => return tokens::create(ctx, (&backend.resources, issued), &parent, &kind, request),
        };
        created(&revision)
    }

    fn scope(&self) -> RequestScope<'static> {
        let (group, version, kind) = self.kind;
        RequestScope {
            resource: GroupVersionResource { group: "", version: "v1", resource: self.resource },
            subresource: self.name,
            kind: GroupVersionKind { group, version, kind },
        }
    }

    /// Sets the managedFields, which admission sees.
    fn own_fields(
        &self,
        ctx: &Context<'_>,
        (kind, empties): (&BuiltInKind, Option<&Empties>),
        object: &mut Value,
        options: &WriteOptions,
    ) {
        let manager = managed_fields::manager(options, ctx.request.user_agent.as_deref());
        let api_version = kind.api_version();
        let fields = FieldManager {
            versions: &OneVersion(kind),
            api_version: &api_version,
            kind: &kind.endpoint.kind,
            subresource: self.name,
            empty_object: &field_manager::bare(&api_version, &kind.endpoint.kind),
            now: &ctx.now(),
            release: ctx.release(),
            applied_before: None,
        };
        let live = kind.encode(&Value::Object(Map::new()));
        let restored = empties.and_then(|empties| empties.restored(object, kind.merge_type().resolve()));
        let mut seen = restored.unwrap_or_else(|| object.clone());
        fields.update(&live, &mut seen, &manager);
        metadata::set(object, managed_fields::FIELD, metadata::get(&seen, managed_fields::FIELD).cloned());
    }
}

/// A request for an action whose object was admitted by the mutating plugins.
struct Request<'r> {
    /// The name in the URL.
    name: &'r str,
    /// The object of the body.
    object: Value,
    options: &'r WriteOptions,
    review: Review<'r>,
}

impl Request<'_> {
    /// Runs the validating plugins.
    fn admit(&self, ctx: &mut Context<'_>) -> Result<(), Refusal> {
        self.review.validate(ctx, None, Some(&self.object))?;
        ctx.calls.check()
    }
}

/// A kind in one version, for the owners of its fields.
#[derive(Debug)]
struct OneVersion<'k>(&'k BuiltInKind);

impl Versions for OneVersion<'_> {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        (api_version == self.0.api_version()).then(|| self.0.merge_type().resolve())
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, GoError> {
        if api_version == self.0.api_version() {
            Ok(object.clone())
        } else {
            Err(format!("no kind is served at {api_version}").into())
        }
    }

    fn ignored(&self, _: &str) -> Option<&Set> {
        None
    }
}

/// The registry of another built-in kind.
fn registry<'b>(
    backend: &'b Backend,
    ctx: &Context<'_>,
    definition: &str,
    subresource: Subresource,
) -> Option<Registry<'b, TypedResource>> {
    let serving = backend.resources.get(definition)?;
    let version = serving.storage().cloned()?;
    let resource = TypedResource::new(serving, version, subresource, ctx, &backend.resources)?;
    Some(backend.registry(Box::new(resource)))
}

/// The condition of a type in `status.conditions`.
fn condition<'o>(object: &'o Value, type_: &str) -> Option<&'o Value> {
    let conditions = object.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default();
    conditions.iter().find(|condition| condition.str_at(&["type"]) == Some(type_))
}

/// A text member of an object; empty if absent.
fn text<'o>(object: &'o Value, path: &[&str]) -> &'o str {
    object.str_at(path).unwrap_or_default()
}

/// Sets a condition of an object (`UpdatePodCondition` in `pkg/api/pod/util.go`, `SetStatusCondition` in
/// `k8s.io/apimachinery/pkg/api/meta/conditions.go`). The time of the transition changes only with the status.
fn set_condition(object: &mut Value, mut condition: Map, now: &str) {
    let type_ = condition.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut conditions = object.at(&["status", "conditions"]).and_then(Value::as_array).unwrap_or_default().to_vec();
    let known = conditions.iter_mut().find(|known| known.str_at(&["type"]) == Some(&type_));
    let since = known.as_ref().filter(|known| known.get("status") == condition.get("status"));
    let since = since.and_then(|known| known.get("lastTransitionTime")).cloned();
    condition.insert("lastTransitionTime".to_owned(), since.unwrap_or_else(|| now.into()));
    match known {
        Some(known) => *known = Value::Object(condition),
        None => conditions.push(Value::Object(condition)),
    }
    object.insert_at(&["status", "conditions"], Value::Array(conditions));
}

/// The group and resource of pods, for messages.
const PODS: GroupResource<'static> = GroupResource { group: "", resource: "pods" };

/// Members of a condition.
fn members<const N: usize>(members: [(&str, Cow<'_, str>); N]) -> Map {
    members.into_iter().map(|(key, text)| (key.to_owned(), Value::from(&*text))).collect()
}
