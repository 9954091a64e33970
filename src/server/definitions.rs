//! `/apis/apiextensions.k8s.io/v1/customresourcedefinitions`: definitions as objects. What follows from a write is the work
//! of [`super::controllers`].

mod decode;
pub(super) mod ownership;
mod remove;
mod write;

use crate::crd::{self, CustomResourceDefinition};
use crate::server::http::context::{Answer, Content, Context, List};
use crate::server::http::negotiate::{Endpoint, Output};
use crate::server::http::options::check_export;
use crate::server::http::options::{ListOptions, list_options};
use crate::server::http::route::Target;
use crate::server::http::selector::FieldSelector;
use crate::server::http::status::{GroupResource, Reason, Refusal};
use crate::server::http::table::Columns;
use crate::server::registry::journal;
use crate::server::registry::list::{Pages, token};
use crate::server::registry::metadata;
use crate::server::registry::patch;
use crate::server::registry::revision::parse_revision;
use crate::server::registry::revision::{check_not_ahead, invalid_revision};
use crate::server::registry::store::{Collection, Stored};
use crate::server::{Method, Response};
use crate::value::{Map, Value, object};
use std::sync::Arc;

/// The resource, for messages.
pub(super) const RESOURCE: GroupResource<'static> =
    GroupResource { group: crd::GROUP, resource: "customresourcedefinitions" };

/// All definitions.
#[derive(Debug)]
pub(super) struct Definitions {
    /// The objects by name.
    pub objects: Arc<Collection>,
    /// Held while a definition is written: writes are rare and touch other definitions too.
    pub writing: std::sync::Mutex<()>,
}

impl Definitions {
    /// None yet, at a revision.
    pub fn new(keeping: &Arc<journal::Keeping>, revision: u64) -> Self {
        let objects = Collection::new(journal::DEFINITIONS, keeping, revision);
        Self { objects: Arc::new(objects), writing: std::sync::Mutex::default() }
    }
}

/// A stored definition, typed.
pub(super) fn typed(stored: &Stored) -> Option<CustomResourceDefinition> {
    crd::decode(&stored.raw()).ok().map(|d| d.crd)
}

/// Whether a path is one of definitions.
pub(super) fn is_about(target: &Target) -> bool {
    target.group == crd::GROUP
}

/// Whether a path is one of the collection.
pub(super) fn is_collection(target: &Target) -> bool {
    target.version == "v1" && target.resource == RESOURCE.resource && target.namespace.is_empty()
}

/// Answers a request about definitions.
pub(super) fn handle(mut ctx: Context<'_>, method: Method) -> Response {
    let target = &ctx.target;
    let known = is_collection(target);
    let subresource = target.subresource.as_str();
    if !known || !matches!(subresource, "" | "status") || target.name.is_empty() && !subresource.is_empty() {
        let text = "the server could not find the requested resource";
        return ctx.refuse(&Refusal::unrouted(404, Reason::NotFound, text));
    }
    let named = !target.name.is_empty() && !matches!(target.verb, "list" | "watch");
    let allowed = match method {
        Method::Get => true,
        Method::Post => !named,
        Method::Put | Method::Patch => named,
        Method::Delete => subresource.is_empty(),
        // The router of typed kinds knows no HEAD.
        Method::Head | Method::Other => false,
    };
    if !allowed {
        return ctx.refuse(&Refusal::method_not_allowed());
    }
    let Ok(output) = ctx.negotiate(Endpoint::Object) else { return ctx.refuse(&Refusal::no_representation()) };
    let answer = match method {
        Method::Get if named => get(&ctx),
        Method::Get => list(&ctx, &output),
        Method::Post => write::create(&mut ctx),
        Method::Put => write::put(&mut ctx),
        Method::Patch => match patch::definition_kind(ctx.request.content_type.as_deref()) {
            Ok(kind) => write::patch(&mut ctx, kind),
            Err(refusal) => Err(refusal),
        },
        Method::Delete if named => remove::delete(&mut ctx),
        Method::Delete => remove::delete_collection(&mut ctx),
        Method::Head | Method::Other => Err(Refusal::internal("no method")),
    };
    ctx.respond(&output, Some(&Columns::of_definitions()), answer)
}

