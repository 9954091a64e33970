//! Who owns which field of a definition. Only v1 is known: owners of other versions are forgotten, as the server forgets
//! those of versions it does not have.

use crate::apply::definition::of_definition;
use crate::apply::field_manager::{FieldManager, Refusal};
use crate::apply::set::Set;
use crate::apply::types::Type;
use crate::apply::updater::Versions;
use crate::crd::CustomResourceDefinition;
use crate::server::http::context::Context;
use crate::server::http::options::WriteOptions;
use crate::server::registry::managed_fields::manager;
use crate::server::registry::metadata;
use crate::value::Value;
use std::sync::LazyLock;

const VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "CustomResourceDefinition";

/// The name under which the server's controllers write.
pub(super) const CONTROLLERS: &str = "kube-apiserver";

/// The writers of definitions or of their status.
#[derive(Clone, Copy)]
struct Writers {
    of_status: bool,
}

impl Versions for Writers {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        (api_version == VERSION).then(of_definition)
    }
    fn convert(&self, object: &Value, _: &str) -> Result<Value, String> {
        Ok(object.clone())
    }
    fn ignored(&self, api_version: &str) -> Option<&Set> {
        static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
        // Not metadata, although the server once meant to: its status writes can change it.
        static SPEC: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"]]));
        (api_version == VERSION).then_some(if self.of_status { &*SPEC } else { &*STATUS })
    }
}

fn with_manager<T>(of_status: bool, now: &str, act: impl FnOnce(&FieldManager<'_>) -> T) -> T {
    let writers = Writers { of_status };
    let subresource = if of_status { "status" } else { "" };
    let nothing = CustomResourceDefinition::default().to_value();
    act(&FieldManager { versions: &writers, api_version: VERSION, kind: KIND, subresource, nothing: &nothing, now })
}

fn is_status(ctx: &Context<'_>) -> bool {
    ctx.target.subresource == "status"
}

/// Settles the managedFields of a definition that a request writes.
pub(super) fn update(
    ctx: &Context<'_>,
    live: Option<&Value>,
    definition: &mut CustomResourceDefinition,
    options: &WriteOptions,
) {
    if !ctx.server.tracks_fields {
        definition.metadata.remove("managedFields");
        return;
    }
    let mut object = definition.to_value();
    let manager = manager(options, ctx.request.user_agent.as_deref());
    with_manager(is_status(ctx), &ctx.now(), |fields| {
        fields.update(live.unwrap_or(fields.nothing), &mut object, &manager);
    });
    match metadata::get(&object, "managedFields").cloned() {
        Some(entries) => definition.metadata.insert("managedFields".to_owned(), entries),
        None => definition.metadata.remove("managedFields"),
    };
}

/// Updates the managedFields of a definition whose status a controller writes.
pub(in crate::server) fn update_by_controller(live: &Value, object: &mut Value, now: &str) {
    with_manager(true, now, |fields| fields.update(live, object, CONTROLLERS));
}

/// The definition that an apply of `patch` makes of `live`, or of nothing; not typed and without defaults yet.
pub(super) fn apply(
    ctx: &Context<'_>,
    live: Option<&Value>,
    patch: &Value,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    with_manager(is_status(ctx), &ctx.now(), |fields| {
        let force = options.force.unwrap_or_default();
        fields.apply(live.unwrap_or(fields.nothing), patch, &options.field_manager, force, &|_| {})
    })
}
