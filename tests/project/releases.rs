//! Everything that a release needs (docs/ADD-A-RELEASE.md) exists for the rows of `RELEASES`.

use crdx_value::release::{BETA, DOCUMENTS, RELEASES, Release, ReleaseRow};
use std::fs;
use std::path::{Path, PathBuf};

const CHECKLIST: &str = "docs/ADD-A-RELEASE.md";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// An entry of the checklist: a file, the releases that need it, and the text that it must contain.
#[derive(Debug)]
struct Entry<'a> {
    file: &'a str,
    rows: &'static [ReleaseRow],
    text: Option<&'a str>,
}

/// The rows of released versions.
fn released() -> &'static [ReleaseRow] {
    let betas = usize::from(BETA.is_some());
    RELEASES.get(..RELEASES.len() - betas).unwrap()
}

/// Reads ``- `FILE`, every row: `TEXT` — explanation``, in which only the file is required.
fn entry(line: &str) -> Option<Entry<'_>> {
    let (file, rest) = line.strip_prefix("- `")?.split_once('`')?;
    let rest = rest.split(" — ").next()?;
    let (last, newest) = (RELEASES.last_chunk::<1>().unwrap(), released().last_chunk::<1>().unwrap());
    let choices: [(&str, &'static [ReleaseRow]); 3] =
        [(", every row", &RELEASES), (", newest row", last), (", newest release", newest)];
    let chosen = choices.into_iter().find_map(|(words, rows)| Some((rows, rest.strip_prefix(words)?)));
    let (rows, rest) = chosen.unwrap_or((newest, rest));
    let text = rest.strip_prefix(": `").and_then(|text| text.strip_suffix('`'));
    assert!(text.is_some() || rest.is_empty(), "{CHECKLIST}: the form of this line is not known: {line}");
    Some(Entry { file, rows, text })
}

fn filled(text: &str, row: &ReleaseRow) -> String {
    text.replace("{minor}", &row.minor.number().to_string())
        .replace("{patch}", &row.patch.to_string())
        .replace("{oldest}", &RELEASES[0].minor.number().to_string())
}

/// What is missing for some releases.
fn missing(checklist: &str) -> Vec<String> {
    let mut missing = Vec::new();
    for entry in checklist.lines().filter_map(entry) {
        for row in entry.rows {
            let file = filled(entry.file, row);
            let path = root().join(&file);
            if !path.is_file() {
                missing.push(format!("{file} does not exist"));
            } else if let Some(text) = entry.text.map(|text| filled(text, row))
                && !fs::read_to_string(&path).is_ok_and(|read| read.contains(&text))
            {
                missing.push(format!("{file} does not contain {text:?}"));
            }
        }
    }
    missing
}

#[test]
fn each_release_has_everything_on_the_checklist() {
    let checklist = fs::read_to_string(root().join(CHECKLIST)).unwrap();
    assert!(checklist.lines().filter_map(entry).count() > 30);
    let missing = missing(&checklist);
    assert!(missing.is_empty(), "see {CHECKLIST}:\n{}", missing.join("\n"));
}

#[test]
fn the_checklist_notices_a_forgotten_place() {
    assert_eq!(missing("- `tests/facts/none-1.{minor}.gz`, newest release").len(), 1);
    assert_eq!(missing("- `tests/facts/none-1.{minor}.gz`, newest row").len(), 1);
    assert_eq!(missing("- `Cargo.toml`, every row: `V1_{minor}` — why").len(), RELEASES.len());
    assert_eq!(missing("- `README.md` — why"), [""; 0]);
}

#[test]
fn the_table_of_releases_has_no_gaps_and_every_table_covers_it() {
    let minors: Vec<u16> = RELEASES.iter().map(|row| row.minor.number()).collect();
    let (oldest, last) = (RELEASES.first().unwrap().minor, RELEASES.last().unwrap().minor);
    assert_eq!(minors, (oldest.number()..=last.number()).collect::<Vec<u16>>());
    let types = crdx_types::table::table().releases();
    assert_eq!((*types.start(), *types.end()), (oldest.number().into(), last.number().into()));
    assert_eq!(DOCUMENTS, Release::NEWEST.minor(), "record the OpenAPI documents of the newest release");
}

#[test]
fn a_beta_is_the_last_row_and_not_the_default() {
    assert_eq!(Release::NEWEST.minor(), released().last().unwrap().minor);
    assert_eq!(Release::NEWEST.pre_release(), None);
    let named: Vec<String> =
        Release::known().map(|release| release.to_string()).filter(|n| n.contains("beta")).collect();
    assert_eq!(named.len(), usize::from(BETA.is_some()), "{named:?}");
}

/// A step that only names a file which every release has could be forgotten.
#[test]
fn each_step_of_the_checklist_names_its_release() {
    let checklist = fs::read_to_string(root().join(CHECKLIST)).unwrap();
    let names_release = |text: &str| text.contains("{minor}");
    for entry in checklist.lines().filter_map(entry) {
        assert!(names_release(entry.file) || entry.text.is_some_and(names_release), "{CHECKLIST}: {entry:?}");
    }
}

/// Every step of the page is needed: without the file, or with an empty one, the test fails.
#[test]
fn each_step_of_the_checklist_is_checked() {
    let checklist = fs::read_to_string(root().join(CHECKLIST)).unwrap();
    for line in checklist.lines().filter(|line| entry(line).is_some()) {
        let file = entry(line).unwrap().file;
        let without_file = line.replacen(file, "no/such/file", 1);
        assert!(!missing(&without_file).is_empty(), "{line}");
        if entry(line).unwrap().text.is_some() {
            assert!(!missing(&line.replacen(file, "LICENSE", 1)).is_empty(), "{line}");
        }
    }
}

/// The files with this extension below a folder.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

#[test]
fn no_arm_or_range_lists_releases() {
    let mut found = Vec::new();
    for folder in ["src", "crates"] {
        files(&root().join(folder), "rs", &mut found);
    }
    let mut wrong = Vec::new();
    for file in &found {
        let text = fs::read_to_string(file).unwrap();
        for line in text.lines().filter(|line| lists_releases(line)) {
            wrong.push(format!("{}: {}", file.display(), line.trim()));
        }
    }
    assert!(found.len() > 500);
    assert!(wrong.is_empty(), "use RELEASES or Release::since:\n{}", wrong.join("\n"));
}

/// Returns true for an arm such as `V1_30 | V1_31 =>`, and for a range over the minor versions of all releases.
fn lists_releases(line: &str) -> bool {
    let is_constant = |word: &str| word.strip_prefix("V1_").is_some_and(|n| n.parse::<u16>().is_ok());
    let arm = line.trim_start().split_once(" =>").is_some_and(|(arm, _)| arm.split(" | ").all(is_constant));
    let (oldest, newest) = (Release::OLDEST.minor().number(), Release::NEWEST.minor().number());
    let newest = newest.max(RELEASES.last().unwrap().minor.number());
    arm || ["", "_u16", "_u32"].iter().any(|suffix| line.contains(&format!("({oldest}{suffix}..={newest}).")))
}

#[test]
fn the_reader_of_arms_reads_them() {
    assert!(lists_releases("        V1_30 | V1_31 => 14,") && lists_releases("V1_36 => 6,"));
    assert!(lists_releases("for minor in (30..=38).rev() {"));
    assert!(!lists_releases("release if release.since(V1_36) => a,") && !lists_releases("_ => 2,"));
}

#[test]
fn texts_name_the_supported_releases() {
    let mut pages = vec![root().join("README.md"), root().join("plugin-manifest/crdx.yaml")];
    files(&root().join("docs"), "md", &mut pages);
    // The pages about fidelity also name what was measured on older releases; the checklist has the others they need.
    pages.retain(|page| !page.strip_prefix(root()).unwrap().starts_with("docs/fidelity"));
    pages.retain(|page| !page.ends_with("docs/fidelity.md"));
    let oldest = format!("{} to 1.", Release::OLDEST);
    let mut named = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices(&oldest) {
            named += 1;
            let after = &text[at..];
            assert!(after.starts_with(&Release::supported()), "{}: {}", page.display(), &after[..after.len().min(20)]);
        }
    }
    assert!(named >= 5, "{named}");
}
