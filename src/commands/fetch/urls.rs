//! Downloads URLs. Nothing is written to the lock unless all of them can be used.

use super::entries::Entries;
use super::source_definitions::SourceDefinitions;
use super::{FetchOutcome, FetchProblem, args};
use crdx_cluster::download::Downloader;
use crdx_files::digest::sha256;
use crdx_files::project::LOCK;
use crdx_files::{cache, replace};
use crdx_input::Ignore;
use crdx_input::archive;
use crdx_input::packed_path;
use crdx_input::remote::lock::Lock;
use crdx_input::remote::url::{self, is_url};
use crdx_input::remote::{RemoteError, cache_path, lock_path};
use crdx_output::{Cell, Column, TableStyle, bounded_table};
use crdx_value::{Value, object};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The number of characters of a hash in the table.
const SHORT: usize = 12;

const COLUMNS: &[Column] =
    &[Column::text("URL"), Column::always("CRDS"), Column::always("SHA256"), Column::always("RESULT")];

/// A URL to download, and the paths inside that are used; `None` is the whole.
#[derive(Debug, Default)]
struct Wanted {
    /// The URL as given; never shown.
    url: String,
    inside: BTreeSet<Option<String>>,
    /// The hash that the catalog has.
    sha256: Option<String>,
    /// True for a chart, which need not have CRDs.
    is_chart: bool,
}

/// Adds a URL, which may have a path inside.
fn add(wanted: &mut BTreeMap<String, Wanted>, entry: &str, sha256: Option<&str>) {
    let (url, inside) = packed_path::split(entry);
    let one = wanted.entry(url::name(&url)).or_default();
    one.url = url;
    one.inside.insert(inside.map(str::to_owned));
    one.sha256 = sha256.map(str::to_owned).or(one.sha256.take());
}

/// The name of a source of the catalog for the lock.
fn source_name(source: &str) -> String {
    let (url, inside) = packed_path::split(source);
    inside.map_or_else(|| url::name(&url), |inside| format!("{}//{inside}", url::name(&url)))
}

/// A download.
struct Fetched {
    name: String,
    sha256: String,
    /// The number of CRDs.
    crds: usize,
    result: &'static str,
}

/// Downloads the URLs of `args`.
pub fn fetch(args: &args::Fetch, look: TableStyle) -> FetchOutcome {
    let path = lock_path(None);
    match download(args, &path) {
        Ok((fetched, problems)) => {
            FetchOutcome { text: table(&fetched, &path, look), report: report(&fetched, &path), problems }
        }
        Err(problem) => FetchOutcome { text: String::new(), report: Vec::new(), problems: vec![problem] },
    }
}

