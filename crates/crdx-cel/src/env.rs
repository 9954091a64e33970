//! Environments of expressions: the functions, types and macros of a Kubernetes version, and variables.
//!
//! Follows `k8s.io/apiserver/pkg/cel/environment`. The version-specific part ([`BaseEnv`]) is built once; an [`Env`]
//! adds variables to it and is cheap to create.

mod signature;

use super::{
    decl::DeclType,
    library::{self, Overload},
    syntax::{Macro, MacroSet, ParseOptions, ParserVersion},
    types::Type,
    value::message,
};
use crdx_value::lock::lock;
use crdx_value::release::{Minor, Release, V1_30, V1_31, V1_32, V1_33, V1_34, V1_37};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, OnceLock},
};

/// The overloads of one function. Their signatures are parsed when the function is first used.
#[derive(Debug, Default)]
pub(super) struct Function {
    overloads: Vec<&'static Overload>,
    candidates: OnceLock<Vec<Candidate>>,
}

impl Function {
    /// The overloads, prepared for the checker.
    pub fn candidates(&self) -> &[Candidate] {
        self.candidates.get_or_init(|| self.overloads.iter().filter_map(|overload| signature::read(overload)).collect())
    }
}

/// An overload with its parsed signature; type parameters are type variables numbered from 0.
#[derive(Debug)]
pub(super) struct Candidate {
    pub overload: &'static Overload,
    pub params: Vec<Type>,
    pub result: Type,
    pub variables: u32,
}

/// The declaration of a predeclared name.
#[derive(Clone, Debug)]
pub(super) enum Named {
    Type(Type),
    Constant(i64),
}

/// The functions, types and macros that a server offers to expressions.
#[derive(Debug)]
pub struct BaseEnv {
    /// The minor version of the server, which determines costs and error messages.
    pub server: Minor,
    /// The compatibility version: libraries and options introduced later are not available.
    pub version: Minor,
    /// The options of the parser.
    pub parse_options: ParseOptions,
    /// True if a field whose name is a keyword need not be escaped.
    pub(super) keyword_fields: bool,
    /// True if literals are validated by evaluating them (for example, durations and regular expressions).
    pub(super) validators: bool,
    /// True if expressions may construct `Object{…}` and `JSONPatch{…}`.
    pub(super) patch_types: bool,
    pub(super) functions: HashMap<&'static str, Function>,
    pub(super) names: HashMap<&'static str, Named>,
    /// The first parts of qualified function names.
    pub(super) function_roots: Vec<&'static str>,
    /// The first parts of other qualified names.
    pub(super) name_roots: Vec<&'static str>,
}

/// The parameters that determine an environment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BaseEnvKey {
    server: Minor,
    /// The compatibility version.
    version: Minor,
    patch_types: bool,
}

type BaseEnvCache = BTreeMap<BaseEnvKey, Arc<BaseEnv>>;

impl BaseEnv {
    /// The environment for new expressions (`NewExpressionsEnv`): limited to what the previous release supports, so
    /// that a rollback is possible. Built on first use.
    pub fn for_new(release: Release) -> Arc<Self> {
        Self::built(BaseEnvKey { server: release.minor(), version: release.compatibility(), patch_types: false })
    }

    /// The environment for stored expressions (`StoredExpressionsEnv`): everything the server supports. Every library
    /// is available to stored expressions in the release that introduces it. Built on first use.
    pub fn for_stored(release: Release) -> Arc<Self> {
        Self::built(BaseEnvKey { server: release.minor(), version: release.minor(), patch_types: false })
    }

    /// Like [`Self::for_new`], for expressions of mutating admission policies.
    pub fn for_new_with_patch_types(release: Release) -> Arc<Self> {
        Self::built(BaseEnvKey { server: release.minor(), version: release.compatibility(), patch_types: true })
    }

    /// Like [`Self::for_stored`], for expressions of mutating admission policies.
    pub fn with_patch_types(release: Release) -> Arc<Self> {
        Self::built(BaseEnvKey { server: release.minor(), version: release.minor(), patch_types: true })
    }

    /// Returns true if the environment has an overload of a function, given by cel-go's overload id.
    pub fn has_overload(&self, function: &str, id: &str) -> bool {
        let function = self.functions.get(function);
        function.is_some_and(|function| function.overloads.iter().any(|overload| overload.id == id))
    }

