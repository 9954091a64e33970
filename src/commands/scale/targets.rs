//! The objects to scale (`RunScale` of `kubectl/pkg/cmd/scale/scale.go`).

use super::args;
use crate::commands::error::Error;
use crate::commands::selection::{self, Selection};
use crate::commands::source::{ObjectSource, problem};
use crdx_cluster::{Query, Resource};
use crdx_value::Value;

/// An object to scale.
pub struct ScaleTarget {
    pub resource: Resource,
    /// Its namespace; the default namespace for a cluster-scoped resource.
    pub namespace: String,
    pub name: String,
    pub object: Value,
}

/// Parses the selection on the command line.
pub fn selection(args: &args::Scale) -> Result<Selection, Error> {
    let selection = selection::read(&args.words, args.selector().is_some(), |_| None).map_err(Error::usage)?;
    let is_named = args.all || args.selector().is_some() || args.words.is_empty();
    if matches!(selection, Selection::Types(_)) && !is_named {
        let help = "name the objects, as TYPE/NAME, or select them with --all or -l";
        return Err(problem("resource(s) were provided, but no name was specified", help).into());
    }
    Ok(selection)
}

/// Returns the selected objects. Those that do not exist are failures.
pub fn targets(
    args: &args::Scale,
    source: &ObjectSource,
    selection: Selection,
    namespace: &str,
    failures: &mut Vec<Error>,
) -> Result<Vec<ScaleTarget>, Error> {
    let mut targets = match (selection, source) {
        (Selection::Names(names), _) => {
            let named = names.into_iter().map(|(word, name)| Ok((source.resource(&word)?, namespace.to_owned(), name)));
            let named = named.collect::<Result<Vec<_>, Error>>()?;
            by_name(source, named, failures)?
        }
        (Selection::Types(_), ObjectSource::Files(files)) if args.words.is_empty() => {
            let named = files.objects().iter().map(|named| {
                let namespace = if named.namespace.is_empty() { namespace } else { &*named.namespace };
                ((*named.resource).clone(), namespace.to_owned(), named.name.to_string())
            });
            by_name(source, named.collect(), failures)?
        }
        (Selection::Types(types), _) => of_types(args, source, &types, namespace)?,
    };
    if args.resource_version().is_some() && targets.len() > 1 {
        return Err(problem("cannot use --resource-version with multiple resources", "name one object").into());
    }
    if targets.is_empty() && failures.is_empty() {
        let help = "check the namespace and the selector: kubectl crdx get lists the objects";
        return Err(problem("no objects passed to scale", help).into());
    }
    targets.dedup_by(|a, b| a.resource == b.resource && a.namespace == b.namespace && a.name == b.name);
    Ok(targets)
}

fn by_name(
    source: &ObjectSource,
    names: Vec<(Resource, String, String)>,
    failures: &mut Vec<Error>,
) -> Result<Vec<ScaleTarget>, Error> {
    let mut targets = Vec::new();
    for (resource, namespace, name) in names {
        let own = Some(namespace.as_str()).filter(|_| resource.namespaced);
        match source.get(&resource, own, &name, None).map_err(Error::from) {
            Ok(object) => targets.push(ScaleTarget { resource, namespace, name, object }),
            Err(failure) if failure.is_not_found() => failures.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    Ok(targets)
}

fn of_types(
    args: &args::Scale,
    source: &ObjectSource,
    types: &[String],
    namespace: &str,
) -> Result<Vec<ScaleTarget>, Error> {
    let resources = source.resources()?;
    let query = Query { labels: args.selector(), ..Query::default() };
    let types =
        types.iter().flat_map(|word| selection::category(&resources, word).unwrap_or_else(|| vec![word.clone()]));
    let mut targets = Vec::new();
    for word in types {
        let resource = source.resource(&word)?;
        let own = Some(namespace).filter(|_| resource.namespaced);
        for page in source.list(&resource, own, &query) {
            targets.extend(page?.into_iter().map(|object| {
                let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
                ScaleTarget { resource: resource.clone(), namespace: namespace.to_owned(), name, object }
            }));
        }
    }
    Ok(targets)
}
