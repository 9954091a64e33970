//! One side of the upgrade of an operator: its CRDs, and its admission policies and webhook configurations.

use super::stored::document;
use super::update::RehearsedDefinition;
use crate::commands::definitions::objects_at;
use crate::commands::error::Error;
use crdx_cluster::{Connection, JSON};
use crdx_engine::report::SourceLocation;
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_engine::simulation::object::Object;
use crdx_input::InputOptions;
use crdx_server::policies;
use crdx_server::server::http::address;
use crdx_types::resources::plural;
use crdx_value::group_version;

/// The objects of an operator before or after its upgrade.
#[derive(Default)]
pub struct OperatorSide {
    pub definitions: Vec<RehearsedDefinition>,
    /// The other objects, among them admission policies, their bindings and params, and webhook configurations.
    pub others: Vec<Object>,
}

impl OperatorSide {
    /// Reads the objects at `path`, at least one CRD, policy, binding or webhook configuration.
    ///
    /// # Errors
    /// There is none, two of a kind have the same name, or a document cannot be read.
    pub fn read(path: &str, options: &InputOptions) -> Result<Self, Error> {
        let mut side = Self::default();
        for object in objects_at(path, options) {
            let object = object?;
            if object.is_definition() {
                side.add_definition(object)?;
            } else {
                side.add_other(object)?;
            }
        }
        if side.definitions.is_empty() && !side.has_admission() {
            let message = format!("there is no CustomResourceDefinition in {path}");
            let help = "give the CRDs first, and the stored objects with -f";
            return Err(Error::input_at(message, SourceLocation::source(&path.into()), Some(help)));
        }
        Ok(side)
    }

    fn add_definition(&mut self, object: Object) -> Result<(), Error> {
        let value = object.value().clone();
        let new = RehearsedDefinition { object, value };
        if let Some(first) = self.definitions.iter().find(|first| first.name() == new.name()) {
            return Err(two_of_one_name(&format!("CRDs {}", new.name()), &first.object, &new.object));
        }
        self.definitions.push(new);
        Ok(())
    }

    fn add_other(&mut self, object: Object) -> Result<(), Error> {
        let (kind, name) = kind_and_name(&object);
        let is_same = |other: &&Object| object.is_policy() && kind_and_name(other) == (kind, name);
        if let Some(first) = self.admission().find(is_same) {
            return Err(two_of_one_name(&format!("objects {kind} {name}"), first, &object));
        }
        self.others.push(object);
        Ok(())
    }

    /// Returns true if there are policies, bindings or webhook configurations.
    pub fn has_admission(&self) -> bool {
        self.admission().next().is_some()
    }

    /// Returns the policies, bindings and webhook configurations.
    pub fn admission(&self) -> impl Iterator<Item = &Object> {
        self.others.iter().filter(|object| object.is_policy())
    }

    /// Reads from the cluster the policies, bindings and webhook configurations that have the names of those of `new`.
    ///
    /// # Errors
    /// The cluster does not answer, or does not allow to read one of them.
    pub fn existing_admission(new: &Self, connection: &Connection) -> Result<Vec<Object>, crdx_cluster::Error> {
        let mut found = Vec::new();
        for object in new.admission() {
            let (kind, name) = kind_and_name(object);
            let (_, own) = group_version::split(object.value().str_at(&["apiVersion"]).unwrap_or_default());
            // An older cluster serves an earlier version only.
            for version in [own, "v1", "v1beta1", "v1alpha1"] {
                let collection = address::collection(policies::GROUP, version, &plural(kind), None);
                let path = address::object(&collection, name);
                if let Some(existing) = connection.get(&path, JSON)? {
                    found.push(Object { document: document(existing), warnings: Vec::new() });
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// Returns the kind and the name of an object that has no namespace.
pub fn kind_and_name(object: &Object) -> (&str, &str) {
    let text = |path: &[&str]| object.value().str_at(path).unwrap_or_default();
    (text(&["kind"]), text(&["metadata", "name"]))
}

fn two_of_one_name(named: &str, first: &Object, second: &Object) -> Error {
    let (first, second) = (first.finder().start(), second.finder().start());
    let message = format!("there are two {named}, at {first} and at {second}");
    Error::input_at(message, second, Some("give one of them"))
}
