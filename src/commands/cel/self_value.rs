//! The input of `cel`: an object, its old version and the schema of its kind. Both objects are decoded and defaulted,
//! as they are for rules.

use super::args::{self, Environment};
use crate::commands::flags;
use crate::commands::flags::ObjectName;
use crate::commands::terminal;
use crdx_engine::documents::{InputEntry, Note};
use crdx_engine::examples::{self, Checker, ExampleFields};
use crdx_engine::kubectl::FieldValidation;
use crdx_engine::kubectl::request::{self, RequestOptions};
use crdx_input::required::{Required, Sources};
use crdx_input::{Input, InputOptions};
use crdx_output::printable::complain;
use crdx_server::crd;
use crdx_server::pipeline::{self, Facts, ObjectOrigin, ResourceVersion};
use crdx_server::schema::{Items, Schema, SchemaOrBool};
use crdx_server::server::{ResponseBody, Server};
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::group_version;
use crdx_value::release::Release;
use std::sync::Arc;

/// The reason why the expression cannot be evaluated.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct InputError {
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
}

impl InputError {
    /// Creates an error without a suggestion.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Creates an error with a suggestion.
    pub fn with_help(message: impl Into<String>, help: &str) -> Self {
        Self { message: message.into(), help: Some(help.to_owned()) }
    }
}

/// The value of `self`.
#[derive(Debug)]
pub enum SelfValue {
    /// None.
    Nothing,
    /// An object without a schema.
    Untyped {
        /// The object.
        new: Value,
        /// The old object.
        old: Option<Value>,
    },
    /// An object and the schema of its kind and version.
    Typed {
        schema: Arc<Schema>,
        /// The object.
        new: Value,
        /// The old object.
        old: Option<Value>,
        /// True if no object is given, so that `new` is an example of the CRD.
        is_example: bool,
    },
}

/// Reads the files that the arguments name. `needed` is true if the expression uses `self`; otherwise no object is
/// needed.
pub fn read(args: &args::Cel, release: Release, needed: bool) -> Result<SelfValue, InputError> {
    let Some(filename) = &args.filename else {
        // Without these flags, `self` is undeclared.
        let about_object = !args.crds.is_empty() || args.at.is_some() || args.old.is_some();
        let is_rule = matches!(args.environment(), Environment::Rule);
        if needed && is_rule && !args.crds.is_empty() && args.old.is_none() {
            return example(args, release);
        }
        if needed && about_object {
            return Err(InputError::with_help("the expression uses self, and no object is given", "give one with -f"));
        }
        return Ok(SelfValue::Nothing);
    };
    if filename == "-" && (args.old.as_deref() == Some("-") || args.crds.iter().any(|path| path == "-")) {
        return Err(InputError::new("standard input can be read once"));
    }
    let options = InputOptions::default().collecting();
    let (mut definitions, objects) = parts(one_file(filename, &options)?);
    let Some(new) = selected(objects, args.name.as_ref(), filename, needed)? else { return Ok(SelfValue::Nothing) };
    if !args.crds.is_empty() {
        let sources = Sources::open(&args.crds, options.clone(), Required::Definition, "--crds");
        definitions.extend(parts(documents(sources)?).0);
    }
    let old = match &args.old {
        Some(path) => Some(old_of(&new, parts(one_file(path, &options)?).1, path)?),
        None => None,
    };
    flags::report_notes(&options);
    if definitions.is_empty() && args.crds.is_empty() {
        return Ok(SelfValue::Untyped { new, old });
    }
    let version = version_of(&new, &definitions, release)?;
    let Some(schema) = version.facts.schema.clone() else {
        return Err(InputError::new(format!("the version {} of the CRD has no schema", version.facts.version)));
    };
    Ok(SelfValue::Typed {
        schema,
        new: as_rules_see_it(&version, new)?,
        old: old.map(|old| as_rules_see_it(&version, old)).transpose()?,
        is_example: false,
    })
}

