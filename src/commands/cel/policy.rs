//! An expression of an admission policy, or a match condition of a webhook.

use super::args::{self, Environment, PolicyInputs};
use super::report::{CheckedExpression, CompileFailure, Invalid, Run};
use super::self_value::{self, InputError, SelfValue, objects_of};
use super::{compile, finished, type_name, uses};
use crdx_cel::ast::CheckedAst;
use crdx_cel::cost;
use crdx_cel::eval::PER_CALL_LIMIT;
use crdx_cel::types::Type;
use crdx_server::policies::evaluate::{Authorizers, Inputs, namespace_object};
use crdx_server::policies::model::{Policy, PolicyKind};
use crdx_server::policies::request::{Kind, Operation, Request, Resource, User};
use crdx_server::policies::standalone::{Role, Standalone};
use crdx_server::server::UserInfo;
use crdx_types::types::Types;
use crdx_types::{Endpoint, decode, defaults, encode, resources};
use crdx_value::release::Release;
use crdx_value::steps::Steps;
use crdx_value::{Value, group_version, json, object};
use std::sync::Arc;

impl PolicyInputs {
    /// # Errors
    /// Returns an error if a flag is given that rules do not use.
    pub fn require_none(&self) -> Result<(), InputError> {
        self.require(Environment::Rule)
    }

    /// # Errors
    /// Returns an error if a flag is given that only expressions of policies use.
    pub fn require(&self, environment: Environment) -> Result<(), InputError> {
        let given = [
            ("--policy", self.policy.is_some()),
            ("--params", self.params.is_some()),
            ("--namespace-object", self.namespace_object.is_some()),
            ("--request-user", self.request_user.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(InputError::with_help(
                format!("{flag} has no effect on a {}", environment.expression()),
                "give --environment policy, match-condition or mutation",
            )),
            None => Ok(()),
        }
    }
}

/// Compiles the expression, and evaluates it if its inputs are given.
pub fn outcome(args: &args::Cel, release: Release) -> Result<Result<CheckedExpression, CompileFailure>, InputError> {
    let inputs = &args.policies;
    if args.at.is_some() {
        return Err(InputError::with_help("--at is for rules and devices", "select the field in the expression"));
    }
    let name = inputs.policy_name.as_deref();
    let policy = inputs.policy.as_deref().map(|path| policy_of(path, name, release)).transpose()?;
    let role = match args.environment() {
        Environment::MatchCondition => Role::MatchCondition,
        Environment::Mutation => Role::Mutation,
        Environment::Policy | Environment::Rule | Environment::Device => Role::Policy,
    };
    let scope = Standalone::new(role, policy.as_ref(), inputs.params.is_some(), release);
    let env = scope.env();
    let (ast, program) = match compile(&args.expression, &env) {
        Ok(compiled) => compiled,
        Err(failure) => return Ok(Err(failure)),
    };
    let given = Given::read(args, release)?;
    let estimate = cost::estimate(&ast, None);
    let checked = |run: Run| {
        Ok(Ok(CheckedExpression {
            type_: type_name(&ast),
            estimate: (estimate.min, estimate.max),
            rule: None,
            valid: valid(&scope.types(), &ast),
            run,
            run_limit: PER_CALL_LIMIT,
        }))
    };
    let sources = policy.iter().flat_map(|policy| policy.variables.iter().map(|variable| variable.expression.as_str()));
    let reads = |names: &[&str]| {
        let reads_variables = uses(&["variables"], &args.expression, &env.base);
        uses(names, &args.expression, &env.base)
            || reads_variables && sources.clone().any(|source| uses(names, source, &env.base))
    };
    let dependencies = scope.dependencies(&ast);
    let is_missing = [
        (
            given.object.is_none() && given.old.is_none() && reads(&["object", "oldObject"]),
            "an object; give it with -f",
        ),
        (given.params.is_none() && reads(&["params"]), "params; give them with --params"),
        (dependencies.user && inputs.request_user.is_none(), "request.userInfo; give the user with --request-user"),
        (
            dependencies.authorizer && inputs.authorizer.is_none(),
            "authorizer; give its answers with --request-user and --authorizer",
        ),
        (
            dependencies.namespace && given.namespace.is_none() && given.has_namespace(release),
            "namespaceObject; give the Namespace with --namespace-object",
        ),
    ];
    if let Some((_, what)) = is_missing.iter().find(|(is_missing, _)| *is_missing) {
        return checked(Run::Missing(format!("the expression reads {what}")));
    }
    let steps = Steps::of_request();
    let request = given.request(inputs, release);
    let value = request.to_value(&request.kind, &request.resource);
    let rules = inputs.authorizer.clone();
    let authorizers = rules.map(|rules| Authorizers::new(&request, Arc::new(rules)));
    let outcome = scope.run(
        &program,
        Inputs {
            object: given.object.as_ref(),
            gaps: None,
            old_object: given.old.as_ref(),
            params: given.params.as_ref(),
            request: &value,
            namespace: given.namespace.as_ref(),
            authorizers: authorizers.as_ref(),
            steps: &steps,
        },
    );
    checked(finished(outcome, &steps))
}

/// Returns the error of an expression whose type is none of `types` (`CompileCELExpression`).
fn valid(types: &[Type], ast: &CheckedAst) -> Result<(), Invalid> {
    let found = ast.result_type();
    if types.contains(found) {
        return Ok(());
    }
    let types: Vec<String> = types.iter().map(ToString::to_string).collect();
    Err(Invalid::WrongType(format!("must evaluate to {} but got {found}", types.join(" or "))))
}

/// Reads the policy with a name, or the only policy, of a file.
fn policy_of(path: &str, name: Option<&str>, release: Release) -> Result<Policy, InputError> {
    let is_policy = |object: &Value| {
        let kind = object.str_at(&["kind"]).unwrap_or_default();
        PolicyKind::has_kind(kind) && !kind.ends_with("Binding")
    };
    let name_of = |object: &Value| object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let all: Vec<Value> = objects_of(path)?.into_iter().filter(is_policy).collect();
    let names: Vec<String> = all.iter().map(name_of).collect();
    let mut found: Vec<Value> =
        all.into_iter().filter(|policy| name.is_none_or(|name| name_of(policy) == name)).collect();
    match (found.pop(), found.len()) {
        (Some(policy), 0) => Ok(Policy::read(&policy, release)),
        (None, _) if names.is_empty() => Err(InputError::new(format!("there is no admission policy in {path}"))),
        (None, _) => {
            let message = format!("there is no admission policy {} in {path}", name.unwrap_or_default());
            Err(InputError::with_help(message, &format!("the policies are {}", names.join(", "))))
        }
        (Some(_), others) => Err(InputError::with_help(
            format!("there are {} admission policies in {path}", others + 1),
            &format!("choose one with --policy-name: {}", names.join(", ")),
        )),
    }
}

/// Reads the only object of a file.
fn object_of(path: &str, flag: &str) -> Result<Value, InputError> {
    let mut objects = objects_of(path)?;
    match (objects.pop(), objects.len()) {
        (Some(object), 0) => Ok(object),
        (_, others) => Err(InputError::new(format!("{flag} needs one object, and {path} has {others} more or none"))),
    }
}

/// The objects that the arguments name.
struct Given {
    object: Option<Value>,
    old: Option<Value>,
    params: Option<Value>,
    namespace: Option<Value>,
}

impl Given {
    fn read(args: &args::Cel, release: Release) -> Result<Self, InputError> {
        let (object, old) = match self_value::read(args, release, false)? {
            SelfValue::Nothing => (None, None),
            SelfValue::Typed { new, old, .. } => (Some(new), old),
            SelfValue::Untyped { new, old } => {
                let complete = |object: Value| with_defaults(object, release);
                (Some(complete(new)?), old.map(complete).transpose()?)
            }
        };
        let inputs = &args.policies;
        let read = |path: &Option<String>, flag| path.as_deref().map(|path| object_of(path, flag)).transpose();
        let namespace = read(&inputs.namespace_object, "--namespace-object")?.as_ref().map(namespace_object);
        Ok(Self { object, old, params: read(&inputs.params, "--params")?, namespace })
    }

