//! One type that a policy matches, and the environments of expressions about it (`buildEnvSet`).

use super::known::KnownType;
use crate::cel::{
    decl::DeclType,
    env::{Env, Objects},
    types::Type,
};
use crate::policies::environment::{Declarations, Environments};
use crate::policies::model::Policy;
use crate::policies::request::Kind;
use crate::release::Release;
use crate::rules::decl::Declarations as Types;
use std::sync::Arc;

/// A type with what expressions see of its objects.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The kind.
    pub kind: Kind,
    /// The type of `object` and `oldObject`; none for any.
    pub object: Option<Arc<DeclType>>,
    /// The type of `params`; none for any.
    pub params: Option<Arc<DeclType>>,
    /// Every object in them.
    objects: Objects,
    has_params: bool,
    environments: Environments,
}

/// The type of the policy's params, if it is known.
pub fn params<'t>(policy: &Policy, types: &'t [KnownType]) -> Option<&'t KnownType> {
    let wanted = policy.param_kind.as_ref()?;
    types.iter().find(|known| known.kind.api_version() == wanted.api_version && known.kind.kind == wanted.kind)
}

impl Subject {
    /// A type and the policy's params. Params of an unknown type are of any: before 1.36 the server then
    /// does not know `params` at all, but it knows more types.
    pub fn new(known: &KnownType, params: Option<&KnownType>, has_params: bool, release: Release) -> Self {
        let mut types = Types::new(release);
        // The type of params may have the same kind, but not the same name.
        let mut declare =
            |known: &KnownType, number: u8| types.declare(&known.schema, true, &format!("{}{number}", known.kind.kind));
        let object = declare(known, 0);
        let params = params.and_then(|known| declare(known, 1));
        Self {
            kind: known.kind.clone(),
            object,
            params,
            objects: types.objects,
            has_params,
            environments: Environments::new(release),
        }
    }

    /// Lets expressions use the policy's variables; one that does not compile is of any type.
    pub fn add_variables(&mut self, policy: &Policy) {
        for variable in &policy.variables {
            let checked = self.server_env().compile(&variable.expression);
            let type_ = checked.ok().map(|checked| checked.result_type().clone());
            self.environments.add_variable(&variable.name, type_.as_ref());
        }
    }

    /// The environment in which the server checks every expression: without `authorizer.requestResource`.
    pub fn server_env(&self) -> Env {
        let mut env = self.env(false);
        env.variables.retain(|variable| &*variable.name != "authorizer.requestResource");
        env
    }

    /// The environment of an expression, and of mutations with `patch_types`.
    pub fn env(&self, patch_types: bool) -> Env {
        let declarations = Declarations { params: self.has_params, authorizer: true, patch_types };
        let mut env = self.environments.env(declarations);
        for variable in &mut env.variables {
            let type_ = match &*variable.name {
                "object" | "oldObject" => &self.object,
                "params" => &self.params,
                _ => continue,
            };
            variable.type_ = type_.as_ref().map_or(Type::Dyn, |type_| type_.cel_type.clone());
        }
        let mut objects = Objects::clone(&env.objects);
        objects.extend(self.objects.iter().map(|(name, type_)| (Arc::clone(name), Arc::clone(type_))));
        env.objects = Arc::new(objects);
        env
    }
}
