//! `explain`: documents a resource and its fields as `kubectl explain` does.

pub mod args;
mod built_in;
mod report;

use super::error::{Error, summarize};
use super::source::{self, ObjectSource, definition_name, problem};
use super::terminal;
use crate::commands::exit::Exit;
use crate::commands::flags;
use args::ExplainFormat;
use crdx_cluster::Resource;
use crdx_engine::lint::costs::{ExpressionCost, SchemaCost, costs};
use crdx_output::printable::complain_all;
use crdx_server::crd::{self, CustomResourceDefinition, openapi};
use crdx_server::schema::Schema;
use crdx_value::group_version;
use crdx_value::jsonpath::JsonPath;
use crdx_value::release::Release;
use crdx_value::suggest::did_you_mean;
use report::{Explained, Explanation, openapi_v2, plaintext, rules};
use std::fmt::Write as _;
use std::io::Write;

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn run(args: &args::Explain) -> Result<Exit, Error> {
    let mut failures = Vec::new();
    match explain(args, &mut failures) {
        Ok(explained) => {
            let mut out = terminal::Stream::stdout(flags::Color::Never, terminal::Content::Text).write;
            out.write_all(explained.text.as_bytes())?;
            out.flush()?;
            failures.extend(explained.failure);
        }
        Err(failure) => failures.push(failure),
    }
    let (text, exit) = summarize(&failures);
    complain_all(&text);
    Ok(exit)
}

struct Text {
    text: String,
    failure: Option<Error>,
}

fn explain(args: &args::Explain, failures: &mut Vec<Error>) -> Result<Text, Error> {
    if args.cluster.is_offline() && args.crds.is_empty() {
        let release = args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
        let known = source::built_in(release);
        if let Ok((resource, fields)) =
            resource(&known, |word| Ok(crdx_cluster::find(&known, word).cloned()), &args.resource)
        {
            return Ok(text_of(built_in::explain(args, release, &resource, &fields, None)?));
        }
        let similar = source::similar_built_in(&args.resource).map(|kind| format!("{} ", did_you_mean(&kind)));
        let help = format!("{}give the CRD of another kind with --crds", similar.unwrap_or_default());
        let message = format!("no kind built into Kubernetes {release} is called {:?}", args.resource);
        return Err(Error::usage_with_help(message, &help));
    }
    let source = ObjectSource::of_definitions(&args.crds, args.kubernetes, &args.cluster, failures)?;
    let found = |word: &str| Ok(Some(source.resource(word)?));
    let (resource, fields) = resource(&source.resources()?, found, &args.resource)?;
    let release = args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
    let Some(definition) = source.definition(&resource)? else {
        let live = match &source {
            ObjectSource::Live(connection) => Some(&**connection),
            ObjectSource::Files(_) => None,
        };
        return Ok(text_of(built_in::explain(args, release, &resource, &fields, live)?));
    };
    let crd = crd::decode(&definition).map_err(|error| Error::input(error.to_string()))?.crd;
    let version = version(args, &crd, &resource)?;
    let document = match args.output {
        ExplainFormat::Plaintext => openapi::v3(&crd, &version, release),
        ExplainFormat::PlaintextOpenapiv2 => openapi::v2(&crd, &version, release),
    };
    let explained = Explained {
        document: &document,
        group: &crd.spec.group,
        version: &version,
        kind: &crd.spec.names.kind,
        fields: &fields,
        recursive: args.recursive,
        max_depth: args.max_depth,
    };
    let mut explanation = match args.output {
        ExplainFormat::Plaintext => plaintext(explained),
        ExplainFormat::PlaintextOpenapiv2 => openapi_v2(explained),
    };
    if args.rules && explanation.error.is_none() {
        let costs = costs(&crd.spec, &source.release(args.kubernetes).into());
        explanation.text.push_str(&rules_of(&crd, &version, &fields, &costs));
    }
    Ok(text_of(explanation))
}

fn text_of(explanation: Explanation) -> Text {
    Text { text: explanation.text, failure: explanation.error.map(Error::usage) }
}