fn get(ctx: &Context<'_>) -> Result<Answer, Refusal> {
    check_export(&ctx.query)?;
    if let Some(text) = ctx.query.first("resourceVersion") {
        let wanted = parse_revision(text).map_err(|e| Refusal::unclassified(invalid_revision(text, &e)))?;
        check_not_ahead(ctx, wanted)?;
    }
    match ctx.server.definitions.objects.get(&ctx.target.name) {
        Some(stored) => Ok(Answer::object(200, stored.raw())),
        None => Err(Refusal::not_found(RESOURCE, &ctx.target.name)),
    }
}

fn list(ctx: &Context<'_>, output: &Output) -> Result<Answer, Refusal> {
    let mut list = select(ctx)?;
    if output.convert.is_none() {
        // Items of a typed list do not tell their type.
        for item in &mut list.items {
            let mut bare = (**item).clone();
            if let Some(members) = bare.as_object_mut() {
                members.remove("kind");
                members.remove("apiVersion");
            }
            *item = Arc::new(bare);
        }
    }
    Ok(Answer { code: 200, content: Content::List(list) })
}

/// The options of a list or a watch, with the name of a watch's URL as a field selector.
pub(super) fn options(ctx: &Context<'_>) -> Result<ListOptions, Refusal> {
    let mut options = list_options(&ctx.query, ctx.release())?;
    for field in options.fields.fields() {
        if !matches!(field, "metadata.name" | "metadata.namespace") {
            return Err(Refusal::bad_request(format!(
                "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                crate::value::quote::go_quote(field)
            )));
        }
    }
    if ctx.target.verb == "watch" && !ctx.target.name.is_empty() && options.fields.is_empty() {
        options.fields = FieldSelector::name(&ctx.target.name);
    }
    Ok(options)
}

/// Whether a definition is selected.
pub(super) fn selected(definition: &Value, options: &ListOptions) -> bool {
    let labels = metadata::get(definition, "labels");
    options.labels.matches(|key| labels.and_then(|l| l.str_at(&[key])))
        && options.fields.matches(|field| match field {
            "metadata.name" => metadata::text(definition, "name").into(),
            _ => "".into(),
        })
}

/// A definition of nothing but this metadata, as Go writes it.
pub(super) fn empty(metadata: Map) -> Value {
    let names = || object([("plural", ""), ("kind", "")]);
    let spec = [("group", Value::from("")), ("names", names()), ("scope", "".into()), ("versions", Value::Null)];
    let status = [("conditions", Value::Null), ("acceptedNames", names()), ("storedVersions", Value::Null)];
    object([
        ("kind", Value::from("CustomResourceDefinition")),
        ("apiVersion", "apiextensions.k8s.io/v1".into()),
        ("metadata", Value::Object(metadata)),
        ("spec", object(spec)),
        ("status", object(status)),
    ])
}

/// The definitions that a list asks for.
fn select(ctx: &Context<'_>) -> Result<List, Refusal> {
    let options = options(ctx)?;
    let pages = Pages::read(ctx, &options)?;
    let (found, resource_version) = pages.objects(ctx, &ctx.server.definitions.objects, "")?;
    let items = found.into_iter().map(|(_, stored)| stored.raw()).filter(|o| selected(o, &options));
    let mut items: Vec<Arc<Value>> = items.collect();
    let mut remaining = None;
    let mut continue_ = String::new();
    if let Some(limit) = pages.limit.filter(|limit| *limit < items.len()) {
        let selects = !options.labels.is_empty() || !options.fields.is_empty();
        remaining = (!selects).then_some((items.len() - limit) as i64);
        items.truncate(limit);
        continue_ = token(resource_version, items.last().map_or("", |o| metadata::text(o, "name")));
    }
    Ok(List {
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinitionList".to_owned(),
        resource_version: resource_version.to_string(),
        continue_,
        remaining,
        items,
        go_type: "*apiextensions.CustomResourceDefinitionList",
    })
}
