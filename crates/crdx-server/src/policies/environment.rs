//! The CEL environments of policies: variables and types (`admission/plugin/cel/compile.go`, `composition.go`).

use crdx_cel::{
    decl::{DeclField, DeclType, Shape},
    env::{BaseEnv, Env, Objects},
    types::Type,
};
use crdx_value::release::Release;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// The name of the type of `variables`.
const VARIABLES: &str = "kubernetes.variables";

/// The optional variables of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declarations {
    /// `params`
    pub params: bool,
    /// `authorizer` and `authorizer.requestResource`
    pub authorizer: bool,
    /// `Object`, `JSONPatch` and `jsonpatch.escapeKey`
    pub patch_types: bool,
}

/// The state of an expression, which determines the available functions (`environment.Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The expression is new: functions of the previous release are available.
    New,
    /// The expression is stored: all functions of the server are available.
    Stored,
}

/// The environments of one policy. Declared variables are added to them.
#[derive(Clone, Debug)]
pub struct Environments {
    release: Release,
    /// True if expressions may use `variables`.
    composed: bool,
    variables: BTreeMap<String, Type>,
}

impl Environments {
    /// Creates environments without variables.
    pub fn new(release: Release) -> Self {
        Self { release, composed: true, variables: BTreeMap::new() }
    }

    /// Creates the environments of expressions that may not use `variables` at all (`plugincel.NewCompiler`).
    pub(crate) fn without_composition(release: Release) -> Self {
        Self { release, composed: false, variables: BTreeMap::new() }
    }

    /// Declares a variable for later expressions; one that does not compile has type dyn.
    pub fn add_variable(&mut self, name: &str, type_: Option<&Type>) {
        self.variables.insert(name.to_owned(), type_.map_or(Type::Dyn, declared));
    }

    /// Returns the environment of a stored expression. Its variables are in the order of [`super::evaluate`].
    pub fn env(&self, declarations: Declarations) -> Env {
        self.with_variables(Mode::Stored, declarations, self.variables.iter())
    }

    /// As [`Self::env`], with the variables that `source` may refer to, so that the time for all expressions of a policy
    /// does not grow with the square of its variables.
    pub fn env_for(&self, declarations: Declarations, source: &str) -> Env {
        self.env_in(Mode::Stored, declarations, source)
    }

    /// Returns the environment of new expressions, with all variables.
    pub(crate) fn env_of_new(&self, declarations: Declarations) -> Env {
        self.with_variables(Mode::New, declarations, self.variables.iter())
    }

    /// Returns the environment of a new or a stored expression. It has the variables whose names `source` contains.
    pub(crate) fn env_in(&self, mode: Mode, declarations: Declarations, source: &str) -> Env {
        let words: BTreeSet<&str> = source.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).collect();
        let named = words.into_iter().filter_map(|word| self.variables.get_key_value(word));
        self.with_variables(mode, declarations, named)
    }

    fn with_variables<'v>(
        &self,
        mode: Mode,
        declarations: Declarations,
        variables: impl Iterator<Item = (&'v String, &'v Type)>,
    ) -> Env {
        let base = match (mode, declarations.patch_types) {
            (Mode::New, false) => BaseEnv::for_new(self.release),
            (Mode::New, true) => BaseEnv::for_new_with_patch_types(self.release),
            (Mode::Stored, false) => BaseEnv::for_stored(self.release),
            (Mode::Stored, true) => BaseEnv::with_patch_types(self.release),
        };
        let object = |name: &str| Type::Object(name.into());
        let mut env = Env::new(base)
            .with_variable("object", Type::Dyn)
            .with_variable("oldObject", Type::Dyn)
            .with_variable("namespaceObject", object("kubernetes.Namespace"))
            .with_variable("request", object("kubernetes.AdmissionRequest"));
        if declarations.params {
            env = env.with_variable("params", Type::Dyn);
        }
        if declarations.authorizer {
            env = env
                .with_variable("authorizer", object("kubernetes.authorization.Authorizer"))
                .with_variable("authorizer.requestResource", object("kubernetes.authorization.ResourceCheck"));
        }
        let mut objects = OBJECTS.clone();
        if !self.composed {
            env.objects = Arc::new(objects);
            return env;
        }
        env = env.with_variable("variables", object(VARIABLES));
        let fields = variables.map(|(name, type_)| (name.as_str(), type_.clone()));
        declare(&mut objects, VARIABLES, fields);
        env.objects = Arc::new(objects);
        env
    }
}

