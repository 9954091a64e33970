//! Enforces the layers in the `lib.rs` of a crate and in `server.rs`, and that one crate or module uses a third-party crate.
//! Cargo enforces the layers between crates.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose modules are in layers.
const LAYERED: &[&str] = &["crdx-engine", "crdx-server"];

/// Third-party crates that several crates of the workspace depend on, with the crates that do.
const SHARED: &[(&str, &[&str])] = &[
    ("http", &["crdx", "crdx-cluster", "crdx-serve"]),
    ("http-body-util", &["crdx-cluster", "crdx-serve"]),
    ("hyper-util", &["crdx-cluster", "crdx-serve"]),
    // The plugin names these for their features only.
    ("jiff", &["crdx-value", "kubectl-crdx"]),
    ("regex-syntax", &["crdx-regexp", "kubectl-crdx"]),
    ("rustix", &["crdx-files", "crdx-serve", "kubectl-crdx"]),
    ("k8s-openapi", &["crdx", "crdx-cluster"]),
    ("kube", &["crdx", "crdx-cluster"]),
    ("lz4_flex", &["crdx-embedded", "crdx-server"]),
    ("rustls", &["crdx-cluster", "crdx-serve"]),
    ("serde", &["crdx", "crdx-editor", "crdx-value"]),
    ("serde_json", &["crdx", "crdx-editor"]),
    ("sha2", &["crdx-files", "crdx-server"]),
    ("tempfile", &["crdx-cluster", "crdx-files", "crdx-input", "kubectl-crdx"]),
    ("tokio", &["crdx", "crdx-cluster", "crdx-serve"]),
];

/// Third-party crates that one module of a crate uses.
const MODULES: &[(&str, &str, &str)] = &[
    ("crdx-server", "hmac", "server"),
    ("crdx-server", "lz4_flex", "server"),
    ("crdx-server", "sha2", "server"),
    ("crdx-value", "jiff", "time_zone"),
    ("crdx-value", "strsim", "suggest"),
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

/// A source file.
pub(super) struct Source {
    /// The name of its crate.
    krate: String,
    /// Its top-level module.
    top: String,
    pub(super) file: PathBuf,
    pub(super) text: String,
}

/// The crates of the workspace with their folders.
fn crates() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    let mut crates: Vec<_> = folders.map(|folder| (name(&folder), folder)).collect();
    crates.push(("kubectl-crdx".to_owned(), root.to_owned()));
    crates.sort();
    crates
}

/// Every source file of every crate.
pub(super) fn modules() -> Vec<Source> {
    let mut modules = Vec::new();
    for (krate, folder) in crates() {
        let root = folder.join("src");
        let mut files = Vec::new();
        sources(&root, &mut files);
        files.sort();
        modules.extend(files.into_iter().map(|file| {
            let inner = file.strip_prefix(&root).unwrap();
            let top = inner.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&file).unwrap();
            Source { krate: krate.clone(), top, file, text }
        }));
    }
    modules
}