    fn built(key: BaseEnvKey) -> Arc<Self> {
        static BUILT: OnceLock<Mutex<BaseEnvCache>> = OnceLock::new();
        let built = BUILT.get_or_init(Mutex::default);
        let mut built = lock(built);
        Arc::clone(built.entry(key).or_insert_with(|| Arc::new(Self::build(key))))
    }

    fn build(BaseEnvKey { server, version, patch_types }: BaseEnvKey) -> Self {
        let mut functions: HashMap<&'static str, Function> = HashMap::new();
        let of_patches = library::patch_overloads().filter(|_| patch_types);
        let all = library::overloads().chain(of_patches);
        for overload in all.filter(|overload| overload.is_of(server, version)) {
            if version < Minor(28) && compares_across_types(overload.id) {
                continue;
            }
            functions.entry(overload.function).or_default().overloads.push(overload);
        }
        let names = names(version);
        Self {
            server,
            version,
            parse_options: ParseOptions {
                optional_syntax: version >= Minor(28),
                macros: macros(version),
                version: parser_version(server),
            },
            keyword_fields: version >= V1_31,
            validators: version >= Minor(29),
            patch_types,
            function_roots: roots(functions.keys()),
            name_roots: {
                let mut roots = roots(names.keys());
                roots.extend(patch_types.then_some(message::OBJECT));
                roots
            },
            functions,
            names,
        }
    }
}

fn roots<'k>(names: impl Iterator<Item = &'k &'static str>) -> Vec<&'static str> {
    let mut roots: Vec<&'static str> = names.filter_map(|name| name.split_once('.')).map(|(root, _)| root).collect();
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// Returns true for the overloads of comparisons between different numeric types, such as `1 < 1.5`.
fn compares_across_types(id: &str) -> bool {
    let Some(types) = ["less_equals_", "less_", "greater_equals_", "greater_"].iter().find_map(|p| id.strip_prefix(p))
    else {
        return false;
    };
    types.split_once('_').is_some_and(|(a, b)| [a, b].iter().all(|t| matches!(*t, "int64" | "uint64" | "double")))
}

/// The macros available at a compatibility version.
pub fn macros(version: Minor) -> MacroSet {
    let introduced = |which| match which {
        Macro::Has | Macro::All | Macro::Exists | Macro::ExistsOne | Macro::Map | Macro::Filter => Some(Minor::ALWAYS),
        Macro::OptMap | Macro::OptFlatMap => Some(Minor(28)),
        Macro::SortBy => Some(V1_34),
        Macro::All2
        | Macro::Exists2
        | Macro::ExistsOne2
        | Macro::TransformList
        | Macro::TransformMap
        | Macro::TransformMapEntry => Some(V1_32),
        // Only environments that add it have it.
        Macro::Bind => None,
    };
    let is_there = |which: &Macro| introduced(*which).is_some_and(|since| since <= version);
    let there = Macro::FORMS.iter().map(|(which, ..)| *which).filter(is_there);
    there.fold(MacroSet::default(), MacroSet::with)
}

/// The version of a server's parser.
fn parser_version(server: Minor) -> ParserVersion {
    match server {
        _ if server < V1_32 => ParserVersion::V0_17,
        _ if server < V1_33 => ParserVersion::V0_22,
        _ if server < V1_37 => ParserVersion::V0_23,
        _ => ParserVersion::V0_29,
    }
}

/// The type names and named constants available at a compatibility version.
fn names(version: Minor) -> HashMap<&'static str, Named> {
    let wrapper = |of| Type::Wrapper(Arc::new(of));
    let json_map = || Type::map(Type::String, Type::Dyn);
    let always = [
        ("bool", Type::Bool),
        ("bytes", Type::Bytes),
        ("double", Type::Double),
        ("duration", Type::Duration),
        ("google.protobuf.Any", Type::Any),
        ("google.protobuf.BoolValue", wrapper(Type::Bool)),
        ("google.protobuf.BytesValue", wrapper(Type::Bytes)),
        ("google.protobuf.DoubleValue", wrapper(Type::Double)),
        ("google.protobuf.Duration", Type::Duration),
        ("google.protobuf.Empty", Type::Opaque("google.protobuf.Empty".into())),
        ("google.protobuf.FloatValue", wrapper(Type::Double)),
        ("google.protobuf.Int32Value", wrapper(Type::Int)),
        ("google.protobuf.Int64Value", wrapper(Type::Int)),
        ("google.protobuf.ListValue", Type::list(Type::Dyn)),
        ("google.protobuf.StringValue", wrapper(Type::String)),
        ("google.protobuf.Struct", json_map()),
        ("google.protobuf.Timestamp", Type::Timestamp),
        ("google.protobuf.UInt32Value", wrapper(Type::Uint)),
        ("google.protobuf.UInt64Value", wrapper(Type::Uint)),
        ("google.protobuf.Value", Type::Dyn),
        ("int", Type::Int),
        ("list", Type::list(Type::Dyn)),
        ("map", Type::map(Type::Dyn, Type::Dyn)),
        ("null_type", Type::Null),
        ("string", Type::String),
        ("timestamp", Type::Timestamp),
        ("type", Type::Opaque("type".into())),
        ("uint", Type::Uint),
    ];
    let mut names: HashMap<&'static str, Named> =
        always.into_iter().map(|(name, type_)| (name, Named::Type(type_))).collect();
    names.insert("google.protobuf.NullValue.NULL_VALUE", Named::Constant(0));
    if version >= Minor(28) {
        names.insert("optional_type", Named::Type(Type::optional(Type::Dyn)));
    }
    if version >= V1_30 {
        for name in ["net.IP", "net.CIDR"] {
            names.insert(name, Named::Type(Type::Opaque(name.into())));
        }
    }
    names
}