/// Returns an example of the only CRD, with which an expression is checked that is not evaluated.
fn example(args: &args::Cel, release: Release) -> Result<SelfValue, InputError> {
    let options = InputOptions::default().collecting();
    let sources = Sources::open(&args.crds, options.clone(), Required::Definition, "--crds");
    let definitions = parts(documents(sources)?).0;
    flags::report_notes(&options);
    let [definition] = definitions.as_slice() else {
        let message = "the expression uses self, and there are several CRDs";
        return Err(InputError::with_help(message, "give an object with -f, or one CRD with --crds"));
    };
    let unusable =
        |error: String| InputError::new(format!("the CRD has no example to check the expression with: {error}"));
    let checker = Checker::new(definition, None, release).map_err(|error| unusable(error.to_string()))?;
    let example = examples::example(&checker, ExampleFields::Full).map_err(|error| unusable(error.to_string()))?;
    let version = version_of(&example.object, &definitions, release)?;
    let new = as_rules_see_it(&version, example.object)?;
    Ok(SelfValue::Typed { schema: Arc::clone(&checker.schema), new, old: None, is_example: true })
}

/// Reads the documents of a file or of standard input; `self` may be any YAML or JSON value, not only an object.
fn one_file(path: &str, options: &InputOptions) -> Result<Vec<Value>, InputError> {
    documents(Input::open(&[path.to_owned()], InputOptions { any_document: true, ..options.clone() }))
}

/// Returns the objects of a file that are not CRDs.
pub fn objects_of(path: &str) -> Result<Vec<Value>, InputError> {
    let options = InputOptions::default().collecting();
    let found = parts(one_file(path, &options)?).1;
    flags::report_notes(&options);
    Ok(found)
}

/// Returns the object with the name, or the only one; `None` if there is none and none is needed.
fn selected(
    objects: Vec<Value>,
    name: Option<&ObjectName>,
    filename: &str,
    needed: bool,
) -> Result<Option<Value>, InputError> {
    let all: Vec<String> = objects.iter().map(display_name).collect();
    let mut found: Vec<Value> =
        objects.into_iter().filter(|object| name.is_none_or(|name| name.is_of(object))).collect();
    match (found.pop(), found.len(), name) {
        (Some(only), 0, _) => Ok(Some(only)),
        (None, _, None) if !needed => Ok(None),
        (None, _, None) => Err(InputError::new(format!("there is no object in {filename}"))),
        (None, _, Some(name)) => {
            let message = format!("there is no object {name} in {filename}");
            let help = format!("the objects are {}", all.join(", "));
            Err(InputError { message, help: (!all.is_empty()).then_some(help) })
        }
        (Some(last), others, _) => {
            found.push(last);
            let names: Vec<String> = found.iter().map(display_name).collect();
            let named = name.map_or_else(String::new, |name| format!(" {name}"));
            let message = format!("there are {} objects{named} in {filename}", others + 1);
            let help = format!("choose one with --name: {}", names.join(", "));
            Err(InputError { message, help: Some(help) })
        }
    }
}

/// Returns the name of an object as `--name` takes it: `KIND/NAMESPACE/NAME`.
fn display_name(object: &Value) -> String {
    let text = |path: &[&str]| object.str_at(path).filter(|text| !text.is_empty());
    let parts = [text(&["kind"]), text(&["metadata", "namespace"]), text(&["metadata", "name"])];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "one without kind and name".to_owned() } else { parts.join("/") }
}

/// Returns the objects of the input.
fn documents(entries: impl Iterator<Item = InputEntry>) -> Result<Vec<Value>, InputError> {
    let mut found = Vec::new();
    for entry in entries {
        match entry {
            InputEntry::Document(document) => found.push(document.value),
            InputEntry::Problem(note) => {
                let hint = note.hint.clone();
                return Err(InputError { message: Note { hint: None, ..note }.text(), help: hint });
            }
            InputEntry::Warning(_) => {}
        }
    }
    Ok(found)
}

/// Splits CRDs from other objects.
fn parts(documents: Vec<Value>) -> (Vec<Value>, Vec<Value>) {
    documents.into_iter().partition(|value| {
        value.str_at(&["kind"]) == Some("CustomResourceDefinition")
            && value.str_at(&["apiVersion"]).is_some_and(|version| version.starts_with("apiextensions.k8s.io/"))
    })
}

