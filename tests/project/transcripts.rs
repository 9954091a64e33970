//! Runs the transcripts in README.md and docs and compares their output.
//!
//! A fenced block marked `console` has commands after `$ ` and their output (standard output and standard error
//! together, as in a terminal). A line `…` stands for any number of lines. Only commands that start with `kubectl crdx`
//! are run, and none that is followed by a comment `# needs …`. `UPDATE_SNAPSHOTS=1` rewrites the output of blocks
//! without `…`.

use crate::cli::screens::place;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The documents, starting with README.md.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["docs", "docs/fidelity"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let docs = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    files.sort();
    files.insert(0, root.join("README.md"));
    files
}

/// A command of a transcript with its expected output.
struct Step {
    command: String,
    output: Vec<String>,
}

/// Returns true if the command can be run in this test.
fn is_runnable(command: &str) -> bool {
    command.starts_with("kubectl crdx ") && !command.contains("# needs ")
}

/// Runs a command in a shell in which `kubectl crdx` is this program; returns all its output.
fn run(command: &str, dir: &Path) -> Vec<String> {
    let script = format!("kubectl() {{ shift; '{}' \"$@\"; }}\n{command}", env!("CARGO_BIN_EXE_kubectl-crdx"));
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(dir)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .env_remove("NO_COLOR")
        .env_remove("FORCE_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Returns true if `lines` match `expected`, in which a line `…` matches any number of lines.
fn matches(expected: &[String], lines: &[String]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "…" => (0..=lines.len()).any(|skip| matches(rest, &lines[skip..])),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, lines)| line == first && matches(rest, lines)),
    }
}

/// The commands of a block with their output.
fn steps(block: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), output: Vec::new() });
        } else if let Some(step) = steps.last_mut() {
            step.output.push(line.trim_end().to_owned());
        }
    }
    // A blank line before the next command belongs to neither of them.
    let count = steps.len();
    for step in steps.iter_mut().take(count.saturating_sub(1)) {
        if step.output.last().is_some_and(String::is_empty) {
            step.output.pop();
        }
    }
    steps
}

/// Checks a document; returns its text with the actual output, and the differences.
fn check(text: &str, dir: &Path, ran: &mut usize) -> (String, String) {
    let mut new = String::new();
    let mut differences = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(new, "{line}");
        if line.trim() != "```console" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
        let steps = steps(&block);
        for (i, step) in steps.iter().enumerate() {
            let mut output = step.output.clone();
            if is_runnable(&step.command) {
                *ran += 1;
                let now = run(&step.command, dir);
                if !matches(&step.output, &now) {
                    let _ = write!(differences, "$ {}\n{}\n", step.command, now.join("\n"));
                    if !step.output.iter().any(|line| line == "…") {
                        output = now;
                    }
                }
            }
            let _ = writeln!(new, "$ {}", step.command);
            for line in output {
                let _ = writeln!(new, "{line}");
            }
            if i + 1 < steps.len() {
                new.push('\n');
            }
        }
        new.push_str("```\n");
    }
    (new, differences)
}

#[test]
fn transcripts_match_the_output() {
    let dir = place("transcripts");
    // A reader has these files elsewhere (tests/cli/input) or not at all.
    for folder in ["input", "made"] {
        fs::remove_dir_all(dir.join(folder)).unwrap();
    }
    std::os::unix::fs::symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), dir.join("tests")).unwrap();
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut ran = 0;
    let mut wrong = String::new();
    for file in documents() {
        let text = fs::read_to_string(&file).unwrap();
        let (new, differences) = check(&text, &dir, &mut ran);
        if update && new != text {
            fs::write(&file, new).unwrap();
        }
        if !differences.is_empty() {
            let _ = writeln!(wrong, "{} says otherwise:\n{differences}", file.display());
        }
    }
    assert!(ran >= 10, "only {ran} commands were found");
    assert!(wrong.is_empty() || update, "{wrong}");
}

/// Every relative link of a document refers to an existing file and heading.
#[test]
fn links_refer_to_existing_targets() {
    let link = regex::Regex::new(r"\]\(([^)#\s]*)(#[^)\s]+)?\)").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let extra = ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| root.join(name));
    for file in documents().into_iter().chain(extra) {
        let text = fs::read_to_string(&file).unwrap();
        for found in link.captures_iter(&text) {
            let target = &found[1];
            if target.contains("://") {
                continue;
            }
            let path = if target.is_empty() { file.clone() } else { file.parent().unwrap().join(target) };
            assert!(path.exists(), "{}: {target}", file.display());
            if let Some(anchor) = found.get(2) {
                let headings = fs::read_to_string(&path).unwrap();
                let known =
                    headings.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor.as_str());
                assert!(known, "{}: {}", file.display(), anchor.as_str());
            }
        }
    }
}

/// The anchor of a heading on GitHub.
fn slug(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_');
    format!("#{}", kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>())
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

#[test]
fn the_readme_is_short() {
    let words = read("README.md").split_whitespace().count();
    assert!(words <= 1200, "{words} words: move details to docs/commands.md or a guide");
}

/// README.md repeats the first line of numbers of docs/fidelity.md, and that is the sum of the recorded answers.
#[test]
fn the_readme_has_the_numbers_of_the_measurements() {
    let summary = read("docs/fidelity.md");
    let badge = summary.lines().find(|line| line.starts_with("> ")).unwrap();
    assert!(read("README.md").lines().any(|line| line == badge), "README.md does not have the line\n{badge}");
    let scores = read("docs/fidelity/scores.md");
    let rows: Vec<Vec<&str>> = scores
        .lines()
        .filter(|line| line.starts_with("| 1."))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 8, "{rows:?}");
    let answers: u64 = rows.iter().map(|row| row[1].replace(',', "").parse::<u64>().unwrap()).sum();
    let shown = badge.trim_start_matches("> ").split(' ').next().unwrap();
    assert_eq!(shown.replace(',', "").parse::<u64>().unwrap(), answers);
    let lowest = |column: usize| rows.iter().map(|row| row[column]).min_by_key(|text| (text.len(), *text)).unwrap();
    for column in [2, 3] {
        assert!(badge.contains(lowest(column)), "{badge}: the lowest score is {}", lowest(column));
    }
}

/// The index of the guides lists every document beside it.
#[test]
fn the_index_lists_every_document() {
    let index = read("docs/README.md");
    for file in documents() {
        let name = file.file_name().unwrap().to_str().unwrap();
        if file.parent().unwrap().ends_with("docs") && name != "README.md" {
            assert!(index.contains(&format!("({name})")), "docs/README.md does not list {name}");
        }
    }
}
