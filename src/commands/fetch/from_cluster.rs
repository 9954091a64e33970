//! Saves the CRDs, admission policies and bindings of a cluster, a file for each object.

use super::{FetchOutcome, FetchProblem, args};
use crate::commands::source::ObjectSource;
use crdx_cluster::{Error, Query, Resource};
use crdx_files::replace::replace;
use crdx_server::crd;
use crdx_server::policies;
use crdx_server::server::http::address::encoded;
use crdx_text::yaml;
use crdx_value::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 2] = ["crds", "policies"];

/// The kinds of policies and their bindings.
const POLICIES: [&str; 4] = [
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
];

/// Saves the objects of the cluster of `args`.
pub fn save(args: &args::Fetch) -> FetchOutcome {
    let mut saved = Saved::default();
    match ObjectSource::live(&args.cluster).and_then(|source| Ok((source.resources()?, source))) {
        Ok((resources, source)) => {
            // The preferred version comes first.
            let find = |group: &str, plural: &str| resources.iter().find(|r| r.group == group && r.plural == plural);
            if let Some(resource) = find(crd::GROUP, "customresourcedefinitions") {
                saved.list(&source, resource, &args.out, "crds");
            }
            for resource in POLICIES.iter().filter_map(|plural| find(policies::GROUP, plural)) {
                saved.list(&source, resource, &args.out, "policies");
            }
        }
        Err(error) => saved.fail("the cluster", &error),
    }
    saved.outcome(&args.out)
}

#[derive(Default)]
struct Saved {
    /// The files below the directory.
    files: BTreeSet<PathBuf>,
    crds: usize,
    policies: usize,
    problems: Vec<FetchProblem>,
}

impl Saved {
    fn fail(&mut self, what: &str, error: &Error) {
        let message = error.status.as_ref().map_or(&error.message, |status| &status.message);
        let help = error.help.clone();
        let help = help.unwrap_or_else(|| "kubectl crdx rbac prints the permissions that are needed".to_owned());
        self.problems.push(FetchProblem::new(format!("{what} cannot be read: {message}"), help));
    }

    fn list(&mut self, source: &ObjectSource, resource: &Resource, out: &Path, folder: &str) {
        for page in source.list(resource, None, &Query::default()) {
            let objects = match page {
                Ok(objects) => objects,
                Err(error) => return self.fail(&resource.qualified(), &error),
            };
            for object in objects {
                let name = encoded(object.str_at(&["metadata", "name"]).unwrap_or_default());
                // Policies and bindings may have the same name.
                let name = if folder == "crds" { name } else { format!("{}.{name}", resource.kind.to_lowercase()) };
                let path = Path::new(folder).join(format!("{name}.yaml"));
                if let Err(error) = write(&out.join(&path), object) {
                    let message = format!("{} cannot be written: {error}", out.join(&path).display());
                    return self.problems.push(FetchProblem::new(message, "choose another directory with --out"));
                }
                *(if folder == "crds" { &mut self.crds } else { &mut self.policies }) += 1;
                self.files.insert(path);
            }
        }
    }

    /// Files of earlier runs would be read as if the cluster still had them.
    fn leftovers(&self, out: &Path) -> Vec<PathBuf> {
        let files =
            FOLDERS.iter().filter_map(|folder| fs::read_dir(out.join(folder)).ok().map(|files| (folder, files)));
        let paths = files.flat_map(|(folder, files)| {
            files.filter_map(Result::ok).map(move |file| Path::new(folder).join(file.file_name()))
        });
        let mut left: Vec<PathBuf> = paths.filter(|path| !self.files.contains(path)).collect();
        left.sort();
        left
    }

    fn outcome(mut self, out: &Path) -> FetchOutcome {
        if self.problems.is_empty() {
            for path in self.leftovers(out) {
                let message = format!("{} is not an object of this cluster", out.join(path).display());
                self.problems.push(FetchProblem::new(message, "delete it, or choose an empty directory with --out"));
            }
        }
        let Self { files, crds, policies, problems } = self;
        let count = |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
        let text = format!(
            "Saved {} and {} in {}.\n",
            count(crds, "CRD", "CRDs"),
            count(policies, "policy or binding", "policies and bindings"),
            out.display()
        );
        let files: Vec<Value> = files.iter().map(|file| file.display().to_string().into()).collect();
        let report = vec![("directory", out.display().to_string().into()), ("files", files.into())];
        FetchOutcome { text, report, problems }
    }
}

/// Writes an object without what only the server writes.
fn write(path: &Path, mut object: Value) -> io::Result<()> {
    crdx_engine::kubectl::request::remove_decodable_server_metadata(&mut object);
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    replace(path, yaml::write::to_string(&object).as_bytes())
}