/// The words that follow `prefix` in the code of `text`, without comments.
fn words_after(text: &str, prefix: &str) -> Vec<String> {
    let lines = text.lines().filter(|l| !l.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join(" ");
    let mut words = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => words.extend(members(group).into_iter().map(|member| word(member.trim()).to_owned())),
            None => words.push(word(rest).to_owned()),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// The members of the group that begins in `group`, which may contain groups.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut members = Vec::new();
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                members.push(&group[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    members
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The layers listed in a file; each imports only those above it.
fn layers(file: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(file).unwrap();
    let module = |line: &str| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    // Modules of tests are in no layer.
    let groups = text.split("\n\n").filter(|group| !group.contains("#[cfg(test)]"));
    let groups = groups.map(|group| group.lines().filter_map(module).collect::<Vec<_>>());
    groups.filter(|group| !group.is_empty()).collect()
}

/// The position of the layer with a module.
fn layer_of(layers: &[Vec<String>], module: &str) -> Option<usize> {
    layers.iter().position(|group| group.iter().any(|m| m == module))
}

/// Returns true if `text` uses the crate, as `krate::…` or in `use krate;`.
fn names_crate(text: &str, krate: &str) -> bool {
    text.lines().filter(|l| !l.trim_start().starts_with("//")).any(|line| {
        line.match_indices(&format!("{krate}::")).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            // `crate::text::http::…` is a module of this crate.
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
        }) || line.trim() == format!("use {krate};")
    })
}

#[test]
fn a_module_imports_only_modules_above_it() {
    let modules = modules();
    let mut wrong = Vec::new();
    let mut imports = 0;
    for (krate, folder) in crates().into_iter().filter(|(krate, _)| LAYERED.contains(&krate.as_str())) {
        let layers = layers(&folder.join("src/lib.rs"));
        assert!(layers.len() > 4, "{layers:?}");
        let layer = |module: &str| layer_of(&layers, module);
        for Source { top, file, text, .. } in modules.iter().filter(|source| source.krate == krate) {
            // Fixtures of tests are in no layer.
            if ["lib", "main", "fixture"].contains(&top.as_str()) {
                continue;
            }
            let Some(own) = layer(top) else {
                wrong.push(format!("{}: module {top} is in no layer", file.display()));
                continue;
            };
            for import in words_after(text, "crate::") {
                imports += 1;
                if import != *top && import != "fixture" && layer(&import).is_none_or(|other| other >= own) {
                    wrong.push(format!("{}: {top} imports {import}", file.display()));
                }
            }
        }
    }
    assert!(imports > 1000, "the imports were not found: {imports}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_part_of_the_server_imports_only_parts_above_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/crdx-server/src");
    let layers = layers(&folder.join("server.rs"));
    assert!(layers.len() > 8, "{layers:?}");
    let (mut wrong, mut imports) = (Vec::new(), 0);
    for Source { krate, file, text, .. } in modules() {
        let Ok(inner) = file.strip_prefix(folder.join("server")) else { continue };
        if krate != "crdx-server" || inner.file_name().is_some_and(|name| name == "tests.rs" || name == "fixture.rs") {
            continue;
        }
        let path: Vec<&str> = inner.iter().map(|part| part.to_str().unwrap().trim_end_matches(".rs")).collect();
        let own = layer_of(&layers, path[0]).unwrap_or_else(|| panic!("{} is in no layer", file.display()));
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let mut found = words_after(code, "crate::server::");
        if path.len() == 1 {
            found.extend(words_after(code, "super::"));
        }
        assert!(words_after(code, "super::super::").is_empty(), "{}: write crate::server::…", file.display());
        for import in found {
            imports += 1;
            // Only the last layer may use what server.rs itself defines or exports.
            let is_above = layer_of(&layers, &import).map_or(own + 1 == layers.len(), |other| other < own);
            if import != path[0] && !is_above {
                wrong.push(format!("{}: {} imports {import}", file.display(), path[0]));
            }
        }
    }
    assert!(imports > 500, "the imports were not found: {imports}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_crate_is_used_by_one_module() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for Source { krate: own, top, file, text } in modules() {
        // Unit tests may use any crate.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for (_, krate, module) in MODULES.iter().filter(|(owner, ..)| **owner == own) {
            if names_crate(code, krate) {
                used.insert((own.clone(), *krate));
                if top != *module {
                    wrong.push(format!("{}: {top} names {krate}", file.display()));
                }
            }
        }
    }
    assert_eq!(used.len(), MODULES.len(), "{used:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The third-party crates that a manifest names as dependencies of the crate itself.
fn dependencies(folder: &Path) -> Vec<String> {
    let manifest: Value = toml::from_str(&fs::read_to_string(folder.join("Cargo.toml")).unwrap()).unwrap();
    let named = manifest["dependencies"].as_object().map(Map::keys).into_iter().flatten();
    named.filter(|name| !name.starts_with("crdx")).cloned().collect()
}

#[test]
fn a_third_party_crate_is_a_dependency_of_one_crate() {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (krate, folder) in crates() {
        for dependency in dependencies(&folder) {
            users.entry(dependency).or_default().push(krate.clone());
        }
    }
    assert!(users.len() > 30, "{users:?}");
    users.retain(|_, users| users.len() > 1);
    // Error types are derived everywhere.
    users.remove("thiserror");
    let listed: BTreeMap<String, Vec<String>> = SHARED
        .iter()
        .map(|(name, users)| ((*name).to_owned(), users.iter().map(|user| (*user).to_owned()).collect()))
        .collect();
    assert_eq!(users, listed, "left: the manifests, right: SHARED");
}

#[test]
fn the_reader_of_imports_reads_them() {
    assert_eq!(
        words_after("use crate::value::Value;\nuse crate::{field::X, text};\n// crate::cli", "crate::"),
        ["value", "field", "text"]
    );
    assert_eq!(words_after("use crate::{\n    a::{b, c},\n    d,\n};", "crate::"), ["a", "d"]);
    assert!(names_crate("    kube::Client", "kube"));
    assert!(!names_crate("crate::kube::Client", "kube"));
    assert!(!names_crate("/// kube::Client", "kube"));
}

#[test]
fn the_cluster_is_only_read() {
    let mut requests = 0;
    for Source { krate, top, file, text } in modules() {
        // A download does not talk to a cluster.
        if krate != "crdx-cluster" || top == "download" {
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

/// What may name versions: the releases, and the generated tables of built-in kinds.
const NAME_VERSIONS: &[&str] = &["release", "crdx-types", "crdx-builtin"];

#[test]
fn only_releases_name_kubernetes_versions() {
    let mut wrong = Vec::new();
    let mut looked = 0;
    for Source { krate, top, file, text } in modules() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let is_test = name == "tests.rs" || file.parent().is_some_and(|folder| folder.ends_with("src/tests"));
        if NAME_VERSIONS.iter().any(|place| *place == top || *place == krate) || is_test {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            looked += 1;
            if names_version(line) {
                wrong.push(format!("{}: {}", file.display(), line.trim()));
            }
        }
    }
    assert!(looked > 10_000, "only {looked} lines were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns true if a line of code has a string with `1.3N`.
fn names_version(line: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    line.split('"').skip(1).step_by(2).any(|text| {
        text.match_indices("1.3").any(|(at, found)| {
            let mut after = text[at + found.len()..].chars();
            let before = text[..at].chars().next_back();
            before != Some('.') && !is_digit(before) && is_digit(after.next()) && !is_digit(after.next())
        })
    })
}

#[test]
fn versions_of_kubernetes_are_recognised() {
    assert!(names_version(r#"let v = "1.37";"#) && names_version(r#"format!("v1.34+crdx")"#));
    assert!(!names_version(r#"let v = "1.3";"#) && !names_version(r#"let v = "11.37";"#) && !names_version("V1_37"));
}
