//! Downloads URLs. Nothing is written to the lock unless all of them can be used.

use super::{FetchOutcome, FetchProblem, args};
use crdx_cluster::download::Downloader;
use crdx_engine::documents::InputEntry;
use crdx_files::digest::sha256;
use crdx_files::project::LOCK;
use crdx_files::{cache, replace};
use crdx_input::remote::lock::Lock;
use crdx_input::remote::url::{self, is_url};
use crdx_input::remote::{RemoteError, cache_path, lock_path};
use crdx_input::{Input, InputOptions};
use crdx_output::{Cell, Column, TableStyle, bounded_table};
use crdx_value::{Value, object};
use std::collections::BTreeMap;
use std::path::Path;

/// The number of characters of a hash in the table.
const SHORT: usize = 12;

const COLUMNS: &[Column] =
    &[Column::text("URL"), Column::always("CRDS"), Column::always("SHA256"), Column::always("RESULT")];

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
    let urls: BTreeMap<String, &String> =
        args.crds.iter().filter(|entry| is_url(entry)).map(|entry| (url::name(entry), entry)).collect();
    if urls.is_empty() {
        let help = "give a URL with --crds, or with the key `crds` of .crdx.yaml; paths need no download";
        return Err(FetchProblem::new("there is no URL to download", help));
    }
    let lock = Lock::read(path).map_err(|error| of_remote(&RemoteError::Lock { path: path.to_owned(), error }))?;
    let cache = cache_path().map_err(|error| of_remote(&error))?;
    let downloader = Downloader::new().map_err(|error| FetchProblem::new(error.to_string(), error.hint()))?;
    let (mut fetched, mut problems, mut new) = (Vec::new(), Vec::new(), lock.clone());
    for (name, given) in urls {
        match one(&downloader, &name, given, &lock, args.update, &cache) {
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
    given: &str,
    lock: &Lock,
    updates: bool,
    cache: &Path,
) -> Result<Fetched, FetchProblem> {
    if !url::is_http(given) {
        let error = RemoteError::Scheme(name.to_owned());
        return Err(FetchProblem::new(error.to_string(), error.hint(given)));
    }
    let failed = |error: crdx_cluster::download::DownloadError| {
        FetchProblem::new(format!("{name} cannot be downloaded: {error}"), error.hint())
    };
    let content = downloader.get(given).map_err(failed)?;
    let sha256 = sha256(&content);
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
    let crds = definitions(name, content.clone())?;
    let unwritable = |error| {
        FetchProblem::new(
            format!("the cache {} cannot be written: {error}", cache.display()),
            RemoteError::NoCache.hint(""),
        )
    };
    cache::write(cache, &sha256, &content).map_err(unwritable)?;
    Ok(Fetched { name: name.to_owned(), sha256, crds, result })
}

/// Counts the CRDs of a download. A page for people, such as that of a login, has none.
fn definitions(name: &str, content: Vec<u8>) -> Result<usize, FetchProblem> {
    let mut crds = 0;
    for entry in Input::of_download(name, content, InputOptions::default().of_definitions()) {
        match entry {
            InputEntry::Document(document) => crds += usize::from(document.is_definition()),
            InputEntry::Problem(note) => {
                let help = note.hint.clone().unwrap_or_else(|| "check the URL, and open it in a browser".to_owned());
                let at = note.position.map_or_else(String::new, |at| format!("{}:{at}: ", note.source));
                return Err(FetchProblem::new(format!("{name} is not used: {at}{}", note.message), help));
            }
            InputEntry::Warning(_) => {}
        }
    }
    if crds == 0 {
        let help = "check the URL, and open it in a browser";
        return Err(FetchProblem::new(format!("there is no CustomResourceDefinition in {name}"), help));
    }
    Ok(crds)
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