fn download(args: &args::Fetch, path: &Path) -> Result<(Vec<Fetched>, Vec<FetchProblem>), FetchProblem> {
    let of_remote = |error: &RemoteError| FetchProblem::new(error.to_string(), error.hint(""));
    // By name, so that the result does not depend on the order of the settings.
    let mut wanted: BTreeMap<String, Wanted> = BTreeMap::new();
    let lock = Lock::read(path).map_err(|error| of_remote(&RemoteError::Lock { path: path.to_owned(), error }))?;
    let mut new = lock.clone();
    let downloader = Downloader::new().map_err(|error| FetchProblem::new(error.to_string(), error.hint()))?;
    let entries = Entries::resolve(args, &downloader)?;
    for (entry, source) in &entries.0 {
        let names = source.sources.iter().map(|source| source_name(source)).collect();
        new.set_sources(entry, names);
        source.sources.iter().for_each(|url| add(&mut wanted, url, source.sha256.as_deref()));
    }
    args.crds.iter().filter(|entry| is_url(entry)).for_each(|url| add(&mut wanted, url, None));
    for chart in &args.charts {
        let one = wanted.entry(url::name(chart)).or_default();
        (one.url, one.is_chart) = (chart.clone(), true);
    }
    let ignore = Ignore::new(&args.ignore)
        .map_err(|error| FetchProblem::new(error.to_string(), "correct the pattern of --ignore"))?;
    if wanted.is_empty() {
        let help = "give a URL, or an entry of the catalog such as cert-manager@v1.16.2, with --crds or with the key `crds` of .crdx.yaml; paths need no download";
        return Err(FetchProblem::new("there is no URL to download", help));
    }
    let cache = cache_path().map_err(|error| of_remote(&error))?;
    let (mut fetched, mut problems) = (Vec::new(), Vec::new());
    for (name, wanted) in wanted {
        match one(&downloader, &name, &wanted, &ignore, &lock, args.update, &cache) {
            Ok(one) => {
                new.set(&name, &one.sha256);
                fetched.push(one);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() && new != lock {
        let unwritable =
            |error| FetchProblem::new(format!("{} cannot be written: {error}", path.display()), "make it writable");
        replace::replace(path, new.text().as_bytes()).map_err(unwritable)?;
    } else if !problems.is_empty() {
        // The lock does not have these hashes.
        fetched.retain(|one| one.result == "unchanged");
    }
    Ok((fetched, problems))
}

fn one(
    downloader: &Downloader,
    name: &str,
    wanted: &Wanted,
    ignore: &Ignore,
    lock: &Lock,
    updates: bool,
    cache: &Path,
) -> Result<Fetched, FetchProblem> {
    if url::kind(&wanted.url).is_none() {
        let error = RemoteError::Scheme(name.to_owned());
        return Err(FetchProblem::new(error.to_string(), error.hint(&wanted.url)));
    }
    let failed = |error: crdx_cluster::download::DownloadError| {
        FetchProblem::new(format!("{name} cannot be downloaded: {error}"), error.hint())
    };
    let content = downloader.get(&wanted.url).map_err(failed)?;
    let sha256 = sha256(&content);
    if let Some(known) = wanted.sha256.as_deref().filter(|known| *known != sha256) {
        let message = format!("{name} has the hash {sha256}, and the catalog has {known}");
        return Err(FetchProblem::new(message, "find out why it differs; name the URL itself to accept it"));
    }
    let result = match lock.hash(name) {
        Some(locked) if locked == sha256 => "unchanged",
        Some(locked) if !updates => {
            let message = format!("{name} has changed: its hash is {sha256}, and {LOCK} has {locked}");
            return Err(FetchProblem::new(
                message,
                "find out why it changed; kubectl crdx fetch --update accepts the new content",
            ));
        }
        Some(_) => "changed",
        None => "added",
    };
    if wanted.is_chart && !archive::is_archive(&content) {
        return Err(FetchProblem::new(format!("{name} is no packed chart"), "check the URL"));
    }
    let mut crds = 0;
    for inside in &wanted.inside {
        crds += SourceDefinitions::read(name, inside.as_deref(), content.clone(), ignore)?.len();
    }
    let unwritable = |error| {
        FetchProblem::new(
            format!("the cache {} cannot be written: {error}", cache.display()),
            RemoteError::NoCache.hint(""),
        )
    };
    cache::write(cache, &sha256, &content).map_err(unwritable)?;
    Ok(Fetched { name: name.to_owned(), sha256, crds, result })
}

fn table(fetched: &[Fetched], path: &Path, look: TableStyle) -> String {
    if fetched.is_empty() {
        return String::new();
    }
    let row = |one: &Fetched| {
        let hash: String = one.sha256.chars().take(SHORT).collect();
        vec![Cell::from(one.name.as_str()), Cell::from(one.crds.to_string()), Cell::from(hash), Cell::from(one.result)]
    };
    let rows: Vec<Vec<Cell>> = fetched.iter().map(row).collect();
    format!("{}\nThe hashes are in {}.\n", bounded_table::table(COLUMNS, look, &rows), path.display())
}

fn report(fetched: &[Fetched], path: &Path) -> Vec<(&'static str, Value)> {
    let one = |one: &Fetched| {
        object([
            ("url", Value::from(one.name.as_str())),
            ("sha256", one.sha256.as_str().into()),
            ("crds", Value::Int(one.crds as i64)),
            ("result", one.result.into()),
        ])
    };
    let all: Vec<Value> = fetched.iter().map(one).collect();
    vec![("lock", path.display().to_string().into()), ("downloads", all.into())]
}