/// Returns the type of a variable whose expression has this type: objects and similar types become dyn.
fn declared(type_: &Type) -> Type {
    match type_ {
        Type::Any
        | Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => type_.clone(),
        Type::List(item) => Type::list(declared(item)),
        Type::Map(key, value) => Type::map(declared(key), declared(value)),
        _ => Type::Dyn,
    }
}

fn declare<'n>(objects: &mut Objects, name: &str, fields: impl IntoIterator<Item = (&'n str, Type)>) {
    let fields = fields.into_iter().map(|(field, type_)| {
        let type_ = Arc::new(scalar(type_));
        (field.to_owned(), DeclField { json_name: field.to_owned(), required: true, type_ })
    });
    let declared = DeclType { shape: Shape::Object(fields.collect()), ..scalar(Type::Object(name.into())) };
    objects.insert(name.into(), Arc::new(declared));
}

/// The sizes are not set, because only the types of these fields are used.
fn scalar(cel_type: Type) -> DeclType {
    DeclType::scalar(cel_type, 0, 0).nullable()
}

/// The types of `request` and `namespaceObject`.
static OBJECTS: LazyLock<Objects> = LazyLock::new(|| {
    let mut objects = Objects::new();
    let object = |name: &str| Type::Object(name.into());
    let texts = || Type::list(Type::String);
    let labels = || Type::map(Type::String, Type::String);
    let mut put = |name: &str, fields: Vec<(&str, Type)>| declare(&mut objects, name, fields);
    let of_text = |names: &[&'static str]| names.iter().map(|name| (*name, Type::String)).collect::<Vec<_>>();
    put("kubernetes.GroupVersionKind", of_text(&["group", "version", "kind"]));
    put("kubernetes.GroupVersionResource", of_text(&["group", "version", "resource"]));
    let extra = Type::map(Type::String, texts());
    let mut user = of_text(&["username", "uid"]);
    user.extend([("groups", texts()), ("extra", extra)]);
    put("kubernetes.UserInfo", user);
    let mut request = of_text(&["subResource", "requestSubResource", "name", "namespace", "operation"]);
    request.extend([
        ("kind", object("kubernetes.GroupVersionKind")),
        ("resource", object("kubernetes.GroupVersionResource")),
        ("requestKind", object("kubernetes.GroupVersionKind")),
        ("requestResource", object("kubernetes.GroupVersionResource")),
        ("userInfo", object("kubernetes.UserInfo")),
        ("dryRun", Type::Bool),
        ("options", Type::Dyn),
    ]);
    put("kubernetes.AdmissionRequest", request);
    put("kubernetes.NamespaceSpec", vec![("finalizers", texts())]);
    let mut condition = of_text(&["status", "type", "message", "reason"]);
    condition.push(("lastTransitionTime", Type::Timestamp));
    put("kubernetes.NamespaceCondition", condition);
    let conditions = Type::list(object("kubernetes.NamespaceCondition"));
    put("kubernetes.NamespaceStatus", vec![("conditions", conditions), ("phase", Type::String)]);
    let mut metadata = of_text(&["name", "generateName", "namespace", "UID", "resourceVersion"]);
    metadata.extend([
        ("labels", labels()),
        ("annotations", labels()),
        ("creationTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("deletionTimestamp", Type::Timestamp),
        ("generation", Type::Int),
        ("finalizers", texts()),
    ]);
    put("kubernetes.NamespaceMetadata", metadata);
    let parts = [("metadata", "NamespaceMetadata"), ("spec", "NamespaceSpec"), ("status", "NamespaceStatus")];
    put("kubernetes.Namespace", parts.map(|(field, name)| (field, object(&format!("kubernetes.{name}")))).into());
    objects
});
