//! A type that a policy matches, and the environments of expressions for it (`buildEnvSet`).

use super::known::KnownType;
use crate::policies::environment::{Declarations, Environments};
use crate::policies::model::Policy;
use crate::policies::request::Kind;
use crate::rules::decl::Declarations as Types;
use crdx_cel::{
    decl::DeclType,
    env::{Env, Objects},
    types::Type,
};
use crdx_value::release::Release;
use std::sync::{Arc, OnceLock};

/// A type with the declarations of its objects.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The kind.
    pub kind: Kind,
    /// The type of `object` and `oldObject`; `None` means any type.
    pub object: Option<Arc<DeclType>>,
    /// The type of `params`; `None` means any type.
    pub params: Option<Arc<DeclType>>,
    /// All object types that occur in them.
    objects: Objects,
    has_params: bool,
    environments: Environments,
    /// The environments with all variables.
    with_patch_types: OnceLock<Env>,
    without_patch_types: OnceLock<Env>,
}

/// `authorizer.requestResource` is not declared while types are checked.
fn without_request_resource(mut env: Env) -> Env {
    env.variables.retain(|variable| &*variable.name != "authorizer.requestResource");
    env
}

/// Returns the type of the policy's params, if it is known.
pub fn params<'t>(policy: &Policy, types: &'t [KnownType]) -> Option<&'t KnownType> {
    let wanted = policy.param_kind.as_ref()?;
    types.iter().find(|known| known.kind.api_version() == wanted.api_version && known.kind.kind == wanted.kind)
}

impl Subject {
    /// Creates a subject from a type and the policy's params. If the type of params is unknown, it may be any type. The
    /// server before 1.36 does not declare `params` in that case, but it knows more types.
    pub fn new(known: &KnownType, params: Option<&KnownType>, has_params: bool, release: Release) -> Self {
        let mut types = Types::new(release);
        // The type of params may have the same kind, so it needs another name.
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
            with_patch_types: OnceLock::new(),
            without_patch_types: OnceLock::new(),
        }
    }

    /// Declares the policy's variables; one that does not compile may have any type.
    pub(crate) fn add_variables(&mut self, policy: &Policy) {
        for variable in &policy.variables {
            let env = self.environments.env_for(self.declarations(false), &variable.expression);
            let checked = without_request_resource(self.typed(env)).compile(&variable.expression);
            let type_ = checked.ok().map(|checked| checked.result_type().clone());
            self.environments.add_variable(&variable.name, type_.as_ref());
        }
    }

    /// Returns the environment in which the server checks every expression: without `authorizer.requestResource`.
    pub fn server_env(&self) -> Env {
        without_request_resource(self.env(false))
    }

    fn declarations(&self, patch_types: bool) -> Declarations {
        Declarations { params: self.has_params, authorizer: true, patch_types }
    }

    /// Returns the environment of an expression, or of mutations with `patch_types`.
    pub fn env(&self, patch_types: bool) -> Env {
        // Policies have many expressions, and the environments have all variables.
        let env = if patch_types { &self.with_patch_types } else { &self.without_patch_types };
        env.get_or_init(|| self.typed(self.environments.env(self.declarations(patch_types)))).clone()
    }

    /// Sets the types of an environment.
    fn typed(&self, mut env: Env) -> Env {
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