/// Returns the old object: the only one given, or the one with the same kind, namespace and name.
fn old_of(new: &Value, mut existing: Vec<Value>, path: &str) -> Result<Value, InputError> {
    let namespace = |object: &Value| object.str_at(&["metadata", "namespace"]).unwrap_or("default").to_owned();
    if existing.len() > 1 {
        existing.retain(|old| {
            let same = |at: &[&str]| old.str_at(at) == new.str_at(at);
            same(&["kind"]) && same(&["metadata", "name"]) && namespace(old) == namespace(new)
        });
    }
    let none = || InputError::new(format!("there is no old object of that kind, namespace and name in {path}"));
    existing.into_iter().next().ok_or_else(none)
}

/// Returns the compiled version of the CRD that defines the object's kind.
fn version_of(object: &Value, definitions: &[Value], release: Release) -> Result<ResourceVersion, InputError> {
    let text = |key: &str| object.str_at(&[key]).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (group, version) = group_version::split(api_version);
    let defines = |crd: &&Value| {
        crd.str_at(&["spec", "group"]) == Some(group) && crd.str_at(&["spec", "names", "kind"]) == Some(kind)
    };
    let Some(crd) = definitions.iter().find(defines) else {
        let message = format!("no CRD for {api_version} {kind}");
        return Err(InputError::with_help(
            message,
            "give it with --crds, or leave out --crds: the type of self is then dyn",
        ));
    };
    let name = crd.str_at(&["metadata", "name"]).unwrap_or_default();
    let refused = |error: GoError| format!("the server would reject the CRD {name}: {error}");
    let stored_as = |crd| stored(crd, release);
    let stored = match stored_as(crd.clone()) {
        Ok(stored) => stored,
        // The CRD's own rules may be invalid; the expression can be evaluated nevertheless.
        Err(error) => match without_rules(crd).map(stored_as) {
            Some(Ok(stored)) => {
                complain!("warning: {}", refused(error));
                stored
            }
            _ => return Err(InputError::new(refused(error))),
        },
    };
    let crd = crd::decode(&stored).map_err(|error| InputError::new(error.to_string()))?.crd;
    let spec = &crd.spec;
    if spec.version(version).is_none() {
        return Err(InputError::new(format!("the CRD {name} has no version {version}")));
    }
    Ok(ResourceVersion::new(
        Facts {
            group: spec.group.clone(),
            version: version.to_owned(),
            kind: spec.names.kind.clone(),
            resource: spec.names.plural.clone(),
            namespaced: spec.namespaced(),
            preserve_unknown_fields: spec.preserves_unknown_fields(),
            schema: spec.schema(version).cloned(),
            ..Facts::default()
        },
        release,
    ))
}

/// Returns the CRD without `x-kubernetes-validations`.
fn without_rules(crd: &Value) -> Option<Value> {
    let mut crd = crd::decode(crd).ok()?.crd;
    let versions = crd.spec.versions.iter_mut().filter_map(|version| version.schema.as_mut());
    for validation in crd.spec.validation.iter_mut().chain(versions) {
        if let Some(schema) = &mut validation.schema {
            remove_rules(Arc::make_mut(schema));
        }
    }
    Some(crd.to_value())
}

fn remove_rules(schema: &mut Schema) {
    schema.x_validations.clear();
    schema.properties.values_mut().for_each(|property| remove_rules(property));
    if let Some(Items::Schema(items)) = &mut schema.items {
        remove_rules(items);
    }
    if let Some(SchemaOrBool::Schema(values)) = &mut schema.additional_properties {
        remove_rules(values);
    }
}

/// Returns a CRD as the server stores it.
///
/// # Errors
/// Returns the server's message if it refuses the CRD.
fn stored(mut crd: Value, release: Release) -> Result<Arc<Value>, GoError> {
    request::remove_cluster_state(&mut crd);
    let request_options =
        RequestOptions { level: FieldValidation::Ignore, dry_run: false, table: false, now: terminal::now() };
    let response = Server::new(release, 0).handle(&request::create(request::DEFINITIONS, crd, request_options));
    match response.body {
        ResponseBody::Json(stored) if response.code == 201 => Ok(stored),
        body => Err(body.message().into()),
    }
}

fn as_rules_see_it(version: &ResourceVersion, object: Value) -> Result<Value, InputError> {
    let decoded = pipeline::decode(version, object, ObjectOrigin::Request);
    let mut object = decoded.map_err(|error| InputError::new(format!("the object cannot be read: {error}")))?.object;
    pipeline::default(version, &mut object)
        .map_err(|spent| InputError::new(format!("the defaults cannot be set: {spent}")))?;
    Ok(object)
}
