//! Field ownership of CRDs. Only v1 exists: field owners at other versions are dropped, as the server does for unknown
//! versions.

use super::DefinitionStrategy;
use crate::apply::set::Set;
use crate::apply::types::of_definition;
use crate::apply::updater::Versions;
use crate::server::registry::managed_fields::with_manager;
use crate::server::strategy::resources::Resources;
use crdx_types::merge::Type;
use crdx_value::GoError;
use crdx_value::Value;
use std::sync::{Arc, LazyLock};

const VERSION: &str = "apiextensions.k8s.io/v1";

/// The field manager name of the server's controllers.
const CONTROLLERS: &str = "kube-apiserver";

impl Versions for DefinitionStrategy {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        (api_version == VERSION).then(|| of_definition(self.release).resolve())
    }
    fn convert(&self, object: &Value, _: &str) -> Result<Value, GoError> {
        Ok(object.clone())
    }
    fn ignored(&self, api_version: &str) -> Option<&Set> {
        static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
        // metadata is not in the set, although the server's code intends it: a status write can change metadata.
        static SPEC: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"]]));
        (api_version == VERSION).then_some(if self.is_status { &*SPEC } else { &*STATUS })
    }
}

/// Updates the managedFields of a CRD whose status a controller writes.
pub(in crate::server) fn update_by_controller(resources: &Arc<Resources>, live: &Value, object: &mut Value, now: &str) {
    let when = (now, resources.settings.release);
    with_manager(&DefinitionStrategy::new(resources, true), when, |fields| fields.update(live, object, CONTROLLERS));
}