    fn text(&self, path: &[&str]) -> &str {
        let object = self.object.as_ref().or(self.old.as_ref());
        object.and_then(|object| object.str_at(path)).unwrap_or_default()
    }

    /// Returns true if the object may be in a namespace.
    fn has_namespace(&self, release: Release) -> bool {
        let known =
            resources::of_kind(self.text(&["apiVersion"]), self.text(&["kind"]), release.minor().number().into());
        known.is_none_or(|known| known.namespaced)
    }

    /// Returns the request that writes the object.
    fn request<'a>(&'a self, inputs: &PolicyInputs, release: Release) -> Request<'a> {
        let (api_version, kind) = (self.text(&["apiVersion"]), self.text(&["kind"]));
        let (group, version) = group_version::split(api_version);
        let known = resources::of_kind(api_version, kind, release.minor().number().into());
        let plural = known.map_or_else(|| resources::plural(kind), |known| known.plural.to_owned());
        let operation = if self.old.is_some() { Operation::Update } else { Operation::Create };
        let options = if self.old.is_some() { "UpdateOptions" } else { "CreateOptions" };
        let user = inputs.request_user.clone();
        let user = user.map(|name| UserInfo::authenticated(name, inputs.request_group.clone()));
        let user = user.map_or_else(User::default, |user| User {
            username: user.username,
            uid: user.uid,
            groups: user.groups,
            extra: user.extra,
        });
        Request {
            operation,
            resource: Arc::new(Resource { group: group.to_owned(), version: version.to_owned(), resource: plural }),
            subresource: "",
            kind: Arc::new(Kind { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }),
            namespace: self.text(&["metadata", "namespace"]),
            name: self.text(&["metadata", "name"]),
            old_object: self.old.as_ref(),
            options: object([("apiVersion", "meta.k8s.io/v1"), ("kind", options)]),
            dry_run: false,
            user,
            gaps: None,
            alternatives: Arc::default(),
            steps: Steps::of_request(),
        }
    }
}

/// Returns an object of a built-in kind as the server decodes it, with its defaults and a namespace.
fn with_defaults(object: Value, release: Release) -> Result<Value, InputError> {
    let minor = release.minor().number().into();
    let text = |key: &str| object.str_at(&[key]).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let types = Types::for_release(minor);
    let Some(id) = types.of_kind(api_version, kind) else { return Ok(object) };
    let (group, version) = group_version::split(api_version);
    let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
    let decoded = decode::decode(types, &endpoint, json::to_string(&object).as_bytes());
    decoded.map_err(|refusal| InputError::new(format!("the object cannot be read: {}", refusal.error)))?;
    let mut complete = encode::encode(types, id, &object).object;
    defaults::set(types, id, &mut complete, release);
    let is_namespaced = resources::of_kind(api_version, kind, minor).is_some_and(|resource| resource.namespaced);
    if is_namespaced && complete.str_at(&["metadata", "namespace"]).is_none_or(str::is_empty) {
        complete.insert_at(&["metadata", "namespace"], "default".into());
    }
    Ok(complete)
}
