//! The rules of `src/lib.rs`: what a module may import, and where a crate may be named.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules, each group importing only what stands before it.
const LAYERS: &[&[&str]] = &[
    &["release"],
    &["value"],
    &["field", "suggest"],
    &["text", "regexp", "jsonpath"],
    &["cel"],
    &["schema"],
    &["builtin"],
    &["rules"],
    &["pipeline"],
    &["apply"],
    &["crd"],
    &["policies"],
    &["server"],
    &["kubectl"],
    &["lint"],
    &["rehearsal"],
    &["suites"],
    &["output"],
    &["input", "cluster", "serve"],
    &["simulation"],
    &["cli"],
];

/// All that `cel` may import: it is to be a crate of its own one day.
const CEL_IMPORTS: &[&str] = &["release", "value", "regexp"];

/// Crates and the only modules that may name them.
const CRATES: &[(&str, &[&str])] = &[
    ("annotate_snippets", &["output"]),
    ("clap", &["cli"]),
    ("comfy_table", &["output"]),
    ("ctrlc", &["cli"]),
    ("dirs", &["cluster"]),
    ("clap_complete", &["cli"]),
    ("http", &["cluster", "serve"]),
    ("http_body_util", &["cluster", "serve"]),
    ("hyper", &["serve"]),
    ("hyper_util", &["cluster", "serve"]),
    ("ignore", &["input"]),
    ("indicatif", &["cli"]),
    ("jiff", &["cel"]),
    ("k8s_openapi", &["cluster"]),
    ("kube", &["cluster"]),
    ("regex_automata", &["regexp"]),
    ("ring", &["server"]),
    ("rustix", &["serve"]),
    ("similar", &["output"]),
    ("lz4_flex", &["server"]),
    ("strsim", &["suggest"]),
    ("tempfile", &["cli", "cluster", "input", "serve"]),
    ("terminal_size", &["cli"]),
    ("tokio", &["cluster", "serve"]),
    ("unicode_width", &["output"]),
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Every source file with the top module it belongs to.
fn modules() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let inner = file.strip_prefix(&root).unwrap();
            let top = inner.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&file).unwrap();
            (top, file, text)
        })
        .collect()
}

/// The words that follow `prefix` in the code of `text`, comments aside.
fn words_after<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut words = Vec::new();
    for line in text.lines().filter(|l| !l.trim_start().starts_with("//")) {
        for (at, _) in line.match_indices(prefix) {
            let rest = &line[at + prefix.len()..];
            if let Some(group) = rest.strip_prefix('{') {
                words.extend(group.split([',', '}']).map(|w| word(w.trim())));
            } else {
                words.push(word(rest));
            }
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|group| group.contains(&module))
}

/// Whether `text` names the crate, as `krate::…` or in `use krate;`.
fn names_crate(text: &str, krate: &str) -> bool {
    text.lines().filter(|l| !l.trim_start().starts_with("//")).any(|line| {
        line.match_indices(&format!("{krate}::")).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            // `crate::text::http::…` is a module of ours.
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
        }) || line.trim() == format!("use {krate};")
    })
}

#[test]
fn a_module_imports_only_what_stands_before_it() {
    let mut wrong = Vec::new();
    let mut imports = 0;
    for (top, file, text) in modules() {
        if top == "lib" || top == "main" {
            continue;
        }
        let Some(own) = layer(&top) else {
            wrong.push(format!("{}: module {top} is in no layer", file.display()));
            continue;
        };
        for import in words_after(&text, "crate::") {
            imports += 1;
            let allowed = import == top
                || (top != "cel" && layer(import).is_some_and(|other| other < own))
                || (top == "cel" && CEL_IMPORTS.contains(&import));
            if !allowed {
                wrong.push(format!("{}: {top} imports {import}", file.display()));
            }
        }
    }
    assert!(imports > 10, "the imports were not found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_crate_is_named_in_one_place() {
    let mut wrong = Vec::new();
    let mut named = 0;
    for (top, file, text) in modules() {
        for (krate, places) in CRATES {
            if names_crate(&text, krate) {
                named += 1;
                if !places.contains(&top.as_str()) {
                    wrong.push(format!("{}: {top} names {krate}", file.display()));
                }
            }
        }
    }
    assert!(named > 0, "no crate was found at all");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_imports_reads_them() {
    assert_eq!(
        words_after("use crate::value::Value;\nuse crate::{field::X, text};\n// crate::cli", "crate::"),
        ["value", "field", "text"]
    );
    assert!(names_crate("    kube::Client", "kube"));
    assert!(!names_crate("crate::kube::Client", "kube"));
    assert!(!names_crate("/// kube::Client", "kube"));
}

#[test]
fn the_cluster_is_only_read() {
    let mut requests = 0;
    for (top, file, text) in modules() {
        if top != "cluster" {
            continue;
        }
        requests += text.matches("Request::get(").count();
        for word in ["post", "put", "patch", "delete", "builder", "method"] {
            let written = [format!("Request::{word}("), format!("Method::{}", word.to_uppercase())];
            assert!(!written.iter().any(|w| text.contains(w)), "{}: {word}", file.display());
        }
        assert!(!text.contains("kube::Api") && !text.contains("kube::api"), "{}", file.display());
    }
    assert_eq!(requests, 1, "every request goes through one place");
}
