//! Resolves the entries of the catalog.

use super::{FetchProblem, args};
use crdx_cluster::download::Downloader;
use crdx_files::open::read_small;
use crdx_input::catalog::{Catalog, CatalogError, CatalogSource, is_entry};
use crdx_input::remote::url::{self, is_url};
use crdx_output::printable::complain;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest index, in bytes.
const LARGEST: u64 = 4 << 20;

/// The sources of the entries.
pub struct Entries(pub BTreeMap<String, CatalogSource>);

impl Entries {
    /// Resolves the entries of `args` with their index. Warns about URLs that its authors have not downloaded.
    ///
    /// # Errors
    /// The index cannot be read, or an entry is unknown.
    pub fn resolve(args: &args::Fetch, downloader: &Downloader) -> Result<Self, FetchProblem> {
        let mut found = Self(BTreeMap::new());
        let names: Vec<&String> =
            args.crds.iter().filter(|entry| is_entry(entry) && !Path::new(entry).exists()).collect();
        if names.is_empty() {
            return Ok(found);
        }
        let catalog = catalog(args.catalog.as_deref(), downloader)?;
        let problem = |error: CatalogError| {
            FetchProblem::new(error.to_string(), "docs/configuration.md lists the projects; --crds also takes URLs")
        };
        for name in names {
            let source = catalog.resolve(name).map_err(problem)?;
            if source.is_untried {
                complain!("note: the URL of {name} in the catalog is untried: check what was fetched");
            }
            found.0.insert(name.clone(), source);
        }
        Ok(found)
    }
}

fn catalog(given: Option<&str>, downloader: &Downloader) -> Result<Catalog, FetchProblem> {
    let Some(given) = given else {
        return Catalog::own().map_err(|error| FetchProblem::new(error.to_string(), "report it as a bug"));
    };
    let (name, text) = if is_url(given) {
        let name = url::name(given);
        let failed = |error: crdx_cluster::download::DownloadError| {
            FetchProblem::new(format!("{name} cannot be downloaded: {error}"), error.hint())
        };
        let text = downloader.get(given).map_err(failed)?;
        (name, text)
    } else {
        let unreadable =
            |error| FetchProblem::new(format!("{given} cannot be read: {error}"), "check the path of --catalog");
        (given.to_owned(), read_small(Path::new(given), LARGEST).map_err(unreadable)?)
    };
    let invalid = |error| FetchProblem::new(format!("{name}: {error}"), "docs/configuration.md describes the format");
    Catalog::read(&text).map_err(invalid)
}
