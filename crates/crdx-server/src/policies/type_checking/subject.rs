//! A type that a policy matches, and the environments of expressions for it (`buildEnvSet`).

use super::known::KnownType;
use crate::policies::environment::{Declarations, Environments};
use crate::policies::model::Policy;
use crate::policies::request::Kind;
use crate::rules::decl::Declarations as Types;
use crdx_cel::{
    decl::{DeclType, Shape},
    env::{Env, Objects},
    types::Type,
};
use crdx_value::release::Release;
use std::sync::Arc;

/// The types of values without a type in the published schema, such as quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untyped {
    /// The server does not find fields of such a type, although they can be evaluated.
    Hidden,
    /// Any type.
    Dyn,
}

/// A type with the declarations of its objects.
#[derive(Clone, Debug)]
pub struct TypeCheckingSubject {
    /// The kind.
    pub kind: Kind,
    /// The type of `object` and `oldObject`; `None` means any type.
    pub object: Option<Arc<DeclType>>,
    /// The type of `params`; `None` means any type.
    pub params: Option<Arc<DeclType>>,
    /// The declared types of objects: those that occur in them, and that of `variables`.
    objects: Arc<Objects>,
    /// The environment of expressions, and that of mutations, without [`Self::objects`].
    plain: Env,
    patching: Env,
    /// Environments without variables.
    environments: Environments,
}

/// Returns the type of the policy's params, if it is known.
pub fn params(policy: &Policy, types: &[KnownType], release: Release) -> Option<KnownType> {
    let wanted = policy.param_kind.as_ref()?;
    let is_wanted = |kind: &Kind| kind.api_version() == wanted.api_version && kind.kind == wanted.kind;
    KnownType::built_in(release).chain(types.iter().cloned()).find(|known| is_wanted(&known.kind))
}

impl TypeCheckingSubject {
    /// Creates a subject from a type and the policy's params. If the type of params is unknown, it may be any type. The
    /// server before 1.36 does not declare `params` in that case, but it knows the CRDs of its cluster.
    pub fn new(
        known: &KnownType,
        (params, has_params): (Option<&KnownType>, bool),
        release: Release,
        untyped: Untyped,
    ) -> Self {
        let types = Types::of_openapi(release);
        let mut types = if untyped == Untyped::Dyn { types.with_untyped() } else { types };
        // The type of params may have the same kind, so it needs another name.
        let mut declare = |known: &KnownType, number: u8| {
            types.declare(&*known.schema(release)?, true, &format!("{}{number}", known.kind.kind))
        };
        let object = declare(known, 0);
        let params = params.and_then(|known| declare(known, 1));
        let environments = Environments::new(release);
        let env = |patch_types| {
            let mut env = environments.env(Declarations { params: has_params, authorizer: true, patch_types });
            for variable in &mut env.variables {
                let type_ = match &*variable.name {
                    "object" | "oldObject" => &object,
                    "params" => &params,
                    _ => continue,
                };
                variable.type_ = type_.as_ref().map_or(Type::Dyn, |type_| type_.cel_type.clone());
            }
            let objects = std::mem::take(&mut env.objects);
            (env, objects)
        };
        let ((plain, declared), (patching, _)) = (env(false), env(true));
        let mut objects = Arc::unwrap_or_clone(declared);
        objects.extend(types.objects);
        Self { kind: known.kind.clone(), object, params, objects: Arc::new(objects), plain, patching, environments }
    }

    /// Declares the policy's variables; one that does not compile may have any type.
    pub(crate) fn add_variables(&mut self, policy: &Policy) {
        for variable in &policy.variables {
            let checked = self.server_env().compile(&variable.expression);
            let type_ = checked.ok().map(|checked| checked.result_type().clone());
            self.add_variable(&variable.name, type_.as_ref());
        }
    }

    /// Declares a variable in place, so that the time for many variables is linear.
    fn add_variable(&mut self, name: &str, type_: Option<&Type>) {
        let mut alone = self.environments.clone();
        alone.add_variable(name, type_);
        let env = alone.env(Declarations { params: false, authorizer: false, patch_types: false });
        let variables = env.variables.iter().find(|variable| &*variable.name == "variables");
        let Some(Type::Object(of)) = variables.map(|variable| &variable.type_) else { return };
        let fields = |declared: &Arc<DeclType>| match &declared.shape {
            Shape::Object(fields) => fields.get(name).cloned(),
            _ => None,
        };
        if let Some(field) = env.objects.get(of).and_then(fields)
            && let Some(declared) = Arc::make_mut(&mut self.objects).get_mut(of)
            && let Shape::Object(fields) = &mut Arc::make_mut(declared).shape
        {
            fields.insert(name.to_owned(), field);
        }
    }

    /// Returns the environment in which the server checks every expression: without `authorizer.requestResource`.
    pub fn server_env(&self) -> Env {
        let mut env = self.env(false);
        env.variables.retain(|variable| &*variable.name != "authorizer.requestResource");
        env
    }

    /// Returns the environment of an expression, or of mutations with `patch_types`.
    pub fn env(&self, patch_types: bool) -> Env {
        let mut env = if patch_types { self.patching.clone() } else { self.plain.clone() };
        env.objects = Arc::clone(&self.objects);
        env
    }
}