/// Returns the resource and the field path of `TYPE[.FIELD…]` (`SplitAndParseResourceRequestWithMatchingPrefix`); TYPE
/// may include the group.
fn resource(
    resources: &[Resource],
    find: impl FnOnce(&str) -> Result<Option<Resource>, Error>,
    text: &str,
) -> Result<(Resource, Vec<String>), Error> {
    let path = fields(text)?;
    let (word, rest) = path.split_first().map_or((text, [].as_slice()), |(word, rest)| (word.as_str(), rest));
    let name = word.to_lowercase();
    let named = resources.iter().filter(|r| r.plural == name || r.singular == name || r.kind.to_lowercase() == name);
    for resource in named {
        if let Some(rest) = text.strip_prefix(&resource.qualified()) {
            let below = if rest.is_empty() { Vec::new() } else { fields(rest.trim_start_matches('.'))? };
            return Ok((resource.clone(), below));
        }
    }
    let found = find(word)?.ok_or_else(|| Error::usage(format!("there is no resource {word:?}")))?;
    Ok((found, rest.to_vec()))
}

/// Returns the field names of a path, which kubectl parses as JSONPath.
fn fields(text: &str) -> Result<Vec<String>, Error> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let path = JsonPath::parse(&format!("{{.{text}}}")).map_err(Error::usage)?;
    let names = path.plain_path().map(|names| names.into_iter().map(str::to_owned).collect());
    names.ok_or_else(|| Error::usage("invalid jsonpath syntax, all nodes must be field nodes"))
}

/// Returns the version to explain: that of `--api-version`, or the preferred one.
fn version(args: &args::Explain, crd: &CustomResourceDefinition, resource: &Resource) -> Result<String, Error> {
    let Some(wanted) = &args.api_version else { return Ok(resource.version.clone()) };
    let (group, version) = group_version::split(wanted);
    if group == crd.spec.group && crd.spec.version(version).is_some_and(|version| version.served) {
        return Ok(version.to_owned());
    }
    let served: Vec<&str> = crd.spec.versions.iter().filter(|v| v.served).map(|v| v.name.as_str()).collect();
    let message = format!("couldn't find resource for \"{wanted}, Resource={}\"", resource.plural);
    Err(problem(&message, &format!("{} serves {}", definition_name(resource), served.join(", "))).into())
}

/// Returns the rules and bounds of the field at a path.
fn rules_of(crd: &CustomResourceDefinition, version: &str, fields: &[String], costs: &[SchemaCost]) -> String {
    let none = Schema::default();
    let root = crd.spec.schema(version).map_or(&none, |schema| schema);
    let expressions: Vec<&ExpressionCost> = costs
        .iter()
        .filter(|cost| cost.versions.iter().any(|one| one == version))
        .flat_map(|cost| &cost.expressions)
        .collect();
    let mut schemas: Vec<(&Schema, String)> = vec![(root, String::new())];
    for field in fields {
        // Paths of fields omit the items of lists and the values of maps.
        while let Some((schema, path)) = schemas.pop() {
            if let Some(below) = schema.property(field) {
                let dot = if path.is_empty() { "" } else { "." };
                schemas = vec![(below, format!("{path}{dot}{field}"))];
                break;
            }
            schemas.extend(elements(schema, &path));
        }
    }
    let mut out = String::new();
    while let Some((schema, path)) = schemas.pop() {
        let here: Vec<&ExpressionCost> = expressions.iter().copied().filter(|cost| cost.path == path).collect();
        if !out.is_empty() {
            let _ = writeln!(out, "{path}:");
        }
        out.push_str(&rules::rules(schema, &here));
        schemas.extend(elements(schema, &path));
    }
    out
}

/// Returns the schema of the items of a list or the values of a map, with its path.
fn elements<'s>(schema: &'s Schema, path: &str) -> Option<(&'s Schema, String)> {
    let items = schema.items_schema().map(|items| (items, format!("{path}[*]")));
    items.or_else(|| schema.additional_properties_schema().map(|values| (values, format!("{path}.*"))))
}