/// A variable of an environment.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name of the variable.
    pub name: Arc<str>,
    /// The type of the variable.
    pub type_: Type,
}

/// The declared types of objects, by the name used in [`Type::Object`].
pub type Objects = HashMap<Arc<str>, Arc<DeclType>>;

/// An environment: a base environment with variables and object types.
#[derive(Clone, Debug)]
pub struct Env {
    /// The base environment.
    pub base: Arc<BaseEnv>,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The declared types of objects.
    pub objects: Arc<Objects>,
    /// A prefix of object type names, and its replacement in error messages.
    pub rename: Option<(Arc<str>, &'static str)>,
    /// Macros that the base environment does not have.
    macros: MacroSet,
}

impl Env {
    /// Creates an environment without variables.
    pub fn new(base: Arc<BaseEnv>) -> Self {
        Self { base, variables: Vec::new(), objects: Arc::default(), rename: None, macros: MacroSet::default() }
    }

    /// Adds a variable.
    pub fn with_variable(mut self, name: &str, type_: Type) -> Self {
        self.variables.push(Variable { name: name.into(), type_ });
        self
    }

    /// Adds a macro.
    #[must_use]
    pub fn with_macro(self, added: Macro) -> Self {
        Self { macros: self.macros.with(added), ..self }
    }

    /// The options of the parser.
    pub fn parse_options(&self) -> ParseOptions {
        let options = self.base.parse_options;
        ParseOptions { macros: options.macros.union(self.macros), ..options }
    }

    /// The patch message type with this name, if expressions may construct patch types.
    pub(super) fn message_type(&self, name: &str) -> Option<Type> {
        (self.base.patch_types && message::is_type(name)).then(|| Type::Object(name.into()))
    }

    /// Returns true if `root` is the first part of a qualified variable, constant or type name.
    pub(super) fn is_name_root(&self, root: &str) -> bool {
        let begins = |variable: &Variable| variable.name.strip_prefix(root).is_some_and(|rest| rest.starts_with('.'));
        self.base.name_roots.contains(&root) || self.variables.iter().any(begins)
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| *variable.name == *name)
    }

    /// The name of a type in error messages.
    pub fn type_name(&self, type_: &Type) -> String {
        let name = type_.in_messages(&|name| match &self.rename {
            Some((from, to)) => match name.strip_prefix(&**from) {
                Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{to}{rest}"),
                _ => name.to_owned(),
            },
            None => name.to_owned(),
        });
        // The name of the type in cel-go 0.17.
        if self.base.server < V1_31 { name.replace("optional_type", "optional") } else { name }
    }
}
